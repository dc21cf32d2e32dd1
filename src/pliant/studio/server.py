"""The Studio's server: the page, its files, and one socket for each page. It listens on this machine only.

Whoever has the link has the token in it; without it nothing is answered. A page of another origin is turned away, so
that no other site that is open in the same browser can speak to the robot.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from pliant.errors import InputError, PliantError, RefusedError
from pliant.studio.actions import action_of
from pliant.studio.archive import pictures
from pliant.studio.hub import Hub, Page, told
from pliant.studio.stage import Stage

# The longest message that is read [bytes], and how many a page may send in a second.
MESSAGE_BYTES = 65536
MESSAGES_HZ = 120.0

# A token of your own, so that a page finds the way back after the server was started anew.
TOKEN_VARIABLE = "PLIANT_STUDIO_TOKEN"

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}

_log = logging.getLogger(__name__)


def static_folder() -> Path:
    """The page's files, made when the package was built."""
    folder = Path(str(resources.files("pliant.studio"))) / "static"
    if not (folder / "index.html").is_file():
        why = folder / "not-made"
        reason = f" ({why.read_text().splitlines()[0].rstrip('.')})" if why.is_file() else ""
        raise RefusedError(
            f"The Studio's page could not be made when Pliant was installed{reason}. "
            "It needs a registry of npm packages once: install Pliant again when there is one."
        )
    return folder


class Studio:
    """The application: who may come in, and what becomes of what they say."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.hub = stage, Hub(stage)
        self.token = os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(24)
        self._folder = static_folder()
        self._turn = asyncio.Lock()
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/pictures/{name}", self._picture),
                WebSocketRoute("/socket", self._socket),
                Mount("/files", StaticFiles(directory=self._folder)),
            ],
            lifespan=self._life,
        )

    @contextlib.asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(self.hub.run())
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.to_thread(self.stage.close)

    def _knows(self, token: str | None) -> bool:
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    async def _page(self, request: Request) -> Response:
        if not self._knows(request.query_params.get("token")):
            words = "This link lacks the token. Use the whole link that pliant studio printed."
            return PlainTextResponse(words, 401, HEADERS)
        return HTMLResponse((self._folder / "index.html").read_text(), headers=HEADERS)

    async def _picture(self, request: Request) -> Response:
        if not self._knows(request.query_params.get("token")):
            return PlainTextResponse("This link lacks the token.", 401, HEADERS)
        there = {path.name: path for path in pictures().glob("*.png")}
        if (path := there.get(request.path_params["name"])) is None:
            return PlainTextResponse("There is no such picture.", 404, HEADERS)
        return FileResponse(path, headers={**HEADERS, "Cache-Control": "no-store"})

    async def _socket(self, socket: WebSocket) -> None:
        if not self._knows(socket.query_params.get("token")):
            await socket.close(4401)
            return
        if socket.headers.get("origin") != f"http://{socket.headers.get('host')}":
            await socket.close(4403)
            return
        await socket.accept()
        page = Page()
        page.say({"type": "hello", **await asyncio.to_thread(self.stage.describe)})
        page.say(self.hub.now())
        self.hub.pages.add(page)
        sending = asyncio.create_task(self._send(socket, page))
        try:
            await self._receive(socket, page)
        finally:
            self.hub.pages.discard(page)
            sending.cancel()

    async def _send(self, socket: WebSocket, page: Page) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                data = await page.next()
                await (socket.send_bytes(data) if isinstance(data, bytes) else socket.send_text(data))

    async def _receive(self, socket: WebSocket, page: Page) -> None:
        allowed, then = MESSAGES_HZ, time.monotonic()
        busy: set[asyncio.Task[None]] = set()
        while True:
            event = await socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            now = time.monotonic()
            allowed, then = min(MESSAGES_HZ, allowed + (now - then) * MESSAGES_HZ) - 1.0, now
            if allowed < 0.0:
                await socket.close(4429, "too many messages")
                return
            task = asyncio.create_task(self._answer(event.get("text"), page))
            busy.add(task)
            task.add_done_callback(busy.discard)

    async def _answer(self, text: str | None, page: Page) -> None:
        """Do what a message asks for and say what became of it. What cannot be understood changes nothing."""
        number: Any = None
        try:
            message = _understood(text)
            number = message.get("id")
            action, when = action_of(message)
            if when == "at once":
                result = action(self.stage, message)
            elif when == "in turn":
                async with self._turn:  # which lets them in as they came; a lock of threads does not
                    result = await asyncio.to_thread(self._in_turn, action, message)
            else:
                result = await asyncio.to_thread(action, self.stage, message)
            page.say({"type": "answer", "id": number, "ok": True, **result})
            if message.get("do") in ("record", "stop_recording", "keep"):
                self.hub.say(self.hub.now())
        except PliantError as error:
            page.say({"type": "answer", "id": number, **told(error)})
        except Exception as error:  # whatever was sent: who asks gets an answer, and the reason is kept
            _log.exception("A request of a page has failed.")
            page.say({"type": "answer", "id": number, **told(PliantError(f"It cannot be done: {error}."))})

    def _in_turn(self, action: Any, message: dict[str, Any]) -> dict[str, Any]:
        with self.stage.lock:
            return action(self.stage, message)


def _understood(text: str | None) -> dict[str, Any]:
    if text is None or len(text) > MESSAGE_BYTES:
        raise InputError("message", "…", f"a JSON text of at most {MESSAGE_BYTES} bytes")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("message", text[:40], "a JSON object") from None
    if not isinstance(message, dict):
        raise InputError("message", text[:40], "a JSON object")
    number = message.get("id")
    if number is not None and (type(number) is not int or not 0 <= number < 2**53):
        raise InputError("id", str(number)[:40], "a whole number")
    return message
