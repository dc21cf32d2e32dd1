"""Forward kinematics of a chain of joints, in compiled code.

Every joint has a frame whose z axis is the joint's axis. A fixed displacement leads from one frame to the next; then
the joint turns about z by its position, or shifts along z:

    X_i = X_{i-1} C_i Z_i(q_i)          X_tool = X_n C_tool          X_sensor = X_n C_sensor

`links` takes the displacements C from the MuJoCo model. MuJoCo's own function also places bodies, inertias and shapes,
which a tick does not need, and takes more than twice as long.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.records import Field, Layout
from pliant.spatial import product, rotated

LINK = Layout(
    "Link",
    (
        Field("shift", "m", "where it leads, in the frame before", (3,)),
        Field("turn", "-", "its rotation, a unit quaternion", (4,)),
    ),
)
"""A fixed displacement C."""


@kernel
def _displaced(link, x, y, z, qw, qx, qy, qz):
    """The frame to which a link leads, from position and quaternion of the frame before: 3 + 4 numbers."""
    a, b, c = rotated(qw, qx, qy, qz, link.shift[0], link.shift[1], link.shift[2])
    turn = link.turn
    return (x + a, y + b, z + c), product(qw, qx, qy, qz, turn[0], turn[1], turn[2], turn[3])


@kernel
def walk(h, q):
    """Put joint axes (`anchor`, `axis`) and the frame of the last joint (`last`) into the handle, for positions q."""
    x, y, z = 0.0, 0.0, 0.0
    qw, qx, qy, qz = 1.0, 0.0, 0.0, 0.0
    for i in range(h.n):
        (x, y, z), (qw, qx, qy, qz) = _displaced(h.link[i], x, y, z, qw, qx, qy, qz)
        zx, zy, zz = 2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
        h.anchor[i, 0], h.anchor[i, 1], h.anchor[i, 2] = x, y, z
        h.axis[i, 0], h.axis[i, 1], h.axis[i, 2] = zx, zy, zz
        if h.slides[i] != 0:
            x, y, z = x + q[i] * zx, y + q[i] * zy, z + q[i] * zz
        else:
            c, s = math.cos(0.5 * q[i]), math.sin(0.5 * q[i])
            qw, qx, qy, qz = c * qw - s * qz, c * qx + s * qy, c * qy - s * qx, c * qz + s * qw
    last = h.last
    last[0], last[1], last[2], last[3], last[4], last[5], last[6] = x, y, z, qw, qx, qy, qz


@kernel
def end_pose(h, link, pose):
    """Write the pose of a frame behind the last joint [m, -]; call `walk` first."""
    last = h.last
    at, turn = _displaced(link, last[0], last[1], last[2], last[3], last[4], last[5], last[6])
    qw, qx, qy, qz = turn
    # its length is 1 up to rounding: one Newton step of 1/√ makes it exact
    k = _sign(qw, qx, qy, qz) * (1.5 - 0.5 * (qw * qw + qx * qx + qy * qy + qz * qz))
    pose[0], pose[1], pose[2] = at
    pose[3], pose[4], pose[5], pose[6] = k * qw, k * qx, k * qy, k * qz


@kernel
def _sign(qw, qx, qy, qz):
    """Which of the two equal quaternions to give: that of MuJoCo, where a large component is positive.

    With w ≥ 0, noise would change the sign of all components where w is nearly zero, as for a tool that points down.
    """
    large = qz
    if qw * qw > 0.25:
        large = qw
    elif qx * qx > qy * qy and qx * qx > qz * qz:
        large = qx
    elif qy * qy > qz * qz:
        large = qy
    return math.copysign(1.0, large)
