"""The emulated controller stops itself as a real one would, and claims no success that did not happen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from test_emulated_program import controller, run, say, with_tool

from pliant.robots.emulator.emulated_arm import DT, EmulatedArm
from pliant.robots.emulator.emulated_controller import NORMAL, PROTECTIVE, Controller
from pliant.robots.emulator.emulated_faults import Fault
from pliant.robots.emulator.ports import Client, Server
from pliant.robots.emulator.urscript_program import DONE, END, PAYLOAD, READY, SERVO_J, SPEED_J, TORQUE
from pliant.robots.ur import rtde
from pliant.world.world_config import SimConfig

MOVE_J, FORCE_MODE = 1, 10


@pytest.mark.parametrize("command", [MOVE_J, FORCE_MODE, 24, 99])
def test_a_command_that_is_not_implemented_ends_the_program_and_is_shown(command: int) -> None:
    shown: list[str] = []
    made = controller()
    made._show = shown.append
    say(made, command, *made.arm.q)
    assert not made.program.plays
    assert made.program.ready not in (READY, DONE)
    assert f"does not implement command {command}" in made.program.why
    assert shown == made.messages
    assert shown[0].startswith("Runtime error: the emulator does not implement command")


def test_a_command_that_ends_the_program_is_done() -> None:
    made = controller()
    say(made, END)
    assert (made.program.plays, made.program.ready) == (False, DONE)


@pytest.mark.parametrize("step", [0.5, -3.0, math.nan, math.inf])
def test_a_target_that_jumps_is_a_protective_stop_and_the_arm_stays(step: float) -> None:
    made = controller()
    q = made.arm.q.copy()
    say(made, SERVO_J, *q)
    run(made, 0.1)
    say(made, SERVO_J, q[0] + step, *q[1:])
    run(made, 0.5)
    assert made.safety == PROTECTIVE
    assert "the target of joint 1 jumped by" in made.program.why
    assert np.abs(made.arm.q - q).max() < 1e-3


def fling(made: Controller, joint: int, tau: float, seconds: float) -> float:
    """Torque on one joint until a stop; the fastest joint speed meanwhile and afterwards [rad/s]."""
    fastest = 0.0
    for _ in range(round(seconds / DT)):
        say(made, TORQUE, *(tau * np.eye(6)[joint]))
        made.step()
        fastest = max(fastest, float(np.abs(made.arm.qd).max()))
    return fastest


def test_a_joint_that_torques_make_too_fast_is_a_protective_stop() -> None:
    made = with_tool(controller())
    fastest = fling(made, 5, 10.0, 1.0)
    assert made.safety == PROTECTIVE
    assert "its limit is 3.14 rad/s" in made.program.why
    assert fastest < 1.5 * math.pi
    assert np.abs(made.arm.qd).max() < 0.01


def test_a_joint_that_leaves_its_range_is_a_protective_stop() -> None:
    made = controller()
    for _ in range(4000):
        say(made, SPEED_J, 0, 0, 1.0, 0, 0, 0, 5.0)
        made.step()
        if made.safety != NORMAL:
            break
    assert made.safety == PROTECTIVE
    assert "joint 3 was at 3.14" in made.program.why
    assert "outside its range" in made.program.why


@pytest.mark.parametrize("command", [(SPEED_J, math.nan, 0, 0, 0, 0, 0, 1.0), (TORQUE, 0, math.inf, 0, 0, 0, 0)])
def test_a_command_that_is_not_finite_is_a_protective_stop(command: tuple[Any, ...]) -> None:
    made = with_tool(controller())
    say(made, *command)
    run(made, 0.1)
    assert made.safety == PROTECTIVE
    assert "not finite" in made.program.why
    assert np.isfinite(made.arm.q).all()


def test_ordinary_commands_are_no_protective_stop() -> None:
    made = with_tool(controller())
    q, t = made.arm.q.copy(), 0.0
    for _ in range(1000):
        t += DT
        say(made, SERVO_J, *(q + 0.5 * (1 - math.cos(3.0 * t))))
        made.step()
    assert made.safety == NORMAL


class Line:
    """A connection that is only closed."""

    def close(self) -> None:
        pass


def test_torque_control_ends_when_its_client_dies() -> None:
    made = with_tool(controller())
    server, client = Server(made, "127.0.0.1"), Client(Line(), rtde.PORT)  # pyright: ignore[reportArgumentType]
    client.inputs[1] = (None, None)  # pyright: ignore[reportArgumentType]
    server.clients.append(client)
    for _ in range(50):
        say(made, TORQUE, 0, 0, 0, 0, 2.0, 0)
        made.step()
    assert made.arm.qd[4] > 0.1
    server._drop(client)
    run(made, 0.5)
    assert np.abs(made.arm.qd).max() < 0.01


def test_false_readings_are_reported_and_the_truth_is_kept() -> None:
    arm = EmulatedArm("ur5e", with_tool(controller()).arm._sim.arm.tool, SimConfig())
    made = Controller(arm, "ur5e", (5, 26, 0, 0), (Fault.parse("false speed 2 1e9"), Fault.parse("false stamp")))
    made.step()
    assert made.values["actual_qd"][1] == 1e9
    assert math.isnan(made.values["timestamp"])
    assert np.abs(arm.qd).max() < 1e-3
    made.inject(Fault.parse("clear"))
    made.step()
    assert abs(made.values["actual_qd"][1]) < 1e-3
    made.inject(Fault.parse("false shift 1"))
    made.step()
    assert np.array(made.values["actual_q"]) == pytest.approx(arm.q + 1.0)
    made.inject(Fault.parse("false zeros"))
    made.step()
    assert made.values["actual_q"] == (0.0,) * 6


def test_payload_is_still_accepted() -> None:
    made = controller()
    say(made, PAYLOAD, 1.0, 0, 0, 0)
    assert made.program.ready == DONE
