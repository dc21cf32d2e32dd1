"""The standard ROS 2 topics of a recording: joint states, wrenches, poses and twists, a block of ticks at a time.

`rosbags` writes one message per topic, with a number of its own in each place. Where those numbers end up in its bytes
is where the values of every later message go: a block of messages is that template, repeated, with whole columns of
values written into it by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

Array = np.ndarray[Any, Any]

_XYZW = [0, 1, 2, 4, 5, 6, 3]  # ROS puts the scalar of a quaternion last, Pliant first
_STAMP_AT = 4  # right after the CDR header: seconds (int32), nanoseconds (uint32)


@dataclass(frozen=True)
class Topic:
    """A standard topic; `columns(records, n)` are its values, one array per contiguous run of numbers in a message."""

    name: str
    message_type: str
    frame_id: str
    columns: Callable[[Array, int], list[Array]]


def _joints(part: str) -> Callable[[Array, int], list[Array]]:
    return lambda records, n: [records[part][name][:, :n] for name in ("q", "qd", "tau")]


def _six(part: str, name: str) -> Callable[[Array, int], list[Array]]:
    return lambda records, n: [records[part][name]]


def _in_tool_axes(name: str) -> Callable[[Array, int], list[Array]]:
    """A six-vector at the tool, turned from base axes into those of the tool, which its frame_id names."""

    def columns(records: Array, n: int) -> list[Array]:
        quat, six = records["observed"]["pose"][:, 3:], records["observed"][name]
        w, u = quat[:, :1], -quat[:, 1:]
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite stays so
            turned = [v + 2.0 * np.cross(u, np.cross(u, v) + w * v) for v in (six[:, :3], six[:, 3:])]
        return [np.hstack(turned)]

    return columns


def _pose(part: str) -> Callable[[Array, int], list[Array]]:
    return lambda records, n: [records[part]["pose"][:, _XYZW]]


TOPICS = (
    Topic("/joint_states", "sensor_msgs/msg/JointState", "", _joints("reading")),
    Topic("/joint_command", "sensor_msgs/msg/JointState", "", _joints("command")),
    Topic("/ft_sensor_readings", "geometry_msgs/msg/WrenchStamped", "sensor", _six("reading", "wrench")),
    Topic("/external_wrench", "geometry_msgs/msg/WrenchStamped", "tool", _in_tool_axes("wrench")),
    Topic("/tool_pose", "geometry_msgs/msg/PoseStamped", "base", _pose("observed")),
    Topic("/tool_twist", "geometry_msgs/msg/TwistStamped", "tool", _in_tool_axes("twist")),
    Topic("/goal_pose", "geometry_msgs/msg/PoseStamped", "base", _pose("goal")),
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
    Topic("/cmd_vel", "geometry_msgs/msg/TwistStamped", "mobile_base", _cmd_vel),
    Topic("/base_pose", "geometry_msgs/msg/PoseStamped", "world", _base_pose("pose")),
    Topic("/base_odometry", "geometry_msgs/msg/PoseStamped", "odom", _base_pose("odometry")),
)


def topics_of(*, mobile: bool) -> tuple[Topic, ...]:
    """The topics of an arm; of one on a mobile base, whose tool is seen from the world, those of the base as well."""
    if not mobile:
        return TOPICS
    return (*(replace(t, frame_id="world") if t.frame_id == "base" else t for t in TOPICS), *BASE_TOPICS)


@cache
def typestore() -> Typestore:
    """The message types of ROS 2 Jazzy."""
    return get_typestore(Stores.ROS2_JAZZY)


def definition(message_type: str) -> str:
    """The `ros2msg` text of a standard type with all types that it uses."""
    return typestore().generate_msgdef(message_type, ros_version=2)[0]


def message(topic: Topic, runs: list[Array], stamp_ns: int, joint_names: list[str]) -> Any:
    """One message as an object of `rosbags`, from one array per run of numbers."""
    types = typestore().types
    stamp = types["builtin_interfaces/msg/Time"](sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9)
    header = types["std_msgs/msg/Header"](stamp=stamp, frame_id=topic.frame_id)
    vector = types["geometry_msgs/msg/Vector3"]
    make = types[topic.message_type]
    kind = topic.message_type.rpartition("/")[2]
    if kind == "JointState":
        q, qd, tau = runs
        return make(header=header, name=joint_names, position=q, velocity=qd, effort=tau)
    values = [float(value) for value in runs[0]]
    if kind == "WrenchStamped":
        wrench = types["geometry_msgs/msg/Wrench"](force=vector(*values[:3]), torque=vector(*values[3:]))
        return make(header=header, wrench=wrench)
    if kind == "TwistStamped":
        twist = types["geometry_msgs/msg/Twist"](linear=vector(*values[:3]), angular=vector(*values[3:]))
        return make(header=header, twist=twist)
    position = types["geometry_msgs/msg/Point"](*values[:3])
    orientation = types["geometry_msgs/msg/Quaternion"](*values[3:])
    return make(header=header, pose=types["geometry_msgs/msg/Pose"](position=position, orientation=orientation))


@dataclass(frozen=True)
class Template:
    """The bytes of one message and the places where a block writes its own: the stamp, then one place per run."""

    data: bytes
    places: list[int]


def template(topic: Topic, sample: Array, joint_names: list[str]) -> Template:
    """The template of a topic for a robot with these joints; `sample` is any array of one record."""
    widths = [run.shape[1] for run in topic.columns(sample, len(joint_names))]
    numbers = np.pi * np.arange(1, 1 + sum(widths))  # no other bytes of a message look like these
    runs = np.split(numbers, np.cumsum(widths)[:-1])
    data = bytes(typestore().serialize_cdr(message(topic, runs, 0, joint_names), topic.message_type))
    return Template(data, [data.index(run.tobytes()) for run in runs])


def fill(block: Array, start: int, made: Template, runs: list[Array], stamp_ns: Array) -> None:
    """Write stamps [ns] and values into the messages that begin at byte `start` of each row of `block` (uint8)."""
    stamp = start + _STAMP_AT
    block[:, stamp : stamp + 4] = as_bytes(stamp_ns // 10**9, "<i4")
    block[:, stamp + 4 : stamp + 8] = as_bytes(stamp_ns % 10**9, "<u4")
    for place, run in zip(made.places, runs, strict=True):
        at = start + place
        block[:, at : at + 8 * run.shape[1]] = as_bytes(run, "<f8")


def as_bytes(values: Array, dtype: str) -> Array:
    """The values as rows of bytes, one row per record."""
    typed = np.ascontiguousarray(values, dtype)
    return typed.view(np.uint8).reshape(len(typed), -1)
