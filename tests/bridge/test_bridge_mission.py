"""A mission over ROS 2: its base and its arm are commanded by topics, with the values of its telemetry."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.bridge.odometry import ODOMETRY
from pliant.bridge.starting import bridged
from pliant.compiling.ahead import ensure
from pliant.errors import LoopError
from pliant.mobile.mission.mission_link import MissionSession
from pliant.mobile.mission.mission_task import MissionTask, changed_mission, find_mission
from pliant.ros2.message_types import JOINT_STATE, JOINT_TRAJECTORY, STRING, TWIST, build
from pliant.ros2.node import Node
from support.waiting import until

TRAJECTORY = "/scaled_joint_trajectory_controller/joint_trajectory"


def fetch() -> MissionTask:
    """A way that takes a slow base some ten seconds."""
    task = find_mission("fetch")
    assert task is not None
    parked = ",".join(map(str, task.park.q))
    slow = ["base.forward_m_s=0.15", "base.backward_m_s=0.15", "travel.limit_s=600"]
    return changed_mission(task, ["start=6.0,2.2,0", f"start_q={parked}", *slow])


@pytest.fixture
def node(network: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """A base, an arm and somebody who watches."""
    ensure("loop", "body", "planner")
    monkeypatch.setenv("PLIANT_OUT", str(tmp_path))
    with Node("stranger") as node:
        yield node


@pytest.mark.slow
def test_base_and_arm_hear_every_value_that_they_are_told(node: Node) -> None:
    base, joints = node.reader("/cmd_vel", TWIST, depth=100), node.reader("/joint_states", JOINT_STATE, depth=100)
    odom = node.reader("/odom", ODOMETRY, depth=100)
    arm = node.reader(TRAJECTORY, JOINT_TRAJECTORY, depth=100)
    state = node.reader("/pliant/state", STRING, latched=True)
    order = node.writer("/pliant/command", STRING)
    node.announce()
    twists: list[Any] = []
    states: list[Any] = []
    places: list[Any] = []
    targets: list[Any] = []
    words: list[str] = []
    parts: list[Any] = []

    def hear() -> None:
        twists.extend(base.messages())
        states.extend(joints.messages())
        places.extend(odom.messages())
        targets.extend(arm.messages())
        words.extend(message.data for message in state.messages())
        parts.append(session.read())  # after them: what was heard is on the board

    with MissionSession(fetch()) as session, bridged(session, agreed=True):
        until(lambda: hear() or order.listeners)
        order.say(build(STRING, {"data": "start"}))
        until(lambda: hear() or sum(message.linear.x > 0.1 for message in twists) > 200)
        order.say(build(STRING, {"data": "stop"}))
        until(lambda: hear() or "running mission stopped" in words)
    records = np.concatenate(parts)
    told = set(map(tuple, records["base"]["command"].tolist()))
    assert {(message.linear.x, message.angular.z) for message in twists} <= told
    assert not any((m.linear.y, m.linear.z, m.angular.x, m.angular.y) != (0, 0, 0, 0) for m in twists)
    aims = set(map(tuple, records["command"]["q"][:, :6].tolist()))
    assert {tuple(message.points[0].positions.tolist()) for message in targets} <= aims
    at = dict(zip(records["timing"]["wall_ns"].tolist(), records["reading"]["q"][:, :6].tolist(), strict=True))
    for message in states:
        assert message.position.tolist() == at[message.header.stamp.sec * 10**9 + message.header.stamp.nanosec]
    assert "running mission B" in words
    by = dict(zip(records["timing"]["wall_ns"].tolist(), records["base"], strict=True))
    for message in places:
        own = by[message.header.stamp.sec * 10**9 + message.header.stamp.nanosec]
        pose, twist = message.pose.pose, message.twist.twist
        heading = 2.0 * np.arctan2(pose.orientation.z, pose.orientation.w)
        np.testing.assert_allclose([pose.position.x, pose.position.y, heading], own["odometry"], atol=1e-12)
        assert [twist.linear.x, twist.angular.z] == own["twist"].tolist()
        assert (message.header.frame_id, message.child_frame_id) == ("odom", "mobile_base")
    assert any(message.twist.twist.linear.x > 0.1 for message in places)


@pytest.mark.slow
def test_a_base_stands_when_the_mission_is_killed_and_everyone_is_told(node: Node) -> None:
    base, fault = node.reader("/cmd_vel", TWIST, depth=1), node.reader("/pliant/fault", STRING, latched=True)
    node.announce()
    with contextlib.suppress(LoopError), MissionSession(fetch()) as session, bridged(session, agreed=True):
        session.begin()
        until(lambda: any(message.linear.x > 0.1 for message in base.messages()))
        os.kill(int(session.board.header.loop_pid), signal.SIGKILL)
        until(lambda: any((m.linear.x, m.angular.z) == (0, 0) for m in base.messages()))
        until(lambda: any("without reporting a reason" in message.data for message in fault.messages()))


@pytest.mark.slow
def test_a_base_that_listens_is_not_driven_unasked(node: Node) -> None:
    base, state = node.reader("/cmd_vel", TWIST), node.reader("/pliant/state", STRING, latched=True)
    node.announce()
    with MissionSession(fetch()) as session, bridged(session) as notes:
        session.begin()
        until(lambda: session.state["base"]["command"][0] > 0.1)
        until(lambda: any("withheld: /cmd_vel" in message.data for message in state.messages()))
        assert not base.messages()
    assert any("a subscriber on /cmd_vel would move" in note for note in notes)
