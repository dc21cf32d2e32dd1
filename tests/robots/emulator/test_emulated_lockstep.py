"""The emulated controller in lockstep: its time waits for the command that answers its last packet."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from pliant.model.tool import Tool
from pliant.robots.emulator.emulated_arm import DT, EmulatedArm
from pliant.robots.emulator.emulated_controller import Controller
from pliant.robots.emulator.emulated_faults import Fault
from pliant.robots.emulator.ports import Server
from pliant.robots.emulator.urscript_program import SPEED_J
from pliant.robots.ur import rtde
from pliant.world.world_config import SimConfig
from support.waiting import until

HOST = f"127.53.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 255}"
NAMES = ",".join(["input_int_register_0", *(f"input_double_register_{i}" for i in range(7))]).encode()


class Client:
    """Who commands the arm: at rest, which is a command all the same."""

    def __init__(self, server: Server) -> None:
        self.line = socket.create_connection((HOST, rtde.PORT))
        self.line.sendall(rtde.packet(rtde.INPUTS, NAMES))
        until(lambda: server.period() or any(client.inputs for client in server.clients))

    def command(self) -> None:
        self.line.sendall(rtde.packet(rtde.DATA, struct.pack(">Bi7d", 1, SPEED_J, *[0.0] * 6, 1.0)))


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(Controller(EmulatedArm("ur5e", Tool(), SimConfig()), "ur5e", (5, 26, 0, 0)), HOST)
    made.open()
    made.controller.program.start()
    yield made
    made.close()


def moved(server: Server) -> Client:
    """A client whose first command has come; from then on time waits for it."""
    client = Client(server)
    client.command()
    until(lambda: server.period() or server.controller.program.moving)
    server.controller.inject(Fault("lockstep", (60.0,)))
    return client


def test_time_stands_still_until_the_next_command_and_no_period_is_missed(server: Server) -> None:
    client, controller = moved(server), server.controller
    before, left = controller.now, iter(range(5))
    thread = threading.Thread(target=server.run, args=(lambda: next(left, None) is not None,))
    thread.start()
    for number in range(1, 6):
        until(lambda number=number: controller.now >= before + number * DT - 1e-9)
        thread.join(0.1)  # many periods by the clock, and none by the controller's
        assert controller.now == pytest.approx(before + number * DT)
        client.command()
    thread.join()
    assert controller.missed == 0


def test_a_client_that_goes_away_is_not_waited_for(server: Server) -> None:
    client = moved(server)
    client.line.close()
    until(lambda: server.period() or not any(one.inputs for one in server.clients))
    assert not server._awaits_answer()


def test_a_command_that_never_comes_is_waited_for_only_so_long(server: Server) -> None:
    _client = moved(server)
    server.controller.inject(Fault("lockstep", (0.05,)))
    received = server.controller.program.received
    server.period()
    assert server._awaits_answer()
    assert server.controller.program.received == received


def test_clear_keeps_it_and_zero_ends_it(server: Server) -> None:
    _client = moved(server)
    server.controller.clear()
    assert server._is_in_step()
    server.controller.inject(Fault("lockstep", (0.0,)))
    assert not server._is_in_step()
