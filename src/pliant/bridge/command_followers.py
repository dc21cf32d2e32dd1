"""Before a loop starts: which subscribers would follow its commands, and whether an arm would jump."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from pliant.bridge.published_topics import command_topics
from pliant.mobile.mission.mission_task import MissionTask
from pliant.model.arm import Arm
from pliant.robots import is_simulated, model_of
from pliant.ros2.message_types import JOINT_STATE, JOINT_TRAJECTORY
from pliant.task.schema import Task

# How long to search for subscribers [s].
_FIND_S, _POLL_S = 1.0, 0.02
# A joint farther than this from the loop's start would jump [rad, m].
_NEAR = 0.05


class Followers(NamedTuple):
    """Command topics with subscribers, and how far a publishing arm is from the loop's start."""

    topics: list[str]
    elsewhere: str
    """A sentence; empty if there is no such arm, or it is at the start."""


def followers(task: Task | MissionTask) -> Followers:
    """The subscribers that would follow the commands of a task; searches the network for one second."""
    from pliant.ros2.node import Node

    topics, config = command_topics(task), task.ros2
    if not topics:
        return Followers([], "")
    with Node(f"{config.node}_looks", config.namespace) as node:
        writers = {node.full_name(topic.name): node.writer(topic.name, topic.message_type) for topic in topics}
        states, found = node.reader(config.joint_states, JOINT_STATE, reliable=False), ""
        node.announce()
        by_position = any(topic.message_type == JOINT_TRAJECTORY for topic in topics)
        start = _start_of(task) if by_position else {}
        deadline = time.monotonic() + _FIND_S
        while time.monotonic() < deadline:
            time.sleep(_POLL_S)
            for message in states.messages():
                found = found or _far(start, message, node.full_name(config.joint_states))
        return Followers([name for name, writer in writers.items() if writer.listeners], found)


def _start_of(task: Task | MissionTask) -> dict[str, float]:
    """Start positions of a simulated arm, by the joint names in messages; empty for any other arm, whose start is
    unknown.
    """
    if not is_simulated(task.robot):
        return {}
    arm = Arm.load(model_of(task.robot))
    return dict(zip(task.ros2.joint_names or arm.joint_names, task.start_q or arm.q_home.tolist(), strict=True))


def _far(start: dict[str, float], message: Any, topic: str) -> str:
    """Whether an arm with these joints is far from the start; "" if not, or if it has others."""
    place = dict(zip(message.name, message.position, strict=False))
    if not start or not start.keys() <= place.keys():
        return ""
    off = {name: abs(float(place[name]) - begins) for name, begins in start.items()}
    worst = max(off, key=lambda name: np.nan_to_num(off[name], nan=np.inf))
    if off[worst] <= _NEAR:
        return ""
    return (
        f"on {topic} an arm reports {worst} at {place[worst]:.2f}, but this one starts at {start[worst]:.2f}. An arm "
        "that follows would jump there. Move it there first, or start where it is (start_q)."
    )
