"""A staged mission: park the arm, drive to a base pose, bring the tool to its goal; or stop with a reason.

    A ──▶ B ──▶ C ──▶ done          each with an entry check, a watch in every period, and a time limit
    └─────┴─────┴──▶ stopping ──▶ stopped

If an obstacle blocks the path in B, the base stops, plans another path from there and takes it, a limited number of
times. Every command, a stop included, passes one filter that enforces the limits of base and joints. There is no clock
here: time comes with the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.errors import RejectedError
from pliant.mobile.base.base_params import Footprint
from pliant.mobile.base.drive_model import SteadyPlace
from pliant.mobile.following.followers import Follower, PathFollower, RegulatedPurePursuit
from pliant.mobile.following.progress import ConditionTimer
from pliant.mobile.mission.mission_params import MissionSettings
from pliant.mobile.mission.stages import (
    HOLD_1_S,
    DriveStage,
    Observation,
    ParkStage,
    ReachStage,
    Search,
    Stage,
    from_place,
)
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.base_poses import ReachPose, ReachPoses
from pliant.mobile.planning.free_space import free_at, prepared
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.mobile.planning.planner import HybridAStar
from pliant.mobile.whole_body.handover import BodyFilter
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body

Array = np.ndarray[Any, Any]

BEGIN, DONE, STOPPING, STOPPED = "begin", "done", "stopping", "stopped"
REHEARSAL_S = 0.01
SAME_M, SAME_RAD = 0.005, 0.005
"""A base within this distance of a path's start can take that path."""
REST_S = 0.3
"""How long command and measured motion must be zero before a stop is complete."""
RESTLESS_S = 20.0
"""A stop that takes longer is given up, because something else causes the motion."""
YIELDED_RAD = 0.001
BLIND_S = 2.0
"""The same without usable measurements."""


@dataclass(frozen=True)
class Change:
    """A change of stage: when, to which, and why."""

    time_s: float
    stage: str
    reason: str


