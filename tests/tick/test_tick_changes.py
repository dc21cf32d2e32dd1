"""Axes, frames, gains and limits that change while the tick runs; other laws, and stops."""

from __future__ import annotations

import numpy as np
import pytest
from ideal_cell import DT, TOOL, Cell, moving, twist_between
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from pliant.model import Arm
from pliant.records import (
    FAULT_POSE_ERROR,
    LIMIT_TOOL_SPEED,
    LIMIT_WORKSPACE,
)
from support.law_numbers import ADMITTANCE, HOLD

# ---- axes, frames, changes -----------------------------------------------------------------------------------------


def test_axes_that_do_not_give_way_stay_at_the_goal_under_any_push() -> None:
    cell = Cell(admittance__axes=(True, False, True, False, True, False))
    start = cell.arm.pose(cell.arm.q_home)
    cell.push[:] = (15.0, 40.0, -10.0, 3.0, 0.5, 4.0)
    cell.tick(3000)
    moved = twist_between(start, cell.state.pose) * DT
    assert_allclose(moved[[1, 3, 5]], 0, atol=1e-6)
    assert np.abs(moved[[0, 2]]).min() > 0.03


def test_axes_that_do_not_give_way_still_follow_the_goal() -> None:
    cell = Cell(admittance__axes=(True, True, False, False, False, False))
    cell.goal.pose[2] -= 0.05
    goal = cell.goal.pose.copy()
    cell.tick(3000)
    assert_allclose(twist_between(goal, cell.state.pose) * DT, 0, atol=1e-5)


def test_gains_in_tool_axes_turn_with_the_tool() -> None:
    cell = Cell(admittance__frame="tool", admittance__stiffness=(100, 400, 1600, 20, 20, 20), sense__deadband_n=0.0)
    cell.reading.q[:6] = (0.3, -1.2, 1.4, -1.1, -1.2, 0.4)
    cell.controller.begin("admittance")
    start = cell.arm.pose(cell.reading.q[:6])
    R = Rotation.from_quat(start[3:], scalar_first=True).as_matrix()
    cell.push[:3] = R @ (4.0, 8.0, 16.0)
    cell.tick(4000)
    assert_allclose(R.T @ (cell.state.pose[:3] - start[:3]), (0.04, 0.02, 0.01), atol=2e-4)


def test_a_spring_in_tool_axes_trips_by_its_own_stretch_and_a_free_tool_axis_does_not() -> None:
    for push, trips in (((0, 0, 30.0), False), ((30.0, 0, 0), True)):
        cell = Cell(
            admittance__frame="tool", admittance__stiffness=(20, 20, 0, 50, 50, 50), limits__pose_error_m=0.15,
            admittance__damping_by="value", admittance__damping=60.0,
        )  # fmt: skip
        cell.reading.q[:6] = (0.3, -1.3, 1.6, -1.1, -0.8, 0.4)  # its z axis is along none of the base
        cell.controller.begin("admittance")
        start = cell.arm.pose(cell.reading.q[:6])
        R = Rotation.from_quat(start[3:], scalar_first=True).as_matrix()
        assert np.abs(R[:, 2]).max() < 0.97
        cell.push[:3] = R @ push
        cell.tick(400)
        far = np.linalg.norm(cell.state.pose[:3] - start[:3])
        assert far > 0.14
        assert bool(cell.state.fault == FAULT_POSE_ERROR) is trips


def test_without_a_spring_a_hand_may_lead_the_tool_as_far_as_it_likes() -> None:
    cell = Cell(admittance__stiffness=0.0, limits__pose_error_m=0.05, limits__pose_error_rad=0.05)
    start = cell.arm.pose(cell.arm.q_home)
    cell.push[:] = (0, 10.0, 0, 0, 0, 0.5)
    cell.tick(1000)
    assert np.linalg.norm(cell.state.pose[:3] - start[:3]) > 0.1
    assert cell.state.fault == 0


def test_a_stretched_spring_stops_the_arm_at_rest() -> None:
    cell = Cell(limits__pose_error_m=0.05)
    cell.push[0] = 20.0
    cell.tick(2000)
    assert cell.state.fault == FAULT_POSE_ERROR
    assert cell.controller.at_rest
    assert cell.hardest <= 1 + 1e-6


@pytest.mark.parametrize("force", [0.1, 3.99, 4.01])
def test_a_small_push_moves_a_tool_without_a_spring_and_rest_is_rest_when_it_ends(force: float) -> None:
    cell = Cell(
        admittance__mass=8.0, admittance__stiffness=0.0, admittance__damping_by="value", admittance__damping=40.0,
        sense__deadband_n=0.0,
    )  # fmt: skip
    start = cell.arm.pose(cell.arm.q_home)
    cell.push[1] = force
    cell.tick(1000)
    assert cell.state.pose[1] - start[1] == pytest.approx(force / 40.0 * 1.8, rel=0.05)
    cell.adopt(sense__deadband_n=0.5)
    cell.push[1] = 0.0
    cell.tick(3000)
    q = cell.state.q_cmd.copy()
    cell.tick(5000)
    assert_array_equal(cell.state.q_cmd, q)


