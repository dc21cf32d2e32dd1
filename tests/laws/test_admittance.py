"""The admittance law against its equation: rest, damping, stability for every admissible set, moving goals, changes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from pliant.kernel import kernel
from pliant.laws import admittance
from pliant.laws.change import advance_change
from pliant.laws.gains import modal_ratios, target
from pliant.params.control import GAINS, Admittance
from pliant.params.declare import to_record
from pliant.records import STATE
from pliant.spatial import pose_error, pose_integrate

Array = np.ndarray[Any, Any]
REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
STILL = 1e-3


@kernel
def _run(p, g, s, F, goal, goal_twist, still, dt, ticks, w, poses, twists):
    """The law in closed loop with a robot that does exactly what it is told; the goal moves with its twist."""
    e = np.zeros(6)
    for k in range(ticks):
        pose_error(s[0].pose, goal, e)
        admittance.step(p[0], g[0], s[0], F, e, goal_twist, s[0].twist - goal_twist, still, dt, w[0])
        pose_integrate(s[0].pose, s[0].twist, dt, s[0].pose)
        pose_integrate(goal, goal_twist, dt, goal)
        poses[k] = s[0].pose
        twists[k] = s[0].twist


def matrix(value: Any) -> Array:
    """A number or six numbers as a diagonal; a matrix as it is."""
    array = np.asarray(value, float)
    return array if array.ndim == 2 else np.diag(np.broadcast_to(array, 6))


def gains(M: Any, D: Any, K: Any) -> Array:
    """Gains that are not changing."""
    g = GAINS.new()
    for name, value in (("M", M), ("D", D), ("K", K)):
        g[0][name + "0"] = g[0][name + "1"] = matrix(value)
    g[0].free = ~g[0].K1.any(axis=1)
    return g


def run(
    M: Any, D: Any, K: Any, F: Any = 0.0, *, dt: float = 0.002, seconds: float = 1.0, start: Any = REST,
    twist: Any = 0.0, goal_twist: Any = 0.0,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Poses, twists and the last goal of a run; a number for M, D or K stands for all axes."""
    p, s, ticks = to_record(Admittance()), STATE.new(), round(seconds / dt)
    s[0].pose[:], s[0].twist[:], s[0].ramp = start, twist, 1.0
    poses, twists, goal, w = np.zeros((ticks, 7)), np.zeros((ticks, 6)), REST.copy(), admittance.SCRATCH.new()
    F, goal_twist = np.broadcast_to(F, 6).astype(float), np.broadcast_to(goal_twist, 6).astype(float)
    _run(p, gains(M, D, K), s, F, goal, goal_twist, STILL, dt, ticks, w, poses, twists)
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
def _growth(p, g, s, F, e, dt, ticks, w):
    """Largest growth in one tick of ½ vᵀM v + ½ dᵀK d, relative to the start; d is the distance from where F rests."""
    still, rest = np.zeros(6), np.zeros(6)
    for i in range(6):
        if g.K1[i, i] > 0.0:
            rest[i] = F[i] / g.K1[i, i]
    first, last, worst = 0.0, 0.0, -np.inf
    for k in range(ticks + 1):
        if k > 0:
            admittance.step(p, g, s, F, e, still, s.twist - still, 0.0, dt, w)
            e += dt * s.twist
        energy = 0.0
        for i in range(6):
            for j in range(6):
                energy += 0.5 * s.twist[i] * g.M1[i, j] * s.twist[j]
                energy += 0.5 * (e[i] - rest[i]) * g.K1[i, j] * (e[j] - rest[j])
        if k == 0:
            first = energy
        else:
            worst = max(worst, (energy - last) / first)
        last = energy
    return worst, last / first


@kernel
def _growths(p, g, s, F, e, dt, ticks, w, worst, end):
    for i in range(s.shape[0]):
        worst[i], end[i] = _growth(p[0], g[i], s[i], F[i], e[i], dt[i], ticks, w[0])


