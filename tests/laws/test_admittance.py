"""The admittance law against its equation: rest, damping, every admissible set, passivity, moving goals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from pliant.kernel import kernel
from pliant.laws import admittance
from pliant.params.control import Admittance
from pliant.params.declare import layout_of, to_record
from pliant.records import STATE
from pliant.spatial import pose_integrate

Array = np.ndarray[Any, Any]
REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
LAYOUT = layout_of(Admittance)


@kernel
def _run(p, s, F, goal, goal_twist, dt, ticks, poses, twists):
    """The law in closed loop with a robot that does exactly what it is told; the goal moves with its twist."""
    e = np.zeros(6)
    for k in range(ticks):
        admittance.step(p[0], s[0], F, goal, goal_twist, dt, e)
        pose_integrate(s[0].pose, s[0].twist, dt, s[0].pose)
        pose_integrate(goal, goal_twist, dt, goal)
        poses[k] = s[0].pose
        twists[k] = s[0].twist


def run(
    M: float, D: float, K: float, F: Any = 0.0, *, dt: float = 0.002, seconds: float = 1.0, start: Any = REST,
    twist: Any = 0.0, goal_twist: Any = 0.0,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Poses, twists and the last goal of a run with the same M, D, K on all axes."""
    p, s, ticks = LAYOUT.new(), STATE.new(), round(seconds / dt)
    p[0].mass[:], p[0].damping[:], p[0].stiffness[:] = M, D, K
    s[0].pose[:], s[0].twist[:] = start, twist
    poses, twists, goal = np.zeros((ticks, 7)), np.zeros((ticks, 6)), REST.copy()
    _run(
        p,
        s,
        np.broadcast_to(F, 6).astype(float),
        goal,
        np.broadcast_to(goal_twist, 6).astype(float),
        dt,
        ticks,
        poses,
        twists,
    )
    return poses, twists, goal


def turned(rotvec: Any, position: Any = (0, 0, 0)) -> Array:
    return np.array([*position, *Rotation.from_rotvec(rotvec).as_quat(scalar_first=True)])


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


# ---- every admissible set ------------------------------------------------------------------------------------------


@kernel
def _growth(p, s, F, dt, ticks):
    """Largest growth in one tick, relative to the start, of M v²/2 + K (e - F/K)²/2 along x; F = 0 where K = 0."""
    e, goal, still = np.zeros(6), np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(6)
    M, K = p.mass[0], p.stiffness[0]
    rest = F[0] / K if K > 0.0 else 0.0
    first = 0.5 * M * s.twist[0] ** 2 + 0.5 * K * (s.pose[0] - rest) ** 2
    last, worst = first, -np.inf
    for _ in range(ticks):
        admittance.step(p, s, F, goal, still, dt, e)
        pose_integrate(s.pose, s.twist, dt, s.pose)
        energy = 0.5 * M * s.twist[0] ** 2 + 0.5 * K * (s.pose[0] - rest) ** 2
        worst = max(worst, (energy - last) / first)
        last = energy
    return worst, last / first


@kernel
def _growths(p, s, F, dt, ticks, worst, end):
    for i in range(p.shape[0]):
        worst[i], end[i] = _growth(p[i], s[i], F[i], dt[i], ticks)


def random_sets(n: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """Sets of every size and ratio: masses over 9 decades, damping and stiffness over 12 and exactly zero too."""
    random = np.random.default_rng(seed)
    p, s, F = LAYOUT.new(n), STATE.new(n), np.zeros((n, 6))
    p["mass"][:, 0] = 10.0 ** random.uniform(-5, 4, n)
    p["damping"][:, 0] = 10.0 ** random.uniform(-6, 6, n) * (random.random(n) > 0.1)
    p["stiffness"][:, 0] = 10.0 ** random.uniform(-4, 8, n) * (random.random(n) > 0.1)
    p["mass"][:, 1:] = p["damping"][:, 1:] = 1.0
    s["pose"] = REST
    s["pose"][:, 0], s["twist"][:, 0] = random.uniform(-1, 1, n), random.uniform(-2, 2, n)
    dt = random.choice([1 / 125, 1 / 250, 1 / 500, 1 / 1000], n)
    return p, s, F, dt


def test_no_admissible_set_gains_energy_without_a_force() -> None:
    p, s, F, dt = random_sets(100_000, seed=5)
    worst, end = np.zeros(len(p)), np.zeros(len(p))
    _growths(p, s, F, dt, 50, worst, end)
    assert worst.max() < 1e-9
    assert (end <= 1 + 1e-9).all()
    explicit = dt * p["damping"][:, 0] / p["mass"][:, 0]
    stiff = dt**2 * p["stiffness"][:, 0] / p["mass"][:, 0]
    assert ((explicit > 2).mean() > 0.2) & (
        (stiff > 4).mean() > 0.2
    )  # sets that would make simpler integration explode


def test_every_admissible_set_settles_under_a_constant_force() -> None:
    p, s, F, dt = random_sets(100_000, seed=6)
    F[:, 0] = np.random.default_rng(7).uniform(-50, 50, len(p)) * (p["stiffness"][:, 0] > 1.0)
    worst, end = np.zeros(len(p)), np.zeros(len(p))
    _growths(p, s, F, dt, 50, worst, end)
    assert worst.max() < 1e-9
    assert np.isfinite(end).all()


def test_turning_gains_no_energy_either() -> None:
    random = np.random.default_rng(8)
    for _ in range(200):
        M, D, K = 10.0 ** random.uniform(-3, 2), 10.0 ** random.uniform(-2, 3), 10.0 ** random.uniform(-1, 4)
        axis = random.normal(size=3)
        start = turned(random.uniform(0.1, 2.5) * axis / np.linalg.norm(axis))
        poses, twists, _ = run(M, D, K, start=start, seconds=0.5)
        angles = Rotation.from_quat(poses[:, 3:], scalar_first=True).magnitude()
        energy = 0.5 * M * (twists[:, 3:] ** 2).sum(1) + 0.5 * K * angles**2
        assert (np.diff(energy) <= 1e-12 * energy[0]).all()


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


def test_the_default_parameters_are_well_damped() -> None:
    p = to_record(Admittance())[0]
    ratio = p.damping / (2 * np.sqrt(p.mass * p.stiffness))
    assert ((ratio >= 0.7) & (ratio <= 1.5)).all()
