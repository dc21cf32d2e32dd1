"""Joint states and wrench of an arm over ROS 2, and whether they are plausible.

Anyone on the network can publish on these topics, and a wrong position leads to a wrong velocity. So only one
publisher per topic is accepted, and readings must be plausible. A second publisher of the same joints, a value that is
not finite, a joint outside its range, or a position jump is a fault.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from pliant.model.arm import Arm

Array = np.ndarray[Any, Any]

# How far a joint may be outside its range, or beyond its fastest motion [rad, m].
RANGE_MARGIN, JUMP_MARGIN = 0.1, 0.05
# How many times its top speed a joint may report: speeds are noisy.
SPEED_MARGIN = 2.0


class JointStates:
    """The newest joint states of an arm, in the order of its joints; `fault` says why they are not plausible."""

    def __init__(self, arm: Arm, names: list[str], gap_s: float) -> None:
        self._arm, self._names, self._gap_s = arm, names, gap_s
        self._order: tuple[list[str], list[int] | None] = ([], None)
        self._publisher = 0
        self.q, self.qd, self.tau = np.zeros(arm.n), np.zeros(arm.n), np.zeros(arm.n)
        self.stamp_s, self.heard_s, self.fault = 0.0, -math.inf, ""

    @property
    def is_known(self) -> bool:
        """Whether any joint states have arrived."""
        return self.heard_s > -math.inf

    @property
    def now_s(self) -> float:
        """The present time on the clock that stamps them [s]."""
        return self.stamp_s + time.monotonic() - self.heard_s

    def take(self, message: Any, publisher: int = 0) -> bool:
        """Accept a message; False if it does not hold all joints of the arm or is not plausible.

        A message with a stamp no later than the last is ignored: a publisher that repeats itself counts as silent.
        """
        order = self._order_of(message.name)
        if self.fault or order is None or len(message.position) != len(message.name):
            return False
        if self.is_known and publisher != self._publisher:
            self.fault = "more than one publisher reports the arm's joints. Stop all but the arm's own driver"
            return False
        stamp, q = stamp_of(message), np.asarray(message.position, float)[order]
        if stamp and self.is_known and stamp <= self.stamp_s:
            return True
        at, heard = stamp or time.time(), time.monotonic()
        told = self._told(message.velocity, order, message)
        # messages that arrive together were made one after the other; their stamps count, up to the gap that stops the
        # loop
        passed_s = max(heard - self.heard_s, min(at - self.stamp_s, self._gap_s))
        self.fault = self._implausible(q, told, passed_s)
        if self.fault:
            return False
        if told is None:  # worked out
            self.qd[:] = (q - self.q) / (at - self.stamp_s) if self.is_known and at > self.stamp_s else 0.0
        else:
            self.qd[:] = told
        effort = self._told(message.effort, order, message)
        if effort is not None:
            self.tau[:] = np.nan_to_num(effort, posinf=0.0, neginf=0.0)
        self.q[:], self.stamp_s, self.heard_s, self._publisher = q, at, heard, publisher
        return True

    @staticmethod
    def _told(numbers: Any, order: list[int], message: Any) -> Array | None:
        """Speeds or torques of our joints; None if they are left out. Some broadcasters send NaN instead."""
        if len(numbers) != len(message.name):
            return None
        told = np.asarray(numbers, float)[order]
        return None if np.isnan(told).all() else told

    def _implausible(self, q: Array, told: Array | None, passed_s: float) -> str:
        """Why the arm cannot be there, `passed_s` after the last message; "" if it can."""
        arm, names = self._arm, self._names
        qd = np.zeros(arm.n) if told is None else told
        if (worst := _worst(~np.isfinite(q) | ~np.isfinite(qd))) is not None:
            return f"{names[worst]} reports position {q[worst]:g} and speed {qd[worst]:g}: not finite"
        if (worst := _worst(np.maximum(arm.q_min - q, q - arm.q_max) - RANGE_MARGIN)) is not None:
            limits = f"{arm.q_min[worst]:.3g} to {arm.q_max[worst]:.3g}"
            return f"{names[worst]} reports position {q[worst]:.4g}, outside its range of {limits}"
        if (worst := _worst(np.abs(qd) - SPEED_MARGIN * arm.v_max)) is not None:
            return f"{names[worst]} reports a speed of {qd[worst]:.4g} per second; its limit is {arm.v_max[worst]:.3g}"
        reach = arm.v_max * passed_s + JUMP_MARGIN
        if self.is_known and (worst := _worst(np.abs(q - self.q) - reach)) is not None:
            way = f"from {self.q[worst]:.4g} to {q[worst]:.4g} within {1e3 * passed_s:.0f} ms"
            return f"{names[worst]} jumped {way}; its speed limit is {arm.v_max[worst]:.3g} per second"
        return ""

    def _order_of(self, names: list[str]) -> list[int] | None:
        """Places of our joints in `names`; None if one is missing. They are cached, because publishers rarely change
        the order.
        """
        if names != self._order[0]:
            place = {name: i for i, name in enumerate(names)}
            known = all(name in place for name in self._names)
            self._order = (list(names), [place[name] for name in self._names] if known else None)
        return self._order[1]


class Forces:
    """The newest wrench of the sensor, environment on robot; `fault` is the reason if it cannot be used."""

    def __init__(self, sign: float, ahead_s: float) -> None:
        self._sign, self._ahead_s, self._publisher = sign, ahead_s, 0
        self.wrench, self.stamp_s, self.heard_s, self.fault = np.zeros(6), 0.0, -math.inf, ""

    @property
    def is_known(self) -> bool:
        """Whether a wrench has arrived."""
        return self.heard_s > -math.inf

    def take(self, message: Any, publisher: int, now_s: float) -> None:
        """Accept a message that arrived at `now_s` on the clock of the joint states, its stamp if it has none."""
        if self.is_known and publisher != self._publisher:
            self.fault = "more than one publisher reports the wrench. Stop all but the sensor's own driver"
        stamp = stamp_of(message) or now_s
        if stamp - now_s > self._ahead_s:
            lead = f"{stamp - now_s:.3g} s ahead of the joint states"
            self.fault = self.fault or f"the wrench is stamped {lead}, so its age is unknown. Synchronise the clocks"
        if self.fault:
            return
        f, t = message.wrench.force, message.wrench.torque
        self.wrench[:] = f.x, f.y, f.z, t.x, t.y, t.z
        self.wrench *= self._sign
        self.stamp_s, self.heard_s, self._publisher = stamp, time.monotonic(), publisher

    def made_s(self, joints_s: float, late_s: float) -> float:
        """When the wrench was measured, on the clock of the joint states.

        If none has arrived for `late_s`, the age counts from its arrival, regardless of its stamp.
        """
        waited = time.monotonic() - self.heard_s
        return min(self.stamp_s, joints_s - waited) if waited > late_s else self.stamp_s


def stamp_of(message: Any) -> float:
    """The stamp of a message [s]; 0 if it has none."""
    stamp = message.header.stamp
    return stamp.sec + 1e-9 * stamp.nanosec


def _worst(excess: Array) -> int | None:
    """The joint with the largest excess; None if there is none."""
    worst = int(excess.argmax())
    return worst if excess[worst] > 0 else None
