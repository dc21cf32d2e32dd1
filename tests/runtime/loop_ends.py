"""What is left of a loop."""

from __future__ import annotations

from pliant.runtime.board import alive, running
from pliant.runtime.session import Session


def loop_pid(arm: Session) -> int:
    return int(arm.board.header.loop_pid)


def nothing_is_left_of(arm: Session) -> bool:
    """No process, no shared memory."""
    return not alive(loop_pid(arm)) and arm.name not in running() and not arm.board.path.exists()
