"""The message types of ROS 2, from `rosbags`: definitions, hashes, and messages built from arrays of numbers.

One rule builds all of them: numbers fill the float64 fields of a message in the order of its definition. A sequence
takes a whole array, scalars take an array element by element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

from pliant.errors import InputError

Array = np.ndarray[Any, Any]

JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH_STAMPED = "geometry_msgs/msg/WrenchStamped"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
POINT_STAMPED = "geometry_msgs/msg/PointStamped"
TWIST_STAMPED = "geometry_msgs/msg/TwistStamped"
TWIST = "geometry_msgs/msg/Twist"
JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
FLOAT_ARRAY = "std_msgs/msg/Float64MultiArray"
STRING = "std_msgs/msg/String"

_DTYPES = {"bool": "?", "octet": "u1", "char": "u1", "byte": "u1", "uint8": "u1", "float32": "f4", "float64": "f8"} | {
    f"{sign}int{8 * size}": f"{sign or 'i'}{size}" for sign in ("", "u") for size in (1, 2, 4, 8)
}


@cache
def typestore() -> Typestore:
    """The message types of ROS 2 Jazzy."""
    return get_typestore(Stores.ROS2_JAZZY)


def definition(message_type: str) -> str:
    """The `ros2msg` text of a standard type, including all types that it uses."""
    return typestore().generate_msgdef(message_type, ros_version=2)[0]


@cache
def type_hash(message_type: str) -> str:
    """The type hash with which nodes check that their types match, as in ``RIHS01_…``."""
    return typestore().hash_rihs01(message_type)


def fields_of(message_type: str) -> dict[str, Any]:
    """Name and kind of every field, as `rosbags` describes them."""
    return dict(typestore().fielddefs[message_type][1])


def is_stamped(message_type: str) -> bool:
    """Whether a message begins with a header."""
    return "header" in fields_of(message_type)


def build(message_type: str, values: Mapping[str, Any] | None = None, runs: Sequence[Array] = ()) -> Any:
    """A message with these fields (nested mappings) and these arrays of numbers; the rest is zero or empty."""
    return _build(message_type, values or {}, _Numbers(runs))


class _Numbers:
    """Runs of numbers that are handed out one by one, or a run at a time."""

    def __init__(self, runs: Sequence[Array]) -> None:
        self._runs: Iterator[Array] = iter(runs)
        self._rest: list[float] = []

    def one(self) -> float:
        self._rest = self._rest or [float(value) for value in next(self._runs, ())]
        return self._rest.pop(0) if self._rest else 0.0

    def run(self) -> Array:
        return np.array(next(self._runs, ()), float)


def _build(message_type: str, values: Mapping[str, Any], numbers: _Numbers) -> Any:
    fields = fields_of(message_type)
    if unknown := values.keys() - fields.keys():
        raise InputError("message", sorted(unknown), f"fields of {message_type}: {', '.join(fields)}")
    made = {name: _value(kind, values.get(name), numbers) for name, kind in fields.items()}
    return typestore().types[message_type](**made)


def _value(described: Any, given: Any, numbers: _Numbers) -> Any:
    kind, inner = described
    if kind == Nodetype.NAME:
        return _build(inner, given or {}, numbers)
    if kind == Nodetype.BASE:
        if given is not None:
            return given
        if inner[0] == "float64":
            return numbers.one()
        return "" if inner[0] == "string" else np.dtype(_DTYPES[inner[0]]).type(0).item()
    (of, which), count = inner
    if of == Nodetype.NAME:
        return [_build(which, item, numbers) for item in given or [{}] * (count if kind == Nodetype.ARRAY else 0)]
    if which[0] == "string":
        return list(given or ())
    if given is None:
        given = numbers.run() if which[0] == "float64" else np.zeros(count if kind == Nodetype.ARRAY else 0)
    return np.asarray(given, _DTYPES[which[0]])


def encode(message: Any) -> bytes:
    """The bytes of a message (CDR, little-endian)."""
    return bytes(typestore().serialize_cdr(message, message.__msgtype__))


def padded(data: bytes) -> bytes:
    """The bytes as a DDS sample, padded to 4-byte words."""
    return data.ljust(-(-len(data) // 4) * 4, b"\0")


def decode(data: bytes, message_type: str) -> Any:
    """The message encoded in these bytes."""
    return typestore().deserialize_cdr(data, message_type)
