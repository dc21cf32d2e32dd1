"""A mission as figures and as one picture, from a run or from its recording."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path as File
from typing import Any

import mujoco
import numpy as np

from pliant.analysis.targets import Figure, at_most, reported
from pliant.errors import RecordingError
from pliant.loop.run_description import ACCOUNT
from pliant.mobile.base.base_params import Base
from pliant.mobile.mission.mission_task import MissionTask
from pliant.mobile.mission.simulated_mission import MAP, MissionRun, mission_meta
from pliant.mobile.mission.stage_machine import Change
from pliant.mobile.mission.stages import pose_apart
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.model.tool import TOOL
from pliant.params.declare import validated
from pliant.record import Recording

Array = np.ndarray[Any, Any]

STAGES = {"A": "A: park", "B": "B: drive", "C": "C: reach", "stopping": "stop"}


@dataclass(frozen=True)
class MissionHistory:
    """Everything that figures and pictures of a mission use."""

    task: MissionTask
    grid: OccupancyGrid
    records: Array
    log: list[Change]
    path: Path | None
    reach_pose: Array | None
    goal: Array
    body: Body

    @property
    def time_s(self) -> Array:
        """Time since the start of the mission [s]."""
        return self.records["time_s"]

    @property
    def base(self) -> Array:
        """Poses of the base (n, 3)."""
        return self.records["base"]["pose"]

    @property
    def joints(self) -> Array:
        """Measured joints (n, arm)."""
        return self.records["reading"]["q"][:, : self.body.arm_joints]

    @property
    def commands(self) -> Array:
        """The commands of every period: u = (v, ω, q̇)."""
        arm = self.records["command"]["qd"][:, : self.body.arm_joints]
        return np.hstack([self.records["base"]["command"], arm])

    @property
    def tool(self) -> Array:
        """Tool poses from the measured base and joints (n, 7)."""
        return self.records["observed"]["pose"]

    @property
    def end_s(self) -> float:
        """When the mission ended [s]."""
        return float(self.time_s[-1]) if len(self.records) else 0.0

    def spans(self) -> list[tuple[str, float, float]]:
        """Stage, start and end of everything that took time."""
        edges = [*self.log, Change(self.end_s, "", "")]
        found = [(a.stage, a.time_s, b.time_s) for a, b in pairwise(edges)]
        return [(stage, begin, end) for stage, begin, end in found if stage in STAGES]

    def seconds_in(self, stage: str) -> float:
        """The duration of a stage [s]; NaN if it never started."""
        taken = [end - begin for name, begin, end in self.spans() if name == stage]
        return sum(taken) if taken else math.nan

    def links(self, row: int) -> Array:
        """Points along the arm in the world [m]: mount, joints, tool."""
        q = np.concatenate([self.base[row], self.joints[row]])
        return points_of(self.body, q)


def points_of(body: Body, q: Array) -> Array:
    """Mount, joints and tool of the arm [m], for base and joints q."""
    model, data = body.chain.mjmodel, body.chain.mjdata
    data.qpos[:] = np.where(np.isfinite(q), q, 0.0)
    mujoco.mj_kinematics(model, data)
    x, y, z = body.base.mount_m
    c, s = math.cos(data.qpos[2]), math.sin(data.qpos[2])
    mount = (data.qpos[0] + c * x - s * y, data.qpos[1] + s * x + c * y, z)
    return np.vstack([mount, data.xanchor[BASE_JOINTS:], data.site_xpos[model.site(TOOL).id]])


def mission_history(run: MissionRun) -> MissionHistory:
    """The log of a simulated or live run."""
    return _history(mission_meta(run.task, run.grid, run.account)["mission"], run.grid, run.records)


def recorded_mission(recording: Recording) -> MissionHistory:
    """The log of a recorded mission."""
    said = recording.meta.get("mission")
    if not is_mission(recording) or not isinstance(said, dict):
        raise RecordingError(recording.path, "is not the recording of a mission.")
    try:
        cells = np.load(io.BytesIO(recording.attachments[MAP]), allow_pickle=False)
        said, about = account_of(recording), said["map"]
        grid = OccupancyGrid(cells, about["resolution_m"], tuple(about["origin"]), about["name"])
        return _history(said, grid, recording.records)
    except (KeyError, ValueError, TypeError) as error:
        raise RecordingError(recording.path, f"contains a mission that cannot be read: {error}.") from None


def account_of(recording: Recording) -> dict[str, Any]:
    """The mission's entry in a recording: the final state, completed from the one written at the start."""
    return recording.meta["mission"] | json.loads(recording.attachments.get(ACCOUNT, b"{}"))


