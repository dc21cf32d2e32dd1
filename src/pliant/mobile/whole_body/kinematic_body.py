"""Arm and base as one body that cannot move sideways.

    q = (x, y, θ, q_arm)       u = (v, ω, q̇_arm)       q̇ = S(θ) u       twist of the tool = J S u = J_red u

The differential drive needs no constraint: u has no entry for a sideways speed. The first column of J_red is
J_x cos θ + J_y sin θ, the others are those of J. Axes are the world's, six-vectors [linear, angular].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Base as BaseLimits
from pliant.mobile.base.drive_model import limits_record
from pliant.mobile.whole_body.mobile_arm import Chassis, load_mobile
from pliant.model import kinematics
from pliant.model.arm import check_joints
from pliant.model.tool import Tool

Array = np.ndarray[Any, Any]

BASE_JOINTS = 3
"""Number of base joints in q; u has one fewer."""


@kernel
def reduce(h, heading, J):
    """Write J_red (6, n-1) for the pose of the last `kinematics.jacobian` into J."""
    c, s = math.cos(heading), math.sin(heading)
    for i in range(6):
        J[i, 0] = c * h.J[i, 0] + s * h.J[i, 1]
        for k in range(2, h.n):
            J[i, k - 1] = h.J[i, k]


@kernel
def reduced_at(handle, q, J):
    """`forward`, `jacobian` and `reduce` on a one-element handle array, for calls from Python."""
    kinematics.forward(handle[0], q)
    kinematics.jacobian(handle[0])
    reduce(handle[0], q[2], J)


@kernel
def advance(q, u, n, dt):
    """Move q by u for dt [s] in place: the base on its arc, the joints straight on."""
    along_arc(q, u[0], u[1], dt, q)
    for i in range(3, n):
        q[i] += dt * u[i - 1]


class Body:
    """A mobile manipulator as the controller sees it. Use one Body per thread."""

    def __init__(
        self,
        arm: str = "ur5e",
        base: Chassis | None = None,
        limits: BaseLimits | None = None,
        tool: Tool | None = None,
    ) -> None:
        self.limits, self.arm_name = limits or BaseLimits(), arm
        self.base = base or Chassis(track_m=self.limits.track_m)
        """Dimensions and mass of the base."""
        self.chain = load_mobile(self.base, arm, tool)
        """Base and arm as one kinematic chain."""
        self.n = self.chain.n
        """Length of q."""
        self.m = self.n - 1
        """Length of u."""
        self.arm_joints = self.n - BASE_JOINTS
        """Number of joints of the arm."""
        self.limits_record = limits_record(self.base, self.limits)
        """The limits of the base, as kernels read them."""

    @property
    def q_home(self) -> Array:
        """The base at the origin, the arm at its home pose."""
        return self.chain.q_home.copy()

    def pose(self, q: Any) -> Array:
        """X_WT: pose of the tool in the world, [x, y, z, qw, qx, qy, qz]."""
        return self.chain.pose(self.joints("q", q))

    def jacobian(self, q: Any) -> Array:
        """J_red (6, m): twist of the tool = J_red u, in world axes."""
        J = np.zeros((6, self.m))
        reduced_at(self.chain.handle, self.joints("q", q), J)
        return J

    def slide(self, heading: float) -> Array:
        """S(θ), (n, m): q̇ = S u."""
        S = np.zeros((self.n, self.m))
        S[0, 0], S[1, 0] = math.cos(heading), math.sin(heading)
        S[2:, 1:] = np.eye(self.m - 1)
        return S

    def moved(self, q: Any, u: Any, dt: float) -> Array:
        """q after dt [s] of u."""
        out = self.joints("q", q).copy()
        advance(out, np.asarray(u, float), self.n, dt)
        return out

    def posture(self, field: str, value: Any) -> Array:
        """`value` as a finite number for each joint of the arm, or an error that names `field`."""
        try:
            q = np.array(value, float)
        except (TypeError, ValueError):
            q = np.empty(0)
        if q.shape != (self.arm_joints,) or not np.isfinite(q).all():
            raise InputError(field, value, f"{self.arm_joints} finite numbers, one per joint of the arm")
        return q

    def within(self, field: str, value: Any) -> Array:
        """`value` as an angle for each joint of the arm, within its range, or an error that names `field`."""
        chain, of_arm = self.chain, slice(BASE_JOINTS, None)
        low, high, units = chain.q_min[of_arm], chain.q_max[of_arm], chain.units[of_arm]
        return check_joints(field, value, self.arm_name, chain.joint_names[of_arm], low, high, units)

    def joints(self, field: str, value: Any) -> Array:
        """`value` as n finite numbers, or an error that names `field`."""
        q = np.array(value, float)
        if q.shape != (self.n,) or not np.isfinite(q).all():
            raise InputError(field, value, f"{self.n} finite numbers: x, y, heading and {self.arm_joints} joints")
        return q