class Mission:
    """Brings the tool from the robot's present pose to `goal` (X_WT). Call `step` once per period."""

    def __init__(
        self,
        body: Body,
        grid: OccupancyGrid,
        goal: Any,
        settings: MissionSettings | None = None,
        dt: float = 0.002,
        patience: Callable[[float], Callable[[], bool]] = lambda seconds: lambda: True,
    ) -> None:
        """`patience` returns, for a number of seconds, a function that is true until they are over."""
        self._patience = patience
        self.body, self.settings, self.dt = body, settings or MissionSettings(), dt
        self.goal = _pose(goal)
        self.park_q = body.within("park.q", self.settings.park.q or body.q_home[BASE_JOINTS:])
        self.filter = BodyFilter(body, dt)
        self.stage, self.log = BEGIN, list[Change]()
        self.seek: Callable[[Any], Search] | None = None
        """Searches for a base pose and a path from (x, y, heading) in the background, for real-time runs."""
        self.see(grid)
        self._stands = ReachPoses(body, self.goal, self.settings.travel, self._rehearsal_problem)
        self.drive = DriveStage(body, self.settings, self.park_q, self._search_from, self._follower, dt)
        self.reach = ReachStage(body, self.settings, self.goal, dt)
        self._stages: dict[str, Stage] = {
            "A": ParkStage(body, self.settings, self.park_q), "B": self.drive, "C": self.reach,
        }  # fmt: skip
        self._entered_s, self._rest_s, self._why, self.detours = 0.0, math.inf, "", 0
        self._place, self._slip = SteadyPlace(), ConditionTimer()
        self._yield_to: Array | None = None

    # ---- before it begins ----

    def prepare(self, start: Any) -> ReachPose:
        """Plan base pose and path from `start` (x, y, heading), so that an impossible mission is rejected now."""
        go_on = self._patience(self.settings.travel.search_s)
        self._planned = self._stands.nearest(self.planner, start, go_on)
        return self._planned

    @property
    def reach_pose(self) -> ReachPose | None:
        """The base pose to reach from, once it is known."""
        return self.drive.reach_pose or self._planned

    @property
    def planner(self) -> HybridAStar:
        """The path planner; created for the first search, before the base drives."""
        if self._planner is None:
            self._planner = HybridAStar(self.grid, self.settings.planner)
        return self._planner

    def _touches(self, place: Any) -> bool:
        return not free_at(self._space, float(place[0]), float(place[1]), float(place[2]))

    def _rehearsal_problem(self, q: Array) -> str:
        """What goes wrong in stage C, with exact motion, from a place (base and joints with the tool at its goal); ""
        if nothing.
        """
        stage = ReachStage(self.body, self.settings, self.goal, REHEARSAL_S)
        stage.place = q
        now = np.concatenate([q[:BASE_JOINTS], self.park_q])
        seen, time_s = _exact(now, np.zeros(self.body.m), 0.0), 0.0
        why = stage.enter(seen)
        while not why and not stage.reached(seen):
            u = stage.requested(seen)
            now, time_s = self.body.moved(now, u, REHEARSAL_S), time_s + REHEARSAL_S
            seen = _exact(now, u, time_s)
            why = stage.stop_reason(seen)
            if self._touches(now):
                why = "the base would touch an obstacle while the tool moves to its goal"
            elif time_s > stage.limit_s:
                why = f"the tool is not at its goal within {stage.limit_s:g} s"
        return why

    def _search_from(self, place: Any) -> Search:
        """The base pose to reach from and the path there: the prepared ones if the base is where that path begins."""
        if (known := self._planned) is not None:
            far, turned = from_place(known.plan.path.start, place)
            if far <= SAME_M and turned <= SAME_RAD:
                return lambda: known
        if self.seek is not None:
            return self.seek(place)
        found = self.prepare(place)
        return lambda: found

    def _follower(self, path: Path) -> Follower:
        """The follower of the path; pure pursuit uses the current map."""
        p = self.settings
        if p.travel.follower == "path":
            return PathFollower(path, p.base, p.follow)
        return RegulatedPurePursuit(path, p.base, p.follow, p.pursuit, self._space)

    # ---- while it runs ----

    @property
    def ended(self) -> bool:
        """Whether the mission is done or stopped, and the command is zero."""
        return self.stage in (DONE, STOPPED) and self.filter.at_rest

    @property
    def target(self) -> Array:
        """The target of the tool: on its path in stage C, its goal otherwise."""
        return self.reach.target if self.stage == "C" else self.goal

    @property
    def share(self) -> float:
        """Approximate progress, from 0 to 1."""
        spans = {"A": (0.0, 0.15), "B": (0.15, 0.8), "C": (0.8, 1.0)}
        begin, end = spans.get(self.stage, (0.0, 0.0) if self.stage == BEGIN else (1.0, 1.0))
        return begin + (end - begin) * self._stages[self.stage].share if self.stage in self._stages else begin

    def see(self, grid: OccupancyGrid) -> None:
        """Use a new map from now on; if it blocks the path, another path is planned."""
        p = self.settings.planner
        # a base deviates from its path by millimetres: half of the margin allows for that
        half = p.footprint.model_dump() | {"margin_m": 0.5 * p.footprint.margin_m}
        self._space = prepared(grid, Footprint(**half), unknown_is_free=p.unknown == "free")
        self.grid: OccupancyGrid = grid
        self._planner: HybridAStar | None = None
        self._planned: ReachPose | None = None

    def stop(self, why: str) -> None:
        """Stop at the next step, for this reason (part of a sentence)."""
        self._why = self._why or why or "a stop was requested"

    def step(self, seen: Observation) -> Array:
        """The command for the next period: u = (v, ω, q̇)."""
        if not self._unusable(seen):
            seen = self._with_steady_base(seen)
        if self.stage == BEGIN:
            self._enter("A", seen, "the mission starts")
        if self.stage in self._stages:
            self._proceed(seen)
        requested = (
            self._stages[self.stage].requested(seen) if self.stage in self._stages else self._stopping_command(seen)
        )
        u = self.filter.step(requested, seen.commanded)
        if self.stage in self._stages:
            self._stages[self.stage].use_filtered(u)
        elif self.stage == STOPPING:
            self._finish_stop(seen)
        return u

    def _stopping_command(self, seen: Observation) -> Array:
        """Stop. The command of a blocked arm moves to its measured position, so that it stops pressing."""
        requested = np.zeros(self.body.m)
        if self._yield_to is not None:
            off = self._yield_to - seen.commanded
            requested[2:] = np.where(np.abs(off) > YIELDED_RAD, HOLD_1_S * off, 0.0)
        return requested

    def _with_steady_base(self, seen: Observation) -> Observation:
        """The measurements, with a base pose from wheel motion, corrected by averaged pose readings."""
        place = self._place.update(seen.q[:BASE_JOINTS], seen.twist, self.dt)
        q, expected = seen.q.copy(), seen.expected.copy()
        expected[:BASE_JOINTS] += place - q[:BASE_JOINTS]
        q[:BASE_JOINTS] = place
        return replace(seen, q=q, expected=expected)

    def _proceed(self, seen: Observation) -> None:
        """Stay in the stage, go on to the next, plan another path, or stop."""
        stage = self._stages[self.stage]
        slips = self._slipping(seen)
        if why := self._why or self._unusable(seen) or slips or stage.stop_reason(seen) or self._touching(seen):
            self._halt(seen, why)
        elif why := self._load_problem(seen):
            self._yield_to = seen.q[BASE_JOINTS:].copy()
            self._halt(seen, why)
        elif done := stage.reached(seen):
            if self.drive.reach_pose is not None:
                self.reach.place = self.drive.reach_pose.q
            self._enter({"A": "B", "B": "C", "C": DONE}[self.stage], seen, done)
        elif self.stage == "B" and self.drive.seeks:  # for travel.search_s at most; then the time to drive begins
            self._entered_s = seen.time_s
        elif seen.time_s - self._entered_s > stage.limit_s:
            self._halt(seen, f"it exceeded its time limit of {stage.limit_s:g} s")
        elif self.stage == "B":
            self._watch_path(seen)

    def _watch_path(self, seen: Observation) -> None:
        """Stop before an obstacle that a new map shows on the path; once the base has stopped, plan another path or
        give up.
        """
        most = self.settings.travel.detours
        if not self.drive.waits and (why := self._blocked_ahead()):
            self.drive.waits = why
            if self.detours >= most:
                self._halt(seen, f"{why}, and {self.detours} of {most} detours were already taken" if most else why)
        elif self.drive.waits and seen.base_rests and not self.filter.u[:2].any():
            why, self._planned, self._entered_s = self.drive.waits, None, seen.time_s
            self.detours += 1
            if refused := self.drive.enter(seen):
                self._halt(seen, f"{why}, and no other path exists: {refused}")
            else:
                self.log.append(
                    Change(seen.time_s, "B", f"{why}: taking another path (detour {self.detours} of {most})")
                )

    def _enter(self, name: str, seen: Observation, why: str) -> None:
        self.stage, self._entered_s = name, seen.time_s
        self.log.append(Change(seen.time_s, name, why))
        if name in self._stages:
            refused = self._unusable(seen) or self._stages[name].enter(seen)
            if refused:
                self._halt(seen, f"it cannot start: {refused}")

    def _halt(self, seen: Observation, why: str) -> None:
        self.log.append(Change(seen.time_s, STOPPING, f"stage {self.stage} was stopped: {why}"))
        self.stage, self._rest_s = STOPPING, math.inf

    def _unusable(self, seen: Observation) -> str:
        if not seen.is_usable:
            return "a measured pose or speed is not finite"
        if seen.age_s > self.settings.follow.stale_s:
            return f"the base odometry is {seen.age_s:.2f} s old"
        return ""

    def _slipping(self, seen: Observation) -> str:
        """Whether the wheels have slipped for too long: wheel motion and measured pose disagree."""
        lasts_s, most_s = self._slip.update(seen.slipping, self.dt), self.settings.watch.slip_s
        return (
            f"the wheels have slipped for {lasts_s:.1f} s: odometry and measured pose do not match"
            if lasts_s >= most_s
            else ""
        )

    def _load_problem(self, seen: Observation) -> str:
        """Whether the arm is away from its commanded position, or something presses on its tool."""
        watch = self.settings.watch
        off = np.abs(seen.commanded - seen.q[BASE_JOINTS:]) - seen.ahead_s * np.abs(self.filter.u[2:])
        worst = int(off.argmax())
        if off[worst] > watch.joint_rad:
            return f"joint {worst + 1} is {off[worst]:.2f} rad away from its command: something blocks or pushes it"
        if seen.force_n > watch.force_n:
            return f"{seen.force_n:.0f} N act on the tool; at most {watch.force_n:g} N are allowed (watch.force_n)"
        return ""

    def _touching(self, seen: Observation) -> str:
        """Whether a base that may drive is about to touch something."""
        return "the base is about to touch an obstacle" if self.stage != "A" and self._touches(seen.q) else ""

    def _blocked_ahead(self) -> str:
        """Whether the rest of the path is blocked; checked once after each new map."""
        if self._planned is not None or self.reach_pose is None:
            return ""
        self._planned = self.reach_pose
        path = self.reach_pose.plan.path
        rows, gone = path.samples(0.05), self.drive.share * path.length_m
        along = np.linspace(0.0, path.length_m, len(rows))
        ahead = next((s for s, row in zip(along, rows, strict=True) if s >= gone - 0.05 and self._touches(row)), None)
        return "" if ahead is None else f"an obstacle blocks the path {max(0.0, ahead - gone):.1f} m ahead"

    def _finish_stop(self, seen: Observation) -> None:
        """End a stop once base and arm are at rest."""
        blind = bool(self._unusable(seen))
        if seen.time_s - self.log[-1].time_s > RESTLESS_S:
            self.stage = STOPPED
            self.log.append(Change(seen.time_s, STOPPED, f"base or arm still moves after {RESTLESS_S:g} s of stopping"))
            return
        if not self.filter.at_rest or not (blind or (seen.base_rests and seen.arm_rests)):
            self._rest_s = math.inf
            return
        self._rest_s = min(self._rest_s, seen.time_s)
        if seen.time_s - self._rest_s >= (BLIND_S if blind else REST_S):
            self.stage = STOPPED
            self.log.append(Change(seen.time_s, STOPPED, "base and arm have stopped"))


def _exact(q: Array, u: Array, time_s: float) -> Observation:
    """The observation of a robot that follows its command exactly."""
    return Observation(time_s, q, u[2:], u[:2], q[BASE_JOINTS:], q)


def _pose(goal: Any) -> Array:
    pose = np.array(goal, float)
    if pose.shape != (7,) or not np.isfinite(pose).all() or abs(np.linalg.norm(pose[3:]) - 1.0) > 1e-3:
        raise RejectedError(
            f"goal is {goal!r}, but it must be a pose: x, y, z [m] and a unit quaternion w, x, y, z, all finite.",
            field="goal", value=goal,
        )  # fmt: skip
    pose[3:] /= np.linalg.norm(pose[3:])
    return pose
