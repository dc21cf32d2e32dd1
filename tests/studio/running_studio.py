"""A Studio in a process of its own, and what is read from its pages and its loop."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from socket import SO_REUSEADDR, SOL_SOCKET, socket
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from pliant.params.declare import flat
from pliant.runtime.link import attach
from pliant.runtime.task import load_task
from pliant.studio.serve import LOCAL
from pliant.studio.stage import Stage
from waiting import until as until

TOKEN = "a-token-for-the-tests"
PATIENCE_S = 120.0
"""So long a machine may be busy with something else before anyone is blamed."""

# Ports that the system gives to nobody who asks for any: one is still free when a Studio is started there once more.
_PORTS = range(20000, 32000)
_EACH = 40  # of them for each process of tests
# Keeps when the last click was, as the browser dates it, during which event each stop was sent, and when it came to
# the Studio, as its answers say.
_NOTE_STOPS = """() => {
  addEventListener("click", (event) => (window.clicked = performance.timeOrigin + event.timeStamp), true);
  window.arrivals = [];
  window.sent = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (typeof data === "string" && data.includes('"halt"')) window.sent.push(window.event?.type ?? "later");
    return send.call(this, data);
  };
  const parse = JSON.parse;
  JSON.parse = (text) => {
    const said = parse(text);
    if (said?.arrived_ns) window.arrivals.push(said.arrived_ns);
    return said;
  };
}"""
# When the stop of the last click came to the Studio [ns]; not one before it that was sent twice.
_ARRIVED = "window.arrivals.find((arrived) => arrived * 1e-6 > window.clicked - 50)"


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

    def go_on(self, page: Any = None) -> None:
        """Go on after a stop, whatever the last test left, and wait until a page shows that, too.

        A page that hears of a stop before the last one was over takes its Resume away for a moment.
        """
        self.loop.resume()
        self.until(lambda: not self.stopped)
        if page is not None:
            self.until(lambda: part(page, "resume").is_disabled())

    def rest(self) -> None:
        """Stop, and wait until the arm stands."""
        self.loop.halt()
        self.until(lambda: self.stopped and self.stands)

    def let_go(self) -> None:
        """End every push, and wait until the arm stands without being stopped."""
        self.loop.push([0.0, 0.0, 0.0], 0.1)
        self.loop.virtual_push([0.0, 0.0, 0.0])
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
        again = start(task, self.folder, self.port)
        self.process, self.loop = again.process, again.loop


def dial(studio: Running, token: str = TOKEN, origin: str | None = "") -> ClientConnection:
    """A socket, as a page has one; with None it does not say where it comes from, as no browser does."""
    host = f"{LOCAL}:{studio.port}"
    if origin == "":
        origin = f"http://{host}"
    return connect(f"ws://{host}/socket?token={token}", origin=origin, open_timeout=PATIENCE_S)  # type: ignore[arg-type]


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
    """Start `pliant studio` and wait for its link; `reach` goes to its loop by another way."""
    words = [sys.executable, "-m", "pliant.cli.main", "studio", task, "--port", str(port or _free_port())]
    environment = {**os.environ, "PLIANT_STUDIO_TOKEN": TOKEN, "PLIANT_OUT": str(folder), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"loop (\S+) at (http\S+)", line):
            return Running(process, found.group(2), reach(found.group(1)), folder)
    raise AssertionError("the Studio ended before it said where it is")


@contextmanager
def tab(browser: Any, **screen: Any) -> Iterator[Any]:
    """A page that makes no error until it is closed; `screen` is what playwright calls a context."""
    page = browser.new_page(**{"viewport": {"width": 1280, "height": 720}, **screen})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(1e3 * PATIENCE_S)
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


class Stops:
    """How long a loop took to hear of the stops of a page [s]: from the click, and of its own from the arrival on."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.from_click: list[float] = []
        self.of_the_loop: list[float] = []
        page.evaluate(_NOTE_STOPS)

    def heard(self, records: Any) -> None:
        """The loop has heard of the last click with the last of these records; the first is from before it."""
        timing, arrived_ns = records["timing"], until(lambda: self._page.evaluate(_ARRIVED))
        heard_ns = int(timing["wall_ns"][-1])
        # while the machine does not let the loop wake up, the loop does not idle; each record says how long that was
        held_s = float(timing["late_s"][timing["wall_ns"] > arrived_ns].sum())
        self.of_the_loop.append((heard_ns - arrived_ns) * 1e-9 - held_s)
        self.from_click.append(heard_ns * 1e-9 - self._page.evaluate("window.clicked") * 1e-3)

    def check(self, most_s: float) -> None:
        """Nothing is skipped: of what is ours the worst counts, however busy the machine is.

        The page sends a stop while the click is still being handled, and from its arrival the loop hears of it in time.
        From the click on, the worst holds too wherever the machine has time for a browser. Where others take its cores
        the best still has to, and pytest's summary warns of the worst. Measured alone, beside pages that push and
        tune, `pliant bench loop` holds the whole of it against the same bar.
        """
        during = self._page.evaluate("window.sent")
        assert during.count("click") >= len(self.of_the_loop)
        assert "later" not in during
        assert max(self.of_the_loop) < most_s
        assert min(self.from_click) < most_s
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
        if max(self.from_click) >= most_s and load > 1.5 * cores:
            words = f"{max(self.from_click):.2f} s from a click to the loop, with a load of {load:.1f} on {cores} cores"
            warnings.warn(words, stacklevel=2)
        else:
            assert max(self.from_click) < most_s
