"""Read a recording back bit for bit, or report in one sentence why a file is not a recording."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mcap import records as mcap
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.stream_reader import CRCValidationError
from zstandard import ZstdError

from pliant.control.laws.registry import PLIANTS
from pliant.control.published import Published
from pliant.control.telemetry import telemetry_with
from pliant.errors import InputError, RecordingError
from pliant.record import record_messages
from pliant.record.container import MAGIC, MESSAGE_HEAD, chunk_body, decode, walk
from pliant.record.tick_block import LAW_TOPIC, SEQUENCE, TELEMETRY_TOPIC
from pliant.record.writer import META_RECORD, PARAMETERS_TOPIC
from pliant.records import MAX_JOINTS, Layout

Array = np.ndarray[Any, Any]

# What the libraries raise for damaged bytes.
_DAMAGE = (McapError, CRCValidationError, ZstdError, struct.error, ValueError, OverflowError, MemoryError)

_MAKE_ONE = "To make a recording: pliant run push --record push.mcap"

_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError)  # raised for a damaged definition


class ParameterSet(NamedTuple):
    """The parameters that are active from `time_s` on, as a record with one entry per parameter."""

    revision: int
    time_s: float
    values: Any


@dataclass(frozen=True)
class Recording:
    """A run: one telemetry record per tick, the parameter sets, and their description."""

    path: Path
    """The file."""
    records: Array
    """One telemetry record per tick; the fields are listed in the record reference."""
    parameters: list[ParameterSet]
    """Every parameter set that was active, with the time from which on."""
    parameter_layout: Layout | None
    """Names, units and help of the parameters; None if the file has none."""
    meta: dict[str, Any]
    """The task, the robot, versions and whatever else describes the run."""
    attachments: dict[str, bytes]
    """Attached files by name."""
    joint_names: list[str]
    """Names of the joints."""
    complete: bool
    """False if the file was cut off or damaged and this is what could be read."""
    written_by: str
    """Program and version that wrote the file."""

    @property
    def n(self) -> int:
        """Number of joints: the first `n` entries of each joint array count."""
        return len(self.joint_names)

    @property
    def duration_s(self) -> float:
        """Time from the first record to the last."""
        return float(self.records["time_s"][-1] - self.records["time_s"][0]) if len(self.records) else 0.0

    @property
    def lost(self) -> int:
        """Ticks between the first and the last record that are not in the file."""
        gaps = np.diff(self.records["tick"]) - 1
        return int(gaps[gaps > 0].sum())

    @classmethod
    def load(
        cls, path: Path | str, partial: bool = False, progress: Callable[[float], None] | None = None
    ) -> Recording:
        """Read the recording at `path`; with `partial`, also the readable part of a truncated or damaged one.

        `progress` is called with the share of the file that has been read.
        """
        if not isinstance(path, str | Path) or not str(path):
            raise InputError("path", path, "the path of a recording (.mcap)")
        if not isinstance(partial, bool):
            raise InputError("partial", partial, "True or False")
        path = Path(path)
        contents = _scan(_read(path), progress)
        telemetry = contents.channel(TELEMETRY_TOPIC)
        if not contents.complete and not (contents.messages[telemetry.id] if telemetry else contents.channels):
            damaged = contents.damaged or contents.ended
            what = "is damaged" if damaged else "ends before its first chunk is complete"
            raise RecordingError(path, f"{what}, so no record can be recovered. Record the run again.")
        if telemetry is None:
            topics = ", ".join(sorted(c.topic for c in contents.channels.values())) or "none"
            raise RecordingError(path, f"was not recorded by Pliant: it has no {TELEMETRY_TOPIC} (topics: {topics}).")
        records = _records(path, contents, telemetry)
        meta = {key: _value(text) for key, text in contents.meta.items()}
        layout, sets = _parameters(path, contents)
        made = cls(
            path=path,
            records=records,
            parameters=sets,
            parameter_layout=layout,
            joint_names=meta.pop("joint_names", []),
            meta=meta,
            attachments=contents.attachments,
            complete=contents.complete,
            written_by=contents.library,
        )
        if not (made.complete or partial):
            raise RecordingError(path, _why_incomplete(made, contents))
        return made


@dataclass
class _Contents:
    """The content of a file, before it is decoded."""

    library: str = ""
    schemas: dict[int, Any] = field(default_factory=dict)
    channels: dict[int, Any] = field(default_factory=dict)
    messages: dict[int, list[bytes]] = field(default_factory=dict)  # CDR bodies of Pliant's own channels
    sequences: dict[int, list[int]] = field(default_factory=dict)  # their sequence numbers: those of the ticks
    meta: dict[str, str] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    damaged: int = 0  # chunks and attachments whose bytes are wrong
    ended: bool = False  # the file has a complete end: nothing is cut off
    complete: bool = False

    def channel(self, topic: str) -> Any:
        return next((c for c in self.channels.values() if c.topic == topic), None)


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise RecordingError(path, f"does not exist. Check the path. {_MAKE_ONE}") from None
        if isinstance(error, IsADirectoryError):
            raise RecordingError(path.resolve(), "is a folder, not a recording. Give a .mcap file.") from None
        raise RecordingError(path, f"cannot be read: {error.strerror or error}.") from None
    if not data:
        raise RecordingError(path, f"is empty. {_MAKE_ONE}")
    if not data.startswith(MAGIC[: len(data)]):
        raise RecordingError(path, "is not an MCAP file. Give a recording (.mcap).")
    return data


def _scan(data: bytes, progress: Callable[[float], None] | None = None) -> _Contents:
    found = _Contents()
    end = len(MAGIC)
    opcode = 0
    for opcode, begin, end in walk(data, len(MAGIC)):
        if opcode == Opcode.FOOTER:
            break
        try:
            _take(found, opcode, data, begin, end)
        except _DAMAGE:
            found.damaged += 1
        if progress and opcode == Opcode.CHUNK:
            progress(end / len(data))
    found.ended = data.endswith(MAGIC) and len(data) > len(MAGIC)
    ended = opcode == Opcode.FOOTER and data[end : end + len(MAGIC)] == MAGIC
    found.complete = ended and not found.damaged
    return found


def _take(found: _Contents, opcode: int, data: bytes, begin: int, end: int) -> None:
    if opcode == Opcode.MESSAGE:
        channel = int.from_bytes(data[begin : begin + 2], "little")
        body = begin - 9 + MESSAGE_HEAD + len(record_messages.CDR_HEADER)
        if channel in found.messages:
            found.messages[channel].append(data[body:end])
            at = begin - 9 + SEQUENCE
            found.sequences[channel].append(int.from_bytes(data[at : at + 4], "little"))
    elif opcode == Opcode.CHUNK:
        inside = chunk_body(data[begin:end])
        for inner, inner_begin, inner_end in walk(inside):
            _take(found, inner, inside, inner_begin, inner_end)
    elif opcode == Opcode.HEADER:
        found.library = decode(mcap.Header, data[begin:end]).library
    elif opcode == Opcode.SCHEMA:
        schema = decode(mcap.Schema, data[begin:end])
        found.schemas[schema.id] = schema
    elif opcode == Opcode.CHANNEL:
        channel = decode(mcap.Channel, data[begin:end])
        found.channels[channel.id] = channel
        if channel.topic in (TELEMETRY_TOPIC, PARAMETERS_TOPIC) or channel.topic.startswith(LAW_TOPIC):
            found.messages.setdefault(channel.id, [])
            found.sequences.setdefault(channel.id, [])
    elif opcode == Opcode.METADATA:
        record = decode(mcap.Metadata, data[begin:end])
        if record.name == META_RECORD:
            found.meta |= record.metadata
    elif opcode == Opcode.ATTACHMENT:
        if zlib.crc32(data[begin : end - 4]) != int.from_bytes(data[end - 4 : end], "little"):
            raise ValueError("attachment")
        attachment = decode(mcap.Attachment, data[begin:end])
        found.attachments[attachment.name] = attachment.data


def _layout(contents: _Contents, channel: Any) -> Layout:
    schema = contents.schemas[channel.schema_id]
    return record_messages.parse(schema.name.rpartition("/")[2], schema.data.decode())


def _records(path: Path, contents: _Contents, telemetry: Any) -> Array:
    """The telemetry, with the records of the laws; raises if the file does not hold it as this version writes it."""
    laws = {
        channel.topic.removeprefix(LAW_TOPIC): channel
        for channel in contents.channels.values()
        if channel.topic.startswith(LAW_TOPIC)
    }
    why = "its definition cannot be read"
    try:
        states = {name: _layout(contents, channel) for name, channel in laws.items()}
        found = _layout(contents, telemetry)
        published = _published(found)
        known = {name: state for _, (name, state) in published.laws.items()}
        pairs = [(published.layout, found, telemetry)]
        pairs += [(known.get(name, state), state, laws[name]) for name, state in states.items()]
        why = next(filter(None, (_misfit(contents, *pair) for pair in pairs)), "")
    except _UNREADABLE:
        pass
    else:
        if not why:
            own = telemetry_with({name: state for name, state in states.items() if name not in known})
            return _filled(contents, telemetry, published, laws, own)
    writer = contents.library or "another program"
    raise RecordingError(path, f"was written by {writer}, whose record format differs from this version's: {why}.")


def _published(found: Layout) -> Published:
    """What was published of the run, as its definition shows."""
    names = found.dtype.names or ()
    within = {name: found.dtype[name].names or () for name in ("goal", "command", "reading") if name in names}
    signs = {
        "torque": "accel" in within.get("goal", ()),
        "velocity": "q" in within.get("command", ()),
        "base": "base" in names,
    }
    on = [name for name, shown in signs.items() if shown] or ["position"]
    joints = found.dtype["reading"]["q"].shape if "q" in within.get("reading", ()) else (MAX_JOINTS,)
    return Published(joints[0], on)


def _misfit(contents: _Contents, ours: Layout, theirs: Layout, channel: Any) -> str:
    """How the content of a channel differs from what this version writes, in words."""
    why = record_messages.difference(ours.dtype, theirs.dtype)
    sizes = {len(body) for body in contents.messages[channel.id]}
    return why or ("its size differs" if sizes - {ours.dtype.itemsize} else "")


def _filled(contents: _Contents, telemetry: Any, published: Published, laws: dict[str, Any], layout: Layout) -> Array:
    """The records in memory, from the messages of the telemetry and of the laws."""
    bodies = contents.messages[telemetry.id]
    size, ticks = published.layout.dtype.itemsize, np.array(contents.sequences[telemetry.id], np.int64)
    packed = np.zeros((len(bodies), published.step), np.uint8)
    packed[:, :size] = np.frombuffer(b"".join(bodies), np.uint8).reshape(-1, size)
    own: list[tuple[str, Array, Array]] = []
    for name, channel in laws.items():
        if not contents.messages[channel.id]:
            continue
        ran = np.array(contents.sequences[channel.id], np.int64)
        rows, at = np.flatnonzero(np.isin(ticks, ran)), np.isin(ran, ticks)
        values = np.frombuffer(b"".join(contents.messages[channel.id]), np.uint8).reshape(len(ran), -1)[at]
        if name in PLIANTS:
            packed[rows, size : size + values.shape[1]] = values
        else:
            own.append((name, rows, values))
    records = published.unpack(packed, layout)
    for name, rows, values in own:
        records[name][rows] = np.ascontiguousarray(values).view(records.dtype[name]).ravel()
    return records


def _parameters(path: Path, contents: _Contents) -> tuple[Layout | None, list[ParameterSet]]:
    channel = contents.channel(PARAMETERS_TOPIC)
    if channel is None:
        return None, []
    try:
        layout = _layout(contents, channel)
        rows = np.frombuffer(b"".join(contents.messages[channel.id]), layout.dtype)
        return layout.fields[-1].kind, [ParameterSet(int(r["revision"]), float(r["time_s"]), r["values"]) for r in rows]
    except _UNREADABLE:
        raise RecordingError(path, f"was written by {contents.library}: its parameters cannot be read.") from None


def _why_incomplete(made: Recording, contents: _Contents) -> str:
    places = f"{contents.damaged} place{'s' if contents.damaged != 1 else ''}"
    what = f"is damaged in {places}" if contents.damaged else "is damaged" if contents.ended else "is truncated"
    kept = f"{made.duration_s:.1f} s ({len(made.records)} records) can be recovered"
    return f"{what}: {kept}. To load them, use --partial (in Python: partial=True)."


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
