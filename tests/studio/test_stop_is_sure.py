"""A stop counts as done when the loop has heard it, and not before: whatever hangs, is full, begins or ends."""

from __future__ import annotations

import contextlib
import json
import os
import time
from contextlib import AbstractContextManager
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest
from running_studio import PATIENCE_S, Running, ask, dial, held, part, run_beside, until

from pliant.errors import LoopError, RejectedError
from pliant.loop import goal_requests
from pliant.loop.board import Board
from pliant.loop.board_layout import RUNNING, STOPPED
from pliant.mobile.mission.mission_link import MissionLink, MissionSession
from pliant.mobile.mission.mission_task import find_mission
from pliant.session.link import Link
from pliant.session.session import Session
from pliant.session.started_loop import next_name
from pliant.session.stop_request import HEARD_S, Brake
from pliant.session.undo import Changes
from pliant.studio import actions
from pliant.studio.actions import ACTIONS, HALT
from pliant.studio.hub import Page
from pliant.studio.page_requests import Halt
from pliant.studio.request import Request
from pliant.studio.request_handling import RequestHandler
from pliant.studio.stage.stage import Stage
from pliant.task.schema import load_task

STOP = {"id": 7, "do": "halt"}


def hung(studio: Running) -> AbstractContextManager[None]:
    """The loop is there, and does not tick."""
    return held(int(studio.loop.board.header.loop_pid))


def fill(studio: Running, code: int) -> None:
    """Send until the queue takes no more."""
    with contextlib.suppress(LoopError):
        while True:
            studio.loop.board.send(code, values=[0.0] * 16)


# ---- by the socket -------------------------------------------------------------------------------------------------


def test_a_stop_that_lies_in_the_queue_of_a_loop_that_hangs_is_not_heard(studio: Running) -> None:
    studio.go_on()
    with dial(studio) as socket:
        with hung(studio):
            began = time.monotonic()
            assert ask(socket, STOP)["heard"] is False
            assert time.monotonic() - began >= HEARD_S
        until(lambda: studio.stopped)
        until(lambda: ask(socket, STOP)["heard"])


def test_nobody_waits_behind_a_stop_that_is_not_heard(studio: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "HEARD_S", PATIENCE_S)
    stage = Stage()
    stage.attach(studio.loop.name)
    studio.go_on()

    async def asked() -> list[dict[str, Any]]:
        desk, page, other = RequestHandler(stage), Page(), Page()
        with hung(studio):
            desk.take(json.dumps(STOP), page)
            desk.take(json.dumps({"id": 1, "do": "recordings"}), other)
            desk.take(json.dumps({"id": 8, "do": "cancel"}), page)
            said = [json.loads(await other.next()), json.loads(await page.next())]
        said.append(json.loads(await page.next()))
        desk.close()
        return said

    said = run_beside(asked())
    assert [answer["id"] for answer in said] == [1, 8, STOP["id"]]
    assert said[2]["heard"] is True
    assert studio.stopped


def test_a_queue_that_is_full_still_takes_a_stop(studio: Running) -> None:
    studio.go_on()
    with dial(studio) as socket:
        with hung(studio):
            fill(studio, goal_requests.PUSH)
            assert ask(socket, STOP)["heard"] is False
        until(lambda: studio.stopped)  # by the stop, which was not lost
        studio.go_on()
        with hung(studio):
            fill(studio, goal_requests.HALT)
            assert ask(socket, STOP)["heard"] is False  # it could not even be sent
        until(lambda: studio.stopped)
        until(lambda: ask(socket, STOP)["heard"])


def test_where_no_loop_runs_a_stop_has_nothing_to_wait_for() -> None:
    assert Stage().is_idle


# ---- a loop that begins --------------------------------------------------------------------------------------------


def test_a_stop_reaches_a_loop_that_ticks_before_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, found, go_on = Stage(), list[Link](), Event()
    show = Stage._show

    def slow(self: Stage, link: Link, source: str) -> None:
        found.append(link)
        go_on.wait(60.0)
        show(self, link, source)

    monkeypatch.setattr(Stage, "_show", slow)
    starts = Thread(target=shown.start, args=("hand_guiding",))
    starts.start()
    try:
        until(lambda: found)
        assert not shown.is_idle
        shown.note_stop()
        (brake,) = shown.brake_at_once()
        assert brake.is_heard(time.monotonic() + PATIENCE_S)
        assert int(found[0].state.goal.stop) == 1
        assert shown.scene is None
    finally:
        go_on.set()
        starts.join()
        shown.close()


