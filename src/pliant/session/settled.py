"""Wait until a loop has executed its commands: until then its board is out of date."""

from __future__ import annotations

import time

from pliant.session.board_link import Ticking
from pliant.session.link import Link


def settle(link: Link) -> None:
    """Wait until the loop has taken every command so far and has ticked since; raises `LoopError` if it hangs."""
    board, sent, ticking = link.board, int(link.board.header.queue_in), Ticking(link.board)
    taken_at = board.head if board.taken >= sent else None
    while link.running and (taken_at is None or board.head <= taken_at):
        ticking.check()
        time.sleep(link.task.dt / 2)
        if taken_at is None and board.taken >= sent:
            taken_at = board.head
