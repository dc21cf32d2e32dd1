"""Matrices as parameters: diagonals and full ones, what is refused and in which words, and the way through a record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pliant.control.parameters import Parameters, diagonal, record_of
from pliant.errors import InputError
from pliant.params.declare import changed, flat, parse_value
from pliant.params.matrix import compact, filled
from pliant.params.packing import from_record
from pliant.params.validation_errors import MATRIX
from support.properties import examples

NAMES = ["admittance.mass", "admittance.stiffness", "admittance.damping"]
FULL = np.diag([4.0, 5, 6, 0.3, 0.4, 0.5]) + 0.1 * np.ones((6, 6))


def matrix(name: str, value: Any) -> np.ndarray[Any, Any]:
    return np.array(flat(changed(Parameters(), {name: value}))[name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "value", [7, 7.0, np.float64(7.0), np.int64(7), (7,) * 6, [7.0] * 6, np.full(6, 7.0), parse_value("7,7,7,7,7,7")]
)
def test_one_number_and_six_numbers_are_a_diagonal(name: str, value: Any) -> None:
    assert np.array_equal(matrix(name, value), 7.0 * np.eye(6))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [FULL, FULL.tolist(), tuple(map(tuple, FULL.tolist()))])
def test_a_full_symmetric_matrix_is_taken_as_it_is(name: str, value: Any) -> None:
    assert np.array_equal(matrix(name, value), FULL)


def test_two_numbers_make_a_diagonal_for_shifts_and_turns() -> None:
    assert np.array_equal(np.array(diagonal(8.0, 0.5)), np.diag([8.0, 8, 8, 0.5, 0.5, 0.5]))
    assert np.array_equal(np.array(diagonal(1, 2, 3, 4, 5, 6)), np.diag([1.0, 2, 3, 4, 5, 6]))


@pytest.mark.parametrize("name", [*NAMES, "admittance.damping_ratio"])
def test_none_leaves_a_number_as_it_is(name: str) -> None:
    now = changed(Parameters(), {name: [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]})
    after = changed(now, filled(now, {name: [None, 2.0, None, None, None, 3.0]}))
    assert list(compact(flat(after)[name])) == [1.0, 2.0, 1.2, 1.3, 1.4, 3.0]


def test_a_full_matrix_has_no_numbers_to_leave() -> None:
    now = changed(Parameters(), {"admittance.mass": FULL})
    with pytest.raises(InputError, match=r"admittance\.mass"):
        changed(now, filled(now, {"admittance.mass": [None, 9.0, None, None, None, 8.0]}))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((1, 2, 3), MATRIX),
        ([[1.0] * 6] * 5, MATRIX),
        ([[1.0] * 5] * 6, MATRIX),
        (np.eye(6) + np.eye(6, k=1), "symmetric"),
        (np.diag([1, 1, 1, 1, 1, -1.0]), "positive"),
        (-1.0, "positive"),
        ([1, 1, 1, 1, 1, float("nan")], "must be finite"),
        ([1, 1, 1, 1, 1, "x"], MATRIX),
        ("stiff", MATRIX),
        (True, MATRIX),
        ([True] * 6, MATRIX),
    ],
)
def test_what_is_no_admissible_matrix_is_refused_and_nothing_is_mended(name: str, value: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        changed(Parameters(), {name: value})
    assert name in str(caught.value)
    assert words in str(caught.value)


def test_a_mass_must_be_positive_in_every_direction_the_others_need_not_be() -> None:
    flat_direction = np.diag([1, 1, 0, 1, 1, 1.0])
    for name in ("admittance.stiffness", "admittance.damping"):
        assert np.array_equal(matrix(name, flat_direction), flat_direction)
    with pytest.raises(InputError, match="greater than 0, and greater than one millionth of the largest mass"):
        matrix("admittance.mass", flat_direction)
    hidden = np.eye(6)
    hidden[0, 1] = hidden[1, 0] = 1.0  # singular, although no number on the diagonal is zero
    with pytest.raises(InputError, match="positive definite"):
        matrix("admittance.mass", hidden)


@pytest.mark.parametrize("mass", [1e-4, 1e4])
def test_masses_of_very_different_size_are_fine(mass: float) -> None:
    assert matrix("admittance.mass", [mass, 1, 1, 1, 1, 1])[0, 0] == mass


@given(arrays(float, (6, 6), elements=st.floats(-10, 10)))
@examples(100)
def test_every_definite_matrix_goes_through_a_record_unchanged(A: np.ndarray[Any, Any]) -> None:
    M = A @ A.T + np.eye(6)
    M = 0.5 * (M + M.T)
    wanted = changed(
        Parameters(), {"admittance.mass": M, "admittance.stiffness": M, "admittance.axes": (True, False) * 3}
    )
    again = from_record(Parameters, record_of(wanted)[0])
    assert again == wanted
    assert again.admittance.axes == (True, False) * 3


def test_what_is_shown_is_short_where_it_can_be() -> None:
    assert compact(Parameters().admittance.mass) == [8.0, 8.0, 8.0, 0.5, 0.5, 0.5]
    assert compact(tuple(map(tuple, FULL.tolist()))) == tuple(map(tuple, FULL.tolist()))
    assert compact((1.0,) * 6) == (1.0,) * 6
    assert compact(3.0) == 3.0
