"""The admittance law gains no energy: for every admissible set, and while gains change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from admittance_runs import gains, matrix, run, turned
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from pliant.control.laws import admittance
from pliant.control.laws.gain_change import advance_change
from pliant.control.parameters import GAINS, Admittance
from pliant.kernel import kernel
from pliant.params.packing import to_record
from pliant.records import STATE

Array = np.ndarray[Any, Any]


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


# ---- gains that change ---------------------------------------------------------------------------------------------


@kernel
def _changing(p, g, s, F, e, dt, ticks, w, rows):
    """Ticks of the law; (ramp, tank, injected, energy with the gains of that moment) of each."""
    still, a, b = np.zeros(6), g[0], s[0]
    for k in range(ticks):
        admittance.step(p[0], a, b, F, e, still, b.twist.copy(), 0.0, dt, w[0])
        e += dt * b.twist
        energy = 0.0
        for i in range(6):
            for j in range(6):
                M = a.M0[i, j] + b.ramp * (a.M1[i, j] - a.M0[i, j])
                K = a.K0[i, j] + b.ramp * (a.K1[i, j] - a.K0[i, j])
                energy += 0.5 * (b.twist[i] * M * b.twist[j] + e[i] * K * e[j])
        rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3] = b.ramp, b.tank_j, b.injected_j, energy


def changing(g: Array, ticks: int, dt: float = 0.002, F: Any = 0.0, e: Any = 0.0, twist: Any = 0.0, **p: Any) -> Array:
    """Ticks after a change of gains; (ramp, tank, injected, energy now) of each."""
    parameters, s, w = to_record(Admittance(**p)), STATE.new(), admittance.SCRATCH.new()
    s[0].twist[:], s[0].tank_j = twist, parameters[0].tank_j
    e, F, rows = np.array(np.broadcast_to(e, 6), float), np.array(np.broadcast_to(F, 6), float), np.zeros((ticks, 4))
    _changing(parameters, g, s, F, e, dt, ticks, w, rows)
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
