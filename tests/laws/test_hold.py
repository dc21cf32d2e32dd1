"""The joint-space hold: straight to the goal, no overshoot, at any rate, gain and acceleration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.laws import hold
from pliant.control.limits.joint_command import limit
from pliant.control.limits.stopping_path import SCRATCH
from pliant.control.parameters import Parameters
from pliant.kernel import kernel
from pliant.model import HANDLE
from pliant.params.declare import changed
from pliant.params.packing import to_record
from pliant.records import OBSERVED, STATE

Array = np.ndarray[Any, Any]
N = 6


@kernel
def _move(h, p, s, o, w, goal, dt, ticks, q, qd):
    """Ticks of the law and the limits, as in the controller; the joints go where they are told."""
    wanted = np.zeros(12)
    for k in range(ticks):
        hold.step(p.hold, h, s, goal, p.limits.acceleration_scale, dt, wanted)
        limit(p.limits, h, s, wanted, dt, o, w)
        for i in range(h.n):
            s.qd_cmd[i] = wanted[i]
            s.q_cmd[i] += dt * wanted[i]
            q[k, i] = s.q_cmd[i]
            qd[k, i] = wanted[i]


def arm(v_max: float = 3.0, a_max: float = 14.0) -> Any:
    h = HANDLE.new()[0]
    h.n, h.v_max[:], h.a_max[:] = N, v_max, a_max
    h.q_min[:], h.q_max[:] = -6.0, 6.0
    return h


def move(start: Any, goal: Any, seconds: float, dt: float = 0.002, h: Any = None, **values: Any) -> tuple[Array, Array]:
    p = to_record(changed(Parameters(), {name.replace("__", "."): value for name, value in values.items()}))[0]
    s, ticks = STATE.new()[0], round(seconds / dt)
    s.q_cmd[:N] = start
    q, qd = np.zeros((ticks, N)), np.zeros((ticks, N))
    padded, o, w = np.array([*goal, *[0.0] * (12 - N)]), OBSERVED.new()[0], SCRATCH.new()[0]
    _move(arm() if h is None else h, p, s, o, w, padded, dt, ticks, q, qd)
    return q, qd


def random_moves(n: int, seed: int) -> list[tuple[Array, float, dict[str, float]]]:
    """Ways of very different length per joint, gains and limits anywhere within their bounds, every rate."""
    random = np.random.default_rng(seed)
    moves = []
    for _ in range(n):
        way = random.choice([-1, 1], N) * 10.0 ** random.uniform(-5, 0.3, N)
        values = {
            "hold__bandwidth_hz": random.uniform(0.5, 20),
            "limits__acceleration_scale": 10.0 ** random.uniform(-2, 0),
            "limits__speed_scale": 10.0 ** random.uniform(-1.5, 0),
        }
        moves.append((way, 1 / random.choice([125, 250, 500, 1000]), values))
    return moves


def test_no_joint_ever_overshoots_its_goal() -> None:
    for way, dt, values in random_moves(300, seed=1):
        q, _ = move(np.zeros(N), way, 4.0, dt, **values)
        beyond = (q - way) * np.sign(way)
        assert beyond.max() < 1e-14, (way, dt, values)


def test_all_joints_go_on_one_straight_line() -> None:
    for way, dt, values in random_moves(100, seed=2):
        q, _ = move(np.zeros(N), way, 2.0, dt, **values)
        share = q / way
        assert np.ptp(share, axis=1).max() < 1e-9, (way, dt, values)


def test_the_goal_is_reached_from_anywhere() -> None:
    for way, dt, values in random_moves(50, seed=3):
        values["limits__speed_scale"] = values["limits__acceleration_scale"] = 0.5
        q, qd = move(np.zeros(N), way, 20.0, dt, **values)
        assert_allclose(q[-1], way, atol=1e-9)
        assert_allclose(qd[-1], 0, atol=1e-8)


def test_limits_are_respected_on_the_whole_way() -> None:
    for way, dt, values in random_moves(200, seed=4):
        _, qd = move(np.zeros(N), way, 4.0, dt, **values)
        acceleration = np.diff(qd, axis=0, prepend=0) / dt
        assert np.abs(qd).max() <= 3.0 * values["limits__speed_scale"] * (1 + 1e-12)
        assert np.abs(acceleration).max() <= 14.0 * values["limits__acceleration_scale"] * (1 + 1e-9)


@pytest.mark.parametrize("dt", [0.008, 0.002, 0.001])
@pytest.mark.parametrize("bandwidth", [1.0, 3.0, 20.0])
def test_the_last_of_the_way_is_a_first_order_landing_of_the_declared_bandwidth(dt: float, bandwidth: float) -> None:
    q, _ = move(np.zeros(N), [1e-5] * N, 1.0 / bandwidth, dt, hold__bandwidth_hz=bandwidth, h=arm(a_max=1e5))
    times = np.arange(1, len(q) + 1) * dt
    assert_allclose(1 - q[:, 0] / 1e-5, np.exp(-2 * math.pi * bandwidth * times), atol=1e-9)


def test_a_long_way_uses_most_of_what_the_limits_allow() -> None:
    _, qd = move(np.zeros(N), [3.0, 1.0, 0.5, 0.0, 0.0, 0.0], 6.0)
    speed = np.abs(qd[:, 0])
    assert speed.max() == pytest.approx(1.5)
    up, down = int(np.argmax(speed >= 1.5 - 1e-9)), len(speed) - int(np.argmax(speed[::-1] >= 1.5 - 1e-9))
    assert up * 0.002 == pytest.approx(1.5 / 7.0, abs=0.005)
    assert -np.diff(speed[down:]).min() / 0.002 > 0.8 * 7.0


def test_a_joint_that_is_there_but_for_rounding_does_not_stop_the_others() -> None:
    q, _ = move([1e-20, 0, 0, 0, 0, 0], [0, 1.0, 0, 0, 0, 0], 3.0)
    assert q[-1, 1] == pytest.approx(1.0)


def test_a_joint_at_its_goal_stays_there_exactly() -> None:
    q, qd = move([0.3] * N, [0.3] * N, 0.1)
    assert_array_equal(q, 0.3)
    assert_array_equal(qd, 0.0)


def test_a_goal_that_turns_around_on_the_way_is_reached_within_the_limits() -> None:
    p, s, h = to_record(Parameters())[0], STATE.new()[0], arm()
    goal = np.zeros(12)
    parts = []
    for end in ([1.0, 0.5, -0.2, 0, 0, 0], [-1.0, 0.5, 0.7, 0.1, 0, 0]):
        goal[:N] = end
        q, qd = np.zeros((300, N)), np.zeros((300, N))
        _move(h, p, s, OBSERVED.new()[0], SCRATCH.new()[0], goal, 0.002, 300, q, qd)
        parts.append(qd)
    q, qd = np.zeros((4000, N)), np.zeros((4000, N))
    _move(h, p, s, OBSERVED.new()[0], SCRATCH.new()[0], goal, 0.002, 4000, q, qd)
    speeds = np.vstack([*parts, qd])
    assert np.abs(np.diff(speeds, axis=0)).max() <= 7.0 * 0.002 * (1 + 1e-9)
    assert_allclose(q[-1], goal[:N], atol=1e-9)
