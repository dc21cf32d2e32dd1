"""A robot under test, driven by hand: read, command, pause. What it raises after `open` is a failed check."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.records import COMMAND, MODES, READING
from pliant.robots.interface import Robot

Array = np.ndarray[Any, Any]


class FailedError(Exception):
    """The check failed; the text says why."""


class SkippedError(Exception):
    """The check cannot be made; the text says why."""


class BusyError(Exception):
    """This computer paused in the middle of a check, which has to be repeated."""


class Driven:
    """An open robot with its records. One that is simulated advances with every `write`, not with the clock.

    A pause of this computer for longer than `patience_s` makes a result useless.
    """

    def __init__(self, robot: Robot, interface: str, dt: float, patience_s: float, *, is_simulated: bool) -> None:
        self.robot, self.interface, self.dt, self.is_simulated = robot, interface, dt, is_simulated
        self.patience_s = patience_s
        self.n = robot.arm.n
        self._reading, self._command = READING.new(), COMMAND.new()
        self._now, self._last = 0.0, 0.0
        self.is_stopped = False
        self.read()
        self.hold_q = self.q.copy()

    # -- the state --

    @property
    def q(self) -> Array:
        """Measured joint positions."""
        return self._reading[0].q[: self.n]

    @property
    def qd(self) -> Array:
        """Measured joint velocities."""
        return self._reading[0].qd[: self.n]

    @property
    def reading(self) -> Any:
        """The last reading."""
        return self._reading[0]

    @property
    def now_s(self) -> float:
        """The time on our side: of the clock, or of the simulation [s]."""
        return self._now if self.is_simulated else time.monotonic()

    # -- one period --

    def read(self) -> None:
        """Read the robot."""
        self.call("read", self._reading)

    def write(self, q: Array, qd: Array) -> None:
        """Command a position and its velocity, by the interface under test."""
        command = self._command[0]
        command.mode, command.q[: self.n], command.qd[: self.n] = MODES[self.interface], q, qd
        self.call("write", self._command)

    def call(self, action: str, *arguments: Any) -> None:
        """Call the driver; an exception is a failed check."""
        try:
            getattr(self.robot, action)(*arguments)
        except Exception as error:
            raise FailedError(
                f"{action} raised {type(error).__name__}: {error}. After open a driver does not raise; it sets fault."
            ) from error

    def pause(self) -> None:
        """Wait for the next period."""
        if self.is_simulated:
            self._now += self.dt
        else:
            time.sleep(self.dt)

    def must_be_quick(self) -> None:
        """Raise if this computer has paused since the last command, so that the check starts again."""
        if self._last and self.now_s - self._last > self.patience_s + self.dt:
            raise BusyError

    # -- many periods --

    def follow(self, path: Callable[[float], tuple[Array, Array]], for_s: float) -> list[tuple[float, Array, Array]]:
        """Command a path; returns stamps, positions and velocities. A fault of the robot is a failed check."""
        rows, begun = [], self.now_s
        while (passed := self.now_s - begun) < for_s:
            self.read()
            self.must_be_well()
            rows.append((float(self.reading.stamp_s), self.q.copy(), self.qd.copy()))
            self.must_be_quick()
            self.write(*path(passed))
            self._last = self.now_s
            self.pause()
        return rows

    def hold(self, for_s: float) -> list[Array]:
        """Hold the position of the beginning; returns the wrenches that were read."""
        wrenches: list[Array] = []

        def stay(_: float) -> tuple[Array, Array]:
            wrenches.append(self.reading.wrench.copy())
            return self.hold_q, np.zeros(self.n)

        self.follow(stay, for_s)
        return wrenches

    def move(self, joint: int, speed: float, for_s: float) -> None:
        """Move a joint at a constant speed, from where it is."""
        start, direction = self.q.copy(), np.zeros(self.n)
        direction[joint] = speed
        self.follow(lambda t: (start + t * direction, direction), for_s)

    def watch(self, for_s: float, command: Array | None = None) -> list[Array]:
        """Only read, for a time; returns the positions of states that are new. A simulated robot needs a `command`."""
        found, begun, stamp, self._last = [], self.now_s, float(self.reading.stamp_s), 0.0
        while self.now_s - begun < for_s:
            if self.is_simulated:
                self.write(self.hold_q if command is None else command, np.zeros(self.n))
                self._now += self.dt
            else:
                time.sleep(self.dt)
            self.read()
            if self.reading.stamp_s != stamp:
                stamp = float(self.reading.stamp_s)
                found.append(self.q.copy())
        return found

    def must_be_well(self) -> None:
        """Raise if the robot reports a fault, unless it is because of a pause of this computer."""
        if self.robot.fault:
            self.must_be_quick()
            raise FailedError(f"the robot reports a fault: {self.robot.fault}.")

    def end(self) -> None:
        """Stop and close, whatever happened before; an arm that may move is commanded to hold first."""
        for action in (self._settle, self.robot.stop, self.robot.close):
            with contextlib.suppress(Exception):
                action()

    def _settle(self) -> None:
        if not self.is_stopped and not self.robot.fault:
            self.robot.read(self._reading)
            self.write(self.q.copy(), np.zeros(self.n))
