"""A Studio in a process of its own, and what is read from its pages and its loop."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from typing import Any, TypeVar

import numpy as np
from websockets.sync.client import ClientConnection, connect

from pliant.params.declare import flat
from pliant.session.link import attach
from pliant.studio.listening import LOCAL
from pliant.studio.stage.stage import Stage
from pliant.task.schema import load_task
from support.waiting import until as until

T = TypeVar("T")
# `pliant studio` whose pages may take long to say or hear a word. What it computes waits while there is a file `hold`.
_STUDIO = """
from pliant.cli.main import main
from pliant.studio import listening, server
from pliant.studio.work import background as work
listening._GONE_S = server._CLOSE_S = server._FIRST_WORD_S = {patience_s}
work._NICE = ("sh", "-c", 'while [ -e "$PLIANT_OUT/hold" ]; do sleep 0.05; done; exec "$@"', "sh", *work._NICE)
main()
"""
TOKEN = "a-token-for-the-tests"
PATIENCE_S = 120.0
"""So long a machine may be busy with something else before anyone is blamed."""
LONG_S = 800.0
"""The same for what yields to all else: experiments, plans and what-ifs run with a low priority."""

# A page that waits for an answer as long as the tests do: on a busy machine it comes behind many frames.
_PATIENT = """{
  const wait = window.setTimeout;
  window.setTimeout = (act, ms, ...more) => wait(act, ms === 30_000 ? 600_000 : ms, ...more);
}"""

# Ports that the system gives to nobody who asks for any: one is still free when a Studio is started there once more.
_PORTS = range(20000, 32000)
_EACH = 40  # of them for each process of tests
# Keeps during which event each stop was sent, and whether the loop had heard it, as each answer says.
_NOTE_STOPS = """() => {
  window.sent = [];
  window.answers = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (typeof data === "string" && data.includes('"halt"')) window.sent.push(window.event?.type ?? "later");
    return send.call(this, data);
  };
  const parse = JSON.parse;
  JSON.parse = (text) => {
    const said = parse(text);
    if (said?.arrived_ns) window.answers.push(said.heard);
    return said;
  };
}"""


@dataclass
class Running:
    """A Studio that runs: its link, and the end of its loop that does not go through the page."""

    process: subprocess.Popen[str]
    url: str
    loop: Any
    """A `Link`, or a `MissionLink`."""
    folder: Path
    """Where it puts its files."""

    @property
    def port(self) -> int:
        return int(re.search(r":(\d+)/", self.url).group(1))  # type: ignore[union-attr]

    @property
    def stopped(self) -> bool:
        return bool(self.loop.state.goal.stop)

    @property
    def stands(self) -> bool:
        return bool(abs(self.loop.state.reading.qd).max() < 1e-3)

    def until(self, condition: Callable[[], Any], within_s: float = 120.0) -> Any:
        """Wait for something that a loop must live for: one that has ended says why at once."""

        def looked() -> Any:
            if found := condition():
                return found
            self.loop.check()
            assert self.loop.running, f"the loop has ended: {self.loop.board.reason or 'without a word'}"
            return found

        return until(looked, within_s)

    def reads(self, page: Any, name: str, words: str, within_s: float = PATIENCE_S) -> None:
        """Wait until a part of the page contains these words; where it never does, say what it contains instead."""
        seen: dict[str, None] = {}

        def looked() -> bool:
            text = part(page, name).text_content()
            seen[text] = None
            return words in text

        try:
            self.until(looked, within_s)
        except AssertionError as error:
            raise AssertionError(f"{name!r} never read {words!r}, but {list(seen)}: {error}") from None

    @contextmanager
    def holding_work(self) -> Iterator[None]:
        """Whatever it computes for a page does not begin before this is over, and can be cancelled."""
        hold = self.folder / "hold"
        hold.touch()
        try:
            yield
        finally:
            hold.unlink()

    def go_on(self, page: Any = None) -> None:
        """Go on after a stop, whatever the last test left, and wait until a page shows that, too.

        A page that hears of a stop before the last one was over takes its Resume away for a moment.
        """
        self.loop.resume()
        self.obeyed()
        assert not self.stopped
        if page is not None:
            self.until(lambda: part(page, "resume").is_disabled())

    @property
    def sent(self) -> int:
        """How many commands were sent to the loop so far."""
        return int(self.loop.board.header.queue_in)

    def obeyed(self) -> None:
        """Wait until the loop has taken every command that was sent so far, and its board shows what became of it."""
        sent = self.sent
        self.until(lambda: self.loop.board.taken >= sent)
        head = self.loop.board.head
        self.until(lambda: self.loop.board.head > head)

    def rest(self) -> None:
        """Stop, and wait until the arm stands."""
        self.loop.halt()
        self.until(lambda: self.stopped and self.stands)

    def let_go(self) -> None:
        """End every push, and wait until the arm stands."""
        self.loop.push([0.0, 0.0, 0.0], 0.1)
        self.loop.virtual_push([0.0, 0.0, 0.0])
        self.obeyed()  # before it is, an arm that is about to be let go may stand
        self.until(lambda: self.stands)

    def show(self, name: str) -> None:
        """Let it show a task as if it had just begun, standing where its own pushes have left it: its goal is there."""
        task = load_task(name)
        if not (self.loop.running and (self.loop.task.name, self.loop.task.robot) == (task.name, task.robot)):
            with dial(self) as socket:
                said = ask(socket, {"id": 1, "do": "start", "task": name})
            assert said["ok"], said
            self.loop = attach(hello(self)["loop"]["name"])
        last_s = max(push.at_s + push.for_s for push in task.sim.pushes)
        self.until(lambda: self.loop.state.time_s > last_s)
        self.rest()
        self.let_go()
        here = self.loop.pose
        self.loop.goal_pose(here)
        self.until(lambda: np.allclose(self.loop.state.goal.pose, here))
        now, then = flat(self.loop.parameters), flat(self.loop.task.params)
        if left := {key: value for key, value in then.items() if value != now[key]}:
            self.loop.set(left)
        self.go_on()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    def begin_again(self, task: str) -> None:
        """Start it once more after its end, where it was."""
        self.process = launch(task, self.folder, self.port).process
        self.loop = attach(loop_of(self))

    def begin_again_stopped(self, task: str, page: Any) -> None:
        """Start it once more under a page that holds a stop: it reaches the loop, or comes before there is one."""
        self.process = launch(task, self.folder, self.port).process
        name = loop_of(self, stopped=True)
        if name:
            self.loop = attach(name)
            until(lambda: self.stopped)
        until(lambda: not part(page, "alarm").is_visible())
        if not name:
            part(page, "task").select_option(task)
            part(page, "start").click()
            until(lambda: page.evaluate("document.body.dataset.loop"))
            self.loop = attach(page.evaluate("document.body.dataset.loop"))
            part(page, "stop").click()
            until(lambda: self.stopped)


def dial(studio: Running, token: str = TOKEN, origin: str | None = "") -> ClientConnection:
    """A socket, as a page has one; with None it does not say where it comes from, as no browser does."""
    host = f"{LOCAL}:{studio.port}"
    if origin == "":
        origin = f"http://{host}"
    # it goes on reading whatever the test does, as a page does, and does not close the line by itself
    patient: dict[str, Any] = {"open_timeout": PATIENCE_S, "ping_interval": None, "max_queue": None}
    return connect(f"ws://{host}/socket?token={token}", origin=origin, **patient)  # type: ignore[arg-type]


def ask(socket: ClientConnection, message: Any) -> dict[str, Any]:
    """Send, and wait for the answer."""
    socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    while True:
        data = socket.recv(timeout=PATIENCE_S)
        if isinstance(data, str) and (said := json.loads(data))["type"] == "answer":
            return said


def hello(studio: Running) -> dict[str, Any]:
    """What a page that comes now is told first."""
    with dial(studio) as socket:
        return json.loads(socket.recv(timeout=PATIENCE_S))


def _free_port() -> int:
    first = os.getpid() * _EACH % len(_PORTS)
    for i in count():
        port = _PORTS[(first + i) % len(_PORTS)]
        with socket() as tried, suppress(OSError):
            tried.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
            tried.bind((LOCAL, port))
            return port
        assert i < _EACH, "no port is free"
    raise AssertionError


def start(task: str, folder: Path, port: int = 0, reach: Callable[[str], Any] = attach) -> Running:
    """Start `pliant studio` and wait for its loop; `reach` goes to it by another way."""
    running = launch(task, folder, port)
    running.loop = reach(loop_of(running))
    return running


def launch(task: str, folder: Path, port: int = 0) -> Running:
    """Start `pliant studio` and wait for its link. Its task starts with the first page."""
    words = [sys.executable, "-c", _STUDIO.format(patience_s=PATIENCE_S), "studio", task, "--no-record"]
    words += ["--port", str(port or _free_port())]
    environment = {**os.environ, "PLIANT_STUDIO_TOKEN": TOKEN, "PLIANT_OUT": str(folder), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"(http\S+)", line):
            return Running(process, found.group(1), None, folder)
    raise AssertionError("the Studio ended before it said where it is")


def loop_of(studio: Running, stopped: bool = False) -> str:
    """The name of its loop, which starts when a page opens; "" where a stop may come first, and did."""
    with dial(studio) as socket:
        while True:
            data = socket.recv(timeout=PATIENCE_S)
            said = json.loads(data) if isinstance(data, str) else {}
            if stopped and "stop came before" in (said.get("mishap") or ""):
                return ""
            assert not said.get("mishap"), said["mishap"]
            if said.get("type") == "hello" and said["loop"]:
                return said["loop"]["name"]


@contextmanager
def tab(browser: Any, **screen: Any) -> Iterator[Any]:
    """A page that makes no error until it is closed; `screen` is what playwright calls a context."""
    page = browser.new_page(**{"viewport": {"width": 1280, "height": 720}, **screen})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(1e3 * PATIENCE_S)
    page.add_init_script(_PATIENT)
    try:
        yield page
    finally:
        page.close()
    assert errors == []


@contextmanager
def opened(browser: Any, url: str, **screen: Any) -> Iterator[Any]:
    """A page of its own that shows frames."""
    with tab(browser, **screen) as page:
        visit(page, url)
        yield page


def visit(page: Any, url: str) -> None:
    """Go to a Studio, and wait until the page shows frames."""
    page.goto(f"{url}&quality=low")
    ready(page)


def ready(page: Any) -> None:
    """Wait until the page shows frames."""
    until(lambda: float(page.evaluate("document.body.dataset.time ?? 0")) > 0.0)


def part(page: Any, name: str) -> Any:
    """An element by the name that it has for tests."""
    return page.get_by_test_id(name)


def stop(stage: Stage) -> None:
    """Note a stop and tell the loop of it, as is done for a page."""
    stage.note_stop()
    stage.brake()


def run_beside(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread of its own: a browser of other tests has its own event loop in this one."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, work).result()


@contextmanager
def held(process_id: int) -> Iterator[None]:
    """A process that is there, and does nothing."""
    os.kill(process_id, signal.SIGSTOP)
    try:
        until(lambda: _state_of(process_id) == "T")  # a signal takes a while to arrive
        yield
    finally:
        with suppress(ProcessLookupError):  # it was killed meanwhile
            os.kill(process_id, signal.SIGCONT)


def _state_of(process_id: int) -> str:
    """The state of a process as one letter; T: it is held."""
    return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]


class Stops:
    """The stops of a page on their way to a loop, counted in events and ticks: no machine is too slow for that.

    How long the whole of it takes is measured by `pliant bench loop`.
    """

    def __init__(self, page: Any, loop: Any) -> None:
        self._page, self._board = page, loop.board
        page.evaluate(_NOTE_STOPS)

    def press(self) -> int:
        """Press Stop while the loop is held, and let it go on when the stop is in its queue; returns the last tick.

        The page must have sent it while the click was being handled.
        """
        self._page.evaluate("window.sent = []")
        with held(int(self._board.header.loop_pid)):
            sent, last = int(self._board.header.queue_in), self._board.head
            part(self._page, "stop").click()
            until(lambda: int(self._board.header.queue_in) > sent)
        assert self._page.evaluate("window.sent")[0] == "click"
        return last

    def answered(self) -> bool:
        """Press Stop, and wait for the answer; returns whether the loop has heard it in time, as the answer says."""
        self._page.evaluate("window.answers = []")
        part(self._page, "stop").click()
        return until(lambda: self._page.evaluate("window.answers"))[0]
