"""Scenes for an arm on a mobile base: a path to follow, a wall to slide along, a push to withstand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.parameters import Admittance, Parameters, Sense, diagonal
from pliant.control.telemetry import TELEMETRY
from pliant.mobile.base.drive_model import Odometry, SlipDetector
from pliant.mobile.whole_body.body_config import BodySimConfig
from pliant.mobile.whole_body.body_params import WholeBody
from pliant.mobile.whole_body.closed_loop import BodyLoop, BodySettings, Lags
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.mobile.whole_body.pose_ik import PoseSearch
from pliant.mobile.whole_body.simulated_body import SimBody
from pliant.model.tool import Tool
from pliant.records import BASE, COMMAND, POSITION, READING
from pliant.world.world_config import Push, Surface

Array = np.ndarray[Any, Any]
Progress = Callable[[float], None]

DT = 0.002


def started(t: float, over_s: float) -> tuple[float, float]:
    """Distance and speed of a ramp to speed 1 within `over_s` [s], with continuous acceleration."""
    if t <= 0.0:
        return 0.0, 0.0
    if t >= over_s:
        return t - 0.5 * over_s, 1.0
    s = t / over_s
    return over_s * (s**3 - 0.5 * s**4), 3 * s * s - 2 * s**3


# ---- a path --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Path:
    """Five metres ahead in a wide wave, up and down, while the tool rotates back and forth about the vertical."""

    start: Array
    speed: float = 0.25
    # along y, along z, about z: how far [m, m, rad] and how often [Hz]
    swings: tuple[tuple[float, float], ...] = ((0.5, 0.1), (0.1, 0.15), (0.3, 0.12))

    def at(self, t: float) -> tuple[Array, Array]:
        """Pose and twist of the target at time t [s]."""
        way, rate = started(t, 2.0)
        pose, twist = self.start.copy(), np.zeros(6)
        pose[0] += self.speed * way
        twist[0] = self.speed * rate
        offsets = []
        for size, hz in self.swings:
            omega = 2.0 * math.pi * hz
            offsets.append((size * math.sin(omega * way), size * omega * rate * math.cos(omega * way)))
        (pose_y, twist[1]), (pose_z, twist[2]), (turn, twist[5]) = offsets
        pose[1] += pose_y
        pose[2] += pose_z
        c, s = math.cos(0.5 * turn), math.sin(0.5 * turn)
        w, x, y, z = self.start[3:]
        pose[3:] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
        return pose, twist


@dataclass(frozen=True)
class Tracked:
    """A run along a path."""

    time_s: Array
    target: Array
    tool: Array
    error: Array
    """Position error of the tool [m]."""
    base: Array
    records: Array

    @property
    def rms_mm(self) -> float:
        return 1e3 * float(np.sqrt(np.mean(self.error**2)))


def follow(body: Body, wheels: bool, seed: int, seconds: float, progress: Progress) -> Tracked:
    """The simulated robot follows the path; the tool pose is that of the simulation, not of the model."""
    config = BodySimConfig(wheels=wheels, seed=seed)
    robot = SimBody(body.arm_name, config=config, dt=DT)
    loop = BodyLoop(robot, body, BodySettings(lags=lags_of(config), dt=DT))
    path = Path(body.pose(body.q_home))
    ticks = round(seconds / DT)
    records, tool, target = TELEMETRY.new(ticks), np.zeros((ticks, 7)), np.zeros((ticks, 7))
    for i in range(ticks):
        tool[i], target[i] = robot.tool_pose(), path.at(loop.time_s)[0]
        loop.period(*path.at(loop.time_s + loop.ahead_s), out=records[i : i + 1])
        if i % 500 == 0:
            progress(i / ticks)
    error = np.linalg.norm(tool[:, :3] - target[:, :3], axis=1)
    return Tracked(records["time_s"], target, tool, error, records["base"]["pose"], records)


def lags_of(config: BodySimConfig) -> Lags:
    """The robot's lags, as its maker would state them."""
    return Lags(config.servo.lag_s, config.drive.lag_s)


# ---- a wall --------------------------------------------------------------------------------------------------------

PROBE = Tool(mass_kg=0.3, com_m=(0.0, 0.0, 0.05), tcp_m=(0.0, 0.0, 0.15), tip_radius_m=0.01)
PRESS_N, WALL_N_M, ALONG_M_S = 15.0, 1e4, 0.2
SLIDE_FROM_S = 3.0
# Beside the base, tool axis to the left (+y).
AT_WALL = np.array((0.25, 0.55, 0.8, math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0))
GAP_M, TILT_DEG = 0.02, 0.5


