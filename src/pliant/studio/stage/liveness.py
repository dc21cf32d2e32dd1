"""Whether a loop is alive: its board counts only while its process exists and ticks."""

from __future__ import annotations

import time

from pliant.loop.board_layout import FAULT, RUNNING, STARTING
from pliant.loop.boards.board_files import alive
from pliant.mobile.mission.mission_link import MissionLink
from pliant.session.link import Link

_GONE = "its process exited without reporting a reason"
# A loop that should run and has not ticked for this long is silent [s].
SILENT_S = 1.0
_SILENT = f"no tick for more than {SILENT_S:g} s. The display is out of date, and a stop may not reach the loop"
# At most this much counts between two polls [s]: if this process was suspended, the loop may have been too.
_LOOK_S = 0.2


def was_killed(link: Link | MissionLink) -> bool:
    """Whether its process is gone without a reported reason."""
    gone = not alive(int(link.board.header.loop_pid))  # checked first: then the status is final
    return gone and link.board.status in (STARTING, RUNNING)


def status_of(link: Link | MissionLink) -> tuple[str, str, str]:
    """The state of a loop (starting, running, fault or ended), why it ended, and where its last seconds were saved."""
    if was_killed(link):
        return "fault", link.notes.get("fault") or _GONE, ""
    status = link.board.status
    if status in (STARTING, RUNNING):
        return ("running" if status == RUNNING else "starting"), "", ""
    if status != FAULT:
        return "ended", link.board.reason, ""
    return "fault", link.board.reason, link.notes.get("black_box", "")


class Pulse:
    """Whether a loop that should run still ticks. Poll it, always with the loop that is shown."""

    def __init__(self) -> None:
        self._seen = ("", 0)
        self._looked_s = self._still_s = 0.0

    def status_of(self, link: Link | MissionLink) -> tuple[str, str, str]:
        """As `status_of`, or silent if a loop that should run has not ticked for a while."""
        told = status_of(link)
        now_s, seen = time.monotonic(), (link.name, int(link.board.head))
        moves = seen != self._seen or told[0] != "running"
        self._still_s = 0.0 if moves else self._still_s + min(now_s - self._looked_s, _LOOK_S)
        self._seen, self._looked_s = seen, now_s
        return ("silent", _SILENT, "") if self._still_s > SILENT_S else told
