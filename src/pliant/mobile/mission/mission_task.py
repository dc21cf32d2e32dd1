"""A mission as a file: which robot, its start, the map, and the goal of its tool. Its own kind of task file.

kind: mission
map: maps/flat.yaml
start: [1.2, 1.0, 0]
goal_m: [8.3, 3.0, 0.75]
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import mujoco
import numpy as np

from pliant.control.parameters import Parameters
from pliant.errors import InputError, PliantError, RejectedError
from pliant.mobile.mission.mission_params import MissionSettings
from pliant.mobile.mission.stage_machine import Mission
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.mobile.planning.map_files import load_map
from pliant.mobile.whole_body.body_config import BodySimConfig
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.model.tool import Tool
from pliant.params.declare import Three, changed, param, parse_assignment, validated
from pliant.params.kinds import with_full_paths
from pliant.params.outside_files import is_regular
from pliant.robots import is_simulated, model_of
from pliant.robots.ros2_arm.ros2_config import Ros2Config
from pliant.task.bundled_files import find_bundled, find_file
from pliant.task.dotted_paths import merged
from pliant.task.schema import MISSION, task_data

Array = np.ndarray[Any, Any]


class MissionTask(MissionSettings):
    """A mission: park the arm, drive through the map, and move the tool to its goal."""

    kind: Literal["mission"] = param("mission", help="Marks a task file as a mission.")
    name: str = param("mission", min_length=1, help="Name for titles and file names.")
    robot: str = param("sim:ur5e", help="Arm on the base: sim:<model>.")
    rate_hz: float = param(500.0, unit="Hz", ge=125, le=1000, help="Periods per second.")
    map: str = param(
        "",
        help="Map: .yaml (map_server), .pgm, .png or .npy, relative to this file or the working folder; or a name.",
    )
    map_resolution_m: float | None = param(
        None, unit="m", gt=0, le=10, help="Cell size of an image or array (default: 0.05); a YAML file contains it."
    )
    map_origin_m: tuple[float, float] | None = param(
        None, unit="m", help="Lower left corner of an image or array (default: 0, 0); a YAML file contains it."
    )
    start: Three = param((0.0, 0.0, 0.0), unit="m, m, °", help="Start pose of the base: x, y and heading.")
    start_q: tuple[float, ...] = param((), unit="rad", help="Start positions of the joints (default: the home pose).")
    goal_m: Three = param((0.0, 0.0, 0.0), unit="m", help="Goal position of the tool, in the map frame.")
    goal_rpy_deg: Three = param(
        (180.0, 0.0, 0.0),
        unit="°",
        help="Goal orientation of the tool: rotations about fixed x, y, z; the default points down.",
    )
    tool: Tool = Tool()
    """The tool in the controller's model."""
    sim: BodySimConfig = BodySimConfig()
    """The simulated robot."""
    ros2: Ros2Config = Ros2Config()
    """Topics of the ROS 2 bridge."""

    def replace(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> MissionTask:
        """A changed copy, by dotted name: ``task.replace({"start": (6, 2.2, 0), "drive.lag_s": 0.1})``."""
        wanted = changed(self, merged(changes, more))
        return located(wanted, Path()) if wanted.map != self.map else wanted

    @property
    def dt(self) -> float:
        """Period [s]."""
        return 1.0 / self.rate_hz

    @property
    def start_pose(self) -> tuple[float, float, float]:
        """Start pose of the base: x [m], y [m], heading [rad]."""
        x, y, degrees = self.start
        return x, y, math.radians(degrees)

    @property
    def goal_pose(self) -> Array:
        """X_WT of the goal."""
        quat = np.zeros(4)
        mujoco.mju_euler2Quat(quat, np.radians(self.goal_rpy_deg), "XYZ")
        return np.concatenate([self.goal_m, quat])


def find_mission(name: str) -> MissionTask | None:
    """The mission in the file `name`, or the one of this name that comes with Pliant; None for another kind of task."""
    path = find_file("task", name)
    data = with_full_paths(task_data(path), path.parent)
    if data.get("kind") != MISSION:
        return None
    data.setdefault("name", path.stem)
    return located(validated(MissionTask, data, path.name), path.parent)


def load_mission(name: str) -> MissionTask:
    """The mission in the file `name`, or the one of this name that comes with Pliant, such as ``fetch``."""
    task = find_mission(name)
    if task is None:
        raise RejectedError(f"{name} is the task of an arm, not a mission. Use pliant.load_task.", field="name")
    return task


def located(task: MissionTask, folder: Path) -> MissionTask:
    """The mission with the full path of its map: from `folder`, the working folder, or the maps of Pliant."""
    if not task.map:
        raise RejectedError("map is missing: a mission needs a map to drive through.", field="map")
    here = next((path for path in (folder / task.map, Path(task.map)) if is_regular(path)), None)
    found = here or find_bundled("map", task.map)
    return task.model_copy(update={"map": str(found.resolve())}) if found else task


def changed_mission(
    task: MissionTask, assignments: Sequence[str], changes: Mapping[str, Any] | None = None
) -> MissionTask:
    """The mission with ``--set`` values and other changes (None: none), by dotted name; validated as a whole."""
    values = dict(parse_assignment(text) for text in assignments)
    for name in values:
        _must_not_be_of_arm(task, name)
    values |= {name: value for name, value in (changes or {}).items() if value is not None}
    return task.replace(values) if values else task


def _must_not_be_of_arm(task: MissionTask, name: str) -> None:
    """Raise for a control parameter of an arm's law, which a mission does not have."""
    section = name.partition(".")[0]
    if section in Parameters.model_fields and section not in MissionTask.model_fields:
        raise RejectedError(f"{task.name} is a mission and has no {section} parameters.", field=name)


def place_of(task: MissionTask) -> tuple[str, OccupancyGrid]:
    """The arm of a mission and its map; raises at once if one of them is wrong."""
    if not is_simulated(task.robot):
        raise InputError("robot", task.robot, "sim:<model>", "Missions run only in simulation.")
    return model_of(task.robot), load_map(task.map, resolution_m=task.map_resolution_m, origin=task.map_origin_m)


def within(seconds: float) -> Callable[[], bool]:
    """A function that returns True until so many seconds from now have passed."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() < until


def begun(
    task: MissionTask, goal: Array | None = None, place: Array | None = None
) -> tuple[Body, OccupancyGrid, Mission]:
    """The robot model, the map and the mission with its path planned; rejects what cannot be done before it moves.

    `goal` (X_WT) and `place` (x [m], y [m], heading [rad]) replace those of the task.
    """
    goal, start = task.goal_pose if goal is None else goal, task.start_pose if place is None else place
    which, grid = place_of(task)
    body = Body(which, limits=task.base, tool=task.tool)
    body.chain.check_payload()
    mission = Mission(body, grid, goal, task, task.dt, within)
    try:
        body.within("start_q", start_q(task, body)[BASE_JOINTS:])
    except PliantError as error:
        raise error.at(task.name) from None
    mission.planner.check(start, start)
    mission.prepare(start)
    return body, grid, mission


def start_q(task: MissionTask, body: Body) -> Array:
    """Base and joints at the start."""
    return np.concatenate([task.start_pose, task.start_q or body.q_home[BASE_JOINTS:]])
