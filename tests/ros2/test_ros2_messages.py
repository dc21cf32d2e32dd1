"""Messages are built by one rule, and patched into bytes that `rosbags` itself would have written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cyclonedds.idl import IdlStruct
from rosbags.typesys import Stores, get_typestore

from pliant.bridge.published_topics import cmd_vel, live_topics
from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError
from pliant.record.standard_topics import TOPICS
from pliant.records import COMMAND
from pliant.ros2 import message_types
from pliant.ros2.dds_types import dds_type
from pliant.ros2.joint_commands import trajectory_topic, velocity_topic
from pliant.ros2.templates import Stencil
from pliant.task.schema import Task

STORE = get_typestore(Stores.ROS2_JAZZY)
T = STORE.types
NAMES = ["pan", "lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]
WALL_NS = 1_700_000_000_123_456_789


def random_record(seed: int = 0) -> Any:
    words = np.random.default_rng(seed).normal(size=TELEMETRY.dtype.itemsize // 8)
    return words.view(TELEMETRY.dtype)


def vector(values: Any) -> Any:
    return T["geometry_msgs/msg/Vector3"](*map(float, values))


def twist(values: Any) -> Any:
    return T["geometry_msgs/msg/Twist"](vector(values[:3]), vector(values[3:]))


def header(frame: str, ns: int = WALL_NS) -> Any:
    return T["std_msgs/msg/Header"](T["builtin_interfaces/msg/Time"](ns // 10**9, ns % 10**9), frame)


def expected(record: Any) -> dict[str, Any]:
    """The messages of a record, built here from the meaning of its fields."""
    r, c, none = record.reading, record.command, np.zeros(0)
    x, y, z, qw, qx, qy, qz = map(float, record.observed.pose)
    pose = T["geometry_msgs/msg/Pose"](
        T["geometry_msgs/msg/Point"](x, y, z), T["geometry_msgs/msg/Quaternion"](qx, qy, qz, qw)
    )
    wait = T["builtin_interfaces/msg/Duration"](0, 10_000_000)
    point = T["trajectory_msgs/msg/JointTrajectoryPoint"](c.q[:6], none, none, none, wait)
    trajectory = T[message_types.JOINT_TRAJECTORY](header("", 0), NAMES, [point])
    wrench = T["geometry_msgs/msg/Wrench"](vector(r.wrench[:3]), vector(r.wrench[3:]))
    v, omega = record["base"]["command"]
    return {
        "joint_states": T[message_types.JOINT_STATE](header(""), NAMES, r.q[:6], r.qd[:6], r.tau[:6]),
        "ft_sensor_readings": T[message_types.WRENCH_STAMPED](header("sensor"), wrench),
        "~/cartesian_velocity_command": twist(record.state.twist),
        "~/tool_pose": T[message_types.POSE_STAMPED](header("base"), pose),
        "scaled_joint_trajectory_controller/joint_trajectory": trajectory,
        "forward_velocity_controller/commands": T[message_types.FLOAT_ARRAY](
            T["std_msgs/msg/MultiArrayLayout"]([], 0), c.qd[:6]
        ),
        "cmd_vel": twist([v, 0, 0, 0, 0, omega]),
    }


@pytest.mark.parametrize("interface", ["position", "velocity", "torque"])
def test_every_topic_of_the_bridge_has_the_bytes_that_rosbags_serialises(interface: Any) -> None:
    topics = [*live_topics(Task(interface=interface)), cmd_vel("cmd_vel")]
    stencils = [Stencil(topic, NAMES) for topic in topics]
    for seed in range(20):
        record = random_record(seed)
        due = expected(record[0])
        for stencil in stencils:
            topic = stencil.topic
            data = bytes(stencil.fill(record.view(np.uint8).data, WALL_NS))
            wanted = bytes(STORE.serialize_cdr(due[topic.name], topic.message_type))
            assert data.startswith(wanted), topic.name
            assert len(data) % 4 == 0
            assert len(data) - len(wanted) < 4
    commands = [name for name in (topic.name for topic in topics) if "controller" in name]
    assert len(commands) == (0 if interface == "torque" else 1)


def test_values_that_are_not_numbers_pass_unchanged() -> None:
    record = TELEMETRY.new()
    record["reading"]["q"][0, :3] = np.nan, np.inf, -0.0
    topic = next(topic for topic in TOPICS if topic.name == "/joint_states")
    data = bytes(Stencil(topic, NAMES).fill(record.view(np.uint8).data, 0))
    assert record["reading"]["q"][0, :6].tobytes() in data


def test_an_arm_over_ros_is_not_published_twice() -> None:
    names = {topic.name for topic in live_topics(Task(robot="ros2:ur5e"))}
    assert names == {"~/cartesian_velocity_command", "~/tool_pose"}
    silent = Task.model_validate({"ros2": {"command": False}})
    assert not any("controller" in topic.name for topic in live_topics(silent))


def test_a_command_record_alone_makes_the_same_messages_as_the_telemetry_around_it() -> None:
    command = random_record()["command"]
    for topic, name in ((trajectory_topic("t", 0.01), "q"), (velocity_topic("v"), "qd")):
        data = bytes(Stencil(topic, NAMES, COMMAND).fill(np.ascontiguousarray(command).view(np.uint8).data, 7))
        assert command[name][0, :6].tobytes() in data


def test_a_topic_that_is_computed_cannot_be_copied_and_says_so() -> None:
    topic = next(topic for topic in TOPICS if topic.name == "/external_wrench")
    with pytest.raises(InputError, match="/external_wrench is 'computed from the record'"):
        Stencil(topic, NAMES)


def test_a_field_that_a_message_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="fields of std_msgs/msg/String: data"):
        message_types.build(message_types.STRING, {"text": "x"})


def test_numbers_go_into_the_fields_in_their_order() -> None:
    pose = message_types.build(message_types.POSE_STAMPED, {"header": {"frame_id": "base"}}, [np.arange(1.0, 8.0)])
    assert (pose.pose.position.x, pose.pose.orientation.x, pose.pose.orientation.w) == (1.0, 4.0, 7.0)
    joints = message_types.build(message_types.JOINT_STATE, {"name": ["a"]}, [np.array([1.0]), np.array([2.0])])
    assert joints.position.tolist() == [1.0]
    assert joints.velocity.tolist() == [2.0]
    assert joints.effort.tolist() == []


def of_dds(message_type: str, message: Any) -> IdlStruct:
    """The same message as an object of Cyclone DDS."""

    def convert(kind: Any, value: Any) -> Any:
        if hasattr(value, "__msgtype__"):
            return of_dds(value.__msgtype__, value)
        if isinstance(value, np.ndarray):
            return value.tolist()
        return [convert(kind, item) for item in value] if isinstance(value, list) else value

    fields = message_types.fields_of(message_type)
    return dds_type(message_type)(**{name: convert(kind, getattr(message, name)) for name, kind in fields.items()})


def test_cyclone_serialises_the_same_bytes_as_rosbags_from_the_same_definitions() -> None:
    for seed in range(50):
        made = expected(random_record(seed)[0])
        for message in made.values():
            theirs = of_dds(message.__msgtype__, message).serialize()
            assert theirs == bytes(STORE.serialize_cdr(message, message.__msgtype__))
    assert cmd_vel("cmd_vel").message_type == message_types.TWIST
