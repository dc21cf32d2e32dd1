"""Handles a request from its arrival to its answer.

A stop is sent to a running loop at once, in the thread in which it arrives. Stops for a loop that may have ended, and
pushes, have their own threads and wait for nothing. Requests that change a loop run one after the other, in order. The
others run in parallel. None of this happens in the thread that serves the pages, because cleaning up after a loop can
take seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pliant.errors import PliantError, RejectedError
from pliant.studio.actions import ACTIONS, BESIDE, HALT, IN_TURN, MOVES, PUSH, PUSH_S, Action, action_of
from pliant.studio.hub import Page
from pliant.studio.request import Request, asked_in, understood
from pliant.studio.stage.stage import Stage
from pliant.studio.wire import in_words, text_of

# Requests of one page that may be pending; further ones are rejected. A stop is never rejected.
MOST_WAITING = 32
# Threads for each kind of request. With one thread, requests are handled in the order in which they arrived.
_THREADS = {HALT: 1, PUSH: 1, IN_TURN: 1, BESIDE: 4}

_log = logging.getLogger(__name__)


class RequestHandler:
    """Passes requests to their thread, and answers to the page that sent them."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._pools = {when: ThreadPoolExecutor(n, f"studio {when}") for when, n in _THREADS.items()}

    def close(self) -> None:
        """Accept no more requests, and end the running work."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        self.stage.work.close()

    def take(self, text: str | None, page: Page, *, is_crowded: bool = False) -> None:
        """Accept a message from a page. Returns at once; the page gets the answer later.

        `is_crowded`: all pages together send too much. Then only a stop is accepted.
        """
        number: Any = None
        try:
            message = understood(text)
            number = message.get("id")
            asked = asked_in(message)
            action, when = action_of(asked.do)
            if when == HALT:
                self.stage.note_stop()  # now, so that earlier requests can be told from later ones
            elif is_crowded:
                raise RejectedError("The open pages send too many messages. This one was dropped: try again.")
            elif len(page.waiting) >= MOST_WAITING:
                raise RejectedError(
                    f"{MOST_WAITING} requests of this page are pending. This one was dropped: try again."
                )
            request = Request(self.stage, asked, page.history)
            if when == HALT:
                request.brakes = self.stage.brake_at_once()
        except PliantError as error:
            page.say({"type": "answer", "id": number, **in_words(error)})
            return
        job = asyncio.get_running_loop().run_in_executor(self._pools[when], self._answer, request, action, page)
        if when != HALT:  # a stop is carried out even if its page has disconnected
            page.waiting.add(job)
        job.add_done_callback(lambda done: _deliver(done, page))

    def leave(self, page: Page) -> None:
        """A page has disconnected: cancel its pending requests and end its push."""
        for job in list(page.waiting):
            job.cancel()
        with contextlib.suppress(RuntimeError):  # the Studio is closing, and its loop with it
            asyncio.get_running_loop().run_in_executor(self._pools[PUSH], self._cancel_pending, page)

    def _cancel_pending(self, page: Page) -> None:
        with contextlib.suppress(PliantError):  # there is no arm left to push
            if page.pushing is not None:
                self.stage.arm(page.pushing).push([0.0, 0.0, 0.0], PUSH_S)

    def _answer(self, request: Request[Any], action: Action, page: Page) -> str:
        """Carry out a request, in a thread of its kind; returns the answer."""
        number, name = request.asked.id, request.asked.do
        try:
            if name in MOVES:
                request.check_stops()
            result = action(request)
            if name == PUSH:
                page.pushing = request.run
            if name in MOVES and name in ACTIONS[IN_TURN] and request.is_stopped:
                self.stage.brake()  # a stop arrived meanwhile: the loop stops, whichever of the two it received first
            return text_of({"type": "answer", "id": number, "ok": True, **result})
        except PliantError as error:
            return text_of({"type": "answer", "id": number, **in_words(error)})
        except Exception as error:  # whatever was sent, the page gets an answer, and the reason is logged
            _log.exception("A request from a page failed.")
            return text_of({"type": "answer", "id": number, **in_words(PliantError(f"The request failed: {error}."))})


def _deliver(done: asyncio.Future[str], page: Page) -> None:
    page.waiting.discard(done)
    if not done.cancelled():
        page.put(done.result())
