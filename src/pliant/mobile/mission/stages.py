"""The three stages of a mission. Each defines its entry check, its command, when it is done and what stops it.

    A  the arm moves to its park pose, the base is locked
    B  the base drives to its goal pose, the arm holds still
    C  base and arm together move the tool to its goal

The command of a stage passes one filter (`handover`), and the stage continues from the filtered command.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.mobile.following import drive_limits
from pliant.mobile.following.followers import Follower
from pliant.mobile.following.progress import ProgressWatch
from pliant.mobile.mission.mission_params import MissionSettings
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.base_poses import ReachPose
from pliant.mobile.whole_body.joint_motion import JointMotion
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.mobile.whole_body.program import WholeBodyMotion
from pliant.spatial import pose_error

Array = np.ndarray[Any, Any]

Search = Callable[[], ReachPose | None]
"""A search for a base pose and a path: None until they are found; raises a `PliantError` if there are none."""
HOLD_1_S = 8.0
"""Rate at which a joint returns to its target."""
JOINT_REST_RAD_S = 0.02
EVEN_S = 0.05
"""Time over which readings are averaged to decide whether the tool has settled."""


@dataclass(frozen=True)
class Observation:
    """The measurements of one period."""

    time_s: float
    q: Array
    """Base and joints as measured: x, y, heading, joints [m, rad]."""
    qd: Array
    """Speeds of the joints [rad/s]."""
    twist: Array
    """Speed and turning speed of the base [m/s, rad/s]."""
    commanded: Array
    """Commanded joint positions [rad]."""
    expected: Array
    """Base and joints when the present command takes effect [m, rad]."""
    ahead_s: float = 0.0
    """Time until then [s]."""
    age_s: float = 0.0
    """Age of the base's pose."""
    force_n: float = 0.0
    """Force at the tool."""
    slipping: bool = False
    """Whether the wheels slip."""

    @property
    def is_usable(self) -> bool:
        """Whether all values are finite."""
        parts = self.q, self.qd, self.twist, self.expected, (self.time_s, self.age_s)
        return all(bool(np.isfinite(part).all()) for part in parts)

    @property
    def base_rests(self) -> bool:
        return bool(abs(self.twist[0]) < drive_limits.AT_REST_M_S and abs(self.twist[1]) < drive_limits.AT_REST_RAD_S)

    @property
    def arm_rests(self) -> bool:
        return bool(np.abs(self.qd).max() < JOINT_REST_RAD_S)


def from_place(a: Any, b: Any) -> tuple[float, float]:
    """Distance [m] and angle [rad] between two base poses."""
    return math.hypot(a[0] - b[0], a[1] - b[1]), abs(math.remainder(float(a[2] - b[2]), math.tau))


class Stage(ABC):
    """One stage of a mission. Its answers are parts of a sentence; an empty text means no."""

    letter: str
    does: str
    limit_s: float

    def __init__(self, body: Body) -> None:
        self.body = body

    @abstractmethod
    def enter(self, seen: Observation) -> str:
        """Start the stage; returns why it cannot start, or ""."""

    @abstractmethod
    def requested(self, seen: Observation) -> Array:
        """The requested u = (v, ω, q̇)."""

    @abstractmethod
    def reached(self, seen: Observation) -> str:
        """The result if the stage is done, or ""."""

    def stop_reason(self, seen: Observation) -> str:
        """Why the stage must not continue, or ""."""
        return ""

    def use_filtered(self, u: Array) -> None:
        """Receive the filtered command."""
        return

    @property
    def share(self) -> float:
        """Approximate progress."""
        return 0.0


class ParkStage(Stage):
    """A: the arm moves to its park pose; the base does not move."""

    letter, does = "A", "parks the arm"

    def __init__(self, body: Body, settings: MissionSettings, park_q: Array) -> None:
        super().__init__(body)
        self.settings, self.park_q, self.limit_s = settings.park, park_q, settings.park.limit_s

    def enter(self, seen: Observation) -> str:
        if not seen.base_rests:
            return f"the base is not at rest: it moves at {seen.twist[0]:.2f} m/s and {seen.twist[1]:.2f} rad/s"
        self._motion = JointMotion.between(self.body, seen.commanded, self.park_q, self.settings.speed)
        if self._motion.seconds > self.limit_s:
            return f"the arm needs {self._motion.seconds:.1f} s to its park pose; park.limit_s is {self.limit_s:g} s"
        self._began_s, self._stood, self._now_s = seen.time_s, seen.q[:BASE_JOINTS].copy(), seen.time_s
        return ""

    def requested(self, seen: Observation) -> Array:
        self._now_s = seen.time_s
        q, qd = self._motion.at(seen.time_s - self._began_s)
        return np.concatenate([np.zeros(2), qd + HOLD_1_S * (q - seen.commanded)])

    def reached(self, seen: Observation) -> str:
        off = float(np.abs(seen.q[BASE_JOINTS:] - self.park_q).max())
        over = seen.time_s - self._began_s >= self._motion.seconds
        if over and off <= self.settings.tolerance_rad and seen.arm_rests:
            return f"the arm is parked, with a joint error of at most {off:.4f} rad"
        return ""

    def stop_reason(self, seen: Observation) -> str:
        moved, turned = from_place(seen.q, self._stood)
        if moved > self.settings.moved_m:
            return f"the base is locked but has moved by {1e3 * moved:.0f} mm"
        if turned > self.settings.moved_rad:
            return f"the base is locked but has turned by {math.degrees(turned):.1f}°"
        return ""

    @property
    def share(self) -> float:
        return min(1.0, (self._now_s - self._began_s) / max(self._motion.seconds, 1e-9))


