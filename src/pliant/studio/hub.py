"""One reader of the board for all pages: reads every new record once, with a queue per page that drops old frames."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.session.undo import Changes
from pliant.studio.page_messages import Status
from pliant.studio.stage.liveness import Pulse
from pliant.studio.stage.shown_scene import Scene
from pliant.studio.stage.stage import Stage
from pliant.studio.wire import frame, samples_of, text_of

FRAMES_HZ = 30.0
# Frames that may wait for a page; beyond that, the oldest are dropped.
_WAITING = 3
# Text messages that may wait for a page; beyond that, the page is disconnected.
_MOST_WORDS = 200

_log = logging.getLogger(__name__)


class Page:
    """One connected page: messages are kept in order, and only the newest frames."""

    def __init__(self) -> None:
        self.number = -1
        """The number of the loop that was last described to it."""
        self.history = Changes()
        self.waiting: set[asyncio.Future[str]] = set()
        """Its requests that have not been answered yet."""
        self.pushing: int | None = None
        """The number of the loop whose arm it last pushed."""
        self.is_blank = True
        """Whether nothing of the loop has been sent to it yet."""
        self.lost = asyncio.Event()
        """It cannot keep up: it must reconnect and receive everything again."""
        self._words: deque[str] = deque()
        self._frames: deque[bytes] = deque(maxlen=_WAITING)
        self._new = asyncio.Event()

    def greet(self, number: int, hello: str) -> None:
        """Describe another loop to it: old frames, and its changes to the old loop, no longer apply."""
        self.number, self.history, self.is_blank = number, Changes(), True
        self._frames.clear()
        self.put(hello)

    def say(self, message: Mapping[str, Any]) -> None:
        """Queue a message for the page."""
        self.put(text_of(message))

    def put(self, text: str) -> None:
        """Queue a text that is JSON already."""
        if len(self._words) >= _MOST_WORDS:  # a page that misses a message would show outdated values
            self.lost.set()
            return
        self._words.append(text)
        self._new.set()

    def show(self, data: bytes) -> None:
        """Replace the frame that the page gets next."""
        self.is_blank = False
        self._frames.append(data)
        self._new.set()

    async def next(self) -> str | bytes:
        """The next message or frame to send."""
        while not (self._words or self._frames):
            self._new.clear()
            await self._new.wait()
        return self._words.popleft() if self._words else self._frames.popleft()


class Hub:
    """Watches the stage's loop and sends every page what is new."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.pages = stage, set[Page]()
        self._number, self._at, self._sent, self._news = 0, 0, 0, -1
        self._status = ""
        self._mishaps = set[tuple[type[Exception], str, int]]()
        self._pulse = Pulse()
        self._opening: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Run until cancelled: an error in one pass does not prevent the next."""
        while True:
            with self._next_look():
                self._open()
            with self._next_look():
                await self.greet()
            with self._next_look():
                self.look()
            with self._next_look():
                if self.stage.was_killed:  # the pages have been notified already: saving its last seconds takes a while
                    await asyncio.to_thread(self.stage.clean_up_killed)
            await asyncio.sleep(1.0 / FRAMES_HZ)

    def _open(self) -> None:
        """Start the task that waits for the first page, in the background."""
        if self.pages and (start := self.stage.open()) is not None:
            self._opening = asyncio.create_task(asyncio.to_thread(start))

    @contextlib.contextmanager
    def _next_look(self) -> Iterator[None]:
        """Retry after an error in the next pass; an error that is not one of Pliant's is logged, once for each type."""
        try:
            yield
        except PliantError:
            pass  # a loop that has just ended: the next pass reports it
        except Exception as error:
            if (mishap := (type(error), *_place_of(error))) not in self._mishaps:
                self._mishaps.add(mishap)
                _log.exception("The Studio could not read its loop. It tries again.")

    async def greet(self) -> None:
        """Describe the stage to new pages, and to all pages when another loop is shown."""
        if all(page.number == self.stage.number for page in self.pages):
            return
        number, hello = await asyncio.to_thread(self._hello)
        status = text_of(self.status())
        for page in self.pages:
            if page.number != number:
                page.greet(number, hello)
                page.put(status)

    def _hello(self) -> tuple[int, str]:
        words = self.stage.describe()
        return words["number"], text_of(words)

    def look(self) -> None:
        """Send the pages what has happened since the last pass. Never waits."""
        now = self.status()
        if (status := text_of(now)) != self._status:
            self._status = status
            for page in self.pages:
                page.put(status)
        scene = self.stage.scene
        if scene is None:
            return
        if scene.number != self._number:
            self._number, self._sent, self._news = scene.number, 0, -1
            self._at = scene.link.board.head
        if (news := scene.news) != self._news:
            self._news = news
            words = text_of(scene.tell())
            for page in self._following(scene):
                page.put(words)
        self._show_new(scene)
        if now["status"] in ("fault", "ended"):
            self._show_end(scene)

    def _following(self, scene: Scene[Any]) -> list[Page]:
        """The pages to which this loop has been described."""
        return [page for page in self.pages if page.number == scene.number]

    def status(self) -> Status:
        """The state of the loop, for the pages."""
        scene = self.stage.scene
        none = "starting" if self.stage.is_opening else "none"
        status, reason, black_box = (none, "", "") if scene is None else self._pulse.status_of(scene.link)
        recording, mishap = self.stage.recorder.look()
        return {
            "type": "status",
            "status": status,
            "reason": reason,
            "black_box": black_box,
            "recording": recording,
            "mishap": mishap or self.stage.mishap,
            "kept": list(self.stage.kept),
            "busy": self.stage.work.in_progress,
        }

    def _show_new(self, scene: Scene[Any]) -> None:
        link = scene.link
        records, self._at, _ = link.board.read(max(self._at, link.board.head - round(link.task.rate_hz)))
        if not len(records) or not self.pages:
            return
        data = self._frame(scene, records)
        for page in self._following(scene):
            page.show(data)

    def _show_end(self, scene: Scene[Any]) -> None:
        """Send the last seconds to pages that connected after the end: they will get no other frame."""
        late = [page for page in self._following(scene) if page.is_blank]
        if late and scene.link.board.head > 0:
            data = self._frame(scene, scene.link.board.read(0)[0])
            for page in late:
                page.show(data)

    def _frame(self, scene: Scene[Any], records: np.ndarray[Any, Any]) -> bytes:
        newest, samples = records[-1], samples_of(records, scene.every, scene.channels)
        first, self._sent = self._sent, self._sent + len(samples)
        return frame(first, newest, scene.shapes.poses(newest), samples)


def _place_of(error: Exception) -> tuple[str, int]:
    """The file and the line in which it was raised."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return ("", 0) if at is None else (at.tb_frame.f_code.co_filename, at.tb_lineno)