def test_a_changed_gain_ramps_and_the_command_stays_smooth() -> None:
    cell = Cell(admittance__tank_j=10.0)
    start = cell.arm.pose(cell.arm.q_home)
    cell.push[0] = 20.0
    cell.tick(3000)
    cell.adopt(admittance__stiffness=800.0, admittance__ramp_s=1.0)
    ramps = []
    for _ in range(600):
        cell.tick()
        ramps.append(float(cell.state.ramp))
    assert_allclose(ramps[:500], np.arange(1, 501) / 500, atol=1e-9)
    assert ramps[-1] == 1.0
    cell.tick(3000)
    assert cell.state.pose[0] - start[0] == pytest.approx(19.0 / 800.0, rel=1e-3)
    assert cell.hardest < 0.9


def test_a_change_in_the_middle_of_a_change_starts_where_the_gains_are() -> None:
    cell = Cell(admittance__tank_j=10.0)
    cell.tick()
    cell.adopt(admittance__stiffness=400.0)
    cell.tick(125)  # a quarter of a second: half of the ramp
    cell.adopt(admittance__stiffness=100.0)
    assert_allclose(np.diag(cell.controller.parameters[0].gains.K0), [300, 300, 300, 210, 210, 210])
    cell.tick()
    cell.adopt(sense__cutoff_hz=30.0)  # not a gain: the ramp goes on from where it is
    assert_allclose(np.diag(cell.controller.parameters[0].gains.K1), 100.0)


def test_a_change_that_is_no_gain_changes_no_motion_under_way() -> None:
    one, two = moving(), moving()
    two.adopt(limits__speed_scale=0.45, hold__bandwidth_hz=2.0)
    for cell in (one, two):
        cell.tick(200)
    assert_array_equal(one.state.q_cmd, two.state.q_cmd)


def test_tool_limits_hold_under_any_push_and_say_what_they_cut() -> None:
    random, cell = np.random.default_rng(6), Cell(
        admittance__mass=0.5, admittance__stiffness=10.0, limits__linear_speed_m_s=0.2, limits__angular_speed_rad_s=0.6
    )  # fmt: skip
    acted = 0
    for _ in range(30):
        cell.push[:] = random.normal(size=6) * (40, 40, 40, 3, 3, 3)
        for _ in range(50):
            cell.tick()
            acted |= int(cell.observed.limits)
            assert np.linalg.norm(cell.state.twist[:3]) <= 0.2 * (1 + 1e-3)
            assert np.linalg.norm(cell.state.twist[3:]) <= 0.6 * (1 + 1e-3)
            if cell.observed.limits & LIMIT_TOOL_SPEED:
                assert cell.observed.asked[5] > cell.observed.allowed[5]
        if cell.state.fault:
            break
    assert acted & LIMIT_TOOL_SPEED


def test_nothing_winds_up_behind_a_wall_of_the_workspace() -> None:
    home = Arm.load("ur5e", TOOL).pose(Arm.load("ur5e", TOOL).q_home)
    top = tuple(float(x) for x in (10.0, home[1] + 0.03, 10.0))
    cell = Cell(admittance__stiffness=0.0, limits__workspace_max_m=top)
    cell.push[1] = 15.0
    highest = 0.0
    for _ in range(3000):
        cell.tick()
        highest = max(highest, float(cell.state.pose[1]))
    assert highest <= top[1] + 1e-9
    assert cell.state.pose[1] > top[1] - 3e-3
    assert cell.observed.limits & LIMIT_WORKSPACE
    assert abs(cell.state.twist[1]) < 1e-3
    cell.push[1] = -15.0
    cell.tick(25)
    assert cell.state.twist[1] < -1e-3  # it leaves at once


# ---- changing law, stopping ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [("admittance", HOLD), ("hold", ADMITTANCE)])
def test_a_change_of_law_in_full_motion_is_continuous(first: str, second: int) -> None:
    cell = Cell(law=first)
    cell.push[:] = (20.0, 10.0, -15.0, 1.0, 0.0, 0.5)
    cell.goal.q[:6] += (0.5, -0.3, 0.2, 0.4, 0.1, -0.6)
    cell.tick(120)
    q, qd = cell.state.q_cmd.copy(), cell.state.qd_cmd.copy()
    assert np.abs(qd).max() > 0.02
    cell.goal.law = second
    cell.tick()
    a = 0.5 * cell.arm.a_max.max()
    assert np.abs(cell.state.qd_cmd - qd).max() <= a * DT * (1 + 1e-9)
    assert_allclose(cell.state.q_cmd, q + DT * cell.state.qd_cmd, atol=1e-15)
    cell.tick(1000)
    assert cell.hardest <= 1 + 1e-6


def test_a_law_that_does_not_exist_brings_the_arm_to_rest() -> None:
    cell = moving()
    cell.goal.law = 99
    cell.tick(300)
    assert cell.controller.at_rest
    assert cell.hardest <= 1 + 1e-6


def test_stop_brings_the_arm_to_rest_and_resume_goes_on_from_there() -> None:
    cell = moving()
    cell.goal.stop = 1
    cell.tick(300)
    assert cell.controller.at_rest
    q = cell.state.q_cmd.copy()
    cell.push[:] = (50.0, 0, 0, 0, 0, 0)
    cell.tick(300)
    assert_array_equal(cell.state.q_cmd, q)
    cell.push[:] = 0.0
    cell.goal.stop = 0
    cell.tick()
    assert np.abs(cell.state.q_cmd - q).max() < 1e-3
    cell.tick(4000)
    assert_allclose(cell.state.q_cmd[:6], cell.arm.q_home, atol=1e-6)
    assert cell.hardest <= 1 + 1e-6
