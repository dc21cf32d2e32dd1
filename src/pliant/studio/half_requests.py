"""Connections that do not complete their request in time are closed: each would hold a file descriptor for ever."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

# How long a request may take to arrive [s]: a page sends one in milliseconds, a busy browser in seconds.
REQUEST_S = 10.0


class ImpatientProtocol(H11Protocol):
    """HTTP of a connection that is closed if no request is complete `REQUEST_S` after it opened, or after the last."""

    _waiting_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._waiting_since = self.loop.time()
        self.loop.call_later(REQUEST_S, self._look)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._waiting_since = self.loop.time()

    def _look(self) -> None:
        """Close the connection if it waits too long; look again while a request is answered."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:  # gone, or a socket by now
            return
        is_answering = self.cycle is not None and not self.cycle.response_complete
        left = self._waiting_since + REQUEST_S - self.loop.time()
        if is_answering or left > 0.0:
            self.loop.call_later(max(left, 1.0), self._look)
        else:
            self.transport.close()
