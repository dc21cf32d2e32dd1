"""The program on the emulated controller: registers, watchdog, arm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.model.tool import Tool
from pliant.robots.emulator.emulated_arm import DT, EmulatedArm
from pliant.robots.emulator.emulated_controller import Controller
from pliant.robots.emulator.emulated_faults import Fault
from pliant.robots.emulator.urscript_program import (
    DONE,
    END,
    IS_STEADY,
    KICK,
    PAYLOAD,
    READY,
    SERVO_J,
    SET_TCP,
    SPEED_J,
    TORQUE,
    WATCHDOG,
    ZERO_FORCE,
)
from pliant.robots.ur.controller_status import trouble
from pliant.robots.ur.rtde import Version
from pliant.world.world_config import Push, Sensor, SimConfig

TOOL = Tool(mass_kg=0.8, com_m=(0.0, 0.01, 0.06), tcp_m=(0.0, 0.0, 0.15))
QUIET = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)


def controller(*faults: Fault, tool: Tool = TOOL, version: Version = (5, 26, 0, 0), **config: Any) -> Controller:
    arm = EmulatedArm("ur5e", tool, SimConfig(sensor=QUIET, **config))
    made = Controller(arm, "ur5e", version, faults)
    made.program.start()
    return made


def say(made: Controller, command: int, *doubles: float) -> None:
    values = {f"input_double_register_{i}": value for i, value in enumerate(doubles)}
    made.program.receive({"input_int_register_0": command, **values}, made.now)


def run(made: Controller, seconds: float) -> None:
    for _ in range(round(seconds / DT)):
        made.step()


def with_tool(made: Controller) -> Controller:
    say(made, PAYLOAD, 0.8, 0.0, 0.01, 0.06)
    say(made, KICK)
    say(made, SET_TCP, 0.0, 0.0, 0.15, 0.0, 0.0, 0.0, 0.0, 0.0)
    say(made, KICK)
    return made


def test_a_command_is_done_once_and_ready_again_when_it_is_cleared() -> None:
    made = controller()
    say(made, PAYLOAD, 0.8, 0.0, 0.0, 0.06)
    assert made.program.ready == DONE
    say(made, PAYLOAD, 9.9, 0.0, 0.0, 0.0)  # the client still shows it: it is not done twice
    assert made.arm.mass == 0.8
    say(made, KICK)
    assert made.program.ready == READY


def test_servo_moves_the_joints_to_where_they_were_sent() -> None:
    made = controller()
    goal = made.arm.q + np.array([0.05, 0.0, 0.02, 0.0, 0.0, -0.03])
    say(made, SERVO_J, *goal)
    run(made, 1.0)
    assert made.arm.q == pytest.approx(goal, abs=1e-4)


def test_speed_is_reached_by_a_ramp_and_repeats_for_ever_without_a_watchdog() -> None:
    made = controller()
    say(made, SPEED_J, 0.2, 0, 0, 0, 0, 0, 1.0)
    run(made, 0.1)
    assert 0.0 < made.arm.qd[0] < 0.15  # 0.2 s at 1 rad/s², behind a servo
    run(made, 2.0)
    assert made.arm.qd[0] == pytest.approx(0.2, abs=0.01)


def test_the_watchdog_stops_the_program_and_the_arm_when_commands_cease() -> None:
    made = controller()
    say(made, WATCHDOG, 10.0)
    say(made, KICK)
    for _ in range(100):
        say(made, SPEED_J, 0.2, 0, 0, 0, 0, 0, 10.0)
        made.step()
    assert made.program.plays
    began = made.now
    while made.program.plays:
        made.step()
    assert made.now - began == pytest.approx(0.1, abs=2 * DT)
    assert "watchdog" in made.program.why
    run(made, 0.5)
    assert np.abs(made.arm.qd).max() < 1e-3


def test_any_command_and_a_kick_keep_the_watchdog_quiet() -> None:
    made = controller()
    say(made, WATCHDOG, 10.0)
    for _ in range(5):
        run(made, 0.08)
        say(made, KICK)
    assert made.program.plays


def test_payload_and_tool_point_turn_the_sensor_into_the_force_of_the_environment() -> None:
    made = controller()
    run(made, 0.1)
    assert made.arm.tcp_force()[2] == pytest.approx(-0.8 * 9.81, abs=0.02)  # nobody has told it of the tool
    with_tool(made)
    run(made, 0.1)
    assert made.arm.tcp_force() == pytest.approx((0,) * 6, abs=0.01)
    made.arm.push((0, 0, 10.0, 0, 0, 0), 1.0)
    run(made, 0.5)
    assert made.arm.tcp_force() == pytest.approx((0, 0, 10.0, 0, 0, 0), abs=0.05)


def test_zeroing_makes_the_present_force_nothing() -> None:
    made = controller()
    run(made, 0.1)
    say(made, ZERO_FORCE)
    made.step()
    assert made.arm.tcp_force() == pytest.approx((0,) * 6, abs=0.01)


def test_torques_hold_the_arm_when_the_payload_is_right_and_push_it_otherwise() -> None:
    made = with_tool(controller())
    q = made.arm.q.copy()
    for _ in range(100):
        say(made, TORQUE, 0, 0, 0, 0, 0, 0)
        made.step()
    assert made.arm.q == pytest.approx(q, abs=1e-3)
    for _ in range(100):
        say(made, TORQUE, 0, 0, 0, 0, 5.0, 0)
        made.step()
    assert made.arm.q[4] - q[4] > 0.05


def test_torques_end_with_a_command_that_is_none_and_the_arm_holds_its_place() -> None:
    made = with_tool(controller())
    for _ in range(50):
        say(made, TORQUE, 0, 0, 0, 0, 5.0, 0)
        made.step()
    say(made, KICK)
    run(made, 0.5)
    q = made.arm.q.copy()
    run(made, 0.5)
    assert made.arm.is_steady
    assert made.arm.q == pytest.approx(q, abs=1e-3)


@pytest.mark.parametrize("version", [(5, 25, 0, 0), (10, 11, 0, 0)])
def test_a_version_that_is_too_old_takes_torques_and_does_nothing(version: Version) -> None:
    made = with_tool(controller(version=version))
    before = made.arm.q.copy()
    for _ in range(100):
        say(made, TORQUE, 0, 0, 0, 0, 20.0, 0)
        assert made.program.ready == READY
        made.step()
    assert made.arm.q == pytest.approx(before, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "said"),
    [("protective stop", "protective stop"), ("safeguard stop", "safeguard stop"), ("emergency stop", "emergency stop"),
     ("safety stop", "stopped by its safety system")],
)  # fmt: skip
def test_every_stop_of_the_safety_system_is_told_by_its_bits(words: str, said: str) -> None:
    made = controller()
    made.inject(Fault.parse(words))
    made.step()
    assert made.values["safety_status_bits"] >> 10 & 1
    assert said in trouble(made.values["safety_status_bits"], 7)
    assert not made.program.plays


def test_scripted_pushes_begin_with_the_motion_and_not_before() -> None:
    made = with_tool(controller(pushes=(Push(at_s=0.1, for_s=0.2, ramp_s=0.0, wrench=(10, 0, 0, 0, 0, 0)),)))
    run(made, 0.5)
    assert not made.arm.pushed_n.any()
    say(made, SERVO_J, *made.arm.q)
    run(made, 0.2)
    assert made.arm.pushed_n == pytest.approx((10, 0, 0))
    run(made, 0.2)
    assert not made.arm.pushed_n.any()


def test_a_planned_fault_comes_when_its_time_has_come() -> None:
    made = controller(Fault("protective stop", at_s=0.2))
    run(made, 0.5)
    assert made.program.plays
    say(made, SERVO_J, *made.arm.q)
    run(made, 0.15)
    assert made.program.plays
    run(made, 0.1)
    assert not made.program.plays
    assert made.values["safety_status_bits"] == 1 << 2 | 1 << 10
    assert made.values["runtime_state"] == 1


def test_a_steady_arm_says_so_and_an_ended_program_takes_no_more_commands() -> None:
    made = controller()
    say(made, IS_STEADY)
    assert made.program.answer == 1
    say(made, KICK)
    say(made, END)
    assert not made.program.plays
    q = made.arm.q.copy()
    say(made, SERVO_J, *(q + 0.1))
    run(made, 0.2)
    assert made.arm.q == pytest.approx(q, abs=1e-6)
