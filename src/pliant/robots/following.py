"""Whether a driven arm follows its command, or does not because its controller is inactive or an obstacle blocks it.

An arm lags behind its command, by its servo and the network. So every joint must be near a position that was commanded
within the largest lag: between the lowest and the highest recent command. An arm outside that range does not move while
the command runs away from it, and would jump when it starts to follow. Torque commands hold no position and are not
checked.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

# Allowed distance from there [rad, m], and how long it may be exceeded [s].
NEAR, FOR_S = 0.05, 0.1
# The longest lag of an arm that follows [s], in addition to the lateness of its readings.
LAG_S = 0.25
# That time is divided into this many parts: the lowest and highest command of each are kept, not every command.
_PARTS = 16


class Following:
    """Compares commanded with measured positions; readings may be late by `late_s` [s]."""

    def __init__(self, names: list[str] | tuple[str, ...], late_s: float) -> None:
        self._names, self._part_s = list(names), (LAG_S + late_s) / (_PARTS - 1)
        self._least, self._most = np.zeros((2, _PARTS, len(names)))
        self._q, self._part, self._off_since = np.zeros(len(names)), -1, math.inf

    def tell(self, q: Any) -> None:
        """Note that `q` was commanded."""
        q, now = q[: len(self._names)], int(time.monotonic() / self._part_s)
        new = _PARTS if self._part < 0 else min(now - self._part, _PARTS)
        for part in range(now - new + 1, now + 1):
            self._least[part % _PARTS] = self._most[part % _PARTS] = q
        at = now % _PARTS
        np.minimum(self._least[at], q, out=self._least[at])
        np.maximum(self._most[at], q, out=self._most[at])
        self._q[:], self._part = q, now

    def forget(self) -> None:
        """Forget the commanded positions."""
        self._part, self._off_since = -1, math.inf

    def fault(self, q: Any) -> str:
        """Why joints measured at `q` do not follow; "" if they do, or if nothing was commanded."""
        q = q[: len(self._names)]
        off = np.maximum(self._least.min(axis=0) - q, q - self._most.max(axis=0))
        worst = int(off.argmax())
        if self._part < 0 or off[worst] <= NEAR:  # a position that is not finite is not near
            self._off_since = math.inf
            return ""
        now = time.monotonic()
        self._off_since = min(self._off_since, now)
        if now - self._off_since < FOR_S:
            return ""
        there, told = q[worst], self._q[worst]
        return (
            f"{self._names[worst]} does not follow: it is at {there:.3f}, the command is {told:.3f}, and lag cannot "
            "explain the difference. Check whether something blocks the arm, whether its controller is active, and "
            "whether the controller limits its speed"
        )
