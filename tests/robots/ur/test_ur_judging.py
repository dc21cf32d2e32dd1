"""What the driver makes of the controller's packets, told by lines and a clock of the tests' own."""

from __future__ import annotations

import math
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pliant.control.parameters import Parameters, Sense
from pliant.errors import RejectedError
from pliant.records import COMMAND, POSITION, READING
from pliant.robots.ur import connecting, driver, recovery
from pliant.robots.ur.address import UrAddress
from pliant.robots.ur.driver import UrRobot
from pliant.task.schema import Task

HOST, DT = "192.0.2.1", 0.002
NORMAL, PROTECTIVE = 1 << 0, 1 << 2
SENSE = Sense(stale_s=0.02, hold_s=0.03)


class Receive:
    """The line on which the controller reports: all joints at rest."""

    def __init__(self) -> None:
        self.stamp, self.safety, self.slider = 5.0, NORMAL, 1.0

    def __getattr__(self, name: str) -> Any:
        return {
            "getTimestamp": lambda: self.stamp, "getSafetyStatusBits": lambda: self.safety, "getRobotMode": lambda: 7,
            "getTargetSpeedFraction": lambda: self.slider, "isConnected": lambda: True, "getRuntimeState": lambda: 1,
            "getActualTCPPose": lambda: [0.0] * 6,
        }.get(name, lambda: [0.0] * 6)  # fmt: skip


class Control:
    """The line of the commands: it takes all of them."""

    def __init__(self) -> None:
        self.runs, self.calls, self.watchdogs = True, [], []

    def __getattr__(self, name: str) -> Any:
        def call(*values: Any) -> bool:
            self.calls.append(name)
            if name == "setWatchdog":
                self.watchdogs.append(1.0 / values[0])
            return self.runs if name == "isProgramRunning" else True

        return call


