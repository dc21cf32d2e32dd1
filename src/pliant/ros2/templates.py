"""Telemetry as messages, by patching: the bytes of a message are built once, and then only its numbers are replaced.

`rosbags` encodes one message per topic, with a unique number in each place. The positions of these numbers in the bytes
are where the values of later messages go. The telemetry value that goes there is found in the same way, with a record
whose words are unique numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np

from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError
from pliant.records import Layout
from pliant.ros2 import message_types

Array = np.ndarray[Any, Any]

_STAMP_AT = 4  # right after the CDR header: seconds (int32), nanoseconds (uint32)
_STAMP = Struct("<iI")


@dataclass(frozen=True)
class Topic:
    """A topic; `columns(records, n)` are its values, one array per contiguous block of numbers in a message.

    `extra(joint_names)` are constant fields. With `now` the stamp stays zero, which means: immediately.
    """

    name: str
    message_type: str
    frame_id: str
    columns: Callable[[Array, int], list[Array]]
    extra: Callable[[list[str]], Mapping[str, Any]] | None = None
    now: bool = False

    @property
    def is_stamped(self) -> bool:
        """Whether the message begins with a header."""
        return message_types.is_stamped(self.message_type) and not self.now


def message(topic: Topic, runs: list[Array], stamp_ns: int, joint_names: list[str]) -> Any:
    """One message as a `rosbags` object, from one array per block of numbers."""
    fields = dict(topic.extra(joint_names)) if topic.extra else {}
    if message_types.is_stamped(topic.message_type):
        stamp = {"sec": stamp_ns // 10**9, "nanosec": stamp_ns % 10**9}
        fields["header"] = {"stamp": stamp, "frame_id": topic.frame_id}
    return message_types.build(topic.message_type, fields, runs)


@dataclass(frozen=True)
class Template:
    """The bytes of one message and the positions of its values: the stamp, then one position per block of numbers."""

    data: bytes
    places: list[int]


def template(topic: Topic, sample: Array, joint_names: list[str]) -> Template:
    """The template of a topic for a robot with these joints; `sample` is any array of one record."""
    widths = [run.shape[1] for run in topic.columns(sample, len(joint_names))]
    numbers = np.pi * np.arange(1, 1 + sum(widths))  # no other bytes of a message look like these
    runs = np.split(numbers, np.cumsum(widths)[:-1])
    data = message_types.encode(message(topic, runs, 0, joint_names))
    return Template(data, [data.index(run.tobytes()) for run in runs])


def fill(block: Array, start: int, made: Template, runs: list[Array], stamp_ns: Array) -> None:
    """Write stamps [ns] and values into the stamped messages that begin at byte `start` of each row of `block`."""
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


class Stencil:
    """Builds messages one at a time from the bytes of a record, by copying values only."""

    def __init__(self, topic: Topic, joint_names: list[str], layout: Layout = TELEMETRY) -> None:
        self.topic = topic
        sample, n = layout.new(), len(joint_names)
        moves = _moves(topic, template(topic, sample, joint_names), layout, n)
        self._moves = [(slice(to, to_end), slice(of, of_end)) for to, to_end, of, of_end in moves]
        runs = [run[0] for run in topic.columns(sample, n)]
        self._data = bytearray(message_types.padded(message_types.encode(message(topic, runs, 0, joint_names))))
        self._view = memoryview(self._data)  # from view to view bytes are copied once, not twice
        self._stamped = topic.is_stamped

    def fill(self, row: memoryview, stamp_ns: int) -> bytearray:
        """The message of the record whose bytes are `row`; it reuses one buffer."""
        view = self._view
        if self._stamped:
            _STAMP.pack_into(view, _STAMP_AT, stamp_ns // 1_000_000_000, stamp_ns % 1_000_000_000)
        for to, of in self._moves:
            view[to] = row[of]
        return self._data


def _moves(topic: Topic, made: Template, layout: Layout, n: int) -> list[tuple[int, int, int, int]]:
    """Which bytes of a record go to which bytes of the message, as few stretches as there are."""
    words = np.pi * np.arange(1, 1 + layout.dtype.itemsize // 8)
    place_of = {value: 8 * i for i, value in enumerate(words.tolist())}
    moves: list[tuple[int, int, int, int]] = []
    for place, run in zip(made.places, topic.columns(words.view(layout.dtype), n), strict=True):
        for i, value in enumerate(run[0].tolist()):
            if value == 0.0:  # a constant
                continue
            if value not in place_of:
                raise InputError(topic.name, "computed from the record", "copied from it, to be sent one by one")
            to, of = place + 8 * i, place_of[value]
            if moves and moves[-1][1] == to and moves[-1][3] == of:
                to, of = moves[-1][0], moves.pop()[2]
            moves.append((to, place + 8 * i + 8, of, place_of[value] + 8))
    return moves
