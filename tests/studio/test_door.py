"""Who is let in, and what becomes of what they say: nothing hostile changes anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from running_studio import TOKEN, Running, until
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from pliant.errors import PliantError
from pliant.studio.actions import AT_ONCE, IN_TURN
from pliant.studio.serve import LOCAL, listen

STRANGER = "example.org"


def dial(studio: Running, token: str = TOKEN, origin: str | None = None) -> ClientConnection:
    host = f"{LOCAL}:{studio.port}"
    return connect(f"ws://{host}/socket?token={token}", origin=origin or f"http://{host}")  # type: ignore[arg-type]


def ask(socket: ClientConnection, message: Any) -> dict[str, Any]:
    """Send, and wait for the answer."""
    socket.send(message if isinstance(message, str | bytes) else json.dumps(message))
    while True:
        data = socket.recv(timeout=90)
        if isinstance(data, str) and (said := json.loads(data))["type"] == "answer":
            return said


def hear_all(socket: ClientConnection) -> None:
    """Until the other side ends it."""
    while True:
        socket.recv(timeout=90)


def flood(socket: ClientConnection) -> None:
    for _ in range(2000):
        socket.send('{"do": "nothing"}')
    hear_all(socket)


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token={TOKEN}x"])
def test_without_the_token_there_is_no_page(studio: Running, query: str) -> None:
    answer = httpx.get(f"http://{LOCAL}:{studio.port}/{query}")
    assert answer.status_code == 401
    assert "token" in answer.text


def test_with_the_token_the_page_comes_and_asks_nobody_else(studio: Running) -> None:
    answer = httpx.get(studio.url)
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    for name in re.findall(r"files/[\w.]+", answer.text):
        file = httpx.get(f"http://{LOCAL}:{studio.port}/{name}")
        assert file.status_code == 200
        assert len(file.text) > 1000
    assert not re.findall(r"(?:src|href)=.https?:", answer.text)


@pytest.mark.parametrize(
    ("token", "origin"),
    [("wrong", None), (TOKEN, f"http://{STRANGER}"), (TOKEN, f"http://{LOCAL}:1"), (TOKEN, "null")],
)
def test_a_stranger_does_not_get_a_socket(studio: Running, token: str, origin: str | None) -> None:
    with pytest.raises((ConnectionClosed, InvalidStatus)), dial(studio, token, origin) as socket:
        socket.recv(timeout=90)


HOSTILE = [
    "",
    "null",
    "[]",
    "{",
    "[" * 60_000,
    '{"id": 1}',
    '{"id": "x", "do": "halt"}',
    '{"id": 1, "do": "__init__"}',
    '{"id": 1, "do": ["halt"]}',
    '{"id": 1, "do": "set"}',
    '{"id": 1, "do": "set", "values": {"admittance.mass": -1}}',
    '{"id": 1, "do": "set", "values": {"admittance.mass": "heavy"}}',
    '{"id": 1, "do": "set", "values": {"no.such": 1}}',
    '{"id": 1, "do": "set", "values": {"admittance.mass": 5, "sense.cutoff_hz": -1}}',
    '{"id": 1, "do": "set", "values": {"admittance.frame": "tool"}}',
    '{"id": 1, "do": "push", "force": [1, 2]}',
    '{"id": 1, "do": "push", "force": [NaN, 0, 0]}',
    '{"id": 1, "do": "push", "force": [true, 0, 0]}',
    '{"id": 1, "do": "goal", "position": [1e300, 0, 0]}',
    '{"id": 1, "do": "law", "law": "impedance"}',
    '{"id": 1, "do": "order", "order": "explode"}',
    '{"id": 1, "do": "save", "path": "/no/such/folder/x.yaml"}',
    '{"id": 1, "do": "start", "task": "../../etc/passwd"}',
    '{"id": 1, "do": "start", "task": 5}',
    '{"id": 1, "do": "start", "task": "\\u0000.yaml"}',
    f'{{"id": 1, "do": "start", "task": "{"x" * 400}"}}',
    f'{{"id": 1, "do": "push", "force": [{"9" * 400}, 0, 0]}}',
    '{"id": 1, "do": "start", "task": "/dev/tty"}',
    '{"id": 1, "do": "open", "name": "../x.mcap"}',
    '{"id": 1, "do": "begin"}',
    '{"id": 1, "do": "aim", "position": [1, 2]}',
    b"\x00\x01\x02",
]


@pytest.mark.parametrize("message", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_message_is_answered_with_a_sentence_and_changes_nothing(studio: Running, message: Any) -> None:
    before = (studio.loop.board.adopted, studio.loop.board.header.queue_in, studio.loop.parameters)
    with dial(studio) as socket:
        answer = ask(socket, message)
    assert answer["ok"] is False
    assert answer["error"].endswith((".", "?"))
    assert (studio.loop.board.adopted, studio.loop.board.header.queue_in, studio.loop.parameters) == before
    assert studio.loop.running


def test_a_task_that_is_refused_leaves_the_loop_that_runs(studio: Running, out: Path) -> None:
    file = out / "unstable.yaml"
    file.write_text("law: admittance\nsurface_n_m: 1000000\nparams: {admittance: {mass: [0.5, 0.5, 0.5, 1, 1, 1]}}\n")
    with dial(studio) as socket:
        answer = ask(socket, {"id": 1, "do": "start", "task": str(file)})
    assert "is not stable" in answer["error"]
    head = studio.loop.board.head
    until(lambda: studio.loop.board.head > head)


def test_a_message_that_is_too_long_ends_the_connection(studio: Running) -> None:
    with dial(studio) as socket:
        socket.send(json.dumps({"do": "halt", "more": "x" * 100_000}))
        with pytest.raises(ConnectionClosed):
            hear_all(socket)


def test_who_sends_too_much_is_cut_off_and_the_loop_goes_on(studio: Running) -> None:
    with dial(studio) as socket, pytest.raises(ConnectionClosed):
        flood(socket)
    head = studio.loop.board.head
    until(lambda: studio.loop.board.head > head)


def test_every_request_that_is_known_is_in_one_table() -> None:
    assert not set(AT_ONCE) & set(IN_TURN)
    assert {"halt", "push"} <= set(AT_ONCE)


def test_other_machines_are_let_in_only_when_it_is_said() -> None:
    with pytest.raises(PliantError, match="--expose"):
        listen("0.0.0.0", 0, expose=False)
    with pytest.raises(PliantError, match="an IP address"):
        listen("my host", 0, expose=False)
    listen("0.0.0.0", 0, expose=True).close()