class DriveStage(Stage):
    """B: the base follows its path; the arm holds its park pose."""

    letter, does = "B", "drives"

    def __init__(
        self,
        body: Body,
        settings: MissionSettings,
        park_q: Array,
        find: Callable[[Any], Search],
        follow: Callable[[Path], Follower],
        dt: float,
    ) -> None:
        super().__init__(body)
        self.settings, self.park_q, self._find, self._follow, self._dt = settings, park_q, find, follow, dt
        self.limit_s = settings.travel.limit_s
        self.reach_pose: ReachPose | None = None
        self.follower: Follower | None = None
        self._search: Search | None = None
        self.waits = ""
        """Why the base waits, if it does: an obstacle is on its path."""
        self._report: Any = None
        self._progress, self._command = ProgressWatch(), np.zeros(2)

    def enter(self, seen: Observation) -> str:
        self.waits, self._report = "", None
        self._progress = ProgressWatch(self.settings.watch, self.settings.base.delay_s)
        self._command = np.zeros(2)
        off = float(np.abs(seen.q[BASE_JOINTS:] - self.park_q).max())
        if off > self.settings.park.tolerance_rad or not (seen.base_rests and seen.arm_rests):
            return f"base and arm are not at rest with the arm parked (joint error {off:.3f} rad)"
        self.follower = None
        try:
            self._search = self._find(seen.q[:BASE_JOINTS].copy())
        except PliantError as error:
            return str(error).rstrip(".")
        return self._poll_search()

    @property
    def seeks(self) -> bool:
        """Whether the search for a base pose and a path is still running; the base waits meanwhile."""
        return self._search is not None

    def _poll_search(self) -> str:
        """Take base pose and path once they are found; otherwise the reason why there are none."""
        if self._search is None:
            return ""
        try:
            found = self._search()
        except PliantError as error:
            self._search = None
            return str(error).rstrip(".")
        if found is not None:
            self.reach_pose, self._search = found, None
            path, travel = found.plan.path, self.settings.travel
            self.limit_s = max(travel.limit_s, travel.limit_s_m * path.length_m)
            is_there = path.length_m < 1e-3
            self.follower = None if is_there else self._follow(path)
        return ""

    def requested(self, seen: Observation) -> Array:
        u = np.concatenate([np.zeros(2), HOLD_1_S * (self.park_q - seen.commanded)])
        if self.follower is not None and not self.waits:
            place, (v, omega) = seen.q[:BASE_JOINTS], seen.twist
            self._report = self.follower.update(place, v, omega, age_s=seen.age_s, dt=self._dt)
            u[:2] = self._report.v, self._report.omega
        return u

    def use_filtered(self, u: Array) -> None:
        self._command = u[:2].copy()
        if self._report is not None:  # a view of the follower's own record: it continues from the filtered command
            self._report.v, self._report.omega = u[0], u[1]

    def reached(self, seen: Observation) -> str:
        if (
            self.waits
            or self.seeks
            or self.reach_pose is None
            or not (self.follower is None or self.follower.done)
            or not seen.base_rests
        ):
            return ""
        far, turned = from_place(seen.q, self.reach_pose.q)
        return f"the base has stopped {1e3 * far:.1f} mm and {math.degrees(turned):.2f}° from its goal pose"

    def stop_reason(self, seen: Observation) -> str:
        if why := self._poll_search():
            return why
        state = 0 if self._report is None else int(self._report.state)
        bad = (drive_limits.STALE, drive_limits.NO_NUMBER, drive_limits.LOST, drive_limits.BLOCKED)
        if state in bad:
            return drive_limits.STATES[state].removeprefix("stopped: ")
        return self._progress.update(seen.time_s, self._command, seen.q[:BASE_JOINTS])

    @property
    def share(self) -> float:
        length = self.reach_pose.plan.path.length_m if self.reach_pose else 0.0
        return 0.0 if self._report is None else min(1.0, float(self._report.path_m) / max(length, 1e-9))


