"""A connection that never completes its request is closed; one that is answered, or has become a socket, is not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import Iterator
from threading import Thread

import pytest
import uvicorn
from websockets.sync.client import connect

from pliant.studio import half_requests
from pliant.studio.half_requests import ImpatientProtocol
from pliant.studio.listening import LOCAL
from support.waiting import until

LIMIT_S = 0.6
SLOW_S = 2.0


async def app(scope, receive, send) -> None:
    """Answers at once, slowly under /slow, and echoes what a socket sends."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": event["text"]})
    elif scope["type"] == "http":
        if scope["path"] == "/slow":
            await asyncio.sleep(SLOW_S)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch, socket.socket() as listening:
        patch.setattr(half_requests, "REQUEST_S", LIMIT_S)
        listening.bind((LOCAL, 0))
        config = uvicorn.Config(app, log_level="error", http=ImpatientProtocol, ws="websockets-sansio", lifespan="off")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        until(lambda: server.started)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def heard(port: int, *parts: bytes, pause_s: float = 0.0) -> bytes:
    """Everything that comes until the other side closes the connection."""
    with socket.create_connection((LOCAL, port), 60.0) as line:
        for part in parts:
            time.sleep(pause_s)
            with contextlib.suppress(ConnectionError):
                line.sendall(part)
        said = b""
        with contextlib.suppress(ConnectionError):
            while part := line.recv(4096):
                said += part
        return said


@pytest.mark.parametrize("half", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_half_a_request_is_closed_without_an_answer(port: int, half: bytes) -> None:
    began = time.monotonic()
    assert heard(port, half) == b""
    assert time.monotonic() - began >= 0.9 * LIMIT_S


def test_a_request_that_trickles_in_is_closed_too(port: int) -> None:
    assert heard(port, *(b"GET / HTTP/1.1\r\nA: " + b"x" * 40,), *([b"y"] * 10), pause_s=0.2) == b""


def test_two_hundred_half_requests_do_not_keep_another_one_out(port: int) -> None:
    lines = [socket.create_connection((LOCAL, port), 60.0) for _ in range(200)]
    try:
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\n")
        assert heard(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").endswith(b"ok")
        assert [line.recv(10) for line in lines] == [b""] * 200
    finally:
        for line in lines:
            line.close()


def test_an_answer_may_take_longer(port: int) -> None:
    assert heard(port, b"GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").endswith(b"ok")


def test_half_a_second_request_is_closed_too(port: int) -> None:
    said = heard(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\n")
    assert said.count(b"ok") == 1


def test_a_socket_stays_open(port: int) -> None:
    with connect(f"ws://{LOCAL}:{port}/") as line:
        time.sleep(2 * LIMIT_S + 1.0)
        line.send("still there")
        assert line.recv(timeout=60.0) == "still there"
