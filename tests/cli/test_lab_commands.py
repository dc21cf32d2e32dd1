"""The lab from two terminals: one runs it, the other moves the equilibrium, pushes and tunes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from terminals import pliant, running, until

from pliant.session.link import Link, attach


@pytest.fixture(scope="module")
def loop() -> Iterator[str]:
    with running("lab") as link:
        yield link.name


@pytest.fixture
def link(loop: str) -> Link:
    return attach(loop)


def near(link: Link, x: float, y: float) -> Callable[[], bool]:
    return lambda: bool(np.linalg.norm(link.pose[:2] - [x, y]) < 2e-3)


def test_goal_moves_the_equilibrium_and_says_where_goal_and_tool_are(loop: str, link: Link) -> None:
    done = pliant(loop, "goal", 1.1, 0.9)
    assert done.returncode == 0, done.stderr
    assert "goal at 1.1000 0.9000" in done.stdout
    until(near(link, 1.1, 0.9))
    assert pliant(loop, "goal", -0.1, 0.0, "--by").returncode == 0
    until(near(link, 1.0, 0.9))
    pliant(loop, "goal", 1.1, 0.9)


def test_a_virtual_push_lasts_until_another_is_given(loop: str, link: Link) -> None:
    pliant(loop, "goal", 1.1, 0.9)
    done = pliant(loop, "push", -10, 0, "--virtual")
    assert done.returncode == 0, done.stderr
    until(near(link, 1.06, 0.9))
    assert "the virtual push has ended." in flat(pliant(loop, "push", 0, 0, "--virtual").stdout)
    until(near(link, 1.1, 0.9))


def test_a_stopped_robot_is_said_to_be_stopped_when_its_goal_is_moved(loop: str, link: Link) -> None:
    pliant(loop, "stop")
    try:
        for words in (("goal", 1.1, 0.9), ("push", 1, 0, "--virtual")):
            assert "The robot is stopped" in flat(pliant(loop, *words).stdout)
    finally:
        pliant(loop, "stop", "--resume")
        pliant(loop, "push", 0, 0, "--virtual")


@pytest.mark.slow
def test_a_virtual_push_for_a_time_ends_by_itself_and_ends_no_other(loop: str, link: Link) -> None:
    pliant(loop, "goal", 1.1, 0.9)
    until(near(link, 1.1, 0.9))
    done = pliant(loop, "push", -10, 0, "--virtual", "--duration", 10)
    assert done.returncode == 0, done.stderr
    assert "for 10 s" in done.stdout
    until(near(link, 1.06, 0.9))
    until(lambda: not link.state.goal.push.any())
    until(near(link, 1.1, 0.9))
    link.virtual_push([5.0, 0.0, 0.0], for_s=0.5)
    link.virtual_push([-10.0, 0.0, 0.0])
    link.wait(1.0)
    assert link.state.goal.push[0] == -10.0
    link.virtual_push([0.0, 0.0, 0.0])


def flat(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())


def test_a_goal_out_of_reach_is_said_to_be(loop: str, link: Link) -> None:
    done = pliant(loop, "goal", 1.5, 1.5)
    assert "out of reach" in done.stdout
    assert re.search(r"nearest position the arm can hold\. It is now at .* m( and still moving)?\.", flat(done.stdout))
    done = pliant(loop, "goal", 1.1, 0.9)
    assert "out of reach" not in done.stdout


def test_a_real_push_is_measured_and_ends(loop: str, link: Link) -> None:
    pliant(loop, "goal", 1.1, 0.9)
    link.read()
    assert pliant(loop, "push", 0, -10, "--duration", 3).returncode == 0
    felt = np.zeros(0)  # all that was measured since: nobody has to look while it lasts

    def has_ended() -> bool:
        nonlocal felt
        felt = np.concatenate([felt, link.read()["observed"]["wrench"][:, 1]])
        pushed = np.abs(felt + 10.0) < 0.5
        return bool(pushed.any()) and bool(abs(felt[-1]) < 0.5)

    until(has_ended)
    until(near(link, 1.1, 0.9))


BAD = {
    "one number for a goal": (
        ("goal", 1.0),
        "The position is [1], but it must be two or three numbers [m]: x y, or x y z.",
    ),
    "a command to another law": (("command", "start"), "or start a task with law: contact, such as pliant run dome."),
    "a goal that is no number": (("goal", "nan", 0.5), "finite"),
    "four numbers for a push": (("push", 1, 2, 3, 4), "fx fy or fx fy fz [N]"),
    "a push that is no number": (("push", "inf", 0), "finite"),
    "a virtual push beyond the sensor": (("push", 900, 0, "--virtual"), "sense.range_n"),
    "a push beyond the sensor": (("push", 900, 0), "sense.range_n"),
    "an endless virtual push": (("push", 1, 0, "--virtual", "--duration", 1e9), "at most 60 s"),
    "an endless push": (("push", 1, 0, "--duration", 1e9), "at most 60 s"),
}


@pytest.mark.parametrize(("words", "why"), list(BAD.values()), ids=list(BAD))
def test_bad_input_is_one_sentence_and_changes_nothing(
    loop: str, link: Link, words: tuple[object, ...], why: str
) -> None:
    before = link.state.goal.copy()
    done = pliant(loop, *words)
    assert done.returncode == 2
    assert why in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert link.state.goal == before


def test_the_switches_of_the_law_are_set_live(loop: str, link: Link) -> None:
    assert pliant(loop, "set", "impedance.cancel_force", "no").returncode == 0
    assert link.parameters.impedance.cancel_force is False
    assert pliant(loop, "set", "--undo").returncode == 0
    assert link.parameters.impedance.cancel_force is True
    done = pliant(loop, "set", "impedance.axes", "1,1,1,0,0,0")
    assert done.returncode == 2
    assert "while the loop runs" in done.stderr