class ReachStage(Stage):
    """C: the tool follows a path that the arm alone could follow from the base pose; base and arm share the motion.

    The base is some millimetres off its goal pose, so the path starts at the measured tool pose and ends at the goal.
    The underlying joint motion is the preferred posture.
    """

    letter, does = "C", "moves the tool to its goal"

    def __init__(self, body: Body, settings: MissionSettings, goal: Array, dt: float) -> None:
        super().__init__(body)
        self.settings, self.goal = settings, goal
        self.limit_s = settings.reach.limit_s
        self.motion = WholeBodyMotion(body, settings.whole_body, dt)
        self.place: Array | None = None
        """Base and joints with the tool at its goal, as planned."""
        self.target = goal.copy()
        """Target of the tool when the present command takes effect."""
        self._solved = True

    def enter(self, seen: Observation) -> str:
        if self.place is None or not (seen.base_rests and seen.arm_rests):
            return "base and arm are not at rest at the base pose to reach from"
        far, turned = from_place(seen.q, self.place)
        travel = self.settings.travel
        if far > travel.stand_m or math.degrees(turned) > travel.stand_deg:
            return f"the base is {1e3 * far:.0f} mm and {math.degrees(turned):.1f}° away from the pose to reach from"
        begin, end = np.concatenate([seen.q[:BASE_JOINTS], seen.commanded]), self.place.copy()
        end[2] = begin[2] + math.remainder(float(end[2] - begin[2]), math.tau)
        self._motion = JointMotion.between(self.body, begin, end, self.settings.reach.speed)
        self._began_s, self._near_s, self._now_s = seen.time_s, math.inf, seen.time_s
        self._off, self._speeds = np.full(6, math.nan), np.zeros(self.body.m)
        self.motion.u[:] = 0.0
        return ""

    def requested(self, seen: Observation) -> Array:
        self._now_s = seen.time_s
        q, qd = self._motion.at(seen.time_s + seen.ahead_s - self._began_s)
        self.target = self.body.pose(q)
        # with the speed in it, the posture is followed without lag
        self.motion.posture = (q + qd / max(self.settings.whole_body.posture_1_s, 1e-3))[BASE_JOINTS:]
        moved = self.motion.track(seen.expected, self.target, self.body.chain.jacobian(q) @ qd)
        self._solved = moved.solved
        return moved.u

    def use_filtered(self, u: Array) -> None:
        self.motion.u[:] = u

    def reached(self, seen: Observation) -> str:
        far, turned = self._error(seen)
        reach = self.settings.reach
        near = far <= reach.tolerance_m and turned <= math.radians(reach.tolerance_deg)
        slow = np.abs(self._speeds[:2]) < (drive_limits.AT_REST_M_S, drive_limits.AT_REST_RAD_S)
        rests = bool(slow.all() and np.abs(self._speeds[2:]).max() < JOINT_REST_RAD_S)
        if not (near and rests and seen.time_s - self._began_s >= self._motion.seconds):
            self._near_s = math.inf
            return ""
        self._near_s = min(self._near_s, seen.time_s)
        if seen.time_s - self._near_s < reach.settle_s:
            return ""
        return f"the tool is {1e3 * far:.2f} mm and {math.degrees(turned):.3f}° from its goal"

    def _error(self, seen: Observation) -> tuple[float, float]:
        """Distance [m] and angle [rad] of the tool from its goal; like the speeds, without the noise of one reading."""
        now = np.zeros(6)
        pose_error(self.body.pose(seen.q), self.goal, now)
        share = min(1.0, self.motion.dt / EVEN_S)
        self._off = now if np.isnan(self._off).any() else self._off + share * (now - self._off)
        self._speeds += share * (np.concatenate([seen.twist, seen.qd]) - self._speeds)
        return float(np.linalg.norm(self._off[:3])), float(np.linalg.norm(self._off[3:]))

    def stop_reason(self, seen: Observation) -> str:
        return "" if self._solved else "the whole-body program has no solution"

    @property
    def share(self) -> float:
        return min(1.0, (self._now_s - self._began_s) / max(self._motion.seconds, 1e-9))


def pose_apart(a: Array, b: Array) -> Array:
    """Distance [m] and angle [rad] between two poses."""
    cosine = min(1.0, abs(float(a[3:] @ b[3:])) / float(np.linalg.norm(a[3:]) * np.linalg.norm(b[3:])))
    return np.array((float(np.linalg.norm(a[:3] - b[:3])), 2.0 * math.acos(cosine)))
