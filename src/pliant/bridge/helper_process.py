"""Start and end of a helper process of a loop: it reports when it is ready, and exits with the loop or on request."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import TypeVar

from pliant.errors import PliantError
from pliant.mobile.mission.mission_link import MissionLink
from pliant.session.link import Link

READY, AGREED = "ready", "agreed"

AnyLink = Link | MissionLink
L = TypeVar("L", bound=AnyLink)
Work = Callable[[L, Callable[[], None], Callable[[], bool]], None]
"""``work(link, ready, goes_on)``: calls `ready` once it runs, and returns when `goes_on` returns False."""


def helper_main(board: str, work: Work[L], connect: Callable[[str], L]) -> int:
    """Main function of such a process; returns its exit code. Once it is ready, it prints notes for the user.

    If it fails instead, the error is the only line that it prints.
    """
    asked = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the loop
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    try:
        link = connect(board)
        work(link, lambda: print(READY, flush=True), lambda: link.running and not asked.is_set())
    except PliantError as error:
        print(error, flush=True)
        return error.exit_code
    return 0
