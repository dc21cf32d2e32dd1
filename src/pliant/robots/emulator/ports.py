"""The ports of the emulated controller and its clock: one thread, every 2 ms, no locks.

In a period it first sends the state at its beginning, then processes what has arrived, then moves the arm. So a command
that answers a packet takes effect one period later, as on a real controller.

In lockstep (see `emulated_faults`) the next period begins when the command that answers the last packet has arrived:
both ends share one machine, and neither loses time while the other is delayed.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from pliant.errors import RejectedError
from pliant.robots.emulator import dashboard
from pliant.robots.emulator.emulated_arm import DT
from pliant.robots.emulator.emulated_controller import Controller
from pliant.robots.emulator.variables import INPUTS, OUTPUTS
from pliant.robots.ur import rtde

DASHBOARD, SECONDARY, REALTIME = 29999, 30002, 30003
PORTS = (rtde.PORT, DASHBOARD, SECONDARY, REALTIME)
# A client with this much unread data has stopped reading [bytes].
_STUCK = 1 << 20
# In lockstep it listens for this long at a time [s].
_LISTEN_S = 0.01


class Client:
    """One connection to one of the ports."""

    def __init__(self, line: socket.socket, port: int) -> None:
        self.line, self.port, self.buffer, self.unsent = line, port, bytearray(), bytearray()
        self.later: deque[tuple[float, bytes]] = deque()
        self.outputs: tuple[rtde.Recipe, struct.Struct] | None = None
        self.inputs: dict[int, tuple[rtde.Recipe, struct.Struct]] = {}
        self.sends = False
        self.every = 1

    def put(self, data: bytes) -> None:
        """Send what the connection accepts, keep the rest."""
        self.unsent += data
        with contextlib.suppress(BlockingIOError):
            sent = self.line.send(self.unsent)
            del self.unsent[:sent]
        if len(self.unsent) > _STUCK:
            raise ConnectionError("the client does not read")


class Server:
    """Listens on the four ports of `host` and runs the controller in step with the clock."""

    def __init__(self, controller: Controller, host: str) -> None:
        self.controller, self.host = controller, host
        self.clients: list[Client] = []
        self._doors: dict[socket.socket, int] = {}
        self._period, self._received = 0, 0

    def open(self) -> None:
        """Open the ports."""
        for port in PORTS:
            door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                door.bind((self.host, port))
            except OSError as error:
                door.close()
                self.close()
                raise RejectedError(
                    f"Port {port} of {self.host} cannot be used ({(error.strerror or str(error)).lower()}). Is "
                    "another emulator running there? Try --host 127.0.0.2.",
                    field="host",
                    value=self.host,
                ) from None
            door.listen()
            door.setblocking(False)
            self._doors[door] = port

    def close(self) -> None:
        """Close the port and its connections."""
        for line in (*self._doors, *(client.line for client in self.clients)):
            line.close()
        self._doors.clear()
        self.clients.clear()

    def run(self, goes_on: Callable[[], bool], each: Callable[[], None] = lambda: None) -> None:
        """Run periods of 2 ms until stopped; a missed period is skipped, not repeated."""
        deadline = time.monotonic()
        while goes_on():
            self.period()
            each()
            if self._awaits_answer():
                deadline = max(deadline, time.monotonic() - DT)  # no period was missed: the clock was stopped
            deadline += DT
            left = deadline - time.monotonic()
            if left > 0.0:
                time.sleep(left)
            elif left < -DT:
                missed = int(-left / DT)
                self.controller.missed += missed
                deadline += missed * DT

    def period(self) -> None:
        """One period."""
        self._received = self.controller.program.received
        self._publish()
        self._hear()
        self.controller.step()
        self._period += 1

    def _awaits_answer(self) -> bool:
        """In lockstep: wait for the command that answers the last packet; False if no client is to be waited for."""
        controller = self.controller
        program, until = controller.program, time.monotonic() + controller.lockstep_s
        while (awaited := self._is_in_step()) and program.received == self._received and time.monotonic() < until:
            self._hear(_LISTEN_S)
        return awaited

    def _is_in_step(self) -> bool:
        """Whether a client moves the arm and lockstep applies."""
        controller = self.controller
        moves = controller.program.plays and controller.program.in_motion
        return controller.lockstep_s > 0.0 and moves and any(client.inputs for client in self.clients)

    # -- sending --

    def _publish(self) -> None:
        controller = self.controller
        if controller.hangs_up:
            controller.hangs_up = False
            for client in [client for client in self.clients if client.port == rtde.PORT]:
                self._drop(client)
        texts, controller.messages = controller.messages, []
        for client in [client for client in self.clients if client.port == rtde.PORT]:
            with self._dropping(client):
                self._tell(client, texts)

    def _tell(self, client: Client, texts: list[str]) -> None:
        controller = self.controller
        for text in texts:
            client.put(rtde.packet(rtde.TEXT, rtde.text_body(text, "emulator")))
        if client.sends and client.outputs and not controller.is_silent and self._period % client.every == 0:
            recipe, layout = client.outputs
            client.later.append((controller.now, rtde.packet(rtde.DATA, recipe.pack(layout, controller.values))))
        while client.later and client.later[0][0] + controller.late_s <= controller.now:
            client.put(client.later.popleft()[1])

    # -- receiving --

    def _hear(self, wait_s: float = 0.0) -> None:
        lines = [*self._doors, *(client.line for client in self.clients)]
        ready, _, _ = select.select(lines, [], [], wait_s)
        for door in [line for line in ready if line in self._doors]:
            self._greet(door)
        for client in [client for client in self.clients if client.line in ready]:
            with self._dropping(client):
                data = client.line.recv(1 << 16)
                if not data:
                    raise ConnectionError("it hung up")
                client.buffer += data
                self._serve(client)

    def _greet(self, door: socket.socket) -> None:
        line, _ = door.accept()
        line.setblocking(False)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = Client(line, self._doors[door])
        self.clients.append(client)
        if client.port == DASHBOARD:
            with self._dropping(client):
                client.put(f"{dashboard.GREETING}\n".encode())

    def _serve(self, client: Client) -> None:
        if client.port == rtde.PORT:
            while (found := rtde.take(client.buffer)) is not None:
                self._obey(client, *found)
        elif client.port == DASHBOARD:
            while b"\n" in client.buffer:
                line, _, rest = bytes(client.buffer).partition(b"\n")
                client.buffer = bytearray(rest)
                words = line.decode(errors="replace")
                client.put(f"{dashboard.answer(self.controller, words)}\n".encode())
                if dashboard.ends(words):
                    raise ConnectionError("the client asked to quit")
        elif bytes(client.buffer).rstrip().endswith(b"end"):  # a whole program; it is not interpreted
            client.buffer.clear()
            if self.controller.mode == 7 and self.controller.safety == 1 and self.controller.remote:
                self.controller.program.start()

    def _obey(self, client: Client, kind: int, body: bytes) -> None:
        """One RTDE packet."""
        if kind == rtde.DATA and body and body[0] in client.inputs:
            recipe, layout = client.inputs[body[0]]
            values = recipe.unpack(layout, body)
            if values.get("speed_slider_mask"):
                self.controller.slider = float(values["speed_slider_fraction"])
            self.controller.program.receive(values, self.controller.now)
            return
        reply = self._reply(client, kind, body)
        if reply is not None:
            client.put(rtde.packet(kind, reply))

    def _reply(self, client: Client, kind: int, body: bytes) -> bytes | None:
        if kind == rtde.ASK_PROTOCOL:
            return bytes([int(body == struct.pack(">H", rtde.PROTOCOL))])
        if kind == rtde.ASK_VERSION:
            return rtde.version_body(self.controller.version)
        if kind == rtde.OUTPUTS and len(body) > 8:
            (hz,) = struct.unpack(">d", body[:8])
            recipe = rtde.Recipe.of(1, rtde.read_names(body[8:]), OUTPUTS)
            client.outputs = (recipe, recipe.layout) if recipe.is_good else None
            client.every = max(1, round(1.0 / (hz * DT))) if hz > 0.0 else 1
            return recipe.body
        if kind == rtde.INPUTS:
            others = {name for other in self.clients if other is not client
                      for recipe, _ in other.inputs.values() for name in recipe.names}  # fmt: skip
            recipe = rtde.Recipe.of(len(client.inputs) + 1, rtde.read_names(body), INPUTS, others)
            if recipe.is_good:
                client.inputs[recipe.number] = recipe, recipe.layout
            return recipe.body
        if kind in (rtde.START, rtde.PAUSE):
            client.sends = kind == rtde.START
            return b"\x01"
        return None

    # -- disconnecting --

    @contextlib.contextmanager
    def _dropping(self, client: Client) -> Any:
        """Whatever goes wrong with one client ends that client alone."""
        try:
            yield
        except (OSError, ValueError, struct.error):
            self._drop(client)

    def _drop(self, client: Client) -> None:
        client.line.close()
        if client in self.clients:
            self.clients.remove(client)
        if client.inputs:
            self.controller.program.leave()
