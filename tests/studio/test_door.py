"""Who is let in, and what becomes of what they say: nothing hostile changes anything."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from socket import create_connection
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from running_studio import PATIENCE_S, TOKEN, Running, ask, dial, hello
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from pliant.errors import PliantError
from pliant.session.link import attach
from pliant.studio.actions import ACTIONS, IN_TURN, MOVES
from pliant.studio.host_check import HostCheck
from pliant.studio.hub import Page
from pliant.studio.listening import LOCAL, listen
from pliant.studio.request import Request
from pliant.studio.request_handling import MOST_WAITING, RequestHandler
from pliant.studio.server import TOKEN_VARIABLE, _token
from pliant.studio.stage.stage import Stage

STRANGER = "example.org"
QUERIES = ["", "?token=", "?token=wrong", f"?token={TOKEN}x"]


def ask_all(socket: ClientConnection, *requests: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Send all at once; returns the answers in the order in which they come, by number."""
    for number, request in enumerate(requests):
        socket.send(json.dumps({"id": number, **request}))
    heard: dict[int, dict[str, Any]] = {}
    while len(heard) < len(requests):
        data = socket.recv(timeout=PATIENCE_S)
        if isinstance(data, str) and (said := json.loads(data))["type"] == "answer":
            heard[said["id"]] = said
    return heard


def hear_all(socket: ClientConnection) -> None:
    """Until the other side ends it."""
    while True:
        socket.recv(timeout=PATIENCE_S)


def get(address: str, **more: Any) -> httpx.Response:
    return httpx.get(address, timeout=PATIENCE_S, **more)


def flood(socket: ClientConnection) -> None:
    for _ in range(2000):
        socket.send('{"do": "nothing"}')
    hear_all(socket)


@pytest.mark.parametrize("query", QUERIES)
def test_without_the_token_there_is_no_page(studio: Running, query: str) -> None:
    answer = get(f"http://{LOCAL}:{studio.port}/{query}")
    assert answer.status_code == 401
    assert "Use the" in answer.text
    assert "token" in answer.text


def test_without_the_token_there_is_no_picture(studio: Running) -> None:
    folder = studio.folder / "studio-pictures"
    folder.mkdir(exist_ok=True)
    (folder / "mine.png").write_bytes(b"a picture")
    address = f"http://{LOCAL}:{studio.port}/pictures/mine.png"
    for query in QUERIES:
        answer = get(f"{address}{query}")
        assert answer.status_code == 401
        assert b"a picture" not in answer.content
    assert get(f"{address}?token={TOKEN}").content == b"a picture"
    for name in ("..%2Fmine.png", "nothing.png", "mine.yaml"):
        assert get(f"http://{LOCAL}:{studio.port}/pictures/{name}?token={TOKEN}").status_code == 404


def test_with_the_token_the_page_comes_and_asks_nobody_else(studio: Running) -> None:
    answer = get(studio.url)
    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    for name in re.findall(r"files/[\w.]+", answer.text):
        file = get(f"http://{LOCAL}:{studio.port}/{name}")
        assert file.status_code == 200
        assert len(file.text) > 1000
    assert not re.findall(r"(?:src|href)=.https?:", answer.text)


