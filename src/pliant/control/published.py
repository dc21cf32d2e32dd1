"""Which part of a telemetry record a run publishes: on its board, and in recordings.

A record in memory has room for every arm and for every law. What is published of it has the joints of the run's arm,
the fields of its interface, and the record of the law that ran in that tick. `PLAN` lists the words (8 bytes each) of
a record in the order in which they are published; the kernels `pack` and `unpack` follow it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.control.laws.law import MAX_LAWS
from pliant.control.laws.registry import LAWS, PLIANTS
from pliant.control.parameters import Parameters
from pliant.control.telemetry import own_records, telemetry_with
from pliant.kernel import integers, kernel, record_at
from pliant.records import MAX_JOINTS, MODES, TICK, Field, Layout, PerJoint

Array = np.ndarray[Any, Any]

# On the position interface of an arm: what is not published, because another field is equal.
_EQUAL_FIELDS = (("command.q", "state.q_cmd"), ("command.qd", "state.qd_cmd"))
_NOT_EQUAL = ("velocity", "torque", "base")
# Where a plan has: words of the common part, words in all, equal words; first word and number of words of each law.
_COMMON, _ALL, _EQUAL, _LAW, _WORDS = 0, 1, 2, 3, 3 + 2 * MAX_LAWS
_TICK = TICK.dtype


@kernel
def pack(record, plan, out):
    """Write what is published of the record at an address to the address `out`."""
    p = integers(plan, _WORDS)
    common, law = p[_COMMON], record_at(record, _TICK).state.law
    words, to = integers(plan + 8 * _WORDS, common), integers(out, p[_ALL])
    for i in range(common):
        to[i] = integers(record + 8 * words[i], 1)[0]
    if 0 <= law < MAX_LAWS:
        start, count = p[_LAW + 2 * law], p[_LAW + 2 * law + 1]
        own = integers(plan + 8 * (_WORDS + start), count)
        for i in range(count):
            to[common + i] = integers(record + 8 * own[i], 1)[0]


@kernel
def unpack(packed, plan, record):
    """Fill the record at an address, which is all zero, with what was published of it."""
    p = integers(plan, _WORDS)
    common, equal = p[_COMMON], p[_EQUAL]
    words, of = integers(plan + 8 * _WORDS, common + 2 * equal), integers(packed, p[_ALL])
    for i in range(common):
        integers(record + 8 * words[i], 1)[0] = of[i]
    for i in range(common, common + 2 * equal, 2):
        integers(record + 8 * words[i], 1)[0] = integers(record + 8 * words[i + 1], 1)[0]
    law = record_at(record, _TICK).state.law
    if 0 <= law < MAX_LAWS:
        start, count = p[_LAW + 2 * law], p[_LAW + 2 * law + 1]
        own = integers(plan + 8 * (_WORDS + start), count)
        for i in range(count):
            integers(record + 8 * own[i], 1)[0] = of[common + i]


@kernel
def pack_all(records, size, n, plan, out, step):
    """`pack` for `n` records of `size` bytes; those at `out` are `step` bytes apart."""
    for i in range(n):
        pack(records + i * size, plan, out + i * step)


@kernel
def unpack_all(packed, step, n, plan, records, size):
    """`unpack` for `n` records."""
    for i in range(n):
        unpack(packed + i * step, plan, records + i * size)


class Published:
    """What runs publish of an arm with `n` joints, `on` an interface (with "base": also of a mobile base).

    `own` are the records of laws from outside the package with their numbers. By default, everything is published.
    """

    def __init__(
        self,
        n: int = MAX_JOINTS,
        on: Iterable[str] = (*MODES, "base"),
        own: Mapping[str, tuple[int, Layout]] | None = None,
    ) -> None:
        self.n, self.on, self.own = n, tuple(on), dict(own or {})
        self.record = telemetry_with({name: layout for name, (_, layout) in self.own.items()})
        """The layout of a record in memory."""
        self.layout = self._cut(TICK)
        """The layout of the part that is common to all laws, as it is published."""
        offsets: Any = self.record.dtype.fields
        numbers = {name: LAWS[name].number for name in PLIANTS} | {name: one for name, (one, _) in self.own.items()}
        states = {field.name: field.kind for field in self.record.fields if field.name in numbers}
        self.laws = {numbers[name]: (name, self._cut(state)) for name, state in states.items()}
        """Name and published layout of the record of each law, by its number."""
        places = {numbers[name]: list(self._words(state, offsets[name][1] // 8)) for name, state in states.items()}
        self.plan = self._plan(places)
        """What `pack` and `unpack` follow."""
        self.step = 8 * int(self.plan[_ALL])
        """Bytes of a published record, whatever law runs."""

    @classmethod
    def of(cls, n: int, interface: str, kind: type[Parameters], *, mobile: bool = False) -> Published:
        """What a run with parameter sets of this kind publishes."""
        own = {name: (LAWS[name].number, layout) for name, layout in own_records(kind).items()}
        return cls(n, (interface, *(("base",) if mobile else ())), own)

    def pack(self, records: Array) -> Array:
        """What is published of these records: a row of 8-byte values for each of them."""
        records = np.ascontiguousarray(records)
        out = np.zeros((len(records), self.step // 8), np.int64)
        size = records.dtype.itemsize
        pack_all(records.ctypes.data, size, len(records), self.plan.ctypes.data, out.ctypes.data, self.step)
        return out

    def unpack(self, packed: Array, layout: Layout | None = None) -> Array:
        """The records of which these rows were published; `layout` may have more laws after those known here."""
        records = (layout or self.record).new(len(packed))
        size = records.dtype.itemsize
        unpack_all(packed.ctypes.data, packed.strides[0], len(packed), self.plan.ctypes.data, records.ctypes.data, size)
        return records

    def bytes_of(self, law: int) -> int:
        """Bytes that are published in a tick in which this law runs."""
        return 8 * int(self.plan[_COMMON] + self.plan[_LAW + 2 * law + 1])

    def _is_published(self, field: Field) -> bool:
        return not field.only or any(one in self.on for one in field.only)

    def _cut(self, layout: Layout) -> Layout:
        fields = []
        for field in layout.fields:
            if self._is_published(field):
                kind = self._cut(field.kind) if isinstance(field.kind, Layout) else field.kind
                shape = (self.n,) if isinstance(field.shape, PerJoint) else field.shape
                fields.append(replace(field, shape=shape, kind=kind))
        return Layout(layout.name, tuple(fields))

    def _words(self, layout: Layout, first: int) -> Iterator[int]:
        """The places of the words that are published of a record that begins at the word `first`."""
        offsets: Any = layout.dtype.fields
        for field in layout.fields:
            at = first + offsets[field.name][1] // 8
            if not self._is_published(field):
                continue
            if isinstance(field.kind, Layout):
                yield from self._words(field.kind, at)
            else:
                yield from range(at, at + (self.n if isinstance(field.shape, PerJoint) else math.prod(field.shape)))

    def _plan(self, places: Mapping[int, list[int]]) -> Array:
        common = list(self._words(TICK, 0))
        equal = [] if set(self.on) & set(_NOT_EQUAL) else list(self._equal_words())
        words, head = [*common, *equal], np.zeros(_WORDS, np.int64)
        for law, own in places.items():
            head[_LAW + 2 * law], head[_LAW + 2 * law + 1] = len(words), len(own)
            words += own
        longest = max(map(len, places.values()), default=0)
        head[_COMMON], head[_ALL], head[_EQUAL] = len(common), len(common) + longest, len(equal) // 2
        return np.concatenate([head, np.array(words, np.int64)])

    def _equal_words(self) -> Iterator[int]:
        """Pairs of words: one that is not published, and the one that it equals."""
        for pair in _EQUAL_FIELDS:
            to, of = (_place(TICK.dtype, dotted) for dotted in pair)
            for i in range(self.n):
                yield from (to + i, of + i)


def _place(dtype: Any, dotted: str) -> int:
    """The word at which a field of a record begins."""
    at = 0
    for name in dotted.split("."):
        dtype, offset = dtype.fields[name][:2]
        at += offset // 8
    return at
