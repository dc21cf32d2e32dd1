"""The whole tick: pure, one law after another, equal to the same written with other libraries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from ideal_cell import DT, INTERFACES, TOOL, Cell, moving, twist_between
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.laws.gains import work_out
from pliant.control.parameters import Parameters
from pliant.loop import goal_requests
from pliant.model import Arm
from pliant.records import (
    LIMIT_SINGULAR,
)
from support.law_numbers import ADMITTANCE, HOLD
from support.needs import needs

# ---- pure ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", INTERFACES)
def test_same_inputs_give_the_same_outputs_bit_for_bit(interface: str) -> None:
    random = np.random.default_rng(1)
    one, two = Cell(interface), Cell(interface)
    for tick in range(300):
        for cell in (one, two):
            cell.reading.q[:6] = one.arm.q_home + 0.1 * np.sin(0.01 * tick + np.arange(6))
        one.reading.wrench[:] = two.reading.wrench[:] = random.normal(size=6) * 10
        two.arm.bias(random.normal(size=6), random.normal(size=6))  # what was computed in between leaves no trace
        for cell in (one, two):
            cell.goal.law = HOLD if 100 <= tick < 200 else ADMITTANCE
            cell.goal.stop = int(220 <= tick < 240)
            cell.controller.tick()
        for ours, theirs in zip(one.controller.results, two.controller.results, strict=True):
            assert ours.tobytes() == theirs.tobytes()


def test_inputs_are_left_alone() -> None:
    cell = moving()
    kept = [array.tobytes() for array in (cell.controller.reading, cell.controller.goal, cell.controller.parameters)]
    cell.controller.tick()
    assert kept == [
        array.tobytes() for array in (cell.controller.reading, cell.controller.goal, cell.controller.parameters)
    ]


# ---- the law in the loop -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", range(3))
def test_a_push_settles_at_force_less_deadband_over_stiffness(axis: int) -> None:
    cell = Cell()
    start = cell.arm.pose(cell.arm.q_home)
    cell.push[axis] = 20.0
    cell.tick(3000)
    moved = cell.state.pose[:3] - start[:3]
    assert moved[axis] == pytest.approx((20.0 - 1.0) / 200.0, rel=1e-4)
    assert_allclose(np.delete(moved, axis), 0, atol=1e-4)


def test_within_the_deadband_the_spring_brings_the_tool_back_and_the_speed_is_not_frozen() -> None:
    cell = Cell(
        admittance__mass=8.0, admittance__damping_by="value", admittance__damping=40.0, admittance__stiffness=0.0
    )
    cell.push[0] = 20.0
    cell.tick(500)
    cell.push[0] = 0.0
    cell.tick(2500)
    assert abs(cell.state.twist[0]) < 1e-3
    cell.push[0] = -2.0
    cell.tick(100)
    assert cell.state.twist[0] < 0
    spring = Cell(admittance__mass=8.0, admittance__stiffness=200.0)
    start = spring.arm.pose(spring.arm.q_home)
    spring.push[0] = 20.0
    spring.tick(1000)
    spring.push[0] = 0.5
    spring.tick(3000)
    assert_allclose(spring.state.pose[:3], start[:3], atol=1e-6)


@pytest.mark.parametrize("deadband", [0.0, 2.0])
def test_the_wrench_that_is_asked_for_is_held_without_an_offset(deadband: float) -> None:
    cell = Cell(admittance__stiffness=0.0, admittance__damping_by="value", sense__deadband_n=deadband)
    cell.goal.wrench[:] = (0, 0, 12.0, 0, 0, 0)
    cell.push[:] = (0, 0, 12.0, 0, 0, 0)
    cell.tick(1000)
    assert_allclose(cell.state.twist, 0, atol=1e-9)
    for excess in (5.0, -5.0):  # pushed more than asked, it yields; pushed less, it advances: equally fast
        cell.push[2] = 12.0 + excess
        cell.tick(2000)
        assert cell.state.twist[2] == pytest.approx(math.copysign((5.0 - deadband) / 80.0, excess), rel=1e-3)
        cell.push[2] = 12.0
        cell.tick(2000)


def test_twist_is_the_derivative_of_the_pose_of_the_commanded_joints() -> None:
    cell = Cell()
    cell.push[:] = (20.0, -10.0, 5.0, 1.0, 0.5, -0.5)
    before = cell.arm.pose(cell.arm.q_home)
    for _ in range(500):
        cell.tick()
        after = cell.arm.pose(cell.state.q_cmd[:6])
        assert_allclose(cell.state.twist, twist_between(before, after), atol=2e-3)
        before = after


def test_state_pose_is_the_tool_at_the_commanded_joints_from_which_the_tick_started() -> None:
    cell = moving()
    for _ in range(50):
        q = cell.state.q_cmd[:6].copy()
        cell.tick()
        assert_array_equal(cell.state.pose, cell.arm.pose(q))


def test_observed_pose_and_twist_are_those_of_the_measured_joints() -> None:
    cell, random = moving(), np.random.default_rng(2)
    for _ in range(50):
        cell.place(cell.arm.q_home + random.uniform(-1.0, 1.0, 6), random.uniform(-1.0, 1.0, 6))
        q, qd = cell.reading.q[:6].copy(), cell.reading.qd[:6].copy()
        cell.tick(follow=False, sense=False)
        assert_array_equal(cell.observed.pose, cell.arm.pose(q))
        assert_allclose(cell.observed.twist, cell.arm.jacobian(q) @ qd, atol=1e-12)


def test_the_robot_may_lag_behind_its_command_without_changing_it() -> None:
    cell, lagging = Cell(), Cell()
    for c in (cell, lagging):
        c.push[0] = 15.0
    for _ in range(300):
        cell.tick()
        lagging.tick(follow=False)
    assert_allclose(lagging.state.q_cmd, cell.state.q_cmd, atol=1e-12)


def test_commands_stay_within_speed_and_acceleration_limits_under_any_push() -> None:
    random, cell = np.random.default_rng(3), Cell(
        admittance__mass=0.05, admittance__damping_by="value", admittance__damping=0.5, sense__cutoff_hz=400.0,
        limits__linear_speed_m_s=3.0, limits__angular_speed_rad_s=10.0, limits__linear_acceleration_m_s2=50.0,
        limits__angular_acceleration_rad_s2=200.0, limits__pose_error_m=5.0, limits__pose_error_rad=3.1,
    )  # fmt: skip
    fastest = 0.0
    for _ in range(30):
        cell.push[:] = random.normal(size=6) * (100, 100, 100, 10, 10, 10)
        cell.tick(100)
        fastest = max(fastest, float(np.abs(cell.state.qd_cmd[:6] / (0.5 * cell.arm.v_max)).max()))
    assert 0.9 < fastest <= 1 + 1e-9
    assert cell.hardest <= 1 + 1e-6


def test_near_a_singularity_the_tick_says_so_and_stays_bounded() -> None:
    cell = Cell()
    cell.reading.q[:6] = (np.pi, -np.pi / 2, np.pi / 2, -np.pi / 2, -0.02, 0.0)
    cell.controller.begin("admittance")
    cell.push[:] = (0, 20.0, 0, 0, 0, 2.0)
    cell.tick(1000)
    assert cell.observed.limits & LIMIT_SINGULAR
    assert cell.observed.singular_value < Parameters().limits.singular_threshold
    assert cell.hardest <= 1 + 1e-6


# ---- a goal that moves ---------------------------------------------------------------------------------------------


def test_a_goal_that_moves_takes_the_tool_along_and_ends_by_itself() -> None:
    cell = Cell(admittance__stiffness=0.0)
    start, goal = cell.arm.pose(cell.arm.q_home)[0], cell.goal.pose[0]
    cell.goal.twist[0], cell.goal.motion_s = 0.1, 0.5
    cell.tick(1500)
    assert cell.goal.pose[0] - goal == pytest.approx(0.05, abs=1e-9)
    assert_array_equal(cell.goal.twist, 0.0)
    assert_allclose(cell.state.moved[:3], 0.0, atol=1e-6)
    assert cell.state.pose[0] - start == pytest.approx(0.05, abs=5e-3)


def test_a_new_goal_pose_ends_the_motion_of_the_one_before() -> None:
    cell = Cell(admittance__stiffness=0.0)
    cell.goal.twist[0], cell.goal.motion_s = 0.1, 60.0
    cell.tick(200)
    assert cell.state.moved[0] > 0.05
    goal_requests.apply(goal_requests.Request(goal_requests.GOAL_POSE, 0, cell.state.pose.copy()), cell.goal, None, 6)
    cell.tick(3000)
    assert_allclose(cell.state.moved, 0.0, atol=1e-5)


def test_behind_a_limit_nothing_refills_the_tank() -> None:
    wall = float(Arm.load("ur5e", TOOL).pose(Arm.load("ur5e", TOOL).q_home)[0]) + 0.05
    cell = Cell(admittance__mass=0.3, admittance__stiffness=100.0, limits__workspace_max_m=(wall, 10.0, 10.0))
    cell.push[0] = 40.0
    cell.tick(1000)
    cell.adopt(admittance__stiffness=1000.0)
    before = float(cell.state.injected_j)
    cell.tick(2500)
    assert abs(cell.state.moved[0]) < 1e-9  # it has stood at the face all the time
    assert cell.state.injected_j - before <= 0.05 * (1 + 1e-9)


def test_a_top_speed_that_is_lowered_is_reached_within_the_tools_acceleration() -> None:
    cell = Cell(admittance__stiffness=0.0, limits__linear_acceleration_m_s2=1.0, limits__linear_speed_m_s=0.3)
    cell.push[:3] = 10.0, 10.0, 0.0
    cell.tick(400)
    assert np.linalg.norm(cell.state.moved[:3]) > 0.2
    cell.adopt(limits__linear_speed_m_s=0.05)
    moved = cell.state.moved.copy()
    for _ in range(200):
        cell.tick()
        assert np.linalg.norm(cell.state.moved[:3] - moved[:3]) <= 1.0 * DT * (1 + 1e-3)
        moved = cell.state.moved.copy()
    assert np.linalg.norm(moved[:3]) <= 0.05 * (1 + 1e-9)


# ---- the same, written otherwise -----------------------------------------------------------------------------------


@needs("pinocchio")
def test_the_tick_equals_the_same_in_numpy_and_pinocchio() -> None:
    from pliant_experiments.rivals.rival_tick import RivalTick

    random = np.random.default_rng(5)
    cell = Cell(
        limits__pose_error_m=5.0, limits__pose_error_rad=3.1, limits__linear_speed_m_s=3.0,
        limits__angular_speed_rad_s=10.0,
    )  # fmt: skip
    gaps = []
    rival = RivalTick(cell.controller)
    for _ in range(300):
        parameters, state, q = cell.controller.parameters[0], cell.state, random.uniform(-2.5, 2.5, 6)
        parameters.sense.cutoff_hz, parameters.limits.speed_scale = random.uniform(1, 100), random.uniform(0.1, 1)
        for name, size in (("M1", 0.0), ("D1", 1.5), ("K1", 2.0)):
            Q, _ = np.linalg.qr(random.normal(size=(6, 6)))
            parameters.gains[name] = Q @ np.diag(10.0 ** (size + random.uniform(-1, 1, 6))) @ Q.T
        work_out(parameters.gains, DT)
        state.started, state.law, state.ramp = 1, ADMITTANCE, 1.0
        state.q_cmd[:6], state.qd_cmd[:6] = q, random.normal(size=6) * 0.1
        state.twist[:], state.wrench_lp[:] = random.normal(size=6) * 0.1, random.normal(size=6) * 5
        U, sigma, _ = np.linalg.svd(cell.arm.jacobian(q))
        state.weakest[:] = U[:, -1]
        cell.place(q + 0.01 * random.normal(size=6), random.normal(size=6))
        state.guard.sent[:6] = q
        cell.reading.wrench[:] = random.normal(size=6) * 10
        cell.goal.pose[:] = cell.arm.pose(q + 0.1 * random.normal(size=6))
        if sigma[-1] > 0.13:  # nearer to a singularity the tick does more than the other
            gaps.append(rival.largest_difference(20))
    assert len(gaps) > 100
    assert max(gaps) < 1e-12
