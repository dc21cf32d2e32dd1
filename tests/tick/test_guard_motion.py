"""Motion, force and commands out of bounds: the guard stops the arm, whatever the law does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from guarded_cell import carry, report, resting
from ideal_cell import DT, INTERFACES, Cell
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.safety_guard import vet_command
from pliant.kernel import kernel
from pliant.loop.fault_text import fault_words
from pliant.records import (
    BY_BRAKE,
    FAULT_DEVIATION,
    FAULT_FORCE,
    FAULT_JOINT_SPEED,
    FAULT_OUTPUT,
    FAULT_TOOL_SPEED,
    FAULT_WORKSPACE,
    IDLE,
    MODES,
    POSITION,
    TORQUE,
    VELOCITY,
)

WIDE = {"limits__linear_speed_m_s": 3.0, "limits__angular_speed_rad_s": 10.0, "guard__deviation_rad": 1.0}


def said(cell: Cell) -> str:
    return fault_words(cell.state, cell.goal, cell.reading, cell.controller.parameters[0])


def hurl(cell: Cell, joint: int, speed: float, accel: float = 100.0) -> None:
    """Accelerate a joint from outside, consistently, until there is a fault or it has its speed."""
    q, v = cell.reading.q[:6].copy(), 0.0
    while v < speed and not cell.state.fault:
        q[joint] += DT * (v + 0.5 * accel * DT)
        v += accel * DT
        report(cell, q, np.eye(6)[joint] * v)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_joint_that_really_is_too_fast_is_braked(interface: str) -> None:
    cell = resting(interface, **WIDE)
    hurl(cell, 5, 10.0)
    assert (cell.state.fault, cell.state.blind) == (FAULT_JOINT_SPEED, 0)
    assert cell.command.mode == MODES[interface]
    assert 1.2 * cell.arm.v_max[5] < cell.reading.qd[5] < 1.2 * cell.arm.v_max[5] + 0.3
    assert "joint 6 was measured at 3.8" in said(cell)
    if interface == "torque":
        assert cell.state.driven == BY_BRAKE
        assert 0.0 < cell.state.qd_cmd[5] < cell.reading.qd[5]


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_tool_that_really_is_too_fast_is_braked(interface: str) -> None:
    cell = resting(interface, guard__deviation_rad=1.0)
    hurl(cell, 0, 3.0, accel=20.0)
    assert (cell.state.fault, cell.state.blind) == (FAULT_TOOL_SPEED, 0)
    assert np.linalg.norm(cell.observed.twist[:3]) == pytest.approx(1.0, abs=0.05)
    assert "faster than guard.tool_speed_share (2) of limits.linear_speed_m_s allows (1 m/s)" in said(cell)


def test_a_tool_that_turns_too_fast_is_braked() -> None:
    cell = resting(guard__deviation_rad=1.0, limits__angular_speed_rad_s=0.5)
    hurl(cell, 5, 3.0, accel=20.0)
    assert (cell.state.fault, cell.state.blind) == (FAULT_TOOL_SPEED, 0)
    assert "guard.tool_turn_share (4) of limits.angular_speed_rad_s allows (2 rad/s)" in said(cell)


def test_a_lowered_speed_limit_leaves_the_arm_the_time_to_brake() -> None:
    cell = Cell(limits__pose_error_m=5.0, limits__pose_error_rad=3.1)
    cell.push[0] = 80.0
    cell.tick(400)
    assert np.linalg.norm(cell.observed.twist[:3]) > 0.15
    cell.adopt(limits__linear_speed_m_s=0.05)
    cell.tick(300)
    assert cell.state.fault == 0
    assert np.linalg.norm(cell.observed.twist[:3]) <= 0.05 + 1e-6


def box(cell: Cell, away: float) -> dict[str, Any]:
    """A workspace whose face in y is `away` from the tool."""
    low, high = cell.observed.pose[:3] - 0.5, cell.observed.pose[:3] + 0.5
    high[1] = cell.observed.pose[1] + away
    return {"limits__workspace_min_m": tuple(low), "limits__workspace_max_m": tuple(high)}


def test_a_tool_that_leaves_its_workspace_is_a_fault() -> None:
    cell = resting("torque", guard__deviation_rad=1.0, **box(resting(), 0.02))
    y, speed = float(cell.observed.pose[1]), math.copysign(0.3, cell.arm.jacobian(cell.reading.q[:6])[1, 0])
    carry(cell, 0, speed, 500)
    assert cell.state.fault == FAULT_WORKSPACE
    assert cell.observed.pose[1] - y == pytest.approx(0.07, abs=0.002)
    assert "the tool was measured at y = " in said(cell)


def test_an_arm_that_starts_outside_its_workspace_may_enter_it() -> None:
    cell = Cell("position", "hold", guard__deviation_rad=1.0, **box(resting(), -0.1))
    cell.tick(20)
    assert (cell.state.fault, cell.state.guard.inside) == (0, 0)


@pytest.mark.parametrize(("push", "words"), [((600, 0, 0, 0, 0, 0), "force_n (500)"), ((0, 0, 9, 0, 0, 260), "ment")])
def test_a_force_that_lasts_is_a_fault_and_a_short_one_is_not(push: tuple[float, ...], words: str) -> None:
    cell = resting(sense__range_n=1e4, sense__range_nm=1e4, guard__deviation_rad=1.0)
    cell.push[:] = push
    cell.tick(8)
    assert cell.state.fault == 0
    cell.push[:] = 0.0
    cell.tick(5)
    cell.push[:] = push
    cell.tick(12)
    assert cell.state.fault == FAULT_FORCE
    assert words in said(cell)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_joint_that_is_held_away_from_its_command_is_a_fault(interface: str) -> None:
    cell = resting(interface)
    ticks = carry(cell, 0, 0.2, 1000)
    assert cell.state.fault == FAULT_DEVIATION
    assert ticks * DT == pytest.approx(0.15 / 0.2 + 0.1, abs=0.01)
    assert "joint 1 does not follow" in said(cell)


def test_an_arm_with_a_long_lag_follows() -> None:
    cell = Cell(limits__pose_error_m=5.0, limits__pose_error_rad=3.1)
    cell.push[:] = (60, 40, -20, 0, 0, 2)
    q = cell.reading.q.copy()
    for _ in range(800):
        before = q.copy()
        q = q + DT / 0.15 * (cell.state.q_cmd - q) if cell.state.started else q
        cell.reading.q[:], cell.reading.qd[:] = q, (q - before) / DT
        cell.tick(follow=False)
    assert np.abs(cell.state.qd_cmd[:6]).max() > 0.01
    assert cell.state.fault == 0


def test_joints_that_become_faster_while_they_are_braked_are_left_to_the_robot() -> None:
    cell = resting("torque", **WIDE)
    hurl(cell, 5, 10.0)
    assert (cell.state.driven, cell.command.mode) == (BY_BRAKE, TORQUE)
    q, v = cell.reading.q[:6].copy(), float(cell.reading.qd[5])
    for _ in range(10):
        v += 0.1
        q[5] += DT * v
        report(cell, q, np.eye(6)[5] * v)
    assert (cell.state.fault, cell.state.blind, cell.command.mode) == (FAULT_JOINT_SPEED, 1, IDLE)


# ---- what may leave the tick ---------------------------------------------------------------------------------------


@kernel
def vet(h, p, s, c, dt):
    vet_command(h[0], p[0], s[0], c[0], dt)


def vetted(cell: Cell, **command: Any) -> None:
    """Let the guard vet the cell's last command with these values of joint 2 instead."""
    for name, value in command.items():
        cell.command[name][1] = value
    control = cell.controller
    vet(control.arm.handle, control.parameters, control.state, control.command, DT)


