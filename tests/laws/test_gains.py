"""Gains from parameters: every mode gets its damping ratio, and damping never falls with stiffness."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from pliant.control.laws.gains import (
    admissible,
    damping_for,
    modal_ratios,
    modes,
    ratio_for_step,
    ratio_of_step,
    target,
)
from pliant.control.laws.registry import prepare
from pliant.control.parameters import Admittance, Parameters, record_of
from pliant.params.declare import changed
from pliant.params.packing import to_record
from support.properties import examples

Array = np.ndarray[Any, Any]


def definite(random: np.random.Generator, low: float, high: float, n: int = 6) -> Array:
    Q, _ = np.linalg.qr(random.normal(size=(n, n)))
    A = Q @ np.diag(10.0 ** random.uniform(low, high, n)) @ Q.T
    return 0.5 * (A + A.T)


# ---- damping by ratio ----------------------------------------------------------------------------------------------


def test_for_diagonal_matrices_damping_is_twice_the_ratio_times_the_root() -> None:
    M, K, zeta = (
        np.array([8.0, 5, 3, 0.5, 0.4, 0.3]),
        np.array([200.0, 50, 1000, 20, 30, 40]),
        np.array([0.7, 1, 0.3, 1.2, 0.8, 2]),
    )
    assert_allclose(damping_for(np.diag(M), np.diag(K), zeta), np.diag(2 * zeta * np.sqrt(M * K)), atol=1e-9)


def test_every_mode_of_turned_matrices_gets_the_ratio_and_a_diagonal_damping_would_not_give_it() -> None:
    M, K = np.diag([10.0, 10.0, 1.0]), np.diag([50.0, 50.0, 1000.0])
    R = Rotation.from_euler("y", 45, degrees=True).as_matrix()
    K = R @ K @ R.T
    assert_allclose(modal_ratios(M, damping_for(M, K, np.full(3, 0.7)), K), 0.7, atol=1e-9)
    naive = np.diag(2 * 0.7 * np.sqrt(np.diag(M) * np.diag(K)))
    found = modal_ratios(M, naive, K)
    assert len(found) < 3 or np.abs(found - 0.7).max() > 0.03  # one mode too weak or too strong to swing


@pytest.mark.parametrize("zeta", [0.1, 0.5, 0.7, 0.95])
def test_any_full_matrices_show_the_ratio_in_every_mode(zeta: float) -> None:
    random = np.random.default_rng(1)
    for _ in range(100):
        M, K = definite(random, -1, 1.5), definite(random, 2.5, 4)
        assert_allclose(modal_ratios(M, damping_for(M, K, np.full(6, zeta)), K), zeta, rtol=1e-6)


def test_damping_turns_with_the_axes() -> None:
    random = np.random.default_rng(2)
    M, K = np.diag([2.0, 8, 20, 1, 1, 1]), np.diag([50.0, 0, 900, 20, 20, 20])
    R = np.eye(6)
    R[:3, :3] = Rotation.from_quat(random.normal(size=4)).as_matrix()
    one = damping_for(R @ M @ R.T, R @ K @ R.T, np.full(6, 0.7))
    assert_allclose(one, R @ damping_for(M, K, np.full(6, 0.7)) @ R.T, atol=1e-6)


@given(st.integers(0, 2**31))
@examples(50)
def test_damping_is_symmetric_and_takes_energy_in_every_direction(seed: int) -> None:
    random = np.random.default_rng(seed)
    M, K = definite(random, -2, 2), definite(random, -3, 5)
    for dt in (0.0, 0.002):
        D = damping_for(M, K, random.uniform(0.05, 5, 6), dt=dt)
        assert_allclose(D, D.T, atol=1e-9 * np.abs(D).max())
        assert np.linalg.eigvalsh(D)[0] >= -1e-9 * np.abs(D).max()


def test_modes_are_those_of_the_generalised_eigenproblem() -> None:
    random = np.random.default_rng(3)
    M, K = definite(random, -1, 1), definite(random, 1, 3)
    values, Q = modes(M, K)
    assert_allclose(K @ Q, M @ Q @ np.diag(values), atol=1e-8)
    assert_allclose(Q.T @ M @ Q, np.eye(6), atol=1e-10)


# ---- soft directions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [0.0, 1.0, 10.0])
def test_below_the_virtual_stiffness_damping_is_that_of_the_virtual_stiffness(stiffness: float) -> None:
    D = damping_for(8.0 * np.eye(6), stiffness * np.eye(6), np.full(6, 0.8))
    assert_allclose(np.diag(D), 2 * 0.8 * math.sqrt(8.0 * 10.0), rtol=1e-9)  # 14.3, where a blend gives 14.3, 4.5, 14.3


@pytest.mark.parametrize("dt", [0.0, 0.002])
def test_damping_never_falls_when_stiffness_rises(dt: float) -> None:
    for zeta in (0.5, 0.8, 3.0):
        found = [
            damping_for(8.0 * np.eye(6), K * np.eye(6), np.full(6, zeta), dt=dt)[0, 0]
            for K in np.linspace(0, 100, 1000)
        ]
        assert (np.diff(found) >= -1e-9).all()


def test_full_matrices_with_a_free_direction_are_damped_there_too() -> None:
    R = Rotation.from_rotvec((0.4, -0.7, 0.2)).as_matrix()
    K = np.zeros((6, 6))
    K[:3, :3], K[3:, 3:] = R @ np.diag([300.0, 300, 0]) @ R.T, 20 * np.eye(3)
    D = damping_for(8.0 * np.eye(6), K, np.full(6, 1.0))
    free = np.concatenate([R[:, 2], np.zeros(3)])
    assert free @ D @ free == pytest.approx(2 * math.sqrt(8.0 * 10.0), rel=1e-6)


# ---- the implicit step adds damping of its own ---------------------------------------------------------------------


def poles(M: float, D: float, K: float, dt: float) -> Array:
    """Of the implicit step: (v, e) → (v⁺, e⁺)."""
    a = M + dt * D + dt * dt * K
    return np.linalg.eigvals(np.array([[M / a, -dt * K / a], [dt * M / a, 1 - dt * dt * K / a]]))


@pytest.mark.parametrize("zeta", [0.1, 0.3, 0.7, 0.9])
@pytest.mark.parametrize("rate", [125.0, 500.0, 1000.0])
def test_stepped_with_the_period_a_mode_shows_the_ratio_that_was_asked_for(zeta: float, rate: float) -> None:
    M, dt = 2.0, 1 / rate
    for K in (20.0, 200.0, 2000.0):
        D = damping_for(M * np.eye(6), K * np.eye(6), np.full(6, zeta), dt=dt)[0, 0]
        s = np.log(poles(M, D, K, dt).astype(complex)[0])
        shown = -s.real / abs(s)
        own = ratio_of_step(0.0, math.sqrt(K / M) * dt)  # what the step does without any damper
        assert shown == pytest.approx(max(zeta, own), abs=1e-5 if own < zeta else 0.01)


def test_without_the_compensation_a_ratio_of_070_would_show_as_072() -> None:
    assert ratio_of_step(0.7, 30.0 * 0.002) == pytest.approx(0.72, abs=0.01)
    assert ratio_of_step(ratio_for_step(0.7, 0.06), 0.06) == pytest.approx(0.7, abs=1e-6)


def test_what_does_not_swing_is_left_alone() -> None:
    M, K = 2.0 * np.eye(6), 200.0 * np.eye(6)
    for zeta in (1.0, 2.5):
        assert_allclose(damping_for(M, K, np.full(6, zeta), dt=0.008), damping_for(M, K, np.full(6, zeta)))


# ---- from parameters to gains --------------------------------------------------------------------------------------


def admittance(**values: Any) -> Any:
    return to_record(Admittance(**values))[0]


def test_damping_can_be_given_instead_of_a_ratio() -> None:
    given_matrix = definite(np.random.default_rng(4), 0, 2)
    _, D, _ = target(admittance(damping_by="value", damping=given_matrix, damping_ratio=(5.0,) * 6), 0.002)
    assert_array_equal(D, given_matrix)


def test_axes_that_do_not_give_way_are_decoupled_and_critically_damped_at_the_goal() -> None:
    full = definite(np.random.default_rng(5), 1, 2)
    M, D, K = target(admittance(mass=full, stiffness=full, axes=(True, False, True, True, True, False)))
    for A in (M, D, K):
        for i in (1, 5):
            assert not np.delete(A[i], i).any()
            assert not np.delete(A[:, i], i).any()
    for i in (1, 5):
        assert D[i, i] == pytest.approx(2 * math.sqrt(M[i, i] * K[i, i]))
    rest = [0, 2, 3, 4]
    assert_array_equal(M[np.ix_(rest, rest)], full[np.ix_(rest, rest)])


@pytest.mark.parametrize(
    ("name", "value", "redone"),
    [
        ("admittance.mass", 5.0, True),
        ("admittance.stiffness", 5.0, True),
        ("admittance.damping_ratio", 0.5, True),
        ("admittance.damping_by", "value", True),
        ("admittance.damping", 5.0, True),
        ("admittance.axes", (True, True, True, False, False, False), True),
        ("admittance.ramp_s", 2.0, False),
        ("sense.cutoff_hz", 5.0, False),
        ("limits.speed_scale", 0.1, False),
        ("hold.bandwidth_hz", 1.0, False),
    ],
)
def test_matrices_are_worked_out_anew_only_when_something_they_depend_on_changes(
    name: str, value: Any, redone: bool
) -> None:
    first = record_of(Parameters())
    assert prepare(first, None, 1.0, 0, 0.002)
    second = record_of(changed(Parameters(), {name: value}))
    assert prepare(second, first, 1.0, 1, 0.002) is redone
    assert second[0].revision == 1
    gains, before = second[0].gains, first[0].gains
    for letter in "MDK":
        assert_array_equal(gains[letter + "0"], before[letter + "1"])
    expected = target(second[0].admittance, 0.002)
    for letter, wanted in zip("MDK", expected, strict=True):
        assert_array_equal(gains[letter + "1"], wanted)


def test_mass_and_stiffness_and_ratio_each_change_the_damping() -> None:
    _, D, _ = target(admittance())
    for values in ({"mass": 5.0}, {"stiffness": 700.0}, {"damping_ratio": (0.5,) * 6}):
        _, other, _ = target(admittance(**values))
        assert np.abs(other - D).max() > 1.0


def test_a_change_begins_where_the_change_before_has_come_to() -> None:
    first, second, third = (record_of(changed(Parameters(), {"admittance.stiffness": K})) for K in (100.0, 300.0, 50.0))
    prepare(first, None, 1.0, 0, 0.002)
    prepare(second, first, 1.0, 1, 0.002)
    prepare(third, second, 0.25, 2, 0.002)
    assert_allclose(third[0].gains.K0, 150.0 * np.eye(6))
    assert_allclose(third[0].gains.K1, 50.0 * np.eye(6))


def test_axes_without_a_spring_are_marked_free() -> None:
    record = record_of(changed(Parameters(), {"admittance.stiffness": (0, 100, 0, 5, 0, 5)}))
    prepare(record, None, 1.0, 0, 0.002)
    assert record[0].gains.free.tolist() == [1, 0, 1, 0, 1, 0]
    held = record_of(changed(Parameters(), {"admittance.stiffness": 0, "admittance.axes": (True,) * 3 + (False,) * 3}))
    prepare(held, None, 1.0, 0, 0.002)
    assert held[0].gains.free.tolist() == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "place", "value", "good"),
    [
        ("mass", (2, 2), 8.0, True),
        ("mass", (2, 2), 0.0, False),
        ("mass", (2, 2), -1.0, False),
        ("mass", (0, 2), 0.5, False),
        ("stiffness", (2, 2), 0.0, True),
        ("stiffness", (2, 2), -1.0, False),
        ("damping", (1, 3), 0.5, False),
    ],
)
def test_the_loop_can_tell_an_inadmissible_matrix_without_the_door(
    name: str, place: tuple[int, int], value: float, good: bool
) -> None:
    record = admittance()
    record[name][place] = value
    assert admissible(record) is good