@dataclass(frozen=True)
class Slid:
    """A slide along the wall."""

    time_s: Array
    press_n: Array
    """True force between tip and wall."""
    records: Array
    fault: int

    @property
    def sliding(self) -> Array:
        return self.time_s > SLIDE_FROM_S


def slide(law: str, seed: int, seconds: float, progress: Progress) -> Slid:
    """Slide along an unknown wall: 20 mm away, half a degree askew, 10⁴ N/m, from a base on wheels.

    With the law "comply" the tool holds 15 N; with "track" it follows a line where the wall should be.
    """
    body = Body(tool=PROBE)
    start = PoseSearch(body).solve(AT_WALL, body.q_home, fixed_base=True).q
    wall = Surface(
        position_m=(0.0, float(AT_WALL[1]) + PROBE.tip_radius_m + GAP_M, 0.8),
        rpy_deg=(90.0, 0.0, -TILT_DEG),
        stiffness_n_m=WALL_N_M,
        friction=0.3,
    )
    config = BodySimConfig(wheels=True, seed=seed, surfaces=(wall,))
    robot = SimBody(body.arm_name, tool=PROBE, config=config, dt=DT, start_q=start)
    loop = BodyLoop(robot, body, _sliding(law, config))
    loop.motion.posture = start[BASE_JOINTS:]
    ticks = round(seconds / DT)
    records, press = TELEMETRY.new(ticks), np.zeros(ticks)
    for i in range(ticks):
        way, rate = started(loop.time_s + loop.ahead_s - 2.5, 1.0)
        target = AT_WALL.copy()
        target[0] += ALONG_M_S * way
        if law == "track":
            target[1] += GAP_M
        twist, hold = ALONG_M_S * rate * np.eye(6)[0], -PRESS_N * np.eye(6)[1]
        loop.period(target, twist, hold, out=records[i : i + 1])
        press[i] = robot.world.record[0].surface[0].press
        if i % 500 == 0:
            progress(i / ticks)
    return Slid(records["time_s"], press, records, int(loop.state[0].fault))


def _sliding(law: str, config: BodySimConfig) -> BodySettings:
    """Soft into the wall, where only a damper holds the tool; along the wall a spring; the base keeps its heading."""
    admittance = Admittance(
        stiffness=diagonal(2000.0, 0.0, 2000.0, 50.0, 50.0, 50.0),
        damping_by="value",
        damping=diagonal(250.0, 500.0, 250.0, 10.0, 10.0, 10.0),
    )
    return BodySettings(
        law=law,
        params=Parameters(admittance=admittance, sense=Sense(deadband_n=0.0, deadband_nm=0.05)),
        whole_body=WholeBody(facing=0.0),
        lags=lags_of(config),
        dt=DT,
    )


# ---- a push --------------------------------------------------------------------------------------------------------

PUSH_N, PUSH_AT_S, PUSH_FOR_S = 120.0, 0.5, 2.0


@dataclass(frozen=True)
class Pushed:
    """A stationary base whose tool is pushed sideways."""

    time_s: Array
    heading: Array
    """[rad], unwrapped."""
    noticed_s: float
    """Time from the start of the push until slip was detected; NaN if it never was."""


def push(wheels: bool, seed: int, seconds: float = 4.0) -> Pushed:
    """120 N sideways at the tool, with the base commanded to stop and the arm to hold."""
    shove = Push(at_s=PUSH_AT_S, for_s=PUSH_FOR_S, ramp_s=0.2, wrench=(0.0, PUSH_N, 0.0, 0.0, 0.0, 0.0))
    robot = SimBody(config=BodySimConfig(wheels=wheels, seed=seed, pushes=(shove,)), dt=DT)
    reading, base, command = READING.new(), BASE.new(), COMMAND.new()
    command[0].mode, command[0].q[: robot.arm.n] = POSITION, robot.arm.q_home
    robot.read(reading, base)
    odometry, slip = Odometry(robot.base, base[0].pose), SlipDetector()
    ticks, noticed = round(seconds / DT), math.nan
    heading = np.zeros(ticks)
    for i in range(ticks):
        robot.read(reading, base)
        heading[i] = base[0].pose[2]
        report = slip.update(i * DT, odometry.update(*base[0].wheels), base[0].pose)
        if report.slipping and math.isnan(noticed):
            noticed = i * DT - PUSH_AT_S
        robot.command(0.0, 0.0)
        robot.write(command)
    return Pushed(DT * np.arange(ticks), np.unwrap(heading), noticed)
