"""Limit cycles: a motion that keeps itself going, told from noise, from a slow wanted motion and from a hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.analysis.doctor import delay
from pliant.analysis.doctor.case import Case, smooth
from pliant.analysis.doctor.finding import Finding, millis
from pliant.analysis.doctor.rhythm import WINDOWS_S, Rhythm, rhythm, windows
from pliant.analysis.figures import told

Array = np.ndarray[Any, Any]

# Least amplitude that counts: of a force as a share of its target, or so many bands; of a motion.
SHARE, BANDS = 0.1, 2.0
LEAST_M_S, LEAST_RAD_S = 5e-3, 0.05
# Above this correlation of force and motion the hand works on the robot, not the robot on its surroundings.
PUSHED = 0.1
# kp k T: what does not overshoot, and what is no longer stable.
CALM, UNSTABLE = 1.0 / math.e, math.pi / 2.0


def limit_cycle(case: Case) -> Finding:
    """Frequency and amplitude of a motion that keeps itself going."""
    marked, found, unit = _in_force(case) if case.is_contact else _in_motion(case)
    if not found:
        return Finding("limit cycle", "fine", (told("windows that repeat themselves", 0.0),))
    frequency = float(np.median([item.frequency_hz for item in found]))
    amplitude = float(max(item.amplitude for item in found))
    same = float(np.median([item.sameness for item in found]))
    shown, scale = ("N", 1.0) if unit == "N" else (unit.replace("m/s", "mm/s"), 1e3 if unit == "m/s" else 1.0)
    figures = (
        told("frequency", frequency, "Hz"),
        told("amplitude", scale * amplitude, shown),
        told("likeness of one period to the next", same),
        told("share of the time", 100 * case.seconds(marked) / (len(case.records) * case.dt), "%"),
    )
    what = "The force" if unit == "N" else "The tool"
    cause = (
        f"{what} swings by itself at {frequency:.3g} Hz with an amplitude of {scale * amplitude:.3g} {shown}, for "
        f"{case.seconds(marked):.3g} s."
    )
    more, remedy, extra = _loop(case, frequency)
    spans = case.spans(marked, join_s=0.1)
    return Finding("limit cycle", "alarm", figures + extra, f"{cause} {more}", remedy, spans)


def _search(case: Case, values: Array, active: Array, least: float) -> tuple[Array, list[Rhythm]]:
    marked, found = np.zeros(len(values), bool), []
    for seconds in WINDOWS_S:
        for begin, end in windows(active, case.dt, seconds):
            item = rhythm(values[begin:end], case.dt)
            if item is not None and item.amplitude >= least:
                marked[begin:end] = True
                found.append(item)
    return marked, found


def _in_force(case: Case) -> tuple[Array, list[Rhythm], str]:
    """A cycle of the force along the normal, from the first touch on."""
    force = np.nan_to_num(case.pressed)
    firm = case.setting("contact.touch_n", 0.5)
    touched = np.cumsum(case.at_work & (smooth(force, 5) > 2 * firm)) > 0
    target = float(case.contact["target_n"].max())
    band = float(np.median(case.setting("contact.band_n", 0.05 * target)))
    marked, found = _search(case, force, case.at_work & touched, max(SHARE * target, BANDS * band))
    return marked, found, "N"


def _in_motion(case: Case) -> tuple[Array, list[Rhythm], str]:
    """A cycle of the tool's motion that the surroundings do not feed."""
    observed, goal = case.records["observed"], case.records["goal"]["twist"]
    active = np.ones(len(case.records), bool)
    for part, least, unit in ((slice(0, 3), LEAST_M_S, "m/s"), (slice(3, 6), LEAST_RAD_S, "rad/s")):
        v, f = np.nan_to_num(observed["twist"][:, part] - goal[:, part]), np.nan_to_num(observed["wrench"][:, part])
        for seconds in WINDOWS_S:
            marked, found = np.zeros(len(v), bool), []
            for begin, end in windows(active, case.dt, seconds):
                item = _main_axis(v[begin:end], case.dt)
                if item is None or item.amplitude < least or _is_pushed(f[begin:end], v[begin:end]):
                    continue
                marked[begin:end] = True
                found.append(item)
            if found:
                return marked, found, unit
    return np.zeros(len(case.records), bool), [], "m/s"


def _main_axis(v: Array, dt: float) -> Rhythm | None:
    """The rhythm along the direction in which the velocity varies most."""
    moved = v - v.mean(axis=0)
    if not moved.any():
        return None
    return rhythm(moved @ np.linalg.svd(moved, full_matrices=False)[2][0], dt)


def _is_pushed(f: Array, v: Array) -> bool:
    """Whether the surroundings do work on the tool: then the rhythm is theirs."""
    f, v = f - f.mean(axis=0), v - v.mean(axis=0)
    size = float(np.sqrt(np.sum(f * f) * np.sum(v * v)))
    return size > 0.0 and float(np.sum(f * v)) / size > PUSHED


def _loop(case: Case, frequency: float) -> tuple[str, str, tuple[Any, ...]]:
    """Gain × stiffness × lag of a contact loop, as far as the recording tells them."""
    if not case.is_contact:
        why = "The law and the lag of the robot feed it: nobody pushes in this rhythm."
        return why, "Raise the damping or the virtual mass, or make robot and filter quicker.", ()
    lag, stiffness = delay.total(case), delay.stiffness(case)
    gain = float(np.median(case.contact["gain"][case.at_work]))
    if not (lag is not None and stiffness > 0 and gain > 0):
        quick = f"A loop with the lag T swings at about 1/(4 T): at {frequency:.3g} Hz that is {millis(0.25 / frequency)}."
        return quick, "Lower the gain: it must stay below 0.37 / (stiffness × lag).", ()
    number = gain * stiffness * lag.total_s
    figures = (
        told("stiffness of the surface", stiffness, "N/m"),
        told("gain × stiffness × lag", number),
        told("gain that would not overshoot", 1e3 * CALM / (stiffness * lag.total_s), "mm/(N s)"),
    )
    where = f"beyond π/2 = {UNSTABLE:.2f}, where a loop is unstable" if number > UNSTABLE else (
        f"above 0.37, where a loop begins to overshoot (unstable from {UNSTABLE:.2f} on)"
        if number > CALM else "below 0.37, where the force loop itself is calm: something else feeds it"
    )  # fmt: skip
    cause = (
        f"Gain × stiffness × lag is {1e3 * gain:.3g} mm/(N s) × {stiffness:.3g} N/m × {millis(lag.total_s)} = {number:.2g}, "
        f"{where}."
    )
    remedy = f"Lower the gain to {1e3 * CALM / (stiffness * lag.total_s):.2g} mm/(N s), or shorten the lag."
    if number <= CALM:
        remedy = "Look at the other findings first: late sensor, anti-damping, saturation; a gain below this helps little."
    return cause, remedy, figures
