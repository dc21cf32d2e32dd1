"""A loop in step with an emulated controller that waits for it (`lockstep` among the emulator's faults).

One tick per packet, by the controller's own time: whatever the machine does meanwhile, both ends see the same periods.
As a program this is that loop: ``python lockstep.py <board>``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pliant.loop import control_loop
from pliant.loop.processes import LOOP
from pliant.robots import following
from pliant.robots.ur import driver
from pliant.robots.ur.driver import UrRobot
from pliant.session import started_loop

EMULATOR = "lockstep 5"
"""The fault that is injected."""

_LONGEST_S = 10.0
"""A controller that sends nothing for this long is silent, and the loop must notice."""


def use_lockstep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions on a UR run in step with its emulated controller."""
    spawn = started_loop.spawn

    def in_step(module: str, *arguments: str) -> subprocess.Popen[bytes]:
        if module != LOOP:
            return spawn(module, *arguments)
        return subprocess.Popen([sys.executable, __file__, *arguments], stdout=2, start_new_session=True)

    monkeypatch.setattr(started_loop, "spawn", in_step)


class Clock:
    """The controller's time, from the first reading on; before, the system's."""

    def __init__(self) -> None:
        self.offset, self.stamp = 0.0, 0.0

    def monotonic(self) -> float:
        return self.offset + self.stamp if self.offset else time.monotonic()

    def see(self, stamp: float) -> None:
        """A packet of this time has come."""
        self.offset = self.offset or time.monotonic() - stamp
        self.stamp = stamp


def in_step(read: Callable[..., None], clock: Clock) -> Any:
    """`read` of a robot that waits for the next packet."""

    def wait_and_read(robot: UrRobot, reading: Any) -> None:
        began = time.monotonic()
        while robot._receive.getTimestamp() == robot._stamp and time.monotonic() - began < _LONGEST_S:
            if not robot._is_connected():
                break
            time.sleep(1e-4)
        clock.see(robot._receive.getTimestamp())
        read(robot, reading)

    return wait_and_read


if __name__ == "__main__":
    clock = Clock()
    UrRobot.read = in_step(UrRobot.read, clock)
    driver.time = following.time = SimpleNamespace(monotonic=clock.monotonic, sleep=time.sleep)  # type: ignore[assignment]
    sys.exit(control_loop.main(sys.argv[1]))
