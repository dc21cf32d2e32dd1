"""Listening: on this machine only, unless --expose is given."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from urllib.parse import quote

import uvicorn

from pliant.errors import InputError, RejectedError
from pliant.studio.half_requests import ImpatientProtocol
from pliant.studio.request import MESSAGE_BYTES
from pliant.studio.server import Studio
from pliant.studio.stage.stage import Stage

LOCAL = "127.0.0.1"
# A page that has not answered for this long is treated as closed [s]. On a busy machine a page may just be slow: a ping
# waits there behind the frames that were sent before it.
_GONE_S = 30.0


def listen(host: str, port: int, *, expose: bool) -> socket.socket:
    """A listening socket; other machines can reach it only with `expose`."""
    host = host or LOCAL
    try:
        local = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host).is_loopback
    except ValueError:
        raise InputError("--host", host, "an IP address of this machine", "Example: 127.0.0.1.") from None
    if not local and not expose:
        raise RejectedError(
            f"Other machines can reach {host}, and anyone with the link can move the robot. "
            "Add --expose if you want this."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # from now on, new connections wait instead of being rejected
    except OSError as error:
        listening.close()
        reason = error.strerror or error
        raise RejectedError(f"The Studio cannot listen on {host} port {port}: {reason}. Try another --port.") from None
    return listening


def is_exposed(listening: socket.socket) -> bool:
    """Whether other machines can reach it."""
    return not ipaddress.ip_address(listening.getsockname()[0]).is_loopback


def link_of(listening: socket.socket, token: str) -> str:
    """The address of the page."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/?token={quote(token, safe='')}"


def serve(stage: Stage, listening: socket.socket, ready: Callable[[str], object]) -> None:
    """Serve the stage until Ctrl-C; `ready` is called with the link."""
    studio = Studio(stage, *listening.getsockname()[:2])
    config = uvicorn.Config(
        studio.app, log_level="error", http=ImpatientProtocol, ws="websockets-sansio", ws_max_size=MESSAGE_BYTES,
        ws_ping_interval=5.0, ws_ping_timeout=_GONE_S, timeout_graceful_shutdown=1, server_header=False,
    )  # fmt: skip
    ready(link_of(listening, studio.token))
    uvicorn.Server(config).run(sockets=[listening])
