"""The watchdog that the driver asks of the controller: always, in time, and before anything moves. No clock decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pliant.records import COMMAND, POSITION, READING
from pliant.robots import open_robot
from pliant.robots.ur.driver import UrRobot
from pliant.task.schema import Task
from pliant_experiments.robots.emulator_process import Emulator
from support.waiting import until


@pytest.fixture
def patient(ur: Emulator) -> Iterator[Emulator]:
    """It remembers what was asked of its watchdog, and does not act: these tests are no loop."""
    ur.inject("watchdog slow 60")
    yield ur
    ur.inject("watchdog slow 0")


@contextmanager
def opened(ur: Emulator) -> Iterator[UrRobot]:
    robot = open_robot(ur.robot, Task(robot=ur.robot))
    assert isinstance(robot, UrRobot)
    try:
        robot.open()
        yield robot
    finally:
        robot.stop()
        robot.close()


def command_of(robot: UrRobot) -> Any:
    """The command to stay where it is."""
    reading, command = READING.new(), COMMAND.new()
    robot.read(reading)
    command[0].mode, command[0].q[:] = POSITION, reading[0].q
    return command


class Heard:
    """ur_rtde, with every call kept."""

    def __init__(self, control: Any) -> None:
        self.control, self.calls = control, []

    def __getattr__(self, name: str) -> Any:
        def call(*values: Any) -> Any:
            self.calls.append((name, values))
            return getattr(self.control, name)(*values)

        return call


def test_the_arm_is_not_moved_before_the_controller_watches_over_a_tenth_of_a_second(patient: Emulator) -> None:
    with opened(patient) as robot:
        robot.write(command_of(robot))
        until(lambda: patient.state["moved"])
        state = patient.state
        assert state["watchdog_s"] == pytest.approx(0.1)
        assert state["watched_s"] == pytest.approx(0.1)  # already when the first command came


def test_the_watchdog_is_set_to_that_before_the_first_command_and_only_once(patient: Emulator) -> None:
    with opened(patient) as robot:
        robot._control = heard = Heard(robot._control)
        command = command_of(robot)
        for _ in range(3):
            robot.write(command)
        robot._control = heard.control
    calls = [(name, values) for name, values in heard.calls if name in ("setWatchdog", "servoJ")]
    assert [name for name, _ in calls] == ["setWatchdog", "servoJ", "servoJ", "servoJ"]
    assert calls[0][1] == (pytest.approx(10.0),)  # the least rate of commands [Hz], so one in 0.1 s
