"""One reader of the board for all pages: every new record once, and a queue for each page that drops what is old."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from typing import Any

from pliant.errors import PliantError
from pliant.runtime.board_layout import FAULT, RUNNING
from pliant.runtime.link import Link
from pliant.runtime.mission_link import MissionLink
from pliant.studio.scene import Scene
from pliant.studio.stage import Stage
from pliant.studio.wire import frame, samples_of

FRAMES_HZ = 30.0
# Frames that may wait for a page; when there are more, the oldest go.
_WAITING = 3


class Page:
    """One connected page: words are kept in order, of frames only the newest."""

    def __init__(self) -> None:
        self._words: deque[str] = deque(maxlen=200)
        self._frames: deque[bytes] = deque(maxlen=_WAITING)
        self._new = asyncio.Event()

    def say(self, message: dict[str, Any]) -> None:
        self._words.append(json.dumps(message))
        self._new.set()

    def show(self, data: bytes) -> None:
        self._frames.append(data)
        self._new.set()

    async def next(self) -> str | bytes:
        """The next thing to send."""
        while not (self._words or self._frames):
            self._new.clear()
            await self._new.wait()
        return self._words.popleft() if self._words else self._frames.popleft()


class Hub:
    """Looks at the stage's loop and tells every page what is new."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.pages = stage, set[Page]()
        self._number, self._at, self._sent, self._news = 0, 0, 0, -1
        self._status = ""

    def say(self, message: dict[str, Any]) -> None:
        for page in self.pages:
            page.say(message)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            # a loop that has just ended, or whose story was cut short by its end: the next look says so
            with contextlib.suppress(PliantError, LookupError, ValueError):
                self.look()
            await asyncio.sleep(1.0 / FRAMES_HZ)

    def look(self) -> None:
        """Tell the pages what has happened since the last look. Never waits."""
        scene = self.stage.scene
        if scene is None:
            self._tell_status("none", "")
            return
        link = scene.link
        if scene.number != self._number:
            self._number, self._sent, self._news, self._status = scene.number, 0, -1, ""
            self._at = link.board.head
            self.say({"type": "hello", **self.stage.describe()})
        self._tell_status(*_status_of(link))
        if (news := scene.news) != self._news:
            self._news = news
            self.say(scene.tell())
        self._show_new(scene)

    def _tell_status(self, status: str, reason: str) -> None:
        if (told := f"{status} {reason}") != self._status:
            self._status = told
            self.say(self.status(status, reason))

    def now(self) -> dict[str, Any]:
        """How the loop is, for the pages."""
        scene = self.stage.scene
        return self.status(*(("none", "") if scene is None else _status_of(scene.link)))

    def status(self, status: str, reason: str) -> dict[str, Any]:
        return {
            "type": "status",
            "status": status,
            "reason": reason,
            "recording": self.stage.recording,
            "kept": list(self.stage.kept),
        }

    def _show_new(self, scene: Scene[Any]) -> None:
        link = scene.link
        records, self._at, _ = link.board.read(max(self._at, link.board.head - round(link.task.rate_hz)))
        if not len(records) or not self.pages:
            return
        newest = records[-1]
        samples = samples_of(records, scene.every, scene.channels)
        data = frame(self._sent, newest, scene.shapes.poses(newest), samples)
        self._sent += len(samples)
        for page in self.pages:
            page.show(data)


def _status_of(link: Link | MissionLink) -> tuple[str, str]:
    if link.board.status == RUNNING:
        return "running", ""
    return "fault" if link.board.status == FAULT else "ended", link.board.reason


def told(error: PliantError) -> dict[str, Any]:
    """An error as a page shows it."""
    return {"ok": False, "error": str(error), "field": getattr(error, "field", None)}
