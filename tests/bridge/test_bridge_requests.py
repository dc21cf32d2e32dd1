"""What is asked for over ROS 2 is done whole, or refused with a sentence and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pliant.bridge.requests import Requests, answered, known_words, parsed
from pliant.bridge.services import from_ros, to_ros
from pliant.bridge.status_text import fault_words, state_words
from pliant.compiling.ahead import ensure
from pliant.control.laws.contact.contact_states import FAULT as CONTACT_FAULT
from pliant.control.laws.contact.contact_states import FORCE_LIMIT
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.control.telemetry import TELEMETRY
from pliant.errors import InputError
from pliant.loop.board_layout import FAULT, RUNNING
from pliant.params.declare import declared, flat
from pliant.records import FAULT_NUMBER, FAULTS
from pliant.ros2 import message_types
from pliant.session.session import Session
from pliant.task.schema import Task
from support.waiting import until


@pytest.fixture(scope="module")
def arm() -> Iterator[Session]:
    ensure("loop", "batch", "replay")
    with Session(Task(law="admittance")) as session:
        session.wait(0.1)
        yield session


@pytest.fixture
def does(arm: Session) -> Requests:
    return Requests(arm)


def pose(values: Any, frame: str = "base") -> Any:
    return message_types.build(message_types.POSE_STAMPED, {"header": {"frame_id": frame}}, [np.array(values, float)])


def test_a_pose_goal_becomes_the_goal_with_its_quaternion_in_our_order(arm: Session, does: Requests) -> None:
    now = arm.state.goal.pose.copy()
    x, y, z, w, i, j, k = now
    assert answered(does.goal_pose, pose([x, y + 0.01, z, i, j, k, w]))[0]
    until(lambda: np.allclose(arm.state.goal.pose, [x, y + 0.01, z, w, i, j, k], atol=1e-12))


def test_an_equilibrium_moves_the_goal_and_keeps_its_turn(arm: Session, does: Requests) -> None:
    before = arm.state.goal.pose.copy()
    there = before[:3] + np.array([0, 0, 0.01])
    assert answered(does.equilibrium, message_types.build(message_types.POINT_STAMPED, runs=[there]))[0]
    until(lambda: np.array_equal(arm.state.goal.pose[:3], there))
    assert np.array_equal(arm.state.goal.pose[3:], before[3:])


def test_a_wrench_goal_is_held(arm: Session, does: Requests) -> None:
    message = message_types.build(message_types.WRENCH_STAMPED, runs=[np.array([0, 0, 1.0, 0, 0, 0.1])])
    assert answered(does.goal_wrench, message)[0]
    until(lambda: arm.state.goal.wrench.tolist() == [0, 0, 1.0, 0, 0, 0.1])
    arm.goal_wrench([0] * 6)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (pose([0.4, 0, 0.4, 0, 0, 0, 0]), "unit quaternion"),
        (pose([0.4, np.nan, 0.4, 0, 0, 0, 1]), "w, x, y, z, each finite and within ±10000"),
        (pose([0.4, 0, 1e9, 0, 0, 0, 1]), "w, x, y, z, each finite and within ±10000"),
        (pose([5.0, 0, 0.4, 0, 0, 0, 1]), "but the ur5e reaches 1.04 m"),
        (pose([500.0, 0, 400.0, 0, 0, 0, 1]), "Positions are in metres"),
        (pose([0.4, 0, 0.4, 0, 0, 0, 1], "map"), "header.frame_id is 'map'"),
    ],
)
def test_a_bad_pose_is_answered_with_a_sentence_and_changes_nothing(
    arm: Session, does: Requests, message: Any, words: str
) -> None:
    before, sent = arm.state.goal.pose.copy(), int(arm.board.header.queue_in)
    done, said = answered(does.goal_pose, message)
    assert not done
    assert words in said
    assert int(arm.board.header.queue_in) == sent
    assert np.array_equal(arm.state.goal.pose, before)


def test_commands_halt_and_go_on(arm: Session, does: Requests) -> None:
    for word, halted in (("stop", 1), ("start", 0), ("pause", 1), ("resume", 0), ("halt", 1), ("resume", 0)):
        assert answered(does.obey, word) == (True, f"{word} was sent to the loop")
        until(lambda halted=halted: arm.state.goal.stop == halted)


@pytest.mark.parametrize("word", ["set_start", "start"])
def test_a_contact_command_under_another_law_is_rejected_with_the_reason(
    arm: Session, does: Requests, word: str
) -> None:
    done, said = answered(does.obey, word)
    assert not done
    assert said.startswith(f"`{word}` is rejected: the law is admittance, and only contact takes commands.")


@pytest.mark.parametrize("text", ["", "jump", "law", "law soft", "stop now", "law hold admittance", "set_start"])
def test_a_command_that_there_is_not_is_answered_with_those_there_are(arm: Session, does: Requests, text: str) -> None:
    sent = int(arm.board.header.queue_in)
    done, said = answered(does.obey, text)
    assert not done
    assert said.endswith(".")
    assert int(arm.board.header.queue_in) == sent


def test_the_law_changes_by_a_command(arm: Session, does: Requests) -> None:
    assert answered(does.obey, "law hold") == (True, "the law is hold")
    until(lambda: arm.state.goal.law == LAWS["hold"].number)
    assert answered(does.obey, "law admittance")[0]
    until(lambda: arm.state.goal.law == LAWS["admittance"].number)


def test_a_parameter_changes_by_name_and_value_or_by_yaml_and_is_taken_back(arm: Session, does: Requests) -> None:
    done, said = answered(does.set, "admittance.damping_ratio 0.9")
    assert (done, said) == (True, "admittance.damping_ratio = [0.9, 0.9, 0.9, 0.9, 0.9, 0.9]")
    done, said = answered(does.set, "admittance: {damping_ratio: 0.7}\nsense.deadband_n: 2.5")
    assert done, said
    assert arm.parameters.sense.deadband_n == 2.5
    assert arm.parameters.admittance.damping_ratio[0] == 0.7
    assert answered(does.obey, "undo")[0]
    assert arm.parameters.admittance.damping_ratio[0] == 0.9


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("admittance.damping_ratio -1", "must be 0.05 to 5"),
        ("admittance.dampin_ratio 1", "Did you mean 'admittance.damping_ratio'"),
        ("sense.deadband_n: 2\nsense.nothing: 3", "Unknown parameter 'sense.nothing'"),
        ("nonsense", "'name value', or YAML"),
        ("{]", "'name value', or YAML"),
        ("x" * 20_000, "at most 10000 characters"),
    ],
)
def test_a_bad_change_is_refused_whole(arm: Session, does: Requests, text: str, words: str) -> None:
    before = flat(arm.parameters)
    done, said = answered(does.set, text)
    assert not done
    assert any(part in said for part in words.split("|")), said
    assert flat(arm.parameters) == before


def test_whatever_a_stranger_sends_does_not_end_the_bridge(does: Requests) -> None:
    done, said = answered(does.goal_pose, object())
    assert not done
    assert said.startswith("The request could not be processed (AttributeError")


def test_texts_are_parsed_as_they_are_meant() -> None:
    assert parsed("sense.deadband_n 2") == {"sense.deadband_n": 2}
    assert parsed("admittance.mass 1,2,3,4,5,6") == {"admittance.mass": (1, 2, 3, 4, 5, 6)}
    assert parsed("{a.b: [1, 2], c: {d: true}}") == {"a.b": (1, 2), "c.d": True}
    with pytest.raises(InputError):
        parsed("")


def test_a_text_that_stands_for_millions_of_values_is_refused_before_it_unfolds() -> None:
    rows = ["a0: &a0 {x: 1, y: 1}", *(f"a{i}: &a{i} {{p: *a{i - 1}, q: *a{i - 1}}}" for i in range(1, 40))]
    for text in ("\n".join(rows), "sense.deadband_n: &x 2\nsense.deadband_nm: *x", "a: &a {b: *a}", "a: *nobody"):
        with pytest.raises(InputError, match="anchors") as refused:
            parsed(text)
        assert len(str(refused.value)) < 300
    for text in (
        "a: " + "[" * 9000,
        "a: " + "[" * 150 + "]" * 150,
        "a:\n" + "- " * 4000,
        "a: " + "{b: " * 20 + "1" + "}" * 20,
    ):
        with pytest.raises(InputError, match="'name value', or YAML"):
            parsed(text)


def test_states_and_faults_are_told_in_words() -> None:
    record = TELEMETRY.new()[0]
    record.goal.law = LAWS["admittance"].number
    assert state_words(record, RUNNING) == "running admittance"
    record.goal.stop = 1
    assert state_words(record, RUNNING) == "running admittance halted"
    assert fault_words(record, RUNNING, "") == ""
    assert fault_words(record, FAULT, "it was pushed too hard") == "it was pushed too hard"
    record.state.fault = FAULT_NUMBER
    assert fault_words(record, RUNNING, "") == FAULTS[FAULT_NUMBER]
    record.state.fault, record.goal.law = 0, LAWS["contact"].number
    record.contact.state, record.contact.reason = CONTACT_FAULT, FORCE_LIMIT
    assert state_words(record, RUNNING) == "running contact fault halted"
    assert fault_words(record, RUNNING, "") == "the force exceeded contact.force_limit_n"


def test_parameters_survive_the_way_to_ros_and_back(arm: Session) -> None:
    now = flat(arm.parameters)
    live = [item.name for item in declared(Parameters) if item.live]
    assert len(live) > 20
    arm.set({name: from_ros(to_ros(now[name])) for name in live})
    assert flat(arm.parameters) == now
    full = tuple(tuple(float(10 * i + j) for j in range(6)) for i in range(6))
    assert from_ros(to_ros(full)) == full
    assert len(known_words()) == len(set(known_words()))
