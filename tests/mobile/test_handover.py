"""The one filter before base and arm: whatever is asked, and whoever asks, limits are kept."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.mobile.whole_body.handover import BodyFilter
from pliant.mobile.whole_body.joint_motion import JointMotion
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from support.properties import examples

DT = 0.002
BODY = Body()
WISHES = st.lists(st.lists(st.floats(-5.0, 5.0), min_size=8, max_size=8), min_size=2, max_size=6)


def excess(velocities: list[Any]) -> float:
    """By how much a step from rest on breaks a limit, as a share (0 or less: not at all)."""
    p, chain = BODY.limits, BODY.chain
    u = np.array(velocities)
    last = np.vstack([np.zeros(8), u[:-1]])
    slower = (np.abs(u[:, 0]) < np.abs(last[:, 0])) | (u[:, 0] * last[:, 0] < 0)
    shares = [
        np.abs(u[:, 0] - last[:, 0]) / DT / np.where(slower, p.deceleration_m_s2, p.acceleration_m_s2),
        np.abs(u[:, 1] - last[:, 1]) / DT / p.turn_acceleration_rad_s2,
        u[:, 0] / p.forward_m_s,
        -u[:, 0] / p.backward_m_s,
        np.abs(u[:, 1]) / p.turn_rad_s,
        (np.abs(u[:, 0]) + 0.5 * p.track_m * np.abs(u[:, 1])) / p.wheel_m_s,
        (np.abs(u[:, 2:] - last[:, 2:]) / DT / chain.a_max[BASE_JOINTS:]).max(axis=1),
        (np.abs(u[:, 2:]) / chain.v_max[BASE_JOINTS:]).max(axis=1),
    ]
    return float(np.max(shares)) - 1.0


@given(WISHES)
@examples(60)
def test_whatever_is_asked_no_limit_is_broken_and_a_stop_ends_at_rest(wishes: list[list[float]]) -> None:
    filtered, joints = BodyFilter(BODY, DT), BODY.q_home[BASE_JOINTS:]
    sent: list[Any] = []
    for requested in [*wishes, [0.0] * 8]:
        for _ in range(150 if any(requested) else 1500):
            u = filtered.step(requested, joints)
            sent.append(u.copy())
            joints = joints + DT * u[2:]
    assert excess(sent) < 1e-9
    assert filtered.at_rest
    assert np.all(joints <= BODY.chain.q_max[BASE_JOINTS:] + 1e-9)


def test_a_joint_stops_before_its_range_ends() -> None:
    filtered, joints = BodyFilter(BODY, DT), BODY.q_home[BASE_JOINTS:]
    for _ in range(3000):
        joints = joints + DT * filtered.step([0.0] * 4 + [3.0] + [0.0] * 3, joints)[2:]
    assert joints[2] == pytest.approx(BODY.chain.q_max[5], abs=1e-6)
    assert joints[2] <= BODY.chain.q_max[5] + 1e-12


def test_what_is_no_number_is_a_wish_to_stand_for_base_or_arm_alone() -> None:
    filtered, joints = BodyFilter(BODY, DT), BODY.q_home[BASE_JOINTS:]
    for _ in range(500):
        filtered.step([0.5, 0.2, *[0.3] * 6], joints)
    u = filtered.u.copy()
    assert u[0] == pytest.approx(0.5)
    for _ in range(500):
        u = filtered.step([math.nan, 0.2, *[0.3] * 6], joints)
    np.testing.assert_array_equal(u[:2], 0.0)
    np.testing.assert_allclose(u[2:], 0.3)


def test_a_wish_within_the_limits_passes_unchanged() -> None:
    filtered, joints = BodyFilter(BODY, DT), BODY.q_home[BASE_JOINTS:]
    for k in range(500):
        requested = np.array([0.3, 0.2, *[0.2] * 6]) * math.sin(k * DT)
        np.testing.assert_allclose(filtered.step(requested, joints), requested, rtol=0, atol=1e-15)


def test_a_joint_motion_ends_at_rest_and_its_speed_is_its_derivative_within_the_share() -> None:
    begin = BODY.q_home[BASE_JOINTS:]
    end = begin + np.array((1.0, -0.5, 0.3, 0.0, 2.0, -0.1))
    motion, share, step = JointMotion.between(BODY, begin, end, 0.4), 0.4, 1e-5
    times = np.linspace(0.0, motion.seconds, 400)
    speeds = np.array([motion.at(t)[1] for t in times])
    slopes = np.array([(motion.at(t + step)[0] - motion.at(t - step)[0]) / (2 * step) for t in times[1:-1]])
    np.testing.assert_allclose(speeds[1:-1], slopes, atol=1e-6)
    np.testing.assert_array_equal(motion.at(motion.seconds)[0], end)
    np.testing.assert_array_equal(speeds[[0, -1]], 0.0)
    most = np.abs(speeds).max() / BODY.chain.v_max[BASE_JOINTS]
    fastest = np.abs(np.diff(speeds, axis=0)).max() / (times[1] - times[0]) / BODY.chain.a_max[BASE_JOINTS]
    assert max(most, fastest) == pytest.approx(share, rel=0.01)


def test_a_motion_to_where_the_arm_is_takes_no_time() -> None:
    here = BODY.q_home[BASE_JOINTS:]
    motion = JointMotion.between(BODY, here, here, 0.4)
    assert motion.seconds == 0.0
    np.testing.assert_array_equal(motion.at(0.0)[0], here)
