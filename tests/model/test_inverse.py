"""The damped inverse: exact where the arm is free to move, bounded where it is not, for any number of joints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.parameters import Parameters
from pliant.kernel import kernel
from pliant.model import Arm
from pliant.model.inverse import SCRATCH, damped_inverse, smallest_singular_value
from pliant.records import MAX_JOINTS

Array = np.ndarray[Any, Any]
THRESHOLD, DAMPING = Parameters().limits.singular_threshold, Parameters().limits.singular_damping
# σ/(σ² + λ²) over all σ below the threshold, λ as the law has it; above the threshold it is 1/σ
_BELOW = np.linspace(1e-6, THRESHOLD, 10000)
MOST = float((_BELOW / (_BELOW**2 + DAMPING**2 * (1 - (_BELOW / THRESHOLD) ** 2))).max())

WRIST = (np.pi, -np.pi / 2, np.pi / 2, -np.pi / 2, 0.0, 0.0)
ELBOW = (np.pi, -np.pi / 2, 0.0, -np.pi / 2, -np.pi / 2, 0.0)


@kernel
def _invert(J, n, V, threshold, damping, weakest, scratch, qd):
    sigma = smallest_singular_value(J, n, weakest, scratch[0])
    damped_inverse(J, n, V, sigma, threshold, damping, scratch[0], qd)
    return sigma


class Inverse:
    """The inverse with what it remembers from tick to tick."""

    def __init__(self, threshold: float = THRESHOLD, damping: float = DAMPING) -> None:
        self.settings = threshold, damping
        self.weakest, self.scratch = np.zeros(6), SCRATCH.new()

    def __call__(self, J: Array, V: Any) -> tuple[Array, float]:
        n, wide, qd = J.shape[1], np.full((6, MAX_JOINTS), np.nan), np.full(MAX_JOINTS, np.nan)
        wide[:, :n] = J
        sigma = _invert(wide, n, np.asarray(V, float), *self.settings, self.weakest, self.scratch, qd)
        assert np.isnan(qd[n:]).all()
        return qd[:n], sigma

    def settled(self, J: Array, V: Any) -> tuple[Array, float]:
        """The same after some ticks in one place."""
        for _ in range(4):
            self(J, V)
        return self(J, V)


def smallest(J: Array) -> float:
    return float(np.linalg.svd(J, compute_uv=False)[-1])


def line(start: Any, end: Any, ticks: int) -> Array:
    share = np.linspace(0, 1, ticks)[:, None]
    return np.asarray(start) + share * (np.asarray(end) - np.asarray(start))


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm.load("ur5e")


# ---- away from singularities ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 12])
def test_away_from_singularities_it_is_the_pseudo_inverse(n: int) -> None:
    random, tried = np.random.default_rng(n), 0
    while tried < 100:
        J, V = random.normal(size=(6, n)), random.normal(size=6)
        if smallest(J) < 0.2:
            continue
        qd, _ = Inverse()(J, V)
        assert_allclose(qd, np.linalg.pinv(J) @ V, atol=1e-9)
        tried += 1


def test_the_tool_of_a_real_arm_moves_as_asked(arm: Arm) -> None:
    random, tried = np.random.default_rng(1), 0
    while tried < 200:
        J, V = arm.jacobian(random.uniform(-3, 3, 6)), random.normal(size=6)
        if smallest(J) < THRESHOLD:
            continue
        qd, _ = Inverse(threshold=1e-9)(J, V)
        assert_allclose(J @ qd, V, atol=1e-9)
        assert_allclose(qd, np.linalg.pinv(J) @ V, atol=1e-8)
        tried += 1


def test_a_seventh_joint_moves_no_more_than_it_must() -> None:
    random = np.random.default_rng(2)
    J, V = random.normal(size=(6, 7)), random.normal(size=6)
    qd, _ = Inverse()(J, V)
    null = np.linalg.svd(J)[2][-1]
    assert abs(qd @ null) < 1e-9


def test_few_joints_are_not_a_singularity() -> None:
    two = Arm.load("two_link")
    qd, sigma = Inverse().settled(two.jacobian(two.q_home), (0.1, -0.2, 0, 0, 0, 0))
    assert sigma == pytest.approx(smallest(two.jacobian(two.q_home)), rel=1e-6)
    assert_allclose(qd, np.linalg.pinv(two.jacobian(two.q_home)) @ (0.1, -0.2, 0, 0, 0, 0), atol=1e-9)


def test_few_joints_can_be_singular_too() -> None:
    J = np.zeros((6, 2))
    J[:, 0], J[:, 1] = 1.0, 1.0 + 1e-6
    qd, sigma = Inverse().settled(J, np.linspace(-1, 1, 6))
    assert sigma < 1e-5
    assert np.linalg.norm(qd) <= MOST * np.linalg.norm(np.linspace(-1, 1, 6))


# ---- the smallest singular value -----------------------------------------------------------------------------------


def test_the_estimate_is_never_below_the_true_value(arm: Arm) -> None:
    random = np.random.default_rng(3)
    for q in random.uniform(-3, 3, (300, 6)):
        J = arm.jacobian(q)
        _, sigma = Inverse()(J, np.ones(6))
        assert sigma >= smallest(J) * (1 - 1e-9)


def test_the_estimate_is_exact_within_a_few_ticks_of_the_start(arm: Arm) -> None:
    random = np.random.default_rng(4)
    for q in random.uniform(-3, 3, (300, 6)):
        J, inverse = arm.jacobian(q), Inverse()
        found = [inverse(J, np.ones(6))[1] for _ in range(10)]
        if np.linalg.svd(J, compute_uv=False)[-2] > 1.5 * smallest(J):
            assert found[-1] == pytest.approx(smallest(J), rel=1e-3, abs=2e-6)
        if smallest(J) < THRESHOLD / 2:
            assert found[3] < THRESHOLD


@pytest.mark.parametrize("end", [WRIST, ELBOW])
@pytest.mark.parametrize("rest", [0, 5000])
def test_the_estimate_follows_the_true_value_into_a_singularity(arm: Arm, end: tuple[float, ...], rest: int) -> None:
    inverse = Inverse()
    for _ in range(rest):  # a guess that had all the time to settle in another direction
        inverse(arm.jacobian(arm.q_home), np.ones(6))
    for tick, q in enumerate(line(arm.q_home, end, 500)):  # at π/2 rad/s and 500 Hz
        J = arm.jacobian(q)
        _, sigma = inverse(J, np.ones(6))
        if tick > 5:
            assert sigma == pytest.approx(smallest(J), rel=1e-3, abs=2e-6)


def test_a_direction_that_has_long_been_strong_is_still_found_when_it_becomes_weak() -> None:
    # exactly separate axes, as of a gantry: nothing but the trace that is kept leads from one to the other
    J, inverse = np.diag([0.5, 1.0, 1.0, 1.0, 1.0, 1.0]), Inverse()
    for _ in range(3000):
        inverse(J, np.ones(6))
    J[5, 5] = 1e-3
    found = [inverse(J, np.ones(6))[1] for _ in range(4)]
    assert found[-1] == pytest.approx(1e-3, rel=1e-2)


def test_the_guess_stays_a_unit_vector(arm: Arm) -> None:
    inverse = Inverse()
    for q in line(arm.q_home, WRIST, 100):
        inverse(arm.jacobian(q), np.ones(6))
        assert np.linalg.norm(inverse.weakest) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("guess", [np.zeros(6), np.full(6, np.nan), np.full(6, 1e-200)])
def test_a_useless_guess_is_replaced(arm: Arm, guess: Array) -> None:
    inverse = Inverse()
    inverse.weakest[:] = guess
    qd, sigma = inverse(arm.jacobian(arm.q_home), np.ones(6))
    assert np.isfinite(qd).all()
    assert math.isfinite(sigma)


# ---- at singularities ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [WRIST, ELBOW])
def test_joint_speeds_stay_bounded_into_and_out_of_a_singularity(arm: Arm, end: tuple[float, ...]) -> None:
    random, inverse = np.random.default_rng(5), Inverse()
    beyond = 2 * np.array(end) - arm.q_home
    for q in line(arm.q_home, beyond, 1001):
        J = arm.jacobian(q)
        weak = np.linalg.svd(J)[0][:, -1]
        for V in (weak, random.normal(size=6)):
            qd, _ = inverse(J, V)
            assert np.linalg.norm(qd) <= MOST * np.linalg.norm(V) * (1 + 1e-3)


def test_the_bound_is_of_the_order_of_the_threshold() -> None:
    assert max(1 / THRESHOLD, 1 / (2 * DAMPING)) * 1.01 >= MOST
    assert MOST < 20  # 0.1 m/s asks for less than 2 rad/s, not for 100


@pytest.mark.parametrize("end", [WRIST, ELBOW])
def test_the_weak_direction_is_given_up_and_the_others_are_kept(arm: Arm, end: tuple[float, ...]) -> None:
    inverse, J = Inverse(), arm.jacobian(end)
    U = np.linalg.svd(J)[0]
    qd, sigma = inverse.settled(J, U[:, 0])
    assert sigma < 1e-5
    assert_allclose(J @ qd, U[:, 0], atol=0.01)
    qd, _ = inverse(J, U[:, -1])
    assert np.linalg.norm(qd) < 1e-3


def test_damping_sets_in_without_a_jump() -> None:
    speeds = []
    for sigma in np.linspace(THRESHOLD * 1.01, THRESHOLD * 0.99, 201):
        qd, _ = Inverse().settled(np.diag([1.0, 1.0, 1.0, 1.0, 1.0, sigma]), (0, 0, 0, 0, 0, 1))
        speeds.append(qd[5])
    assert np.abs(np.diff(speeds)).max() < 0.02 / THRESHOLD


@pytest.mark.parametrize("n", [1, 2, 6, 7, 12])
def test_an_arm_that_cannot_move_at_all_gives_zeros(n: int) -> None:
    inverse = Inverse()
    for _ in range(3):
        qd, sigma = inverse(np.zeros((6, n)), np.ones(6))
        assert_array_equal(qd, 0.0)
        assert 0 <= sigma < 1e-5


def test_nothing_asked_is_nothing_done(arm: Arm) -> None:
    for q in (arm.q_home, np.array(WRIST), np.array(ELBOW), np.zeros(6)):
        assert_array_equal(Inverse()(arm.jacobian(q), np.zeros(6))[0], 0.0)


def test_random_singular_matrices_never_give_more_than_the_bound() -> None:
    random = np.random.default_rng(6)
    for _ in range(500):
        n = int(random.integers(2, 13))
        U, V = np.linalg.qr(random.normal(size=(6, 6)))[0], np.linalg.qr(random.normal(size=(n, n)))[0]
        values = 10 ** random.uniform(-8, 0, min(6, n))
        J = U[:, : len(values)] @ np.diag(values) @ V[:, : len(values)].T
        inverse, speed = Inverse(), 0.0
        for _ in range(12):
            qd, _ = inverse(J, U[:, 0])
            speed = float(np.linalg.norm(qd))
        assert speed <= MOST * 1.05
