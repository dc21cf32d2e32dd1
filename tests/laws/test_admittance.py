"""The admittance law against its equation: rest, damping, moving goals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from admittance_runs import STILL, run, turned
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from pliant.control.laws.gains import modal_ratios, target
from pliant.control.parameters import Admittance
from pliant.params.packing import to_record

Array = np.ndarray[Any, Any]


# ---- rest and motion -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("M", "D", "K"), [(8.0, 80.0, 200.0), (0.1, 500.0, 1e4), (100.0, 400.0, 50.0)])
def test_constant_wrench_settles_at_force_over_stiffness(M: float, D: float, K: float) -> None:
    F = np.array([10.0, -5.0, 2.0, 0.0, 0.0, 0.0])
    poses, twists, _ = run(M, D, K, F, seconds=200.0)
    assert_allclose(poses[-1, :3], F[:3] / K, rtol=1e-6)
    assert_allclose(twists[-1], 0, atol=1e-6)


def test_constant_moment_settles_at_moment_over_stiffness() -> None:
    poses, _, _ = run(0.5, 5.0, 20.0, (0, 0, 0, 0, 4.0, 0), seconds=20.0)
    assert_allclose(Rotation.from_quat(poses[-1, 3:], scalar_first=True).as_rotvec(), (0, 0.2, 0), atol=1e-6)


def test_positive_error_is_pulled_back_not_pushed_away() -> None:
    # with the sign of the spring turned around this set has a pole at +1.70 and runs away
    damping = 2 * 0.8 * math.sqrt(8 * 100)
    poses, _, _ = run(8.0, damping, 100.0, start=turned((0, 0, 0), (0.05, 0, 0)), seconds=5.0)
    assert np.abs(poses[:, 0]).max() <= 0.05
    assert abs(poses[-1, 0]) < 1e-6


def test_without_a_spring_the_speed_settles_at_force_over_damping() -> None:
    _, twists, _ = run(8.0, 40.0, 0.0, (10.0, 0, 0, 0, 0, 0), seconds=10.0)
    assert_allclose(twists[-1], (0.25, 0, 0, 0, 0, 0), atol=1e-9)


@pytest.mark.parametrize("force", [0.01, 3.99, 4.01])
def test_there_is_no_hidden_friction(force: float) -> None:
    # M = 8 at 500 Hz: a law that zeroes speeds below 1 mm/s would swallow every force below 4 N
    poses, _, _ = run(8.0, 40.0, 0.0, (force, 0, 0, 0, 0, 0), seconds=6.0)
    assert_allclose(poses[-1, 0], force / 40.0 * (6.0 - 0.2), rtol=1e-2)


def test_a_spring_is_never_anchored_anew() -> None:
    poses, _, _ = run(8.0, 80.0, 100.0, (10.0, 0, 0, 0, 0, 0), seconds=20.0)
    assert_allclose(poses[-1, 0], 0.10, rtol=1e-9)


def test_a_free_mass_obeys_newton() -> None:
    _, twists, _ = run(4.0, 0.0, 0.0, (2.0, 0, 0, 0, 0, 0), seconds=3.0)
    assert_allclose(twists[-1, 0], 2.0 / 4.0 * 3.0, rtol=1e-12)


# ---- the equation --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.05, 0.3, 0.7, 1.0, 3.0])
def test_motion_is_the_solution_of_the_equation_and_the_error_shrinks_with_the_period(ratio: float) -> None:
    M, K, F, seconds = 8.0, 200.0, 10.0, 2.0
    D = 2 * ratio * math.sqrt(M * K)
    exact = solve_ivp(
        lambda _, y: (y[1], (F - D * y[1] - K * y[0]) / M), (0, seconds), (0.03, -0.2), rtol=1e-11, atol=1e-13,
        dense_output=True,
    ).sol  # fmt: skip
    worst = []
    for dt in (1e-4, 5e-5):
        poses, _, _ = run(
            M, D, K, (F, 0, 0, 0, 0, 0), dt=dt, seconds=seconds, start=turned((0, 0, 0), (0.03, 0, 0)),
            twist=(-0.2, 0, 0, 0, 0, 0),
        )  # fmt: skip
        worst.append(np.abs(poses[:, 0] - exact(np.arange(1, len(poses) + 1) * dt)[0]).max())
    assert worst[0] < 1e-4
    assert worst[1] / worst[0] == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("ratio", [0.1, 0.3, 0.6])
def test_overshoot_is_that_of_the_damping_ratio(ratio: float) -> None:
    M, K = 8.0, 200.0
    poses, _, _ = run(M, 2 * ratio * math.sqrt(M * K), K, (10.0, 0, 0, 0, 0, 0), dt=1e-5, seconds=2.0)
    assert poses[:, 0].max() / (10.0 / K) - 1 == pytest.approx(
        math.exp(-math.pi * ratio / math.sqrt(1 - ratio**2)), abs=2e-3
    )


@pytest.mark.parametrize("ratio", [1.0, 1.5, 4.0])
def test_there_is_no_overshoot_from_critical_damping_on(ratio: float) -> None:
    M, K = 8.0, 200.0
    poses, _, _ = run(M, 2 * ratio * math.sqrt(M * K), K, (10.0, 0, 0, 0, 0, 0), seconds=20.0)
    assert poses[:, 0].max() <= 10.0 / K * (1 + 1e-12)


# ---- a goal that moves ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("goal_twist", [(0.2, -0.1, 0.05, 0, 0, 0), (0, 0, 0, 0.3, 0, 0), (0.1, 0, 0, 0, 0.2, -0.3)])
def test_a_moving_goal_is_tracked_without_lag(goal_twist: tuple[float, ...]) -> None:
    poses, twists, goal = run(8.0, 80.0, 200.0, goal_twist=goal_twist, seconds=20.0)
    assert_allclose(twists[-1], goal_twist, atol=1e-8)
    assert_allclose(poses[-1, :3], goal[:3], atol=1e-8)
    gap = Rotation.from_quat(poses[-1, 3:], scalar_first=True) * Rotation.from_quat(goal[3:], scalar_first=True).inv()
    assert gap.magnitude() < 1e-8


def test_a_push_deflects_from_a_moving_goal_as_from_one_that_rests() -> None:
    poses, _, goal = run(8.0, 80.0, 200.0, (0, 10.0, 0, 0, 0, 0), goal_twist=(0.2, 0, 0, 0, 0, 0), seconds=20.0)
    assert_allclose(poses[-1, :3] - goal[:3], (0, 0.05, 0), atol=1e-8)


def test_axes_do_not_talk_to_each_other() -> None:
    poses, twists, _ = run(8.0, 80.0, 200.0, (10.0, 0, 0, 0, 0, 0), seconds=1.0)
    assert np.abs(poses[:, 1:3]).max() == 0.0
    assert np.abs(twists[:, 1:]).max() == 0.0


def test_full_matrices_rest_where_the_spring_balances_the_wrench() -> None:
    random = np.random.default_rng(9)
    for _ in range(20):
        A = random.normal(size=(3, 3))
        K = np.zeros((6, 6))
        K[:3, :3], K[3:, 3:] = A @ A.T * 100 + 50 * np.eye(3), 20 * np.eye(3)
        F = np.array([*random.uniform(-10, 10, 3), 0, 0, 0])
        poses, _, _ = run(8.0, 80.0, K, F, seconds=60.0)
        assert_allclose(poses[-1, :3], np.linalg.solve(K[:3, :3], F[:3]), atol=1e-7)


def test_motion_does_not_depend_on_the_axes_in_which_it_is_written() -> None:
    random = np.random.default_rng(10)
    M, D, K = np.diag([2.0, 8, 20, 1, 1, 1]), np.diag([10.0, 80, 40, 9, 9, 9]), np.diag([50.0, 0, 900, 20, 20, 20])
    R = np.eye(6)
    R[:3, :3] = Rotation.from_quat(random.normal(size=4)).as_matrix()
    F = np.array([7.0, -3.0, 5.0, 0, 0, 0])
    straight, _, _ = run(M, D, K, F)
    turned_axes, _, _ = run(R @ M @ R.T, R @ D @ R.T, R @ K @ R.T, R @ F)
    assert_allclose(turned_axes[:, :3], straight[:, :3] @ R[:3, :3].T, atol=1e-10)


def test_the_default_parameters_are_critically_damped() -> None:
    M, D, K = target(to_record(Admittance())[0])
    assert_allclose(np.diag(D) / (2 * np.sqrt(np.diag(M) * np.diag(K))), 1.0)
    assert len(modal_ratios(M, 0.999 * D, K)) == 6


# ---- rest without drift --------------------------------------------------------------------------------------------


def test_let_go_without_a_spring_the_mass_coasts_comes_to_rest_and_stays() -> None:
    poses, twists, _ = run(8.0, 40.0, 0.0, twist=(0.3, 0, 0, 0, 0, 0), seconds=10.0)
    assert not twists[-1].any()
    assert_allclose(poses[-1, 0], 0.3 * 8.0 / 40.0, rtol=0.01)  # v M / D, less than the last millimetre per second
    assert_array_equal(poses[2000:], np.broadcast_to(poses[-1], poses[2000:].shape))


def test_rest_is_not_declared_where_a_spring_still_pulls() -> None:
    # slower than 1 mm/s from the first tick on, and yet it comes home
    damping = 2000.0
    poses, twists, _ = run(8.0, damping, 20.0, start=turned((0, 0, 0), (0.01, 0, 0)), seconds=1500.0)
    assert np.abs(twists[:, 0]).max() < STILL
    assert abs(poses[-1, 0]) < 1e-7
