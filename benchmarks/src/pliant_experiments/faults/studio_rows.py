"""Rows: the Studio is killed or stopped, its loop is, and strangers send it what no page sends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import time
from typing import Any

import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from pliant.errors import PliantError
from pliant.loop.board import Board
from pliant.loop.board_layout import RUNNING, STOPPED
from pliant.loop.boards.board_files import alive
from pliant.studio.half_requests import REQUEST_S
from pliant_experiments.faults.fault_rig import PATIENCE_S, RATE_HZ, START_S, Process, Rig, after
from pliant_experiments.faults.fault_row import Seen, row
from pliant_experiments.faults.loop_rows import ORPHAN_S, PATIENT

STUDIO, ITS_LOOP = "Studio", "loop of the Studio"
# A pause after which another message is accepted: fewer than the messages in a second that a page may send [s].
_PAUSE_S = 0.012
# A request is late by no more than this when it is closed [s].
_SLACK_S = 10.0


class Page:
    """A Studio with an open page, and its loop."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.studio: Process = rig.pliant("studio", rig.task(), "--no-record", "--port", "0")
        after(lambda: re.search(r"http\S+/\?token=\S+", self.studio.out) or self.studio.code is not None, START_S)
        found = re.search(r"http://([\d.]+):(\d+)/\?token=([\w-]+)", self.studio.out)
        if found is None:
            raise PliantError(f"The Studio did not start: {self.studio.err}")
        self.host, self.port, self.token = found[1], int(found[2]), found[3]
        with self.dial() as line:
            self.board = Board.attach(self._loop_name(line))
        after(lambda: self.board.head > 150, START_S)

    def dial(self) -> ClientConnection:
        """A connection of one more page."""
        origin = Origin(f"http://{self.host}:{self.port}")
        return connect(
            f"ws://{self.host}:{self.port}/socket?token={self.token}",
            origin=origin,
            max_size=None,
            open_timeout=60.0,
            ping_interval=None,
        )

    def _loop_name(self, line: ClientConnection) -> str:
        while True:
            data = line.recv(timeout=START_S)
            said = json.loads(data) if isinstance(data, str) else {}
            if said.get("type") == "hello" and said["loop"]:
                return said["loop"]["name"]

    def ask(self, line: ClientConnection, message: str | bytes) -> dict[str, Any]:
        """Send a message, and wait for its answer."""
        line.send(message)
        while True:
            data = line.recv(timeout=PATIENCE_S)
            if isinstance(data, str) and (said := json.loads(data))["type"] == "answer":
                return said

    @property
    def loop(self) -> int:
        return int(self.board.header.loop_pid)

    def ticks_on(self, ticks: int = 25) -> bool:
        head = self.board.head
        return after(lambda: self.board.head >= head + ticks) is not None


@contextlib.contextmanager
def _page(rig: Rig):
    page = Page(rig)
    try:
        yield page
    finally:
        page.studio.send(signal.SIGCONT) if page.studio.code is None else None
        page.studio.end()
        after(lambda: not alive(page.loop), 10.0)
        page.board.remove()


@row(21, STUDIO, "killed or terminated", f"its loop stops the robot within {ORPHAN_S:g} s")
def studio_killed(rig: Rig, seen: Seen, short: bool) -> None:
    for number in (signal.SIGKILL,) if short else (signal.SIGKILL, signal.SIGTERM):
        with _page(rig) as page:
            page.studio.send(number)
            waited = after(lambda page=page: page.board.status != RUNNING)
            seen.safe_s = max(seen.safe_s or 0.0, PATIENT if waited is None else waited)
            seen.must(page.board.status == STOPPED, f"{number.name}: the robot is stopped")
    seen.must((seen.safe_s or PATIENT) <= ORPHAN_S, f"within {ORPHAN_S:g} s")


@row(22, STUDIO, "stopped for a while (SIGSTOP)", "its loop is untouched")
def studio_suspended(rig: Rig, seen: Seen, short: bool) -> None:
    with _page(rig) as page:
        page.studio.send(signal.SIGSTOP)
        first, seconds = page.board.head, 1.5 if short else 10.0
        after(lambda: False, seconds)
        ticks = page.board.head - first
        page.studio.send(signal.SIGCONT)
        seen.must(ticks >= 0.5 * seconds * RATE_HZ, f"{ticks} ticks meanwhile")


