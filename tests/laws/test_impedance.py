"""Impedance by torque: the torques are the ones of the equations, and in closed loop the tool moves like its spring."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from pliant.control.controller import Controller
from pliant.control.laws.gains import impedance_target, modal_ratios
from pliant.control.laws.impedance import impedance_law
from pliant.control.laws.registry import prepare
from pliant.control.parameters import Impedance, Parameters, Sense, diagonal, record_of
from pliant.control.telemetry import TELEMETRY
from pliant.kernel import record_in
from pliant.model import Arm, Tool
from pliant.params.declare import changed
from pliant.params.packing import to_record
from pliant.records import STATE
from pliant.session.in_process.fast_run import simulate
from pliant.session.in_process.simulation import Simulation
from pliant.spatial import pose_integrate
from pliant.task.schema import Event, Task
from pliant.world.world_config import Push, Sensor, Servo, SimConfig
from pliant_experiments.rivals.bare_inverse import BareLaw, run_bare
from pliant_experiments.scenes.two_link_lab import (
    X0,
    circle,
    damping_ratio,
    lab_task,
    law,
    moved,
    push,
    pushed,
    rest,
    run_along,
)
from support.properties import examples

Array = np.ndarray[Any, Any]
SEVEN = str(Path(__file__).parent.parent / "data" / "seven_joints.xml")
BENT = (0.2, 0.5, 0.1, 1.2, 0.3, 0.8, 0.0)
TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
SHORT = 2e-8  # so short a step that its middle is its start
FREE = Sense(cutoff_hz=100.0, deadband_n=0.0, deadband_nm=0.0)


# ---- the torques ---------------------------------------------------------------------------------------------------


def torques(arm: Arm, q: Array, qd: Array, goal: dict[str, Any], F: Array, **switches: Any) -> tuple[Array, Controller]:
    """What one tick asks of the drives at this state, felt wrench and goal, with wide limits."""
    values = {"sense.deadband_n": 0.0, "sense.deadband_nm": 0.0, "sense.frozen_s": 0.0, "limits.torque_rise_s": 1e-12}
    values |= {"limits.acceleration_scale": 1.0, "limits.speed_scale": 1.0, "limits.pose_error_m": 5.0}
    values |= {"limits.linear_speed_m_s": 3.0, "limits.angular_speed_rad_s": 10.0, "sense.cutoff_hz": 400.0}
    values |= {"limits.singular_threshold": 1e-6, "limits.pose_error_rad": 3.1, "impedance.posture_damping": 0.0}
    values |= {f"impedance.{name}": value for name, value in switches.items()}
    parameters = record_of(changed(Parameters(), values))
    prepare(parameters, None, 1.0, 0, SHORT)
    control = Controller(arm, parameters, "torque", SHORT)
    reading = control.reading[0]
    reading.q[: arm.n], reading.qd[: arm.n] = q, qd
    # the sensor of a bare flange is at the tool: what acts there, in its axes
    R = Rotation.from_quat(arm.sensor_pose(q)[[4, 5, 6, 3]]).as_matrix()
    reading.wrench[:] = np.concatenate([R.T @ F[:3], R.T @ F[3:]])
    reading.tau[: arm.n] = 0.0
    control.begin("impedance")
    for name, value in goal.items():
        control.goal[0][name] = value
    state = control.state[0]  # as if the law had run before, with this goal and at this speed
    control.tick()
    memory = record_in(state.memory, impedance_law.MEMORY.dtype)
    pose_integrate(control.goal[0].pose, -control.goal[0].twist, SHORT, memory.led)
    memory.led_twist[:] = control.goal[0].twist
    state.qd_cmd[:], memory.load[: arm.n] = reading.qd, arm.jacobian(q).T @ F
    state.owed[:], memory.accel[:] = 0.0, control.goal[0].accel
    control.tick()
    return control.command[0].tau[: arm.n].copy(), control


def random_case(arm: Arm, random: np.random.Generator) -> tuple[Array, Array, dict[str, Any], Array]:
    q = arm.q_home + 0.3 * random.normal(size=arm.n)
    pose = arm.pose(q)
    pose[:3] += 0.02 * random.normal(size=3)
    turn = Rotation.from_rotvec(0.1 * random.normal(size=3)) * Rotation.from_quat(pose[[4, 5, 6, 3]])
    pose[3:] = turn.as_quat()[[3, 0, 1, 2]]
    goal = {"pose": pose, "twist": 0.1 * random.normal(size=6), "accel": 0.1 * random.normal(size=6)}
    return q, 0.2 * random.normal(size=arm.n), goal, random.normal(size=6)


def error(arm: Arm, q: Array, pose: Array) -> Array:
    now = arm.pose(q)
    R, R_goal = (Rotation.from_quat(X[[4, 5, 6, 3]]) for X in (now, pose))
    return np.concatenate([now[:3] - pose[:3], (R * R_goal.inv()).as_rotvec()])


def expected(arm: Arm, q: Array, qd: Array, goal: dict[str, Any], F: Array, **on: bool) -> Array:
    """τ = M J⁻¹ (ẍ - J̇ q̇) + C q̇ + g + friction - Jᵀ f, written with NumPy; `on` switches parts off."""
    record = to_record(Impedance())[0]
    M, D, K = impedance_target(record)
    J, Mq = arm.jacobian(q), arm.mass_matrix(q)
    a = goal["accel"] + np.linalg.solve(M, F - D @ (J @ qd - goal["twist"]) - K @ error(arm, q, goal["pose"]))
    if on.get("use_jdot", True):
        a = a - arm.jdot_qd(q, qd)
    gravity = arm.bias(q, np.zeros(arm.n))
    tau = Mq @ np.linalg.solve(J, a)
    tau += gravity if on.get("cancel_gravity", True) else 0.0
    tau += arm.bias(q, qd) - gravity if on.get("cancel_coriolis", True) else 0.0
    tau += arm.handle["damping"][0, : arm.n] * qd if on.get("cancel_friction", True) else 0.0
    return tau - J.T @ F if on.get("cancel_force", True) else tau


@pytest.fixture(scope="module")
def ur5e() -> Arm:
    arm = Arm.load("ur5e")
    arm.handle["a_max"], arm.handle["v_max"], arm.handle["tau_max"] = 1e6, 1e3, 1e6  # nothing is cut here
    return arm


SWITCHES = ("use_jdot", "cancel_gravity", "cancel_coriolis", "cancel_friction", "cancel_force")


def test_the_torques_are_those_of_the_equation_for_a_six_joint_arm(ur5e: Arm) -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        case = random_case(ur5e, random)
        assert_allclose(torques(ur5e, *case)[0], expected(ur5e, *case), atol=1e-5)


@pytest.mark.parametrize("switch", SWITCHES)
def test_every_part_of_the_torque_can_be_switched_off_alone(switch: str, ur5e: Arm) -> None:
    random = np.random.default_rng(2)
    seen = 0.0
    for _ in range(10):
        case = random_case(ur5e, random)
        tau = torques(ur5e, *case, **{switch: False})[0]
        assert_allclose(tau, expected(ur5e, *case, **{switch: False}), atol=1e-5)
        seen = max(seen, np.abs(tau - expected(ur5e, *case)).max())
    # the model of a UR has no friction; every other part matters
    assert seen > 0.01 or switch == "cancel_friction"


def test_the_simple_form_is_the_transposed_jacobian_on_spring_and_damper(ur5e: Arm) -> None:
    random = np.random.default_rng(3)
    _, D, K = impedance_target(to_record(Impedance())[0])
    for _ in range(20):
        q, qd, goal, F = random_case(ur5e, random)
        goal["accel"] = np.zeros(6)
        J = ur5e.jacobian(q)
        pull = -D @ (J @ qd - goal["twist"]) - K @ error(ur5e, q, goal["pose"])
        tau = torques(ur5e, q, qd, goal, F, form="simple")[0]
        assert_allclose(tau, J.T @ pull + ur5e.bias(q, qd), atol=1e-5)


def test_gains_in_tool_axes_turn_with_the_tool(ur5e: Arm) -> None:
    stiff = diagonal(50.0, 400.0, 900.0, 5.0, 20.0, 40.0)
    random = np.random.default_rng(4)
    q, _, goal, F = random_case(ur5e, random)
    R = Rotation.from_quat(ur5e.pose(q)[[4, 5, 6, 3]]).as_matrix()
    turned = np.zeros((6, 6))
    turned[:3, :3], turned[3:, 3:] = R @ np.array(stiff)[:3, :3] @ R.T, R @ np.array(stiff)[3:, 3:] @ R.T
    case = q, np.zeros(6), goal, F
    in_base = torques(ur5e, *case, stiffness=turned, damping_by="value")[0]
    in_tool = torques(ur5e, *case, stiffness=stiff, damping_by="value", frame="tool")[0]
    assert_allclose(in_tool, in_base, atol=1e-6)


def test_a_moment_that_is_not_controlled_does_not_move_the_tool() -> None:
    arm = Arm.load("two_link")
    q, F = np.array([0.7, -0.8]), np.array([3.0, -2.0, 0.0, 0.0, 0.0, 1.5])
    plane = {"axes": law().axes, "mass": 1.0, "stiffness": 250.0, "damping_by": "value", "damping": 100.0}
    goal = {"pose": arm.pose(q)}
    tau, _ = torques(arm, q, np.zeros(2), goal, F, **plane)
    J = arm.jacobian(q)
    qdd = np.linalg.solve(arm.mass_matrix(q), tau + J.T @ F - arm.bias(q, np.zeros(2)))
    assert_allclose((J @ qdd)[:2], F[:2], atol=1e-5)  # a = f/M with M = 1 kg


# ---- the step ------------------------------------------------------------------------------------------------------


def free_mass(M: Array, D: Array, K: Array) -> tuple[Any, ...]:
    """Everything that the law needs for a free body in place of an arm: J = I."""
    p, g, s, x = to_record(Impedance())[0], None, STATE.new()[0], impedance_law.SCRATCH.new()[0]
    record = record_of(Parameters())
    g = record[0]["impedance_gains"]
    for name, matrix in zip("MDK", (M, D, K), strict=True):
        g[name + "0"] = g[name + "1"] = matrix
    s.ramp = 1.0
    x.J[:, :6] = np.eye(6)
    Mq = np.zeros((12, 12))
    Mq[:6, :6] = np.eye(6)
    return p, record[0]["impedance_gains"], s, Mq, x


def definite(random: np.random.Generator, low: float, high: float) -> Array:
    Q, _ = np.linalg.qr(random.normal(size=(6, 6)))
    A = Q @ np.diag(10.0 ** random.uniform(low, high, 6)) @ Q.T
    return 0.5 * (A + A.T)


@examples(60)
@given(seed=st.integers(0, 10_000), dt=st.floats(1e-3, 8e-3))
def test_energy_is_balanced_exactly_in_every_step_for_every_mass_damping_and_stiffness(seed: int, dt: float) -> None:
    random = np.random.default_rng(seed)
    M, D, K = definite(random, -2, 2), definite(random, -1, 4), definite(random, 0, 5)
    p, g, s, Mq, x = free_mass(M, D, K)
    e, v, zeros = 0.1 * random.normal(size=6), random.normal(size=6), np.zeros(12)
    for _ in range(50):
        F = random.normal(size=6)
        x.e[:], x.v[:], x.F[:] = e, v, F
        impedance_law.weigh(Mq, 6, np.ones(6), 0.0, x)
        impedance_law.step(p, g, s, Mq, zeros, zeros, zeros, 6, False, 0.0, dt, x)
        a = x.qdd[:6].copy()
        middle = v + 0.5 * dt * a
        before = 0.5 * v @ M @ v + 0.5 * e @ K @ e
        e, v = e + dt * middle, v + dt * a
        after = 0.5 * v @ M @ v + 0.5 * e @ K @ e
        balance = dt * middle @ (F - D @ middle)
        assert after - before == pytest.approx(balance, rel=1e-6, abs=1e-6 * (before + after + 1e-9))


def test_uncontrolled_directions_are_coupled_to_nothing_and_damping_keeps_its_ratio() -> None:
    section = Impedance(
        mass=diagonal(5.0, 0.5), stiffness=diagonal(300.0, 10.0), damping_ratio=(0.4, 0.4, 0.4, 0.4, 0.4, 0.4)
    )
    record = to_record(section)[0]
    record.axes[:] = (1, 1, 0, 0, 0, 1)
    M, D, K = impedance_target(record)
    on = [0, 1, 5]
    assert_allclose(modal_ratios(M[np.ix_(on, on)], D[np.ix_(on, on)], K[np.ix_(on, on)]), 0.4, atol=1e-9)
    off = [2, 3, 4]
    assert not D[off].any()
    assert not K[off].any()
    assert_allclose(M[off], np.eye(6)[off])


# ---- the two-link arm ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mass", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_push_deflects_by_force_over_stiffness_along_its_own_axis_whatever_the_mass(axis: int, mass: float) -> None:
    run = pushed(axis, 10.0, 4.0 if mass < 50 else 16.0, law(mass=mass, damping=max(100.0, 2 * np.sqrt(250.0 * mass))))
    assert rest(run.records)[axis] == pytest.approx(40.0, rel=0.005)
    assert np.abs(moved(run.records)[-200:, 1 - axis]).max() < 0.1


@pytest.mark.parametrize("form", ["shaped", "simple"])
def test_a_virtual_push_and_a_real_one_deflect_alike(form: str) -> None:
    force = (6.0, -8.0, 0.0, 0.0, 0.0, 0.0)
    real = simulate(lab_task(4.0, law(form=form), pushes=(push(0, 6.0), push(1, -8.0))))
    told = simulate(lab_task(4.0, law(form=form), events=(Event(at_s=0.5, virtual_push=force),)))
    for run in (real, told):
        assert_allclose(rest(run.records), [24.0, -32.0], rtol=0.005)


def test_without_taking_the_push_off_the_joints_it_counts_twice() -> None:
    for axis, wrong in ((0, 43.93), (1, 59.83)):
        run = pushed(axis, 10.0, 5.0, law(cancel_force=False))
        assert rest(run.records)[axis] == pytest.approx(wrong, abs=0.02)
        assert abs(rest(run.records)[1 - axis]) > 1.0


@pytest.mark.parametrize(("mass", "damping"), [(1.0, 100.0), (1.0, 10.0), (100.0, 100.0)])
def test_a_step_response_shows_the_damping_ratio(mass: float, damping: float) -> None:
    records = pushed(0, 10.0, 5.0 if mass == 1.0 else 25.0, law(mass, damping)).records
    found = damping_ratio(records["time_s"][500:], moved(records)[500:, 0], 40.0)
    assert found == pytest.approx(damping / (2 * np.sqrt(250.0 * mass)), rel=0.02)


def test_our_law_agrees_with_the_closed_form_one_where_nothing_is_singular() -> None:
    task = lab_task(1.5, law(damping=20.0), pushes=(push(0, -10.0, 0.1), push(1, 8.0, 0.1, 0.5)))
    trace = run_bare(BareLaw(damping=20.0), 1.5, sim=task.sim)
    records = simulate(task).records
    assert np.ptp(moved(records)[:, 0]) > 40.0
    assert np.abs(trace.place - records["observed"]["pose"][:, :2]).max() < 5e-4  # one takes its steps as they begin


def test_a_goal_that_moves_is_followed_without_lag_when_its_motion_is_told() -> None:
    way = circle(0.15, 0.5)
    records = run_along(lab_task(5.0), way)
    wanted = np.array([way(t)[0] for t in records["time_s"]])
    assert np.linalg.norm(records["observed"]["pose"][:, :2] - wanted, axis=1).max() < 5e-4


def test_without_gravity_compensation_the_spring_carries_the_weight() -> None:
    run = simulate(lab_task(6.0, law(stiffness=2000.0, damping=400.0, cancel_gravity=False)))
    arm, q = Arm.load("two_link"), run.records["reading"]["q"][-1, :2]
    sag = run.records["observed"]["pose"][-1, :2] - X0
    # at rest M J⁻¹ M_d⁻¹ (-K e) = g(q)
    Mq, J = arm.mass_matrix(q), arm.jacobian(q)[:2]
    assert_allclose(Mq @ np.linalg.solve(J, -2000.0 * sag), arm.bias(q, np.zeros(2)), rtol=1e-3)


# ---- six and seven joints ------------------------------------------------------------------------------------------


def arm_task(robot: str, seconds: float, pushes: tuple[Push, ...] = (), **more: Any) -> Task:
    section = Impedance.model_validate(more.pop("impedance", {}))
    sim = SimConfig(pushes=pushes, sensor=more.pop("sensor", Sensor()), servo=Servo(delay_s=0.002))
    return Task(
        robot=robot, law="impedance", interface="torque", duration_s=seconds, sim=sim,
        params=Parameters(sense=FREE, impedance=section), **more,
    )  # fmt: skip


@pytest.mark.parametrize("form", ["shaped", "simple"])
@pytest.mark.parametrize("arm", ["sim:ur5e", f"sim:{SEVEN}"])
def test_a_push_on_a_larger_arm_deflects_by_force_over_stiffness(arm: str, form: str) -> None:
    start = {"start_q": BENT} if "seven" in arm else {"tool": TOOL}
    pushes = (Push(at_s=0.3, for_s=100.0, wrench=(12.0, -8.0, 10.0, 0.0, 0.0, 0.0)),)
    records = simulate(arm_task(arm, 4.0, pushes, impedance={"form": form}, **start)).records
    way = records["observed"]["pose"][-300:, :3].mean(axis=0) - records["observed"]["pose"][0, :3]
    assert_allclose(way, np.array([12.0, -8.0, 10.0]) / 200.0, atol=5e-4)


def test_a_moment_turns_the_tool_by_moment_over_stiffness_about_its_own_axis() -> None:
    moment = np.array([2.0, -3.0, 1.0])
    pushes = (Push(at_s=0.3, for_s=100.0, wrench=(0.0, 0.0, 0.0, *moment.tolist())),)
    records = simulate(arm_task("sim:ur5e", 4.0, pushes, tool=TOOL)).records
    first, last = (Rotation.from_quat(records["observed"]["pose"][i, [4, 5, 6, 3]]) for i in (0, -1))
    assert_allclose((last * first.inv()).as_rotvec(), moment / 20.0, atol=2e-3)


def test_a_turn_of_150_degrees_takes_the_short_way_and_arrives() -> None:
    task = arm_task("sim:ur5e", 8.0, tool=TOOL, impedance={"damping_ratio": (1.0,) * 6})
    simulation = Simulation(task)
    pose = simulation.runner.controller.goal[0].pose.copy()
    axis = Rotation.from_quat(pose[[4, 5, 6, 3]]).apply([0.0, 0.0, 1.0])  # about the tool's own axis: within reach
    turned = Rotation.from_rotvec(np.radians(150) * axis) * Rotation.from_quat(pose[[4, 5, 6, 3]])
    simulation.advance(50)
    simulation.runner.controller.goal[0].pose[3:] = turned.as_quat()[[3, 0, 1, 2]]
    records = simulation.advance(3950)
    last = Rotation.from_quat(records["observed"]["pose"][-1, [4, 5, 6, 3]])
    assert (last * turned.inv()).magnitude() < 0.005
    way = np.abs(records["reading"]["q"][:, 5] - records["reading"]["q"][0, 5]).max()
    assert way < np.radians(155)


@pytest.mark.parametrize("form", ["shaped", "simple"])
def test_a_new_posture_moves_the_seventh_joint_but_not_the_tool(form: str) -> None:
    other = (0.6, 0.5, -0.3, 1.2, 0.3, 0.8, 0.0)
    events = (Event(at_s=0.2, goal_q=other),)
    task = arm_task(f"sim:{SEVEN}", 5.0, start_q=BENT, events=events, impedance={"form": form})
    records = simulate(task).records
    pose, q = records["observed"]["pose"], records["reading"]["q"][:, :7]
    assert np.abs(q[-1] - q[0]).max() > 0.2
    assert np.linalg.norm(pose[:, :3] - pose[0, :3], axis=1).max() < 1.5e-3
    gap = lambda row: np.linalg.norm(row - np.array(other))  # noqa: E731
    assert gap(q[-1]) < gap(q[0])


# ---- gains that change ---------------------------------------------------------------------------------------------


def test_a_stiffer_spring_under_load_injects_no_more_than_the_tank_holds_before_the_damper_took_as_much() -> None:
    stiffer = Event(at_s=2.0, set={"impedance.stiffness": diagonal(1000.0, 0.0)})
    run = simulate(lab_task(5.0, law(stiffness=100.0), pushes=(push(0, 5.0),), events=(stiffer,)))
    state, v = run.records["state"], run.records["observed"]["twist"]
    after = run.records["time_s"] > 2.0 - 1e-6
    assert state["injected_j"][-1] > 0
    dissipated = np.cumsum(100.0 * (v[:, :2] ** 2).sum(axis=1)) * 0.001
    ahead = state["injected_j"] - np.where(after, dissipated - dissipated[~after][-1], 0.0)
    assert ahead.max() <= Impedance().tank_j + 1e-9
    assert TELEMETRY.dtype == run.records.dtype
