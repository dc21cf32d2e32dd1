"""ATI Net F/T and boxes that speak the same protocol (Ethernet Axia, OnRobot HEX): RDT records over UDP.

request   u16 0x1234, u16 command (2: stream, 0: stop), u32 number of records (0: endless)        big-endian
record    u32 rdt_sequence, u32 ft_sequence, u32 status, i32 Fx Fy Fz Tx Ty Tz [counts]           36 bytes
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time

from pliant.errors import RejectedError
from pliant.params.declare import Section, param
from pliant.sensors.force_sensor import ForceSensor, WrenchSample, own_sensor

RECORD = struct.Struct(">III6i")
REQUEST = struct.Struct(">HHI")
HEADER, STOP, STREAM = 0x1234, 0, 2
# The bit of the status that summarises all errors of the box.
ERROR_BIT = 0x8000_0000
_WRAP = 1 << 32
# So many records in a row that seem to be old mean that the box has restarted its count.
_RESTARTED = 5


class NetFt(Section):
    """ATI Net F/T, Ethernet Axia, OnRobot HEX: a box that streams records over UDP (RDT protocol) to one client."""

    host: str = param(..., min_length=1, help="Address of the box, such as 192.168.1.1.")
    port: int = param(49152, ge=1, le=65535, help="UDP port of the box.")
    counts_per_force: float = param(
        1e6, unit="1/N", gt=0, help="Counts per newton (cfgcpf on the box's page netftapi2.xml; OnRobot HEX: 10000)."
    )
    counts_per_torque: float = param(
        1e6, unit="1/(N m)", gt=0, help="Counts per newton metre (cfgcpt; OnRobot HEX: 100000)."
    )
    sample_hz: float = param(
        0.0,
        unit="Hz",
        ge=0,
        le=100000,
        help="Rate at which the box counts samples (ft_sequence), for its time stamps; 0: the time of arrival.",
    )
    silence_s: float = param(
        0.1, unit="s", ge=0.01, le=0.5, help="Silence after which the box is asked again to stream."
    )


class NetFtSensor(ForceSensor):
    """Asks a box to stream and decodes its records. Lost, repeated and malformed packets are counted in `note`."""

    def __init__(self, params: NetFt) -> None:
        super().__init__(params)
        self._socket: socket.socket | None = None
        self._last, self._old, self._restarted = -1, 0, True
        self._ft_last, self._ft_count = 0, 0
        self.lost, self.dropped, self.malformed = 0, 0, 0
        self._heard_s = time.monotonic()

    @property
    def name(self) -> str:
        """Kind and address."""
        return f"net_ft {self.params.host}:{self.params.port}"

    def open(self) -> None:
        """Open a socket that takes packets of the box only, and ask for the stream."""
        try:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._socket.connect((self.params.host, self.params.port))
        except OSError as error:
            self.close()
            why = error.strerror or str(error)
            sentence = f"The force sensor {self.name} cannot be reached: {why}. Check sensor.host and the network."
            raise RejectedError(sentence, field="sensor.host", value=self.params.host) from None
        self._socket.settimeout(self.params.silence_s)
        self._heard_s = time.monotonic()
        self._ask(STREAM)

    def read(self) -> WrenchSample | None:
        """The next record; None after a silence, or for a packet that cannot be used."""
        assert self._socket is not None
        try:
            data = self._socket.recv(2 * RECORD.size)
        except TimeoutError:
            self._silent("sends nothing; check its power, its cable and that no other client uses it")
            return None
        except ConnectionRefusedError:
            self._silent("refuses the connection; check sensor.host and sensor.port")
            time.sleep(self.params.silence_s)
            return None
        except OSError as error:
            self._silent(f"cannot be reached: {error.strerror or error}")
            time.sleep(self.params.silence_s)
            return None
        self._heard_s = time.monotonic()
        return self._decode(data)

    def close(self) -> None:
        """Ask the box to stop, and close the socket."""
        if self._socket is not None:
            self._ask(STOP)
            self._socket.close()
            self._socket = None

    def _ask(self, command: int) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # the next read reports it
                self._socket.send(REQUEST.pack(HEADER, command, 0))

    def _silent(self, why: str) -> None:
        self.note = f"it {why} (silent for {time.monotonic() - self._heard_s:.2g} s)"
        self._restarted = True  # a box that was switched off counts from the start again
        self._ask(STREAM)

    def _decode(self, data: bytes) -> WrenchSample | None:
        if len(data) != RECORD.size:
            self.malformed += 1
            self.note = f"{self.malformed} packets had a wrong length (the last one {len(data)} bytes, not 36)"
            return None
        sequence, ft_sequence, status, *counts = RECORD.unpack(data)
        if not self._is_new(sequence):
            return None
        p = self.params
        wrench = [count / (p.counts_per_force if i < 3 else p.counts_per_torque) for i, count in enumerate(counts)]
        self.note = f"the box reports an error, status 0x{status:08x}" if status & ERROR_BIT else ""
        return WrenchSample(wrench, self._stamp(ft_sequence), "missing" if status & ERROR_BIT else "good")

    def _is_new(self, sequence: int) -> bool:
        """Whether a record is newer than the last one; a packet that was overtaken or sent twice is dropped."""
        step = (sequence - self._last) % _WRAP
        is_old = not self._restarted and not 0 < step < _WRAP // 2
        self._old = self._old + 1 if is_old else 0
        if is_old and self._old < _RESTARTED:
            self.dropped += 1
            return False
        if not is_old and not self._restarted:
            self.lost += step - 1
        self._last, self._old, self._restarted = sequence, 0, False
        return True

    def _stamp(self, ft_sequence: int) -> float | None:
        """The time of a sample on the clock of the box: its number, counted on beyond 32 bits, over its rate."""
        self._ft_count += (ft_sequence - self._ft_last) % _WRAP
        self._ft_last = ft_sequence
        return self._ft_count / self.params.sample_hz if self.params.sample_hz > 0.0 else None


SENSOR = own_sensor("net_ft", NetFt, NetFtSensor)
