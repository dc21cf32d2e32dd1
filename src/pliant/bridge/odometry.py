"""The pose of a base from its wheels alone, as an Odometry message.

The heading becomes a quaternion, so these messages are computed, for a block of records at a time, not copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.telemetry import TELEMETRY
from pliant.record.standard_topics import BASE_TOPICS
from pliant.ros2.message_types import padded
from pliant.ros2.node import Node
from pliant.ros2.templates import Topic, fill, template

Array = np.ndarray[Any, Any]

ODOMETRY = "nav_msgs/msg/Odometry"
NAME = "odom"
_POSE = next(topic for topic in BASE_TOPICS if topic.name == "/base_odometry")


def _columns(records: Array, n: int) -> list[Array]:
    v, omega = records["base"]["twist"].T
    nothing = np.zeros(len(records))
    return [*_POSE.columns(records, n), np.column_stack([v, nothing, nothing, nothing, nothing, omega])]


def _fixed(joint_names: list[str]) -> dict[str, Any]:
    """Covariances are zero: unknown."""
    unknown = {"covariance": np.zeros(36)}
    return {"child_frame_id": "mobile_base", "pose": unknown, "twist": unknown}


TOPIC = Topic(NAME, ODOMETRY, _POSE.frame_id, _columns, _fixed)


class Odometry:
    """Sends the odometry of telemetry records."""

    def __init__(self, node: Node) -> None:
        self._writer = node.writer(NAME, ODOMETRY)
        self._made = template(TOPIC, TELEMETRY.new(), [])
        self._row = np.frombuffer(padded(self._made.data), np.uint8)

    def bytes_of(self, records: Array) -> list[bytes]:
        """One message per record, stamped with the wall clock of its tick."""
        block = np.tile(self._row, (len(records), 1))
        fill(block, 0, self._made, _columns(records, 0), records["timing"]["wall_ns"])
        return [row.tobytes() for row in block]

    def send(self, records: Array) -> None:
        """Send the messages of these records."""
        for data in self.bytes_of(records):
            self._writer.send(data)
