"""What the bridge publishes in every tick: the topics of a recording, and those of ROS 2 controllers.

A joint command is published in the form of the task's interface. If the arm itself is driven over ROS 2, its joint
states, wrench and command are already on the network and are not published again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.mobile.mission.mission_task import MissionTask
from pliant.record.standard_topics import BASE_TOPICS, TOPICS
from pliant.robots.robot_registry import kind_of
from pliant.ros2.joint_commands import trajectory_topic, velocity_topic
from pliant.ros2.message_types import TWIST
from pliant.ros2.templates import Topic
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]

_RECORDED = {topic.name: topic for topic in (*TOPICS, *BASE_TOPICS)}

VELOCITY = Topic("~/cartesian_velocity_command", TWIST, "", lambda records, n: [records["state"]["twist"]])


def _command(records: Array) -> Array:
    return records["command"]


def live_topics(task: Task | MissionTask) -> list[Topic]:
    """All topics of a task."""
    return [*shown_topics(task), *command_topics(task)]


def shown_topics(task: Task | MissionTask) -> list[Topic]:
    """The topics that show the state of a task. The tool of an arm on a mobile base is given in the world frame."""
    config, rides = task.ros2, isinstance(task, MissionTask)
    frame = "world" if rides else config.base_frame
    found = [replace(_RECORDED["/tool_pose"], name="~/tool_pose", frame_id=frame)]
    if not rides:
        found.append(VELOCITY)
    if not kind_of(task.robot)[0].is_on_ros2:
        found.append(replace(_RECORDED["/joint_states"], name=config.joint_states))
        if config.wrench:
            found.append(replace(_RECORDED["/ft_sensor_readings"], name=config.wrench))
    return found


def command_topics(task: Task | MissionTask) -> list[Topic]:
    """The topics that a subscribing arm or base would follow."""
    config = task.ros2
    if not config.command or kind_of(task.robot)[0].is_on_ros2:
        return []
    if isinstance(task, MissionTask):
        return [trajectory_topic(config.trajectory, config.ahead_s, _command), cmd_vel(config.cmd_vel)]
    return joint_command(task)


def joint_command(task: Task) -> list[Topic]:
    """The joint command in the form of the task's interface; None for torques."""
    config = task.ros2
    if task.interface == "position":
        return [trajectory_topic(config.trajectory, config.ahead_s, _command)]
    return [velocity_topic(config.velocity, _command)] if task.interface == "velocity" else []


def cmd_vel(name: str) -> Topic:
    """The command to a mobile base: forward and turning speed, in a twist without a stamp."""
    return replace(_RECORDED["/cmd_vel"], name=name, message_type=TWIST)
