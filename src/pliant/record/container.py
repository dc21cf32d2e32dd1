"""The MCAP file: write whole chunks of ready-made messages, and walk over a file that may be truncated.

The `mcap` library takes messages one by one: 46 µs at best for the eight of a tick, against 8 µs here, where a chunk
comes as one block of bytes with its index as arrays (compression included, records handed over in blocks of 50). Every
record that is not a message is still written and read by the library's own classes.
Schemas, channels and metadata come before the first chunk and every chunk is flushed, so that a file that ends early
can be read up to its last complete chunk.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import zstandard
from mcap import records as mcap
from mcap.data_stream import ReadDataStream, RecordBuilder
from mcap.opcode import Opcode
from mcap.stream_reader import get_chunk_data_stream

Array = np.ndarray[Any, Any]

MAGIC = b"\x89MCAP0\r\n"
MESSAGE_HEAD = 9 + 22  # opcode and length of the record; channel, sequence, log time and publish time of the message
_PREFIX = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<BQHIQQ")


def message_head(channel: int, size: int, sequence: int = 0, time_ns: int = 0) -> bytes:
    """The bytes of a message record before its `size` bytes of data."""
    return _MESSAGE.pack(Opcode.MESSAGE, 22 + size, channel, sequence, time_ns, time_ns)


class ContainerWriter:
    """An MCAP file written front to back: schemas, channels and metadata, then chunks, then the summary."""

    def __init__(self, stream: BinaryIO, library: str) -> None:
        self._stream = stream
        self._compressor = zstandard.ZstdCompressor(level=1)  # never slower than level 3, for 2 % more bytes
        self._position = 0
        self._schemas: list[mcap.Schema] = []
        self._channels: list[mcap.Channel] = []
        self._chunks: list[mcap.ChunkIndex] = []
        self._attachments: list[mcap.AttachmentIndex] = []
        self._metadata: list[mcap.MetadataIndex] = []
        self._counts: Counter[int] = Counter()
        self._write(MAGIC)
        self._write(_packed(mcap.Header(profile="ros2", library=library)))

    def add_channel(self, topic: str, message_type: str, definition: str) -> int:
        """Declare a topic of CDR messages and return its channel number; equal message types share a schema."""
        schema = next((s for s in self._schemas if s.name == message_type), None)
        if schema is None:
            schema = mcap.Schema(
                id=len(self._schemas) + 1, data=definition.encode(), encoding="ros2msg", name=message_type
            )
            self._schemas.append(schema)
            self._write(_packed(schema))
        channel = mcap.Channel(
            id=len(self._channels) + 1, topic=topic, message_encoding="cdr", metadata={}, schema_id=schema.id
        )
        self._channels.append(channel)
        self._write(_packed(channel))
        return channel.id

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        """Add named values."""
        data = _packed(mcap.Metadata(metadata=values, name=name))
        self._metadata.append(mcap.MetadataIndex(length=len(data), name=name, offset=self._position))
        self._write(data)

    def add_attachment(self, name: str, data: bytes, media_type: str, time_ns: int) -> None:
        """Add a file."""
        named = {"name": name, "media_type": media_type, "log_time": time_ns, "create_time": 0}
        packed = _packed(mcap.Attachment(data=data, **named))
        self._attachments.append(
            mcap.AttachmentIndex(offset=self._position, length=len(packed), data_size=len(data), **named)
        )
        self._write(packed)

    def add_chunk(self, body: bytes, index: dict[int, tuple[Array, Array]]) -> None:
        """Write messages as one compressed chunk; `index` gives log times [ns] and byte offsets for each channel."""
        start = min(int(times.min()) for times, _ in index.values())
        end = max(int(times.max()) for times, _ in index.values())
        data = self._compressor.compress(body)
        common = {
            "compression": "zstd",
            "message_start_time": start,
            "message_end_time": end,
            "uncompressed_size": len(body),
        }
        chunk = _packed(mcap.Chunk(data=data, uncompressed_crc=zlib.crc32(body), **common))
        at = self._position
        self._write(chunk)
        offsets: dict[int, int] = {}
        for channel, (times, places) in index.items():
            entries = np.column_stack((times, places)).astype("<u8").tobytes()
            offsets[channel] = self._position
            head = struct.pack("<BQHI", Opcode.MESSAGE_INDEX, 6 + len(entries), channel, len(entries))
            self._write(head + entries)
            self._counts[channel] += len(times)
        self._chunks.append(
            mcap.ChunkIndex(
                chunk_length=len(chunk),
                chunk_start_offset=at,
                compressed_size=len(data),
                message_index_length=self._position - at - len(chunk),
                message_index_offsets=offsets,
                **common,
            )
        )
        self._stream.flush()

    def finish(self) -> None:
        """Write the summary, which lets readers seek, and the end mark."""
        self._write(_packed(mcap.DataEnd(data_section_crc=0)))
        summary_at = self._position
        builder = RecordBuilder()
        offsets = []
        groups = (self._schemas, self._channels, [self._statistics()], self._chunks, self._attachments, self._metadata)
        for group in groups:
            first = builder.count
            for record in group:
                record.write(builder)
            if group:
                opcode, length = _packed(group[0])[0], builder.count - first
                offsets.append(
                    mcap.SummaryOffset(group_opcode=opcode, group_start=summary_at + first, group_length=length)
                )
        offsets_at = summary_at + builder.count
        for offset in offsets:
            offset.write(builder)
        summary = builder.end()
        # The checksum covers the summary and the footer up to the checksum itself.
        crc = zlib.crc32(struct.pack("<BQQQ", Opcode.FOOTER, 20, summary_at, offsets_at), zlib.crc32(summary))
        self._write(summary)
        self._write(_packed(mcap.Footer(summary_start=summary_at, summary_offset_start=offsets_at, summary_crc=crc)))
        self._write(MAGIC)
        self._stream.flush()

    def _statistics(self) -> mcap.Statistics:
        return mcap.Statistics(
            attachment_count=len(self._attachments),
            channel_count=len(self._channels),
            channel_message_counts=dict(sorted(self._counts.items())),
            chunk_count=len(self._chunks),
            message_count=self._counts.total(),
            message_end_time=max((c.message_end_time for c in self._chunks), default=0),
            message_start_time=min((c.message_start_time for c in self._chunks), default=0),
            metadata_count=len(self._metadata),
            schema_count=len(self._schemas),
        )

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._position += len(data)


def _packed(record: Any) -> bytes:
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()


def walk(data: bytes, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Opcode, start and end of the content of every complete record in `data`; stops where the bytes run out."""
    size = len(data)
    while start + _PREFIX.size <= size:
        opcode, length = _PREFIX.unpack_from(data, start)
        begin = start + _PREFIX.size
        if begin + length > size:
            return
        yield opcode, begin, begin + length
        start = begin + length


def decode(kind: Any, content: bytes) -> Any:
    """A record of the class `kind` from its content."""
    return kind.read(ReadDataStream(io.BytesIO(content)))


def chunk_body(content: bytes) -> bytes:
    """The records inside a chunk; raises an exception of the libraries if it is damaged."""
    stream, length = get_chunk_data_stream(decode(mcap.Chunk, content), validate_crc=True)
    return stream.read(length)
