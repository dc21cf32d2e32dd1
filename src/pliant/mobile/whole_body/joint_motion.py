"""A joint motion from rest to rest: all joints together, straight in joint space, with smooth ends.

s(τ) = 10 τ³ - 15 τ⁴ + 6 τ⁵        largest speed 1.875/T, largest acceleration 5.774/T²
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.mobile.whole_body.kinematic_body import Body

Array = np.ndarray[Any, Any]

SPEED, ACCELERATION = 1.875, 10.0 / math.sqrt(3.0)
BASE_M_S, BASE_M_S2 = 0.05, 0.1
"""Largest base speed in a whole-body joint motion, in which the base moves only millimetres."""


@dataclass(frozen=True)
class JointMotion:
    """From `begin` to `end` [rad, m] within `seconds`."""

    begin: Array
    end: Array
    seconds: float

    @classmethod
    def between(cls, body: Body, begin: Any, end: Any, share: float) -> JointMotion:
        """As fast as this fraction of the speed and acceleration limits allows; for joints alone or a whole body."""
        a, b = np.array(begin, float), np.array(end, float)
        v, acceleration = share * body.chain.v_max[-body.arm_joints :], share * body.chain.a_max[-body.arm_joints :]
        if len(a) > body.arm_joints:
            more = len(a) - body.arm_joints
            v = np.concatenate([np.full(more, BASE_M_S), v])
            acceleration = np.concatenate([np.full(more, BASE_M_S2), acceleration])
        way = np.abs(b - a)
        seconds = max(float((SPEED * way / v).max()), math.sqrt(float((ACCELERATION * way / acceleration).max())))
        return cls(a, b, seconds)

    def at(self, time_s: float) -> tuple[Array, Array]:
        """Positions and speeds at a time since the start."""
        if self.seconds <= 0.0 or time_s >= self.seconds:
            return self.end.copy(), np.zeros_like(self.end)
        t = max(0.0, time_s) / self.seconds
        way = self.end - self.begin
        s = t**3 * (10.0 - 15.0 * t + 6.0 * t * t)
        rate = 30.0 * t * t * (1.0 - t) ** 2 / self.seconds
        return self.begin + s * way, rate * way
