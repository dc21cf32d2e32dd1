"""Pliant's records as ROS 2 messages: the definition is generated, the bytes are the record itself.

Every scalar of a record takes 8 bytes, and CDR counts alignment from the end of its 4-byte header. So a message needs
no padding anywhere, and its body is the record as it lies in memory:

    message = 00 01 00 00  +  record.tobytes()

The definition (`ros2msg` text) carries unit and meaning of each field as comments, and `parse` reads them back: a
recording explains itself, whatever version of Pliant opens it. Names in it are legal for ROS 2. A field whose own name
is not, such as the M0 of a law, gets a legal one, and the comment gives its own name in braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.records import Field, Layout

PACKAGE = "pliant_msgs"
CDR_HEADER = b"\x00\x01\x00\x00"  # plain CDR, little-endian, no options

# What ROS 2 allows as the name of a field.
_FIELD = re.compile(r"[a-z](?!.*__)[a-z0-9_]*[a-z0-9]|[a-z]")
_SEPARATOR = "=" * 80
_ROS_TYPE = {"f8": "float64", "i8": "int64"}
_KIND = {ros: kind for kind, ros in _ROS_TYPE.items()}
_LINE = re.compile(r"(?P<type>[\w/]+)(?:\[(?P<count>\d+)\])? (?P<name>\w+)(?: # (?P<comment>.*))?")
_COMMENT = re.compile(
    r"(?:\{(?P<own>\w+)\} ?)?(?:\((?P<shape>\d+(?: x \d+)+)\) ?)?(?:\[(?P<unit>[^\]]*)\] ?)?(?P<help>.*)"
)


def message_type(layout: Layout, package: str = PACKAGE) -> str:
    """The full ROS 2 name of the message, as in `pliant_msgs/msg/Telemetry`."""
    return f"{package}/msg/{type_name(layout.name)}"


def type_name(name: str) -> str:
    """The name of a record as a legal type name of ROS 2, in CamelCase."""
    if re.fullmatch(r"[A-Z][A-Za-z0-9]*", name):
        return name
    parts = re.findall(r"[A-Za-z0-9]+", name)
    joined = "".join(part[0].upper() + part[1:] for part in parts)
    return joined if joined[:1].isalpha() else f"Record{joined}"


def field_names(names: Sequence[str]) -> list[str]:
    """The names of a record's fields as legal field names of ROS 2, each one only once."""
    taken = {name for name in names if _FIELD.fullmatch(name)}
    found = []
    for name in names:
        if _FIELD.fullmatch(name):
            found.append(name)
            continue
        bare = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        bare = bare if bare[:1].isalpha() else f"field_{bare}".strip("_")
        tries = (bare, *(f"{bare}_{count}" for count in range(2, len(names) + 2)))
        found.append(next(one for one in tries if one not in taken))
        taken.add(found[-1])
    return found


def layout_of(name: str, dtype: np.dtype[np.void]) -> Layout:
    """The layout of a packed structured dtype of 8-byte numbers, without units; nested ones are named by field."""
    if dtype.names is None:
        raise InputError(name, dtype, "a structured dtype with named fields")
    members: Any = dtype.fields
    fields = []
    end = 0
    for member in dtype.names:
        inner, offset = members[member][:2]
        if offset != end:
            raise InputError(f"{name}.{member}", f"at byte {offset}", f"packed, at byte {end}")
        end += inner.itemsize
        fields.append(Field(member, "", "", inner.shape, _kind_of(name, member, inner.base)))
    if end != dtype.itemsize:
        raise InputError(name, f"{dtype.itemsize} bytes", f"packed: {end} bytes")
    return Layout(name, tuple(fields))


def _kind_of(parent: str, member: str, base: np.dtype) -> str | Layout:
    if base.names is not None:
        return layout_of(parent + "".join(part.capitalize() for part in member.split("_")), base)
    _ros_type(f"{parent}.{member}", base)
    return base.str.removeprefix("<")


