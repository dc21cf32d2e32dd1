"""Taking back what a page has changed: one drag at a time, and nothing of anyone else."""

from __future__ import annotations

import pytest
from running_studio import Running

from pliant.errors import PliantError, RejectedError
from pliant.params.declare import flat
from pliant.session.link import Link, attach
from pliant.session.undo import MOST, Changes
from pliant.studio.shown_parameters import values_of

pytestmark = pytest.mark.slow

CUTOFF, DEADBAND = "sense.cutoff_hz", "sense.deadband_n"


@pytest.fixture
def link(studio: Running) -> Link:
    studio.loop.set({CUTOFF: 20.0, DEADBAND: 1.0})
    return studio.loop


def values(link: Link) -> tuple[float, float]:
    now = flat(link.parameters)
    return now[CUTOFF], now[DEADBAND]


def test_one_drag_is_taken_back_as_one(link: Link) -> None:
    history = Changes()
    for drag, cutoffs in ((1, (21.0, 22.0, 23.0)), (2, (24.0, 25.0))):
        for cutoff in cutoffs:
            history.set(link, {CUTOFF: cutoff}, drag)
    seen = []
    for act in (history.undo, history.undo, history.redo, history.redo):
        act(link)
        seen.append(values(link)[0])
    assert seen == [23.0, 20.0, 23.0, 25.0]


@pytest.mark.parametrize("back", [23.0, 24.0])
def test_a_hand_that_comes_back_to_where_it_began_takes_nothing_of_the_drag_before_along(
    link: Link, back: float
) -> None:
    history = Changes()
    history.set(link, {CUTOFF: 23.0}, 1)
    for cutoff in (back, 23.0, 25.0, 26.0):
        history.set(link, {CUTOFF: cutoff}, 2)
    history.undo(link)
    assert values(link)[0] == 23.0
    history.undo(link)
    assert values(link)[0] == 20.0


def test_changes_without_a_drag_are_taken_back_one_by_one(link: Link) -> None:
    history = Changes()
    history.set(link, {CUTOFF: 21.0})
    history.set(link, {CUTOFF: 22.0})
    history.undo(link)
    assert values(link) == (21.0, 1.0)


def test_what_someone_else_has_changed_meanwhile_stays(link: Link) -> None:
    history, other = Changes(), attach(link.name)
    history.set(link, {CUTOFF: 30.0})
    other.set({DEADBAND: 2.5})
    history.undo(link)
    assert values(link) == (20.0, 2.5)


def test_where_both_have_changed_the_same_only_the_rest_is_taken_back(link: Link) -> None:
    history, other = Changes(), attach(link.name)
    history.set(link, {CUTOFF: 30.0, DEADBAND: 2.0})
    other.set({CUTOFF: 35.0})
    history.undo(link)
    assert values(link) == (35.0, 1.0)


def test_a_change_that_is_wholly_overtaken_is_not_taken_back_and_says_so(link: Link) -> None:
    history, other = Changes(), attach(link.name)
    history.set(link, {DEADBAND: 1.5})
    history.set(link, {CUTOFF: 30.0})
    other.set({CUTOFF: 35.0})
    with pytest.raises(RejectedError, match=r"sense\.cutoff_hz \(now .* Hz\) has been changed since"):
        history.undo(link)
    assert values(link) == (35.0, 1.5)
    history.undo(link)  # what came before it is not barred by it
    assert values(link) == (35.0, 1.0)


STIFFNESS = "admittance.stiffness"


def stiffness(link: Link) -> list[float]:
    return values_of(link.parameters)[STIFFNESS]


def test_an_axis_that_someone_else_turns_during_a_drag_stays_when_the_drag_is_taken_back(link: Link) -> None:
    history, other = Changes(), attach(link.name)
    x, y, *rest = stiffness(link)
    history.set(link, {STIFFNESS: [x + 10.0, *[None] * 5]}, 1)
    other.set({STIFFNESS: [None, y + 7.0, *[None] * 4]})
    history.set(link, {STIFFNESS: [x + 20.0, *[None] * 5]}, 1)
    history.undo(link)
    assert stiffness(link) == [x, y + 7.0, *rest]
    history.redo(link)
    assert stiffness(link) == [x + 20.0, y + 7.0, *rest]
    other.set({STIFFNESS: [None, y, *[None] * 4]})
    history.undo(link)
    assert stiffness(link) == [x, y, *rest]


def test_a_drag_into_which_someone_else_reached_is_taken_back_to_there_and_no_further(link: Link) -> None:
    history, other = Changes(), attach(link.name)
    history.set(link, {CUTOFF: 21.0}, 1)
    other.set({CUTOFF: 30.0})
    history.set(link, {CUTOFF: 22.0}, 1)
    history.set(link, {CUTOFF: 23.0}, 1)
    history.undo(link)
    assert values(link)[0] == 30.0
    with pytest.raises(RejectedError, match="been changed since"):
        history.undo(link)


def test_a_matrix_that_is_no_diagonal_is_taken_back_as_a_whole(link: Link) -> None:
    history, mass = Changes(), "admittance.mass"
    before = values_of(link.parameters)[mass]
    full = [[value if i == j else 0.0 for j in range(6)] for i, value in enumerate(before)]
    full[0][1] = full[1][0] = 0.1 * before[0]
    history.set(link, {mass: full})
    history.undo(link)
    assert values_of(link.parameters)[mass] == before
    history.redo(link)
    assert [list(row) for row in flat(link.parameters)[mass]] == full
    history.undo(link)


def test_a_change_that_was_refused_is_not_kept(link: Link) -> None:
    history = Changes()
    with pytest.raises(PliantError):
        history.set(link, {CUTOFF: -1.0})
    with pytest.raises(RejectedError, match="Nothing to undo"):
        history.undo(link)


def test_no_more_is_kept_than_can_be_of_use(link: Link) -> None:
    history = Changes()
    for i in range(MOST + 5):
        history.set(link, {CUTOFF: 20.0 + (i % 7) + 1.0})
    assert len(history) == MOST
