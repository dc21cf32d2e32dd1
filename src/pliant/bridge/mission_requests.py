"""Requests to a mission over ROS 2: start and stop."""

from __future__ import annotations

from typing import Any

from pliant.errors import UnknownNameError
from pliant.loop import goal_requests
from pliant.mobile.mission.mission_link import MissionLink

WORDS = {
    "start": goal_requests.RESUME,
    "stop": goal_requests.HALT,
    "halt": goal_requests.HALT,
    "quit": goal_requests.QUIT,
}


class MissionRequests:
    """Forwards requests without waiting: a stop must take effect while a path is still being planned."""

    def __init__(self, link: MissionLink) -> None:
        self.link = link

    def command(self, message: Any) -> str:
        """A String: one of `WORDS`."""
        word = str(message.data).strip()
        if word not in WORDS:
            raise UnknownNameError("command", word[:80], WORDS)
        self.link.board.send(WORDS[word])
        return f"{word} was sent to the loop"
