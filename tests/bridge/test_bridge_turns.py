"""A stop waits for nothing that was asked before it, and nothing that was asked before it starts the robot again."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from pliant.bridge.requests import WORDS, Requests
from pliant.bridge.start import bridged
from pliant.bridge.turns import STARTS, STOPS, Answer, Turns
from pliant.ros2.messages import STRING, build
from pliant.ros2.node import Node
from pliant.runtime.session import Session
from pliant.runtime.task import Task
from pliant.runtime.warm import warm
from waiting import until


@pytest.fixture
def arm() -> Iterator[Session]:
    warm()
    with Session(Task(law="hold")) as session:
        session.wait(0.1)
        yield session


def test_every_word_that_stops_or_starts_is_a_command() -> None:
    assert set(STOPS) | set(STARTS) <= set(WORDS)


def test_a_stop_waits_for_no_other_request_and_a_start_from_before_it_is_refused(arm: Session) -> None:
    turns, does = Turns(), Requests(arm)
    answers: dict[str, Answer] = {}

    def ask(word: str, stops: int) -> None:
        answers[word] = turns.in_turn(word, does.obey, word, stops)

    taring = threading.Thread(target=ask, args=("tare", turns.stops))
    taring.start()
    until(turns._in_turn.locked)
    starting = threading.Thread(target=ask, args=("start", turns.stops))
    starting.start()
    assert turns.at_once(does.obey, "halt") == (True, "halt was passed on")
    assert not answers  # taring takes half a second
    until(lambda: arm.state.goal.stop == 1)
    taring.join()
    starting.join()
    assert answers["tare"][0], answers["tare"]
    assert answers["start"] == (False, "A stop came after this start and before its turn: say it again if it is meant.")
    arm.wait(0.1)
    assert arm.state.goal.stop == 1
    assert turns.in_turn("start", does.obey, "start", turns.stops)[0]
    until(lambda: arm.state.goal.stop == 0)


def test_over_ros_a_halt_is_obeyed_while_the_sensor_is_tared(network: None, arm: Session) -> None:
    with Node("someone") as node, bridged(arm):
        commands, answers = node.writer("/pliant/command", STRING), node.reader("/pliant/answer", STRING)
        node.announce()
        until(lambda: commands.listeners and answers.speakers)
        said: list[str] = []

        def heard(words: str) -> bool:
            said.extend(message.data for message in answers.messages())
            return any(words in text for text in said)

        for word in ("tare", "start", "halt"):
            commands.say(build(STRING, {"data": word}))
        until(lambda: heard("refused: command: A stop came after this start"))
        assert said[0] == "done: command: halt was passed on"
        assert "bias" in said[1]
        assert arm.state.goal.stop == 1
