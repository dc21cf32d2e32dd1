"""What the tick sends by position, velocity and torque, and what a simulated robot makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from ideal_cell import INTERFACES, TOOL, moving
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.parameters import Parameters
from pliant.records import (
    LIMIT_TORQUE,
    MODES,
)
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Event, Task
from pliant.world.world_config import Push, SimConfig

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
    q = cell.reading.q[:6]
    cell.place(q - np.copysign(2.0, q), cell.reading.qd[:6])
    cell.tick(follow=False)
    assert_allclose(np.abs(cell.command.qd[:6]), Parameters().limits.speed_scale * cell.arm.v_max)


def test_torque_commands_are_computed_torques() -> None:
    cell, random = moving("torque"), np.random.default_rng(4)
    cell.controller.parameters[0].limits.torque_rise_s = 1e-6  # these joints jump, and so must the torques
    for _ in range(20):
        away, faster = random.normal(size=(2, 6))
        cell.place(cell.state.q_cmd[:6] + 0.01 * away, cell.state.qd_cmd[:6] + 0.1 * faster)
        q, qd, J = cell.reading.q[:6].copy(), cell.reading.qd[:6].copy(), cell.arm.jacobian(cell.reading.q[:6])
        cell.tick(follow=False)
        omega = 2 * np.pi * Parameters().joint_loop.frequency_hz
        wanted = omega**2 * (cell.state.q_cmd[:6] - q) + 2 * omega * (cell.state.qd_cmd[:6] - qd)
        # a push that the law has answered must not push a second time
        tau = cell.arm.mass_matrix(q) @ wanted + cell.arm.bias(q, qd) - J.T @ cell.state.wrench_lp
        tau += cell.arm.handle["damping"][0, :6] * qd
        assert_allclose(cell.command.tau[:6], np.clip(tau, -cell.arm.tau_max, cell.arm.tau_max), atol=1e-9)


def test_torque_commands_stay_within_the_drives_and_say_so() -> None:
    cell = moving("torque")
    q = cell.reading.q[:6]
    cell.place(q - np.copysign(2.0, q), cell.reading.qd[:6])
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
