"""The simulated base: one `command(v, omega)`, planar or on wheels, and what tells the two apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Base as BaseLimits
from pliant.mobile.base.drive_model import Odometry, SlipDetector, limited, limits_record
from pliant.mobile.whole_body.body_config import BodySimConfig, Drive
from pliant.mobile.whole_body.body_world import body_scene_model
from pliant.mobile.whole_body.mobile_arm import Chassis
from pliant.mobile.whole_body.simulated_body import SimBody
from pliant.model.tool import Tool
from pliant.records import BASE, COMMAND, POSITION, READING
from pliant.world.world_config import Sensor, Surface
from pliant_experiments.mobile.mission_faults import Faulty, no_number
from pliant_experiments.mobile.mission_runs import Witness

DT = 0.002
SILENT = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)
BOTH = pytest.mark.parametrize("wheels", [False, True], ids=["planar", "wheels"])


class Cell:
    """A robot whose arm holds still, and its records."""

    def __init__(self, start: tuple[float, ...] = (), tool: Tool | None = None, **config: Any) -> None:
        self.robot = SimBody(tool=tool, config=BodySimConfig(sensor=SILENT, **config), dt=DT, start_q=start)
        self.reading, self.base, self.command = READING.new(), BASE.new(), COMMAND.new()
        self.robot.read(self.reading, self.base)
        self.command[0].mode = POSITION
        self.command[0].q[:] = self.reading[0].q
        self.odometry = Odometry(self.robot.base, self.base[0].pose)
        self.odometry.update(*self.base[0].wheels)
        self.limits, self.twist = limits_record(self.robot.base, BaseLimits()), np.zeros(2)

    def towards(self, v: float, omega: float) -> Any:
        """The next command on the way to (v, omega) that keeps to the limits."""
        limited(self.limits[0], self.twist, np.array((v, omega)), DT, self.twist)
        return self.twist

    def step(self, v: float = 0.0, omega: float = 0.0) -> Any:
        self.robot.command(v, omega)
        self.robot.write(self.command)
        self.robot.read(self.reading, self.base)
        self.odometry.update(*self.base[0].wheels)
        return self.base[0]


@BOTH
def test_a_base_drives_the_arc_that_it_is_told(wheels: bool) -> None:
    cell, pose = Cell(wheels=wheels), np.zeros(3)
    for i in range(2500):
        v, omega = cell.towards(0.5, 0.6) if i < 1500 else cell.towards(-0.2 if i < 2000 else 0.0, 0.0)
        along_arc(pose, v, omega, DT, pose)
        cell.step(v, omega)
    base = cell.base[0]
    assert np.hypot(*(base.pose - pose)[:2]) < 0.003
    assert math.remainder(base.pose[2] - pose[2], 2 * math.pi) == pytest.approx(0.0, abs=0.003)
    assert np.hypot(*(base.pose - cell.odometry.pose)[:2]) < 0.003


@BOTH
def test_where_the_base_really_is_is_what_it_reads(wheels: bool) -> None:
    cell = Cell((1.0, 2.0, 0.5, *SimBody().arm.q_home), wheels=wheels)
    np.testing.assert_allclose(cell.robot.base_pose(), (1.0, 2.0, 0.5), atol=1e-3)
    for _ in range(300):
        cell.step(*cell.towards(0.4, 0.8))
    np.testing.assert_array_equal(cell.robot.base_pose(), cell.base[0].pose)


def test_a_witness_sees_where_the_base_is_though_the_robot_says_no_number() -> None:
    cell = Cell((1.0, 2.0, 0.5, *SimBody().arm.q_home))
    mission: Any = None
    witness = Witness(lambda robot: Faulty(robot, 0.0, no_number))
    witness.between(cell.robot).read(cell.reading, cell.base)
    witness.meanwhile(mission, 0.0)
    assert np.isnan(cell.base[0].pose).all()
    np.testing.assert_allclose(witness.base, [(1.0, 2.0, 0.5)], atol=1e-6)


@BOTH
def test_a_full_turn_on_the_spot_ends_where_it_began(wheels: bool) -> None:
    cell = Cell(wheels=wheels)
    turned = 0.0
    while turned < 2 * math.pi:
        v, omega = cell.towards(0.0, 1.0)
        turned += omega * DT
        cell.step(v, omega)
    for _ in range(1000):
        v, omega = cell.towards(0.0, 0.0)
        turned += omega * DT
        cell.step(v, omega)
    base = cell.base[0]
    assert np.hypot(*base.pose[:2]) < 0.002
    assert math.remainder(base.pose[2] - turned, 2 * math.pi) == pytest.approx(0.0, abs=0.005)


@BOTH
def test_a_command_takes_effect_with_the_declared_lag(wheels: bool) -> None:
    cell = Cell(wheels=wheels, drive=Drive(lag_s=0.1))
    speeds = [float(cell.step(0.05, 0.0).twist[0]) for _ in range(200)]
    assert speeds[49] == pytest.approx(0.05 * (1 - math.exp(-1)), rel=0.05)
    assert speeds[-1] == pytest.approx(0.05, rel=0.05)


def test_a_sideways_push_turns_a_wheeled_base_and_a_planar_one_hides_it() -> None:
    turns, slipped = {}, {}
    for wheels in (False, True):
        cell, slip = Cell(wheels=wheels), SlipDetector()
        cell.robot.push((0.0, 120.0, 0.0, 0.0, 0.0, 0.0), 1.0)
        slipped[wheels] = False
        for i in range(700):
            base = cell.step()
            slipped[wheels] |= slip.update(i * DT, cell.odometry.pose, base.pose).slipping
        turns[wheels] = abs(math.degrees(cell.base[0].pose[2]))
    assert turns[False] < 8.0
    assert turns[True] > 30.0
    assert slipped == {False: False, True: True}


@BOTH
def test_the_arm_holds_its_joints_while_the_base_drives(wheels: bool) -> None:
    cell = Cell(wheels=wheels)
    for _ in range(500):
        cell.step(*cell.towards(0.6, 0.5))
        assert np.abs(cell.reading[0].q - cell.command[0].q).max() < 2e-3


def test_a_push_up_reads_as_up_and_a_wall_pushes_back() -> None:
    start = (0.0, 0.0, 0.0, *SimBody().arm.q_home)
    tool = Tool(tip_radius_m=0.01)
    cell = Cell(start, tool, wheels=True)
    cell.robot.push((0.0, 0.0, 20.0, 0.0, 0.0, 0.0), 1.0)
    for _ in range(300):
        cell.step()
    # the tool points down: up in the world is -z of the sensor
    assert cell.reading[0].wrench[2] == pytest.approx(-20.0, abs=0.5)
    height = float(cell.robot.tool_pose()[2])
    below = Surface(position_m=(0.0, 0.0, height - 0.009), stiffness_n_m=1e4)
    cell = Cell(start, tool, surfaces=(below,))
    for _ in range(300):
        cell.step()
    assert cell.robot.world.record[0].contact_force[2] == pytest.approx(10.0, rel=0.1)


def test_stop_brings_arm_and_base_to_rest() -> None:
    cell = Cell()
    for _ in range(250):
        cell.step(0.3, 0.2)
    cell.robot.stop()
    for _ in range(500):
        cell.step(0.3, 0.2)
    assert np.abs(cell.base[0].twist).max() < 1e-3


def test_a_command_that_is_no_number_stands_for_standing() -> None:
    cell = Cell()
    for _ in range(250):
        cell.step(math.nan, 1.0)
    assert np.abs(cell.base[0].pose).max() < 1e-6


def test_the_same_seed_gives_the_same_run() -> None:
    ends = []
    for _ in range(2):
        cell = Cell(wheels=True)
        for _ in range(200):
            cell.step(0.3, 0.2)
        ends.append((cell.base.tobytes(), cell.reading.tobytes()))
    assert ends[0] == ends[1]


def test_the_scene_to_draw_has_the_joints_of_base_and_arm_and_shapes_for_both() -> None:
    model = body_scene_model(Chassis(), "ur5e", Tool(), BodySimConfig())
    assert model.nq == 9
    assert {int(model.body(name).geomnum[0]) > 0 for name in ("mobile_base", "arm/forearm")} == {True}


@pytest.mark.parametrize("start", [(0.0,) * 6, (math.nan,) * 9, (0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0)])
def test_a_start_that_cannot_be_is_refused_by_name(start: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="start_q is"):
        SimBody(start_q=start)
