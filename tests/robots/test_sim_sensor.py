"""The simulated force sensor: signs, weight, noise, steps, range, drop-outs, each as declared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from pliant.model import Tool
from pliant.records import COMMAND, POSITION, READING, WRENCH_MISSING, WRENCH_OK, WRENCH_SATURATED
from pliant.robots.simulated import SimRobot
from pliant.world.world_config import Sensor, SimConfig

Array = np.ndarray[Any, Any]
DT = 0.002
TOOL = Tool(
    mass_kg=1.2, com_m=(0.01, -0.02, 0.05), inertia_kg_m2=(2e-3, 2e-3, 1e-3), tcp_m=(0.03, 0.0, 0.12),
    sensor_m=(0.0, 0.0, 0.02), sensor_quat=(math.cos(0.3), 0, 0, math.sin(0.3)),
)  # fmt: skip
QUIET = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)


class Watched:
    """A UR5e that holds still (or swings) while its sensor is read."""

    def __init__(self, sensor: Sensor = QUIET, tool: Tool = TOOL, q: Any = (), seed: int = 0) -> None:
        self.robot = SimRobot("ur5e", tool, SimConfig(seed=seed, sensor=sensor), DT, q)
        self.arm, self.command = self.robot.arm, COMMAND.new()
        self.q = np.array(q) if len(q) else self.arm.q_home
        self.command[0].mode, self.command[0].q[:6] = POSITION, self.q

    def readings(self, ticks: int) -> Array:
        rows, reading = READING.new(ticks), READING.new()
        for i in range(ticks):
            self.robot.read(reading)
            rows[i] = reading[0]
            self.robot.write(self.command)
        return rows

    def expected(self, push: Any = (0,) * 6, q: Any = None) -> Array:
        """What weight and a push (base axes, at the tool) put on the sensor, from the pose, by plain vectors."""
        q = self.q if q is None else q
        X_S, X_T = self.arm.sensor_pose(q), self.arm.pose(q)
        R, push = Rotation.from_quat(X_S[3:], scalar_first=True).as_matrix(), np.asarray(push, float)
        weight = R.T @ (self.arm.tool.mass_kg * self.arm.gravity)
        force = R.T @ push[:3]
        moment = R.T @ (push[3:] + np.cross(X_T[:3] - X_S[:3], push[:3]))
        return np.concatenate([force + weight, moment + np.cross(self.arm.tool.com_in_sensor_m, weight)])


# ---- what it measures ----------------------------------------------------------------------------------------------


def test_it_feels_the_tool_that_is_mounted_not_the_one_that_is_believed() -> None:
    believed = Tool(mass_kg=0.3, tcp_m=TOOL.tcp_m)
    robot = SimRobot("ur5e", believed, SimConfig(sensor=QUIET, tool=TOOL), DT)
    assert robot.arm.tool == believed
    reading = READING.new()
    robot.read(reading)
    assert_allclose(reading[0].wrench, Watched().expected(), atol=1e-6)


@pytest.mark.parametrize("axis", range(6))
@pytest.mark.parametrize("sign", [1, -1])
def test_an_outside_push_reads_as_that_push_in_sensor_axes(axis: int, sign: int) -> None:
    watched, push = Watched(), np.zeros(6)
    push[axis] = sign * (20.0 if axis < 3 else 2.0)
    watched.robot.push(push, 10.0)
    last = watched.readings(500)[-1]
    assert_allclose(last["wrench"], watched.expected(push, last["q"][:6]), atol=1e-6)


def test_a_push_up_against_a_sensor_that_looks_down_reads_minus_z_there_and_plus_z_in_the_base() -> None:
    watched = Watched(tool=Tool())
    watched.robot.push([0, 0, 10.0, 0, 0, 0], 10.0)
    found = watched.readings(500)[-1]["wrench"]
    assert found[2] == pytest.approx(-10.0, abs=1e-3)
    R = Rotation.from_quat(watched.arm.sensor_pose(watched.q)[3:], scalar_first=True).as_matrix()
    assert_allclose(R @ found[:3], (0, 0, 10.0), atol=1e-2)


def test_the_weight_of_the_tool_is_felt_in_every_pose() -> None:
    for q in np.random.default_rng(1).uniform(-2, 2, (20, 6)):
        watched = Watched(q=tuple(q))
        rows = watched.readings(20)
        assert_allclose(rows["wrench"], np.tile(watched.expected(), (20, 1)), atol=1e-8)


def test_the_inertia_of_the_tool_is_felt() -> None:
    watched = Watched()
    centre, felt = [], []
    reading = READING.new()
    for i in range(1000):
        watched.robot.read(reading)
        X = watched.arm.sensor_pose(reading[0].q[:6])
        R = Rotation.from_quat(X[3:], scalar_first=True).as_matrix()
        centre.append(X[:3] + R @ watched.arm.tool.com_in_sensor_m)
        felt.append(R @ reading[0].wrench[:3] - TOOL.mass_kg * watched.arm.gravity)
        watched.command[0].q[0] = watched.q[0] + 0.15 * (1 - math.cos(2 * math.pi * i * DT))
        watched.robot.write(watched.command)
    acceleration = np.gradient(np.gradient(np.array(centre), DT, axis=0), DT, axis=0)[400:900]
    force = -TOOL.mass_kg * acceleration
    assert np.abs(force).max() > 2.0
    assert_allclose(np.array(felt)[400:900], force, atol=0.05)


# ---- what it adds --------------------------------------------------------------------------------------------------


def test_noise_and_bias_are_as_declared_and_channels_are_independent() -> None:
    bias = (1.0, -2.0, 3.0, 0.1, 0.2, -0.3)
    sensor = Sensor(noise_n=0.3, noise_nm=0.02, step_n=0.0, step_nm=0.0, bias=bias)
    watched = Watched(sensor, seed=3)
    error = watched.readings(10000)["wrench"] - watched.expected()
    assert_allclose(error.mean(0), bias, atol=0.015)
    assert_allclose(error.std(0), [0.3] * 3 + [0.02] * 3, rtol=0.03)
    assert np.abs(np.corrcoef(error.T) - np.eye(6)).max() < 0.05
    for lag in (1, 2, 3):
        for channel in error.T:
            assert abs(np.corrcoef(channel[:-lag], channel[lag:])[0, 1]) < 0.05


def test_readings_lie_on_the_declared_steps_and_are_rounded_to_the_nearest() -> None:
    steps = np.array([0.5] * 3 + [0.05] * 3)
    watched = Watched(Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.5, step_nm=0.05))
    found = watched.readings(5)["wrench"][-1]
    assert_allclose(found, np.floor(watched.expected() / steps + 0.5) * steps, atol=1e-12)
    assert np.abs(found - watched.expected()).max() > 0.01


# ---- how it fails --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", range(6))
@pytest.mark.parametrize("sign", [1, -1])
def test_beyond_its_range_a_reading_stays_at_the_end_and_is_marked(axis: int, sign: int) -> None:
    sensor = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0, range_n=30.0, range_nm=2.0)
    watched, push = Watched(sensor, Tool()), np.zeros(6)
    assert (watched.readings(10)["wrench_state"] == WRENCH_OK).all()
    push[axis] = sign * (100.0 if axis < 3 else 5.0)
    watched.robot.push(push, 10.0)
    last = watched.readings(300)[-1]
    assert last["wrench_state"] == WRENCH_SATURATED
    ends = np.array([30.0] * 3 + [2.0] * 3)
    assert (np.abs(last["wrench"]) <= ends).all()
    assert (np.abs(last["wrench"]) == ends).any()


def test_a_reading_within_its_range_is_not_marked() -> None:
    watched = Watched(Sensor(range_n=30.0), Tool())
    watched.robot.push([20.0, 0, 0, 0, 0, 0], 10.0)
    assert (watched.readings(300)["wrench_state"] == WRENCH_OK).all()


def test_a_dropout_repeats_the_last_value_and_its_stamp() -> None:
    rows = Watched(Sensor(dropout=0.3), seed=5).readings(3000)
    missing = rows["wrench_state"] == WRENCH_MISSING
    assert 0.27 < missing.mean() < 0.33
    again = np.flatnonzero(missing[1:]) + 1
    assert_array_equal(rows["wrench"][again], rows["wrench"][again - 1])
    assert_array_equal(rows["wrench_stamp_s"][again], rows["wrench_stamp_s"][again - 1])
    assert_array_equal(rows["wrench_stamp_s"][~missing], rows["stamp_s"][~missing])
    fresh = np.flatnonzero(~missing[1:]) + 1
    assert (rows["wrench"][fresh] != rows["wrench"][fresh - 1]).any(1).all()


def test_a_sensor_that_never_answers_shows_its_first_value_for_ever() -> None:
    rows = Watched(Sensor(dropout=1.0)).readings(50)
    assert (rows["wrench_state"] == WRENCH_MISSING).all()
    assert_array_equal(rows["wrench_stamp_s"], 0.0)
    assert np.ptp(rows["wrench"], axis=0).max() == 0.0


def test_dropouts_do_not_shift_the_noise_of_the_readings_that_come_through() -> None:
    every = Watched(Sensor(), seed=9).readings(500)
    some = Watched(Sensor(dropout=0.5), seed=9).readings(500)
    through = some["wrench_state"] == WRENCH_OK
    assert_array_equal(some["wrench"][through], every["wrench"][through])


def test_joint_readings_are_exact_and_of_this_instant() -> None:
    watched = Watched()
    watched.command[0].q[:6] += 0.05
    reading = READING.new()
    for _ in range(50):
        watched.robot.write(watched.command)
    watched.robot.read(reading)
    assert_array_equal(reading[0].q[:6], watched.robot.world.data.qpos)
    assert_array_equal(reading[0].qd[:6], watched.robot.world.data.qvel)
    assert reading[0].stamp_s == pytest.approx(50 * DT)
