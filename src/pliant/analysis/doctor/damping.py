"""Negative damping: the energy that the damping term of the law removes from the motion, or adds to it.

    E = ∫ f_d · v dt            f_d the force of the law's damper, v the measured velocity of the tool

A damper removes energy: f_d · v < 0. One with the wrong sign, or one that acts too late, adds energy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding, share
from pliant.analysis.targets import Figure, reported
from pliant.control.laws.registry import LAWS

Array = np.ndarray[Any, Any]

# Less energy than this [J] is dust.
LEAST_J = 1e-5
# A tool slower than this [m/s, rad/s] did not move.
STILL = 1e-3
# Correlation of the damper's force with the motion (-1: it damps): from here on it drives, from there by a wrong sign.
DRIVES, WRONG_SIGN = 0.2, 0.7
_GAINS = {
    LAWS["admittance"].number: ("gains", "admittance"),
    LAWS["impedance"].number: ("impedance_gains", "impedance"),
}


def negative_damping(case: Case) -> Finding:
    """The energy that the damping term added and removed."""
    force, speed = _damper(case)
    power = np.sum(force * speed, axis=1)
    given, taken = (float(np.sum(np.maximum(sign * power, 0.0)) * case.dt) for sign in (1, -1))
    figures = (
        reported("energy added by damping", 1e3 * given, "mJ"),
        reported("energy removed by damping", 1e3 * taken, "mJ"),
    )
    if given + taken < LEAST_J:
        return _idle(case, force, figures)
    part = given / (given + taken)
    along = float(np.sum(power) / np.sqrt(np.sum(force**2) * np.sum(speed**2)))
    figures += (reported("share added", 100 * part, "%"), reported("correlation of damper and motion", along))
    if along < DRIVES:
        return Finding("negative damping", "fine", figures)
    drag = float(np.sum(power) / np.sum(speed**2))
    wrong = along > WRONG_SIGN
    cause = (
        f"The damping term added {1e3 * given:.3g} mJ to the motion and removed {1e3 * taken:.3g} mJ: "
        f"{share(part)} of its work drives the motion instead of damping it, like a damper of {drag:.3g} N s/m with "
        "the wrong sign."
    )
    remedy = (
        "Reverse the sign of the damping term: with speed positive into the surface it must be −D v."
        if wrong else "The damping acts too late for this motion: lower it, or reduce the lag of filter and robot."
    )  # fmt: skip
    spans = case.spans(power > 0.0, least_s=0.02, join_s=0.05)
    return Finding("negative damping", "alarm" if wrong else "warning", figures, cause, remedy, spans)


def _idle(case: Case, force: Array, figures: tuple[Figure, ...]) -> Finding:
    """A damper that did no work, or a law without one."""
    compliant = any(_ran(case, law).any() for law in _GAINS)
    if not compliant and not force.any():
        return Finding("negative damping", "not applicable", (), "The law has no damping term.")
    if np.abs(np.nan_to_num(case.records["observed"]["twist"])).max() < STILL:
        said = "The damper did no work: the tool did not move."
    elif not force.any():
        said = "The recording does not contain the damping of the law."
    else:
        said = "The damper did hardly any work."
    return Finding("negative damping", "not checked", figures, said)


def _ran(case: Case, law: int) -> Array:
    """The ticks in which a law with a mass, a damper and a spring ran."""
    return (case.records["goal"]["law"] == law) & (case.records["state"]["started"] != 0)


def _damper(case: Case) -> tuple[Array, Array]:
    """Force of the damping term and measured velocity, tick by tick, as six-vectors (zero where the law has none)."""
    force, speed = np.zeros((len(case.records), 6)), np.zeros((len(case.records), 6))
    work = case.active & (case.contact["damper_n"] != 0.0)
    force[work, 0], speed[work, 0] = case.contact["damper_n"][work], case.into[work]
    for law in _GAINS:
        ran = _ran(case, law)
        if ran.any():
            force[ran], speed[ran] = _of_law(case, law, np.flatnonzero(ran))
    return np.nan_to_num(force), np.nan_to_num(speed)


def _of_law(case: Case, law: int, rows: Array) -> tuple[Array, Array]:
    """−D v and the measured velocity of a law whose matrices the recording holds; zero where it does not."""
    gains, section = _GAINS[law]
    records = case.records[rows]
    own = records["state"]["twist"] if law == LAWS["admittance"].number else records["observed"]["twist"]
    goal = records["goal"]["twist"]
    virtual, real = own - goal, records["observed"]["twist"] - goal
    force, speed = np.zeros((len(rows), 6)), np.zeros((len(rows), 6))
    for item in case.sets:
        now = np.flatnonzero(records["revision"] == item.revision)
        if not len(now) or gains not in (item.values.dtype.names or ()):
            continue
        first, last = np.array(item.values[gains]["D0"]), np.array(item.values[gains]["D1"])
        ramp = records["state"]["ramp"][now, None, None]
        D = first + ramp * (last - first) if np.any(ramp < 1.0) else last[None]
        v, felt = virtual[now], real[now]
        if item.values[section]["frame"] == 1:
            v, felt = (_in_axes(records["state"]["pose"][now, 3:], values) for values in (v, felt))
        force[now] = -np.einsum("tij,tj->ti", np.broadcast_to(D, (len(now), 6, 6)), v)
        speed[now] = felt
    return force, speed


def _in_axes(quats: Array, values: Array) -> Array:
    """Six-vectors in the axes of poses whose orientation `quats` is."""
    w, u = quats[:, :1], -quats[:, 1:]
    parts = (values[:, :3], values[:, 3:])
    return np.hstack([v + 2.0 * np.cross(u, np.cross(u, v) + w * v) for v in parts])
