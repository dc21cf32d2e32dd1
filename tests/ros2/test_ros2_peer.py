"""A real ROS 2 sees our node, hears what we say and says what we hear, bit for bit, hundreds of times a second."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from pliant.ros2 import message_types
from pliant.ros2.node import Node
from pliant_experiments.robots.ros2_peer import Peer
from support.needs import needs
from support.waiting import until

N, RATE_HZ = 500, 500.0
NAMES = ["pan", "lift", "elbow"]


def test_what_we_say_arrives_at_a_real_ros_with_equal_values(peer: Peer) -> None:
    values = np.random.default_rng(1).normal(size=(N, 9))
    peer("hear", topic="/joint_states", type=message_types.JOINT_STATE)
    with Node("pliant") as node:
        writer = node.writer("joint_states", message_types.JOINT_STATE, depth=N)
        node.announce()
        until(lambda: writer.listeners and peer("publishers", topic="/joint_states"))
        due = time.monotonic()
        for i, row in enumerate(values):
            header = {"stamp": {"sec": i, "nanosec": 5}, "frame_id": "base"}
            writer.say(
                message_types.build(message_types.JOINT_STATE, {"header": header, "name": NAMES}, np.split(row, 3))
            )
            due += 1.0 / RATE_HZ
            time.sleep(max(0.0, due - time.monotonic()))
        until(lambda: peer("count", topic="/joint_states") == N)
    for i, heard in enumerate(peer("collect", topic="/joint_states")):
        assert heard["header"] == {"stamp": {"sec": i, "nanosec": 5}, "frame_id": "base"}
        assert heard["name"] == NAMES
        assert [*heard["position"], *heard["velocity"], *heard["effort"]] == values[i].tolist()


def test_what_a_real_ros_says_is_heard_with_equal_values(peer: Peer) -> None:
    values = np.random.default_rng(2).normal(size=(N, 7))
    peer("writer", topic="/goal", type=message_types.POSE_STAMPED)
    said = [
        {
            "header": {"stamp": {"sec": i, "nanosec": 7}, "frame_id": f"frame {i}"},
            "pose": {
                "position": dict(zip("xyz", row[:3].tolist(), strict=True)),
                "orientation": dict(zip("xyzw", row[3:].tolist(), strict=True)),
            },
        }
        for i, row in enumerate(values)
    ]
    with Node("pliant") as node:
        reader = node.reader("/goal", message_types.POSE_STAMPED, depth=N)
        node.announce()
        until(lambda: reader.publishers and peer("listeners", topic="/goal"))
        peer("stream", topic="/goal", messages=said, rate_hz=RATE_HZ)
        heard: list[Any] = []
        until(lambda: heard.extend(reader.messages()) or len(heard) >= N)
    for i, message in enumerate(heard):
        p, o = message.pose.position, message.pose.orientation
        assert (message.header.stamp.sec, message.header.frame_id) == (i, f"frame {i}")
        assert [p.x, p.y, p.z, o.x, o.y, o.z, o.w] == values[i].tolist()


def test_our_node_is_a_node_in_the_graph_with_its_topics_and_type_hashes(peer: Peer) -> None:
    with Node("pliant", "/left") as node:
        node.writer("joint_states", message_types.JOINT_STATE)
        node.writer("~/state", message_types.STRING, latched=True)
        node.reader("~/command", message_types.STRING)
        node.announce()
        until(lambda: "pliant" in peer("graph")["nodes"])
        ours = {"/left/joint_states": message_types.JOINT_STATE, "/left/pliant/command": message_types.STRING}
        until(lambda: ours.items() <= peer("graph")["topics"].items())
        # a real publisher of the same topic shows what the hash must be
        peer("writer", topic="/left/joint_states", type=message_types.JOINT_STATE)
        both = {"pliant", "peer"}
        until(lambda: {name for name, _, _ in peer("publishers", topic="/left/joint_states")} == both)
        _, types, hashes = zip(*peer("publishers", topic="/left/joint_states"), strict=True)
        assert len(set(types)) == len(set(hashes)) == 1
    until(lambda: "pliant" not in peer("graph")["nodes"])


def test_who_comes_late_receives_the_last_words(peer: Peer) -> None:
    with Node("pliant") as node:
        writer = node.writer("~/state", message_types.STRING, latched=True, depth=1)
        node.announce()
        for text in ("starting", "running"):
            writer.say(message_types.build(message_types.STRING, {"data": text}))
        peer("hear", topic="/pliant/state", type=message_types.STRING, latched=True)
        until(lambda: peer("count", topic="/pliant/state"))
        assert peer("collect", topic="/pliant/state") == [{"data": "running"}]


@needs("ros2-peer")
def test_a_ros_that_keeps_to_this_machine_is_found_too(network: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with Peer() as peer, Node("pliant") as node:
        peer("hear", topic="/pliant/state", type=message_types.STRING, latched=True)
        writer = node.writer("~/state", message_types.STRING, latched=True)
        node.announce()
        writer.say(message_types.build(message_types.STRING, {"data": "here"}))
        until(lambda: peer("count", topic="/pliant/state"))
        until(lambda: "pliant" in peer("graph")["nodes"])


def test_bytes_that_are_no_message_are_not_sent(network: None) -> None:
    good = message_types.encode(message_types.build(message_types.POSE_STAMPED, {"header": {"frame_id": "base"}}))
    with Node("one") as one, Node("two") as two:
        writer, reader = (
            one.writer("/goal", message_types.POSE_STAMPED),
            two.reader("/goal", message_types.POSE_STAMPED),
        )
        until(lambda: writer.listeners and reader.publishers)
        assert not any(writer.send(data) for data in (b"", good[:4], good[:40], good[:4] + b"\xff" * 8))
        assert writer.send(good)
        heard: list[bytes] = []
        until(lambda: heard.extend(reader.take()) or heard)
        assert heard == [good]
