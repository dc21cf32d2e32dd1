"""Packets of the Real-Time Data Exchange (RTDE, version 2): values to bytes, and back. No socket, no clock.

    packet = u16 size (these 3 bytes included), u8 kind, body            everything big-endian

The driver uses them to ask for the version, the emulator to answer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

PORT = 30004
PROTOCOL = 2
# Kinds of packets.
ASK_PROTOCOL, ASK_VERSION, TEXT, DATA, OUTPUTS, INPUTS, START, PAUSE = (ord(letter) for letter in "VvMUOISP")
# Replaces a type: the name is unknown, or another client writes it.
NOT_FOUND, IN_USE = "NOT_FOUND", "IN_USE"

_FORMATS = {
    "BOOL": "?", "UINT8": "B", "UINT32": "I", "UINT64": "Q", "INT32": "i", "DOUBLE": "d",
    "VECTOR3D": "3d", "VECTOR6D": "6d", "VECTOR6INT32": "6i", "VECTOR6UINT32": "6I",
}  # fmt: skip
_HEADER = struct.Struct(">HB")
_VERSION = struct.Struct(">4I")

Version = tuple[int, int, int, int]
"""major, minor, bugfix, build"""


def packet(kind: int, body: bytes = b"") -> bytes:
    """One packet."""
    return _HEADER.pack(_HEADER.size + len(body), kind) + body


def take(buffer: bytearray) -> tuple[int, bytes] | None:
    """Remove the first complete packet from `buffer` and return its kind and body; None if it is not complete yet."""
    if len(buffer) < _HEADER.size:
        return None
    size, kind = _HEADER.unpack_from(buffer)
    if size < _HEADER.size:
        raise ValueError(f"a packet of {size} bytes")
    if len(buffer) < size:
        return None
    body = bytes(buffer[_HEADER.size : size])
    del buffer[:size]
    return kind, body


def version_body(version: Version) -> bytes:
    """The answer to `ASK_VERSION`."""
    return _VERSION.pack(*version)


def read_version(body: bytes) -> Version:
    """What a controller answered to `ASK_VERSION`."""
    return _VERSION.unpack(body)


def text_body(text: str, source: str, level: int = 2) -> bytes:
    """A message for the client's log; level 2 is a warning."""
    message, name = text.encode()[:255], source.encode()[:255]
    return bytes([len(message)]) + message + bytes([len(name)]) + name + bytes([level])


def read_names(text: bytes) -> tuple[str, ...]:
    """The names in a request for a recipe; clients end the list with a comma."""
    return tuple(name for name in text.decode("ascii", "replace").split(",") if name)


@dataclass(frozen=True)
class Recipe:
    """Which values a data packet holds, in which order."""

    number: int
    names: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, number: int, names: Iterable[str], known: Mapping[str, str], taken: Iterable[str] = ()) -> Recipe:
        """The recipe of these names; it is not valid if a name is unknown or in use by another client."""
        names, others = tuple(names), set(taken)
        types = tuple(IN_USE if name in others else known.get(name, NOT_FOUND) for name in names)
        return cls(number, names, types)

    @property
    def is_good(self) -> bool:
        """Whether every field is known to the controller."""
        return bool(self.names) and all(kind in _FORMATS for kind in self.types)

    @property
    def body(self) -> bytes:
        """The answer to the request: number and types. The number of an invalid recipe is 0."""
        return bytes([self.number if self.is_good else 0]) + ",".join(self.types).encode()

    @property
    def layout(self) -> struct.Struct:
        """How a data packet is packed."""
        return struct.Struct(">B" + "".join(_FORMATS[kind] for kind in self.types))

    def pack(self, layout: struct.Struct, values: Mapping[str, Any]) -> bytes:
        """The body of a data packet; vectors are sequences."""
        flat: list[Any] = [self.number]
        for name in self.names:
            value = values[name]
            flat.extend(value) if isinstance(value, (tuple, list)) else flat.append(value)
        return layout.pack(*flat)

    def unpack(self, layout: struct.Struct, body: bytes) -> dict[str, Any]:
        """The values in the body of a data packet, by name."""
        flat, found, at = layout.unpack(body), {}, 1
        for name, kind in zip(self.names, self.types, strict=True):
            size = int(_FORMATS[kind][0]) if _FORMATS[kind][0].isdigit() else 1
            found[name] = flat[at] if size == 1 else flat[at : at + size]
            at += size
        return found
