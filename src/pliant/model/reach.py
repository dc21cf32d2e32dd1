"""How far an arm can possibly reach, from the lengths of its links alone."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

FAR = 1e4
"""Reach [m] of an arm on rails."""


def reach_of(model: Any, data: Any, tool_site: int) -> tuple[NDArray[np.float64], float, float]:
    """Centre [m], inner and outer radius [m] of the shell outside which no posture brings the tool.

    Between two neighbouring joints the distance is always the same, so the tool is never farther from the first joint
    than all of them together, and never nearer than the longest is longer than the rest.
    """
    mujoco.mj_kinematics(model, data)
    points = np.vstack([data.xanchor, data.site_xpos[tool_site]])
    links = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if (model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE).any():
        return points[0].copy(), 0.0, FAR
    return points[0].copy(), max(0.0, float(2 * links.max() - links.sum())), float(links.sum())


def misjudge(model: Any, data: Any, masses: float, lengths: float, friction: float, tool_body: int) -> None:
    """Change a model into what someone believes who is wrong about the arm by these factors; the tool is as it is."""
    arm = np.arange(model.nbody) != tool_body
    model.body_mass[arm] *= masses
    model.body_inertia[arm] *= masses
    model.body_ipos[arm] *= lengths
    model.body_pos[:] *= lengths
    model.jnt_pos[:] *= lengths
    model.dof_damping[:] *= friction
    mujoco.mj_setConst(model, data)
