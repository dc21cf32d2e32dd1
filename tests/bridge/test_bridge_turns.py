"""A stop waits for nothing that was asked before it, and nothing that was asked before it starts the robot again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pliant.bridge.bridge_process import RequestReceiver
from pliant.bridge.request_order import STARTS, STOPS, Answer, Turns
from pliant.bridge.requests import Requests, known_words
from pliant.compiling.ahead import ensure
from pliant.ros2.message_types import STRING, build
from pliant.ros2.node import Node
from pliant.session.session import Session
from pliant.task.schema import Task
from support.waiting import until


@pytest.fixture
def arm() -> Iterator[Session]:
    ensure("loop", "batch", "replay")
    with Session(Task(law="hold")) as session:
        session.wait(0.1)
        yield session


class SlowTare:
    """Taring that takes as long as a test wants."""

    def __init__(self, arm: Session) -> None:
        self._tare, self.begun, self.may_end = arm.tare, threading.Event(), threading.Event()

    def __call__(self) -> Any:
        self.begun.set()
        self.may_end.wait(60.0)
        return self._tare()


@pytest.fixture
def slow_tare(arm: Session, monkeypatch: pytest.MonkeyPatch) -> SlowTare:
    slow = SlowTare(arm)
    monkeypatch.setattr(arm, "tare", slow)
    return slow


def test_every_word_that_stops_or_starts_is_a_command() -> None:
    assert set(STOPS) | set(STARTS) <= set(known_words())


def test_a_stop_waits_for_no_other_request_and_a_start_from_before_it_is_refused(
    arm: Session, slow_tare: SlowTare
) -> None:
    turns, does = Turns(), Requests(arm)
    answers: dict[str, Answer] = {}

    def ask(word: str, stops: int) -> None:
        answers[word] = turns.in_turn(word, does.obey, word, stops)

    taring = threading.Thread(target=ask, args=("tare", turns.stops))
    taring.start()
    assert slow_tare.begun.wait(60.0)
    starting = threading.Thread(target=ask, args=("start", turns.stops))
    starting.start()
    assert turns.at_once(does.obey, "halt") == (True, "halt was sent to the loop")
    until(lambda: arm.state.goal.stop == 1)
    assert not answers
    slow_tare.may_end.set()
    taring.join()
    starting.join()
    assert answers["tare"][0], answers["tare"]
    assert answers["start"] == (
        False,
        "A stop arrived before this start was carried out. Send it again if you still want it.",
    )
    arm.wait(0.1)
    assert arm.state.goal.stop == 1
    assert turns.in_turn("start", does.obey, "start", turns.stops)[0]
    until(lambda: arm.state.goal.stop == 0)


def test_over_ros_a_halt_is_obeyed_while_the_sensor_is_tared(network: None, arm: Session, slow_tare: SlowTare) -> None:
    with Node("someone") as node, Node("pliant") as bridge:
        ears = RequestReceiver(arm, bridge)
        commands, answers = node.writer("/pliant/command", STRING), node.reader("/pliant/answer", STRING)
        bridge.announce()
        node.announce()
        until(lambda: commands.listeners and answers.publishers and ears._answers.listeners)
        said: list[str] = []

        def heard(words: str) -> bool:
            said.extend(message.data for message in answers.messages())
            return any(words in text for text in said)

        ears.start()
        try:
            for word in ("tare", "start"):
                commands.say(build(STRING, {"data": word}))
            assert slow_tare.begun.wait(60.0)
            commands.say(build(STRING, {"data": "halt"}))
            until(lambda: heard("halt was sent to the loop"))
            until(lambda: arm.state.goal.stop == 1)
            slow_tare.may_end.set()
            until(lambda: heard("rejected: command: A stop arrived before this start"))
        finally:
            slow_tare.may_end.set()
            ears.stop()
        assert said[0] == "done: command: halt was sent to the loop"
        assert "offset" in said[1]
        assert arm.state.goal.stop == 1
