"""Limit cycles: self-sustained oscillations, distinguished from noise, slow commanded motion and a hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.analysis.doctor import delay_findings
from pliant.analysis.doctor.case import Case, smooth
from pliant.analysis.doctor.finding import Finding, millis, plain
from pliant.analysis.doctor.lags import hinge
from pliant.analysis.doctor.rhythm import WINDOWS_S, Rhythm, rhythm, windows
from pliant.analysis.targets import reported
from pliant.control.laws.registry import law_of

Array = np.ndarray[Any, Any]

# Least amplitude that counts: of a force as a share of its target, or so many bands; of a motion.
SHARE, BANDS = 0.1, 2.0
LEAST_M_S, LEAST_RAD_S = 5e-3, 0.05
# Above this correlation of force and motion the hand works on the robot, not the robot on its surroundings.
PUSHED = 0.1
# A force that varies by less than this is noise [N, N m].
NOBODY = 0.5
# A surface hardly pulls, and a spring explains this much of its force.
ONE_SIDED, SURFACE = 0.25, 0.7
OURS, THEIRS, UNCLEAR = "ours", "theirs", "unclear"
# A goal whose speed varies by more than this share of the amplitude leads the tool.
LED = 0.2
# From here on the integral, not the gain, makes the cycle: its swing over that of the proportional part.
INTEGRAL = 1.0
# kp k T: what does not overshoot, and what is no longer stable.
CALM, UNSTABLE = 1.0 / math.e, math.pi / 2.0


def limit_cycle(case: Case) -> Finding:
    """Frequency and amplitude of a self-sustained oscillation."""
    marked, found, unit, sure = _in_force(case) if case.is_contact else _in_motion(case)
    if not found:
        active = case.active if case.is_contact else np.ones(len(case.records), bool)
        looked = sum(len(windows(active, case.dt, seconds)) for seconds in WINDOWS_S)
        if not looked:
            why = f"The law was not active for {WINDOWS_S[0]:g} s at a time."
            return Finding("limit cycle", "not checked", (), why)
        figures = (reported("windows checked", looked), reported("windows with a limit cycle", 0.0))
        return Finding("limit cycle", "fine", figures)
    frequency = float(np.median([item.frequency_hz for item in found]))
    amplitude = float(max(item.amplitude for item in found))
    scale, shown = (1e3, "mm/s") if unit == "m/s" else (1.0, unit)
    figures = (
        reported("frequency", frequency, "Hz"),
        reported("amplitude", scale * amplitude, shown),
        reported("similarity of consecutive periods", float(np.median([item.sameness for item in found]))),
        reported("share of the time", 100 * case.seconds(marked) / (len(case.records) * case.dt), "%"),
    )
    what = (
        f"at {frequency:.3g} Hz with an amplitude of {scale * amplitude:.3g} {shown}, for {case.seconds(marked):.3g} s"
    )
    spans = case.spans(marked, join_s=0.1)
    if not sure:
        why = f"The tool oscillates {what}, and a force with it. A hand or the law itself may cause this."
        return Finding("limit cycle", "unknown", figures, why, "", spans)
    more, remedy, extra = _loop(case, frequency, marked)
    cause = f"{'The force' if unit == 'N' else 'The tool'} oscillates by itself {what}. {more}"
    return Finding("limit cycle", "alarm", figures + extra, cause, remedy, spans)


def _search(case: Case, values: Array, active: Array, least: float) -> tuple[Array, list[Rhythm]]:
    marked, found = np.zeros(len(values), bool), []
    for seconds in WINDOWS_S:
        for begin, end in windows(active, case.dt, seconds):
            item = rhythm(values[begin:end], case.dt)
            if item is not None and item.amplitude >= least:
                marked[begin:end] = True
                found.append(item)
    return marked, found


def _in_force(case: Case) -> tuple[Array, list[Rhythm], str, bool]:
    """A cycle of the force along the normal, from the first touch on."""
    force = np.nan_to_num(case.pressed)
    firm = case.setting("contact.touch_n", 0.5)
    touched = np.cumsum(case.active & (smooth(force, 5) > 2 * firm)) > 0
    band = float(np.median(case.setting("contact.band_n", 0.05 * case.target_n)))
    marked, found = _search(case, force, case.active & touched, max(SHARE * case.target_n, BANDS * band))
    return marked, found, "N", True


def _in_motion(case: Case) -> tuple[Array, list[Rhythm], str, bool]:
    """A cycle of the tool's motion, and whether it is its own: nothing pushes, or a surface pushes back."""
    marked, found, mine = np.zeros(len(case.records), bool), [], []
    for part, least, unit in ((slice(0, 3), LEAST_M_S, "m/s"), (slice(3, 6), LEAST_RAD_S, "rad/s")):
        v, f, led = _moves(case, part)
        for seconds in WINDOWS_S:
            for begin, end in windows(np.ones(len(v), bool), case.dt, seconds):
                item = _main_axis(v[begin:end], case.dt)
                if item is None or item.amplitude < least or led[begin:end].std() > LED * item.amplitude:
                    continue
                whose = _whose(f[begin:end], v[begin:end], case.dt)
                if whose != THEIRS:
                    marked[begin:end] = True
                    found.append(item)
                    mine.append(whose == OURS)
        if found:
            return marked, found, unit, bool(np.mean(mine) > 0.5)
    return marked, found, "m/s", False


