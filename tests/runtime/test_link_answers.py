"""How long a change of parameters waits for its answer: by the loop's time, not by a clock. Both are the tests' own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from boards import proposed, tell

from pliant.control.parameters import record_of
from pliant.errors import LoopError
from pliant.loop.board import Board
from pliant.loop.board_layout import FAULT, RUNNING, SET
from pliant.session import board_link
from pliant.session import link as link_module
from pliant.session.link import Link
from pliant.task.schema import Task

CHANGE = {"sense.cutoff_hz": 33.0}


class Slow:
    """A loop that is given `ticks` while `seconds` go by on the clock, whenever somebody waits for it."""

    def __init__(self, board: Board, ticks: int, seconds: float) -> None:
        self.board, self.ticks, self.seconds = board, ticks, seconds
        self.now, self.waits, self.answers_at = 0.0, 0, -1

    def sleep(self, _: float) -> None:
        self.now, self.waits = self.now + self.seconds, self.waits + 1
        tell(self.board, range(self.board.head, self.board.head + self.ticks))
        if self.waits == self.answers_at:
            into = SET.new()
            sequence = self.board.proposal(0, into)
            self.board.adopt(1, self.board.head, into["values"])
            self.board.answer(sequence)


Made = Callable[[int, float], tuple[Link, Slow]]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """``made(ticks, seconds)``: a link to such a loop."""
    task = Task(law="hold")
    name = f"answers-{os.getpid()}"
    board = Board.create(name, {"task": task.model_dump(mode="json"), "ticks": -1}, ring_slots=64)

    def make(ticks: int, seconds: float) -> tuple[Link, Slow]:
        board.header.loop_pid = os.getpid()
        board.adopt(0, 0, record_of(task.params))
        board.set_status(RUNNING)
        loop, link = Slow(board, ticks, seconds), Link(task)
        clock = SimpleNamespace(monotonic=lambda: loop.now, sleep=loop.sleep)
        monkeypatch.setattr(link_module, "time", clock)
        monkeypatch.setattr(board_link, "time", clock)
        link.board, link.name = board, name
        return link, loop

    yield make
    board.remove()


def test_a_loop_that_the_machine_holds_up_has_its_own_time_to_answer(made: Made) -> None:
    link, loop = made(1, 1.0)
    loop.answers_at = 60  # ticks, and a minute
    link.set(CHANGE)
    assert link.parameters.sense.cutoff_hz == 33.0
    assert loop.now == pytest.approx(60.0)


def test_a_loop_that_ticks_and_does_not_answer_has_a_second_of_its_time_and_the_change_is_withdrawn(made: Made) -> None:
    link, loop = made(10, 0.0)
    with pytest.raises(LoopError, match="did not answer a parameter change"):
        link.set(CHANGE)
    assert 500 < loop.board.head <= 520
    assert proposed(loop.board)[1] == -1  # made from no set: the loop refuses it whenever it looks


def test_a_loop_that_does_not_tick_is_told_as_that_and_the_change_is_withdrawn(made: Made) -> None:
    link, loop = made(0, 0.1)
    with pytest.raises(LoopError, match="has not ticked for 5 s"):
        link.set(CHANGE)
    assert loop.now == pytest.approx(5.1, abs=0.2)
    assert proposed(loop.board)[1] == -1


def test_a_loop_that_saves_its_last_seconds_after_a_fault_has_longer_and_its_reason_is_told(made: Made) -> None:
    link, loop = made(0, 1.0)
    loop.board.annotate({"fault": "the cable is out"})
    tick = loop.sleep

    def saves(seconds: float) -> None:
        tick(seconds)
        if loop.waits == 30:
            loop.board.finish(FAULT, "the cable is out")

    board_link.time.sleep = saves  # type: ignore[assignment]
    with pytest.raises(LoopError, match="the cable is out"):
        link.wait(1.0)
    assert loop.now == pytest.approx(30.0)


def test_a_newer_change_of_someone_else_is_not_withdrawn(made: Made) -> None:
    link, loop = made(0, 0.1)
    tick = loop.sleep

    def another(seconds: float) -> None:
        tick(seconds)
        if loop.waits == 5:
            loop.board.propose(record_of(link.task.params), 7)

    link_module.time.sleep = another  # type: ignore[assignment]
    with pytest.raises(LoopError, match="has not ticked"):
        link.set(CHANGE)
    assert proposed(loop.board)[1] == 7