@pytest.mark.parametrize("interface", ["position", "velocity"])
@pytest.mark.parametrize(("field", "value"), [("q", math.nan), ("q", 1e3), ("qd", math.inf), ("qd", -3.5)])
def test_a_command_that_the_robot_cannot_follow_is_replaced_by_the_last_good_one(
    interface: str, field: str, value: float
) -> None:
    cell = resting(interface)
    good = cell.command.q[:6].copy()
    vetted(cell, **{field: value})
    assert cell.state.fault == FAULT_OUTPUT
    assert cell.command.mode in (POSITION, VELOCITY)
    assert_array_equal(cell.command.q[:6], good)
    assert_array_equal(cell.state.q_cmd[:6], good)
    assert_array_equal(cell.command.qd[:6], 0.0)
    assert "was beyond what the robot can do" in said(cell)
    cell.tick(50)
    assert_allclose(cell.command.q[:6], good, atol=1e-12)


def test_a_command_that_jumps_is_not_sent() -> None:
    cell = resting()
    vetted(cell, q=cell.command.q[1] + 0.02)
    assert cell.state.fault == FAULT_OUTPUT


@pytest.mark.parametrize("value", [math.nan, -math.inf, 151.0])
def test_a_torque_beyond_the_drives_is_not_sent(value: float) -> None:
    cell = resting("torque")
    vetted(cell, tau=value)
    assert (cell.state.fault, cell.state.blind, cell.command.mode) == (FAULT_OUTPUT, 1, IDLE)


def test_no_law_clears_a_fault_of_the_guard() -> None:
    cell = resting("torque")
    cell.reading.q[0] = 1e6
    cell.tick(follow=False)
    fault = int(cell.state.fault)
    cell.state.fault, cell.command.mode = 0, TORQUE
    vetted(cell)
    assert (cell.state.fault, cell.command.mode) == (fault, IDLE)


def test_an_idle_command_passes() -> None:
    cell = resting()
    cell.command.mode = IDLE
    vetted(cell, q=math.nan)
    assert cell.state.fault == 0
