"""Effective delay: robot, sensor, filter and period, measured as far as the recording allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding, millis, share
from pliant.analysis.doctor.lags import Follows, Touch, follows, touch, why_unknown
from pliant.analysis.targets import Figure, reported

# So much more than was reckoned with is too much: a share, and on top of it [s].
MORE, SLACK_S = 1.15, 0.003
# A force this much over the noise is a firm contact, as a share of the target.
FIRM = 0.2


@dataclass(frozen=True)
class Lag:
    """The parts of the total lag [s]; `force_s` is the lag of the force behind the motion, 0 if unknown.

    A command is compared with the readings that follow it, so the robot's part includes one period.
    """

    robot_s: float
    robot_doubt_s: float
    filter_s: float
    force_s: float
    force_doubt_s: float

    @property
    def total_s(self) -> float:
        """All parts of the delay together [s]."""
        return self.robot_s + self.filter_s + self.force_s

    @property
    def least_s(self) -> float:
        """The total lag minus its uncertainty [s]."""
        return self.total_s - self.robot_doubt_s - self.force_doubt_s


@lru_cache(maxsize=1)
def following(case: Case) -> Follows | None:
    """How the robot follows its commands; computed once per case."""
    return follows(case)


@lru_cache(maxsize=1)
def pressing(case: Case) -> Touch | None:
    """What pressing shows about the surface; computed once per case."""
    return touch(case, FIRM * case.target_n) if case.target_n > 0 else None


def stiffness(case: Case) -> float:
    """Stiffness of the surface [N/m]: from pressing, or as the law estimated it; NaN if neither is known."""
    shown = pressing(case)
    if shown is not None:
        return shown.stiffness
    learned = case.contact["stiffness"][case.active]
    return float(np.median(learned)) if len(learned) and learned.any() else math.nan


def age_s(case: Case) -> float:
    """Median age of the wrench by its time stamps [s]."""
    reading = case.records["reading"]
    ages = reading["stamp_s"] - reading["wrench_stamp_s"]
    ages = ages[np.isfinite(ages)]
    return max(0.0, float(np.median(ages))) if len(ages) else 0.0


def total(case: Case) -> Lag | None:
    """The lag from a command to the filtered force that follows; None if the robot's part is unknown."""
    found = following(case)
    if found is None or not found.known:
        return None
    shown = pressing(case)
    # 1/(2π f) is the lag of a first-order low-pass at low frequency
    slow = float(np.median(1.0 / (2.0 * math.pi * case.setting("sense.cutoff_hz", math.inf))))
    behind, doubt = (shown.behind_s, shown.doubt_s) if shown is not None and shown.known else (0.0, 0.0)
    age = age_s(case)
    behind, doubt = (behind, doubt) if behind > age else (age, 0.0)
    return Lag(found.lag_s, found.doubt_s, slow, behind, doubt)


def effective_delay(case: Case) -> Finding:
    """The total lag compared with the declared one."""
    found, lag = following(case), total(case)
    if lag is None:
        why = why_unknown(case)
        if found is not None:
            why = f"Delay and servo explain only {share(max(0.0, found.explained))} of how the joints moved."
        return Finding("effective delay", "unknown", (), f"The delay cannot be determined. {why}")
    figures: tuple[Figure, ...] = (
        reported("total lag", 1e3 * lag.total_s, "ms"),
        reported("robot lag incl. one period", 1e3 * lag.robot_s, "ms"),
        reported("uncertainty of the robot's lag", 1e3 * lag.robot_doubt_s, "ms"),
        reported("filter of the wrench", 1e3 * lag.filter_s, "ms"),
        reported("force lag behind motion", 1e3 * lag.force_s, "ms"),
    )
    declared = _declared(case)
    if not case.is_contact or not math.isfinite(declared):
        return Finding("effective delay", "fine", figures)
    figures += (reported("declared", 1e3 * declared, "ms"),)
    if lag.least_s <= MORE * declared + SLACK_S:
        return Finding("effective delay", "fine", figures)
    cause = (
        f"The total lag from command to force is {millis(lag.total_s)}: robot {millis(lag.robot_s)} "
        f"(± {millis(lag.robot_doubt_s)}), filter {millis(lag.filter_s)}, sensor {millis(lag.force_s)}. The "
        f"law assumes {millis(declared)}: its gain is {lag.total_s / declared:.2g} times what this lag allows."
    )
    remedy = f"Set contact.lag_s to {lag.total_s:.3f}, or find and remove the cause of the delay."
    return Finding("effective delay", "warning", figures, cause, remedy)


def _declared(case: Case) -> float:
    values = case.setting("contact.lag_s", math.nan)[case.active]
    return float(np.median(values)) if len(values) else math.nan
