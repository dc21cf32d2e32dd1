"""Write a recording: every tick of a run, its parameter sets and its description, in one MCAP file.

Never call it from the control loop: a flush can stall for milliseconds. The file on disk is always readable: a run that
ends without `close` loses about the last second.
"""

from __future__ import annotations

import json
import struct
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from pliant.control.published import Published
from pliant.errors import InputError, UnwritableError
from pliant.record import record_messages
from pliant.record.container import ContainerWriter, message_head
from pliant.record.tick_block import BlockEncoder
from pliant.records import MAX_JOINTS, MODES, Field, Layout

Array = np.ndarray[Any, Any]

PARAMETERS_TOPIC = "/pliant/parameters"
PARAMETERS_PACKAGE = "pliant_parameters"  # apart from the telemetry, whose messages may have the same names
META_RECORD = "pliant"
CHUNK_S = 1.0  # how much a crash can lose
CHUNK_RECORDS = 2048  # about 6 MB before compression, whatever the rate


class RecordingWriter:
    """Writes one recording to `path`, replacing an existing file; use it as a context manager or call `close`.

    `meta` describes the run: any JSON values; `robot`, `law`, `rate_hz`, `seed` and `versions` appear in reports.
    `start_wall_ns` in it is the wall clock [ns] at `time_s` = 0, the origin of all message times; without it the origin
    is taken from the first record, and is 0 in a --fast run. `param_dtype` is the record of the parameters: a
    Layout, whose units and help are stored too, or a dtype of 8-byte numbers. Sets may also arrive as records of
    `sets_as`, which has the same bytes under other names. `published` says which part of the records is stored: by
    default that of an arm without a base on any interface.
    """

    def __init__(
        self,
        path: Path | str,
        meta: dict[str, Any],
        joint_names: list[str],
        param_dtype: Layout | np.dtype[np.void] | None = None,
        *,
        sets_as: np.dtype[np.void] | None = None,
        published: Published | None = None,
    ) -> None:
        if not 1 <= len(joint_names) <= MAX_JOINTS or not all(isinstance(name, str) for name in joint_names):
            raise InputError("joint_names", joint_names, f"a list of 1 to {MAX_JOINTS} names")
        self.path, self._sets_as = Path(path), sets_as
        self._layout = None if param_dtype is None else parameter_set_layout(param_dtype)
        definition = "" if self._layout is None else record_messages.definition(self._layout, PARAMETERS_PACKAGE)
        texts = {key: _text(value) for key, value in {**meta, "joint_names": list(joint_names)}.items()}
        self._origin_ns = int(meta["start_wall_ns"]) if "start_wall_ns" in meta else None
        self._last_set: tuple[int, bytes] | None = None
        self._last_s = 0.0
        self._sets: list[tuple[int, float, bytes]] = []  # revision, time and message of each set of the coming chunk
        self._published = published or Published(len(joint_names), MODES)
        self._dtype = self._published.record.dtype
        self._buffer = np.empty(CHUNK_RECORDS, self._dtype)  # the records of the coming chunk
        self._count = 0
        self._guard(self._open, texts, joint_names, definition)

    def _open(self, texts: dict[str, str], joint_names: list[str], definition: str) -> None:
        self._stream = self.path.open("wb")
        self._container = ContainerWriter(self._stream, f"pliant {_version()}")
        self._container.add_metadata(META_RECORD, texts)
        self._encoder = BlockEncoder(self._container, joint_names, self._published)
        if self._layout is not None:
            kind = record_messages.message_type(self._layout, PARAMETERS_PACKAGE)
            self._parameters_channel = self._container.add_channel(PARAMETERS_TOPIC, kind, definition)
        self._stream.flush()

    def parameters(self, revision: int, record: Any, time_s: float) -> None:
        """Store the parameter set that is in force from `time_s` on; an unchanged set is not stored again."""
        if self._layout is None:
            raise InputError("param_dtype", None, "set when the recording is created, to store parameters")
        expected = self._layout.fields[-1].kind.dtype
        values = np.asarray(record)
        if values.dtype == self._sets_as:
            values = values.reshape(1).view(expected)
        if values.dtype != expected or values.size != 1:
            why = record_messages.difference(expected, values.dtype) or f"{values.size} records"
            raise InputError("parameters", why, "one record of the dtype with which the recording was created")
        if self._last_set == (revision, values.tobytes()):
            return
        self._last_set = (revision, values.tobytes())
        head = struct.pack("<qd", revision, time_s)
        self._sets.append((revision, time_s, record_messages.CDR_HEADER + head + values.tobytes()))

    def append(self, records: Array) -> None:
        """Write an array of telemetry records; the array may be reused afterwards."""
        records = np.atleast_1d(records)
        if records.dtype != self._dtype:
            why = record_messages.difference(self._dtype, records.dtype)
            raise InputError("records", why, "an array of telemetry records")
        if len(records) and self._origin_ns is None:
            wall_ns = int(records["timing"]["wall_ns"][0])
            self._origin_ns = wall_ns - round(float(records["time_s"][0]) * 1e9) if wall_ns else 0
        self._guard(self._append, records)

    def _append(self, records: Array) -> None:
        while len(records):
            start_s = (self._buffer if self._count else records)["time_s"][0]
            late = np.flatnonzero(records["time_s"] >= start_s + CHUNK_S)
            taken = min(CHUNK_RECORDS - self._count, int(late[0]) if len(late) else len(records))
            if taken:
                self._buffer[self._count : self._count + taken] = records[:taken]
                self._count += taken
                self._last_s = float(records["time_s"][taken - 1])
            if taken < len(records):
                self._flush_chunk()
            records = records[taken:]

    def add(self, **meta: Any) -> None:
        """Add metadata that is known only at the end of the run; it replaces earlier values."""
        self._guard(self._container.add_metadata, META_RECORD, {key: _text(value) for key, value in meta.items()})

    def attach(self, name: str, data: bytes, media_type: str) -> None:
        """Store a file with the recording, for instance the task or the robot model."""
        self._guard(self._container.add_attachment, name, data, media_type, int(self._log_ns(self._last_s)))

    def close(self) -> None:
        """Write the remaining records and the index; nothing can be added afterwards. Closing twice is harmless."""
        if not self._stream.closed:
            self._guard(self._finish)

    def _finish(self) -> None:
        try:
            self._flush_chunk()
            self._container.finish()
        finally:
            self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _flush_chunk(self) -> None:
        """Write the waiting parameter sets, then the waiting records, as one chunk."""
        body = b""
        index: dict[int, tuple[Array, Array]] = {}
        if self._sets:
            times, places = [], []
            for revision, time_s, data in self._sets:
                times.append(int(self._log_ns(time_s)))
                places.append(len(body))
                body += message_head(self._parameters_channel, len(data), revision & 0xFFFFFFFF, times[-1]) + data
            index[self._parameters_channel] = (np.array(times), np.array(places))
        if self._count:
            records = self._buffer[: self._count]
            # a paced loop that missed periods is behind its tick count: the wall clock gives the true time
            wall = records["timing"]["wall_ns"]
            log_ns = np.where(wall > 0, wall, self._log_ns(records["time_s"]))
            parts, places = self._encoder.encode(records, log_ns)
            index |= {channel: (times, len(body) + offsets) for channel, (times, offsets) in places.items()}
            body = b"".join([body, *parts])
        if index:
            self._container.add_chunk(body, index)
        self._sets.clear()
        self._count = 0

    def _log_ns(self, time_s: Any) -> Any:
        return np.maximum((self._origin_ns or 0) + np.rint(np.multiply(time_s, 1e9)).astype(np.int64), 0)

    def _guard(self, action: Any, *arguments: Any) -> None:
        try:
            action(*arguments)
        except OSError as error:
            raise UnwritableError(self.path, error) from None


def parameter_set_layout(values: Layout | np.dtype[np.void]) -> Layout:
    """The message that carries a parameter set: number, time from which it is in force, and the values."""
    inner = values if isinstance(values, Layout) else record_messages.layout_of("Parameters", values)
    return Layout(
        "ParameterSet",
        (
            Field("revision", "", "number of the parameter set", kind="i8"),
            Field("time_s", "s", "time from which it is active, since the start of the loop"),
            Field("values", "", "the parameters", kind=inner),
        ),
    )


def _text(value: Any) -> str:
    """A metadata value: text as it is, anything else (and text that looks like JSON) as JSON."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def _version() -> str:
    try:
        return metadata.version("pliant")
    except metadata.PackageNotFoundError:
        return "of unknown version"
