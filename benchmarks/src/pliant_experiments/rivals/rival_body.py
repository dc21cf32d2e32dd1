"""For comparison with whole-body motion: solve for nine free joints, and send the base the part it can execute.

The sideways part of the base's velocity is computed and dropped. `aware` uses the true base pose in every step;
otherwise the assumed base pose is integrated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.mobile.whole_body.kinematic_body import Body
from pliant.spatial import pose_error
from pliant_experiments.scenes.body_scenes import DT, Path

Array = np.ndarray[Any, Any]

GAIN, DAMPING = 8.0, 1e-3


def drop_sideways(body: Body, seconds: float, *, aware: bool) -> Array:
    """Tool position error [m] and base pose, one row per period; motion is exact."""
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
