"""What an arm over ROS 2 says of itself, and whether it can be believed: joint states, and the wrench of its sensor.

Everyone on the network can publish on these topics, and a velocity that answers a wrong position goes wherever that
one leads. So one publisher is heard per topic, and what an arm cannot do is not believed: a second one that tells of
the same joints, a number that is none, a joint out of its range, or one that was elsewhere a moment ago, is a fault.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from pliant.model.arm import Arm

Array = np.ndarray[Any, Any]

# So far outside of its range, or beyond what its fastest motion allows, a joint may be [rad, m].
RANGE_MARGIN, JUMP_MARGIN = 0.1, 0.05
# So many times as fast as the joint can be it may say that it is: speeds are noisy.
SPEED_MARGIN = 2.0


class JointStates:
    """The newest joint states of an arm, in the order of its joints; `fault` says why they cannot be believed."""

    def __init__(self, arm: Arm, names: list[str], gap_s: float) -> None:
        self._arm, self._names, self._gap_s = arm, names, gap_s
        self._order: tuple[list[str], list[int] | None] = ([], None)
        self._publisher = 0
        self.q, self.qd, self.tau = np.zeros(arm.n), np.zeros(arm.n), np.zeros(arm.n)
        self.stamp_s, self.heard_s, self.fault = 0.0, -math.inf, ""

    @property
    def is_known(self) -> bool:
        """Whether there have been any."""
        return self.heard_s > -math.inf

    @property
    def now_s(self) -> float:
        """What the clock shows that stamps them [s]."""
        return self.stamp_s + time.monotonic() - self.heard_s

    def take(self, message: Any, publisher: int = 0) -> bool:
        """Take a message over; False if it does not hold all joints of the arm, or cannot be believed.

        One that is not stamped later than the last one is no news: a publisher that repeats itself counts as silent.
        """
        order = self._order_of(message.name)
        if self.fault or order is None or len(message.position) != len(message.name):
            return False
        if self.is_known and publisher != self._publisher:
            self.fault = "more than one publisher tells of the arm's joints: end all but the arm's own"
            return False
        stamp, q = stamp_of(message), np.asarray(message.position, float)[order]
        if stamp and self.is_known and stamp <= self.stamp_s:
            return True
        at, heard = stamp or time.time(), time.monotonic()
        told = self._told(message.velocity, order, message)
        # messages that come in one go were made one after the other; what a stamp says counts up to a gap that stops us
        passed_s = max(heard - self.heard_s, min(at - self.stamp_s, self._gap_s))
        self.fault = self._disbelief(q, told, passed_s)
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
        """Speeds or torques of our joints; None where they are left out, as a broadcaster does by saying NaN."""
        if len(numbers) != len(message.name):
            return None
        told = np.asarray(numbers, float)[order]
        return None if np.isnan(told).all() else told

    def _disbelief(self, q: Array, told: Array | None, passed_s: float) -> str:
        """Why the arm cannot be there, `passed_s` after the last message; "" if it can."""
        arm, names = self._arm, self._names
        qd = np.zeros(arm.n) if told is None else told
        if (worst := _worst(~np.isfinite(q) | ~np.isfinite(qd))) is not None:
            return f"{names[worst]} is said to be at {q[worst]:g} and to move by {qd[worst]:g} per second: no numbers"
        if (worst := _worst(np.maximum(arm.q_min - q, q - arm.q_max) - RANGE_MARGIN)) is not None:
            limits = f"{arm.q_min[worst]:.3g} to {arm.q_max[worst]:.3g}"
            return f"{names[worst]} is said to be at {q[worst]:.4g}, out of its range of {limits}"
        if (worst := _worst(np.abs(qd) - SPEED_MARGIN * arm.v_max)) is not None:
            return f"{names[worst]} is said to move by {qd[worst]:.4g} per second, and can {arm.v_max[worst]:.3g}"
        reach = arm.v_max * passed_s + JUMP_MARGIN
        if self.is_known and (worst := _worst(np.abs(q - self.q) - reach)) is not None:
            way = f"from {self.q[worst]:.4g} to {q[worst]:.4g} within {1e3 * passed_s:.0f} ms"
            return f"{names[worst]} is said to have jumped {way}, and can move by {arm.v_max[worst]:.3g} per second"
        return ""

    def _order_of(self, names: list[str]) -> list[int] | None:
        """Where our joints are among `names`; None if one is missing. Publishers seldom change their minds."""
        if names != self._order[0]:
            place = {name: i for i, name in enumerate(names)}
            known = all(name in place for name in self._names)
            self._order = (list(names), [place[name] for name in self._names] if known else None)
        return self._order[1]


class Forces:
    """The newest wrench of the sensor, what the environment does to the robot; `fault` says why it cannot be used."""

    def __init__(self, sign: float, ahead_s: float) -> None:
        self._sign, self._ahead_s, self._publisher = sign, ahead_s, 0
        self.wrench, self.stamp_s, self.heard_s, self.fault = np.zeros(6), 0.0, -math.inf, ""

    @property
    def is_known(self) -> bool:
        """Whether there has been one."""
        return self.heard_s > -math.inf

    def take(self, message: Any, publisher: int, now_s: float) -> None:
        """Take a message over that came at `now_s` on the clock of the joint states: made then, if it does not say."""
        if self.is_known and publisher != self._publisher:
            self.fault = "more than one publisher tells of the wrench: end all but the sensor's own"
        stamp = stamp_of(message) or now_s
        if stamp - now_s > self._ahead_s:
            lead = f"{stamp - now_s:.3g} s ahead of the joint states"
            self.fault = self.fault or f"the wrench is stamped {lead}, so that its age is not known: set the clocks"
        if self.fault:
            return
        f, t = message.wrench.force, message.wrench.torque
        self.wrench[:] = f.x, f.y, f.z, t.x, t.y, t.z
        self.wrench *= self._sign
        self.stamp_s, self.heard_s, self._publisher = stamp, time.monotonic(), publisher

    def made_s(self, joints_s: float, late_s: float) -> float:
        """When it was made, on the clock of the joint states.

        One that has not come for `late_s` is as old as its arrival, whatever its stamp says.
        """
        waited = time.monotonic() - self.heard_s
        return min(self.stamp_s, joints_s - waited) if waited > late_s else self.stamp_s


def stamp_of(message: Any) -> float:
    """When a message was made, by its header [s]; 0 if it does not say."""
    stamp = message.header.stamp
    return stamp.sec + 1e-9 * stamp.nanosec


def _worst(excess: Array) -> int | None:
    """The joint that is most in excess; None if none is."""
    worst = int(excess.argmax())
    return worst if excess[worst] > 0 else None