def growths(g: Array, F: Any = 0.0, *, seed: int, ticks: int = 50) -> tuple[Array, Array, Array]:
    """Largest growth, energy left, and the periods, from random states."""
    random, n = np.random.default_rng(seed), len(g)
    s, e, F = STATE.new(n), random.uniform(-1, 1, (n, 6)), np.array(np.broadcast_to(F, (n, 6)))
    s["twist"], s["ramp"] = random.uniform(-2, 2, (n, 6)), 1.0
    dt = random.choice([1 / 125, 1 / 250, 1 / 500, 1 / 1000], n)
    worst, end = np.zeros(n), np.zeros(n)
    _growths(to_record(Admittance()), g, s, F, e, dt, ticks, admittance.SCRATCH.new(), worst, end)
    return worst, end, dt


def random_diagonals(n: int, seed: int) -> Array:
    """Sets of every size and ratio: masses over 9 decades, damping and stiffness over 12 and exactly zero too."""
    random, g = np.random.default_rng(seed), GAINS.new(n)
    for i in range(6):
        g["M1"][:, i, i] = 10.0 ** random.uniform(-5, 4, n)
        g["D1"][:, i, i] = 10.0 ** random.uniform(-6, 6, n) * (random.random(n) > 0.1)
        g["K1"][:, i, i] = 10.0 ** random.uniform(-4, 8, n) * (random.random(n) > 0.1)
    return g


def random_matrices(n: int, seed: int) -> Array:
    """Full symmetric matrices with eigenvalues over many decades in random directions; D and K of any rank."""
    random, g = np.random.default_rng(seed), GAINS.new(n)
    for name, low, high, some in (("M1", -2, 2, False), ("D1", -3, 4, True), ("K1", -2, 6, True)):
        Q, _ = np.linalg.qr(random.normal(size=(n, 6, 6)))
        values = 10.0 ** random.uniform(low, high, (n, 6)) * (random.random((n, 6)) > 0.2 * some)
        A = np.einsum("nij,nj,nkj->nik", Q, values, Q)
        g[name] = 0.5 * (A + A.transpose(0, 2, 1))
    return g


def test_no_admissible_set_gains_energy_without_a_force() -> None:
    g = random_diagonals(30_000, seed=5)
    worst, end, dt = growths(g, seed=5)
    assert worst.max() < 1e-9
    assert (end <= 1 + 1e-9).all()
    explicit = dt * g["D1"][:, 0, 0] / g["M1"][:, 0, 0]
    stiff = dt**2 * g["K1"][:, 0, 0] / g["M1"][:, 0, 0]
    assert ((explicit > 2).mean() > 0.2) & (
        (stiff > 4).mean() > 0.2
    )  # sets that would make simpler integration explode


def test_no_full_matrices_gain_energy_without_a_force() -> None:
    g = random_matrices(30_000, seed=15)
    worst, end, dt = growths(g, seed=15)
    assert worst.max() < 1e-9
    assert (end <= 1 + 1e-9).all()
    M = g["M1"]
    explicit = np.abs(np.linalg.eigvals(np.linalg.solve(M, g["D1"]))).max(axis=1) * dt
    assert (explicit > 2).mean() > 0.2


def test_every_admissible_set_settles_under_a_constant_force() -> None:
    g = random_diagonals(30_000, seed=6)
    for i in range(6):
        g["K1"][:, i, i] = np.maximum(g["K1"][:, i, i], 1.0)
    F = np.random.default_rng(7).uniform(-50, 50, (len(g), 6))
    worst, end, _ = growths(g, F, seed=6)
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


# ---- gains that change ---------------------------------------------------------------------------------------------


def changing(g: Array, ticks: int, dt: float = 0.002, F: Any = 0.0, e: Any = 0.0, twist: Any = 0.0, **p: Any) -> Array:
    """Ticks after a change of gains; (ramp, tank, injected, energy now) of each."""
    parameters, s, w = to_record(Admittance(**p))[0], STATE.new()[0], admittance.SCRATCH.new()[0]
    s.twist[:], s.tank_j = twist, parameters.tank_j
    e, F, rows = np.array(np.broadcast_to(e, 6), float), np.array(np.broadcast_to(F, 6), float), np.zeros((ticks, 4))
    for k in range(ticks):
        admittance.step(parameters, g[0], s, F, e, np.zeros(6), s.twist.copy(), 0.0, dt, w)
        e += dt * s.twist
        M, K = (g[0][n + "0"] + s.ramp * (g[0][n + "1"] - g[0][n + "0"]) for n in "MK")
        rows[k] = s.ramp, s.tank_j, s.injected_j, 0.5 * s.twist @ M @ s.twist + 0.5 * e @ K @ e
    return rows