def _ros_type(path: str, kind: object) -> str:
    scalar = np.dtype(kind)  # pyright: ignore[reportCallIssue, reportArgumentType]
    if scalar.str.removeprefix("<") not in _ROS_TYPE:
        raise InputError(path, str(scalar), "a little-endian 64-bit float or integer (f8 or i8)")
    return _ROS_TYPE[scalar.str.removeprefix("<")]


def definition(layout: Layout, package: str = PACKAGE) -> str:
    """The `ros2msg` text of the layout with all messages nested in it; arrays of two dimensions are flattened."""
    parts = [_lines(layout, package)]
    for nested in _nested(layout):
        parts += [_SEPARATOR, f"MSG: {package}/{type_name(nested.name)}", _lines(nested, package)]
    return "\n".join(parts) + "\n"


def _nested(layout: Layout) -> list[Layout]:
    found: dict[str, Layout] = {}

    def visit(parent: Layout) -> None:
        for field in parent.fields:
            if not isinstance(field.kind, Layout):
                continue
            name = type_name(field.kind.name)
            known = found.setdefault(name, field.kind)
            if known != field.kind or name == type_name(layout.name):
                raise InputError(f"{parent.name}.{field.name}", field.kind.name, "a name that no other record uses")
            visit(field.kind)

    visit(layout)
    return list(found.values())


def _lines(layout: Layout, package: str) -> str:
    names = field_names([field.name for field in layout.fields])
    return "\n".join(_line(layout.name, field, name, package) for field, name in zip(layout.fields, names, strict=True))


def _line(parent: str, field: Field, name: str, package: str) -> str:
    nested = isinstance(field.kind, Layout)
    kind = f"{package}/{type_name(field.kind.name)}" if nested else _ros_type(f"{parent}.{field.name}", field.kind)
    count = f"[{int(np.prod(field.shape))}]" if field.shape else ""
    own = f"{{{field.name}}}" if name != field.name else ""
    shape = f"({' x '.join(map(str, field.shape))})" if len(field.shape) > 1 else ""
    unit = f"[{field.unit}]" if field.unit else ""
    comment = " ".join(part for part in (own, shape, unit, " ".join(field.help.split())) if part)
    return f"{kind}{count} {name}" + (f" # {comment}" if comment else "")


def parse(name: str, text: str) -> Layout:
    """The layout that `definition` wrote as `text`, units, help and shapes included; ValueError for any other text."""
    head, *rest = text.split(f"{_SEPARATOR}\n")
    bodies = {name: head}
    for part in rest:
        title, _, body = part.partition("\n")
        bodies[title.rpartition("/")[2]] = body
    return Layout(name, tuple(_fields(name, bodies, ())))


def _fields(name: str, bodies: dict[str, str], above: tuple[str, ...]) -> Iterator[Field]:
    if name not in bodies or name in above:
        raise ValueError(f"message {name} is not defined")
    for line in bodies[name].splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"cannot read {line!r}")
        comment = _COMMENT.fullmatch(match["comment"] or "")
        assert comment is not None  # every part of the pattern is optional
        shape: tuple[int, ...] = (int(match["count"]),) if match["count"] else ()
        if comment["shape"]:
            shape = tuple(int(size) for size in comment["shape"].split(" x "))
            if str(int(np.prod(shape))) != match["count"]:
                raise ValueError(f"shape and size differ in {line!r}")
        kind = _KIND.get(match["type"])
        if kind is None:
            inner = match["type"].rpartition("/")[2]
            kind = Layout(inner, tuple(_fields(inner, bodies, (*above, name))))
        yield Field(comment["own"] or match["name"], comment["unit"] or "", comment["help"], shape, kind)


def difference(ours: np.dtype, theirs: np.dtype, path: str = "") -> str:
    """The first difference between two dtypes, in words; empty if they describe the same bytes."""
    if ours == theirs:
        return ""
    if ours.names is None or theirs.names is None:
        return f"{path} is {theirs} instead of {ours}"
    for name in (*ours.names, *theirs.names):
        full = f"{path}.{name}" if path else name
        if name not in theirs.names:
            return f"{full} is missing"
        if name not in ours.names:
            return f"{full} is unknown here"
        if why := difference(ours[name], theirs[name], full):
            return why
    return f"the fields of {path or 'the record'} are in a different order"