@pytest.mark.parametrize(
    ("token", "origin"),
    [("wrong", ""), (TOKEN, None), (TOKEN, f"http://{STRANGER}"), (TOKEN, f"http://{LOCAL}:1"), (TOKEN, "null")],
)
def test_a_stranger_does_not_get_a_socket(studio: Running, token: str, origin: str | None) -> None:
    with pytest.raises((ConnectionClosed, InvalidStatus)), dial(studio, token, origin) as socket:
        socket.recv(timeout=PATIENCE_S)


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
    '{"id": 1, "do": "goal", "position": [null, null, null]}',
    '{"id": 1, "do": "goal", "position": [null, "1", null]}',
    '{"id": 1, "do": "virtual_push", "force": [null, 1e400, null]}',
    '{"id": 1, "do": "law", "law": "impedance"}',
    '{"id": 1, "do": "resume", "run": 0}',
    '{"id": 1, "do": "resume", "run": "latest"}',
    '{"id": 1, "do": "set", "run": 99, "values": {"sense.cutoff_hz": 30}}',
    '{"id": 1, "do": "set", "drag": "x", "values": {"sense.cutoff_hz": 30}}',
    '{"id": 1, "do": "set", "values": {"sense.cutoff_hz": NaN}}',
    '{"id": 1, "do": "start", "task": "hand_guiding", "robot": "ur:192.0.2.1"}',
    '{"id": 1, "do": "start", "task": "hand_guiding", "robot": "sim:/etc/passwd"}',
    '{"id": 1, "do": "command", "commands": ["explode"]}',
    '{"id": 1, "do": "command", "commands": []}',
    '{"id": 1, "do": "resume", "now": true}',
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
    '{"id": 1, "do": "push", "force": [1e400, 0, 0]}',
    '{"id": 1, "do": "goal", "position": [0.4, -1e400, 0.3]}',
    '{"id": 1, "do": "virtual_push", "force": [0, 0, 1e400]}',
    '{"id": 1, "do": "set", "values": {"sense.cutoff_hz": 1e400}}',
    '{"id": 1e400, "do": "undo"}',
    '{"id": 1, "do": "ahead"}',
    '{"id": 1, "do": "ahead", "parameter": "sense.cutoff_hz", "values": {}}',
    '{"id": 1, "do": "ahead", "parameter": "sense.cutoff_hz", "values": [20]}',
    f'{{"id": 1, "do": "ahead", "parameter": "sense.cutoff_hz", "values": [{"20, " * 65}20]}}',
    '{"id": 1, "do": "ahead", "parameter": ["sense.cutoff_hz"], "values": [1, 2]}',
    '{"id": 1, "do": "compare"}',
    '{"id": 1, "do": "compare", "preset": "../../etc/passwd"}',
    '{"id": 1, "do": "compare", "preset": "/dev/tty"}',
    '{"id": 1, "do": "preset", "preset": "\\u0000"}',
    '{"id": 1, "do": "preset", "preset": 5}',
    '{"id": 1, "do": "plan"}',
    '{"id": 1, "do": "plan", "map": "/dev/zero", "start": "0,0,0", "goal": "1,1,0"}',
    '{"id": 1, "do": "plan", "map": "--help", "start": "0,0,0", "goal": "1,1,0"}',
    '{"id": 1, "do": "plan", "map": "\\u0000", "start": "0,0,0", "goal": "1,1,0"}',
    '{"id": 1, "do": "what_if", "name": "../x.mcap"}',
    '{"id": 1, "do": "what_if", "name": null}',
    '{"id": 1, "do": "experiment", "name": "--help"}',
    '{"id": 1, "do": "experiment", "name": ["push"]}',
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
    assert "The task is rejected: " in answer["error"]
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


@pytest.fixture
def heard(studio: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., dict[int, dict[str, Any]]]]:
    """A desk whose tare does not end before a stop is answered: what it answers to requests, in that order."""
    stage, free = Stage(), Event()
    stage.attach(studio.loop.name)

    def waits(_: Request) -> dict[str, Any]:
        return {"freed": free.wait(60.0)}

    async def asked(requests: tuple[dict[str, Any], ...], said: dict[int, dict[str, Any]]) -> None:
        desk, page = RequestHandler(stage), Page()
        for number, request in enumerate(requests):
            desk.take(json.dumps({"id": number, **request}), page)
        while len(said) < len(requests):
            answer = json.loads(await page.next())
            said[answer["id"]] = answer
            if requests[answer["id"]]["do"] == "halt":
                free.set()
        desk.close()

    def ask_desk(*requests: dict[str, Any]) -> dict[int, dict[str, Any]]:
        said: dict[int, dict[str, Any]] = {}
        thread = Thread(target=asyncio.run, args=(asked(requests, said),))  # a browser has its own event loop in ours
        thread.start()
        thread.join()
        return said

    monkeypatch.setitem(ACTIONS[IN_TURN], "tare", waits)
    yield ask_desk
    studio.go_on()


