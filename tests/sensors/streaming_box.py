"""A box that streams force readings over UDP on this computer, as the tests want it."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from typing import Any

from pliant.sensors.sources.net_ft import RECORD, REQUEST


def record(sequence: int, counts: Any = (0, 0, 0, 0, 0, 0), *, status: int = 0, ft_sequence: int = 0) -> bytes:
    """A record of the protocol."""
    return RECORD.pack(sequence, ft_sequence, status, *counts)


class Box:
    """A server on a port of 127.0.0.1. It sends what it is asked to, to the client that sent the last request."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(60.0)
        self.port = int(self.socket.getsockname()[1])
        self.client: Any = None

    def request(self) -> tuple[int, int, int]:
        """Wait for a request; returns header, command and number of records."""
        data, self.client = self.socket.recvfrom(64)
        return struct.unpack(REQUEST.format, data)

    def send(self, *packets: bytes) -> None:
        for packet in packets:
            self.socket.sendto(packet, self.client)

    def close(self) -> None:
        self.socket.close()


class StreamingBox(Box):
    """A box that streams by itself, every millisecond, what `counts` says, as long as `is_on`."""

    def __init__(self) -> None:
        super().__init__()
        self.counts, self.is_on, self._ended, self._noise = [0] * 6, True, threading.Event(), 0
        self.socket.settimeout(0.001)
        self._thread = threading.Thread(target=self._stream, daemon=True)
        self._thread.start()

    def _stream(self) -> None:
        sequence = 0
        while not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                self.request()
            if self.client and self.is_on:
                sequence, self._noise = sequence + 1, (self._noise + 7919) % 1000  # a real sensor has noise
                self.send(record(sequence, [count + self._noise for count in self.counts], ft_sequence=sequence))

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        super().close()
