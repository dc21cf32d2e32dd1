"""The simulated servo: delay, lag, stiffness and torque limits as declared; no ripple; a halt that halts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.errors import InputError, UnknownNameError
from pliant.kernel import floats, kernel, mj_step1, mj_step2
from pliant.model import Tool
from pliant.records import COMMAND, IDLE, MODES, POSITION, READING, TORQUE, VELOCITY
from pliant.robots import open_robot
from pliant.robots.simulated import SimRobot
from pliant.task.schema import Task
from pliant.world.servo import drive, remember, send
from pliant.world.world_config import Push, Sensor, Servo, SimConfig

Array = np.ndarray[Any, Any]
INTERFACES = ("position", "velocity", "torque")
JOINT, STEP = 5, 0.0005


class Driven:
    """A UR5e that is written to and read directly."""

    def __init__(self, interface: str = "position", dt: float = 0.002, **config: Any) -> None:
        self.robot = SimRobot("ur5e", Tool(), SimConfig(**config), dt, interface=interface)
        self.home, self.world, self.dt = self.robot.arm.q_home, self.robot.world.record[0], dt
        self.command, self.reading = COMMAND.new(), READING.new()
        self.command[0].mode = MODES[interface]
        self.command[0].q[:6] = self.home
        self.command[0].tau[:6] = self.robot.arm.bias(self.home, np.zeros(6))
        self.robot.read(self.reading)

    def write(self, times: int = 1) -> Any:
        for _ in range(times):
            self.robot.write(self.command)
        self.robot.read(self.reading)
        return self.reading[0]


def nudge(driven: Driven, by: float = 0.1) -> None:
    """Ask one joint to move, in the words of every interface."""
    driven.command[0].q[JOINT] += by
    driven.command[0].qd[JOINT] += by
    driven.command[0].tau[JOINT] += by


def first_motion(interface: str, delay: float) -> float:
    """When the joint moves for the first time, with a period as short as a physics step."""
    driven = Driven(interface, STEP, servo=Servo(delay_s=delay))
    nudge(driven)
    while abs(driven.write().qd[JOINT]) < 1e-12:
        assert driven.world.time < 1.0
    return float(driven.world.time)


# ---- delay ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("delay", [0.001, 0.004, 0.0125, 0.1])
def test_nothing_moves_before_the_declared_delay_is_over_and_then_it_does(interface: str, delay: float) -> None:
    # a force is felt as a speed one physics step after it acts
    assert first_motion(interface, delay) == pytest.approx(delay + STEP, abs=1e-9)


def test_torques_without_delay_act_at_once() -> None:
    assert first_motion("torque", 0.0) == pytest.approx(STEP)


@pytest.mark.parametrize("rate", [125, 250, 500, 1000])
@pytest.mark.parametrize("delay", [0.002, 0.004, 0.008, 0.03])
def test_a_ramp_of_positions_arrives_late_by_delay_and_filter(rate: int, delay: float) -> None:
    servo, speed = Servo(delay_s=delay, bandwidth_hz=20), 0.5
    driven = Driven("position", 1 / rate, servo=servo)
    for i in range(rate):
        driven.command[0].q[JOINT] = speed * i / rate
        driven.write()
    now = float(driven.reading[0].stamp_s)
    late = now - driven.reading[0].q[JOINT] / speed
    assert late == pytest.approx(max(delay, 1 / rate) + 2 / servo.omega, abs=1e-6)
    assert servo.lag_s == pytest.approx(delay + 2 / servo.omega)


@pytest.mark.parametrize("rate", [125, 500, 1000])
@pytest.mark.parametrize("delay", [0.008, 0.03])
def test_velocities_take_effect_after_the_same_delay(rate: int, delay: float) -> None:
    servo = Servo(delay_s=delay, bandwidth_hz=20)
    driven = Driven("velocity", 1 / rate, servo=servo)
    for i in range(rate):
        driven.command[0].qd[JOINT] = 0.5 * i / rate
        driven.write()
    now, a = float(driven.reading[0].stamp_s), 0.5
    late = now - driven.reading[0].qd[JOINT] / a
    assert late == pytest.approx(delay + 2 / servo.omega, abs=1.01 * STEP)


def test_a_delay_that_does_not_fit_is_refused_with_the_longest_that_does() -> None:
    with pytest.raises(InputError, match=r"sim\.servo\.delay_s is 0\.1.*at most 0\.0255"):
        Driven(substep_s=1e-4, servo=Servo(delay_s=0.1))


# ---- time ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rate", [125, 126, 127, 200, 240, 250, 300, 333, 400, 499, 500, 501, 600, 700, 800, 900, 999, 1000]
)
@pytest.mark.parametrize("substep", [0.0005, 0.00013, 0.001])
def test_physics_steps_divide_the_period(rate: int, substep: float) -> None:
    driven = Driven(dt=1 / rate, substep_s=substep, servo=Servo(delay_s=0.0))
    w = driven.world
    assert w.substeps * w.h == pytest.approx(1 / rate, rel=1e-12)
    assert w.h <= substep * (1 + 1e-9)
    assert w.h > 0.5 * substep or w.substeps == 1
    assert driven.robot.world.model.opt.timestep == w.h
    driven.write(3)
    assert driven.reading[0].stamp_s == pytest.approx(3 / rate, rel=1e-12)
    assert driven.robot.world.data.time == pytest.approx(3 / rate, rel=1e-12)


# ---- following -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bandwidth", [4.0, 6.8, 20.0])
def test_a_swing_at_the_declared_bandwidth_arrives_with_minus_three_decibels(bandwidth: float) -> None:
    driven = Driven("position", 0.001, servo=Servo(bandwidth_hz=bandwidth))
    n = round(4000 / bandwidth)
    times, answers = np.arange(n) * 0.001, np.zeros(n)
    for i in range(n):
        driven.command[0].q[JOINT] = 0.01 * math.sin(2 * math.pi * bandwidth * times[i])
        answers[i] = driven.reading[0].q[JOINT]
        driven.write()
    basis = np.column_stack([np.sin(2 * np.pi * bandwidth * times), np.cos(2 * np.pi * bandwidth * times)])[n // 2 :]
    gain = np.linalg.norm(np.linalg.lstsq(basis, answers[n // 2 :], rcond=None)[0]) / 0.01
    assert 20 * math.log10(gain) == pytest.approx(-3.01, abs=0.15)


def test_a_step_is_followed_without_overshoot() -> None:
    driven, reached = Driven(), []
    driven.command[0].q[JOINT] = 0.03
    for _ in range(500):
        reached.append(driven.write().q[JOINT])
    assert max(reached) <= 0.03 + 1e-9
    assert reached[-1] == pytest.approx(0.03, abs=1e-9)


def test_velocities_add_up_to_the_way_they_ask_for() -> None:
    driven, random, way = Driven("velocity"), np.random.default_rng(1), 0.0
    for _ in range(2000):
        driven.command[0].qd[JOINT] = random.normal()
        way += 0.002 * driven.command[0].qd[JOINT]
        driven.write()
    driven.command[0].qd[JOINT] = 0.0
    driven.write(500)
    assert driven.reading[0].q[JOINT] == pytest.approx(way, abs=5e-3)


@kernel
def _ramp(world, command, joint, speed, out):
    """Ramp one joint; its speed at every physics step of every period."""
    w, c = world[0], command[0]
    q, start = floats(w.qvel, w.n), c.q[joint]
    for k in range(out.shape[0]):
        c.q[joint] = start + speed * k * w.h * w.substeps
        for i in range(w.substeps):
            mj_step1(w.model, w.data)
            send(w, c, i / w.substeps)
            drive(w)
            mj_step2(w.model, w.data)
            w.count += 1
            out[k, i] = q[joint]
        remember(w, c)


@pytest.mark.parametrize("rate", [125, 500])
def test_a_ramp_is_followed_without_ripple_at_the_rate_of_the_loop(rate: int) -> None:
    driven = Driven("position", 1 / rate, servo=Servo(bandwidth_hz=60, delay_s=0.0))
    speeds = np.zeros((rate, int(driven.world.substeps)))
    _ramp(driven.robot.world.record, driven.command, JOINT, 0.5, speeds)
    assert_allclose(speeds[rate // 2 :], 0.5, rtol=1e-9)


# ---- resisting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [10.0, 40.0, 60.0])
def test_a_push_deflects_the_joints_as_far_as_the_declared_stiffness_lets_it(stiffness: float) -> None:
    wrench = np.array([20.0, -10.0, -30.0, 1.0, 2.0, 0.5])
    push = Push.model_validate({"at_s": 0.0, "for_s": 10.0, "ramp_s": 0.2, "wrench": tuple(wrench)})
    driven = Driven(servo=Servo(stiffness_hz=stiffness), pushes=(push,))
    q = driven.write(1500).q[:6]
    arm = driven.robot.arm
    expected = np.linalg.solve(arm.mass_matrix(q), arm.jacobian(q).T @ wrench) / (2 * np.pi * stiffness) ** 2
    assert_allclose(q - driven.home, expected, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("bandwidth", [0.5, 60.0])
@pytest.mark.parametrize("stiffness", [5.0, 60.0])
@pytest.mark.parametrize("substep", [0.0005, 0.001])
def test_every_admissible_servo_settles(bandwidth: float, stiffness: float, substep: float) -> None:
    driven = Driven(dt=0.008, substep_s=substep, servo=Servo(bandwidth_hz=bandwidth, stiffness_hz=stiffness))
    driven.robot.push([5.0, 5.0, -5.0, 0.2, 0.2, 0.2], 0.5)
    driven.command[0].q[:6] = driven.home + 1e-3
    assert_allclose(driven.write(1000).q[:6], driven.home + 1e-3, atol=1e-6)
    assert_allclose(driven.reading[0].qd, 0, atol=1e-6)


def test_a_push_that_ends_leaves_nothing_behind() -> None:
    driven = Driven()
    driven.robot.push([50.0, 0, 0, 0, 0, 0], 0.2)
    assert np.abs(driven.write(50).q[:6] - driven.home).max() > 1e-5
    assert_allclose(driven.write(1000).q[:6], driven.home, atol=1e-9)


@pytest.mark.parametrize("interface", INTERFACES)
def test_no_command_draws_more_torque_than_the_drives_have(interface: str) -> None:
    driven, most = Driven(interface), 0.0
    for sign in (1, -1, 1, -1):
        driven.command[0].q[:6] = driven.home + sign * np.linspace(0.5, 3.0, 6)
        driven.command[0].qd[:6] = sign * 30.0
        driven.command[0].tau[:6] = sign * 1e6
        for _ in range(30):
            share = np.abs(driven.write().tau[:6]) / driven.robot.arm.tau_max
            assert share.max() <= 1.0
            most = max(most, float(share.max()))
    assert most == pytest.approx(1.0)


def test_an_idle_robot_stays_where_it_is() -> None:
    for interface in INTERFACES:
        driven = Driven(interface)
        driven.command[0].mode = IDLE
        driven.command[0].q[:6] = 1.0
        assert_allclose(driven.write(500).q[:6], driven.home, atol=1e-12)


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("after", ["position", "velocity", "torque"])
def test_the_first_command_after_idling_does_not_jerk(interface: str, after: str) -> None:
    driven = Driven(interface)
    driven.command[0].mode = IDLE
    driven.write(5)
    driven.command[0].mode = MODES[after]
    for _ in range(200):
        assert np.abs(driven.write().qd[:6]).max() < 1e-6


def test_a_change_of_interface_in_motion_does_not_jerk() -> None:
    driven, random, mode = Driven(), np.random.default_rng(2), POSITION
    for tick in range(3000):
        if tick % 41 == 0:
            mode = int(random.choice([IDLE, POSITION, VELOCITY, TORQUE]))
        r = driven.reading[0]
        driven.command[0].mode = mode
        driven.command[0].q[:6], driven.command[0].qd[:6] = r.q[:6], 0.0
        driven.command[0].tau[:6] = driven.robot.arm.bias(r.q[:6], r.qd[:6])
        assert np.abs(driven.write().qd[:6]).max() < 1e-3


# ---- halting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_halted_robot_comes_to_rest_and_ignores_commands(interface: str) -> None:
    driven = Driven(interface)
    for _ in range(150):
        driven.command[0].q[JOINT] += 1.0 * driven.dt
        driven.command[0].qd[JOINT] = 1.0
        driven.command[0].tau[JOINT] = 0.5
        driven.write()
    assert abs(driven.reading[0].qd[JOINT]) > 0.5
    driven.robot.stop()
    driven.write(250)
    rest = driven.reading[0].q.copy()
    assert_allclose(driven.reading[0].qd, 0.0, atol=1e-6)
    driven.command[0].q[JOINT] += 1.0
    driven.write(500)
    assert_allclose(driven.reading[0].q, rest, atol=1e-6)


# ---- blowing up ----------------------------------------------------------------------------------------------------


def test_a_simulation_that_blows_up_shows_nan_and_does_not_start_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log where it stands
    driven = Driven("torque", servo=Servo(delay_s=0.0))
    driven.command[0].tau[2] = math.nan
    driven.write(5)
    assert np.isnan(driven.reading[0].q[:6]).all()
    assert np.isnan(driven.reading[0].wrench).any()


# ---- at the door ---------------------------------------------------------------------------------------------------


def test_a_start_outside_the_joint_ranges_is_refused() -> None:
    with pytest.raises(InputError, match="start_q"):
        SimRobot("ur5e", Tool(), SimConfig(), 0.002, (0.0, 0.0, 3.5, 0.0, 0.0, 0.0))
    with pytest.raises(InputError, match=r"start_q has 2 values, but ur5e has 6 joints\."):
        SimRobot("ur5e", Tool(), SimConfig(), 0.002, (0.0, 0.0))


@pytest.mark.parametrize("address", ["ur5e", "sim:", ":ur5e", ""])
def test_an_address_that_is_not_kind_and_which_is_refused(address: str) -> None:
    with pytest.raises((InputError, UnknownNameError)):
        open_robot(address, Task())


def test_an_unknown_kind_of_robot_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown kind of robot 'rael'.*Known: .*sim"):
        open_robot("rael:ur5e", Task())


def test_it_starts_at_rest_where_it_is_told_to() -> None:
    q = (0.1, -1.2, 1.3, -0.4, 0.5, 0.6)
    robot = SimRobot("ur5e", Tool(mass_kg=1.0, com_m=(0, 0, 0.05)), SimConfig(sensor=Sensor()), 0.002, q)
    command, reading = COMMAND.new(), READING.new()
    robot.read(reading)
    assert_array_equal(reading[0].q[:6], q)
    assert_array_equal(reading[0].qd, 0.0)
    assert_allclose(reading[0].tau[:6], robot.arm.bias(q, np.zeros(6)), atol=1e-9)
    command[0].mode, command[0].q[:6] = POSITION, q
    for _ in range(100):
        robot.write(command)
    robot.read(reading)
    assert_allclose(reading[0].q[:6], q, atol=1e-12)
