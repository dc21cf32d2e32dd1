"""Sections as the records that kernels read, and back."""

from __future__ import annotations

import typing
from functools import cache
from typing import Any, Literal

import numpy as np

from pliant.params.declare import Section, layout_of, shape_of


class _Member(typing.NamedTuple):
    """A field of a section as it is packed into a record."""

    name: str
    kind: Any
    shape: tuple[int, ...]
    choices: tuple[Any, ...]

    @property
    def is_section(self) -> bool:
        return isinstance(self.kind, type) and issubclass(self.kind, Section)

    @property
    def is_whole(self) -> bool:
        """Whether it is stored as a whole number."""
        return not (self.is_section or self.shape or self.kind is float)


@cache
def _members(section: type[Section]) -> tuple[_Member, ...]:
    found = []
    for name, field in section.model_fields.items():
        kind = field.annotation
        choices = typing.get_args(kind) if typing.get_origin(kind) is Literal else ()
        found.append(_Member(name, kind, shape_of(kind), choices))
    return tuple(found)


@cache
def _whole_places(section: type[Section]) -> np.ndarray[Any, Any]:
    """Where the record of a section holds whole numbers, in 8-byte values."""
    places, at = [], 0
    for member in _members(section):
        if member.is_section:
            places += (at + _whole_places(member.kind)).tolist()
            at += layout_of(member.kind).dtype.itemsize // 8
            continue
        places += [at] * member.is_whole
        at += int(np.prod(member.shape, dtype=int))
    return np.array(places, np.int64)


def packed(section: Section) -> np.ndarray[Any, Any]:
    """The numbers of a section as its record holds them: 8-byte values, whole numbers by their bytes."""
    numbers: list[Any] = []
    _append(section, numbers)
    values, whole = np.array(numbers, np.float64), _whole_places(type(section))
    values.view(np.int64)[whole] = values[whole].astype(np.int64)
    return values


def _append(section: Section, numbers: list[Any]) -> None:
    values = section.__dict__
    for member in _members(type(section)):
        value = values[member.name]
        if isinstance(value, Section):
            _append(value, numbers)
        elif member.choices:
            numbers.append(member.choices.index(value))
        elif not member.shape:
            numbers.append(value)
        elif len(member.shape) == 1:
            numbers.extend(value)
        else:
            for row in value:
                numbers.extend(row)


def to_record(section: Section) -> np.ndarray[Any, Any]:
    """A one-element array that holds `section` as kernels read it."""
    record = layout_of(type(section)).new()
    record.view(np.float64)[:] = packed(section)
    return record


def from_record(section: type[Section], record: Any) -> Any:
    """The section with the values of a record: the inverse of `to_record`. They were checked when it was made."""
    return _unpacked(section, np.array(record).reshape(1).view(np.float64))


def _unpacked(section: type[Section], numbers: np.ndarray[Any, Any]) -> Any:
    data: dict[str, Any] = {}
    at = 0
    for name, kind, shape, choices in _members(section):
        if isinstance(kind, type) and issubclass(kind, Section):
            size = layout_of(kind).dtype.itemsize // 8
            data[name] = _unpacked(kind, numbers[at : at + size])
        elif shape:
            size = int(np.prod(shape))
            data[name] = _row(kind, numbers[at : at + size].reshape(shape).tolist())
        else:
            size = 1
            value = numbers[at].item() if kind is float else numbers[at : at + 1].view(np.int64)[0].item()
            data[name] = choices[value] if choices else bool(value) if kind is bool else value
        at += size
    return section.model_construct(**data)


def _row(kind: Any, values: list[Any]) -> tuple[Any, ...]:
    """A list of numbers, of flags or of rows as the tuple that a section holds."""
    if isinstance(values[0], list):
        return tuple(map(tuple, values))
    return tuple(map(bool, values)) if typing.get_args(kind)[0] is bool else tuple(values)
