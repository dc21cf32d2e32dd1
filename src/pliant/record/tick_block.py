"""A block of ticks as MCAP messages: one row of bytes per tick, Pliant's own message and then the standard topics."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.record import record_messages, standard_topics
from pliant.record.container import MESSAGE_HEAD, ContainerWriter, message_head
from pliant.records import TELEMETRY
from pliant.ros2 import templates
from pliant.ros2.message_types import definition

Array = np.ndarray[Any, Any]

TELEMETRY_TOPIC = "/pliant/telemetry"

_SEQUENCE, _LOG_TIME, _PUBLISH_TIME = 11, 15, 23  # bytes from the start of a message record
_OWN_SIZE = TELEMETRY.dtype.itemsize


class BlockEncoder:
    """Turns arrays of telemetry records into rows of message bytes; declares its channels in `container`."""

    def __init__(self, container: ContainerWriter, joint_names: list[str], *, mobile: bool = False) -> None:
        self._n = len(joint_names)
        self._topics = standard_topics.topics_of(mobile=mobile)
        channel = container.add_channel(
            TELEMETRY_TOPIC, record_messages.message_type(TELEMETRY), record_messages.definition(TELEMETRY)
        )
        parts = [record_messages.CDR_HEADER + bytes(_OWN_SIZE)]
        heads = [message_head(channel, len(parts[0]))]
        sample = TELEMETRY.new()
        self._templates = [templates.template(topic, sample, joint_names) for topic in self._topics]
        self._channels = [channel]
        for topic, made in zip(self._topics, self._templates, strict=True):
            channel = container.add_channel(topic.name, topic.message_type, definition(topic.message_type))
            self._channels.append(channel)
            heads.append(message_head(channel, len(made.data)))
            parts.append(made.data)
        sizes = [MESSAGE_HEAD + len(part) for part in parts]
        self._starts = [0, *np.cumsum(sizes)[:-1].tolist()]
        row = b"".join(head + part for head, part in zip(heads, parts, strict=True))
        self._row = np.frombuffer(row, np.uint8)

    def encode(self, records: Array, time_ns: Array) -> Array:
        """The messages of each record as one row of bytes; `time_ns` are the log times."""
        block = np.empty((len(records), len(self._row)), np.uint8)
        block[:] = self._row
        times = templates.as_bytes(time_ns, "<u8")
        sequence = templates.as_bytes(records["tick"] & 0xFFFFFFFF, "<u4")
        for start in self._starts:
            block[:, start + _SEQUENCE : start + _LOG_TIME] = sequence
            block[:, start + _LOG_TIME : start + _PUBLISH_TIME] = times
            block[:, start + _PUBLISH_TIME : start + MESSAGE_HEAD] = times
        own = MESSAGE_HEAD + len(record_messages.CDR_HEADER)
        block[:, own : own + _OWN_SIZE] = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), _OWN_SIZE)
        for topic, made, start in zip(self._topics, self._templates, self._starts[1:], strict=True):
            templates.fill(block, start + MESSAGE_HEAD, made, topic.columns(records, self._n), time_ns)
        return block

    def index(self, row_offsets: Array) -> dict[int, Array]:
        """Byte offset of every message for each channel, given where the rows lie."""
        return {channel: row_offsets + start for channel, start in zip(self._channels, self._starts, strict=True)}
