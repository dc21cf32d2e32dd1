"""The way to rest: what is said of it beforehand, its farthest point and its largest speed, is never exceeded on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.control.limits.braking import rest_span
from pliant.control.limits.stopping_path import _expand, _farthest, _fastest, _third
from pliant.kernel import kernel
from pliant.model import Arm

Array = np.ndarray[Any, Any]
DT = 0.002
ARMS = ("ur5e", "ur10e", "two_link")


@kernel
def _said(handle, qd, t, out):
    """V, A, W, B; the bounds along each axis and its opposite; the bounds on both speeds."""
    V, A, W, B = _expand(handle[0], qd)
    third, turn_third = _third(handle[0], qd)
    turning = 0.0
    for k in range(handle[0].n):
        turning += abs(qd[k])
    rho = third * math.exp(turning * t) / 6.0
    for i in range(3):
        out[0, i], out[1, i], out[2, i], out[3, i] = V[i], A[i], W[i], B[i]
        out[4, i] = _farthest(V[i], A[i], rho, t)
        out[5, i] = _farthest(-V[i], -A[i], rho, t)
    out[6, 0], out[6, 1] = _fastest(V, A, rho, t), _fastest(W, B, turn_third / 6.0, t)


def said(arm: Arm, q: Array, qd: Array, t: float) -> Array:
    arm.jacobian(q)
    out, padded = np.zeros((7, 3)), np.zeros(12)
    padded[: arm.n] = qd
    _said(arm.handle, padded, t, out)
    return out


def states(arm: Arm, count: int) -> list[tuple[Array, Array, int]]:
    """Joint positions, joint velocities, and the ticks that braking takes."""
    random = np.random.default_rng(3)
    return [
        (random.uniform(-3, 3, arm.n), random.normal(size=arm.n) * 10 ** random.uniform(-1, 0.3), int(ticks))
        for ticks in random.integers(2, 200, count)
    ]


def twist(arm: Arm, q: Array, qd: Array) -> Array:
    return arm.jacobian(q) @ qd


@pytest.mark.parametrize("name", ARMS)
def test_the_expansion_is_the_derivative_of_the_tools_velocity(name: str) -> None:
    arm, h = Arm.load(name), 1e-6
    for q, qd, _ in states(arm, 50):
        out = said(arm, q, qd, 0.0)
        assert_allclose(np.concatenate([out[0], out[2]]), twist(arm, q, qd), atol=1e-12)
        slope = (twist(arm, q + h * qd, qd) - twist(arm, q - h * qd, qd)) / (2 * h)
        assert_allclose(np.concatenate([out[1], out[3]]), slope, atol=1e-6 * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("name", ARMS)
def test_no_way_to_rest_leads_farther_or_is_faster_than_was_said(name: str) -> None:
    arm, tight = Arm.load(name), 0
    for q, qd, ticks in states(arm, 150):
        out = said(arm, q, qd, rest_span(float(ticks), DT))
        start, here, worst = arm.pose(q)[:3], q.copy(), np.zeros(2)
        low, high = np.zeros(3), np.zeros(3)
        for k in range(ticks):
            left = 1.0 - k / ticks
            v = twist(arm, here, left * qd)
            worst = np.maximum(worst, [np.linalg.norm(v[:3]), np.linalg.norm(v[3:])])
            here = here + DT * left * qd
            moved = arm.pose(here)[:3] - start
            low, high = np.minimum(low, moved), np.maximum(high, moved)
        assert (high <= np.maximum(out[4], 0.0) + 1e-9).all()
        assert (-low <= np.maximum(out[5], 0.0) + 1e-9).all()
        assert (worst <= out[6, :2] * (1 + 1e-9)).all()
        tight += worst[0] > 0.9 * out[6, 0]
    assert tight > 20  # a bound that is far from the truth would brake for nothing


def test_the_way_to_rest_takes_the_time_of_its_ticks() -> None:
    for ticks in (1.0, 2.0, 7.0, 50.0):
        lengths = [DT * (1.0 - k / ticks) for k in range(int(ticks))]
        assert rest_span(ticks, DT) == pytest.approx(sum(lengths))