def test_a_stop_waits_behind_nothing_and_nothing_moves_that_was_asked_before_it(
    studio: Running, heard: Callable[..., dict[int, dict[str, Any]]]
) -> None:
    studio.rest()
    said = heard({"do": "tare"}, {"do": "resume"}, {"do": "halt"})
    assert list(said) == [2, 0, 1]
    assert said[0]["freed"]
    assert "A stop came" in said[1]["error"]
    studio.loop.wait(0.1)
    assert studio.stopped
    with dial(studio) as socket:
        assert ask(socket, {"id": 4, "do": "resume"})["ok"]
    studio.until(lambda: not studio.stopped)


def test_a_stop_of_a_page_reaches_a_loop_that_was_told_to_go_on_before(studio: Running) -> None:
    with dial(studio) as socket:
        said = ask_all(socket, {"do": "halt"}, {"do": "tare"}, {"do": "resume"}, {"do": "halt", "run": 0})
    assert said[0]["ok"]
    assert said[3]["ok"]
    studio.until(lambda: studio.stopped)
    studio.loop.wait(0.1)
    assert studio.stopped
    studio.go_on()


def test_of_requests_that_wait_only_so_many_are_taken_and_a_stop_always(
    studio: Running, heard: Callable[..., dict[int, dict[str, Any]]]
) -> None:
    many = [{"do": "undo"}] * (MOST_WAITING + 8)
    said = heard({"do": "tare"}, *many, {"do": "halt"})
    refused = [answer for answer in said.values() if "are pending" in answer.get("error", "")]
    assert len(refused) == 9
    assert said[len(many) + 1]["ok"]
    studio.until(lambda: studio.stopped)


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
        late = ({"do": "set", "values": {"sense.cutoff_hz": 33.0}}, {"do": "resume"})
        heard = ask_all(socket, start, *({**each, "run": before["number"]} for each in late), start)
    assert heard[0]["ok"]
    for number in (1, 2, 3):
        assert "another loop" in heard[number]["error"]
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
    answer = get(studio.url, headers={"Host": host})
    assert answer.status_code in (400, 421)
    if answer.status_code == 421:
        assert f"port {studio.port}. Use the link that pliant studio printed" in answer.text
    assert "default-src" not in answer.headers.get("content-security-policy", "")


def test_a_socket_by_a_strange_name_is_turned_away_though_its_origin_fits(studio: Running) -> None:
    host = f"{STRANGER}:{studio.port}"
    line = create_connection((LOCAL, studio.port))
    with (
        pytest.raises((ConnectionClosed, InvalidStatus)),
        connect(
            f"ws://{host}/socket?token={TOKEN}", origin=Origin(f"http://{host}"), sock=line, open_timeout=PATIENCE_S
        ) as socket,
    ):
        socket.recv(timeout=PATIENCE_S)


def test_names_of_this_machine_are_known_and_of_all_addresses_any_address(studio: Running) -> None:
    assert get(studio.url.replace(LOCAL, "localhost")).status_code == 200

    async def nothing(*_: object) -> None: ...

    local, exposed = HostCheck(nothing, LOCAL, 8000), HostCheck(nothing, "0.0.0.0", 8000)
    for door in (local, exposed):
        assert all(
            door.is_known([name]) for name in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:8000")
        )
        assert not any(door.is_known([name]) for name in ("robot.local:8000", "127.0.0.1", "[::1:8000", "localhost:x"))
        assert not door.is_known([])
        assert not door.is_known(["localhost:8000", "localhost:8000"])
    assert exposed.is_known(["192.0.2.7:8000"])
    assert not local.is_known(["192.0.2.7:8000"])
    assert HostCheck(nothing, "192.0.2.7", 80).is_known(["192.0.2.7"])


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
