"""The standard ROS 2 topics of a recording: joint states, wrenches, poses and twists, a block of ticks at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.ros2.message_types import JOINT_STATE, POSE_STAMPED, TWIST_STAMPED, WRENCH_STAMPED
from pliant.ros2.templates import Topic

Array = np.ndarray[Any, Any]

_XYZW = [0, 1, 2, 4, 5, 6, 3]  # ROS puts the scalar of a quaternion last, Pliant first


def _joints(part: str) -> Callable[[Array, int], list[Array]]:
    return lambda records, n: [records[part][name][:, :n] for name in ("q", "qd", "tau")]


def _six(part: str, name: str) -> Callable[[Array, int], list[Array]]:
    return lambda records, n: [records[part][name]]


def _in_tool_axes(name: str) -> Callable[[Array, int], list[Array]]:
    """A six-vector at the tool, turned from base axes into those of the tool, which its frame_id names."""

    def columns(records: Array, n: int) -> list[Array]:
        quat, six = records["observed"]["pose"][:, 3:], records["observed"][name]
        w, u = quat[:, :1], -quat[:, 1:]
        with np.errstate(invalid="ignore", over="ignore"):  # values that are not finite stay so
            turned = [v + 2.0 * np.cross(u, np.cross(u, v) + w * v) for v in (six[:, :3], six[:, 3:])]
        return [np.hstack(turned)]

    return columns


def _pose(part: str) -> Callable[[Array, int], list[Array]]:
    return lambda records, n: [records[part]["pose"][:, _XYZW]]


def _named(joint_names: list[str]) -> dict[str, Any]:
    return {"name": joint_names}


TOPICS = (
    Topic("/joint_states", JOINT_STATE, "", _joints("reading"), _named),
    Topic("/joint_command", JOINT_STATE, "", _joints("command"), _named),
    Topic("/ft_sensor_readings", WRENCH_STAMPED, "sensor", _six("reading", "wrench")),
    Topic("/external_wrench", WRENCH_STAMPED, "tool", _in_tool_axes("wrench")),
    Topic("/tool_pose", POSE_STAMPED, "base", _pose("observed")),
    Topic("/tool_twist", TWIST_STAMPED, "tool", _in_tool_axes("twist")),
    Topic("/goal_pose", POSE_STAMPED, "base", _pose("goal")),
)


def _cmd_vel(records: Array, n: int) -> list[Array]:
    """A twist in the axes of the base: forward and turning speed, the only ones that a differential drive has."""
    v, omega = records["base"]["command"].T
    nothing = np.zeros(len(records))
    return [np.column_stack([v, nothing, nothing, nothing, nothing, omega])]


def _base_pose(name: str) -> Callable[[Array, int], list[Array]]:
    def columns(records: Array, n: int) -> list[Array]:
        x, y, heading = records["base"][name].T
        nothing = np.zeros(len(records))
        return [np.column_stack([x, y, nothing, nothing, nothing, np.sin(0.5 * heading), np.cos(0.5 * heading)])]

    return columns


BASE_TOPICS = (
    Topic("/cmd_vel", TWIST_STAMPED, "mobile_base", _cmd_vel),
    Topic("/base_pose", POSE_STAMPED, "world", _base_pose("pose")),
    Topic("/base_odometry", POSE_STAMPED, "odom", _base_pose("odometry")),
)


def topics_of(*, mobile: bool) -> tuple[Topic, ...]:
    """The topics of an arm; of one on a mobile base, whose tool is seen from the world, those of the base as well."""
    if not mobile:
        return TOPICS
    return (*(replace(t, frame_id="world") if t.frame_id == "base" else t for t in TOPICS), *BASE_TOPICS)