@row(23, ITS_LOOP, "killed; stopped", "killed: the black box is saved and the page says so; stopped: it goes on")
def loop_of_the_studio(rig: Rig, seen: Seen, short: bool) -> None:
    with _page(rig) as page:
        os.kill(page.loop, signal.SIGSTOP)
        after(lambda: False, 1.0)
        os.kill(page.loop, signal.SIGCONT)
        seen.must(page.ticks_on(), "it goes on after it was stopped")
        os.kill(page.loop, signal.SIGKILL)
        seen.safe_s = after(lambda: not alive(page.loop))
        seen.saved = after(lambda: bool(rig.boxes())) is not None
        seen.must(seen.saved, "the black box is saved")
        seen.must(_hears(page, "killed by SIGKILL"), "the page says so")


def _hears(page: Page, words: str) -> bool:
    """Whether a page that opens now is told this."""
    deadline = time.monotonic() + PATIENCE_S
    with page.dial() as line:
        while time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                data = line.recv(timeout=1.0)
                if isinstance(data, str) and words in data:
                    return True
    return False


@row(
    24, STUDIO, "random messages, many sockets, half requests",
    "the loop is undisturbed, every message is answered in a sentence, half requests are closed", quick=False,
)  # fmt: skip
def strangers(rig: Rig, seen: Seen, short: bool) -> None:
    with _page(rig) as page:
        adopted, sent = page.board.adopted, int(page.board.header.queue_in)
        halves = [socket.create_connection((page.host, page.port), 60.0) for _ in range(20 if short else 200)]
        for i, line in enumerate(halves):
            line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n"[: 1 + i % 25])
        began = time.monotonic()
        _fuzz(page, seen, 200 if short else 10_000)
        _many_sockets(page, seen, 20 if short else 200)
        ended = 0
        for line in halves:
            line.settimeout(max(0.1, began + REQUEST_S + _SLACK_S - time.monotonic()))
            with contextlib.suppress(TimeoutError, ConnectionError), line:
                line.recv(10)
                ended += 1
        seen.must(ended == len(halves), f"all of {len(halves)} half requests are closed")
        seen.must((page.board.adopted, int(page.board.header.queue_in)) == (adopted, sent), "nothing reached the loop")
        seen.must(page.ticks_on(), "the loop ticks on")


def _fuzz(page: Page, seen: Seen, many: int) -> None:
    random = np.random.default_rng(24)
    with page.dial() as line:
        for i in range(many):
            answer = page.ask(line, _nonsense(random, i))
            if answer.get("ok") is not False or not str(answer.get("error", "")).endswith((".", "?")):
                seen.must(False, f"message {i} is answered with a sentence, not {answer}")
                return
            time.sleep(_PAUSE_S)
    seen.must(True, f"{many} messages are answered with a sentence")


def _nonsense(random: np.random.Generator, i: int) -> str:
    """A message that no page sends."""
    known = ("set", "push", "goal", "start", "save", "open", "preset", "command", "resume", "plan", "what_if", "law")
    values = (None, True, -1, 10**400, "x" * 300, "\0", [], {}, [[]], {"a": {}}, "/etc/hostname", "../x.yaml", [None])
    fields = ("values", "force", "position", "task", "path", "name", "preset", "commands", "map", "run", "id", "drag")
    if i % 3 == 0:
        return bytes(random.integers(32, 127, int(random.integers(0, 200)), dtype=np.uint8)).decode()
    chosen = {str(random.choice(fields)): values[int(random.integers(len(values)))] for _ in range(3)}
    return json.dumps({**chosen, "do": str(random.choice(known)), "unknown": i})


def _many_sockets(page: Page, seen: Seen, many: int) -> None:
    first, lines = page.dial(), []
    for _ in range(many):
        with contextlib.suppress(WebSocketException, OSError):
            lines.append(page.dial())
    answer = {}
    with contextlib.suppress(WebSocketException, TimeoutError, OSError):
        answer = page.ask(first, json.dumps({"id": 1, "do": "recordings"}))
    for line in (first, *lines):
        line.close()
    seen.must(answer.get("ok") is True, f"the first page is served beside {many} sockets")
