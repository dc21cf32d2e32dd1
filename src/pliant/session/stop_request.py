"""A stop sent to a loop. It is confirmed when the loop has carried it out, not when it is queued."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from pliant.errors import PliantError
from pliant.loop import goal_requests
from pliant.session.board_link import BoardLink

# So long a loop that ticks may take to carry it out [s]: many ticks of the slowest, and half of what a page waits for.
HEARD_S = 0.5
_LOOK_S = 0.002


class Brake:
    """One stop, sent to one loop. It bypasses the link, which would clean up after a loop that has just ended."""

    def __init__(self, link: BoardLink[Any], *, can_hear: bool = True) -> None:
        self._link = link
        self._number: int | None = None
        if not can_hear:  # it begins, and may have no board yet
            return
        self._first = link.board.head
        with contextlib.suppress(PliantError):  # its queue is full: it does not listen
            self._number = link.board.send(goal_requests.HALT)

    def is_heard(self, deadline_s: float) -> bool:
        """Whether the loop has carried it out or has ended; waits at most until `deadline_s` of the monotonic clock."""
        while self._number is not None:
            if not self._link.running or self._obeys():
                return True
            if time.monotonic() > deadline_s:
                return False
            time.sleep(_LOOK_S)
        return False

    def _obeys(self) -> bool:
        """Whether it has received the stop and stops; earlier reports do not count."""
        board = self._link.board
        if self._number is None or board.taken < self._number:
            return False
        return self._link.has_stopped(self._first)