def change(before: tuple[float, float, float], after: tuple[float, float, float]) -> Array:
    g = gains(*after)
    for name, value in zip("MDK", before, strict=True):
        g[0][name + "0"] = matrix(value)
    return g


def test_gains_come_into_force_over_the_declared_time_when_nothing_is_stretched() -> None:
    rows = changing(change((8, 80, 200), (4, 40, 2000)), 300, ramp_s=0.4)
    assert_allclose(rows[:200, 0], np.arange(1, 201) / 200, atol=1e-9)
    assert (rows[199:, 0] == 1.0).all()
    assert rows[-1, 2] == 0.0


def test_a_ramp_is_a_straight_line_between_the_gains() -> None:
    g, F = change((8, 80, 200), (4, 40, 400)), np.array([5.0, 0, 0, 0, 0, 0])
    p, w = to_record(Admittance(ramp_s=1.0, tank_j=10.0))[0], admittance.SCRATCH.new()[0]
    for ramp in (0.0, 0.25, 0.7):
        one, two = STATE.new()[0], STATE.new()[0]
        for s in (one, two):
            s.twist[:], s.tank_j, s.ramp = 0.1, 10.0, 1.0
        one.ramp = ramp
        share = ramp + 0.002
        between = gains(*(a + share * (b - a) for a, b in zip((8, 80, 200), (4, 40, 400), strict=True)))
        for s, now in ((one, g), (two, between)):
            admittance.step(p, now[0], s, F, np.full(6, 0.01), np.zeros(6), s.twist.copy(), 0.0, 0.002, w)
        assert_allclose(one.twist, two.twist, rtol=1e-12)


def test_a_stiffer_spring_takes_its_energy_from_the_tank_and_waits_when_it_is_empty() -> None:
    # 100 → 1000 N/m held at 50 mm would be 1.125 J; the tank has 0.05 J, and nothing moves that could refill it
    g, p, s = change((8, 80, 100), (8, 80, 1000)), to_record(Admittance(ramp_s=0.1, tank_j=0.05))[0], STATE.new()[0]
    s.tank_j = 0.05
    for _ in range(200):
        advance_change(p, g[0], s, np.zeros(6), np.array([0.05, 0, 0, 0, 0, 0]), 0.002)
    assert s.injected_j == pytest.approx(0.05)
    assert s.ramp == pytest.approx(0.05 / 1.125)
    free = changing(change((8, 80, 100), (8, 80, 1000)), 5000, e=(0.05, 0, 0, 0, 0, 0), ramp_s=0.01, tank_j=0.05)
    assert free[-1, 0] == 1.0  # moving home, the damper refills it, and the change completes


@pytest.mark.parametrize("tank", [0.0, 0.01, 0.05, 1.0])
def test_a_change_never_adds_more_energy_than_the_tank_gave(tank: float) -> None:
    random = np.random.default_rng(11)
    for _ in range(5):
        before, after = (
            10.0 ** random.uniform((0, 1, 1), (1.5, 2.5, 3.5)),
            10.0 ** random.uniform((0, 1, 1), (1.5, 2.5, 3.5)),
        )
        e, twist = random.uniform(-0.1, 0.1, 6), random.uniform(-0.3, 0.3, 6)
        first = 0.5 * before[0] * twist @ twist + 0.5 * before[2] * e @ e
        rows = changing(change(tuple(before), tuple(after)), 20000, e=e, twist=twist, ramp_s=0.1, tank_j=tank)
        assert (rows[:, 1] >= 0).all()
        # all that was injected was in the tank: its first filling, and what the damper took out of the motion
        assert (np.diff(rows[:, 3] + rows[:, 1], prepend=first + tank) <= 1e-9).all()
        assert rows[-1, 0] == 1.0  # and yet every change completes


def test_a_softer_spring_costs_nothing() -> None:
    rows = changing(change((8, 80, 1000), (8, 80, 100)), 300, e=(0.05, 0, 0, 0, 0, 0), ramp_s=0.1, tank_j=0.0)
    assert rows[-1, 0] == 1.0
    assert rows[-1, 2] == 0.0
