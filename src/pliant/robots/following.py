"""Whether a driven arm goes where it is told: one that does not, because nobody drives it or something is in its way.

An arm lags behind what it is told, by its servo and the line. So every joint has to be near some place at which it was
told to be within the time that a lag may take: between the least and the most that it was told of late. What is beyond
that is an arm that stands while the command runs away from it, and whoever took such a command up would jump. Torques
say no place, and are not judged.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

# So far may a joint be from there, and so long may it be farther [rad, m; s].
NEAR, FOR_S = 0.05, 0.1
# The longest lag of an arm that follows [s]; how late its readings may be comes on top.
LAG_S = 0.25
# Into so many parts that time is divided: their least and most are kept, not every command.
_PARTS = 16


class Following:
    """Compares what was told with what is measured; readings may be late by `late_s` [s]."""

    def __init__(self, names: list[str] | tuple[str, ...], late_s: float) -> None:
        self._names, self._part_s = list(names), (LAG_S + late_s) / (_PARTS - 1)
        self._least, self._most = np.zeros((2, _PARTS, len(names)))
        self._q, self._part, self._off_since = np.zeros(len(names)), -1, math.inf

    def tell(self, q: Any) -> None:
        """The joints were told to be at `q`."""
        q, now = q[: len(self._names)], int(time.monotonic() / self._part_s)
        new = _PARTS if self._part < 0 else min(now - self._part, _PARTS)
        for part in range(now - new + 1, now + 1):
            self._least[part % _PARTS] = self._most[part % _PARTS] = q
        at = now % _PARTS
        np.minimum(self._least[at], q, out=self._least[at])
        np.maximum(self._most[at], q, out=self._most[at])
        self._q[:], self._part = q, now

    def forget(self) -> None:
        """Nothing says any more where the joints should be."""
        self._part, self._off_since = -1, math.inf

    def fault(self, q: Any) -> str:
        """Why joints that are measured at `q` do not follow; "" while they do, or while nothing was told."""
        q = q[: len(self._names)]
        off = np.maximum(self._least.min(axis=0) - q, q - self._most.max(axis=0))
        worst = int(off.argmax())
        if self._part < 0 or not off[worst] > NEAR:
            self._off_since = math.inf
            return ""
        now = time.monotonic()
        self._off_since = min(self._off_since, now)
        if now - self._off_since < FOR_S:
            return ""
        there, told = q[worst], self._q[worst]
        return (
            f"{self._names[worst]} does not follow: it is at {there:.3f} and was told to be at {told:.3f}, "
            "farther than a lag explains; look whether something blocks the arm, whether its controller still drives "
            "it, and whether its speed is held down there"
        )
