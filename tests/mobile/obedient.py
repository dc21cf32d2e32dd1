"""A robot that does exactly what a mission tells it, or something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.mobile.mission.mission_params import MissionSettings, Park, Travel
from pliant.mobile.mission.stage_machine import STOPPED, Mission
from pliant.mobile.mission.stages import Observation
from pliant.mobile.planning.grid import OccupancyGrid, grid_of
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body

DT = 0.01
START = (1.0, 1.0, 0.5)
GOAL = (4.3, 2.0, 0.8, 0.0, -math.sqrt(0.5), math.sqrt(0.5), 0.0)
"""Above a table, tool down, as the arm at home has it when the base faces +x."""
PARK = (3.14, -2.46, 2.28, -1.40, -1.57, 0.0)
SETTINGS = MissionSettings(park=Park(q=PARK), travel=Travel(candidates=60))

Faults = Callable[[Observation], Observation]


def room(*boxes: tuple[float, float, float, float]) -> OccupancyGrid:
    """6 × 4 m with a table, and more if asked for."""
    cells = np.zeros((40, 60), bool)
    for x, y, width, height in ((4.2, 1.5, 1.0, 1.0), *boxes):
        cells[round(10 * y) : round(10 * (y + height)), round(10 * x) : round(10 * (x + width))] = True
    return grid_of(cells, 0.1)


def begun(body: Body, grid: OccupancyGrid | None = None, **changes: Any) -> Mission:
    return Mission(body, grid or room(), GOAL, SETTINGS.model_copy(update=changes), DT)


class Drive:
    """A robot that does what it is told, and everything that was commanded."""

    def __init__(self, mission: Mission, place: Any = START) -> None:
        self.mission, self.q = mission, np.array([*place, *mission.body.q_home[BASE_JOINTS:]])
        self.u, self.time_s = np.zeros(mission.body.m), 0.0
        self.commands: list[Any] = []
        self.stages: list[str] = []

    def period(self, fault: Faults = lambda seen: seen, obeys: float = 1.0) -> None:
        joints = self.q[BASE_JOINTS:]
        seen = Observation(
            self.time_s, self.q.copy(), self.u[2:].copy(), self.u[:2].copy(), joints.copy(), self.q.copy()
        )
        self.u = self.mission.step(fault(seen))
        self.commands.append(self.u)
        self.stages.append(self.mission.stage)
        self.q = self.mission.body.moved(self.q, obeys * self.u, DT)
        self.time_s += DT

    def to_the_end(self, fault: Faults = lambda seen: seen, until_s: float = 200.0) -> None:
        while not self.mission.ended and self.time_s < until_s:
            self.period(fault)

    def until(self, stage: str, share: float = 0.0) -> None:
        while not (self.mission.stage == stage and self.mission.drive.share >= share):
            self.period()
            assert not self.mission.ended

    @property
    def sharpest(self) -> float:
        """Largest share of an acceleration limit of base or joints that the commands used."""
        body, u = self.mission.body, np.array(self.commands)
        last = np.vstack([np.zeros(body.m), u[:-1]])
        slower = (np.abs(u[:, 0]) < np.abs(last[:, 0])) | (u[:, 0] * last[:, 0] < 0)
        p, change = body.limits, np.abs(u - last) / DT
        most = np.where(slower, p.deceleration_m_s2, p.acceleration_m_s2)
        shares = change[:, 0] / most, change[:, 1] / p.turn_acceleration_rad_s2, change[:, 2:] / body.chain.a_max[3:]
        return max(float(share.max()) for share in shares)


def ended_with(robot: Drive) -> str:
    assert robot.mission.stage == STOPPED
    np.testing.assert_array_equal(robot.u, 0.0)
    assert robot.sharpest <= 1.0 + 1e-9
    return next(change.reason for change in robot.mission.log if change.stage == "stopping")


def stop_of(robot: Drive) -> float:
    """When its stop began [s]."""
    return next(change.time_s for change in robot.mission.log if change.stage == "stopping")


def driving(body: Body, **changes: Any) -> Drive:
    """A robot on its way."""
    robot = Drive(begun(body, **changes))
    robot.until("B", 0.3)
    return robot


def stopped_by(robot: Drive, fault: Faults) -> str:
    """Why the mission ends when something is the matter from now on."""
    robot.to_the_end(fault)
    return ended_with(robot)