def is_mission(recording: Recording) -> bool:
    """Whether a recording contains a mission."""
    return "mission" in recording.meta


def _history(said: dict[str, Any], grid: OccupancyGrid, records: Array) -> MissionHistory:
    task = validated(MissionTask, said["task"])
    way = said["path"] and Path(tuple(said["path"]["start"]), np.array(said["path"]["arcs"], float).reshape(-1, 2))
    body = Body(task.robot.partition(":")[2], limits=task.base, tool=task.tool)
    log = [Change(*row) for row in said["log"]]
    reach_pose = None if said["stand"] is None else np.array(said["stand"])
    return MissionHistory(task, grid, records, log, way or None, reach_pose, np.array(said["goal"]), body)


# ---- figures -------------------------------------------------------------------------------------------------------


def limit_shares(u: Array, body: Body, base: Base, dt: float, first: Array | None = None) -> dict[str, float]:
    """The largest share of each limit that the commands u = (v, ω, q̇) used, starting from `first` or from rest."""
    v, omega, half = u[:, 0], u[:, 1], 0.5 * base.track_m
    last = np.vstack([np.zeros(u.shape[1]) if first is None else first, u[:-1]])
    change = np.abs(u - last) / dt
    braking = (np.abs(v) < np.abs(last[:, 0])) | (v * last[:, 0] < 0.0)
    most = np.where(braking, base.deceleration_m_s2, base.acceleration_m_s2)
    chain = body.chain
    shares = {
        "base: largest speed": np.maximum(v / base.forward_m_s, -v / base.backward_m_s),
        "base: largest turning speed": np.abs(omega) / base.turn_rad_s,
        "base: largest wheel speed": (np.abs(v) + half * np.abs(omega)) / base.wheel_m_s,
        "base: largest acceleration": change[:, 0] / most,
        "base: largest angular acceleration": change[:, 1] / base.turn_acceleration_rad_s2,
        "joints: largest speed": np.abs(u[:, 2:]) / chain.v_max[BASE_JOINTS:],
        "joints: largest acceleration": change[:, 2:] / chain.a_max[BASE_JOINTS:],
    }
    return {name: float(share.max()) for name, share in shares.items()}


def driven_m(base: Array) -> float:
    """The distance that the base drove [m]."""
    known = base[np.isfinite(base).all(axis=1)]
    return float(np.hypot(*np.diff(known[:, :2], axis=0).T).sum()) if len(known) > 1 else 0.0


def mission_figures(mission: MissionHistory, tool: Array | None = None) -> list[Figure]:
    """The figures of a mission; `tool` is the true final pose of the tool, if known."""
    task, reached = mission.task, bool(mission.log) and mission.log[-1].stage == "done"
    apart = pose_apart(mission.tool[-1] if tool is None else tool, mission.goal) * (1e3, math.degrees(1.0))
    judge = at_most if reached else (lambda name, value, unit, target: reported(name, value, unit))
    limits = {
        "A": task.park.limit_s,
        "B": max(task.travel.limit_s, task.travel.limit_s_m * (mission.path.length_m if mission.path else 0.0)),
        "C": task.reach.limit_s,
    }
    figures = [
        judge("tool: position error", apart[0], "mm", 1e3 * task.reach.tolerance_m),
        judge("tool: orientation error", apart[1], "°", task.reach.tolerance_deg),
    ]
    for stage, limit in limits.items():
        taken = mission.seconds_in(stage)
        name = f"stage {STAGES[stage]}"
        figures.append(at_most(name, taken, "s", limit) if math.isfinite(taken) else reported(name, taken, "s"))
    if mission.path is not None:
        figures.append(reported("path: planned", mission.path.length_m, "m"))
    figures.append(reported("path: driven", driven_m(mission.base), "m"))
    shares = limit_shares(mission.commands, mission.body, task.base, task.dt)
    # rounding may put the value on either side of a limit that is fully used
    figures += [at_most(f"{name}, of the limit", round(100 * share, 9), "%", 100.0) for name, share in shares.items()]
    figures.append(reported("base: slip detected for", float(mission.records["base"]["slipping"].sum()) * task.dt, "s"))
    return figures


def save_picture(mission: MissionHistory, target: File) -> None:
    """Save map, path, arm and errors as a picture file."""
    from pliant.analysis.pictures.mission_picture import draw

    draw(mission, target)
