"""One filter for everything that base and arm are told: whoever is in command, speeds change within the limits.

    (v, ω): one share for both changes keeps the path; braking does not wait      q̇: each joint within its own window

Every stage of a mission speaks through the same filter, so a change of stage, and a stop in the middle of one, are as
continuous as all the rest. What it was last told is all that it remembers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.kernel import kernel
from pliant.mobile.base import limited
from pliant.mobile.body import Body
from pliant.mobile.whole_body import joint_window

Array = np.ndarray[Any, Any]


@kernel
def let_through(handle, limits, q, asked, dt, u):
    """Move u towards what is asked, as far as base and joints (at q) allow within dt [s]."""
    h = handle[0]
    limited(limits[0], u, asked, dt, u)
    for i in range(2, h.n - 1):
        low, high = joint_window(h, i + 1, q[i - 2], u[i], dt)
        u[i] = min(max(asked[i], low), high)


class BodyFilter:
    """Lets u = (v, ω, q̇) change no faster than base and arm can follow."""

    def __init__(self, body: Body, dt: float) -> None:
        self.body, self.dt = body, dt
        self.u = np.zeros(body.m)
        """What went out last."""

    def step(self, asked: Any, joints: Any) -> Array:
        """What to command now, when `asked` is wanted and the arm is told to be at `joints` [rad].

        Base or arm, whichever is asked for something that is no number, is asked to stand.
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
        """Whether everything is told to stand."""
        return not self.u.any()
