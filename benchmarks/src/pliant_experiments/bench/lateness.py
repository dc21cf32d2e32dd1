"""Wake-up lateness of Pliant's loop, a plain Python loop, and cyclictest."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from websockets.sync.client import connect
from websockets.typing import Origin

from pliant.analysis.targets import Figure, reported
from pliant.session.session import Session

_PLAIN = """
import sys, threading, time
period, seconds, threads = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
def spin():
    while True:
        sum(range(1000))
for _ in range(threads):
    threading.Thread(target=spin, daemon=True).start()
late, deadline = [], time.perf_counter()
end = deadline + seconds
while deadline < end:
    deadline += period
    left = deadline - time.perf_counter()
    if left > 0:
        time.sleep(left)
    late.append(time.perf_counter() - deadline)
print(*late)
"""

_READER = """
import sys
from pathlib import Path
from pliant.loop.board import Board
board, at = Board.attach(Path(sys.argv[1])), 0
while True:
    records, at, lost = board.read(max(0, board.head - 500))
    records["observed"]["wrench"].mean(axis=0)
"""

# An active page: it receives, pushes the arm back and forth, tunes, and requests slider colours.
_PAGE = """
import itertools, json, sys, threading, time
from urllib.parse import urlsplit
from websockets.sync.client import connect
link = urlsplit(sys.argv[1])
masses = [[0.5 * 1.1**i] * 3 + [0.4] * 3 for i in range(65)]
with connect(f"ws://{link.netloc}/socket?{link.query}", origin=f"http://{link.netloc}", max_size=None) as socket:
    def listen():
        for _ in socket:
            pass
    threading.Thread(target=listen, daemon=True).start()
    def ask(**what):
        socket.send(json.dumps(what))
    for i in itertools.count():
        ask(id=i, do="push", force=[5.0 * (-1) ** (i // 20), 0.0, 0.0])
        if i % 20 == 0:
            ask(id=i, do="set", values={"sense.cutoff_hz": 30.0 + i // 20 % 2})
            ask(id=i, do="ahead", parameter="admittance.mass", values=masses)
        time.sleep(0.05)
"""
# How many stops are timed.
_STOPS = 20


@dataclass(frozen=True)
class Stop:
    """Time until a stop reaches the loop [s]: from the page that sent it, and from its arrival at the Studio."""

    from_page_s: float
    from_arrival_s: float


def lateness(label: str, late_s: np.ndarray[Any, Any]) -> list[Figure]:
    """Median, 99 %, 99.9 % and worst wake-up lateness."""
    values = np.percentile(late_s * 1e6, [50, 99, 99.9, 100])
    names = ("median", "99 %", "99.9 %", "worst")
    return [reported(f"{label}, {name}", value, "µs") for name, value in zip(names, values, strict=True)]


def plain_loop(period_s: float, seconds: float, threads: int) -> np.ndarray[Any, Any]:
    """Lateness [s] of a plain Python loop at the same rate, with busy threads in its process."""
    words = [sys.executable, "-c", _PLAIN, str(period_s), str(seconds), str(threads)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return np.array(done.stdout.split(), float)


@contextmanager
def busy_reader(session: Session) -> Iterator[None]:
    """A process that reads the loop's ring buffer as fast as it can."""
    process = subprocess.Popen([sys.executable, "-c", _READER, str(session.board.path)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def studio_with_pages(session: Session, pages: int, stops: list[Stop]) -> Iterator[None]:
    """Run the Studio with active pages, each in its own process; then time stops."""
    words = [sys.executable, "-m", "pliant.cli.main", "studio", "--loop", session.name]
    studio = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert studio.stdout is not None
    link = next(word for line in studio.stdout for word in line.split() if word.startswith("http"))
    shown = [subprocess.Popen([sys.executable, "-c", _PAGE, link]) for _ in range(pages)]
    try:
        yield
        stops += _timed_stops(session, link)
    finally:
        for process in (*shown, studio):
            process.terminate()
            process.wait()


def _timed_stops(session: Session, link: str) -> list[Stop]:
    """How long stops take to reach the loop while pages are active."""
    place, found = urlsplit(link), []
    with connect(
        f"ws://{place.netloc}/socket?{place.query}", origin=Origin(f"http://{place.netloc}"), max_size=None
    ) as page:
        for i in range(_STOPS):
            first, sent_ns = session.board.head, time.time_ns()
            page.send(json.dumps({"id": i, "do": "halt"}))
            arrived_ns = next(said["arrived_ns"] for said in map(_heard, page) if said.get("id") == i)
            while not session.state.goal.stop:
                session.wait(session.task.dt)
            records, _, _ = session.board.read(first)
            heard_ns = int(records[records["goal"]["stop"] == 1][0]["timing"]["wall_ns"])
            found.append(Stop((heard_ns - sent_ns) * 1e-9, (heard_ns - arrived_ns) * 1e-9))
            session.resume()
            while session.state.goal.stop:
                session.wait(session.task.dt)
    return found


def _heard(data: str | bytes) -> dict[str, Any]:
    """An answer to a page, without the other messages."""
    said = json.loads(data) if isinstance(data, str) else {}
    return said if said.get("type") == "answer" else {}


def cyclictest(period_s: float, seconds: float) -> np.ndarray[Any, Any] | None:
    """Lateness [s] that cyclictest measures on this machine with the same period; None if it is not installed."""
    program = shutil.which("cyclictest")
    if program is None:
        return None
    loops = round(seconds / period_s)
    words = [program, "-q", "-m", f"-i{round(period_s * 1e6)}", f"-l{loops}", "-h10000"]
    done = subprocess.run([*words, "-p60"], capture_output=True, text=True)
    if done.returncode != 0:  # no real-time priority for the loop, so none for cyclictest either
        done = subprocess.run(words, capture_output=True, text=True)
    late: list[float] = []
    for line in done.stdout.splitlines():
        parts = line.split()
        if len(parts) == 2 and parts[0].isdigit() and parts[1].isdigit():
            late += [int(parts[0]) * 1e-6] * int(parts[1])
    return np.array(late) if late else None
