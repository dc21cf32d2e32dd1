"""The largest possible reach of an arm, from its link lengths alone."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

FAR = 1e4
"""Reach [m] of an arm on rails."""


def reach_of(model: Any, data: Any, tool_site: int) -> tuple[NDArray[np.float64], float, float]:
    """Centre [m], inner and outer radius [m] of the shell that contains every reachable tool position.

    The distance between neighbouring joints is constant. So the tool is never farther from the first joint than the sum
    of these distances, and never nearer than the longest distance minus the sum of the others.
    """
    mujoco.mj_kinematics(model, data)
    points = np.vstack([data.xanchor, data.site_xpos[tool_site]])
    links = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if (model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE).any():
        return points[0].copy(), 0.0, FAR
    return points[0].copy(), max(0.0, float(2 * links.max() - links.sum())), float(links.sum())


def apply_model_errors(model: Any, data: Any, masses: float, lengths: float, friction: float, tool_body: int) -> None:
    """Add model errors: multiply the arm's masses, lengths and friction by these factors. The tool is unchanged."""
    arm = np.arange(model.nbody) != tool_body
    model.body_mass[arm] *= masses
    model.body_inertia[arm] *= masses
    model.body_ipos[arm] *= lengths
    model.body_pos[:] *= lengths
    model.jnt_pos[:] *= lengths
    model.dof_damping[:] *= friction
    model.dof_frictionloss[:] *= friction
    mujoco.mj_setConst(model, data)
