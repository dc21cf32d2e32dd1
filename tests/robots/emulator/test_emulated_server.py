"""The ports of the emulated controller, by their bytes and period by period: no clock is involved."""

from __future__ import annotations

import itertools
import os
import select
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pliant.errors import RejectedError
from pliant.model.tool import Tool
from pliant.robots.emulator.emulated_arm import EmulatedArm
from pliant.robots.emulator.emulated_controller import Controller
from pliant.robots.emulator.emulated_faults import Fault
from pliant.robots.emulator.ports import DASHBOARD, REALTIME, Server
from pliant.robots.ur import rtde
from pliant.world.world_config import SimConfig
from support.waiting import until

HOST = f"127.50.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 255}"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(Controller(EmulatedArm("ur5e", Tool(), SimConfig()), "ur5e", (5, 12, 0, 0)), HOST)
    made.open()
    yield made
    made.close()


class Peer:
    """A client at one port; `say` waits for its answer by letting the server run."""

    def __init__(self, server: Server, port: int) -> None:
        self.server, self.line, self.buffer = server, socket.create_connection((HOST, port)), bytearray()
        self.line.setblocking(False)

    def hear(self, periods: int = 1) -> bytearray:
        for _ in range(periods):
            self.server.period()
            try:
                self.buffer += self.line.recv(1 << 16)
            except BlockingIOError:
                continue
        return self.buffer

    def until(self, holds: Callable[[], Any]) -> Any:
        """Let the server run until this holds: what was sent takes a moment to arrive."""
        return until(lambda: (self.hear(), holds())[1], 20.0)

    def say(self, kind: int, body: bytes = b"") -> bytes:
        """Send an RTDE packet; the body of the next packet of the same kind."""
        self.line.sendall(rtde.packet(kind, body))
        return self.until(lambda: self._answer(kind))[0]

    def _answer(self, kind: int) -> list[bytes]:
        while (found := rtde.take(self.buffer)) is not None:
            if found[0] == kind:
                return [found[1]]
        return []

    def packets(self, periods: int) -> list[bytes]:
        """The data packets that come in so many periods."""
        self.hear(periods)
        while select.select([self.line], [], [], 0.1)[0]:  # the last ones may be under way
            self.buffer += self.line.recv(1 << 16)
        found = []
        while (one := rtde.take(self.buffer)) is not None:
            found.append(one[1])
        return found

    def line_of(self, words: str) -> str:
        self.line.sendall(f"{words}\n".encode())
        while b"\n" not in self.hear():
            pass
        line, _, rest = bytes(self.buffer).partition(b"\n")
        self.buffer = bytearray(rest)
        return line.decode()


def subscribed(server: Server, names: bytes = b"timestamp,runtime_state", hz: float = 500.0) -> Peer:
    peer = Peer(server, rtde.PORT)
    assert peer.say(rtde.OUTPUTS, struct.pack(">d", hz) + names)[0] == 1
    assert peer.say(rtde.START) == b"\x01"
    return peer


def test_protocol_and_version_are_answered(server: Server) -> None:
    peer = Peer(server, rtde.PORT)
    assert peer.say(rtde.ASK_PROTOCOL, b"\x00\x02") == b"\x01"
    assert peer.say(rtde.ASK_PROTOCOL, b"\x00\x09") == b"\x00"
    assert rtde.read_version(peer.say(rtde.ASK_VERSION)) == (5, 12, 0, 0)


def test_what_was_asked_for_comes_once_per_period(server: Server) -> None:
    times = [struct.unpack(">BdI", body)[1] for body in subscribed(server).packets(10)]
    assert [round(b - a, 6) for a, b in itertools.pairwise(times)] == [0.002] * (len(times) - 1)
    assert len(times) >= 9


def test_a_lower_rate_skips_periods(server: Server) -> None:
    times = [struct.unpack(">BdI", body)[1] for body in subscribed(server, hz=125.0).packets(40)]
    assert {round(b - a, 6) for a, b in itertools.pairwise(times)} == {0.008}


def test_a_name_that_does_not_exist_is_said_and_nothing_is_sent(server: Server) -> None:
    peer = Peer(server, rtde.PORT)
    assert peer.say(rtde.OUTPUTS, struct.pack(">d", 500.0) + b"timestamp,nonsense") == b"\x00DOUBLE,NOT_FOUND"
    peer.say(rtde.START)
    assert peer.packets(5) == []


