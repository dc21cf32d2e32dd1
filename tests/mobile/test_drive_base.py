"""A differential-drive base: arcs, wheels, limits, odometry and slip."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Base as BaseLimits
from pliant.mobile.base.drive_model import (
    Odometry,
    SlipDetector,
    SteadyPlace,
    limited,
    limits_record,
    twist_of,
    wheels_of,
)
from pliant.mobile.whole_body.body_params import Slip
from pliant.mobile.whole_body.mobile_arm import Chassis

BASE = Chassis()
DT = 0.01
speeds = st.floats(-3.0, 3.0)
turns = st.floats(-4.0, 4.0)


@given(st.floats(-3, 3), speeds, turns, st.floats(0.001, 2.0))
def test_an_arc_is_what_many_small_steps_add_up_to(heading: float, v: float, omega: float, dt: float) -> None:
    pose = np.array([1.0, -2.0, heading])
    along_arc(pose, v, omega, dt, pose)
    n = 20_000
    middle = heading + omega * dt * (np.arange(n) + 0.5) / n
    np.testing.assert_allclose(pose[0], 1.0 + v * dt * np.cos(middle).mean(), atol=1e-7)
    np.testing.assert_allclose(pose[1], -2.0 + v * dt * np.sin(middle).mean(), atol=1e-7)
    np.testing.assert_allclose(pose[2], heading + omega * dt, atol=1e-12)


def test_a_full_circle_ends_where_it_began() -> None:
    pose = np.zeros(3)
    for _ in range(7):
        along_arc(pose, 0.5, 2.0 * math.pi / 7, 1.0, pose)
    np.testing.assert_allclose(pose, [0.0, 0.0, 2.0 * math.pi], atol=1e-12)


@given(speeds, turns)
def test_wheels_and_twist_are_each_others_inverse(v: float, omega: float) -> None:
    np.testing.assert_allclose(twist_of(BASE, *wheels_of(BASE, v, omega)), (v, omega), atol=1e-12)


@given(st.lists(st.tuples(st.floats(-10, 10), st.floats(-10, 10)), min_size=1, max_size=40))
def test_a_filtered_command_keeps_every_limit_whatever_is_asked(wishes: list[tuple[float, float]]) -> None:
    limits = BaseLimits(wheel_m_s=1.0)
    half, last = 0.5 * BASE.track_m, np.zeros(2)
    record, twist = limits_record(BASE, limits), np.zeros(2)
    for requested in wishes:
        limited(record[0], twist, np.array(requested), DT, twist)
        v, omega = twist
        assert -limits.backward_m_s - 1e-12 <= v <= limits.forward_m_s + 1e-12
        assert abs(omega) <= limits.turn_rad_s + 1e-12
        assert max(abs(v + half * omega), abs(v - half * omega)) <= limits.wheel_m_s + 1e-12
        faster = abs(v) > abs(last[0]) and v * last[0] >= 0.0
        most = limits.acceleration_m_s2 if faster else limits.deceleration_m_s2
        assert abs(v - last[0]) <= most * DT + 1e-12
        assert abs(omega - last[1]) <= limits.turn_acceleration_rad_s2 * DT + 1e-12
        last[:] = v, omega


def test_speeding_up_keeps_the_curvature() -> None:
    record, twist = limits_record(BASE, BaseLimits()), np.zeros(2)
    for _ in range(20):
        limited(record[0], twist, np.array([1.0, 0.5]), DT, twist)
        assert twist[1] / twist[0] == pytest.approx(0.5)


def test_braking_does_not_wait_for_the_turn() -> None:
    limits, record, twist, way, ticks = BaseLimits(), limits_record(BASE, BaseLimits()), np.array([0.5, 2.4]), 0.0, 0
    while twist[0] > 0.0:
        limited(record[0], twist, np.zeros(2), DT, twist)
        way, ticks = way + DT * twist[0], ticks + 1
    assert ticks == math.ceil(0.5 / limits.deceleration_m_s2 / DT)
    assert way <= 0.5**2 / (2 * limits.deceleration_m_s2)
    assert twist[1] == pytest.approx(2.4 - ticks * DT * limits.turn_acceleration_rad_s2)


def test_braking_on_an_arc_keeps_it_where_the_turn_can_follow() -> None:
    record, twist = limits_record(BASE, BaseLimits()), np.array([1.0, 0.5])
    for _ in range(20):
        limited(record[0], twist, np.zeros(2), DT, twist)
        assert twist[1] == pytest.approx(0.5 * twist[0])


def test_odometry_follows_the_wheels_along_arcs_and_passes_over_bad_angles() -> None:
    odometry, angles, pose = Odometry(BASE, (1.0, 2.0, 0.3)), np.zeros(2), np.array([1.0, 2.0, 0.3])
    odometry.update(*angles)
    for v, omega in ((0.5, 0.2), (-0.2, 1.0), (0.0, -2.0), (1.0, 0.0)):
        angles += np.array(wheels_of(BASE, v, omega)) * 0.4
        along_arc(pose, v, omega, 0.4, pose)
        odometry.update(math.nan, 0.0)
        np.testing.assert_allclose(odometry.update(*angles), pose, atol=1e-12)


def test_a_start_pose_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"pose is .*heading"):
        Odometry(BASE, (0.0, math.nan, 0.0))


def test_slip_is_noticed_and_drift_before_it_is_not() -> None:
    slip, odometry, pose = SlipDetector(), np.zeros(3), np.array([5.0, 3.0, 1.0])  # odometry is elsewhere by now
    for i in range(100):
        along_arc(odometry, 0.5, 0.3, DT, odometry)
        along_arc(pose, 0.5, 0.3, DT, pose)
        assert not slip.update(i * DT, odometry, pose).slipping
    reports = []
    for i in range(100, 200):  # the wheels turn on, the base stands
        along_arc(odometry, 0.5, 0.3, DT, odometry)
        reports.append(slip.update(i * DT, odometry, pose))
    first = [report.slipping for report in reports].index(True)
    assert first * DT < 0.1
    assert reports[first].apart_m > Slip().most_m


def test_a_sideways_shove_is_slip_though_no_wheel_turned() -> None:
    slip, pose = SlipDetector(), np.zeros(3)
    seen = []
    for i in range(60):
        pose[1] += 0.001
        seen.append(slip.update(i * DT, np.zeros(3), pose).slipping)
    assert not seen[5]
    assert seen[-1]


@pytest.mark.parametrize("bad", [math.nan, -1.0, 100.0])
def test_a_clock_that_jumps_starts_slip_detection_anew(bad: float) -> None:
    slip = SlipDetector()
    slip.update(0.0, np.zeros(3), np.zeros(3))
    report = slip.update(bad, np.zeros(3), np.array([1.0, 0.0, 0.0]))
    assert not report.slipping
    assert report.apart_m == 0.0


@pytest.mark.parametrize(
    ("field", "value"), [("track_m", 0.0), ("mass_kg", math.nan), ("mount_m", (0.0, math.inf, 0.0))]
)
def test_a_base_that_cannot_be_is_refused_by_name(field: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"base\.{field}"):
        Chassis(**{field: value})  # pyright: ignore[reportArgumentType]


# ---- where it is ---------------------------------------------------------------------------------------------------


def test_a_steady_place_has_no_lag_and_a_fraction_of_the_noise() -> None:
    random, steady, dt, noise = np.random.default_rng(0), SteadyPlace(0.05), 0.002, 0.002
    pose, off = np.array([1.0, 2.0, 3.0]), []
    for k in range(3000):
        twist = (1.5, math.sin(k * dt))
        along_arc(pose, *twist, dt, pose)
        wrapped = np.array([*pose[:2], math.remainder(pose[2], math.tau)])
        place = steady.update(wrapped + noise * random.normal(size=3), twist, dt)
        off.append(math.hypot(place[0] - pose[0], place[1] - pose[1]))
        assert abs(place[2] - wrapped[2]) < 0.02
    assert np.sqrt(np.mean(np.square(off[500:]))) < 0.25 * math.sqrt(2) * noise


def test_a_steady_place_takes_a_jump_over_and_says_what_it_is_told_without_noise() -> None:
    steady = SteadyPlace(0.05)
    place = steady.update((1.0, 2.0, 0.5), (0.0, 0.0), 0.01)
    np.testing.assert_array_equal(place, (1.0, 2.0, 0.5))
    for _ in range(100):
        place = steady.update((1.3, 2.0, 0.5), (0.0, 0.0), 0.01)
    np.testing.assert_allclose(place, (1.3, 2.0, 0.5), atol=1e-9)
