"""How a process beside a loop begins and ends: it says when it is ready, and goes with the loop, or when told to."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

from pliant.errors import PliantError
from pliant.runtime.link import Link, attach

READY = "ready"

Work = Callable[[Link, Callable[[], None], Callable[[], bool]], None]
"""``work(link, ready, goes_on)``: calls `ready` once it works, and returns when `goes_on` says no."""


def beside(board: str, work: Work) -> int:
    """Body of such a process; returns its exit code. What it complains about is the only line that it prints."""
    asked = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the loop
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    try:
        link = attach(board)
        work(link, lambda: print(READY, flush=True), lambda: link.running and not asked.is_set())
    except PliantError as error:
        print(error, flush=True)
        return error.exit_code
    return 0
