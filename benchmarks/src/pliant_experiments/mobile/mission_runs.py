"""Runs of a mission for the experiment: from random starts, and with faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.analysis.mission_figures import STAGES, MissionHistory, limit_shares, mission_history
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Footprint
from pliant.mobile.mission.mission_task import MissionTask, find_mission
from pliant.mobile.mission.simulated_mission import MissionRun, simulate_mission
from pliant.mobile.mission.stage_machine import Mission
from pliant.mobile.mission.stages import pose_apart
from pliant.mobile.planning.free_space import distance_at, free_at, prepared
from pliant.mobile.planning.grid import OCCUPIED, OccupancyGrid
from pliant.mobile.planning.map_files import load_map
from pliant.mobile.planning.planner import HybridAStar
from pliant.mobile.whole_body.closed_loop import MobileRobot
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.mobile.whole_body.simulated_body import SimBody
from pliant.params.declare import changed
from pliant_experiments.mobile.mission_faults import (
    Faulty,
    Held,
    Spinning,
    Stuck,
    frozen,
    no_joint,
    no_number,
    nothing,
    pressed,
    sagging,
    turned,
)

Array = np.ndarray[Any, Any]

SWAY_RAD = 0.6
"""Largest distance of the joints from home at the start."""


def fetch() -> MissionTask:
    """The preset mission `fetch`."""
    task = find_mission("fetch")
    assert task is not None
    return task


def random_starts(task: MissionTask, seed: int, n: int) -> list[MissionTask]:
    """The mission from a random pose where the base has room to turn, with the arm near home."""
    random, planner, body = np.random.default_rng([8, seed]), HybridAStar(load_map(task.map), task.planner), Body()
    left, right, bottom, top = planner.grid.extent
    found: list[MissionTask] = []
    while len(found) < n:
        x, y, heading = random.uniform((left, bottom, -180.0), (right, top, 180.0))
        q = body.q_home[BASE_JOINTS:] + random.uniform(-SWAY_RAD, SWAY_RAD, body.arm_joints)
        roomy = distance_at(planner.space, x, y) >= planner.space.about[0].surely_free
        if roomy and planner.free((x, y, math.radians(heading))):
            found.append(task.model_copy(update={"start": (x, y, heading), "start_q": tuple(q.tolist())}))
    return found


# ---- to the goal ---------------------------------------------------------------------------------------------------


class Witness:
    """Stores the true pose of a simulated base in every period, whatever the robot reports."""

    def __init__(
        self,
        between: Callable[[SimBody], MobileRobot] = lambda robot: robot,
        meanwhile: Callable[[Mission, float], None] = lambda mission, time_s: None,
    ) -> None:
        self._between, self._meanwhile = between, meanwhile
        self.robot: SimBody | None = None
        self.mission: Mission | None = None
        self._poses: list[Array] = []

    def between(self, robot: SimBody) -> MobileRobot:
        self.robot = robot
        return self._between(robot)

    def meanwhile(self, mission: Mission, time_s: float) -> None:
        assert self.robot is not None
        self.mission = mission
        self._poses.append(self.robot.base_pose())
        self._meanwhile(mission, time_s)

    @property
    def base(self) -> Array:
        """True base pose at the start of every period (n, 3)."""
        return np.array(self._poses)


@dataclass(frozen=True)
class Result:
    """The result of one mission."""

    task: MissionTask

    done: bool
    reason: str
    apart_m: float
    apart_rad: float
    seconds: dict[str, float]
    parked_rad: float
    stand_m: float
    shares: dict[str, float]
    """The largest share of each limit."""
    handed_over: float
    """The largest share of an acceleration limit at a change of stage."""
    sideways_m_s: float
    touches: int
    slipping: int
    base: Array
    """Poses of the base, thinned."""
    far: Array
    """Time [s] and tool position error [m], thinned."""


def seen_through(
    task: MissionTask,
    between: Callable[[SimBody], MobileRobot] = lambda robot: robot,
    meanwhile: Callable[[Mission, float], None] = lambda mission, time_s: None,
) -> tuple[Result, MissionRun]:
    """A complete mission, judged by the true base pose; and the run."""
    witness = Witness(between, meanwhile)
    run = simulate_mission(task, between=witness.between, meanwhile=witness.meanwhile)
    return result_of(run, witness.base), run


def result_of(run: MissionRun, base: Array) -> Result:
    """The figures of a run, without its records; `base` is the true base pose in every period."""
    past = mission_history(run)
    u, dt = past.commands, run.task.dt
    apart = pose_apart(run.tool, run.goal)
    at = {change.stage: min(len(u) - 1, round(change.time_s / dt)) for change in run.log}
    parked = np.abs(past.joints[at["B"]] - run.park_q).max() if "B" in at else math.inf
    reach_pose = math.dist(base[at["C"], :2], run.reach_pose.q[:2]) if "C" in at and run.reach_pose else math.inf
    thin = slice(None, None, 25)
    far = np.linalg.norm(past.tool[thin, :3] - run.goal[:3], axis=1)
    return Result(
        run.task, run.done, run.reason, float(apart[0]), float(apart[1]),
        {stage: past.seconds_in(stage) for stage in STAGES}, float(parked), float(reach_pose),
        limit_shares(u, run.body, run.task.base, dt), handed_over(past), sideways(u, dt), touches(past, base),
        int(run.records["base"]["slipping"].sum()), base[thin].copy(), np.column_stack([past.time_s[thin], far]),
    )  # fmt: skip


def handed_over(past: MissionHistory) -> float:
    """The largest share of an acceleration limit at a change of stage."""
    u, dt, worst = past.commands, past.task.dt, 0.0
    for change in past.log[1:]:
        k = min(len(u) - 1, round(change.time_s / dt))
        for row in range(max(1, k - 1), min(len(u), k + 2)):
            pair = limit_shares(u[row - 1 : row + 1], past.body, past.task.base, dt, first=u[row - 1])
            worst = max(worst, *(share for name, share in pair.items() if "acceleration" in name))
    return worst


def sideways(u: Array, dt: float) -> float:
    """Largest commanded speed [m/s] across the heading of an ideal base."""
    poses = np.zeros((len(u) + 1, 3))
    for i, (v, omega) in enumerate(u[:, :2]):
        along_arc(poses[i], v, omega, dt, poses[i + 1])
    step, middle = np.diff(poses[:, :2], axis=0), 0.5 * (poses[1:, 2] + poses[:-1, 2])
    return float(np.abs(np.cos(middle) * step[:, 1] - np.sin(middle) * step[:, 0]).max()) / dt


def touches(past: MissionHistory, base: Array) -> int:
    """Samples (fifty per second) in which the footprint at `base`, without its margin, touches an obstacle."""
    bare = past.task.planner.footprint.model_dump() | {"margin_m": 0.0}
    space = prepared(past.grid, Footprint(**bare))
    return sum(not free_at(space, *map(float, pose)) for pose in base[::10])


# ---- faults --------------------------------------------------------------------------------------------------------


def with_box(grid: OccupancyGrid, x: float, y: float, width: float, height: float) -> OccupancyGrid:
    """The map with one more obstacle."""
    cells, cell = np.array(grid.occupancy), grid.resolution_m
    columns = slice(round((x - grid.origin[0]) / cell), round((x + width - grid.origin[0]) / cell))
    cells[round((y - grid.origin[1]) / cell) : round((y + height - grid.origin[1]) / cell), columns] = OCCUPIED
    return OccupancyGrid(cells, cell, grid.origin, grid.name)


SMALL_M = 0.3
DOOR = (4.9, 2.6, 0.15, 1.3)
AROUND_TABLE = (6.2, 1.9, 3.6, 2.8)


@dataclass(frozen=True)
class Mishap:
    """A fault, and text that the reported reason must contain."""

    name: str
    word: str
    stage: str
    """The stage in which the mission must stop."""
    changes: dict[str, Any] = field(default_factory=dict)
    between: Callable[[SimBody], MobileRobot] = lambda robot: robot
    meanwhile: Callable[[Mission, float], None] = lambda mission, time_s: None
    stop_in: str = ""
    """The stage in which a stop is commanded."""


def sees(box: tuple[float, float, float, float], stage: str, at_s: float) -> Callable[[Mission, float], None]:
    """Show a map with one more obstacle, once, in this stage after `at_s`."""
    shown: list[bool] = []

    def look(mission: Mission, time_s: float) -> None:
        if not shown and mission.stage == stage and time_s >= at_s:
            shown.append(True)
            mission.see(with_box(mission.grid, *box))

    return look


def in_the_way(*shares: float) -> Callable[[Mission, float], None]:
    """A small obstacle appears on the current path at this share of its length; then on the next path."""
    left = list(shares)

    def look(mission: Mission, time_s: float) -> None:
        drives = mission.stage == "B" and not mission.drive.waits and mission.drive.share > 0.1
        if left and drives and mission.detours == len(shares) - len(left) and mission.reach_pose is not None:
            path = mission.reach_pose.plan.path
            x, y = path.at([left.pop(0) * path.length_m])[0, :2]
            mission.see(with_box(mission.grid, x - SMALL_M / 2, y - SMALL_M / 2, SMALL_M, SMALL_M))

    return look


DETOURS = {"on the path": (0.4,), "at the end of the path": (1.0,), "on the path and on the next one": (0.3, 0.3)}
"""Where an obstacle appears while the base drives."""


def detour(task: MissionTask, shares: tuple[float, ...]) -> tuple[Result, int]:
    """A mission with an obstacle on its path, judged on the map with it; and the number of paths."""
    result, run = seen_through(task, meanwhile=in_the_way(*shares))
    return result, sum(change.stage == "B" for change in run.log)


def mishaps() -> list[Mishap]:
    """All faults."""
    slow = {"travel.limit_s": 4.0, "travel.limit_s_m": 0.0}
    return [
        Mishap("the goal is blocked while the arm is parked", "obstacle", "B", meanwhile=sees(AROUND_TABLE, "A", 0.5)),
        Mishap("the path is blocked while driving", "blocks the path", "B", meanwhile=sees(DOOR, "B", 3.0)),
        Mishap("the time for driving runs out", "time", "B", slow),
        Mishap("the arm does not move", "blocks or pushes", "A", between=lambda robot: Stuck(robot, 0.0, nothing)),
        Mishap("the arm stops moving", "blocks or pushes", "C", between=lambda robot: Stuck(robot, 12.5, nothing)),
        Mishap("a force acts on the tool", "act on the tool", "B", between=lambda r: Faulty(r, 5.8, pressed)),
        Mishap("the locked base is rotated", "turned", "A", between=lambda robot: Faulty(robot, 0.5, turned)),
        Mishap(
            "the arm leaves its park pose", "blocks or pushes", "B", between=lambda robot: Faulty(robot, 5.8, sagging)
        ),
        Mishap(
            "the base pose is not finite",
            "not finite",
            "B",
            between=lambda robot: Faulty(robot, 5.8, no_number),
        ),
        Mishap("a joint position is not finite", "not finite", "C", between=lambda r: Faulty(r, 12.6, no_joint)),
        Mishap("odometry is lost", " s old", "B", between=lambda robot: Faulty(robot, 5.8, frozen)),
        Mishap("the base is held", "stuck", "B", between=lambda robot: Held(robot, 5.8)),
        Mishap("the wheels spin", "slipped", "B", between=lambda robot: Spinning(robot, 5.8)),
        Mishap("a stop is commanded", "stop was requested", "C", stop_in="C"),
    ]


@dataclass(frozen=True)
class Stop:
    """How a mission stopped after a fault."""

    name: str
    as_expected: bool
    reason: str
    speed_m_s: float
    """True base speed at the start of the stop."""
    way_m: float
    """True stopping distance."""
    seconds: float
    at_rest: float
    """Largest true speed of any joint or wheel at the end [m/s, rad/s]."""
    share: float
    """Largest share of an acceleration limit, over the whole run."""
    touches: int
    v: Array
    """Time since the start of the stop [s], and commanded speed [m/s]."""


def stopped(task: MissionTask, mishap: Mishap) -> Stop:
    """Run a mission with a fault."""
    witness = Witness(mishap.between, mishap.meanwhile)

    def go_on() -> bool:
        mission = witness.mission
        return mission is None or not mishap.stop_in or mission.stage != mishap.stop_in or mission.share <= 0.87

    wanted = changed(task, mishap.changes) if mishap.changes else task
    run = simulate_mission(wanted, between=witness.between, meanwhile=witness.meanwhile, go_on=go_on)
    robot, base = witness.robot, witness.base
    assert robot is not None
    past, at = mission_history(run), [change for change in run.log if change.stage == "stopping"]
    ended = run.log[-1].stage == "stopped"
    good = len(at) == 1 and ended and f"stage {mishap.stage}" in at[0].reason and mishap.word in at[0].reason
    k = round(at[0].time_s / run.task.dt) if at else 0
    u = past.commands
    shares = limit_shares(u, run.body, run.task.base, run.task.dt)
    speed = math.dist(base[k, :2], base[max(0, k - 1), :2]) / run.task.dt
    way = float(np.hypot(*np.diff([*base[k:, :2], robot.base_pose()[:2]], axis=0).T).sum())
    return Stop(
        mishap.name, good, run.reason, speed, way,
        run.log[-1].time_s - (at[0].time_s if at else 0.0), float(np.abs(robot.world.data.qvel).max()),
        max(share for name, share in shares.items() if "acceleration" in name), touches(past, base),
        np.column_stack([past.time_s[k - 200 :] - past.time_s[k], u[k - 200 :, 0]]) if k > 200 else np.empty((0, 2)),
    )  # fmt: skip
