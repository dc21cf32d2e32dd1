"""A mission on a simulated robot: in every period read, decide, command and record."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.control.published import Published
from pliant.control.telemetry import TELEMETRY
from pliant.loop.board import Board
from pliant.loop.run_description import versions
from pliant.mobile.mission.mission_task import MissionTask, begun, start_q
from pliant.mobile.mission.stage_machine import DONE, Change, Mission
from pliant.mobile.mission.stages import Observation
from pliant.mobile.planning.base_poses import ReachPose
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.mobile.planning.map_files import load_map
from pliant.mobile.whole_body.closed_loop import BodyLoop, BodySettings, Lags, MobileRobot
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.simulated_body import SimBody
from pliant.model.arm import Arm
from pliant.record.writer import RecordingWriter
from pliant.robots import model_of
from pliant.task.schema import MISSION

Array = np.ndarray[Any, Any]
Told = Callable[[float], None]

CHUNK = 2048
MAP = "map.npy"
"""Attachment with the log of a mission at the end of its recording."""
MOVING = np.array((0.02, 0.05))
"""Commands [m/s, rad/s] above which the odometry must change."""
LONGEST_S = 4000.0


class FrozenOdometry:
    """How long the odometry of a base that is commanded to move has not changed."""

    def __init__(self) -> None:
        self._last, self.age_s = b"", 0.0

    def update(self, said: bytes, command: Array, dt: float) -> float:
        """Age [s] of the odometry, one period after the last; `command` is the command to the base."""
        if said != self._last:
            self._last, self.age_s = said, 0.0
        elif (np.abs(command) > MOVING).any():
            self.age_s += dt
        return self.age_s


class MissionLoop:
    """A mission in closed loop with a robot, one `period` at a time."""

    def __init__(self, robot: MobileRobot, body: Body, mission: Mission, lags: Lags) -> None:
        self.mission = mission
        self.loop = BodyLoop(robot, body, BodySettings(slip=mission.settings.slip, lags=lags, dt=mission.dt))
        self._frozen, n = FrozenOdometry(), body.arm_joints
        reading, base = self.loop.reading, self.loop.base
        # views: looking up a field takes longer than using it
        self._q, self._qd, self._goal = reading["q"][0, :n], reading["qd"][0, :n], self.loop.goal["pose"][0]
        self._pose, self._wheels, self._twist = base["pose"][0], base["wheels"][0], base["twist"][0]
        self._commanded, self._base_command = self.loop.state["q_cmd"][0, :n], base["command"][0]
        self._force = self.loop.state["wrench"][0, :3]

    def period(self, out: Array | None = None) -> Array:
        """Read, decide, command; returns the telemetry."""
        self.loop.look()
        u = self.mission.step(self._seen())
        self._goal[:] = self.mission.target
        return self.loop.act(u, out)

    def period_at_rest(self, out: Array | None = None) -> Array:
        """A period without a decision: base and arm are commanded to stop."""
        self.loop.look()
        self._goal[:] = self.mission.goal
        return self.loop.act(np.zeros(self.loop.body.m), out)

    def _seen(self) -> Observation:
        said = self._pose.tobytes() + self._wheels.tobytes()
        return Observation(
            time_s=self.loop.time_s,
            q=np.concatenate([self._pose, self._q]),
            qd=self._qd.copy(),
            twist=self._twist.copy(),
            commanded=self._commanded.copy(),
            expected=self.loop.expected(),
            ahead_s=self.loop.ahead_s,
            age_s=self._frozen.update(said, self._base_command, self.loop.settings.dt),
            force_n=float(np.linalg.norm(self._force)),
            slipping=bool(self.loop.base[0].slipping),
        )


@dataclass(frozen=True)
class MissionRun:
    """The result of a mission."""

    task: MissionTask
    """The mission."""
    grid: OccupancyGrid
    """The map in its last version."""
    records: Array
    """One telemetry record per period."""
    log: list[Change]
    """Every change of the stage, with its reason."""
    reach_pose: ReachPose | None
    """Base and joints at the goal, and the path there; None if no path was found."""
    goal: Array
    """X_WT of the goal."""
    park_q: Array
    """Joint positions in which the arm travels [rad]."""
    tool: Array
    """True X_WT at the end."""
    body: Body = field(repr=False)
    """The robot's model."""

    @property
    def done(self) -> bool:
        """Whether the tool reached its goal."""
        return bool(self.log) and self.log[-1].stage == DONE

    @property
    def account(self) -> dict[str, Any]:
        """Its log, path and goal, for a recording."""
        return account(self.log, self.reach_pose, self.goal, self.park_q)

    @property
    def reason(self) -> str:
        """Why it stopped before its goal, or ""."""
        stops = [change.reason for change in self.log if change.stage == "stopping"]
        return stops[-1] if stops else ""


