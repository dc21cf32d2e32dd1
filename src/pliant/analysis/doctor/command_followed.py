"""Command not followed: measured against commanded motion, with the robot's delay removed."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case, longest_s, smooth
from pliant.analysis.doctor.delay_findings import following
from pliant.analysis.doctor.finding import Finding, millis, share
from pliant.analysis.doctor.lags import rates, why_unknown
from pliant.analysis.targets import reported
from pliant.records import POSITION, TORQUE

Array = np.ndarray[Any, Any]

# A command is looked at in windows of this length [s], and is not realised if it is not for at least the second.
WINDOW_S, LEAST_S, MOMENT_S = 0.3, 0.3, 0.05
# What is left must exceed this share of the motion, and the floor: rad/s, or N m.
SHARE, FLOOR, FLOOR_NM = 0.5, 5e-3, 1.0
# Joints below this share of their commanded speed did not move at all.
STANDS = 0.1
REMEDY = "Check the robot: protective stop, speed slider, its own limits, another program that moves it."


def command_not_followed(case: Case) -> Finding:
    """The times in which the joints did not follow their commands."""
    found = following(case)
    if found is None:
        return Finding("command not followed", "not checked", (), why_unknown(case))
    if found.moved < STANDS:
        return _stood(case, found.moved)
    if not found.known:
        why = f"Delay and servo explain only {share(max(0.0, found.explained))} of how the joints moved."
        return Finding(
            "command not followed",
            "unknown",
            (reported("motion predicted from command", 100 * found.explained, "%"),),
            why,
        )
    told_rate, done = _speeds(case, found.model)
    ticks = round(WINDOW_S / case.dt)
    # a mean over a moment, because noise of the encoders is no motion
    told_rate, done = (smooth(values, round(MOMENT_S / case.dt)) for values in (told_rate, done))
    off = np.sqrt(smooth(np.sum((done - told_rate) ** 2, axis=1), ticks))
    moved = np.sqrt(np.maximum(smooth(np.sum(told_rate**2, axis=1), ticks), smooth(np.sum(done**2, axis=1), ticks)))
    floor = FLOOR_NM if case.mode == TORQUE else FLOOR
    wrong = (off > SHARE * moved) & (off > floor)
    spans = case.spans(wrong, least_s=LEAST_S, join_s=0.1)
    unit = "N m" if case.mode == TORQUE else "rad/s"
    figures = (
        reported("largest remaining difference", float(off.max()), unit),
        reported("motion predicted from command", 100 * found.explained, "%"),
        reported("compared after shifting by", 1e3 * found.lag_s, "ms"),
    )
    if not spans:
        return Finding("command not followed", "fine", figures)
    rows = np.zeros(len(off), bool)
    for span in spans:
        rows |= (case.time_s >= span.start_s) & (case.time_s < span.end_s)
    # done ≈ share × commanded, least squares
    part = float(np.sum(done[rows] * told_rate[rows]) / max(np.sum(told_rate[rows] ** 2), 1e-12))
    figures += (
        reported("share of the command followed", 100 * part, "%"),
        reported("time", case.seconds(rows), "s"),
    )
    cause = (
        f"For {millis(case.seconds(rows))} in total, first at {spans[0].start_s:.2f} s, the joints made "
        f"{share(max(0.0, part))} of the commanded motion (a delay of {millis(found.lag_s)} is compensated). The robot "
        f"was stopped, slowed down or moved by another program, for up to {millis(longest_s(spans))} at a time."
    )
    return Finding("command not followed", "alarm", figures, cause, REMEDY, spans)


def _stood(case: Case, moved: float) -> Finding:
    """A robot that hardly moved at all."""
    figures = (reported("share of the command followed", 100 * moved, "%"),)
    cause = f"The joints moved with {share(moved)} of the commanded speed over the whole run: the robot did not move."
    return Finding(
        "command not followed", "alarm", figures, cause, REMEDY, case.spans(np.ones(len(case.records), bool))
    )


def _speeds(case: Case, model: Array) -> tuple[Array, Array]:
    """Rate of the command after delay and servo, and of what was measured."""
    _, _, got = rates(case)
    return (np.gradient(model, case.dt, axis=0) if case.mode == POSITION else model), got
