"""How late things wake up: our loop, a plain Python loop, and cyclictest."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.figures import Figure, told

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


def busy_reader(board: Path) -> subprocess.Popen[bytes]:
    """A process that reads the ring of a board as fast as it can."""
    return subprocess.Popen([sys.executable, "-c", _READER, str(board)])


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
