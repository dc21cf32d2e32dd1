"""A Studio in a process of its own, and what is read from its pages and its loop."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from pliant.params.declare import flat
from pliant.runtime.link import attach
from pliant.runtime.task import find_task
from pliant.studio.serve import LOCAL
from waiting import until as until

TOKEN = "a-token-for-the-tests"
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
        task = find_task(name)
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
        self.process.wait(20)

    def begin_again(self, task: str) -> None:
        """Start it once more after its end, where it was."""
        again = start(task, self.folder, self.port)
        self.process, self.loop = again.process, again.loop


def dial(studio: Running, token: str = TOKEN, origin: str | None = None) -> ClientConnection:
    """A socket, as a page has one."""
    host = f"{LOCAL}:{studio.port}"
    return connect(f"ws://{host}/socket?token={token}", origin=origin or f"http://{host}")  # type: ignore[arg-type]


def ask(socket: ClientConnection, message: Any) -> dict[str, Any]:
    """Send, and wait for the answer."""
    socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    while True:
        data = socket.recv(timeout=90)
        if isinstance(data, str) and (said := json.loads(data))["type"] == "answer":
            return said


def hello(studio: Running) -> dict[str, Any]:
    """What a page that comes now is told first."""
    with dial(studio) as socket:
        return json.loads(socket.recv(timeout=90))


def start(task: str, folder: Path, port: int = 0, reach: Callable[[str], Any] = attach) -> Running:
    """Start `pliant studio` and wait for its link; `reach` goes to its loop by another way."""
    words = [sys.executable, "-m", "pliant.cli.main", "studio", task, "--port", str(port)]
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
    yield page
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


class Stops:
    """How long a loop took to hear of the stops of a page: from the click, and from its arrival at the Studio [s]."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.from_click: list[float] = []
        self.from_arrival: list[float] = []
        page.evaluate(_NOTE_STOPS)

    def heard(self, wall_ns: int) -> None:
        """The loop has heard of the last click at this time."""
        until(lambda: self._page.evaluate("window.arrivals.length") > len(self.from_arrival))
        self.from_arrival.append((wall_ns - self._page.evaluate("window.arrivals.at(-1)")) * 1e-9)
        self.from_click.append(wall_ns * 1e-9 - self._page.evaluate("window.clicked") * 1e-3)

    def check(self, most_s: float) -> None:
        """The worst counts, and nothing is skipped.

        What is ours holds however busy the machine is: the page sends a stop while the click is still being handled,
        and from its arrival the loop hears of it in time. From the click on, it holds wherever the machine has time
        for a browser; where others take its cores, pytest's summary warns of the figure that was missed. Measured
        alone, beside pages that push and tune, `pliant bench loop` holds it against the same bar.
        """
        during = self._page.evaluate("window.sent")
        assert len(during) >= len(self.from_arrival)
        assert "later" not in during
        assert max(self.from_arrival) < most_s
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
        if max(self.from_click) >= most_s and load > 1.5 * cores:
            words = f"{max(self.from_click):.2f} s from a click to the loop, with a load of {load:.1f} on {cores} cores"
            warnings.warn(words, stacklevel=2)
        else:
            assert max(self.from_click) < most_s
