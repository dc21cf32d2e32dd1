"""The whole-body program: its answer is the best there is, and keeps every limit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

from pliant.errors import InputError
from pliant.mobile.base.base_params import Base as BaseLimits
from pliant.mobile.whole_body.body_params import WholeBody
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.program import WholeBodyMotion

DT = 0.004


@pytest.fixture(scope="module")
def body() -> Body:
    return Body(limits=BaseLimits(wheel_m_s=0.6))


def moved_by(pose: Any, *shift: float) -> Any:
    target = np.array(pose)
    target[: len(shift)] += shift
    return target


def test_no_feasible_change_improves_the_answer(body: Body) -> None:
    """The gradient is a non-negative sum of the active constraints' normals (Karush, Kuhn and Tucker)."""
    random, motion, at_limits = np.random.default_rng(0), WholeBodyMotion(body, dt=DT), 0
    rims = np.array([[1.0, 0.5 * body.base.track_m], [1.0, -0.5 * body.base.track_m]])
    A = np.vstack([np.eye(body.m), np.hstack([rims, np.zeros((2, body.m - 2))])])
    for _ in range(200):
        q = np.array([*random.uniform(-2, 2, 3), *(body.q_home[3:] + random.uniform(-1, 1, 6))])
        motion.u = np.array([*random.uniform(-0.2, 0.2, 2), *random.uniform(-0.5, 0.5, 6)])
        u = motion.toward(q, random.uniform(-1, 1, 6)).u
        c, m = motion.program[0], body.m
        H, f = c.H[: m * m].reshape(m, m), c.f[:m]
        low, high = c.low[: m + 2], c.high[: m + 2]
        assert np.all(A @ u <= high + 1e-6)
        assert np.all(A @ u >= low - 1e-6)
        normals = np.vstack([A[A @ u > high - 1e-6], -A[A @ u < low + 1e-6], np.zeros((1, m))])
        at_limits += len(normals) > 1
        scale = 1.0 + np.abs(f).max()
        assert nnls(normals.T, -(H @ u + f))[1] < 1e-6 * scale
    assert at_limits > 100


def test_the_tool_follows_a_moving_target_through_a_turn(body: Body) -> None:
    motion, q = WholeBodyMotion(body, dt=DT), body.q_home
    start, worst = body.pose(q), 0.0
    for i in range(1500):
        t = i * DT
        bend = 0.4 * (t - math.sin(t)) / 6.0  # starts gently
        target, twist = moved_by(start, 0.5 * bend, bend), np.zeros(6)
        twist[1] = 0.4 * (1 - math.cos(t)) / 6.0
        twist[0] = 0.5 * twist[1]
        step = motion.track(q, target, twist)
        worst = max(worst, float(np.linalg.norm(step.error[:3])))
        q = body.moved(q, step.u, DT)
    assert worst < 1e-3
    assert np.hypot(q[0], q[1]) > 0.1  # the base took part
    assert abs(q[2]) > 0.2  # and had to turn for it


def test_every_limit_holds_when_a_target_jumps_away(body: Body) -> None:
    motion, q = WholeBodyMotion(body, dt=DT), body.q_home
    limits, half = body.limits, 0.5 * body.base.track_m
    last, target = np.zeros(body.m), moved_by(body.pose(q), 3.0, 2.0, 0.2)
    fastest = 0.0
    for _ in range(2500):
        u = motion.track(q, target, np.zeros(6)).u
        rim = max(abs(u[0] + half * u[1]), abs(u[0] - half * u[1]))
        fastest = max(fastest, rim)
        assert rim <= limits.wheel_m_s + 1e-6
        assert abs(u[0] - last[0]) <= limits.deceleration_m_s2 * DT + 1e-12
        assert np.all(np.abs(u[2:] - last[2:]) <= body.chain.a_max[3:] * DT + 1e-9)
        assert np.all(np.abs(u[2:]) <= body.chain.v_max[3:] + 1e-12)
        q, last = body.moved(q, u, DT), u
        assert np.all((q[3:] <= body.chain.q_max[3:] + 1e-9) & (q[3:] >= body.chain.q_min[3:] - 1e-9))
    np.testing.assert_allclose(body.pose(q)[:3], target[:3], atol=1e-3)


def test_a_joint_that_is_driven_to_its_limit_stops_before_it(body: Body) -> None:
    motion, q = WholeBodyMotion(body, WholeBody(posture=10.0, posture_1_s=10.0), dt=DT), body.q_home
    motion.posture = body.q_home[3:].copy()
    motion.posture[2] = 9.0  # the elbow ends at π
    fast = 0.0
    for _ in range(1500):
        u = motion.toward(q, np.zeros(6)).u
        q, fast = body.moved(q, u, DT), max(fast, abs(u[4]))
        assert q[5] <= math.pi + 1e-9
    assert q[5] == pytest.approx(math.pi, abs=1e-3)
    assert fast > 0.5


def test_without_facing_the_base_may_go_straight_beside_its_tool() -> None:
    body = Body()
    motion, q = WholeBodyMotion(body, WholeBody(facing=0.0), dt=DT), body.q_home
    for i in range(1000):
        speed = 0.2 * min(1.0, i * DT)
        q = body.moved(q, motion.toward(q, speed * np.eye(6)[0]).u, DT)
    assert q[0] > 0.3
    assert abs(q[2]) < 0.02


def test_halting_brakes_as_hard_as_allowed_and_ends_at_rest(body: Body) -> None:
    motion, q = WholeBodyMotion(body, dt=DT), body.q_home
    motion.u[:] = 0.5, 0.2, *np.full(6, 0.3)
    ticks = 0
    while np.any(motion.u) and ticks < 1000:
        before = motion.u.copy()
        u = motion.halt(q).u
        assert abs(u[0] - before[0]) <= body.limits.deceleration_m_s2 * DT + 1e-12
        q, ticks = body.moved(q, u, DT), ticks + 1
    assert ticks * DT == pytest.approx(0.5 / body.limits.deceleration_m_s2, abs=2 * DT)


@pytest.mark.parametrize(
    ("target", "twist", "words"),
    [
        (np.full(7, math.nan), np.zeros(6), "target is .*7 finite numbers"),
        (np.zeros(7), np.zeros(6), "quaternion .* length one"),
        ((0, 0, 1, 1, 0, 0, 0), np.zeros(3), "twist is .*6 finite numbers"),
    ],
)
def test_a_target_that_is_none_is_refused_and_changes_nothing(body: Body, target: Any, twist: Any, words: str) -> None:
    motion = WholeBodyMotion(body, dt=DT)
    with pytest.raises(InputError, match=words):
        motion.track(body.q_home, target, twist)
    np.testing.assert_array_equal(motion.u, 0.0)
