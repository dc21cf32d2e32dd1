"""A loop that is held still while it is told something, and what is left of one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from pliant.loop.board import running
from pliant.loop.boards.board_files import alive
from pliant.session.session import Session


def loop_pid(arm: Session) -> int:
    return int(arm.board.header.loop_pid)


@contextmanager
def held(arm: Session) -> Iterator[int]:
    """The loop does not tick in this block, however long it takes; gives the number of its next tick.

    What is sent in here for certain ticks is there before them, and the time between them is the loop's own.
    """
    pid = loop_pid(arm)
    os.kill(pid, signal.SIGSTOP)
    try:
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
        yield arm.board.head
    finally:
        os.kill(pid, signal.SIGCONT)


def nothing_is_left_of(arm: Session) -> bool:
    """No process, no shared memory."""
    return not alive(loop_pid(arm)) and arm.name not in running() and not arm.board.path.exists()
