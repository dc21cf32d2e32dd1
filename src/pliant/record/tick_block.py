"""A block of ticks as MCAP messages: one row of bytes per tick.

A row holds Pliant's own message, that of the law that ran, and then the standard topics.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pliant.control.published import Published
from pliant.record import record_messages, standard_topics
from pliant.record.container import MESSAGE_HEAD, ContainerWriter, message_head
from pliant.ros2 import templates
from pliant.ros2.message_types import definition

Array = np.ndarray[Any, Any]

TELEMETRY_TOPIC = "/pliant/telemetry"
LAW_TOPIC = "/pliant/laws/"

SEQUENCE = 11  # bytes from the start of a message record
_LOG_TIME, _PUBLISH_TIME = 15, 23
_OWN_HEAD = MESSAGE_HEAD + len(record_messages.CDR_HEADER)


class _Row(NamedTuple):
    """The bytes of a tick in which a law runs, before its values are filled in."""

    data: Array
    starts: list[int]
    """Where each message starts."""
    channels: list[int]
    own: list[tuple[int, int, int]]
    """Pliant's own messages: start in the row, first byte and end in what is published."""


class BlockEncoder:
    """Turns arrays of telemetry records into rows of message bytes; declares its channels in `container`."""

    def __init__(self, container: ContainerWriter, joint_names: list[str], published: Published) -> None:
        self._container, self._n, self._published = container, len(joint_names), published
        self._topics = standard_topics.topics_of(mobile="base" in published.on)
        self._telemetry = self._channel(TELEMETRY_TOPIC, published.layout)
        sample = published.record.new()
        self._templates = [templates.template(topic, sample, joint_names) for topic in self._topics]
        self._channels = [
            container.add_channel(topic.name, topic.message_type, definition(topic.message_type))
            for topic in self._topics
        ]
        self._rows: dict[int, _Row] = {}

    def _channel(self, topic: str, layout: Any) -> int:
        return self._container.add_channel(
            topic, record_messages.message_type(layout), record_messages.definition(layout)
        )

    def _row(self, law: int) -> _Row:
        """The row of a tick in which this law runs; the channel of its record is declared when it is first needed."""
        if law not in self._rows:
            name, layout = self._published.laws.get(law, ("", None))
            sizes = [self._published.layout.dtype.itemsize]
            channels = [self._telemetry]
            if layout is not None:
                channels.append(self._channel(LAW_TOPIC + name, layout))
                sizes.append(layout.dtype.itemsize)
            parts = [record_messages.CDR_HEADER + bytes(size) for size in sizes] + [t.data for t in self._templates]
            channels += self._channels
            heads = [message_head(channel, len(part)) for channel, part in zip(channels, parts, strict=True)]
            starts = [0, *np.cumsum([MESSAGE_HEAD + len(part) for part in parts])[:-1].tolist()]
            data = b"".join(head + part for head, part in zip(heads, parts, strict=True))
            ends = [0, *np.cumsum(sizes).tolist()]
            own = [(start, first, end) for start, (first, end) in zip(starts, pairwise(ends), strict=False)]
            self._rows[law] = _Row(np.frombuffer(data, np.uint8), starts, channels, own)
        return self._rows[law]

    def encode(self, records: Array, time_ns: Array) -> tuple[list[bytes], dict[int, tuple[Array, Array]]]:
        """The messages of the records as bytes, and log times and byte offsets of every message for each channel."""
        laws, at = records["state"]["law"], 0
        cuts = [0, *(np.flatnonzero(np.diff(laws)) + 1).tolist(), len(records)]
        parts: list[bytes] = []
        index: dict[int, list[tuple[Array, Array]]] = {}
        for first, last in pairwise(cuts):
            row, times = self._row(int(laws[first])), time_ns[first:last]
            block = self._fill(row, records[first:last], times)
            offsets = at + block.shape[1] * np.arange(len(block))
            for channel, start in zip(row.channels, row.starts, strict=True):
                index.setdefault(channel, []).append((times, offsets + start))
            parts.append(block.tobytes())
            at += len(parts[-1])
        return parts, {
            channel: (np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found]))
            for channel, found in index.items()
        }

    def _fill(self, row: _Row, records: Array, time_ns: Array) -> Array:
        block = np.empty((len(records), len(row.data)), np.uint8)
        block[:] = row.data
        times = templates.as_bytes(time_ns, "<u8")
        sequence = templates.as_bytes(records["tick"] & 0xFFFFFFFF, "<u4")
        for start in row.starts:
            block[:, start + SEQUENCE : start + _LOG_TIME] = sequence
            block[:, start + _LOG_TIME : start + _PUBLISH_TIME] = times
            block[:, start + _PUBLISH_TIME : start + MESSAGE_HEAD] = times
        packed = self._published.pack(records).view(np.uint8)
        for start, first, end in row.own:
            block[:, start + _OWN_HEAD : start + _OWN_HEAD + end - first] = packed[:, first:end]
        standard = row.starts[len(row.own) :]
        for topic, made, start in zip(self._topics, self._templates, standard, strict=True):
            templates.fill(block, start + MESSAGE_HEAD, made, topic.columns(records, self._n), time_ns)
        return block
