"""Begin a mission unless a stop has arrived. However close together the two are, the stop wins."""

from __future__ import annotations

from typing import Any

from pliant.mobile.mission.mission_link import MissionLink
from pliant.studio.request import Request


class MissionStart(MissionLink):
    """The link of one request to begin. It checks for a stop at the moment its command is sent."""

    def __init__(self, request: Request) -> None:
        link = request.mission
        super().__init__(link.task)
        self.board, self.name, self._request = link.board, link.name, request

    def _send(self, code: int, *, number: int = 0, values: Any = (), at_tick: int = 0) -> int:
        """Send, unless a stop has arrived. A stop is noted before it is sent, and none can be sent while this method
        checks and sends: a stop that has not been noted yet reaches the loop after this command, and stops it.
        """
        self._must_run()
        return self.board.send(code, number=number, values=values, at_tick=at_tick, allow=self._request.check_stops)
