"""Every name in the schemas of a recording and of the bridge is legal for ROS 2, and own names survive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from pliant.bridge import odometry
from pliant.bridge.published_topics import cmd_vel, live_topics
from pliant.control.parameters import PARAMETERS, Parameters, parameters_with, set_layout
from pliant.control.published import Published
from pliant.params.declare import Section, param
from pliant.record import Recording, RecordingWriter, record_messages
from pliant.records import Field, Layout
from pliant.ros2.message_types import STRING, definition
from pliant.task.schema import Task

# The rules of ROS 2 for fields, types and constants.
FIELD = re.compile(r"^[a-z](?!.*__)[a-z0-9_]*[a-z0-9]$|^[a-z]$")
TYPE = re.compile(r"^[A-Z][A-Za-z0-9]*$")
CONSTANT = re.compile(r"^[A-Z]([A-Z0-9_]?[A-Z0-9]+)*$")
BASIC = re.compile(r"^(bool|byte|char|u?int(8|16|32|64)|float(32|64)|w?string)(<=\d+)?$")


class odd_names(Section):  # noqa: N801 (a class name that a user may choose)
    """Parameters of a law from outside, with names that ROS 2 does not allow."""

    Kp: float = param(1.0, help="Gain.")
    kp: float = param(2.0, help="Another gain.")
    x__y: float = param(3.0, help="Two underscores.")
    last_: float = param(4.0, help="An underscore at the end.")


def recorded(path: Path, layout: Layout) -> dict[str, tuple[str, str]]:
    """Type and definition of every topic in a recording of an arm on a mobile base with these parameters."""
    published = Published(2, ("position", "base"))
    with RecordingWriter(path, {"robot": "sim:ur5e"}, ["pan", "lift"], layout, published=published) as writer:
        writer.parameters(0, layout.new()[0], 0.0)
    with path.open("rb") as stream:
        summary = make_reader(stream).get_summary()
        assert summary is not None
        schemas = summary.schemas
        return {
            channel.topic: (schemas[channel.schema_id].name, schemas[channel.schema_id].data.decode())
            for channel in summary.channels.values()
        }


def bridged() -> dict[str, tuple[str, str]]:
    """The same for every topic that the bridge publishes."""
    topics = [topic for interface in ("position", "velocity") for topic in live_topics(Task(interface=interface))]
    found = {topic.name: topic.message_type for topic in (*topics, odometry.TOPIC, cmd_vel("/cmd_vel"))}
    return {name: (kind, definition(kind)) for name, kind in {**found, "~/state": STRING}.items()}


def names_in(text: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """Every name in a definition, with the rule that it has to follow."""
    for line in text.splitlines():
        bare = line.partition("#")[0].strip()
        if not bare or set(bare) == {"="}:
            continue
        if bare.startswith("MSG: "):
            yield TYPE, bare.rpartition("/")[2]
            continue
        kind, _, rest = bare.partition(" ")
        base = kind.partition("[")[0]
        if not BASIC.match(base):
            yield TYPE, base.rpartition("/")[2]
        name, equals, _ = rest.partition("=")
        yield (CONSTANT if equals else FIELD), name.split()[0]


@pytest.mark.parametrize("kind", [Parameters, parameters_with((("odd", odd_names),))])
def test_every_schema_is_legal_for_ros_2(tmp_path: Path, kind: type[Parameters]) -> None:
    found = {**recorded(tmp_path / "run.mcap", set_layout(kind)), **bridged()}
    assert {"/pliant/telemetry", "/pliant/parameters", "/joint_states", "/base_pose"} <= found.keys()
    for topic, (name, text) in found.items():
        illegal = [name for rule, name in names_in(text) if not rule.match(name)]
        assert not illegal, topic
        assert TYPE.match(name.rpartition("/")[2]), topic
        store = get_typestore(Stores.EMPTY)
        store.register(get_types_from_msg(text, name))
        assert name in store.types, topic


def test_a_recording_gives_the_fields_their_own_names_back(tmp_path: Path) -> None:
    layout = set_layout(parameters_with((("odd", odd_names),)))
    recorded(tmp_path / "run.mcap", layout)
    kept = Recording.load(tmp_path / "run.mcap")
    assert kept.parameter_layout is not None
    assert kept.parameter_layout.dtype == layout.dtype
    assert kept.parameters[0].values["gains"]["M0"].shape == (6, 6)
    assert {"Kp", "kp", "x__y", "last_"} <= set(kept.parameters[0].values["odd"].dtype.names or ())


def test_an_illegal_name_gets_a_legal_one_that_no_other_field_has() -> None:
    assert record_messages.field_names(["M0", "m0", "of_F", "a__b", "_x_", "9"]) == [
        *("m0_2", "m0", "of_f", "a_b", "x", "field_9"),
    ]
    assert record_messages.type_name("my_params") == "MyParams"
    text = record_messages.definition(Layout("Gains", (Field("M0", "kg", "mass", (6, 6)),)))
    assert text == "float64[36] m0 # {M0} (6 x 6) [kg] mass\n"


def test_a_recording_with_illegal_names_of_an_older_version_still_parses() -> None:
    old = "float64[36] M0 # (6 x 6) [kg] mass\n"
    assert record_messages.parse("Gains", old).dtype == np.dtype([("M0", "f8", (6, 6))])
    assert PARAMETERS.dtype.names is not None
