"""Resonance of gears and structure: the force swings much faster than the loop of the law could by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.analysis.doctor import delay_findings
from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding
from pliant.analysis.doctor.rhythm import Rhythm, rhythm, windows
from pliant.analysis.targets import reported

Array = np.ndarray[Any, Any]

# First modes of arms lie between these frequencies [Hz]; published: 9 to 21 Hz, softer with a heavy tool.
LOWEST_HZ, HIGHEST_HZ = 5.0, 45.0
# A loop with the lag T swings at about 1/(4 T). What is so many times faster is not the loop alone.
FASTER = 2.0
# Least amplitude: a share of the target, and so many standard deviations of one sample of the sensor.
SHARE, SIGMAS = 0.1, 1.0
WINDOW_S = 1.0


def gear_resonance(case: Case) -> Finding:
    """Frequency and amplitude of a force that swings faster than the loop."""
    name = "gear resonance"
    if not case.is_contact:
        return Finding(name, "not applicable", (), "Only the contact law declares the lag of its loop.")
    spans = windows(case.active, case.dt, WINDOW_S)
    if not spans or not case.target_n > 0.0:
        return Finding(name, "not checked", (), f"The law was not active for {WINDOW_S:g} s at a time.")
    slowest = max(LOWEST_HZ, FASTER * _loop_hz(case))
    least = max(SHARE * case.target_n, SIGMAS * float(np.median(case.contact["noise_n"][case.active])))
    marked, found = np.zeros(len(case.records), bool), []
    for begin, end in spans:
        item = _swing(case.force[begin:end], case.dt)
        if item is not None and item.amplitude > least and slowest <= item.frequency_hz <= HIGHEST_HZ:
            marked[begin:end] = True
            found.append(item)
    figures = (reported("windows checked", len(spans)), reported("windows with a resonance", len(found)))
    if not found:
        return Finding(name, "fine", figures)
    frequency = float(np.median([item.frequency_hz for item in found]))
    amplitude = max(item.amplitude for item in found)
    figures += (reported("frequency", frequency, "Hz"), reported("amplitude", amplitude, "N"))
    cause = (
        f"The force swings at {frequency:.3g} Hz with up to {amplitude:.2g} N for {case.seconds(marked):.2g} s. The "
        f"loop of the law is slower (about {_loop_hz(case):.2g} Hz): gears or structure of the arm resonate."
    )
    remedy = "Lower contact.margin or sense.cutoff_hz, use a lighter tool, or choose a stiffer pose of the arm."
    return Finding(name, "warning", figures, cause, remedy, case.spans(marked, join_s=0.1))


def _loop_hz(case: Case) -> float:
    """The frequency at which the loop swings by itself, from the measured lag or else the declared one."""
    lag = delay_findings.total(case)
    total = lag.total_s if lag is not None else float(np.median(case.setting("contact.lag_s", math.nan)))
    return 1.0 / (4.0 * total) if total > 0.0 else LOWEST_HZ


def _swing(force: Array, dt: float) -> Rhythm | None:
    """The rhythm of the force along the direction in which it varies most."""
    moved = np.nan_to_num(force - np.nanmean(force, axis=0))
    if not moved.any():
        return None
    return rhythm(moved @ np.linalg.svd(moved, full_matrices=False)[2][0], dt)
