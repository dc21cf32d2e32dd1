"""Many pages, and pages that say or miss too much: none takes the Studio from others, and a stop is always taken."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from typing import Any, cast

import pytest
from running_studio import PATIENCE_S, TOKEN, Running, ask, dial, hello, run_beside, until
from starlette.websockets import WebSocket
from websockets.exceptions import ConnectionClosed

from pliant.studio import server
from pliant.studio.hub import Hub, Page
from pliant.studio.listening import LOCAL, link_of
from pliant.studio.request_handling import RequestHandler
from pliant.studio.server import MOST_PAGES, TOO_MANY_PAGES, TOO_SLOW, Allowance, Studio
from pliant.studio.stage.stage import Stage

pytestmark = pytest.mark.slow


def test_more_pages_than_there_may_be_are_turned_away_with_a_sentence(studio: Running) -> None:
    with ExitStack() as stack:
        fill(studio, stack)
        surplus = stack.enter_context(dial(studio))
        said = json.loads(surplus.recv(timeout=PATIENCE_S))
        assert (said["ok"], said["error"]) == (False, "16 pages are already open: close one of them.")
        with pytest.raises(ConnectionClosed) as closed:
            ask(surplus, {"id": 1, "do": "recordings"})
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == TOO_MANY_PAGES
        assert closed.value.rcvd.reason == said["error"]
    until(lambda: hello_or_none(studio))  # there is room again


def test_a_stop_is_taken_from_a_page_for_which_there_is_no_room(studio: Running) -> None:
    """The line of an open page may hang: its next one is one too many, and the stop is its first word."""
    studio.go_on()
    until(lambda: hello_or_none(studio))
    with ExitStack() as stack:
        fill(studio, stack)
        surplus = stack.enter_context(dial(studio))
        surplus.recv(timeout=PATIENCE_S)  # why it is turned away
        assert ask(surplus, {"id": 3, "do": "halt"})["id"] == 3
        studio.until(lambda: studio.stopped)
        with pytest.raises(ConnectionClosed) as closed:
            surplus.recv(timeout=PATIENCE_S)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == TOO_MANY_PAGES
        another = stack.enter_context(dial(studio))
        another.recv(timeout=PATIENCE_S)
        with pytest.raises(ConnectionClosed):  # and nothing else is
            ask(another, {"id": 4, "do": "resume"})
        assert studio.stopped
    until(lambda: hello_or_none(studio))
    studio.go_on()


def fill(studio: Running, stack: ExitStack) -> None:
    """Come with as many pages as there may be; one that has left may still have its place for a moment."""

    def comes() -> bool:
        return json.loads(stack.enter_context(dial(studio)).recv(timeout=PATIENCE_S))["type"] == "hello"

    for _ in range(MOST_PAGES):
        until(comes)


def hello_or_none(studio: Running) -> dict[str, Any] | None:
    """What a page is told first; None where there is no room for it."""
    said = hello(studio)
    return said if said["type"] == "hello" else None


def test_so_many_messages_are_taken_in_a_second_whoever_sends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(server.time, "monotonic", lambda: now[0])
    allowed = Allowance(480.0)
    assert [allowed.takes() for _ in range(481)] == [True] * 480 + [False]
    now[0] += 0.125
    assert [allowed.takes() for _ in range(61)] == [True] * 60 + [False]
    now[0] += 1000.0
    assert sum(allowed.takes() for _ in range(1000)) == 480


def test_where_all_pages_say_too_much_only_a_stop_is_taken() -> None:
    async def crowd() -> None:
        stage, page = Stage(), Page()
        desk = RequestHandler(stage)
        desk.take(json.dumps({"id": 1, "do": "recordings"}), page, is_crowded=True)
        said = json.loads(cast(str, await page.next()))
        assert "send too many messages" in said["error"]
        desk.take(json.dumps({"id": 2, "do": "halt"}), page, is_crowded=True)
        assert stage.stops == 1
        said = json.loads(cast(str, await page.next()))
        assert (said["id"], said["idle"]) == (2, True)  # nothing runs here
        desk.close()

    run_beside(crowd())


class Deaf:
    """A socket whose other end reads nothing."""

    def __init__(self, studio: Studio) -> None:
        self.query_params = {"token": studio.token}
        self.headers = {"origin": f"http://{LOCAL}", "host": LOCAL}
        self.closed: tuple[int, str] | None = None

    async def accept(self) -> None:
        pass

    async def receive(self) -> None:
        await asyncio.Event().wait()

    async def send_text(self, _: str) -> None:
        await asyncio.Event().wait()

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason


def test_a_page_that_does_not_keep_up_is_closed_and_does_not_miss_words_without_knowing() -> None:
    async def overflow() -> None:
        studio = Studio(Stage(), LOCAL, 0)
        socket = Deaf(studio)
        served = asyncio.create_task(studio._socket(cast(WebSocket, socket)))
        while not studio.hub.pages:
            await asyncio.sleep(0.01)
        (page,) = studio.hub.pages
        page.put("first")
        while page._words:  # until it waits for the other end
            await asyncio.sleep(0)
        for number in range(200):
            page.put(f"{number}")
        assert not page.lost.is_set()
        page.put("one too many")
        await asyncio.wait_for(served, 60.0)
        assert socket.closed is not None
        assert socket.closed[0] == TOO_SLOW
        assert not studio.hub.pages
        studio.desk.close()

    run_beside(overflow())


@pytest.mark.parametrize("kind", [KeyError, ValueError])
def test_each_kind_of_mishap_in_a_look_is_logged_once(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hub, looks = Hub(Stage()), list[int]()

    def broken() -> None:
        looks.append(1)
        raise kind(f"look {len(looks)}")

    monkeypatch.setattr(hub, "look", broken)
    for _ in range(4):
        with hub._next_look():
            hub.look()
    assert len(looks) == 4
    assert [record.getMessage() for record in caplog.records].count(
        "The Studio could not read its loop. It tries again."
    ) == 1


def test_mishaps_in_the_same_line_of_different_files_are_not_taken_for_one(caplog: pytest.LogCaptureFixture) -> None:
    hub = Hub(Stage())
    for file in ("one.py", "other.py", "one.py"):
        with hub._next_look():
            exec(compile("raise KeyError", file, "exec"))
    assert len(caplog.records) == 2


def test_a_token_of_ones_own_may_have_letters_that_mean_something_in_a_link() -> None:
    class Listening:
        def getsockname(self) -> tuple[str, int]:
            return LOCAL, 8080

    assert link_of(cast(Any, Listening()), "a&b=c#d e/f").endswith(":8080/?token=a%26b%3Dc%23d%20e%2Ff")
    assert link_of(cast(Any, Listening()), TOKEN).endswith(TOKEN)