def lags_of(task: MissionTask) -> Lags:
    """The lags of the simulated robot, as a data sheet would state them."""
    return Lags(task.sim.servo.lag_s, task.sim.drive.lag_s)


def simulated(task: MissionTask, body: Body) -> SimBody:
    """The robot of a mission, at its start."""
    return SimBody(body.arm_name, body.base, task.tool, task.sim, task.dt, start_q(task, body))


def simulate_mission(
    task: MissionTask,
    told: Told = lambda share: None,
    *,
    go_on: Callable[[], bool] = lambda: True,
    between: Callable[[SimBody], MobileRobot] = lambda robot: robot,
    meanwhile: Callable[[Mission, float], None] = lambda mission, time_s: None,
    prepared: tuple[Body, OccupancyGrid, Mission] | None = None,
) -> MissionRun:
    """Run a mission in simulation to its end, as fast as possible.

    When `go_on` returns False, base and arm brake and the mission ends. `between` may insert something between robot
    and loop; `meanwhile` is called in every period, for instance to inject a fault or another map. `prepared` is the
    result of `begun` for this task, if it is known already; it can be used once.
    """
    body, _, mission = prepared or begun(task)
    robot = simulated(task, body)
    loop = MissionLoop(between(robot), body, mission, lags_of(task))
    parts = [TELEMETRY.new(CHUNK)]
    ticks, most = 0, round(LONGEST_S / task.dt)
    while not mission.ended and ticks < most:
        if ticks % 50 == 0:
            told(mission.share)
            if not go_on():
                mission.stop("a stop was requested")
        if ticks and ticks % CHUNK == 0:
            parts.append(TELEMETRY.new(CHUNK))
        meanwhile(mission, loop.loop.time_s)
        at = ticks % CHUNK
        loop.period(parts[-1][at : at + 1])
        ticks += 1
    records = np.concatenate(parts)[:ticks]
    return MissionRun(
        task, mission.grid, records, mission.log, mission.reach_pose, mission.goal, mission.park_q,
        robot.tool_pose(), body,
    )  # fmt: skip


def account(log: list[Change], reach_pose: ReachPose | None, goal: Array, park_q: Array) -> dict[str, Any]:
    """The log of a mission for JSON: its stages and reasons, its path, the pose of the robot at the goal, its goal."""
    way = (
        None
        if reach_pose is None
        else {"start": list(reach_pose.plan.path.start), "arcs": reach_pose.plan.path.arcs.tolist()}
    )
    return {
        "log": [[change.time_s, change.stage, change.reason] for change in log],
        "path": way,
        "stand": None if reach_pose is None else reach_pose.q.tolist(),
        "goal": goal.tolist(),
        "park_q": park_q.tolist(),
    }


def mission_meta(task: MissionTask, grid: OccupancyGrid, said: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a mission's recording; `said` is its `account`."""
    return {
        "name": task.name,
        "robot": f"{task.robot} on a {'wheeled' if task.sim.wheels else 'planar'} base",
        "law": "mission",
        "rate_hz": task.rate_hz,
        "seed": task.sim.seed,
        "versions": versions(),
        "mission": {
            **said,
            "map": {"resolution_m": grid.resolution_m, "origin": list(grid.origin), "name": grid.name},
            "task": task.model_dump(mode="json"),
        },
    }


def published_by(task: MissionTask) -> Published:
    """What the loop of a mission publishes."""
    return Published(Arm.load(model_of(task.robot)).n, ("position", "base"))


def mission_writer(path: Path, task: MissionTask, grid: OccupancyGrid, said: dict[str, Any]) -> RecordingWriter:
    """A recording of a mission: twist of the base, joint targets and poses as ROS 2 messages, and its map."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names, published = list(Arm.load(model_of(task.robot)).joint_names), published_by(task)
    cells = io.BytesIO()
    np.save(cells, grid.occupancy)
    writer = RecordingWriter(path, mission_meta(task, grid, said), names, published=published)
    writer.attach(MAP, cells.getvalue(), "application/octet-stream")
    return writer


def writer_of_board(board: Board, path: Path) -> RecordingWriter:
    """A recording of the mission that runs on a board."""
    task = MissionTask.model_validate(board.config[MISSION])
    return mission_writer(path, task, load_map(task.map), board.mission_log["account"])


def save_mission(run: MissionRun, path: Path) -> None:
    """Write a mission as a recording."""
    with mission_writer(path, run.task, run.grid, run.account) as writer:
        writer.append(run.records)
