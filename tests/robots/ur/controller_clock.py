"""A loop that measures time by the clock of its emulated controller, so that a stall of the machine is no silence.

The controller's clock stops while the emulator is held up. A silence or a late packet is then only what the emulator
was told to do. As a program this is that loop: ``python controller_clock.py <board>``.
"""

from __future__ import annotations

import json
import socket
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
from pliant.robots.emulator.ports import DASHBOARD
from pliant.robots.ur import driver
from pliant.robots.ur.driver import UrRobot
from pliant.session import started_loop

_HANG_S = 120.0
"""A dashboard that does not answer for this long hangs."""


def use_controller_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sessions on a UR measure time by its emulated controller."""
    spawn = started_loop.spawn

    def clocked(module: str, *arguments: str) -> subprocess.Popen[bytes]:
        if module != LOOP:
            return spawn(module, *arguments)
        return subprocess.Popen([sys.executable, __file__, *arguments], stdout=2, start_new_session=True)

    monkeypatch.setattr(started_loop, "spawn", clocked)


class Clock:
    """The controller's time, asked for once per reading; before the first reading, the system's."""

    def __init__(self) -> None:
        self._dashboard: Any = None
        self._offset = self._now = 0.0

    def monotonic(self) -> float:
        return self._now or time.monotonic()

    def look(self, host: str) -> None:
        """Ask the controller for its time."""
        if self._dashboard is None:
            self._dashboard = socket.create_connection((host, DASHBOARD), _HANG_S).makefile("rw")
            self._dashboard.readline()  # its greeting
        self._dashboard.write("emulator state\n")
        self._dashboard.flush()
        there = json.loads(self._dashboard.readline())["time_s"]
        self._offset = self._offset or time.monotonic() - there
        self._now = self._offset + there


def clocked(read: Callable[..., None], clock: Clock) -> Any:
    """`read` of a robot that asks for the time first."""

    def look_and_read(robot: UrRobot, reading: Any) -> None:
        clock.look(robot.address.host)
        read(robot, reading)

    return look_and_read


if __name__ == "__main__":
    clock = Clock()
    UrRobot.read = clocked(UrRobot.read, clock)
    driver.time = following.time = SimpleNamespace(monotonic=clock.monotonic, sleep=time.sleep)  # type: ignore[assignment]
    sys.exit(control_loop.main(sys.argv[1]))
