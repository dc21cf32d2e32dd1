"""Only requests under one of the Studio's own host names are accepted.

A browser sends the host name that it used. A web site that points its own name to this machine sends that name, and is
rejected before anything else is checked (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_LOCAL = ("127.0.0.1", "::1")
_HTTP_PORT = 80
# An error message quotes at most this many characters of a host name.
_LONGEST = 100


class HostCheck:
    """Passes on requests to a name of this machine, or to the address that the Studio listens on."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self._app, self._port = app, port
        bound = ipaddress.ip_address(host)
        self._own = {bound, *map(ipaddress.ip_address, _LOCAL)}
        # any address will do if it listens on all of them: others can redirect names to it, not addresses
        self._any = bound.is_unspecified

    def is_known(self, names: list[str]) -> bool:
        """Whether the Host header is one of the Studio's own names."""
        try:
            (name,) = names
            called = urlsplit(f"//{name}")
            host, port = called.hostname or "", called.port or _HTTP_PORT
            if port != self._port or called.username is not None or called.path:
                return False
            return host == "localhost" or self._any_or_own(host)
        except ValueError:
            return False

    def _any_or_own(self, host: str) -> bool:
        address = ipaddress.ip_address(host)
        return self._any or address in self._own

    def _refusal(self, called: str | None) -> str:
        """Why this host name is rejected, and what to do instead."""
        name = f"The host name {called[:_LONGEST]}" if called else "A request without a host name"
        own = "any address of this machine" if self._any else " or ".join(sorted(map(str, self._own)))
        return (
            f"{name} is not accepted. Accepted: localhost, {own}, port {self._port}. Use the link that pliant studio "
            "printed, unchanged. To connect from another machine, start the Studio with --host and --expose."
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self.is_known(Headers(scope=scope).getlist("host")):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(self._refusal(Headers(scope=scope).get("host")), 421)(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 4421})
