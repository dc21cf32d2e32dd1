"""A node that reads: whose message it is, and how large one may be."""

from __future__ import annotations

import numpy as np

from pliant.ros2 import message_types
from pliant.ros2.node import Node
from support.waiting import until


def names(n: int) -> bytes:
    """Joint states of so many strangers."""
    data = message_types.encode(
        message_types.build(message_types.JOINT_STATE, {"name": [f"x{i}" for i in range(n)]}, [np.zeros(n)])
    )
    return data.ljust(-(-len(data) // 4) * 4, b"\0")


def test_a_message_too_large_is_left_out_and_each_has_its_publisher(network: None) -> None:
    with Node("a") as a, Node("b") as b, Node("ears") as ears:
        writers = [node.writer("joint_states", message_types.JOINT_STATE) for node in (a, b)]
        reader = ears.reader("joint_states", message_types.JOINT_STATE, largest=1000)
        until(lambda: reader.publishers == 2 and all(writer.listeners for writer in writers))
        heard = []
        for writer, n in ((writers[0], 3), (writers[0], 2000), (writers[1], 4), (writers[0], 5)):
            assert writer.send(names(n))
            due = len(heard) + (n < 2000)
            until(lambda due=due: heard.extend(reader.told()) or len(heard) >= due)
    assert [len(message.name) for message, _ in heard] == [3, 4, 5]
    assert heard[0][1] == heard[2][1] != heard[1][1]
