"""Simulated bodies of which every joule can be counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.kernel import floats, kernel, mj_objectVelocity, mj_step1, mj_step2
from pliant.model import Tool
from pliant.records import COMMAND, READING, TORQUE
from pliant.robots.simulated import SimRobot
from pliant.world.servo import drive, remember, send
from pliant.world.surface_contact import contacts
from pliant.world.world_config import Sensor, Servo, SimConfig, Surface

BALL = """<mujoco><option gravity="{gravity}"/><worldbody><body name="ball">
<joint name="x" type="slide" axis="1 0 0" range="-50 50"/><joint name="y" type="slide" axis="0 1 0" range="-50 50"/>
<joint name="z" type="slide" axis="0 0 1" range="-50 50"/>
<inertial pos="0 0 0" mass="{mass}" diaginertia="1e-3 1e-3 1e-3"/><site name="tool"/></body></worldbody></mujoco>"""

QUIET = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0, range_n=1e6, range_nm=1e6)


@kernel
def _fly(world, command, rows):
    """Physics steps one by one: position, velocity, force of all surfaces, how many touch, what is stored in them."""
    w, c = world[0], command[0]
    q, qd = floats(w.qpos, w.n), floats(w.qvel, w.n)
    for k in range(rows.shape[0]):
        share = (k % w.substeps) / w.substeps
        mj_step1(w.model, w.data)
        mj_objectVelocity(w.model, w.data, w.site_type, w.tool_site, w.velocity.ctypes.data, 0)
        floats(w.tool_xfrc, 6)[:] = 0.0
        contacts(w)
        send(w, c, share)
        drive(w)
        touching, stored = 0.0, 0.0
        for j in range(w.n_surfaces):
            touching += w.surface[j].touching
            for i in range(3):
                stored += 0.5 * w.surface[j].stiffness * w.surface[j].stretch[i] ** 2
        for i in range(3):
            rows[k, i], rows[k, 3 + i], rows[k, 6 + i] = q[i], qd[i], w.contact_force[i]
        rows[k, 9], rows[k, 10] = touching, stored
        mj_step2(w.model, w.data)
        w.count += 1
        w.time = w.count * w.h
        if (k + 1) % w.substeps == 0:
            remember(w, c)


class Body:
    """A simulated robot in torque mode without delay, watched at every physics step."""

    def __init__(self, robot: SimRobot, mass: float) -> None:
        self.robot, self.mass = robot, mass
        self.world, self.data = robot.world.record[0], robot.world.data
        self.command = COMMAND.new()
        self.command[0].mode = TORQUE

    def throw(self, at: Any, moving: Any) -> None:
        """Begin anew at another place with another velocity."""
        self.data.qpos[:], self.data.qvel[:] = at, moving
        for surface in self.world.surface:
            surface.stretch[:] = 0.0

    def fly(self, seconds: float) -> Flight:
        rows = np.zeros((round(seconds / float(self.world.h)), 11))
        _fly(self.robot.world.record, self.command, rows)
        return Flight(rows, self.mass, float(self.world.h))


class Flight:
    """What happened at every physics step."""

    def __init__(self, rows: np.ndarray[Any, Any], mass: float, h: float) -> None:
        self.time = np.arange(len(rows)) * h
        self.position, self.velocity, self.force = rows[:, :3], rows[:, 3:6], rows[:, 6:9]
        self.touching, self.stored = rows[:, 9], rows[:, 10]
        self.kinetic = 0.5 * mass * (self.velocity**2).sum(1)

    @property
    def flights(self) -> np.ndarray[Any, Any]:
        """Kinetic energy of every stretch without contact."""
        free = self.touching == 0
        starts = free & np.concatenate([[True], ~free[:-1]])
        return self.kinetic[starts]


@pytest.fixture
def ball(tmp_path: Path) -> Callable[..., Body]:
    """A ball that flies freely: ``ball(surfaces, at=…, moving=…)``; without gravity unless it is given."""

    def build(
        surfaces: tuple[Surface, ...], *, at: Any, moving: Any = (0, 0, 0), mass: float = 2.0, radius: float = 0.01,
        gravity: Any = (0, 0, 0), substep_s: float = 0.0005,
    ) -> Body:  # fmt: skip
        path = tmp_path / f"ball-{mass}.xml"
        path.write_text(BALL.format(mass=mass, gravity=" ".join(str(g) for g in gravity)))
        config = SimConfig(surfaces=surfaces, substep_s=substep_s, servo=Servo(delay_s=0.0), sensor=QUIET)
        robot = SimRobot(str(path), Tool(tip_radius_m=radius), config, substep_s, at, "torque")
        robot.world.data.qvel[:] = moving
        return Body(robot, mass)

    return build


@pytest.fixture
def reading() -> np.ndarray[Any, Any]:
    return READING.new()
