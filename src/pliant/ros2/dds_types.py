"""The message types of ROS 2 as Cyclone DDS types, made from the same definitions as the bytes."""

from __future__ import annotations

from functools import cache
from typing import Any

from rosbags.interfaces import Nodetype

from pliant.ros2.message_types import fields_of
from pliant.ros2.network import cyclonedds_missing

try:
    from cyclonedds.idl import make_idl_struct
    from cyclonedds.idl import types as idl
except ImportError:
    raise cyclonedds_missing() from None

_SCALARS: dict[str, Any] = {
    **{"bool": bool, "string": str, "float32": idl.float32, "float64": idl.float64},
    **{"octet": idl.uint8, "byte": idl.uint8, "char": idl.uint8, "uint8": idl.uint8, "int8": idl.int8},
    **{"int16": idl.int16, "uint16": idl.uint16, "int32": idl.int32, "uint32": idl.uint32},
    **{"int64": idl.int64, "uint64": idl.uint64},
}


@cache
def dds_type(message_type: str) -> Any:
    """The Cyclone DDS type with the name that ROS 2 uses on the network."""
    package, _, name = message_type.split("/")
    fields = {field: _kind(described) for field, described in fields_of(message_type).items()}
    return make_idl_struct(f"{name}_", f"{package}::msg::dds_::{name}_", fields)


def _kind(described: Any) -> Any:
    kind, inner = described
    if kind == Nodetype.BASE:
        return _SCALARS[inner[0]]
    if kind == Nodetype.NAME:
        return dds_type(inner)
    of, count = inner
    return idl.sequence[_kind(of)] if kind == Nodetype.SEQUENCE else idl.array[_kind(of), count]
