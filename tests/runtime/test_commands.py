"""Requests: each changes its part of the goal and nothing else."""

from typing import Any

import numpy as np
import pytest

from pliant.control.laws.registry import LAWS
from pliant.loop.goal_requests import (
    COMMAND,
    GOAL_POSE,
    GOAL_Q,
    GOAL_TWIST,
    GOAL_WRENCH,
    HALT,
    LAW,
    PUSH,
    QUIT,
    RESUME,
    Request,
    apply,
    command,
    requests_of,
)
from pliant.records import GOAL
from pliant.task.schema import Event
from support.law_numbers import ADMITTANCE, CONTACT, HOLD


class Arm:
    """A robot that only remembers how it was pushed."""

    def __init__(self) -> None:
        self.pushes: list[tuple[list[float], float]] = []

    def push(self, wrench: Any, for_s: float) -> None:
        self.pushes.append((list(wrench), for_s))


NUMBERS = np.arange(1.0, 17.0)


def changes(request: Request, n: int = 6, **before: Any) -> dict[str, list[Any]]:
    """The fields of a goal that the request changes, with their new values."""
    goal = GOAL.new()
    for name, value in before.items():
        goal[0][name] = value
    old = goal.copy()
    apply(request, goal[0], Arm(), n, LAWS["contact"])
    names = goal.dtype.names or ()
    return {name: goal[0][name].tolist() for name in names if goal[0][name].tobytes() != old[0][name].tobytes()}


@pytest.mark.parametrize(("code", "field", "n"), [(GOAL_POSE, "pose", 7), (GOAL_WRENCH, "wrench", 6)])
def test_a_goal_takes_as_many_numbers_as_it_has(code: int, field: str, n: int) -> None:
    assert changes(Request(code, 0, NUMBERS)) == {field: NUMBERS[:n].tolist()}


def test_a_twist_comes_with_the_time_that_it_lasts() -> None:
    assert changes(Request(GOAL_TWIST, 0, NUMBERS)) == {"twist": NUMBERS[:6].tolist(), "motion_s": NUMBERS[6]}


@pytest.mark.parametrize("n", [2, 6, 12])
def test_a_joint_goal_leaves_joints_alone_that_do_not_exist(n: int) -> None:
    assert changes(Request(GOAL_Q, 0, NUMBERS), n) == {"q": [*NUMBERS[:n], *[0.0] * (12 - n)]}


@pytest.mark.parametrize("law", [law.number for law in LAWS.values()])
def test_a_law_is_changed_by_its_number(law: int) -> None:
    assert changes(Request(LAW, law)) == {"law": law}


@pytest.mark.parametrize("number", [0, -1, 99])
def test_a_law_that_does_not_exist_is_not_run(number: int) -> None:
    assert changes(Request(LAW, number), law=HOLD) == {}


def test_halt_and_resume() -> None:
    assert changes(Request(HALT)) == {"stop": 1}
    assert changes(Request(RESUME), stop=1) == {"stop": 0}
    assert changes(Request(HALT), stop=1) == changes(Request(RESUME)) == {}


@pytest.mark.parametrize("code", [0, QUIT, 77, -3])
def test_what_is_no_request_for_the_goal_changes_nothing(code: int) -> None:
    assert changes(Request(code, 1, NUMBERS)) == {}


def test_a_push_goes_to_the_robot_and_not_to_the_goal() -> None:
    arm, goal = Arm(), GOAL.new()
    apply(Request(PUSH, 0, NUMBERS), goal[0], arm, 6)
    assert arm.pushes == [([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 7.0)]
    assert goal.tobytes() == GOAL.new().tobytes()


def test_an_empty_event_asks_for_nothing() -> None:
    assert list(requests_of(Event(at_s=1.0), np.zeros(7), LAWS["hold"])) == []


def test_an_event_changes_the_law_before_its_goal() -> None:
    """A change of law takes the present place as goal, so the goal of the event has to come after it."""
    start = np.array([0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0])
    event = Event(
        at_s=0.0,
        law="admittance",
        goal_q=(0.0,) * 6,
        goal_offset_m=(0.1, 0.0, -0.1),
        wrench_goal=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        stop=True,
    )
    asked = list(requests_of(event, start, LAWS["admittance"]))
    assert [request.code for request in asked] == [LAW, GOAL_Q, GOAL_POSE, GOAL_WRENCH, HALT]
    assert asked[0].number == ADMITTANCE
    assert asked[2].values.tolist() == pytest.approx([0.2, 0.2, 0.2, 1.0, 0.0, 0.0, 0.0])
    assert start.tolist() == [0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0]


def test_every_command_counts_even_the_same_one_twice() -> None:
    pause, start = (command(name, LAWS["contact"]) for name in ("pause", "start"))
    assert changes(pause, command=pause.number, commands=4) == {"commands": 5}
    assert changes(start) == {"command": start.number, "commands": 1}


def test_a_command_that_the_listening_law_does_not_know_changes_nothing() -> None:
    assert changes(Request(COMMAND, 99, (float(CONTACT),))) == {}
    of_another = command("start", LAWS["contact"])._replace(values=(float(ADMITTANCE),))
    assert changes(of_another) == {}
