"""An arm in this process that moves with a clock of its own, and a driver for it that can be given defects."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pliant

WATCHDOG_S = 0.4
HOME = np.array([0.1, -1.4, 1.5, -1.6, -1.5, 0.2])


class Clock:
    """Time that passes only by `sleep`: it replaces the module `time` of the checks."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """The time [s]."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class PretendArm:
    """The arm: each joint follows its velocity at once, or its position with a lag; silence stops it."""

    def __init__(self, clock: Clock, watchdog_s: float = WATCHDOG_S) -> None:
        self.clock, self.watchdog_s = clock, watchdog_s
        self.q, self.qd, self.at, self.heard = HOME.copy(), np.zeros(6), clock.now, clock.now
        self.force, self.pushed_until, self.is_cut = np.zeros(3), 0.0, False
        self.command: tuple[str, Any] = ("hold", self.q.copy())

    def take(self, kind: str, values: Any) -> None:
        """A command arrives."""
        self.wait()
        self.command, self.heard = (kind, np.array(values)), self.clock.now

    def wait(self) -> None:
        """Move to the present; the command lasts until the watchdog ends it."""
        kind, values = self.command
        for end in (min(self.heard + self.watchdog_s, self.clock.now), self.clock.now):
            h = max(0.0, end - self.at)
            if self.at >= self.heard + self.watchdog_s:
                kind = "hold"
            before, self.at = self.q, self.at + h
            left = math.exp(-h / 0.02)
            self.q = {"velocity": before + h * values, "position": values + left * (before - values)}.get(kind, before)
            self.qd = {"velocity": values, "position": (values - self.q) / 0.02}.get(kind, np.zeros(6))

    def push(self, wrench: Any, for_s: float) -> None:
        """Push the tool, in the base frame."""
        self.force, self.pushed_until = np.array(wrench[:3]), self.clock.now + for_s


class PretendDriver(pliant.Robot):
    """A driver that keeps the contract, except for its `defect`."""

    interfaces = ("position", "velocity")

    def __init__(self, arm: PretendArm, defect: str = "") -> None:
        self.name, self.arm = "pretend:arm", pliant.Arm.load("ur5e")
        self._arm, self._defect, self._is_open = arm, defect, False

    def open(self) -> None:
        self._is_open = True
        self._arm.take("hold", self._arm.q)

    def read(self, reading: Any) -> None:
        if self._is_lost():
            return
        self._arm.wait()
        r, now = reading[0], self._arm.clock.now
        r.q[:6], r.qd[:6] = self._arm.q, self._arm.qd
        r.q[:6] *= 180 / math.pi if self._defect == "degrees" else 1.0
        r.qd[:6] *= 180 / math.pi if self._defect == "degrees per second" else 1.0
        r.q[:6] = r.q[[5, 1, 2, 3, 4, 0]] if self._defect == "joint order" else r.q[:6]
        r.stamp_s = r.wrench_stamp_s = now * (1000.0 if self._defect == "milliseconds" else 1.0)
        if self._defect == "frozen stamps":
            r.stamp_s = r.wrench_stamp_s = 100.0
        if self._defect == "stale wrench":
            r.wrench_stamp_s -= 3.0
        r.wrench[:3] = 0.0
        if now < self._arm.pushed_until:
            r.wrench[:3] = turned_back(self.arm.sensor_pose(self._arm.q)[3:], self._arm.force)
        r.wrench *= -1.0 if self._defect == "wrong sign" else 1.0
        r.wrench_state = self.WRENCH_OK

    def write(self, command: Any) -> None:
        if self._is_lost():
            return
        c = command[0]
        kind, values = ("velocity", c.qd) if c.mode == self.VELOCITY else ("position", c.q)
        self._arm.take(kind, values[:6])

    def _is_lost(self) -> bool:
        if self._arm.is_cut:
            if self._defect == "raises":
                raise ConnectionResetError("the cable is out")
            self.fault = "" if self._defect == "silent" else "the connection to the arm is lost"
        return self._arm.is_cut

    def stop(self) -> None:
        if not self._is_open and self._defect == "stop needs open":
            raise AttributeError("line")
        if self._defect != "stop does not stop" and self._is_open:
            self._arm.take("hold", self._arm.q)

    def close(self) -> None:
        self._is_open = False


def turned_back(quat: Any, v: Any) -> Any:
    """Rᵀ v for the rotation that `quat` (wxyz) describes."""
    w, u = quat[0], np.array(quat[1:])
    return v + 2.0 * (w * np.cross(v, u) + np.cross(np.cross(v, u), u))