def test_an_input_that_another_client_writes_is_in_use_until_it_hangs_up(server: Server) -> None:
    first, second = Peer(server, rtde.PORT), Peer(server, rtde.PORT)
    assert first.say(rtde.INPUTS, b"input_int_register_0,") == b"\x01INT32"
    assert second.say(rtde.INPUTS, b"input_int_register_0,") == b"\x00IN_USE"
    first.line.close()
    second.until(lambda: len(server.clients) == 1)
    assert second.say(rtde.INPUTS, b"input_int_register_0,") == b"\x01INT32"


def test_an_uploaded_script_starts_the_program_without_an_answer(server: Server) -> None:
    peer = Peer(server, REALTIME)
    peer.line.sendall(b"def rtde_control():\n  x = 1\n")
    peer.until(lambda: server.clients and server.clients[0].buffer)
    assert peer.hear(3) == b""
    assert not server.controller.program.plays
    peer.line.sendall(b"end\n")
    peer.until(lambda: server.controller.program.plays)
    assert peer.buffer == b""


def test_a_script_does_not_start_in_a_protective_stop_or_under_local_control(server: Server) -> None:
    for fault in ("protective stop", "local control", "mode idle"):
        server.controller.inject(Fault(fault))
        peer = Peer(server, REALTIME)
        peer.line.sendall(b"def rtde_control():\n")
        client = peer.until(lambda: [client for client in server.clients if client.buffer])[0]
        peer.line.sendall(b"end\n")
        peer.until(lambda client=client: not client.buffer)  # a whole one was taken
        assert not server.controller.program.plays
        server.controller.clear()


def test_silence_holds_packets_back_for_so_long(server: Server) -> None:
    peer = subscribed(server)
    before = peer.packets(3)
    server.controller.inject(Fault("silence", (0.02,)))
    times = [struct.unpack(">BdI", body)[1] for body in before + peer.packets(30)]
    assert max(b - a for a, b in itertools.pairwise(times)) == pytest.approx(0.02, abs=0.0021)


def test_late_packets_come_later_and_none_is_lost(server: Server) -> None:
    peer = subscribed(server)
    server.controller.inject(Fault("late", (0.01,)))
    times = [struct.unpack(">BdI", body)[1] for body in peer.packets(30)]
    assert server.controller.now - times[-1] == pytest.approx(0.012, abs=0.0021)
    assert {round(b - a, 6) for a, b in itertools.pairwise(times)} == {0.002}


def test_hanging_up_ends_every_data_connection(server: Server) -> None:
    peer = subscribed(server)
    server.controller.inject(Fault("hang up"))
    server.period()
    peer.line.setblocking(True)
    while peer.line.recv(1 << 16):
        pass
    assert not server.clients


def test_a_packet_that_makes_no_sense_ends_that_client_alone(server: Server) -> None:
    good, bad = subscribed(server), Peer(server, rtde.PORT)
    bad.line.sendall(b"\x00\x01X")
    good.until(lambda: len(server.clients) == 2)
    good.until(lambda: len(server.clients) == 1)
    assert good.packets(5)


def test_the_dashboard_greets_and_answers(server: Server) -> None:
    peer = Peer(server, DASHBOARD)
    assert peer.line_of("robotmode") == "Connected: Universal Robots Dashboard Server"
    assert peer.line_of("safetystatus") == "Robotmode: RUNNING"
    assert peer.line_of("emulator protective stop") == "Safetystatus: NORMAL"
    assert peer.line_of("safetystatus") == "Done: protective stop"
    assert peer.line_of("unlock protective stop") == "Safetystatus: PROTECTIVE_STOP"
    assert peer.line_of("safetystatus") == "Protective stop releasing"
    assert peer.line_of("get robot model") == "Safetystatus: NORMAL"
    assert peer.line_of("dance") == "UR5"
    assert peer.line_of("emulator dance") == "could not understand: 'dance'"
    assert "Unknown fault 'dance'" in peer.line_of("quit")


def test_a_port_that_is_taken_is_refused_with_what_to_do(server: Server) -> None:
    other = Server(server.controller, HOST)
    with pytest.raises(RejectedError, match="another emulator"):
        other.open()
