"""What the lab experiments stand on: closed-form equations, curves and measures that can be trusted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.model import Arm
from pliant.model.two_link import DAMPING
from pliant_experiments.rivals.bare_inverse import (
    BareLaw,
    jacobian,
    jacobian_rate,
    mass_matrix,
    other_torques,
    run_bare,
    short_jacobian_rate,
    still,
    tool_at,
)
from pliant_experiments.scenes.two_link_lab import X0, circle, damping_ratio


def test_the_closed_form_arm_is_the_one_in_the_simulator() -> None:
    arm, random = Arm.load("two_link"), np.random.default_rng(0)
    for _ in range(200):
        q, qd = random.uniform(-np.pi, np.pi, 2), random.uniform(-3, 3, 2)
        assert_allclose(tool_at(q), arm.pose(q)[:2], atol=1e-12)
        assert_allclose(jacobian(q), arm.jacobian(q)[:2], atol=1e-12)
        assert_allclose(mass_matrix(q), arm.mass_matrix(q), atol=1e-9)
        assert_allclose(other_torques(q, qd), arm.bias(q, qd) + DAMPING * qd, atol=1e-9)
        assert_allclose(jacobian_rate(q, qd) @ qd, arm.jdot_qd(q, qd)[:2], atol=1e-9)


def test_the_short_rate_lacks_the_mixed_terms_and_nothing_while_one_joint_stands() -> None:
    q = np.array([0.3, 0.9])
    lacks = (jacobian_rate(q, np.ones(2)) - short_jacobian_rate(q, np.ones(2))) @ np.ones(2)
    assert_allclose(lacks, -1.2 * np.array([np.cos(1.2), np.sin(1.2)]))
    for qd in (np.array([1.0, 0.0]), np.array([0.0, 1.0])):
        assert_allclose(jacobian_rate(q, qd) @ qd, short_jacobian_rate(q, qd) @ qd)


@pytest.mark.parametrize("zeta", [0.1, 0.316, 0.7, 0.85, 1.5, 3.16])
def test_a_damping_ratio_is_read_off_a_known_curve(zeta: float) -> None:
    t, omega = np.arange(0, 20, 0.001), 5.0
    poles = np.roots([1.0, 2 * zeta * omega, omega**2]).astype(complex)
    # x = 1 + (p₂ e^{p₁ t} - p₁ e^{p₂ t})/(p₁ - p₂)
    x = 1 + ((poles[1] * np.exp(poles[0] * t) - poles[0] * np.exp(poles[1] * t)) / (poles[0] - poles[1])).real
    assert damping_ratio(t, 40 * x, 40.0) == pytest.approx(zeta, rel=0.01)


def test_a_circle_tells_its_own_velocity_and_acceleration() -> None:
    way, h = circle(0.2, 0.7), 1e-5
    for t in (0.0, 0.3, 1.0, 1.4, 1.5, 2.7):
        (before, v0, _), (_, v, a), (after, v1, _) = (way(max(0.0, t + k * h)) for k in (-1, 0, 1))
        if t > 0:
            assert_allclose(v, (after - before) / (2 * h), atol=1e-4)
            assert_allclose(a, (v1 - v0) / (2 * h), atol=1e-3)
    assert_allclose(way(0.0)[0], X0)
    assert not np.any(way(0.0)[1])


@pytest.mark.parametrize(("goal", "after"), [((0.2, 0.1), 0.78), ((1.5, 1.5), 0.10)])
def test_a_bare_inverse_runs_away_from_an_equilibrium_out_of_reach(goal: tuple[float, float], after: float) -> None:
    assert run_bare(BareLaw(), 1.5, still(*goal)).ran_away_s == pytest.approx(after, abs=0.01)
