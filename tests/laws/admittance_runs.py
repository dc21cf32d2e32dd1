"""Runs of the admittance law alone, with a robot that does exactly what it is told."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pliant.control.laws import admittance
from pliant.control.parameters import GAINS, Admittance
from pliant.kernel import kernel
from pliant.params.packing import to_record
from pliant.records import STATE
from pliant.spatial import pose_error, pose_integrate

Array = np.ndarray[Any, Any]
REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
STILL = 1e-3


@kernel
def _run(p, g, s, F, goal, goal_twist, still, dt, ticks, w, poses, twists):
    """The law in closed loop with a robot that does exactly what it is told; the goal moves with its twist."""
    e = np.zeros(6)
    for k in range(ticks):
        pose_error(s[0].pose, goal, e)
        admittance.step(p[0], g[0], s[0], F, e, goal_twist, s[0].twist - goal_twist, still, dt, w[0])
        pose_integrate(s[0].pose, s[0].twist, dt, s[0].pose)
        pose_integrate(goal, goal_twist, dt, goal)
        poses[k] = s[0].pose
        twists[k] = s[0].twist


def matrix(value: Any) -> Array:
    """A number or six numbers as a diagonal; a matrix as it is."""
    array = np.asarray(value, float)
    return array if array.ndim == 2 else np.diag(np.broadcast_to(array, 6))


def gains(M: Any, D: Any, K: Any) -> Array:
    """Gains that are not changing."""
    g = GAINS.new()
    for name, value in (("M", M), ("D", D), ("K", K)):
        g[0][name + "0"] = g[0][name + "1"] = matrix(value)
    g[0].free = ~g[0].K1.any(axis=1)
    return g


def run(
    M: Any, D: Any, K: Any, F: Any = 0.0, *, dt: float = 0.002, seconds: float = 1.0, start: Any = REST,
    twist: Any = 0.0, goal_twist: Any = 0.0,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Poses, twists and the last goal of a run; a number for M, D or K stands for all axes."""
    p, s, ticks = to_record(Admittance()), STATE.new(), round(seconds / dt)
    s[0].pose[:], s[0].twist[:], s[0].ramp = start, twist, 1.0
    poses, twists, goal, w = np.zeros((ticks, 7)), np.zeros((ticks, 6)), REST.copy(), admittance.SCRATCH.new()
    F, goal_twist = np.broadcast_to(F, 6).astype(float), np.broadcast_to(goal_twist, 6).astype(float)
    _run(p, gains(M, D, K), s, F, goal, goal_twist, STILL, dt, ticks, w, poses, twists)
    return poses, twists, goal


def turned(rotvec: Any, position: Any = (0, 0, 0)) -> Array:
    return np.array([*position, *Rotation.from_rotvec(rotvec).as_quat(scalar_first=True)])
