"""How late things wake up: our loop, a plain Python loop, and cyclictest."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pliant.analysis.figures import Figure, told
from pliant.runtime.session import Session

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
from pliant.runtime.board import Board
board, at = Board.attach(Path(sys.argv[1])), 0
while True:
    records, at, lost = board.read(max(0, board.head - 500))
    records["observed"]["wrench"].mean(axis=0)
"""

_PAGE = """
import sys
from urllib.parse import urlsplit
from websockets.sync.client import connect
link = urlsplit(sys.argv[1])
with connect(f"ws://{link.netloc}/socket?{link.query}", origin=f"http://{link.netloc}", max_size=None) as socket:
    while True:
        socket.recv()
"""


def lateness(label: str, late_s: np.ndarray[Any, Any]) -> list[Figure]:
    """Median, 99 %, 99.9 % and worst of wake-up lateness."""
    values = np.percentile(late_s * 1e6, [50, 99, 99.9, 100])
    names = ("median", "99 %", "99.9 %", "worst")
    return [told(f"{label}, {name}", value, "µs") for name, value in zip(names, values, strict=True)]


def plain_loop(period_s: float, seconds: float, threads: int) -> np.ndarray[Any, Any]:
    """Lateness [s] of an ordinary Python loop of the same rate, with busy threads in its process."""
    words = [sys.executable, "-c", _PLAIN, str(period_s), str(seconds), str(threads)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return np.array(done.stdout.split(), float)


@contextmanager
def busy_reader(session: Session) -> Iterator[None]:
    """A process that reads the loop's ring as fast as it can."""
    process = subprocess.Popen([sys.executable, "-c", _READER, str(session.board.path)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def studio_with_pages(loop: str, pages: int) -> Iterator[None]:
    """The Studio shows the loop of this name to so many pages, each in a process of its own."""
    words = [sys.executable, "-m", "pliant.cli.main", "studio", "--loop", loop]
    studio = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert studio.stdout is not None
    link = next(word for line in studio.stdout for word in line.split() if word.startswith("http"))
    shown = [subprocess.Popen([sys.executable, "-c", _PAGE, link]) for _ in range(pages)]
    try:
        yield
    finally:
        for process in (*shown, studio):
            process.terminate()
            process.wait()


def cyclictest(period_s: float, seconds: float) -> np.ndarray[Any, Any] | None:
    """Lateness [s] that cyclictest measures on this machine with the same period; None if it is not there."""
    program = shutil.which("cyclictest")
    if program is None:
        return None
    loops = round(seconds / period_s)
    words = [program, "-q", "-m", f"-i{round(period_s * 1e6)}", f"-l{loops}", "-h10000"]
    done = subprocess.run([*words, "-p60"], capture_output=True, text=True)
    if done.returncode != 0:  # no real-time priority for us: then none for it either
        done = subprocess.run(words, capture_output=True, text=True)
    late: list[float] = []
    for line in done.stdout.splitlines():
        parts = line.split()
        if len(parts) == 2 and parts[0].isdigit() and parts[1].isdigit():
            late += [int(parts[0]) * 1e-6] * int(parts[1])
    return np.array(late) if late else None