class Cell:
    """The driver between the two lines, period by period."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.receive, self.control = 100.0, Receive(), Control()
        monkeypatch.setattr(driver, "time", SimpleNamespace(monotonic=lambda: self.now, sleep=lambda _: None))
        self.robot = UrRobot(UrAddress(HOST, "ur5e"), Task(robot=f"ur:{HOST}", params=Parameters(sense=SENSE)))
        self.robot._receive, self.robot._control, self.robot._heard = self.receive, self.control, self.now
        self.reading, self.command = READING.new(), COMMAND.new()
        self.command[0].mode = POSITION

    def run(self, periods: int, *, heard: bool = True) -> str:
        """So many periods, in which the controller is heard or not; returns the fault."""
        for _ in range(periods):
            self.now += DT
            self.receive.stamp += DT * heard
            self.robot.read(self.reading)
            self.robot.write(self.command)
        return self.robot.fault


@pytest.fixture
def cell(ur_rtde: None, monkeypatch: pytest.MonkeyPatch) -> Cell:
    made = Cell(monkeypatch)
    assert made.run(10) == ""
    return made


def test_a_speed_slider_that_is_lowered_while_the_arm_moves_is_a_fault_that_says_so(cell: Cell) -> None:
    cell.receive.slider = 0.5
    words = f"the speed slider of the robot at {HOST} was set to 50 %, so the arm is slower than commanded"
    assert words in cell.run(1)


def test_a_safety_stop_that_lowers_the_slider_too_is_told_as_the_stop(cell: Cell) -> None:
    cell.receive.slider, cell.receive.safety = 0.0, PROTECTIVE
    assert "is in a protective stop" in cell.run(1)


def test_a_controller_that_sends_nothing_is_silent_after_so_long(cell: Cell) -> None:
    silent = round((SENSE.stale_s + SENSE.hold_s) / DT)
    assert cell.run(silent - 1, heard=False) == ""
    assert "has sent nothing for 50 ms" in cell.run(2, heard=False)


def test_a_pause_of_our_own_is_not_the_controllers(cell: Cell) -> None:
    cell.now += 1.0  # nothing was read: what has come meanwhile is not delivered at once
    assert cell.run(5, heard=False) == ""
    assert cell.run(5) == ""


def test_silence_goes_on_over_a_pause_of_our_own(cell: Cell) -> None:
    silent = round((SENSE.stale_s + SENSE.hold_s) / DT)
    assert cell.run(silent - 5, heard=False) == ""
    cell.now += 1.0
    assert "has sent nothing" in cell.run(10, heard=False)


def test_a_program_that_has_stopped_is_told_when_no_reason_came(cell: Cell) -> None:
    cell.control.runs = False
    assert cell.run(5) == ""
    assert f"the program on the controller at {HOST} was stopped" in cell.run(20)


def test_nothing_is_sent_to_a_program_that_may_have_stopped(cell: Cell) -> None:
    cell.control.runs = False
    cell.run(1)
    cell.control.calls.clear()
    cell.run(3)
    assert "servoJ" not in cell.control.calls
    cell.control.runs = True
    cell.run(1)
    assert "servoJ" in cell.control.calls


def test_the_reason_for_a_stopped_program_is_waited_for_on_a_slower_line(cell: Cell) -> None:
    cell.control.runs = False
    assert cell.run(15, heard=False) == ""  # longer than it may take, and no packet since
    cell.receive.safety = PROTECTIVE
    assert "is in a protective stop" in cell.run(1)


def test_packets_from_before_the_stop_that_come_late_are_not_taken_for_an_answer(cell: Cell) -> None:
    cell.run(12, heard=False)  # 24 ms behind
    cell.control.runs = False
    assert cell.run(20) == ""  # all of them were sent before, or hardly after
    cell.receive.safety = PROTECTIVE
    assert "is in a protective stop" in cell.run(1)


def test_two_threads_are_never_in_ur_rtde_at_once(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_STOP_S", 0.05)
    answers = threading.Event()
    monkeypatch.setattr(cell.control, "stopScript", answers.wait, raising=False)
    cell.robot.stop()
    cell.robot.close()
    ending = cell.robot._ending
    assert ending is not None
    assert ending.is_alive()
    assert "disconnect" not in cell.control.calls
    answers.set()
    ending.join()
    cell.robot.close()
    assert "disconnect" in cell.control.calls


@pytest.mark.parametrize("stamp", [math.nan, math.inf])
def test_a_time_stamp_that_is_not_finite_is_a_fault_at_once(cell: Cell, stamp: float) -> None:
    cell.receive.stamp = stamp
    cell.control.calls.clear()
    assert "which is not finite" in cell.run(3)
    assert "servoJ" not in cell.control.calls


def test_packets_that_never_stop_arriving_are_a_fault_in_bounded_time(cell: Cell) -> None:
    class Flood(Receive):
        def __getattr__(self, name: str) -> Any:
            if name == "getTimestamp":
                self.stamp += 1e-4
            return super().__getattr__(name)

    cell.robot._receive = Flood()
    assert "arrive faster than they can be read: 10 arrived during one reading" in cell.run(1)


@pytest.mark.parametrize("bits", [0, 1 << 11])
def test_safety_bits_that_say_nothing_are_a_fault(cell: Cell, bits: int) -> None:
    cell.receive.safety = bits
    assert "neither normal nor reduced mode" in cell.run(1)


def test_a_slider_that_is_not_a_number_is_a_fault(cell: Cell) -> None:
    cell.receive.slider = math.nan
    assert "the speed slider" in cell.run(1)


# ---- before the first command --------------------------------------------------------------------------------------


@pytest.fixture
def opened(cell: Cell, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Cell:
    """A robot whose lines are there as soon as it asks for them."""
    monkeypatch.setattr(recovery.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(connecting, "must_answer", lambda *_: "STOPPED")
    monkeypatch.setattr(connecting, "open_receive", lambda *_: cell.receive)
    monkeypatch.setattr(cell.robot, "_must_be_this_arm", lambda: None)
    cell.robot._armed = False
    cell.control.watchdogs.clear()
    return cell


def test_the_program_is_watched_from_its_start_and_closely_from_the_first_command_on(
    opened: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "open_control", lambda *_: opened.control)
    opened.control.calls.clear()
    opened.robot.open()
    assert opened.control.calls[0] == "setWatchdog"
    assert opened.control.watchdogs == [pytest.approx(30.0)]
    opened.run(2)
    assert opened.control.watchdogs[1:] == [pytest.approx(0.1)]


@pytest.mark.parametrize(
    ("what", "words"),
    [({"stamp": math.nan}, "sends no data"), ({"slider": math.nan}, "The speed slider"), ({"safety": 0}, "neither")],
)
def test_a_value_that_is_not_proven_good_never_starts(opened: Cell, what: dict[str, float], words: str) -> None:
    opened.receive.__dict__.update(what)
    clock = iter(range(10**6))
    driver.time.monotonic = lambda: float(next(clock))  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(RejectedError, match=words):
        opened.robot.open()


def test_a_tool_point_that_is_not_finite_never_starts(opened: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    clock = iter(range(10**6))
    monkeypatch.setattr(driver, "time", SimpleNamespace(monotonic=lambda: next(clock), sleep=lambda _: None))
    monkeypatch.setattr(opened.receive, "getActualTCPPose", lambda: [math.nan] * 6, raising=False)
    with pytest.raises(RejectedError, match="tool point"):
        opened.robot._must_be_this_arm()


def test_joints_that_are_not_finite_are_not_at_the_start(opened: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened.receive, "getActualQ", lambda: [math.nan] * 6, raising=False)
    opened.robot.start_q = np.zeros(6)
    with pytest.raises(RejectedError, match="The task starts at start_q"):
        opened.robot._must_be_at_start()


def test_a_program_is_not_ended_under_an_arm_whose_speed_is_unknown(
    opened: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened.receive, "getRuntimeState", lambda: 2, raising=False)
    monkeypatch.setattr(opened.receive, "getActualQd", lambda: [math.nan] * 6, raising=False)
    clock = iter(range(10**6))
    driver.time.monotonic = lambda: float(next(clock))  # pyright: ignore[reportAttributeAccessIssue]
    recovery.remember(HOST)
    with pytest.raises(RejectedError, match="A program is running"):
        opened.robot._must_be_free(None)


def test_a_loop_that_is_killed_while_its_program_is_sent_is_remembered(
    opened: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(connecting, "open_control", killed)
    with pytest.raises(SystemExit):
        opened.robot.open()
    assert recovery.may_be_ours(HOST, None)


@pytest.mark.parametrize("before", [False, True])
def test_a_refused_program_is_not_remembered_and_one_that_was_left_before_stays_so(
    opened: Cell, monkeypatch: pytest.MonkeyPatch, *, before: bool
) -> None:
    def refuse(*_: Any) -> None:
        raise RejectedError("Another program controls the robot.")

    monkeypatch.setattr(connecting, "open_control", refuse)
    if before:
        recovery.remember(HOST)
    with pytest.raises(RejectedError, match="Another program"):
        opened.robot.open()
    assert recovery.may_be_ours(HOST, None) == before
