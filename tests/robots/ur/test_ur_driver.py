"""The driver on the emulated controller: what it sets, sends and says, and how each fault ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError, RefusedError
from pliant.experiments.emulated import Emulator
from pliant.model.tool import Tool
from pliant.params.control import Parameters, Sense
from pliant.records import COMMAND, POSITION, READING, TORQUE, VELOCITY
from pliant.robots import open_robot
from pliant.robots.ur import connect, driver
from pliant.robots.ur.driver import UrRobot
from pliant.runtime.task import Task

TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15), tcp_quat=(0.0, 1.0, 0.0, 0.0))
# a busy machine may hold packets back, and that is not what is tested here
PATIENT = Parameters(sense=Sense(stale_s=1.0, hold_s=0.5, frozen_s=10.0))


@pytest.fixture(autouse=True)
def slow_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are no loop: they may pause for longer than a loop may."""
    monkeypatch.setattr(driver, "WATCHDOG_S", 3.0)


class Driven:
    """A robot with its records, driven by hand."""

    def __init__(self, robot: UrRobot) -> None:
        self.robot, self.reading, self.command = robot, READING.new(), COMMAND.new()
        robot.read(self.reading)
        self.command[0].q[:] = self.reading[0].q

    def run(self, periods: int, mode: int = POSITION, **change: Any) -> None:
        """So many periods, or until a fault; `change` is what is added to joints of a field in every one."""
        self.command[0].mode = mode
        for _ in range(periods):
            self.robot.read(self.reading)
            if self.robot.fault:
                return
            for name, values in change.items():
                self.command[0][name][:6] += values
            self.robot.write(self.command)
            time.sleep(0.002)

    def until_fault(self) -> str:
        self.run(2000)
        return self.robot.fault


@contextmanager
def driven(ur: Emulator, **fields: Any) -> Iterator[Driven]:
    robot = open_robot(ur.robot, Task(robot=ur.robot, **{"tool": TOOL, "params": PATIENT, **fields}))
    assert isinstance(robot, UrRobot)
    robot.open()
    try:
        yield Driven(robot)
    finally:
        robot.stop()
        robot.close()


def test_payload_and_tool_point_are_set_from_the_task(ur: Emulator) -> None:
    with driven(ur):
        state = ur.state
        assert state["mass_kg"] == 0.8
        assert state["com_m"] == pytest.approx([0.0, 0.0, 0.06])
        assert state["tcp"] == pytest.approx([0.0, 0.0, 0.15, np.pi, 0.0, 0.0])


def test_push_up_read_plus_z(ur: Emulator) -> None:
    with driven(ur) as it:
        it.run(20)
        weight = it.robot.arm.tool_weight(it.reading[0].q[:6])
        assert it.reading[0].wrench == pytest.approx(weight, abs=1.5)
        ur.inject("push 0 0 20 0 0 0 30")
        it.run(100)
        turned = it.robot.arm.sensor_pose(it.reading[0].q[:6])[3:]
        assert (it.reading[0].wrench - weight)[2] * _z_of(turned) == pytest.approx(20.0, abs=3.0)
        ur.inject("push 0 0 0 0 0 0 0")


def _z_of(quat: Any) -> float:
    """z component in base axes of the sensor's z axis."""
    return float(1.0 - 2.0 * (quat[1] ** 2 + quat[2] ** 2))


def test_positions_move_the_joints_there(ur: Emulator) -> None:
    with driven(ur) as it:
        it.run(100, q=np.array([2e-4, 0, 0, 0, 0, 0]))
        it.run(200)
        assert it.robot.fault == ""
        assert it.reading[0].q[:6] == pytest.approx(it.command[0].q[:6], abs=2e-3)


def test_velocities_move_the_joints_and_the_end_stops_them(ur: Emulator) -> None:
    with driven(ur, interface="velocity") as it:
        before = it.reading[0].q[0]
        it.command[0].qd[0] = 0.1
        it.run(200, VELOCITY)
        assert it.robot.fault == ""
        assert it.reading[0].q[0] > before + 0.005
    assert not ur.state["plays"]
    _until(lambda: max(map(abs, ur.state["qd"])) < 2e-3)


def test_torques_that_carry_the_arm_hold_it(ur: Emulator) -> None:
    with driven(ur, interface="torque") as it:
        q = it.reading[0].q[:6].copy()
        it.command[0].tau[:6] = it.robot.arm.bias(q, np.zeros(6))
        it.run(50, TORQUE)
        assert it.robot.fault == ""
        assert it.reading[0].q[:6] == pytest.approx(q, abs=0.05)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("protective stop", "it is in a protective stop"),
        ("emergency stop", "it is in an emergency stop"),
        ("mode idle", "mode 'idle', not 'running'"),
        ("stop program", "the program on the controller"),
    ],
)
def test_a_fault_is_told_the_arm_stops_and_a_new_connection_works(ur: Emulator, fault: str, said: str) -> None:
    with driven(ur) as it:
        it.run(20)
        ur.inject(fault)
        assert said in it.until_fault()
        assert ur.host in it.robot.fault
        _until(lambda: max(map(abs, ur.state["qd"])) < 2e-3)
    _until(lambda: not ur.state["plays"])
    ur.inject("clear")
    with driven(ur) as it:
        it.run(20)
        assert it.robot.fault == ""


@pytest.mark.parametrize(
    ("fault", "said"),
    [("protective stop", "cannot move; it is in a protective stop"), ("mode idle", "'idle'"),
     ("local control", "under local control")],
)  # fmt: skip
def test_a_robot_that_cannot_move_is_refused_before_it_is_commanded(ur: Emulator, fault: str, said: str) -> None:
    ur.inject(fault)
    with pytest.raises(RefusedError, match=said), driven(ur):
        pass


def test_another_model_than_the_task_believes_is_refused(ur: Emulator) -> None:
    robot = open_robot(f"{ur.robot}#ur10e", Task(robot=f"{ur.robot}#ur10e"))
    with pytest.raises(RefusedError, match="drives a UR5, not a ur10e"):
        robot.open()


def test_a_start_that_is_elsewhere_is_refused_with_the_joint(ur: Emulator) -> None:
    start = np.array(ur.state["q"]) + np.array([0, 0, 0.5, 0, 0, 0])
    with pytest.raises(RefusedError, match=r"elbow_joint is 28\.6° away"), driven(ur, start_q=tuple(start.tolist())):
        pass


def test_nobody_there_is_said_in_one_sentence(ur_rtde: None) -> None:
    with pytest.raises(RefusedError, match=r"No UR controller answers at 127\.49\.0\.1"):
        open_robot("ur:127.49.0.1", Task(robot="ur:127.49.0.1")).open()


def test_a_rate_beyond_the_controllers_and_a_tool_too_heavy_are_refused(ur_rtde: None) -> None:
    with pytest.raises(InputError, match="rate_hz"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1", rate_hz=1000))
    with pytest.raises(InputError, match=r"tool\.mass_kg"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1", tool=Tool(mass_kg=6.0)))


def test_a_real_arm_cannot_be_pushed_from_here(ur_rtde: None) -> None:
    with pytest.raises(RefusedError, match="Only a simulated arm"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1")).push(np.zeros(6), 1.0)


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RefusedError, match=r"pip install 'pliant\[ur\]'"):
        open_robot("ur:127.0.0.1", Task(robot="ur:127.0.0.1"))


def _until(holds, within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
