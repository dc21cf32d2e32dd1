"""What is said beforehand of values that nobody has proposed is what the loop's door says when they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from running_studio import Running, until

from pliant.control.laws.contact.contact_states import is_at_work
from pliant.errors import RejectedError
from pliant.session.link import Link
from pliant.session.session import Session
from pliant.studio.page_messages import Zone
from pliant.studio.stage.judged_values import FINE, REJECTED, THIN, is_judged, zones
from pliant.task.schema import load_task

pytestmark = pytest.mark.slow

MASSES = [0.05 * 1.12**i for i in range(65)]


@pytest.fixture(scope="module")
def pressing() -> Iterator[Session]:
    """A loop whose admittance may press on a surface that its task declares."""
    with Session(load_task("surface_following")) as session:
        session.wait(0.05)
        yield session


def masses(session: Link) -> list[list[float]]:
    turns = [session.parameters.admittance.mass[i][i] for i in (3, 4, 5)]
    return [[kg] * 3 + turns for kg in MASSES]


def level_at(runs: list[Zone], i: int) -> int:
    return next(run["level"] for run in runs if run["first"] <= i <= run["last"])


def test_zones_cover_every_value_once_and_say_why(pressing: Session) -> None:
    runs = zones(pressing, "admittance.mass", masses(pressing))
    assert [run["first"] for run in runs] == [0, *(run["last"] + 1 for run in runs[:-1])]
    assert runs[-1]["last"] == len(MASSES) - 1
    assert [run["level"] for run in runs] == [REJECTED, THIN, FINE]
    assert "200 N/m" in runs[0]["why"]
    assert runs[2]["why"] == ""


def test_what_is_red_is_refused_and_what_is_not_is_taken(pressing: Session) -> None:
    values = masses(pressing)
    runs = zones(pressing, "admittance.mass", values)
    red = runs[0]["last"]
    before = pressing.board.adopted
    with pytest.raises(RejectedError, match="gain margin"):
        pressing.set({"admittance.mass": values[red]})
    assert pressing.board.adopted == before
    pressing.set({"admittance.mass": values[red + 1]})
    assert pressing.parameters.admittance.mass[0][0] == values[red + 1][0]
    pressing.undo()


def test_a_declared_bound_is_red_too(pressing: Session) -> None:
    runs = zones(pressing, "sense.cutoff_hz", [100.0, 300.0, 500.0])
    assert [level_at(runs, i) for i in range(3)] == [FINE, FINE, REJECTED]
    assert "0.1 to 400 Hz" in runs[-1]["why"]


def test_a_law_without_a_declared_surface_is_not_judged(pressing: Session) -> None:
    assert is_judged(pressing)
    with Session(load_task("push")) as free:
        free.wait(0.05)
        assert not is_judged(free)
        runs = zones(free, "admittance.mass", masses(free))
    assert [run["level"] for run in runs] == [FINE]


def test_a_spring_that_would_be_torn_where_the_tool_is_now_is_red(studio: Running) -> None:
    free, name = studio.loop, "admittance.stiffness"
    springs = [[k, k, k, 0.0, 0.0, 0.0] for k in (0.0, 100.0, 400.0)]
    here = free.pose
    free.goal_position(np.add(here[:3], [0.0, 0.0, 0.6]))
    studio.until(lambda: free.state.goal.pose[2] > here[2] + 0.5)
    runs = zones(free, name, springs)  # without a spring, the reserve on the surface is small
    assert [(run["first"], run["last"], run["level"]) for run in runs] == [(0, 0, THIN), (1, 2, REJECTED)]
    with pytest.raises(RejectedError) as refused:
        free.set({name: springs[1]})
    assert runs[1]["why"] == str(refused.value)
    free.goal_pose(here)
    studio.until(lambda: np.allclose(free.state.goal.pose, here))
    assert [run["level"] for run in zones(free, name, springs)] == [THIN, FINE]


def test_what_may_not_change_while_a_contact_is_at_work_is_red() -> None:
    with Session(load_task("plane")) as wiping:
        until(lambda: is_at_work(wiping.state.contact))
        limit = wiping.parameters.contact.force_limit_n
        runs = zones(wiping, "contact.force_limit_n", [limit, 1.5 * limit])
        assert [run["level"] for run in runs][-1] == REJECTED
        assert "the contact is active" in runs[-1]["why"]
        assert level_at(runs, 0) != REJECTED