def _moves(case: Case, part: slice) -> tuple[Array, Array, Array]:
    """Velocity of the tool relative to its goal, what pushes it, and the speed of the goal."""
    observed, goal = case.records["observed"], case.records["goal"]
    way = np.nan_to_num(np.gradient(goal["pose"][:, :3], case.dt, axis=0))
    led = np.maximum(np.linalg.norm(way, axis=1), np.linalg.norm(goal["twist"], axis=1))
    return np.nan_to_num(observed["twist"] - goal["twist"])[:, part], np.nan_to_num(observed["wrench"])[:, part], led


def _main_axis(v: Array, dt: float) -> Rhythm | None:
    """The rhythm along the direction in which the velocity varies most."""
    moved = v - v.mean(axis=0)
    if not moved.any():
        return None
    return rhythm(moved @ np.linalg.svd(moved, full_matrices=False)[2][0], dt)


def _whose(f: Array, v: Array, dt: float) -> str:
    """Whose rhythm it is: ours if nothing pushes or a surface pushes back, theirs if they do work on the tool."""
    around, moved = f - f.mean(axis=0), v - v.mean(axis=0)
    if np.sqrt(np.mean(np.sum(around**2, axis=1))) < NOBODY:
        return OURS
    size = float(np.sqrt(np.sum(around**2) * np.sum(moved**2)))
    if float(np.sum(around * moved)) / size > PUSHED:
        return THEIRS
    # a surface pushes to one side only, and the deeper the harder
    axis = np.linalg.svd(around, full_matrices=False)[2][0]
    axis = axis * np.sign(np.sum(f @ axis))
    force, depth = f @ axis, -np.cumsum(v @ axis) * dt
    if -force.min() > ONE_SIDED * force.max():
        return UNCLEAR
    left, _ = hinge(force, depth, 0.2 * float(force.max()))
    return OURS if left < (1.0 - SURFACE) * float(np.sum((force - force.mean()) ** 2)) else UNCLEAR


def _integral_share(case: Case, marked: Array) -> float:
    """How much the integral swings beside the proportional part, in the cycle."""
    contact = case.contact[marked & case.active]
    own = contact["integral"]
    if np.allclose(own, -contact["damper_n"] * contact["gain"], atol=1e-12):  # the speed of a virtual mass, or none
        return 0.0
    proportional = contact["gain"] * (contact["target_n"] - contact["force_n"])
    return float(own.std() / max(proportional.std(), 1e-12))


def _loop(case: Case, frequency: float, marked: Array) -> tuple[str, str, tuple[Any, ...]]:
    """Gain × stiffness × lag of a contact loop, as far as the recording tells them, and what its integral does."""
    if not case.is_contact:
        return _free_loop(case, marked)
    lag, stiffness = delay_findings.total(case), delay_findings.stiffness(case)
    gain, integral = float(np.median(case.contact["gain"][case.active])), _integral_share(case, marked)
    figures: tuple[Any, ...] = (reported("oscillation of the integral relative to the proportional part", integral),)
    if not (lag is not None and stiffness > 0 and gain > 0):
        quick = (
            f"A loop with lag T oscillates at about 1/(4 T): {frequency:.3g} Hz means T ≈ {millis(0.25 / frequency)}."
        )
        return quick, "Lower the gain: it must stay below 0.37 / (stiffness × lag).", figures
    number, calm = gain * stiffness * lag.total_s, CALM / (stiffness * lag.total_s)
    figures += (
        reported("stiffness of the surface", stiffness, "N/m"),
        reported("gain × stiffness × lag", number),
        reported("gain that would not overshoot", 1e3 * calm, "mm/(N s)"),
    )
    cause = (
        f"Gain × stiffness × lag is {1e3 * gain:.3g} mm/(N s) × {plain(stiffness)} N/m × {millis(lag.total_s)} = "
        f"{plain(number)}, {_where(number)}."
    )
    remedy = f"Lower the gain to {1e3 * calm:.2g} mm/(N s), or shorten the lag."
    if integral > INTEGRAL:
        cause += f" The integral oscillates {integral:.2g} times as much as the proportional part: it drives the cycle."
        remedy = "Lower the integral gain: its time should be ten lags or more. " + (remedy if number > CALM else "")
    elif number <= CALM:
        remedy = (
            "Check the other findings first: late sensor, negative damping, command at a limit. Less gain helps little "
            "here."
        )
    return cause, remedy.strip(), figures


def _free_loop(case: Case, marked: Array) -> tuple[str, str, tuple[Any, ...]]:
    """The loop of a law that moves the tool: whether it bounces on a surface or swings freely."""
    remedy = "Raise the damping or the virtual mass, or reduce the lag of robot and filter."
    force = np.linalg.norm(np.nan_to_num(case.force[marked]), axis=1)
    if force.std() < NOBODY:
        return "The law and the lag of the robot sustain it: no external force has this frequency.", remedy, ()
    peak = float(force.max())
    law = law_of(int(np.median(case.records["state"]["law"][marked]))) if case.records["state"]["law"].any() else None
    name = f"law {law.name}" if law else "law"
    advice = law.stability.remedy if law and law.stability and law.stability.is_advice else remedy
    cause = f"It bounces on a surface, with a peak force of {peak:.3g} N: the {name} is unstable on this surface."
    return cause, f"Check the gain margin with pliant check. {advice}", (reported("peak force", peak, "N"),)


def _where(number: float) -> str:
    """What gain × stiffness × lag says of a loop."""
    if number > UNSTABLE:
        return f"above {UNSTABLE:.2f} (π/2), where a loop with a pure delay becomes unstable"
    if number > CALM:
        return (
            f"above 0.37, where it begins to overshoot, and below {UNSTABLE:.2f} (π/2), where a pure delay is unstable"
        )
    return "below 0.37, where the gain alone does not overshoot"
