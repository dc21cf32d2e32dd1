"""Following stamped poses that arrive one by one: a base target sampled by another program becomes (v, ω).

    v = s cos e_θ + k_x e_x          ω = ω_r + σ² s e_y sinc(e_θ) + k_θ e_θ          σ = min(stiffness, bandwidth/|s|)

s and ω_r are the reference's speeds, estimated from its samples and fed forward; pose errors are fed back (Samson's law
for a moving reference; k_x = bandwidth, k_θ = max(2 ζ σ |s|, bandwidth), so that a reference at rest is held). All
values are predicted for the time at which the command takes effect. A base cannot move sideways: where the reference
does, by more than its uncertainty, the base turns towards the motion, and `lateral_m_s` reports it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Base, Follow
from pliant.mobile.following import drive_limits
from pliant.mobile.velocity.estimate import LOST as NOT_KNOWN
from pliant.mobile.velocity.estimate import RESET, VALID
from pliant.mobile.velocity.estimators import CAKalman
from pliant.params.packing import to_record

Array = np.ndarray[Any, Any]

NO_REFERENCE = 9
STATES = drive_limits.STATES | {NO_REFERENCE: "stopped: no reference has arrived, or the last one is too old"}
"""What each state means."""
STALE_S = 0.5
SURE = 3.0
"""Sideways speeds within this many standard deviations of their estimate count as zero."""
SIDEWAYS_M_S = 0.03
"""The threshold if an estimate has no standard deviation; slower than this never counts as sideways."""


class VelocitySource(Protocol):
    """The estimator interface; `mobile.velocity` has implementations."""

    def update(self, stamp_s: float, pose: Any) -> Any: ...


@dataclass(frozen=True)
class PoseCommand:
    """The command, and the pose error of the base when it takes effect."""

    v: float
    omega: float
    state: int
    """See STATES."""
    ahead_m: float = math.nan
    """Distance of the reference ahead of the base, and to its left."""
    left_m: float = math.nan
    turn_rad: float = math.nan
    """Angle to the reference's direction of motion."""
    lateral_m_s: float = math.nan
    """Sideways speed of the reference, which a differential drive cannot follow without turning."""


@kernel
def _towards(base, v, omega, dt, o):
    drive_limits.limited(base[0], v, omega, dt, o[0])


class PoseTracker:
    """Accepts references whenever they arrive, and computes a command in every period."""

    def __init__(
        self,
        base: Base | None = None,
        settings: Follow | None = None,
        velocity: VelocitySource | None = None,
        stale_s: float = STALE_S,
    ) -> None:
        if not 0.0 < stale_s <= 10.0:
            raise InputError("stale_s", stale_s, "between 0 and 10 s")
        self.base, self.settings, self.stale_s = base or Base(), settings or Follow(), stale_s
        self.velocity = CAKalman() if velocity is None else velocity
        """Estimates the velocity of the references."""
        self._base, self._twist = to_record(self.base), drive_limits.TWIST.new()
        self._odometry = drive_limits.ODOMETRY.new()
        self._known: Any = None
        self._heard_s, self._backward = -math.inf, False

    def reference(self, stamp_s: float, pose: Any) -> Any:
        """Set the reference pose (x [m], y [m], heading [rad]) at `stamp_s`; returns the resulting estimate."""
        known = self.velocity.update(stamp_s, pose)
        if int(known.status) in (VALID, RESET):
            self._heard_s = float(known.stamp_s)
        usable = int(known.status) != NOT_KNOWN and np.isfinite([*known.pose, *known.velocity]).all()
        self._known = known if usable else None
        return known

    def update(
        self, now_s: float, pose: Any, v: float, omega: float, *, age_s: float = 0.0, dt: float = 0.02
    ) -> PoseCommand:
        """The next command from odometry: pose (x, y, heading), speeds and age; `now_s` is on the stamps' clock."""
        if not 0.0 < dt <= 1.0:
            raise InputError("dt", dt, "a period of at most 1 s")
        where = np.array(pose, float)
        if where.shape != (3,):
            raise InputError("pose", list(pose), "three numbers: x, y and heading")
        self._odometry[0] = (where, v, omega, age_s)
        bad = drive_limits.unusable_at(self._odometry, self.settings.stale_s)
        if not bad and (self._known is None or not now_s - self._heard_s <= self.stale_s):
            bad = NO_REFERENCE
        if bad:
            return self._stopped(dt, int(bad))
        # when the command shows, the base will be there
        along_arc(where, float(v), float(omega), self.base.delay_s, where)
        return self._tracked(where, now_s - age_s + self.base.delay_s, dt)

    def _stopped(self, dt: float, state: int, **off: float) -> PoseCommand:
        _towards(self._base, 0.0, 0.0, dt, self._twist)
        o = self._twist[0]
        return PoseCommand(float(o.v), float(o.omega), state, **off)

    def _tracked(self, where: Array, at_s: float, dt: float) -> PoseCommand:
        p, target, speed, omega, aside = self.settings, *self._wanted(at_s)
        dx, dy, heading = target[0] - where[0], target[1] - where[1], where[2]
        ahead, left = math.cos(heading) * dx + math.sin(heading) * dy, math.cos(heading) * dy - math.sin(heading) * dx
        e = math.remainder(target[2] - heading, math.tau)
        off = {"ahead_m": ahead, "left_m": left, "turn_rad": e, "lateral_m_s": aside}
        if math.hypot(dx, dy) > p.lost_m:
            return self._stopped(dt, drive_limits.LOST, **off)
        sinc = math.sin(e) / e if abs(e) > 1e-6 else 1.0
        sigma = min(p.stiffness_1_m, p.bandwidth_rad_s / max(abs(speed), 1e-3))
        turn = max(2.0 * p.damping_ratio * sigma * abs(speed), p.bandwidth_rad_s)
        v = speed * math.cos(e) + p.bandwidth_rad_s * ahead
        _towards(self._base, v, omega + sigma * sigma * speed * left * sinc + turn * e, dt, self._twist)
        o = self._twist[0]
        return PoseCommand(float(o.v), float(o.omega), drive_limits.DRIVING, **off)

    def _wanted(self, at_s: float) -> tuple[Array, float, float, float]:
        """Place and course of the reference at a time, its speed along that, its turning speed, its sideways speed."""
        known = self._known
        ahead_s = at_s - float(known.stamp_s)
        # a formula without an acceleration gives none
        acceleration = np.where(np.isfinite(known.acceleration), known.acceleration, 0.0)
        velocity = known.velocity + ahead_s * acceleration
        target = known.pose + ahead_s * (known.velocity + 0.5 * ahead_s * acceleration)
        c, s = math.cos(target[2]), math.sin(target[2])
        v, aside = float(c * velocity[0] + s * velocity[1]), float(c * velocity[1] - s * velocity[0])
        sigma = float(np.nanmax(known.sigma[:2], initial=0.0))
        beyond = abs(aside) - max(SIDEWAYS_M_S, SURE * sigma)
        if beyond <= 0.0:
            self._backward = v < 0.0
            return target, v, float(velocity[2]), aside
        if abs(v) > SIDEWAYS_M_S:  # slower, it goes on as it went: forwards or backwards
            self._backward = v < 0.0
        sign = -1.0 if self._backward else 1.0
        along, across = max(0.0, sign * v), math.copysign(min(abs(aside), 2.0 * beyond), aside)
        target[2] += math.atan2(sign * across, along)
        return target, sign * math.hypot(along, across), float(velocity[2]), aside
