"""Who is let in, and what becomes of what they say: nothing hostile changes anything."""

from __future__ import annotations

import json
import re
from socket import create_connection
from typing import Any

import httpx
import pytest
from running_studio import TOKEN, Running, ask, dial, hello
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from pliant.errors import PliantError
from pliant.runtime.link import attach
from pliant.studio.actions import ACTIONS, MOVES
from pliant.studio.desk import MOST_WAITING
from pliant.studio.door import Door
from pliant.studio.serve import LOCAL, listen
from pliant.studio.server import TOKEN_VARIABLE, _token

STRANGER = "example.org"


def ask_all(socket: ClientConnection, *requests: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Send all at once; returns the answers in the order in which they come, by number."""
    for number, request in enumerate(requests):
        socket.send(json.dumps({"id": number, **request}))
    heard: dict[int, dict[str, Any]] = {}
    while len(heard) < len(requests):
        data = socket.recv(timeout=90)
        if isinstance(data, str) and (said := json.loads(data))["type"] == "answer":
            heard[said["id"]] = said
    return heard


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
    assert "Use the" in answer.text
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
    '{"id": 1, "do": "resume", "run": 0}',
    '{"id": 1, "do": "resume", "run": "latest"}',
    '{"id": 1, "do": "set", "run": 99, "values": {"sense.cutoff_hz": 30}}',
    '{"id": 1, "do": "set", "drag": "x", "values": {"sense.cutoff_hz": 30}}',
    '{"id": 1, "do": "set", "values": {"sense.cutoff_hz": NaN}}',
    '{"id": 1, "do": "start", "task": "hand_guiding", "robot": "ur:192.0.2.1"}',
    '{"id": 1, "do": "start", "task": "hand_guiding", "robot": "sim:/etc/passwd"}',
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


def test_a_task_that_is_refused_leaves_the_loop_that_runs(studio: Running) -> None:
    file = studio.folder / "unstable.yaml"
    file.write_text("law: admittance\nsurface_n_m: 1000000\nparams: {admittance: {mass: [0.5, 0.5, 0.5, 1, 1, 1]}}\n")
    with dial(studio) as socket:
        answer = ask(socket, {"id": 1, "do": "start", "task": str(file)})
    assert "is not stable" in answer["error"]
    head = studio.loop.board.head
    studio.until(lambda: studio.loop.board.head > head)


def test_a_message_that_is_too_long_ends_the_connection(studio: Running) -> None:
    with dial(studio) as socket:
        socket.send(json.dumps({"do": "halt", "more": "x" * 100_000}))
        with pytest.raises(ConnectionClosed):
            hear_all(socket)


def test_who_sends_too_much_is_cut_off_and_the_loop_goes_on(studio: Running) -> None:
    with dial(studio) as socket, pytest.raises(ConnectionClosed):
        flood(socket)
    head = studio.loop.board.head
    studio.until(lambda: studio.loop.board.head > head)


# ---- in which order ------------------------------------------------------------------------------------------------


def test_every_request_that_is_known_is_in_one_table() -> None:
    names = [name for table in ACTIONS.values() for name in table]
    assert len(names) == len(set(names))
    assert set(names) >= MOVES


def test_a_stop_waits_behind_nothing_and_nothing_moves_that_was_asked_before_it(studio: Running) -> None:
    with dial(studio) as socket:
        ask(socket, {"id": 1, "do": "halt"})
        studio.until(lambda: bool(studio.loop.state.goal.stop))
        studio.until(lambda: studio.stands)
        heard = ask_all(socket, {"do": "tare"}, {"do": "resume"}, {"do": "halt", "run": 0})
        assert next(iter(heard)) == 2
        assert heard[0]["ok"]
        assert "A stop came" in heard[1]["error"]
        assert studio.loop.state.goal.stop
        assert ask(socket, {"id": 4, "do": "resume"})["ok"]
        studio.until(lambda: not studio.loop.state.goal.stop)


def test_of_requests_that_wait_only_so_many_are_taken_and_a_stop_always(studio: Running) -> None:
    with dial(studio) as socket:
        ask(socket, {"id": 1, "do": "halt"})
        many = [{"do": "undo"}] * (MOST_WAITING + 8)
        heard = ask_all(socket, {"do": "tare"}, *many, {"do": "halt"})
        refused = [said for said in heard.values() if "waiting already" in said.get("error", "")]
        assert len(refused) == 9
        assert heard[len(many) + 1]["ok"]
        ask(socket, {"id": 1, "do": "resume"})


def test_a_page_that_is_gone_pushes_no_more_at_once(studio: Running) -> None:
    queue = studio.loop.board.header
    before = int(queue.queue_in)
    with dial(studio) as socket:
        assert ask(socket, {"id": 1, "do": "push", "force": [20, 0, 0]})["ok"]
        assert int(queue.queue_in) == before + 1
    studio.until(lambda: int(queue.queue_in) == before + 2)
    with dial(studio) as socket:
        ask(socket, {"id": 1, "do": "recordings"})
    studio.loop.wait(0.2)
    assert int(queue.queue_in) == before + 2  # who did not push has nothing to let go


def test_what_waits_behind_a_start_was_meant_for_the_loop_before(studio: Running) -> None:
    before = hello(studio)
    start = {"do": "start", "task": "hand_guiding", "run": before["number"]}
    with dial(studio) as socket:
        heard = ask_all(socket, start, {"do": "set", "values": {"sense.cutoff_hz": 33.0}}, {"do": "resume"}, start)
    assert heard[0]["ok"]
    for late in (1, 2, 3):
        assert "another loop" in heard[late]["error"]
    after = hello(studio)
    assert after["number"] == before["number"] + 1
    assert after["loop"]["name"] != before["loop"]["name"]
    studio.loop = attach(after["loop"]["name"])
    assert studio.loop.parameters == studio.loop.task.params


def test_a_stop_that_follows_a_start_is_for_whatever_runs_then(studio: Running) -> None:
    with dial(studio) as socket:
        heard = ask_all(socket, {"do": "start", "task": "hand_guiding"}, {"do": "halt"})
        assert heard[1]["ok"]
    if heard[0]["ok"]:  # else it had not begun yet, and was not begun
        studio.loop = attach(hello(studio)["loop"]["name"])
    studio.until(lambda: bool(studio.loop.state.goal.stop))


# ---- by which name -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [STRANGER, f"{STRANGER}:{{port}}", f"{LOCAL}:1", LOCAL, "", "x@127.0.0.1:{port}"])
def test_who_comes_by_a_strange_name_is_turned_away(studio: Running, name: str) -> None:
    host = name.format(port=studio.port)
    answer = httpx.get(studio.url, headers={"Host": host})
    assert answer.status_code in (400, 421)
    if answer.status_code == 421:
        assert f"port {studio.port}. Use the link that pliant studio printed" in answer.text
    assert "default-src" not in answer.headers.get("content-security-policy", "")


def test_a_socket_by_a_strange_name_is_turned_away_though_its_origin_fits(studio: Running) -> None:
    host = f"{STRANGER}:{studio.port}"
    line = create_connection((LOCAL, studio.port))
    with (
        pytest.raises((ConnectionClosed, InvalidStatus)),
        connect(f"ws://{host}/socket?token={TOKEN}", origin=f"http://{host}", sock=line) as socket,  # type: ignore[arg-type]
    ):
        socket.recv(timeout=90)


def test_names_of_this_machine_are_known_and_of_all_addresses_any_address(studio: Running) -> None:
    assert httpx.get(studio.url.replace(LOCAL, "localhost")).status_code == 200

    async def nothing(*_: object) -> None: ...

    local, exposed = Door(nothing, LOCAL, 8000), Door(nothing, "0.0.0.0", 8000)
    for door in (local, exposed):
        assert all(door.knows([name]) for name in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:8000"))
        assert not any(door.knows([name]) for name in ("robot.local:8000", "127.0.0.1", "[::1:8000", "localhost:x"))
        assert not door.knows([])
        assert not door.knows(["localhost:8000", "localhost:8000"])
    assert exposed.knows(["192.0.2.7:8000"])
    assert not local.knows(["192.0.2.7:8000"])
    assert Door(nothing, "192.0.2.7", 80).knows(["192.0.2.7"])


def test_a_token_is_hard_to_guess_whoever_chose_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    first, second = _token(), _token()
    assert first != second
    assert len(first) >= 43  # 32 bytes, six bits to a letter
    assert re.fullmatch(r"[\w-]+", first)
    monkeypatch.setenv(TOKEN_VARIABLE, "short")
    with pytest.raises(PliantError, match="at least 16"):
        _token()


def test_other_machines_are_let_in_only_when_it_is_said() -> None:
    with pytest.raises(PliantError, match="--expose"):
        listen("0.0.0.0", 0, expose=False)
    with pytest.raises(PliantError, match="an IP address"):
        listen("my host", 0, expose=False)
    listen("0.0.0.0", 0, expose=True).close()
