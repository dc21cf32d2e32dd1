"""Readings that cannot be true: a fault in the same tick, no torque from them, and no reading is used again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from guarded_cell import report, resting
from ideal_cell import DT, INTERFACES, Cell, finite
from numpy.testing import assert_allclose, assert_array_equal

from pliant.loop.fault_text import fault_words
from pliant.records import (
    FAULT_DISAGREE,
    FAULT_JOINT_SPEED,
    FAULT_JUMP,
    FAULT_RANGE,
    FAULT_STALE,
    FAULT_STAMP,
    FAULT_TOOL_SPEED,
    IDLE,
    MODES,
)


def said(cell: Cell) -> str:
    return fault_words(cell.state, cell.goal, cell.reading, cell.controller.parameters[0])


def bend(cell: Cell, joint: int, value: float, field: str = "q") -> None:
    """Report another value for one joint, in a tick of its own."""
    cell.reading[field][joint] = value
    report(cell)


FALSE: dict[str, tuple[Any, int, str]] = {
    "a speed of 1e9": (lambda cell: bend(cell, 1, 1e9, "qd"), FAULT_JUMP, "joint 2"),
    "a speed of -1e308": (lambda cell: bend(cell, 1, -1e308, "qd"), FAULT_JUMP, "joint 2"),
    "a speed beyond the limit, without motion": (
        lambda cell: bend(cell, 0, 6.0, "qd"), FAULT_JOINT_SPEED, "more than guard.joint_speed_share (1.2)",
    ),
    "all joints at zero": (lambda cell: report(cell, np.zeros(6)), FAULT_JUMP, "jumped by"),
    "a joint at 1e6": (lambda cell: bend(cell, 4, 1e6), FAULT_RANGE, "joint 5 was reported at 1e+06 rad, outside"),
    "a joint at -1e6": (lambda cell: bend(cell, 4, -1e6), FAULT_RANGE, "joint 5 was reported at -1e+06 rad, outside"),
    "a joint a turn further": (
        lambda cell: bend(cell, 5, cell.reading.q[5] - 2 * math.pi), FAULT_JUMP, "jumped by 6.28 rad",
    ),
    "a jump of 1 rad": (lambda cell: bend(cell, 2, cell.reading.q[2] - 1.0), FAULT_JUMP, "(guard.jump_rad: 0.02 rad)"),
    "a jump of 0.04 rad": (lambda cell: bend(cell, 2, cell.reading.q[2] + 0.04), FAULT_JUMP, "jumped by 0.04 rad"),
    "a stamp that goes back": (lambda cell: report(cell, after_s=-1.0), FAULT_STAMP, "must not go backwards"),
    "a stamp that is not finite": (lambda cell: report(cell, after_s=math.nan), FAULT_STAMP, "was nan s"),
    "an endless stamp": (lambda cell: report(cell, after_s=math.inf), FAULT_STAMP, "Stamps must be finite"),
}  # fmt: skip


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("what", FALSE)
def test_a_reading_that_cannot_be_true_stops_the_arm_in_the_same_tick(interface: str, what: str) -> None:
    do, fault, words = FALSE[what]
    cell = resting(interface)
    before = cell.command.copy()
    do(cell)
    assert (cell.state.fault, cell.state.blind) == (fault, 1)
    assert words in said(cell)
    for _ in range(100):
        assert cell.command.mode == (IDLE if interface == "torque" else MODES[interface])
        assert_allclose(cell.command.q, before.q, atol=1e-9)
        if interface == "velocity":
            assert_allclose(cell.command.qd, 0.0, atol=1e-9)
        assert finite(cell)
        cell.tick(follow=False)
    assert cell.state.fault == fault


def test_after_a_false_reading_a_good_one_is_not_believed_either() -> None:
    cell = resting("torque")
    good = cell.reading.q[:6].copy()
    bend(cell, 2, good[2] - 1.0)
    for _ in range(50):
        report(cell, good)
        assert (cell.state.fault, cell.command.mode) == (FAULT_JUMP, IDLE)
    assert_array_equal(cell.observed.pose, [0, 0, 0, 1, 0, 0, 0])


def test_a_false_reading_outranks_an_earlier_fault() -> None:
    cell = resting("torque")
    cell.reading.wrench[:] = math.nan
    cell.tick(20, sense=False)
    assert cell.state.fault != 0
    bend(cell, 0, 1e6)
    assert (cell.state.fault, cell.command.mode) == (FAULT_RANGE, IDLE)


@pytest.mark.parametrize("speed", [0.9, -2.5])
def test_a_false_speed_within_the_limit_is_found_before_it_has_led_far(speed: float) -> None:
    cell = resting("torque", limits__angular_speed_rad_s=10.0, limits__linear_speed_m_s=3.0)
    cell.reading.qd[1] = speed
    tick = 0
    while not cell.state.fault and tick < 100:
        report(cell)
        tick += 1
    assert (cell.state.fault, cell.command.mode, cell.state.blind) == (FAULT_DISAGREE, IDLE, 1)
    assert tick * DT * abs(speed) < 0.1
    assert "positions and speeds reported for joint 2 disagree by" in said(cell)


def test_a_false_speed_that_would_be_too_fast_for_the_tool_is_not_believed() -> None:
    cell = resting("torque", limits__linear_speed_m_s=0.3)
    cell.reading.qd[0] = 2.5
    report(cell)
    assert (cell.state.fault, cell.command.mode, cell.state.blind) == (FAULT_TOOL_SPEED, IDLE, 1)


def test_a_first_reading_that_is_too_fast_is_not_believed() -> None:
    cell = Cell("torque", "hold")
    cell.reading.qd[3] = 6.0
    cell.tick(follow=False)
    assert (cell.state.fault, cell.command.mode, cell.state.started) == (FAULT_JOINT_SPEED, IDLE, 0)


def test_a_first_reading_outside_the_range_never_starts_the_arm() -> None:
    cell = Cell("position", "hold")
    cell.reading.q[2] = 4.0
    cell.tick(10, follow=False)
    assert (cell.state.fault, cell.command.mode, cell.state.started) == (FAULT_RANGE, IDLE, 0)


@pytest.mark.parametrize("interface", INTERFACES)
def test_readings_that_stop_arriving_are_a_fault_after_their_time(interface: str) -> None:
    cell = resting(interface)
    stamp, ticks = cell.reading.stamp_s, 0
    while not cell.state.fault:
        cell.reading.stamp_s = stamp - DT
        cell.tick(follow=False)
        ticks += 1
    assert cell.state.fault == FAULT_STALE
    assert ticks * DT == pytest.approx(0.1, abs=1.5 * DT)
    assert "older than guard.stale_s (0.1 s)" in said(cell)


def test_a_reading_that_its_driver_calls_old_is_a_fault() -> None:
    cell = resting()
    cell.reading.age_s = 0.15
    cell.reading.stamp_s += 0.15
    cell.tick(follow=False)
    assert cell.state.fault == FAULT_STALE


@pytest.mark.parametrize("late", [2, 10, 40])
def test_readings_that_arrive_late_in_a_fast_motion_are_no_fault(late: int) -> None:
    cell = resting(limits__linear_speed_m_s=3.0, limits__angular_speed_rad_s=10.0, guard__deviation_rad=1.0)
    q, t = cell.reading.q[:6].copy(), 0.0
    start, stamp = q.copy(), float(cell.reading.stamp_s)
    stamp_now = stamp
    for tick in range(400):
        t += DT
        if tick % late == 0:
            q[0], speed = start[0] + 0.5 * (1 - math.cos(3.0 * t)), 1.5 * math.sin(3.0 * t)
            cell.reading.q[:6], cell.reading.qd[0], stamp_now = q, speed, stamp + t
        cell.reading.stamp_s = stamp_now - DT
        cell.tick(follow=False)
    assert cell.state.fault == 0


def test_a_pause_of_the_loop_is_no_fault() -> None:
    cell = resting()
    report(cell, after_s=10.0)
    cell.tick(100)
    assert cell.state.fault == 0
