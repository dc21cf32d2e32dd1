"""By velocity an arm goes on with what it was told last: who stops it, whatever happens to loop and network."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from patient_loop import make_patient, use_patience

from pliant.compiling.ahead import ensure
from pliant.errors import LoopError
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import COMMAND, READING, VELOCITY
from pliant.robots.ros2_arm import joint_states
from pliant.robots.ros2_arm import ros2_robot as robot_module
from pliant.robots.ros2_arm.ros2_config import Ros2Config
from pliant.robots.ros2_arm.ros2_robot import Ros2Robot
from pliant.ros2 import message_types
from pliant.ros2.node import Node, Writer
from pliant.ros2.watchdog import Guard, watch
from pliant.session.session import Session
from pliant.task.schema import Task
from support.waiting import until

pytestmark = pytest.mark.slow

ARM = Arm.load("ur5e")
CONFIG = Ros2Config(stale_s=5.0, wait_s=120)


def say_joints(writer: Writer, q: Any) -> None:
    now = time.time_ns()
    stamp = {"sec": now // 10**9, "nanosec": now % 10**9}
    fields = {"header": {"stamp": stamp}, "name": list(ARM.joint_names)}
    writer.say(message_types.build(message_types.JOINT_STATE, fields, [np.asarray(q, float), np.zeros(6)]))


class Played:
    """A UR5e that moves as it is told, and goes on with the last velocity."""

    def __init__(self) -> None:
        self.q, self.told, self.is_blocked = ARM.q_home.copy(), [np.zeros(6)], False
        self._end, self._one = threading.Event(), threading.Lock()

    def __enter__(self) -> Played:
        self.node = Node("arm").open()
        self._states = self.node.writer("joint_states", message_types.JOINT_STATE)
        self._forces = self.node.writer(CONFIG.wrench, message_types.WRENCH_STAMPED)
        self.node.announce()
        self.controller = Node("controller").open()
        self._commands = self.controller.reader(CONFIG.velocity, message_types.FLOAT_ARRAY)
        self.controller.announce()
        self._thread = threading.Thread(target=self._play)
        self._thread.start()
        return self

    def _play(self) -> None:
        last = time.monotonic()
        while not self._end.wait(0.005):
            now = time.monotonic()
            self.told += [np.array(message.data) for message in self._commands.messages()]
            with self._one:
                self.q, last = self.q + self.told[-1] * (now - last) * (not self.is_blocked), now
            # the wrench first: after a stall, joint states that come alone would make the last wrench look old
            self._forces.say(message_types.build(message_types.WRENCH_STAMPED, runs=[np.full(6, 1e-3 * np.sin(now))]))
            say_joints(self._states, self.q)

    @property
    def moves(self) -> bool:
        return bool(np.abs(self.told[-1]).max() > 0.0)

    def jump_to(self, q: Any) -> None:
        with self._one:
            self.q = np.asarray(q, float)

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self.controller.close()
        self.node.close()


@pytest.fixture
def arm(network: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    with Played() as played:
        yield played


def start_moving(arm: Played) -> Session:
    """A loop that moves it."""
    ensure("loop", "batch", "replay")
    task = Task.model_validate({
        "robot": "ros2:ur5e", "rate_hz": 125, "law": "hold", "interface": "velocity", "ros2": CONFIG.model_dump(),
        "params": {"limits": {"speed_scale": 0.05}, "sense": {"stale_s": 1.0, "hold_s": 0.5, "frozen_s": 0},
                   "guard": {"stale_s": 5}},
    })  # fmt: skip
    session = Session(task).start()
    session.move_joints(ARM.q_home + 1.0)
    until(lambda: arm.moves)
    return session


@pytest.fixture
def moving(arm: Played, monkeypatch: pytest.MonkeyPatch) -> Session:
    """A loop that moves it, and that no stall of the machine stops."""
    use_patience(monkeypatch)
    return start_moving(arm)


def guard_of(session: Session) -> int:
    """The process that the loop has started."""
    pid = int(session.board.header.loop_pid)
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


# ---- the loop ------------------------------------------------------------------------------------------------------


def test_a_loop_that_hangs_is_noticed_the_arm_stands_and_the_loop_ends_when_it_comes_back(arm: Played) -> None:
    moving = start_moving(arm)  # by the time limit of the task
    pid = int(moving.board.header.loop_pid)
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: not arm.moves)
    finally:
        os.kill(pid, signal.SIGCONT)
    with pytest.raises(LoopError, match="the loop hung for longer than 5 s, and the watchdog stopped the arm"):
        moving.join()
    until(lambda: not arm.moves)


def test_a_loop_whose_guard_is_gone_stops(arm: Played, moving: Session) -> None:
    os.kill(guard_of(moving), signal.SIGKILL)
    with pytest.raises(
        LoopError, match="the watchdog process, which stops the arm if the loop dies or hangs, has exited"
    ):
        moving.join()
    until(lambda: not arm.moves)


def test_a_second_publisher_of_joint_states_stops_the_arm(arm: Played, moving: Session) -> None:
    with Node("rival") as rival:
        writer = rival.writer("joint_states", message_types.JOINT_STATE)
        while moving.running:
            say_joints(writer, arm.q)  # it need not even lie
            time.sleep(0.01)
        with pytest.raises(LoopError, match="on /joint_states more than one publisher reports the arm's joints"):
            moving.join()
    until(lambda: not arm.moves)


def test_one_state_that_no_arm_is_in_stops_the_arm(arm: Played, moving: Session) -> None:
    arm.jump_to(np.full(6, 1e300))
    with pytest.raises(LoopError, match=r"shoulder_pan_joint reports position 1e\+300, outside its range"):
        moving.join()
    until(lambda: not arm.moves)


def test_an_arm_that_does_not_follow_stops_the_loop_with_the_joint_and_what_to_look_after(
    arm: Played, moving: Session
) -> None:
    arm.is_blocked = True
    # the driver and the guard watch this, and either may be first
    words = r"joint( \d)? does not follow: it .* Check (whether something blocks|what holds or pushes) the arm"
    with pytest.raises(LoopError, match=words):
        moving.join()
    until(lambda: not arm.moves)


def test_a_controller_that_goes_away_stops_the_loop(arm: Played, moving: Session) -> None:
    arm.controller.close()
    words = "the subscriber for joint commands on /forward_velocity_controller/commands is gone"
    with pytest.raises(LoopError, match=words):
        moving.join()


# ---- the start -----------------------------------------------------------------------------------------------------


def test_a_start_may_take_longer_than_a_loop_may_hang_and_from_the_first_command_on_it_may_not(
    arm: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, command, reading = Ros2Config(stale_s=2.0, wait_s=120), COMMAND.new(), READING.new()
    robot = Ros2Robot("ur5e", Tool(), config, "velocity")
    robot.open()
    # for the robot no time passes, so that no stall looks like an arm that is silent; the guard has its own clock
    opened_s = time.monotonic()
    still = SimpleNamespace(monotonic=lambda: opened_s, time=time.time, sleep=time.sleep)
    for module in (robot_module, joint_states):
        monkeypatch.setattr(module, "time", still)
    try:
        for _ in range(2):
            robot.read(reading)
            time.sleep(1.5 * robot.config.stale_s)  # in which a guard that watched already would act
        robot.read(reading)
        command[0].mode, command[0].q[:6] = VELOCITY, reading[0].q[:6]
        robot.write(command)
        assert robot.fault == ""
        assert robot._guard is not None
        process = robot._guard._process
        assert process is not None
        until(lambda: process.poll() is not None)
        robot.read(reading)
        assert robot.fault == "the loop hung for longer than 2 s, and the watchdog stopped the arm"
    finally:
        robot.stop()
        robot.close()


# ---- the end -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [True, False])
def test_the_guard_is_released_only_when_the_arm_has_taken_the_stop(
    arm: Played, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    robot, command = Ros2Robot("ur5e", Tool(), CONFIG, "velocity"), COMMAND.new()
    make_patient(robot)
    robot.open()
    command[0].mode, command[0].qd[:6] = VELOCITY, 0.01
    robot.write(command)
    guard = robot._guard
    assert guard is not None
    assert until(lambda: guard.beat() or arm.moves) is True
    assert robot.fault == ""
    if taken:  # however long the arm takes to say so
        monkeypatch.setattr(robot_module, "_STOP_S", 60.0)
    else:  # the stop gets lost: only the guard can say it
        monkeypatch.setattr(Writer, "send", lambda writer, data: False)
    robot.stop()
    monkeypatch.undo()
    robot.close()
    until(lambda: not arm.moves)

    def zeros() -> int:
        return sum(not told.any() for told in arm.told[1:])

    if taken:
        assert zeros() == 1
    else:
        until(lambda: zeros() > 1)


def test_a_guard_that_never_started_can_be_released() -> None:
    guard = Guard("guard", "", [], 1.0)
    guard.release()
    guard.wait()


@pytest.mark.parametrize(
    ("sent", "end"), [(b"...R", "released"), (b"R", "released"), (b"...", "gone"), (b"", "gone"), (b".", "hung")]
)
def test_what_comes_through_the_pipe_says_how_the_loop_ended(sent: bytes, end: str) -> None:
    here, there = os.pipe()
    os.write(there, sent)
    if end == "gone":
        os.close(there)
    assert watch(here, 0.05) == end


def test_before_the_first_beat_nothing_is_expected() -> None:
    here, there = os.pipe()
    threading.Timer(0.3, lambda: os.write(there, b"R")).start()
    assert watch(here, 0.05) == "released"
