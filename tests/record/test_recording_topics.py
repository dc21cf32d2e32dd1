"""The standard topics are what `rosbags` would have written, message by message, and what ROS tools read."""

from typing import Any

import numpy as np
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from pliant.control.laws.registry import LAWS
from pliant.control.telemetry import TELEMETRY
from pliant.record import RecordingWriter, standard_topics
from pliant.record.tick_block import LAW_TOPIC, TELEMETRY_TOPIC
from pliant.record.writer import PARAMETERS_TOPIC
from pliant.records import Field, Layout
from pliant.ros2 import templates

STORE = get_typestore(Stores.ROS2_JAZZY)
T = STORE.types
EPOCH_NS = 1_700_000_000_123_456_789


def vector(values: Any) -> Any:
    return T["geometry_msgs/msg/Vector3"](*map(float, values))


def expected(record: Any, names: list[str], stamp_ns: int) -> dict[str, Any]:
    """All standard messages of one record, built here from the meaning of its fields."""
    n = len(names)

    def header(frame: str) -> Any:
        stamp = T["builtin_interfaces/msg/Time"](stamp_ns // 10**9, stamp_ns % 10**9)
        return T["std_msgs/msg/Header"](stamp, frame)

    def joints(part: Any) -> Any:
        return T["sensor_msgs/msg/JointState"](header(""), names, part["q"][:n], part["qd"][:n], part["tau"][:n])

    def wrench(values: Any, frame: str) -> Any:
        inner = T["geometry_msgs/msg/Wrench"](vector(values[:3]), vector(values[3:]))
        return T["geometry_msgs/msg/WrenchStamped"](header(frame), inner)

    def pose(values: Any) -> Any:
        x, y, z, qw, qx, qy, qz = map(float, values)
        point, turn = T["geometry_msgs/msg/Point"](x, y, z), T["geometry_msgs/msg/Quaternion"](x=qx, y=qy, z=qz, w=qw)
        return T["geometry_msgs/msg/PoseStamped"](header("base"), T["geometry_msgs/msg/Pose"](point, turn))

    def in_tool_axes(topic: str) -> Any:
        (columns,) = next(t for t in standard_topics.TOPICS if t.name == topic).columns(np.array([record]), n)
        return columns[0]

    twist = in_tool_axes("/tool_twist")
    moving = T["geometry_msgs/msg/Twist"](vector(twist[:3]), vector(twist[3:]))
    return {
        "/joint_states": joints(record["reading"]),
        "/joint_command": joints(record["command"]),
        "/ft_sensor_readings": wrench(record["reading"]["wrench"], "sensor"),
        "/external_wrench": wrench(in_tool_axes("/external_wrench"), "tool"),
        "/tool_pose": pose(record["observed"]["pose"]),
        "/tool_twist": T["geometry_msgs/msg/TwistStamped"](header("tool"), moving),
        "/goal_pose": pose(record["goal"]["pose"]),
    }


def serialized(record: Any, names: list[str], stamp_ns: int) -> dict[str, bytes]:
    types = {topic.name: topic.message_type for topic in standard_topics.TOPICS}
    made = expected(record, names, stamp_ns).items()
    return {topic: bytes(STORE.serialize_cdr(message, types[topic])) for topic, message in made}


def test_every_message_of_a_file_equals_the_one_that_rosbags_serialises(tmp_path, random_run, parameters):
    for names in (["a"], ["pan", "lift"], [f"joint_{i}" for i in range(7)], ["é" * i for i in range(1, 13)]):
        records = random_run(300, seed=len(names))
        path = tmp_path / "run.mcap"
        with RecordingWriter(path, {"start_wall_ns": EPOCH_NS}, names, parameters) as writer:
            writer.append(records)
        found: dict[str, list[bytes]] = {}
        with path.open("rb") as stream:
            for _, channel, message in make_reader(stream, validate_crcs=True).iter_messages():
                found.setdefault(channel.topic, []).append(message.data)
                assert message.log_time == EPOCH_NS + 2_000_000 * message.sequence
        laws = {f"{LAW_TOPIC}{law.name}" for law in LAWS.values() if law.state is not None}
        assert set(found) == {topic.name for topic in standard_topics.TOPICS} | {TELEMETRY_TOPIC} | laws
        for i, record in enumerate(records):
            for topic, data in serialized(record, names, EPOCH_NS + 2_000_000 * i).items():
                assert found[topic][i] == data, (topic, i)


def test_values_that_are_not_numbers_pass_unchanged(tmp_path, joint_names):
    record = TELEMETRY.new()
    record["reading"]["q"][0, :3] = np.nan, np.inf, -0.0
    made = standard_topics.TOPICS[0]
    template = templates.template(made, record, joint_names)
    block = np.frombuffer(template.data, np.uint8)[None].copy()
    templates.fill(block, 0, template, made.columns(record, 6), np.array([5]))
    assert block.tobytes() == serialized(record[0], joint_names, 5)["/joint_states"]


def test_a_parameter_section_may_share_its_name_with_a_part_of_the_telemetry(tmp_path, random_run, joint_names):
    goal = Layout("Goal", (Field("speed_m_s", "m/s", "how fast to go"),))
    section = Layout("Parameters", (Field("goal", "", "where to go", kind=goal),))
    values = section.new()
    values["goal"]["speed_m_s"] = 0.25
    records = random_run(3)
    with RecordingWriter(tmp_path / "run.mcap", {}, joint_names, section) as writer:
        writer.parameters(1, values, 0.0)
        writer.append(records)
    with AnyReader([tmp_path / "run.mcap"]) as reader:
        found: dict[str, Any] = {c.topic: reader.deserialize(d, c.msgtype) for c, _, d in reader.messages()}
    assert found[PARAMETERS_TOPIC].values.goal.speed_m_s == 0.25
    assert found[TELEMETRY_TOPIC].goal.law == records["goal"]["law"][2]


def test_rosbags_opens_the_bare_file_and_knows_every_type(tmp_path, random_run, joint_names, parameters):
    records = random_run(1200)
    path = tmp_path / "run.mcap"
    with RecordingWriter(path, {}, joint_names, parameters) as writer:
        writer.parameters(1, parameters.new()[0], 0.0)
        writer.append(records)
    with AnyReader([path]) as reader:
        with_record = sum(int((records["state"]["law"] == law.number).sum()) for law in LAWS.values() if law.state)
        assert reader.message_count == 1 + 1200 * (1 + len(standard_topics.TOPICS)) + with_record
        chosen = [c for c in reader.connections if c.topic in ("/tool_pose", TELEMETRY_TOPIC)]
        pose_at: dict[int, Any] = {}
        for connection, time_ns, data in reader.messages(chosen):
            message: Any = reader.deserialize(data, connection.msgtype)
            if connection.topic == "/tool_pose":
                pose_at[time_ns] = message.pose.orientation
            else:
                assert message.reading.q.tobytes() == records["reading"]["q"][message.tick, :6].tobytes()
    turns = np.array([(q.w, q.x, q.y, q.z) for q in pose_at.values()])
    np.testing.assert_array_equal(turns, records["observed"]["pose"][:, 3:])


def test_wrench_and_twist_are_given_in_the_axes_that_their_frame_names() -> None:
    random = np.random.default_rng(5)
    records = TELEMETRY.new(50)
    turns = Rotation.random(50, rng=np.random.default_rng(5))
    records["observed"]["pose"][:, 3:] = turns.as_quat()[:, [3, 0, 1, 2]]
    for topic, name in (("/external_wrench", "wrench"), ("/tool_twist", "twist")):
        six = random.normal(size=(50, 6))
        records["observed"][name] = six
        (columns,) = next(t for t in standard_topics.TOPICS if t.name == topic).columns(records, 6)
        due = np.hstack([turns.inv().apply(six[:, :3]), turns.inv().apply(six[:, 3:])])
        np.testing.assert_allclose(columns, due, atol=1e-12)
