"""A starved law: a limit cut most of what the law asked for, for most of the time or for seconds on end."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding, share
from pliant.analysis.targets import reported
from pliant.control.laws.registry import LAWS
from pliant.loop.fault_text import starved_warning
from pliant.records import LIMIT_ACCELERATION, LIMIT_TOOL_ACCELERATION, LIMIT_TORQUE, LIMITS

Array = np.ndarray[Any, Any]

# The limits that rule a motion instead of the law; those on speed and place act while somebody pushes against them.
RULING = (LIMIT_ACCELERATION, LIMIT_TORQUE, LIMIT_TOOL_ACCELERATION)
# A limit rules if it leaves less than this share, and starves the law if it does for that share of the time.
LEFT, MOST = 0.5, 0.5


def starved_law(case: Case) -> Finding:
    """The longest time in which a limit left less than half of what the law asked for, and its share of the run."""
    name = "starved law"
    state = case.records["state"]
    runs = (state["started"] != 0) & (case.records["goal"]["law"] != LAWS["hold"].number)
    runs &= case.active if case.active.any() else True
    if not runs.any():
        return Finding(name, "not checked", (), "No law that reacts to forces was running.")
    ruled = {LIMITS[bit]: _ruled(case, bit) & runs for bit in RULING}
    worst = max(ruled, key=lambda limit: int(np.count_nonzero(ruled[limit])))
    part = case.seconds(ruled[worst]) / case.seconds(runs)
    longest, warn_s = float(state["starved_s"].max()), float(np.median(case.setting("limits.starved_warn_s", np.inf)))
    figures = (
        reported("longest time starved", longest, "s"),
        reported(f"share of the time with less than {100 * LEFT:.0f} % left", 100 * part, "%"),
    )
    said = starved_warning(case.records, warn_s)
    if not said and part < MOST:
        return Finding(name, "fine", figures)
    cause = (
        f"{said[0].upper()}{said[1:]}"
        if said
        else f"For {share(part)} of the time, the {worst} limit left less than half of what the law asked for."
    )
    remedy = f"Raise the limit on {worst} if the robot allows it, or use a slower, softer or more damped law."
    return Finding(name, "warning", figures, cause, remedy, case.spans(ruled[worst], least_s=0.02, join_s=0.1))


def _ruled(case: Case, bit: int) -> Array:
    """Ticks in which this limit left less than half."""
    place = list(LIMITS).index(bit)
    observed = case.records["observed"]
    asked, allowed = np.abs(observed["asked"][:, place]), np.abs(observed["allowed"][:, place])
    return (observed["limits"] & bit != 0) & (allowed < LEFT * asked)
