"""The whole tick: pure, never NaN, safe on every fault, continuous, equal to the same written with other libraries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from pliant.laws import ADMITTANCE, HOLD
from pliant.laws.gains import prepare, work_out
from pliant.model import Arm, Tool, kinematics
from pliant.params.control import Parameters, record_of
from pliant.params.declare import changed, from_record
from pliant.records import (
    FAULT_NUMBER,
    FAULT_POSE_ERROR,
    FAULT_SENSOR,
    IDLE,
    LIMIT_SINGULAR,
    LIMIT_TOOL_SPEED,
    LIMIT_TORQUE,
    LIMIT_WORKSPACE,
    MODES,
    WRENCH_MISSING,
    WRENCH_NAN,
    WRENCH_OK,
    WRENCH_SATURATED,
)
from pliant.robots.sim.config import Push, SimConfig
from pliant.runtime import commands
from pliant.runtime.batch import simulate
from pliant.runtime.controller import Controller
from pliant.runtime.task import Event, Task
from pliant.spatial import cross, quat_to_mat

Array = np.ndarray[Any, Any]
DT = 0.002
TOOL = Tool(mass_kg=0.8, com_m=(0.01, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
INTERFACES = tuple(MODES)


class Cell:
    """A controller with a robot that goes exactly where it is told, and a hand that pushes its tool."""

    def __init__(self, interface: str = "position", law: str = "admittance", tool: Tool = TOOL, **values: Any) -> None:
        self.arm = Arm.load("ur5e", tool)
        # this sensor has no noise, so readings that do not change are no sign of a failure
        values = {"sense.frozen_s": 0.0, **{name.replace("__", "."): value for name, value in values.items()}}
        parameters = record_of(changed(Parameters(), values))
        prepare(parameters[0], None, 1.0, 0, DT)
        self.controller = Controller(self.arm, parameters, interface, DT)
        self.reading.q[:6] = self.arm.q_home
        self.controller.begin(law)
        self.push, self.com = np.zeros(6), np.array(self.arm.tool.com_in_sensor_m)
        self.accelerations: list[Array] = []

    def adopt(self, **values: Any) -> None:
        """Change parameters while it runs, as the loop does."""
        before, state = self.controller.parameters[0], self.state
        now = changed(from_record(Parameters, before), {name.replace("__", "."): v for name, v in values.items()})
        parameters = record_of(now)
        ramp = float(state.ramp) if state.set == before.gains.number else 0.0
        prepare(parameters[0], before.copy(), ramp, int(before.revision) + 1, DT)
        self.controller.parameters[:] = parameters

    @property
    def reading(self) -> Any:
        return self.controller.reading[0]

    @property
    def state(self) -> Any:
        return self.controller.state[0]

    @property
    def goal(self) -> Any:
        return self.controller.goal[0]

    @property
    def command(self) -> Any:
        return self.controller.command[0]

    @property
    def observed(self) -> Any:
        return self.controller.observed[0]

    def felt(self) -> Array:
        """What the sensor shows for the push (base axes, at the tool) and the weight of the tool."""
        kinematics.forward_at(self.arm.handle, self.reading.q)
        X_T, X_S = self.arm.handle["X_tool"][0], self.arm.handle["X_sensor"][0]
        out, R = np.zeros(6), np.zeros((3, 3))
        quat_to_mat(X_S[3:], R)
        weight = self.arm.tool.mass_kg * self.arm.gravity
        out[:3] = R.T @ (self.push[:3] + weight)
        out[3:] = R.T @ (self.push[3:] + crossed(X_T[:3] - X_S[:3], self.push[:3])) + crossed(self.com, R.T @ weight)
        return out

    def tick(self, times: int = 1, *, follow: bool = True, sense: bool = True) -> None:
        """Tick; `follow` takes over the command as the new reading, `sense` gives the sensor a fresh sample."""
        for _ in range(times):
            if sense:
                self.reading.wrench[:] = self.felt()
            before = self.state.qd_cmd.copy()
            self.controller.tick()
            self.accelerations.append((self.state.qd_cmd - before)[:6] / DT)
            if follow and self.state.started:
                self.reading.q[:], self.reading.qd[:] = self.state.q_cmd, self.state.qd_cmd

    @property
    def hardest(self) -> float:
        """Largest joint acceleration commanded so far, as a share of the limit."""
        top = self.controller.parameters[0].limits.acceleration_scale * self.arm.a_max
        return float(np.abs(self.accelerations / top).max())


def crossed(a: Array, b: Array) -> Array:
    out = np.zeros(3)
    cross(a, b, out)
    return out


def finite(cell: Cell) -> bool:
    return all(np.isfinite(cell.command[name]).all() for name in ("q", "qd", "tau"))


def twist_between(a: Array, b: Array) -> Array:
    turn = Rotation.from_quat(b[3:], scalar_first=True) * Rotation.from_quat(a[3:], scalar_first=True).inv()
    return np.concatenate([b[:3] - a[:3], turn.as_rotvec()]) / DT


def moving(interface: str = "position", **values: Any) -> Cell:
    """A cell in the middle of a motion."""
    cell = Cell(interface, **values)
    cell.push[:] = (15.0, -10.0, 5.0, 0.5, 0.3, -0.4)
    cell.tick(150)
    assert np.abs(cell.state.qd_cmd[:6]).min() > 1e-4
    return cell


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
        cell.reading.q[:6], cell.reading.qd[:6] = cell.arm.q_home + random.normal(size=6), random.normal(size=6)
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


# ---- bad numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("field", ["q", "qd"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_bad_joint_reading_is_a_fault_and_never_reaches_the_command(interface: str, field: str, value: float) -> None:
    cell = moving(interface)
    q, qd = cell.state.q_cmd.copy(), cell.state.qd_cmd.copy()
    cell.reading[field][2] = value
    for _ in range(500):
        cell.tick(follow=False, sense=False)
        assert cell.state.fault == FAULT_NUMBER
        assert finite(cell)
        assert cell.command.mode == (IDLE if interface == "torque" else MODES[interface])
    assert cell.controller.at_rest
    if interface != "torque":
        assert_array_equal(cell.command.qd, 0.0)
    assert cell.hardest <= 1 + 1e-6
    assert np.abs(cell.state.q_cmd - q).max() < np.abs(qd).max() ** 2 / 7.0 + 1e-3


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_bad_joint_reading_before_the_start_leaves_the_robot_idle(interface: str) -> None:
    cell = Cell(interface)
    cell.reading.q[0] = math.nan
    cell.tick(10, sense=False)
    assert (cell.state.fault, cell.command.mode) == (FAULT_NUMBER, IDLE)
    cell.reading.q[0] = 0.0
    cell.tick(10, sense=False)
    assert (cell.state.fault, cell.command.mode) == (FAULT_NUMBER, IDLE)
    assert finite(cell)


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_bad_joint_reading_after_a_lost_sensor_does_not_reach_the_command_either(interface: str) -> None:
    cell = moving(interface)
    cell.reading.wrench_state = WRENCH_MISSING
    cell.tick(15)
    assert cell.state.fault == FAULT_SENSOR + WRENCH_MISSING
    cell.reading.q[:6] = math.nan
    for _ in range(300):
        cell.tick(follow=False, sense=False)
        assert finite(cell)
    assert cell.controller.at_rest
    assert np.isfinite(cell.observed.pose).all()


def test_a_fault_is_latched() -> None:
    cell = moving()
    good = cell.reading.q.copy()
    cell.reading.q[0] = math.nan
    cell.tick(follow=False, sense=False)
    cell.reading.q[:] = good
    cell.tick(1000)
    assert cell.state.fault == FAULT_NUMBER
    assert cell.controller.at_rest


def test_joints_that_the_arm_does_not_have_are_not_looked_at() -> None:
    cell = moving()
    cell.reading.q[6:] = math.nan
    cell.tick(follow=False)
    assert cell.state.fault == 0
    assert finite(cell)


# ---- a sensor that fails -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("how", ["missing", "saturated", "nan"])
def test_a_lost_sensor_is_held_then_stops_the_arm_within_its_limits(interface: str, how: str) -> None:
    cell = moving(interface)
    held = cell.observed.wrench.copy()
    if how == "nan":
        cell.reading.wrench[3] = math.nan
    else:
        cell.reading.wrench_state = WRENCH_MISSING if how == "missing" else WRENCH_SATURATED
        cell.reading.wrench[:] = 0.0
    ticks = []
    for _ in range(400):
        cell.tick(sense=False)
        ticks.append(bool(cell.state.fault))
        assert_array_equal(cell.observed.wrench, held)
        assert finite(cell)
    assert ticks.index(True) * DT == pytest.approx(0.02, abs=DT)
    troubles = {"missing": WRENCH_MISSING, "saturated": WRENCH_SATURATED, "nan": WRENCH_NAN}
    assert cell.state.fault == FAULT_SENSOR + troubles[how]
    assert cell.controller.at_rest
    assert cell.hardest <= 1 + 1e-6


def test_a_short_dropout_does_not_change_the_wrench_that_the_law_feels() -> None:
    cell = Cell()
    cell.push[0] = 15.0
    cell.tick(500)
    cell.reading.wrench_state, filtered = WRENCH_MISSING, cell.state.wrench_lp.copy()
    cell.reading.wrench[:] = 0.0
    cell.tick(8, sense=False)
    cell.reading.wrench_state = WRENCH_OK
    cell.tick(500)
    assert cell.state.fault == 0
    assert_allclose(cell.state.wrench_lp, filtered, atol=1e-6)


@pytest.mark.parametrize("interface", INTERFACES)
def test_without_a_first_good_wrench_the_robot_is_not_driven(interface: str) -> None:
    cell = Cell(interface)
    cell.push[0] = 30.0
    cell.reading.wrench_state = WRENCH_MISSING
    for _ in range(5):
        cell.tick()
        assert (cell.command.mode, cell.state.started) == (IDLE, 0)
        assert_array_equal(cell.state.qd_cmd, 0.0)
    cell.reading.wrench_state = WRENCH_OK
    cell.tick()
    assert (cell.command.mode, cell.state.started, cell.state.fault) == (MODES[interface], 1, 0)
    assert_allclose(cell.state.q_cmd[:6], cell.arm.q_home, atol=1e-4)
    # the filter starts at what is felt, not at zero
    assert cell.state.wrench_lp[0] == pytest.approx(30.0)


def test_a_sensor_that_never_answers_is_a_fault_of_a_robot_that_never_moved() -> None:
    cell = Cell()
    cell.reading.wrench_state = WRENCH_MISSING
    cell.tick(100)
    assert (cell.state.fault, cell.command.mode) == (FAULT_SENSOR + WRENCH_MISSING, IDLE)


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


# ---- interfaces ----------------------------------------------------------------------------------------------------


def test_position_commands_are_the_commanded_joints() -> None:
    cell = moving("position")
    assert cell.command.mode == MODES["position"]
    assert_array_equal(cell.command.q, cell.state.q_cmd)
    assert_array_equal(cell.command.qd, cell.state.qd_cmd)
    assert_array_equal(cell.command.tau, 0.0)


def test_velocity_commands_pull_a_robot_that_is_off_back_onto_its_way() -> None:
    cell = moving("velocity")
    cell.reading.q[:6] += 0.01
    cell.tick(follow=False)
    assert_allclose(cell.command.qd[:6] - cell.state.qd_cmd[:6], cell.state.q_cmd[:6] - cell.reading.q[:6], atol=1e-12)


def test_velocity_commands_never_exceed_the_speed_of_the_robot() -> None:
    cell = moving("velocity")
    cell.reading.q[:6] += (5.0, -5.0, 5.0, -5.0, 5.0, -5.0)
    cell.tick(follow=False)
    assert_allclose(np.abs(cell.command.qd[:6]), Parameters().limits.speed_scale * cell.arm.v_max)


def test_torque_commands_are_computed_torques() -> None:
    cell, random = moving("torque"), np.random.default_rng(4)
    cell.controller.parameters[0].limits.torque_rise_s = 1e-6  # these joints jump, and so must the torques
    for _ in range(20):
        cell.reading.q[:6] = cell.state.q_cmd[:6] + 0.01 * random.normal(size=6)
        cell.reading.qd[:6] = cell.state.qd_cmd[:6] + 0.1 * random.normal(size=6)
        q, qd, J = cell.reading.q[:6].copy(), cell.reading.qd[:6].copy(), cell.arm.jacobian(cell.reading.q[:6])
        cell.tick(follow=False)
        omega = 2 * np.pi * Parameters().hold.drive_hz
        wanted = omega**2 * (cell.state.q_cmd[:6] - q) + 2 * omega * (cell.state.qd_cmd[:6] - qd)
        # a push that the law has answered must not push a second time
        tau = cell.arm.mass_matrix(q) @ wanted + cell.arm.bias(q, qd) - J.T @ cell.state.wrench_lp
        tau += cell.arm.handle["damping"][0, :6] * qd
        assert_allclose(cell.command.tau[:6], np.clip(tau, -cell.arm.tau_max, cell.arm.tau_max), atol=1e-9)


def test_torque_commands_stay_within_the_drives_and_say_so() -> None:
    cell = moving("torque")
    cell.reading.q[:6] += 2.0
    cell.tick(follow=False)
    assert (np.abs(cell.command.tau[:6]) <= cell.arm.tau_max).all()
    assert cell.observed.limits & LIMIT_TORQUE


# ---- with the simulated robot --------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", ["ur3e", "ur10e", "two_link"])
def test_torques_hold_the_arm_against_gravity(arm: str) -> None:
    records = simulate(Task(robot=f"sim:{arm}", interface="torque", duration_s=2.0)).records
    start = records["reading"]["q"][0]
    assert np.abs(records["reading"]["q"] - start).max() < 2e-4  # the noise of the force sensor


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_move_arrives_through_every_interface(interface: str) -> None:
    goal = (3.3, -1.3, 1.4, -1.6, -1.4, 0.3)
    events = (Event(at_s=0.1, goal_q=goal),)
    records = simulate(Task(interface=interface, duration_s=6.0, events=events)).records  # pyright: ignore[reportArgumentType]
    assert_allclose(records["reading"]["q"][-1, :6], goal, atol=1e-4)


def test_velocity_commands_do_not_drift() -> None:
    push = tuple(Push(at_s=1.0 + 2 * i, for_s=1.0, wrench=(15.0, -10.0, 5.0, 0, 0, 0)) for i in range(14))
    task = Task(law="admittance", interface="velocity", tool=TOOL, duration_s=32.0, sim=SimConfig(pushes=push))
    records = simulate(task).records
    gap = np.abs(records["reading"]["q"] - records["state"]["q_cmd"])
    assert gap[500:].max() < 0.02
    assert np.abs(records["reading"]["q"][-1] - records["reading"]["q"][0]).max() < 2e-3


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_sensor_that_drops_out_for_good_ends_the_run_at_rest(interface: str) -> None:
    sim = SimConfig.model_validate(
        {"sensor": {"dropout": 0.9}, "pushes": [{"at_s": 0.0, "wrench": [20, 0, 0, 0, 0, 0]}]}
    )
    run = simulate(Task(law="admittance", interface=interface, duration_s=5.0, sim=sim))  # pyright: ignore[reportArgumentType]
    assert "force sensor" in run.fault
    assert len(run.records) < 2500
    assert np.isfinite(run.records["command"]["tau"]).all()
    assert not np.any(run.records["state"]["qd_cmd"][-1])


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
    commands.apply(commands.Request(commands.GOAL_POSE, 0, cell.state.pose.copy()), cell.goal, None, 6)
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


def test_the_tick_equals_the_same_in_numpy_and_pinocchio() -> None:
    pytest.importorskip("pinocchio")
    from pliant.experiments.rival_tick import RivalTick

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
        cell.reading.q[:6], cell.reading.qd[:6] = q + 0.01 * random.normal(size=6), random.normal(size=6)
        cell.reading.wrench[:] = random.normal(size=6) * 10
        cell.goal.pose[:] = cell.arm.pose(q + 0.1 * random.normal(size=6))
        if sigma[-1] > 0.13:  # nearer to a singularity the tick does more than the other
            gaps.append(rival.largest_difference(20))
    assert len(gaps) > 100
    assert max(gaps) < 1e-12
