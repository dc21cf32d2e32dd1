"""Kinematics and dynamics of one arm, from inside compiled code.

Kinematics follow from the chain of joints (see `chain`), dynamics from MuJoCo's C functions.

`h` is one record of `handle.HANDLE`. Call `forward` first; `jacobian` needs its result. `dynamics` can be called alone
and also sets everything that `forward` and `jacobian` set. Axes are those of the base, six-vectors [linear, angular].
"""

from __future__ import annotations

from pliant.kernel import (
    floats,
    kernel,
    mj_comPos,
    mj_comVel,
    mj_crb,
    mj_fullM,
    mj_jacDot,
    mj_kinematics,
    mj_rne,
)
from pliant.model.chain import end_pose, walk


@kernel
def place(h, q):
    """Place the arm at joint positions q [rad]: sets X_tool."""
    walk(h, q)
    end_pose(h, h.tool_link, h.X_tool)


@kernel
def forward(h, q):
    """Place the arm at joint positions q [rad]: sets X_tool and X_sensor."""
    place(h, q)
    end_pose(h, h.sensor_link, h.X_sensor)


@kernel
def jacobian(h):
    """Set J, the Jacobian of the tool point at the pose of the last `forward`: twist = J qd."""
    J, x, y, z = h.J, h.X_tool[0], h.X_tool[1], h.X_tool[2]
    for i in range(h.n):
        zx, zy, zz = h.axis[i, 0], h.axis[i, 1], h.axis[i, 2]
        if h.slides[i] != 0:
            J[0, i], J[1, i], J[2, i] = zx, zy, zz
            J[3, i], J[4, i], J[5, i] = 0.0, 0.0, 0.0
        else:
            # z × (p_tool - p_anchor)
            rx, ry, rz = x - h.anchor[i, 0], y - h.anchor[i, 1], z - h.anchor[i, 2]
            J[0, i], J[1, i], J[2, i] = zy * rz - zz * ry, zz * rx - zx * rz, zx * ry - zy * rx
            J[3, i], J[4, i], J[5, i] = zx, zy, zz


@kernel
def dynamics(h, q, qd):
    """Set M, bias and Jdot_qd at positions q [rad] and velocities qd [rad/s], and all that forward and jacobian set."""
    n = h.n
    qpos, qvel = floats(h.qpos, n), floats(h.qvel, n)
    for i in range(n):
        qpos[i], qvel[i] = q[i], qd[i]
    forward(h, q)
    jacobian(h)
    mj_kinematics(h.model, h.data)
    mj_comPos(h.model, h.data)
    mj_crb(h.model, h.data)
    mj_fullM(h.model, h.data, h.dense.ctypes.data)
    for i in range(n):
        for j in range(n):
            h.M[i, j] = h.dense[i * n + j]
    mj_comVel(h.model, h.data)
    mj_rne(h.model, h.data, 0, h.bias.ctypes.data)
    mj_jacDot(h.model, h.data, h.jacp.ctypes.data, h.jacr.ctypes.data, h.X_tool.ctypes.data, h.tool_body)
    for k in range(3):
        linear, angular = 0.0, 0.0
        for i in range(n):
            linear += h.jacp[k * n + i] * qd[i]
            angular += h.jacr[k * n + i] * qd[i]
        h.Jdot_qd[k], h.Jdot_qd[3 + k] = linear, angular


@kernel
def weight(h, tau):
    """The torques [N m] that hold the arm at the pose of the last `dynamics`; call `dynamics` again afterwards."""
    qvel = floats(h.qvel, h.n)
    for i in range(h.n):
        qvel[i] = 0.0
    mj_comVel(h.model, h.data)
    mj_rne(h.model, h.data, 0, tau.ctypes.data)


@kernel
def forward_at(handle, q):
    """`forward` on a one-element handle array, for calls from Python."""
    forward(handle[0], q)


@kernel
def jacobian_at(handle, q):
    """`forward` and `jacobian` on a one-element handle array, for calls from Python."""
    forward(handle[0], q)
    jacobian(handle[0])


@kernel
def dynamics_at(handle, q, qd):
    """`dynamics` on a one-element handle array, for calls from Python."""
    dynamics(handle[0], q, qd)
