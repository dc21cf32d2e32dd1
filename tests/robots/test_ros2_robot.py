"""An arm over ROS 2: joints by their names, the sign of the wrench, and every way in which it falls silent."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.compiling.ahead import ensure
from pliant.errors import InputError, LoopError, PliantError
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import READING, VELOCITY
from pliant.robots.ros2_arm.ros2_config import Ros2Config
from pliant.robots.ros2_arm.ros2_robot import Ros2Robot
from pliant.ros2 import message_types
from pliant.ros2.node import Node
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant_experiments.robots.ros2_peer import Peer
from support.waiting import until

FORCE = message_types.WRENCH_STAMPED


def state(names: list[str], q: Any) -> Any:
    return message_types.build(message_types.JOINT_STATE, {"name": names}, [np.array(q, float)])


# ---- messages ------------------------------------------------------------------------------------------------------


def test_it_takes_positions_and_velocities_and_other_interfaces_are_refused() -> None:
    assert Ros2Robot("ur5e", Tool(), Ros2Config()).interfaces == ("position", "velocity")
    with pytest.raises(InputError, match="6 names, one per joint of ur5e"):
        Ros2Robot("ur5e", Tool(), Ros2Config(joint_names=("a", "b")))
    with pytest.raises(PliantError, match="Only a simulated arm can be pushed"):
        Ros2Robot("ur5e", Tool(), Ros2Config()).push([0] * 6, 1.0)


@pytest.mark.parametrize(("meaning", "sign"), [("on_robot", 1.0), ("by_robot", -1.0)])
def test_the_wrench_is_what_the_environment_does_to_the_robot(network: None, meaning: Any, sign: float) -> None:
    robot = Ros2Robot("ur5e", Tool(), Ros2Config(wrench_is=meaning, joint_names=tuple("abcdef"), wait_s=120, stale_s=5))
    reading, stop = READING.new(), threading.Event()
    with Node("arm") as arm:
        states, forces = arm.writer("joint_states", message_types.JOINT_STATE), arm.writer("ft_sensor_readings", FORCE)
        arm.reader(robot.config.trajectory, message_types.JOINT_TRAJECTORY)

        def play() -> None:
            while not stop.wait(0.01):
                states.say(state(list("fedcba"), [6, 5, 4, 3, 2, 1]))
                forces.say(message_types.build(FORCE, runs=[np.arange(1.0, 7.0)]))

        thread = threading.Thread(target=play)
        thread.start()
        try:
            robot.open()
            robot.read(reading)
        finally:
            stop.set()
            thread.join()
            robot.close()
    assert reading[0].wrench.tolist() == (sign * np.arange(1.0, 7.0)).tolist()
    assert reading[0].q[:6].tolist() == [1, 2, 3, 4, 5, 6]


# ---- in the loop ---------------------------------------------------------------------------------------------------


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure("loop", "batch", "replay")
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))


def play_arm(peer: Peer, wrench: Any = (0, 0, 0, 0, 0, 0)) -> Arm:
    """Let the peer be a UR5e at home, with this reading of its force sensor."""
    arm = Arm.load("ur5e")
    peer("arm", joints=list(arm.joint_names), q=arm.q_home.tolist(), rate_hz=100.0, wrench=list(wrench))
    return arm


def task(**fields: Any) -> Task:
    """A slow loop that bears with a peer that is slow: what is claimed here does not depend on speed."""
    params = {"sense": {"frozen_s": 0, "stale_s": 1}, "limits": {"speed_scale": 0.05}, "guard": {"stale_s": 5}}
    patient = {"ros2": {"stale_s": 4.0, "wait_s": 120}, "params": params}
    return Task.model_validate({"robot": "ros2:ur5e", "rate_hz": 125, **patient, **fields})


def test_readings_and_commands_are_the_values_that_a_real_ros_sent_and_received(peer: Peer, out: None) -> None:
    arm = Arm.load("ur5e")
    turn = Rotation.from_quat(arm.pose(arm.q_home)[[4, 5, 6, 3]])
    play_arm(peer, (*turn.inv().apply([0, 0, 30.0]), 0.1, 0.2, 0.3))
    with Session(task(law="hold")) as session:
        session.wait(0.1)
        assert session.wrench[2] == pytest.approx(30.0, abs=0.1)  # pushed up: +z
        parts: list[Any] = []
        goals = itertools.cycle((arm.q_home + 0.3, arm.q_home))

        def has_come_and_gone() -> bool:
            """To a goal, and on to the next one until the peer was told enough."""
            goal = next(goals)
            session.move_joints(goal)
            until(lambda: parts.append(session.read()) or np.allclose(session.q, goal, atol=2e-3))
            return len({tuple(q) for _, q in peer("log")["told"]}) > 50

        until(has_come_and_gone)
        session.stop()
        records = np.concatenate([*parts, session.read()]).view(np.recarray)
    log = peer("log")
    sent = {stamp: (q, force) for stamp, q, force in log["sent"]}
    for record in records:
        q, _ = sent[float(record.reading.stamp_s)]
        assert record.reading.q[:6].tolist() == q
        _, force = sent[float(record.reading.wrench_stamp_s)]
        assert record.reading.wrench[:3].tolist() == force
    assert len(np.unique(records["reading"]["stamp_s"])) > 50
    commands = {tuple(q.tolist()) for q in records["command"]["q"][:, :6]}
    told = {tuple(q) for _, q in log["told"]}
    assert len(told & commands) > 50
    assert told <= commands


@pytest.mark.slow
def test_joint_states_that_stop_coming_stop_the_loop_with_a_sentence(peer: Peer, out: None) -> None:
    play_arm(peer)
    session = Session(task(law="hold")).start()
    session.wait(0.2)
    peer("silence")
    words = r"no new joint states arrived on /joint_states for \d+\.\d+ s \(ros2.stale_s\)"
    with pytest.raises(LoopError, match=words):
        session.join()


@pytest.mark.parametrize("kill", [pytest.param(False, marks=pytest.mark.slow), True])
def test_by_velocity_the_arm_is_stopped_at_the_end_and_when_the_loop_is_killed(
    peer: Peer, out: None, kill: bool
) -> None:
    arm = play_arm(peer)
    session = Session(task(law="hold", interface="velocity")).start()
    session.move_joints(arm.q_home + 1.0)
    until(lambda: np.abs(session.state.command.qd).max() > 0.05)
    assert session.state.command.mode == VELOCITY
    until(lambda: any(peer("last")))
    if kill:
        os.kill(int(session.board.header.loop_pid), signal.SIGKILL)
        with pytest.raises(LoopError):
            session.join()
    else:
        session.stop()
    until(lambda: peer("last") == [0.0] * 6)
