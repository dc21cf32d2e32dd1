"""The dashboard hangs up when it is told to, as the maker's does; no clock is involved."""

from __future__ import annotations

import os
import socket

from pliant.model.tool import Tool
from pliant.robots.emulator.emulated_arm import EmulatedArm
from pliant.robots.emulator.emulated_controller import Controller
from pliant.robots.emulator.ports import DASHBOARD, Server
from pliant.world.world_config import SimConfig
from support.waiting import until

HOST = f"127.52.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 255}"


def test_quit_is_answered_and_then_the_dashboard_hangs_up_that_client_alone() -> None:
    server = Server(Controller(EmulatedArm("ur5e", Tool(), SimConfig()), "ur5e", (5, 12, 0, 0)), HOST)
    server.open()
    try:
        with socket.create_connection((HOST, DASHBOARD)) as line, socket.create_connection((HOST, DASHBOARD)) as other:
            until(lambda: server.period() or len(server.clients) == 2)
            line.sendall(b"robotmode\nquit\nsafetystatus\n")
            until(lambda: server.period() or len(server.clients) == 1)  # however many periods the words take to arrive
            line.settimeout(120.0)
            said = bytearray()
            while data := line.recv(1 << 16):  # until it has hung up
                said += data
            assert said.decode().splitlines()[1:] == ["Robotmode: RUNNING", "Disconnected"]
            assert [client.line.getpeername() for client in server.clients] == [other.getsockname()]
    finally:
        server.close()
