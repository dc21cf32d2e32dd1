"""One filter for all commands to base and arm: whichever stage is active, speeds change within the limits.

    (v, ω): both change by one fraction, which keeps the path; braking does not wait      q̇: each joint within its range

Every stage of a mission commands through the same filter, so a change of stage or a stop in the middle of one is as
continuous as normal motion. The filter remembers only its last command.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.kernel import kernel
from pliant.mobile.base.drive_model import limited
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.program import joint_window

Array = np.ndarray[Any, Any]


@kernel
def let_through(handle, limits, q, asked, dt, u):
    """Move u towards the request, as far as base and joints (at q) allow within dt [s]."""
    h = handle[0]
    limited(limits[0], u, asked, dt, u)
    for i in range(2, h.n - 1):
        low, high = joint_window(h, i + 1, q[i - 2], u[i], dt)
        u[i] = min(max(asked[i], low), high)


class BodyFilter:
    """Limits the change of u = (v, ω, q̇) to what base and arm can follow."""

    def __init__(self, body: Body, dt: float) -> None:
        self.body, self.dt = body, dt
        self.u = np.zeros(body.m)
        """The last command."""

    def step(self, asked: Any, joints: Any) -> Array:
        """The next command for the request `asked`, with the arm commanded to `joints` [rad].

        A request that is not finite stops the base or the arm, whichever it is for.
        """
        wish = np.array(asked, float)
        for part in (slice(0, 2), slice(2, None)):
            if not np.isfinite(wish[part]).all():
                wish[part] = 0.0
        q = np.ascontiguousarray(joints, float)
        let_through(self.body.chain.handle, self.body.limits_record, q, wish, self.dt, self.u)
        return self.u.copy()

    @property
    def at_rest(self) -> bool:
        """Whether the command is zero."""
        return not self.u.any()
