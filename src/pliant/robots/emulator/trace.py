"""The true state behind the emulated controller, period by period, which clients cannot see."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.robots.emulator.emulated_controller import Controller

TRACE = np.dtype([
    ("time_s", "f8"), ("wall_s", "f8"), ("q", "f8", (6,)), ("qd", "f8", (6,)), ("target", "f8", (6,)),
    ("tip", "f8", (3,)), ("press_n", "f8"), ("pushed_n", "f8", (3,)), ("plays", "i8"), ("safety", "i8"),
])  # fmt: skip
_GROW = 30_000


class Trace:
    """Kept in memory, written at the end. `wall_s` is the system's monotonic clock."""

    def __init__(self, controller: Controller) -> None:
        self._controller, self._rows, self._n = controller, np.zeros(_GROW, TRACE), 0

    def keep(self) -> None:
        """Remember the present period."""
        if self._n == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros(_GROW, TRACE)])
        arm, program = self._controller.arm, self._controller.program
        self._rows[self._n] = (
            self._controller.now, time.monotonic(), arm.q, arm.qd, arm.target_q, arm.tcp_pose()[:3], arm.press_n,
            arm.pushed_n, int(program.plays), self._controller.safety,
        )  # fmt: skip
        self._n += 1

    def save(self, path: Path) -> None:
        """Write what was noted to a file."""
        with path.open("wb") as file:
            np.save(file, self._rows[: self._n])


def load(path: Path) -> np.ndarray[Any, Any]:
    """A trace that an emulator wrote."""
    return np.load(path)
