"""Joint limits for any state and any demand: speed, acceleration, stops, direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.limits.braking import braking_speed
from pliant.control.limits.joint_command import limit
from pliant.control.limits.stopping_path import DUST, SCRATCH
from pliant.control.parameters import Limits
from pliant.kernel import kernel
from pliant.model import HANDLE
from pliant.params.declare import layout_of
from pliant.params.packing import to_record
from pliant.records import LIMIT_ACCELERATION, LIMIT_POSITION, LIMIT_SPEED, MAX_JOINTS, OBSERVED, STATE

Array = np.ndarray[Any, Any]
STATES, TICKS, HOLD, N = 10_000, 200, 40, 7


def handle(**limits: Any) -> Any:
    h = HANDLE.new()[0]
    h.n = limits.pop("n", N)
    for name, value in {"v_max": 2.0, "a_max": 10.0, "q_min": -3.0, "q_max": 3.0, **limits}.items():
        h[name][:] = value
    return h


def cut(
    wanted: Any, *, q: Any = 0.0, qd: Any = 0.0, dt: float = 0.002, h: Any = None, **values: Any
) -> tuple[Array, Any]:
    """The demand after the limits, and what they say about it."""
    s, o, demand = STATE.new()[0], OBSERVED.new()[0], np.zeros(MAX_JOINTS)
    s.q_cmd[:N], s.qd_cmd[:N], demand[:N] = q, qd, wanted
    values = {"speed_scale": 1.0, "acceleration_scale": 1.0, "position_margin": 0.0, **values}
    limit(to_record(Limits(**values))[0], handle() if h is None else h, s, demand, dt, o, SCRATCH.new()[0])
    return demand[:N], o


# ---- any state, any demand -----------------------------------------------------------------------------------------


@kernel
def _worst(p, h, s, o, w, demands, dt, reach):
    """Run the limiter on demands that jump now and then; the largest use of each limit, as a share of it."""
    speed, acceleration, beyond = 0.0, 0.0, -np.inf
    for k in range(demands.shape[0]):
        qd = demands[k]
        limit(p, h, s, qd, dt, o, w)
        for i in range(h.n):
            speed = max(speed, abs(qd[i]) / (p.speed_scale * h.v_max[i]))
            change = abs(qd[i] - s.qd_cmd[i])
            acceleration = max(acceleration, change / (p.acceleration_scale * h.a_max[i] * dt))
            s.qd_cmd[i] = qd[i]
            s.q_cmd[i] += dt * qd[i]
            beyond = max(beyond, abs(s.q_cmd[i]) - reach)
    return speed, acceleration, beyond


@kernel
def _all_worst(p, handle, s, o, w, random, dt, reach, out):
    demands = np.zeros((TICKS, MAX_JOINTS))
    for j in range(s.shape[0]):
        for k in range(TICKS):
            for i in range(N):
                demands[k, i] = random[(j * TICKS * 13 + k // HOLD * N + i) % random.shape[0]]
        out[j, 0], out[j, 1], out[j, 2] = _worst(p[j], handle[0], s[j], o[0], w[0], demands, dt[j], reach[j])


@pytest.fixture(scope="module")
def worst() -> Array:
    """Speed, acceleration and way beyond the stops in 10,000 runs."""
    random = np.random.default_rng(1)
    p, s, o = layout_of(Limits).new(STATES), STATE.new(STATES), OBSERVED.new()
    handles = HANDLE.new()
    handles[0] = handle(v_max=random.uniform(0.5, 5, MAX_JOINTS), a_max=10 ** random.uniform(0, 2.5, MAX_JOINTS))
    p["speed_scale"], p["acceleration_scale"] = random.uniform(0.05, 1, STATES), 10 ** random.uniform(-2, 0, STATES)
    p["position_margin"] = random.uniform(0, 0.5, STATES)
    dt = random.choice([1 / 125, 1 / 250, 1 / 500, 1 / 1000], STATES)
    reach = 3.0 - p["position_margin"]
    # at rest, half of the joints anywhere, half of them close to a stop
    near = random.random((STATES, N)) < 0.5
    room = np.where(near, 10 ** random.uniform(-9, -1, (STATES, N)), random.uniform(0, 2, (STATES, N)))
    s["q_cmd"][:, :N] = random.choice([-1.0, 1.0], (STATES, N)) * (reach[:, None] - room)
    demands = random.choice([-1, 1], 99991) * 10 ** random.uniform(-3, 3, 99991) * (random.random(99991) > 0.1)
    out = np.zeros((STATES, 3))
    _all_worst(p, handles, s, o, SCRATCH.new(), demands, dt, reach, out)
    return out


def test_no_joint_is_ever_faster_than_its_limit(worst: Array) -> None:
    assert worst[:, 0].max() <= 1 + 1e-12
    assert (worst[:, 0] > 0.999).mean() > 0.1  # the limit was reached, so it was tried


def test_no_joint_accelerates_harder_than_its_limit_not_even_before_a_stop(worst: Array) -> None:
    assert worst[:, 1].max() <= 1 + 1e-9
    assert (worst[:, 1] > 0.999).mean() > 0.5


def test_no_joint_passes_the_margin_before_its_stop(worst: Array) -> None:
    assert worst[:, 2].max() <= DUST
    assert (worst[:, 2] > -1e-4).mean() > 0.05


def test_a_joint_that_was_never_to_be_so_fast_brakes_as_hard_as_it_may() -> None:
    qd, o = cut([2.0] * N, q=2.999, qd=2.0)
    assert_allclose(qd, 2.0 - 10.0 * 0.002)
    assert o.limits & LIMIT_POSITION


def test_beyond_the_margin_a_joint_can_only_come_back() -> None:
    out, _ = cut([1.0] * N, q=2.99, position_margin=0.1)
    assert_array_equal(out, 0.0)
    back, _ = cut([-1.0] * N, q=2.99, position_margin=0.1)
    assert_allclose(back, -0.02)


# ---- direction -----------------------------------------------------------------------------------------------------


def test_speed_limits_keep_the_ratio_of_the_joints() -> None:
    random = np.random.default_rng(2)
    h = handle(a_max=1e9)
    for _ in range(500):
        wanted = random.normal(size=N) * 10 ** random.uniform(-1, 3)
        out, o = cut(wanted, h=h)
        assert_allclose(out / np.linalg.norm(out), wanted / np.linalg.norm(wanted), atol=1e-12)
        assert o.limits == (LIMIT_SPEED if np.abs(wanted).max() > 2.0 else 0)
        assert np.abs(out).max() == pytest.approx(min(2.0, np.abs(wanted).max()))


def test_acceleration_limits_keep_the_ratio_of_the_changes() -> None:
    random = np.random.default_rng(3)
    for _ in range(500):
        before, wanted = random.uniform(-1, 1, N), random.uniform(-1, 1, N)
        out, o = cut(wanted, qd=before)
        assert_allclose(np.cross((out - before)[:3], (wanted - before)[:3]), 0, atol=1e-12)
        assert np.abs(out - before).max() == pytest.approx(0.02)
        assert o.limits == LIMIT_ACCELERATION


def test_a_demand_within_all_limits_passes_untouched() -> None:
    wanted = np.linspace(-1, 1, N)
    out, o = cut(wanted, qd=wanted - 0.01)
    assert_array_equal(out, wanted)
    assert (o.limits, o.scale) == (0, 1.0)


def test_scale_says_how_much_was_let_through() -> None:
    _, o = cut([4.0] * N, h=handle(a_max=1e9))
    assert o.scale == pytest.approx(0.5)
    _, o = cut([1.0] * N)
    assert o.scale == pytest.approx(0.02)


def test_only_the_joint_before_its_stop_is_held_back() -> None:
    out, o = cut([0.5] * N, q=[2.9999, *[0.0] * (N - 1)], qd=0.5, h=handle(a_max=1e4))
    assert out[0] < 0.2
    assert_array_equal(out[1:], 0.5)
    assert o.limits == LIMIT_POSITION


def test_what_acted_is_told_bit_by_bit() -> None:
    _, o = cut([10.0] * N, q=2.99999, qd=0.0)
    assert o.limits == LIMIT_SPEED | LIMIT_ACCELERATION | LIMIT_POSITION


def test_a_stop_demand_brakes_on_a_straight_line_within_the_acceleration() -> None:
    before = np.array([1.0, -0.5, 0.25, 0.0, 0.1, -2.0, 1.5])
    qd, ticks = before, 0
    while np.any(qd):
        after, _ = cut(np.zeros(N), qd=qd)
        assert np.abs(after - qd).max() <= 0.02 + 1e-12
        assert_allclose(after * before[5], before * after[5], atol=1e-12)
        qd, ticks = after, ticks + 1
    assert ticks == 100  # 2 rad/s at 10 rad/s² and 500 Hz


# ---- braking -------------------------------------------------------------------------------------------------------


def test_braking_speed_is_the_most_that_still_stops_in_whole_ticks() -> None:
    random = np.random.default_rng(4)
    for _ in range(2000):
        distance, a, dt = 10 ** random.uniform(-6, 1), 10 ** random.uniform(-1, 3), 10 ** random.uniform(-3.5, -2)
        v = braking_speed(distance, a, dt)
        way, speed = 0.0, v
        while speed > 0.0:
            way += speed * dt
            speed -= a * dt
        assert way <= distance * (1 + 1e-12)
        assert distance - way <= v * dt * (1 + 1e-9)
        # v dt + v²/(2a) = d
        assert v * dt + v * v / (2 * a) == pytest.approx(distance, rel=1e-9)


def test_following_the_braking_speed_never_needs_more_than_the_acceleration() -> None:
    for a, dt in ((1.0, 0.008), (14.0, 0.002), (200.0, 0.001)):
        room, last = 3.0, braking_speed(3.0, a, dt)
        for _ in range(20000):
            room -= last * dt
            speed = braking_speed(room, a, dt)
            assert last - speed <= a * dt * (1 + 1e-9)
            last = speed
        assert 0 <= room < 1e-6


@pytest.mark.parametrize("distance", [0.0, -1e-9, -5.0])
def test_there_is_no_speed_where_there_is_no_room(distance: float) -> None:
    assert braking_speed(distance, 10.0, 0.002) == 0.0


def test_a_joint_without_stops_is_never_held_back() -> None:
    out, o = cut([1.0] * N, q=100.0, qd=1.0, h=handle(q_min=-1e4, q_max=1e4))
    assert_array_equal(out, 1.0)
    assert o.limits == 0


def test_only_as_many_joints_as_the_arm_has_are_looked_at() -> None:
    s, o, demand = STATE.new()[0], OBSERVED.new()[0], np.full(MAX_JOINTS, 1e6)
    demand[:2] = 0.001
    limit(to_record(Limits())[0], handle(n=2), s, demand, 0.002, o, SCRATCH.new()[0])
    assert_array_equal(demand, [0.001, 0.001, *[1e6] * 10])
    assert o.limits == 0
