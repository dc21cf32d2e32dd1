"""Whether a base follows its command: one that is stuck or whose wheels spin is stopped long before its time limit.

The distance covered in a short time is compared with the commanded distance.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np

from pliant.mobile.base.arc import along_arc
from pliant.mobile.mission.mission_params import Watch

Array = np.ndarray[Any, Any]

LATE_S = 0.2
"""How late a base may be, beyond its known delay: newer commands need not have been carried out yet."""
EVERY_S = 0.02
"""Sampling interval."""
LEAST_M, LEAST_RAD = 0.1, 0.3
"""A base commanded less than this within the time is not checked."""
LEAST_SHARE = 0.25
"""Fraction of the commanded distance that it must cover."""


class ConditionTimer:
    """How long a condition has lasted; time in which it did not hold is subtracted, so single moments do not add up."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def update(self, so: bool, dt: float) -> float:
        """The time [s] that the condition has lasted, one period later."""
        self.seconds = max(0.0, self.seconds + (dt if so else -dt))
        return self.seconds


class ProgressWatch:
    """Detects a base that hardly moves despite its command, within `watch.stuck_s`."""

    def __init__(self, watch: Watch | None = None, delay_s: float = 0.0) -> None:
        self._over_s, self._late_s = (watch or Watch()).stuck_s, LATE_S + delay_s
        self._past: deque[tuple[float, Array, Array]] = deque()
        self._told, self._told_s, self._heading = np.zeros(3), math.nan, math.nan

    def update(self, time_s: float, command: Any, place: Any) -> str:
        """The problem, if any; `command` (v, ω) was active since the last call."""
        v, omega = float(command[0]), float(command[1])
        if self._past:
            dt = time_s - self._told_s
            along_arc(self._told, v, omega, dt, self._told)
            self._heading += math.remainder(place[2] - self._heading, math.tau)
        else:
            self._heading = float(place[2])
        self._told_s = time_s
        if self._past and time_s < self._past[-1][0] + EVERY_S - 1e-9:
            return ""
        self._past.append((time_s, self._told.copy(), np.array((place[0], place[1], self._heading))))
        while self._past[0][0] < time_s - self._over_s - 1e-9:
            self._past.popleft()
        full = time_s - self._past[0][0] > self._over_s - 1.5 * EVERY_S
        return self._judged(time_s) if full else ""

    def _judged(self, time_s: float) -> str:
        """How far the base got at most, there and back: because of its lag, it carries out earlier commands."""
        went = np.array([place for _, _, place in self._past])
        told = np.array([pose for at_s, pose, _ in self._past if at_s <= time_s - self._late_s])
        over = f"in {self._over_s:g} s: it is stuck"
        asked, gone = _farthest(told), _farthest(went)
        if asked > LEAST_M and gone < LEAST_SHARE * asked:
            return f"the base was commanded to move {asked:.2f} m but moved {gone:.2f} m {over}"
        turn, turned = float(np.ptp(told[:, 2])), float(np.ptp(went[:, 2]))
        if turn > LEAST_RAD and turned < LEAST_SHARE * turn:
            return f"the base was commanded to turn by {turn:.2f} rad but turned by {turned:.2f} rad {over}"
        return ""


def _farthest(poses: Array) -> float:
    """Largest distance from the first of some poses [m]."""
    return float(np.hypot(*(poses[:, :2] - poses[0, :2]).T).max())
