"""Robots for the mission experiment that ignore commands or report wrong readings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.mobile.base.drive_model import wheels_of
from pliant.mobile.whole_body.simulated_body import SimBody

NOISE = (0.002, 0.002)
"""Standard deviations of an imperfect localisation [m, rad]."""


class Noisy:
    """A robot with noisy localisation: every reading has independent errors with these standard deviations."""

    def __init__(self, robot: SimBody, seed: int, noise: tuple[float, float] = NOISE) -> None:
        self.robot, self.command, self.write = robot, robot.command, robot.write
        self._random, self._noise = np.random.default_rng([9, seed]), np.array((noise[0], *noise))

    def read(self, reading: Any, base: Any) -> None:
        self.robot.read(reading, base)
        base["pose"] += self._noise * self._random.normal(size=3)


class Faulty:
    """A robot that works until a fault affects its readings or motion."""

    def __init__(self, robot: SimBody, at_s: float, fault: Callable[[Any, Any, Any, Any], None]) -> None:
        self.robot, self._at_s, self._fault, self.command = robot, at_s, fault, robot.command
        self._kept: Any = None

    def read(self, reading: Any, base: Any) -> None:
        before = reading.copy(), base.copy()
        self.robot.read(reading, base)
        if self._begun:
            self._fault(reading, base, *before)

    def write(self, command: Any) -> None:
        self.robot.write(command)

    @property
    def _begun(self) -> bool:
        return bool(self.robot.world.record[0].time >= self._at_s)


class Stuck(Faulty):
    """A robot whose arm ignores its commands."""

    def write(self, command: Any) -> None:
        if self._kept is None or not self._begun:
            self._kept = command.copy()
            self._kept[0].qd[:] = 0.0
        self.robot.write(self._kept if self._begun else command)


class Held(Faulty):
    """A robot whose base is held: it is commanded to drive and does not move; its pose has noise."""

    def __init__(self, robot: SimBody, at_s: float) -> None:
        super().__init__(robot, at_s, nothing)
        self.command, self._noisy = self._command, Noisy(robot, 0)

    def read(self, reading: Any, base: Any) -> None:
        self._noisy.read(reading, base)

    def _command(self, v: float, omega: float) -> None:
        self.robot.command(*((0.0, 0.0) if self._begun else (v, omega)))


class Spinning(Held):
    """The same with wheels that turn as commanded and spin; its pose is exact."""

    def __init__(self, robot: SimBody, at_s: float) -> None:
        super().__init__(robot, at_s)
        self._asked, self._spun, self._last_s = np.zeros(2), np.zeros(2), at_s

    def read(self, reading: Any, base: Any) -> None:
        self.robot.read(reading, base)
        if self._begun:
            now_s = float(self.robot.world.record[0].time)
            self._spun += (now_s - self._last_s) * np.array(wheels_of(self.robot.base, *self._asked))
            self._last_s = now_s
            base["wheels"][0] += self._spun
            base["twist"][0] = self._asked

    def _command(self, v: float, omega: float) -> None:
        super()._command(v, omega)
        self._asked = np.array((v, omega))


def nothing(reading: Any, base: Any, reading_before: Any, base_before: Any) -> None:
    """No fault."""


def no_number(reading: Any, base: Any, reading_before: Any, base_before: Any) -> None:
    """The pose of the base is not finite."""
    base[0].pose[:] = math.nan


def no_joint(reading: Any, base: Any, reading_before: Any, base_before: Any) -> None:
    """The position of a joint is not finite."""
    reading[0].q[2] = math.nan


def frozen(reading: Any, base: Any, reading_before: Any, base_before: Any) -> None:
    """The base sends nothing new."""
    for name in ("pose", "wheels", "twist"):
        base[name] = base_before[name]


def pressed(reading: Any, base: Any, reading_before: Any, base_before: Any) -> None:
    """Something presses on the tool."""
    reading[0].wrench[0] += 400.0


def turned(reading: Any, base: Any, reading_before: Any, base_before: Any) -> None:
    """The base was rotated."""
    base[0].pose[2] += 0.5


def sagging(reading: Any, base: Any, reading_before: Any, base_before: Any) -> None:
    """A joint is not at its commanded position."""
    reading[0].q[1] += 0.4
