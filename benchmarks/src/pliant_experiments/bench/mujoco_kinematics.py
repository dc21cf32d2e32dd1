"""Forward kinematics and Jacobian by MuJoCo's function: what a tick's time is compared with."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numba import types

from pliant.kernel import floats, kernel, mj_kinematics, mujoco_function
from pliant.model.arm import Arm
from pliant.model.kinematics import jacobian
from pliant.model.tool import SENSOR, TOOL
from pliant.records import Field, Layout

mju_mat2quat = mujoco_function("mju_mat2Quat", types.intp, types.intp)

PLACES = Layout(
    "Places",
    (
        *(Field(name, "", "address in the mjData", kind="i8") for name in ("xanchor", "xaxis", "site_xpos")),
        Field("site_xmat", "", "address in the mjData", kind="i8"),
        Field("tool_site", "", "site at the tool centre point", kind="i8"),
        Field("sensor_site", "", "site of the force sensor", kind="i8"),
    ),
)


def places_of(arm: Arm) -> np.ndarray[Any, Any]:
    """Where MuJoCo puts its results; valid as long as the arm lives."""
    found = PLACES.new()
    for name in ("xanchor", "xaxis", "site_xpos", "site_xmat"):
        found[0][name] = getattr(arm.mjdata, name).ctypes.data
    found[0].tool_site, found[0].sensor_site = arm.mjmodel.site(TOOL).id, arm.mjmodel.site(SENSOR).id
    return found


def largest_gap(arm: Arm, places: np.ndarray[Any, Any], poses: int = 200) -> float:
    """The largest difference of a Jacobian here from that of MuJoCo's own function."""
    J, largest = np.zeros((6, arm.n)), 0.0
    for q in np.random.default_rng(0).uniform(-3.0, 3.0, (poses, arm.n)):
        by_mujoco_at(arm.handle, places, q)
        mujoco.mj_comPos(arm.mjmodel, arm.mjdata)
        mujoco.mj_jacSite(arm.mjmodel, arm.mjdata, J[:3], J[3:], int(places[0].tool_site))
        largest = max(largest, float(np.abs(arm.jacobian(q) - J).max()))
    return largest


@kernel
def _site_pose(m, site, pose):
    position = floats(m.site_xpos + 24 * site, 3)
    for k in range(3):
        pose[k] = position[k]
    mju_mat2quat(pose.ctypes.data + 24, m.site_xmat + 72 * site)


@kernel
def by_mujoco(h, m, q):
    """Place the arm at joint positions q [rad] with MuJoCo's function, poses of tool and sensor, and the Jacobian."""
    qpos, anchor, axis = floats(h.qpos, h.n), floats(m.xanchor, 3 * h.n), floats(m.xaxis, 3 * h.n)
    for i in range(h.n):
        qpos[i] = q[i]
    mj_kinematics(h.model, h.data)
    _site_pose(m, m.tool_site, h.X_tool)
    _site_pose(m, m.sensor_site, h.X_sensor)
    for i in range(h.n):
        for k in range(3):
            h.anchor[i, k], h.axis[i, k] = anchor[3 * i + k], axis[3 * i + k]
    jacobian(h)


@kernel
def by_mujoco_at(handle, places, q):
    """`by_mujoco` on one-element arrays, for calls from Python."""
    by_mujoco(handle[0], places[0], q)