@pytest.fixture
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the machine keeps a loop from ticking, it hears in time."""
    monkeypatch.setattr(actions, "HEARD_S", PATIENCE_S)


def told(stage: Stage) -> dict[str, Any]:
    """What a page hears of a stop, as the desk takes one."""
    stage.note_stop()
    request = Request(stage, Halt(), Changes())
    request.brakes = stage.brake_at_once()
    return ACTIONS[HALT]["halt"](request)


@pytest.mark.usefixtures("_patient")
def test_a_stop_of_which_no_loop_can_hear_yet_is_not_heard(studio: Running) -> None:
    stage = Stage()
    stage._beginning = Session(load_task("hand_guiding"))
    assert told(stage)["heard"] is False
    stage.attach(studio.loop.name)  # what runs obeys, and what begins has not heard all the same
    assert told(stage)["heard"] is False
    assert studio.stopped
    stage._beginning = None
    assert told(stage)["heard"] is True


@pytest.mark.usefixtures("_patient")
def test_a_mission_stands_until_it_is_begun_so_that_a_stop_of_what_runs_is_heard(studio: Running) -> None:
    stage, mission = Stage(), find_mission("fetch")
    assert mission is not None
    stage._beginning = MissionSession(mission)
    assert told(stage)["heard"] is False
    stage.attach(studio.loop.name)
    assert told(stage)["heard"] is True


def test_a_stop_that_came_while_a_loop_began_reaches_it_before_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    stage, start, show = Stage(), Session.start, Stage._show

    def stopped_meanwhile(self: Session) -> Session:
        stage.note_stop()
        return start(self)

    def only_stopped(self: Stage, link: Link, source: str) -> None:
        until(lambda: int(link.state.goal.stop) == 1)
        show(self, link, source)

    monkeypatch.setattr(Session, "start", stopped_meanwhile)
    monkeypatch.setattr(Stage, "_show", only_stopped)
    try:
        stage.start("hand_guiding")
        assert int(stage.arm().state.goal.stop) == 1
    finally:
        stage.close()


def test_a_loop_that_starts_elsewhere_is_not_idle(studio: Running) -> None:
    name, stage = next_name(), Stage()
    board = Board.create(name, studio.loop.board.config, ring_slots=100)
    try:
        stage.attach(name)
        assert (told(stage)["ok"], stage.is_idle) == (False, False)
        board.finish(STOPPED, "it was enough")
        assert told(stage)["idle"] is True
    finally:
        board.remove()


def test_a_mission_that_has_told_nothing_has_not_heard_a_stop() -> None:
    header = SimpleNamespace(loop_pid=os.getpid())
    board = SimpleNamespace(head=0, taken=1, send=lambda code: 1, mission_log={}, status=RUNNING, header=header)
    link = MissionLink(cast(Any, None))
    link.board = cast(Board, board)
    brake = Brake(link)
    assert not brake.is_heard(time.monotonic())
    board.status = STOPPED
    assert brake.is_heard(time.monotonic())


def test_a_clock_that_is_set_does_not_change_how_long_a_stop_is_waited_for() -> None:
    class Noting:
        def is_heard(self, deadline_s: float) -> bool:
            deadlines.append(deadline_s)
            return True

    deadlines, before = list[float](), time.monotonic()
    request = Request(Stage(), Halt(), Changes())
    request.brakes = [cast(Brake, Noting())]
    request.arrived_ns -= 3_600_000_000_000
    ACTIONS[HALT]["halt"](request)
    assert before + HEARD_S <= deadlines[0] <= time.monotonic() + HEARD_S


@pytest.mark.parametrize("what", ["_show", pytest.param("close", marks=pytest.mark.slow)])
def test_a_mission_that_cannot_be_shown_does_not_run_on(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[MissionLink]()
    stage = Stage()

    def broken(*_: Any) -> None:
        assert isinstance(stage._beginning, MissionLink)
        assert stage._beginning.running
        started.append(stage._beginning)
        raise RejectedError("It cannot be shown.")

    monkeypatch.setattr(stage, what, broken)
    with pytest.raises(RejectedError, match="cannot be shown"):
        stage.start("fetch")
    assert not started[0].running
    assert stage.is_idle


# ---- in the browser ------------------------------------------------------------------------------------------------


def test_a_loop_that_hangs_is_told_of_when_it_is_stopped_and_heard_when_it_goes_on(page: Any, studio: Running) -> None:
    studio.go_on(page)
    with hung(studio):
        part(page, "stop").click()
        until(lambda: part(page, "alarm").is_visible())
        assert "use the robot's emergency stop" in part(page, "alarm").text_content()
    until(lambda: studio.stopped)
    until(lambda: not part(page, "alarm").is_visible())
    studio.go_on(page)


# Lets no answer to a stop come through.
_DEAFEN = """() => {
  window.parse = JSON.parse;
  JSON.parse = (text) => {
    const said = window.parse(text);
    return said?.arrived_ns ? { ...said, id: null } : said;
  };
}"""


def test_a_loop_that_is_seen_to_stand_does_not_confirm_a_stop(page: Any, studio: Running) -> None:
    """On a slow line it may be seen as it was before someone let it go on."""
    studio.rest()
    until(lambda: "stopped" in part(page, "law").text_content())
    page.evaluate(_DEAFEN)
    part(page, "stop").click()
    until(lambda: part(page, "alarm").is_visible())
    page.evaluate("() => { JSON.parse = window.parse; }")
    part(page, "stop").click()
    until(lambda: not part(page, "alarm").is_visible())
    studio.go_on(page)


@pytest.mark.slow
def test_what_was_seen_before_a_stop_does_not_confirm_it(page: Any, studio: Running) -> None:
    """The last frame of a loop that stood still is shown again and again; it says nothing of a later stop."""
    studio.rest()
    until(lambda: "stopped" in part(page, "law").text_content())
    studio.end()
    until(lambda: part(page, "status").text_content() == "no connection")
    part(page, "stop").click()
    until(lambda: part(page, "alarm").is_visible())
    part(page, "freeze").click()
    part(page, "freeze").click()
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert part(page, "alarm").is_visible()
    studio.begin_again_stopped("hand_guiding", page)
    studio.go_on(page)
