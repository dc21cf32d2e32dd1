"""Time stamps of another clock, as times of this computer.

    t = s + b,    b = min over the samples so far of (r - s)        s stamp, r time of arrival, b offset of the clocks

Transport only adds delay, so the smallest difference is nearest to the true offset. The offset may grow by `DRIFT`, so
that a clock that runs slower is followed. A mapped time is never later than the arrival, never more than `MOST_AGE_S`
earlier, and never earlier than the one before.
"""

from __future__ import annotations

import math

# How fast two clocks may drift apart (share of the time), and how old a sample can be when it arrives [s].
DRIFT, MOST_AGE_S = 2e-4, 1.0


class ClockMap:
    """Maps the stamps of one clock. A stamp that jumps by more than `MOST_AGE_S` restarts it: the device restarted."""

    def __init__(self) -> None:
        self._offset, self._arrived, self._last = math.nan, math.nan, -math.inf

    def arrival(self, stamp_s: float, arrived_s: float) -> float:
        """The time of this computer [s] at which a sample was taken that was stamped `stamp_s` and has now arrived."""
        if not math.isfinite(stamp_s):
            return self._monotone(arrived_s, arrived_s)
        offset = arrived_s - stamp_s
        grown = self._offset + DRIFT * (arrived_s - self._arrived)
        is_jump = not abs(offset - grown) <= MOST_AGE_S  # also of the first stamp
        self._offset = offset if is_jump else min(offset, grown)
        self._arrived = arrived_s
        return self._monotone(stamp_s + self._offset, arrived_s)

    def _monotone(self, time_s: float, arrived_s: float) -> float:
        self._last = max(self._last, min(arrived_s, max(arrived_s - MOST_AGE_S, time_s)))
        return self._last
