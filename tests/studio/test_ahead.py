"""What is said beforehand of values that nobody has proposed is what the loop's door says when they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pliant.errors import RefusedError
from pliant.runtime.session import Session
from pliant.runtime.task import find_task
from pliant.studio.ahead import FINE, REFUSED, THIN, is_judged, zones

MASSES = [0.05 * 1.12**i for i in range(65)]


@pytest.fixture(scope="module")
def pressing() -> Iterator[Session]:
    """A loop whose admittance may press on a surface that its task declares."""
    with Session(find_task("surface_following")) as session:
        session.wait(0.05)
        yield session


def masses(session: Session) -> list[list[float]]:
    turns = [session.parameters.admittance.mass[i][i] for i in (3, 4, 5)]
    return [[kg] * 3 + turns for kg in MASSES]


def level_at(runs: list[dict[str, Any]], i: int) -> int:
    return next(run["level"] for run in runs if run["first"] <= i <= run["last"])


def test_zones_cover_every_value_once_and_say_why(pressing: Session) -> None:
    runs = zones(pressing, "admittance.mass", masses(pressing))
    assert [run["first"] for run in runs] == [0, *(run["last"] + 1 for run in runs[:-1])]
    assert runs[-1]["last"] == len(MASSES) - 1
    assert [run["level"] for run in runs] == [REFUSED, THIN, FINE]
    assert "200 N/m" in runs[0]["why"]
    assert runs[2]["why"] == ""


def test_what_is_red_is_refused_and_what_is_not_is_taken(pressing: Session) -> None:
    values = masses(pressing)
    runs = zones(pressing, "admittance.mass", values)
    red = runs[0]["last"]
    before = pressing.board.adopted
    with pytest.raises(RefusedError, match="bears"):
        pressing.set({"admittance.mass": values[red]})
    assert pressing.board.adopted == before
    pressing.set({"admittance.mass": values[red + 1]})
    assert pressing.parameters.admittance.mass[0][0] == values[red + 1][0]
    pressing.undo()


def test_a_declared_bound_is_red_too(pressing: Session) -> None:
    runs = zones(pressing, "sense.cutoff_hz", [100.0, 300.0, 500.0])
    assert [level_at(runs, i) for i in range(3)] == [FINE, FINE, REFUSED]
    assert "at most 400" in runs[-1]["why"]


def test_a_law_without_a_declared_surface_is_not_judged(pressing: Session) -> None:
    assert is_judged(pressing)
    with Session(find_task("hand_guiding")) as free:
        free.wait(0.05)
        assert not is_judged(free)
        runs = zones(free, "admittance.mass", masses(free))
        assert [run["level"] for run in runs] == [FINE]
