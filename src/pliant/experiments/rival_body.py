"""A rival of the whole-body program: solve for nine joints that may all move, and send the base what it can do of it.

The sideways part of the base's velocity is computed and dropped. `aware` gives it the true pose of the base in every
step; without, it goes on from where it believes the base to be.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.experiments.body_scenes import DT, Path
from pliant.mobile.body import Body
from pliant.spatial import pose_error

Array = np.ndarray[Any, Any]

GAIN, DAMPING = 8.0, 1e-3


def drop_sideways(body: Body, seconds: float, *, aware: bool) -> Array:
    """Distance of the tool from its target [m] and the base's pose, one row per period; motion is exact."""
    path = Path(body.pose(body.q_home))
    real, believed, e = body.q_home, body.q_home, np.zeros(6)
    rows = np.zeros((round(seconds / DT), 4))
    for i in range(len(rows)):
        target, twist = path.at(i * DT)
        rows[i] = np.linalg.norm(body.pose(real)[:3] - target[:3]), *real[:3]
        if aware:
            believed = real.copy()
        pose_error(body.pose(believed), target, e)
        J = body.chain.jacobian(believed)
        # all nine joints, damped least squares
        qd = J.T @ np.linalg.solve(J @ J.T + DAMPING**2 * np.eye(6), twist - GAIN * e)
        c, s = math.cos(believed[2]), math.sin(believed[2])
        v = c * qd[0] + s * qd[1]
        real = body.moved(real, np.array([v, *qd[2:]]), DT)
        believed = believed + DT * qd
    return rows
