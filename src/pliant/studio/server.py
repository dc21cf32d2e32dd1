"""The Studio's server: the page, its files, and one socket for each page. It listens on this machine only.

The link contains a token. Without it the server gives out no page, no picture and no socket; only the static files,
which contain nothing about the robot, are public. A page of another origin is rejected, so that no other site open in
the same browser can talk to the robot. So is a request under an unknown host name (see `host_check`).
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
import time
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from pliant.errors import RejectedError
from pliant.studio.host_check import HostCheck
from pliant.studio.hub import Hub, Page
from pliant.studio.request_handling import RequestHandler
from pliant.studio.stage.stage import Stage
from pliant.studio.wire import in_words, text_of
from pliant.studio.work.archive import pictures

# How many messages a page may send in a second, and how many all of them together.
MESSAGES_HZ, ALL_MESSAGES_HZ = 120.0, 480.0
# How many pages may be open.
MOST_PAGES = 16
# Why a socket is closed: no token, another origin, too many messages, too many pages, a page that does not keep up.
NO_TOKEN, STRANGE_ORIGIN, TOO_MANY_MESSAGES, TOO_MANY_PAGES, TOO_SLOW = 4401, 4403, 4429, 4416, 4408
# How long closing the connection to a page may take [s].
_CLOSE_S = 1.0
# How long a rejected page has to send a stop; its browser may be busy [s].
_FIRST_WORD_S = 10.0

# A token set by the user, so that a page can reconnect after the server has been restarted.
TOKEN_VARIABLE = "PLIANT_STUDIO_TOKEN"
_TOKEN_LETTERS = 16

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def static_folder() -> Path:
    """The page's files, built with the package."""
    folder = Path(str(resources.files("pliant.studio"))) / "static"
    if not (folder / "index.html").is_file():
        why = folder / "not-made"
        reason = f" ({why.read_text().splitlines()[0].rstrip('.')})" if why.is_file() else ""
        raise RejectedError(
            f"The Studio's page was not built when Pliant was installed{reason}. "
            "The build needs an npm registry: install Pliant again with access to one."
        )
    return folder


class Allowance:
    """A rate limit: this many messages per second, and as many at once after a pause."""

    def __init__(self, rate_hz: float) -> None:
        self._rate_hz = self._left = rate_hz
        self._then = time.monotonic()

    def takes(self) -> bool:
        """Whether one more message is allowed; if so, it is counted."""
        now = time.monotonic()
        self._left = min(self._rate_hz, self._left + (now - self._then) * self._rate_hz)
        self._then = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Studio:
    """The application: access checks, and handling of messages."""

    def __init__(self, stage: Stage, host: str, port: int) -> None:
        self.stage, self.hub, self.desk = stage, Hub(stage), RequestHandler(stage)
        self.token = _token()
        self._allowed = Allowance(ALL_MESSAGES_HZ)
        self._folder = static_folder()
        pages = Starlette(
            routes=[
                Route("/", self._page),
                Route("/pictures/{name}", self._picture),
                WebSocketRoute("/socket", self._socket),
                Mount("/files", StaticFiles(directory=self._folder)),
            ],
            lifespan=self._life,
        )
        self.app = HostCheck(pages, host, port)

    @contextlib.asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(self.hub.run())
        try:
            yield
        finally:
            looking.cancel()
            self.desk.close()
            await asyncio.to_thread(self.stage.close)

    def _knows(self, token: str | None) -> bool:
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    async def _page(self, request: Request) -> Response:
        if (token := request.query_params.get("token")) is None:
            words = "This link has no token. Use the complete link that pliant studio printed."
            return PlainTextResponse(words, 401, HEADERS)
        if not self._knows(token):
            words = (
                "The token in this link is out of date: each start of the Studio makes a new one. Use the link that it "
                f"printed last. To keep the same token, set {TOKEN_VARIABLE}."
            )
            return PlainTextResponse(words, 401, HEADERS)
        return HTMLResponse((self._folder / "index.html").read_text(), headers=HEADERS)

    async def _picture(self, request: Request) -> Response:
        if not self._knows(request.query_params.get("token")):
            return PlainTextResponse("This link has no valid token.", 401, HEADERS)
        there = {path.name: path for path in pictures().glob("*.png")}
        if (path := there.get(request.path_params["name"])) is None:
            return PlainTextResponse("Unknown picture.", 404, HEADERS)
        return FileResponse(path, headers={**HEADERS, "Cache-Control": "no-store"})

    async def _socket(self, socket: WebSocket) -> None:
        if not self._knows(socket.query_params.get("token")):
            await socket.close(NO_TOKEN)
            return
        if socket.headers.get("origin") != f"http://{socket.headers.get('host')}":
            await socket.close(STRANGE_ORIGIN)
            return
        await socket.accept()
        if len(self.hub.pages) >= MOST_PAGES:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it has disconnected
                await self._turn_away(socket)
            return
        page = Page()
        self.hub.pages.add(page)  # from now on the hub sends it everything
        sending = asyncio.create_task(self._send(socket, page))
        receiving = asyncio.create_task(self._receive(socket, page))
        losing = asyncio.create_task(page.lost.wait())
        try:
            await asyncio.wait({receiving, losing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.hub.pages.discard(page)
            self.desk.leave(page)
            for task in (sending, receiving, losing):
                task.cancel()
        if receiving.done():
            receiving.result()  # an exception in it is not lost
        elif page.lost.is_set():
            with contextlib.suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
                await asyncio.wait_for(socket.close(TOO_SLOW, "the page cannot keep up"), _CLOSE_S)

    async def _turn_away(self, socket: WebSocket) -> None:
        """Close a connection beyond the limit. If its first message is a stop, the stop is carried out all the same: it
        may come from an open page whose first connection hangs. The reason is sent at once; the connection stays open
        for that first message only.
        """
        page, stops = Page(), self.stage.stops
        why = f"{MOST_PAGES} pages are already open: close one of them."
        await socket.send_text(text_of({"type": "answer", "id": None, **in_words(RejectedError(why))}))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_WORD_S):
                event = await socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            self.desk.take(event.get("text"), page, is_crowded=True)
            if self.stage.stops != stops:
                async with asyncio.timeout(_CLOSE_S):
                    await socket.send_text(str(await page.next()))
        await socket.close(TOO_MANY_PAGES, why)

    async def _send(self, socket: WebSocket, page: Page) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                data = await page.next()
                await (socket.send_bytes(data) if isinstance(data, bytes) else socket.send_text(data))

    async def _receive(self, socket: WebSocket, page: Page) -> None:
        allowed = Allowance(MESSAGES_HZ)
        while True:
            event = await socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            if not allowed.takes():
                await socket.close(TOO_MANY_MESSAGES, "too many messages")
                return
            self.desk.take(event.get("text"), page, is_crowded=not self._allowed.takes())


def _token() -> str:
    """The token of this start; one of your own must be hard to guess too."""
    own = os.environ.get(TOKEN_VARIABLE, "")
    if own and len(own) < _TOKEN_LETTERS:
        raise RejectedError(f"{TOKEN_VARIABLE} has {len(own)} characters, but it must have at least {_TOKEN_LETTERS}.")
    return own or secrets.token_urlsafe(32)
