"""The zero of the force sensor and the declared tool: drift between two rests in free air, and a wrong tool mass.

In free air the sensor should show nothing. A wrong tool mass is a force that keeps its direction in the base; a zero
that is off keeps its direction in the tool. They can be told apart once the tool has turned:

    F = Δm g + R b          F in the base frame, R from the tool to the base
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case, smooth
from pliant.analysis.doctor.finding import Finding
from pliant.analysis.targets import reported
from pliant.control.laws.contact.contact_states import DONE, IDLE, READY, RETRACT

Array = np.ndarray[Any, Any]

GRAVITY = 9.81
# A rest is judged by the mean over this time [s]; a shorter one than the second says nothing.
REST_S, LEAST_REST_S = 0.3, 0.1
# A drift counts beyond this share of the target, and so many standard deviations of the mean.
TOLERANCE, SIGMAS = 0.15, 4.0
# The tool must turn so far for mass and zero to be told apart [rad], and be still enough [m/s²].
TURNED, STILL_M_S2 = 0.35, 0.3
# A tool mass off by less than this [kg] is within what an identification gives.
LEAST_KG = 0.05
# Ticks in so many groups: the mean of each is one measurement.
GROUP_S = 0.1


def drift(case: Case) -> Finding:
    """Change of the force in free air from before the touch to after the lift-off."""
    name = "drift"
    if not case.is_contact:
        return Finding(name, "not applicable", (), "The contact law did not run.")
    before, after = _rests(case)
    least = round(LEAST_REST_S / case.dt)
    if not case.active.any() or min(len(before), len(after)) < least:
        return Finding(name, "not checked", (), "The tool was not in free air both before the touch and after it.")
    force, ticks = np.nan_to_num(case.force), round(REST_S / case.dt)
    first, last = force[before[-ticks:]], force[after[-ticks:]]
    change = float(np.linalg.norm(last.mean(axis=0) - first.mean(axis=0)))
    spread = max(float(first.std(axis=0).max()), float(last.std(axis=0).max()))
    allowed = TOLERANCE * case.target_n + SIGMAS * spread * np.sqrt(2.0 / min(len(first), len(last)))
    figures = (reported("change of the force in free air", change, "N"), reported("allowed", allowed, "N"))
    if change <= allowed:
        return Finding(name, "fine", figures)
    minutes = (float(case.time_s[after[-1]]) - float(case.time_s[before[-1]])) / 60.0
    cause = (
        f"In free air the force differs by {change:.2g} N from before the contact to after it, {minutes:.2g} min "
        f"later. The true force was off by up to that much, and the target is {case.target_n:.3g} N."
    )
    remedy = (
        "Tare just before the touch (pliant tare), let the sensor warm up, and identify the tool's mass. "
        "For smaller forces use an external sensor."
    )
    return Finding(name, "warning", figures, cause, remedy)


def _rests(case: Case) -> tuple[Array, Array]:
    """Rows in free air before the first search, and after the last lift-off."""
    state = case.contact["state"]
    begun = int(np.argmax(case.active)) if case.active.any() else len(state)
    ended = len(state) - int(np.argmax(case.active[::-1]))
    rows = np.arange(len(state))
    free = case.contact["touching"] == 0
    before = rows[(rows < begun) & np.isin(state, (IDLE, READY)) & free]
    lifting = (rows >= ended) & np.isin(state, (RETRACT, DONE)) & free
    # the tool leaves the surface before the filter shows it
    left = ended + int(np.argmax(lifting[ended:])) if lifting.any() else len(state)
    return before, rows[lifting & (rows >= left + round(LEAST_REST_S / case.dt))]


def wrong_tool_mass(case: Case) -> Finding:
    """The mass that the tool has beyond the declared one, from the weight that remains in free air as it turns."""
    name = "wrong tool mass"
    free = _free(case)
    if len(free) < 4:
        return Finding(name, "not checked", (), "The tool was never still in free air.")
    force, turns = _groups(case, free)
    turned = max(float(np.arccos(np.clip(turns[0, 2] @ one[2], -1.0, 1.0))) for one in turns)
    figures = (reported("turn of the tool in free air", float(np.degrees(turned)), "°"),)
    if turned < TURNED:
        why = f"The tool turned by less than {np.degrees(TURNED):.0f}° in free air."
        return Finding(name, "not checked", figures, why)
    down = np.array([0.0, 0.0, -GRAVITY])
    A = np.concatenate([np.column_stack((down, R)) for R in turns])
    solution, *_ = np.linalg.lstsq(A, force.ravel(), rcond=None)
    left = force.ravel() - A @ solution
    cov = float(left @ left) / max(1, len(left) - 4) * np.linalg.inv(A.T @ A)
    mass, doubt = float(solution[0]), SIGMAS * float(np.sqrt(cov[0, 0]))
    figures += (reported("mass beyond the declared one", mass, "kg"), reported("uncertainty of the mass", doubt, "kg"))
    if abs(mass) <= LEAST_KG + doubt:
        return Finding(name, "fine", figures)
    cause = (
        f"The tool weighs {abs(mass):.2g} kg (± {doubt:.1g} kg) {'more' if mass > 0.0 else 'less'} than declared: that "
        "weight stayed in the measured force as the tool turned in free air."
    )
    remedy = "Identify the tool: pliant identify payload --write."
    return Finding(name, "warning", figures, cause, remedy)


def _free(case: Case) -> Array:
    """Groups of rows in which nothing touches the tool and it hardly accelerates."""
    ticks = round(GROUP_S / case.dt)
    speed = smooth(np.nan_to_num(case.records["observed"]["twist"][:, :3]), ticks)
    rate = np.linalg.norm(np.gradient(speed, case.dt, axis=0), axis=1)
    good = (rate < STILL_M_S2) & np.isfinite(case.force).all(axis=1)
    good &= np.linalg.norm(case.records["observed"]["pose"][:, 3:], axis=1) > 0.5
    good &= (case.records["state"]["fault"] == 0) & (case.records["state"]["trouble"] == 0)
    if case.is_contact:
        before, after = _rests(case)
        rest = np.zeros(len(good), bool)
        rest[before] = rest[after] = True
        good &= rest
    count = len(good) // ticks
    whole = good[: count * ticks].reshape(count, ticks).all(axis=1)
    return np.flatnonzero(whole) * ticks


def _groups(case: Case, begins: Array) -> tuple[Array, Array]:
    """Mean force of each group, and the orientation of the tool in it (groups × 3 × 3)."""
    ticks = round(GROUP_S / case.dt)
    force = np.array([case.force[begin : begin + ticks].mean(axis=0) for begin in begins.tolist()])
    quats = case.records["observed"]["pose"][begins + ticks // 2, 3:]
    return force, np.array([_matrix(quat) for quat in quats])


def _matrix(quat: Array) -> Array:
    w, x, y, z = quat
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
