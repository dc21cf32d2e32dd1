"""Runs of a follower on a simulated base, and their paths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.mobile.base.kinematic_base import KinematicBase, KinematicConfig
from pliant.mobile.following.drive_limits import DONE
from pliant.mobile.following.followers import Follower
from pliant.mobile.following.track import errors_at, locate
from pliant.mobile.planning.base_path import Path, reeds_shepp_path

Array = np.ndarray[Any, Any]

PERIOD_S, LONGEST_S = 0.02, 240.0
RADIUS_M = 0.5


def smooth_path(seed: int) -> Path:
    """A path of twenty metres with smoothly changing curvature, as arcs of two centimetres."""
    random = np.random.default_rng([5, seed])
    s = np.arange(0.0, 20.0, 0.02)
    waves = [(random.uniform(0.3, 0.7), random.uniform(0.2, 0.6), random.uniform(0, 6)) for _ in range(3)]
    curvature = sum(a * np.sin(2 * math.pi * f / 2 * s + phase) for a, f, phase in waves)
    return Path((0.0, 0.0, 0.0), np.stack([curvature, np.full(len(s), 0.02)], 1))


def cusp_path(seed: int) -> Path:
    """A Reeds-Shepp path between random poses, with arcs of 0.5 m radius and changes of direction."""
    random = np.random.default_rng([6, seed])
    goal = (*random.uniform(-4, 4, 2), random.uniform(-math.pi, math.pi))
    return reeds_shepp_path((0.0, 0.0, 0.0), goal, RADIUS_M)


@dataclass(frozen=True)
class Run:
    """The signals of a run: time, true pose, speeds, commands, true distance from the path, state."""

    time_s: Array
    pose: Array
    v: Array
    command: Array
    cross_m: Array
    state: Array
    path: Path

    @property
    def done(self) -> bool:
        return bool(self.state[-1] == DONE)

    @property
    def rms_m(self) -> float:
        """RMS distance from the path while the base moves."""
        moving = np.abs(self.v) > 0.02
        return float(np.sqrt(np.mean(self.cross_m[moving] ** 2)))

    @property
    def end_error(self) -> tuple[float, float]:
        """Distance [m] and heading error [rad] at the end."""
        x, y, heading = self.path.end
        last = self.pose[-1]
        return math.hypot(last[0] - x, last[1] - y), abs(math.remainder(last[2] - heading, math.tau))


def drive(follower: Follower, seed: int, config: KinematicConfig | None = None) -> Run:
    """Follow until the end, a stop or the time limit; the base starts slightly off the path."""
    random = np.random.default_rng([7, seed])
    off = random.normal(size=3) * (0.003, 0.003, 0.005)
    base = KinematicBase(np.array(follower.path.start) + off, config, seed)
    rows, s, part = [], 0.0, 0
    for k in range(round(LONGEST_S / PERIOD_S)):
        pose, v, omega, age = base.odometry()
        told = follower.update(pose, v, omega, age_s=age, dt=PERIOD_S)
        base.command(told.v, told.omega)
        truth = base.pose
        s = s if told.part == part else 0.0
        part = int(told.part)
        s = locate(follower.track, part, s, truth[0], truth[1])
        cross = errors_at(follower.track, part, s, truth)[0]
        rows.append((k * PERIOD_S, *truth, base.speeds[0], told.v, told.omega, cross, told.state))
        base.advance(PERIOD_S)
        if told.state == DONE and abs(base.speeds[0]) < 1e-3 and abs(base.speeds[1]) < 1e-3:
            break
    table = np.array(rows)
    table[-1, 1:4] = base.pose
    return Run(table[:, 0], table[:, 1:4], table[:, 4], table[:, 5:7], table[:, 7], table[:, 8], follower.path)
