"""Limits on the compliant frame for any state and any demand: acceleration, speed, direction, the workspace box."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.limits.compliant_frame import MARGIN, limit_tool
from pliant.control.parameters import Limits
from pliant.model import HANDLE
from pliant.params.packing import to_record
from pliant.records import LIMIT_TOOL_ACCELERATION, LIMIT_TOOL_SPEED, LIMIT_WORKSPACE, LIMITS, OBSERVED, STATE

Array = np.ndarray[Any, Any]
DT = 0.002


def cut(v: Any, *, before: Any = 0.0, at: Any = 0.0, dt: float = DT, **values: Any) -> tuple[Array, Any]:
    """The demand after the limits, and what they say about it."""
    h, s, o = HANDLE.new()[0], STATE.new()[0], OBSERVED.new()[0]
    h.n, h.a_max[:] = 6, 1e6  # joints that can always brake faster than the tool
    s.twist[:], s.pose[:3] = v, at
    limit_tool(to_record(Limits(**values))[0], h, s, np.array(np.broadcast_to(before, 6), float), dt, o)
    return s.twist.copy(), o


def test_a_demand_within_all_limits_passes_untouched() -> None:
    v = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.4])
    out, o = cut(v, before=v - 0.005)
    assert_array_equal(out, v)
    assert o.limits == 0


def test_speed_and_acceleration_are_never_exceeded_and_shifts_are_cut_apart_from_turns() -> None:
    random = np.random.default_rng(1)
    for _ in range(2000):
        before = random.normal(size=6)
        before[:3] *= random.uniform(0, 0.5) / np.linalg.norm(before[:3])
        before[3:] *= random.uniform(0, 1.5) / np.linalg.norm(before[3:])
        v = random.normal(size=6) * 10 ** random.uniform(-2, 2)
        out, _ = cut(v, before=before)
        assert np.linalg.norm(out[:3]) <= 0.5 * (1 + 1e-12)
        assert np.linalg.norm(out[3:]) <= 1.5 * (1 + 1e-12)
        assert np.linalg.norm(out[:3] - before[:3]) <= 5.0 * DT * (1 + 1e-9)
        assert np.linalg.norm(out[3:] - before[3:]) <= 20.0 * DT * (1 + 1e-9)


def test_the_direction_is_kept() -> None:
    v = np.array([3.0, -2.0, 1.0, 4.0, 5.0, -6.0])
    for before, acted in ((0.0, LIMIT_TOOL_ACCELERATION), (v, LIMIT_TOOL_SPEED)):
        out, o = cut(v, before=before)
        assert o.limits & acted
        for part in (slice(0, 3), slice(3, 6)):
            assert_allclose(np.cross(out[part], v[part]), 0, atol=1e-12)
            assert out[part] @ v[part] > 0


def test_a_turn_that_is_too_fast_does_not_slow_a_shift() -> None:
    v = np.array([0.1, 0, 0, 9.0, 0, 0])
    out, o = cut(v, before=(0.1, 0, 0, 1.49, 0, 0))
    assert_array_equal(out[:3], v[:3])
    assert out[3] == pytest.approx(1.5)
    assert o.limits == LIMIT_TOOL_SPEED


def test_what_was_asked_and_what_was_allowed_is_told() -> None:
    _, o = cut((2.0, 0, 0, 0, 0, 0), before=(2.0, 0, 0, 0, 0, 0))
    assert (o.asked[5], o.allowed[5]) == (2.0, 0.5)
    _, o = cut((0.1, 0, 0, 0, 0, 0))
    assert o.limits == LIMIT_TOOL_ACCELERATION
    assert_allclose((o.asked[6], o.allowed[6]), (0.1 / DT, 5.0))
    assert {LIMIT_TOOL_SPEED, LIMIT_TOOL_ACCELERATION, LIMIT_WORKSPACE} <= set(LIMITS)


# ---- the box -------------------------------------------------------------------------------------------------------

BOX: dict[str, Any] = {"workspace_min_m": (-0.3, -0.3, -0.3), "workspace_max_m": (0.3, 0.3, 0.3)}


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_pushed_against_a_wall_the_tool_brakes_and_stops_before_it(axis: int, side: float) -> None:
    at, v, o = np.zeros(3), np.zeros(6), OBSERVED.new()[0]
    for _ in range(3000):
        wanted = np.zeros(6)
        wanted[axis] = 10.0 * side
        new, o = cut(wanted, before=v, at=at, **BOX)
        assert abs(new[axis] - v[axis]) <= 5.0 * DT * (1 + 1e-6)  # braking needs no more than the declared acceleration
        v = new
        at += DT * v[:3]
        assert abs(at[axis]) <= 0.3 + 1e-12
    assert o.limits & LIMIT_WORKSPACE
    assert side * at[axis] == pytest.approx(0.3 - MARGIN, abs=1e-4)


@pytest.mark.parametrize("axis", range(3))
def test_outside_the_box_only_the_way_back_is_open(axis: int) -> None:
    at, v = np.zeros(3), np.zeros(6)
    at[axis], v[axis] = 0.35, 0.005
    out, o = cut(v, before=v, at=at, **BOX)
    assert out[axis] <= 0.0
    assert o.limits == LIMIT_WORKSPACE
    back, o = cut(-v, before=-v, at=at, **BOX)
    assert_array_equal(back, -v)
    assert o.limits == 0


def test_a_wall_stops_no_motion_along_it() -> None:
    v = np.array([0.2, 0.1, -0.1, 0.3, 0, 0])
    out, _ = cut(v, before=(0.0, 0.1, -0.1, 0.3, 0, 0), at=(0.3 - MARGIN, 0, 0), **BOX)
    assert_allclose(out, [0.0, 0.1, -0.1, 0.3, 0, 0], atol=1e-12)


def test_above_a_speed_that_was_lowered_the_tool_brakes_within_its_acceleration() -> None:
    v = np.array([0.5, 0, 0, 0, 0, 0])
    ticks = 0
    while v[0] > 0.1 + 1e-12:
        new, o = cut(v, before=v, linear_speed_m_s=0.1)
        assert v[0] - new[0] <= 5.0 * DT * (1 + 1e-9)
        assert o.limits & LIMIT_TOOL_SPEED
        v, ticks = new, ticks + 1
    assert ticks == 40
