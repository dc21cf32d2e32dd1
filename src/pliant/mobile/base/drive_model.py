"""A differential-drive base: wheels and twist, odometry, slip, and a limited command.

    v = (w_r + w_l) / 2     ω = (w_r - w_l) / track          rim speeds w [m/s]

A base pose is [x, y, heading]. Nothing here can move sideways: there is no variable for a lateral speed.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Base as BaseLimits
from pliant.mobile.whole_body.body_params import Slip
from pliant.mobile.whole_body.mobile_arm import Chassis
from pliant.records import Field, Layout

Array = np.ndarray[Any, Any]

LIMITS = Layout(
    "BaseLimits",
    (
        Field("half_track", "m", "half the distance between the wheels"),
        Field("most", "m/s, rad/s", "largest forward speed, largest turning speed", (2,)),
        Field(
            "least", "m/s, rad/s", "largest reverse speed and largest turning speed the other way, both negative", (2,)
        ),
        Field("grow", "m/s^2, rad/s^2", "largest acceleration of speed and turn", (2,)),
        Field("fall", "m/s^2, rad/s^2", "largest deceleration of speed and turn", (2,)),
        Field("wheel", "m/s", "largest rim speed of a wheel"),
    ),
)


def limits_record(base: Chassis, limits: BaseLimits) -> Array:
    """The limits as kernels read them."""
    record = LIMITS.new()
    r = record[0]
    r.half_track, r.wheel = 0.5 * base.track_m, limits.wheel_m_s
    r.most[:] = limits.forward_m_s, limits.turn_rad_s
    r.least[:] = -limits.backward_m_s, -limits.turn_rad_s
    r.grow[:] = limits.acceleration_m_s2, limits.turn_acceleration_rad_s2
    r.fall[:] = limits.deceleration_m_s2, limits.turn_acceleration_rad_s2
    return record


@kernel
def window(L, i, last, dt):
    """Range of speed i (0: v, 1: ω) one period after it was `last`, including `last` if that was within the limits."""
    up = L.grow[i] if last >= 0.0 else L.fall[i]
    down = L.grow[i] if last <= 0.0 else L.fall[i]
    low, high = last - dt * down, last + dt * up
    # braking may end at rest, but what lies beyond is growth, at its own rate
    if last < 0.0 < high:
        high = dt * L.grow[i] * (1.0 + last / (dt * up))
    if low < 0.0 < last:
        low = -dt * L.grow[i] * (1.0 - last / (dt * down))
    return max(low, min(L.least[i], last + dt * up)), min(high, max(L.most[i], last - dt * down))


@kernel
def _share(L, i, last, asked, dt):
    """How much of the change from `last` to what is asked of speed i one period allows."""
    change = asked - last
    low, high = window(L, i, last, dt)
    if change > high - last:
        return (high - last) / change
    return (low - last) / change if change < low - last else 1.0


@kernel
def limited(L, last, asked, dt, out):
    """The twist nearest to the requested one that wheels and acceleration allow.

    Both speeds change by the same fraction, which keeps the path; but braking does not wait for the turn.
    """
    v, omega = min(max(asked[0], L.least[0]), L.most[0]), min(max(asked[1], L.least[1]), L.most[1])
    rim = max(abs(v + omega * L.half_track), abs(v - omega * L.half_track))
    if rim > L.wheel:
        v, omega = v * L.wheel / rim, omega * L.wheel / rim
    of_v, of_omega = _share(L, 0, last[0], v, dt), _share(L, 1, last[1], omega, dt)
    share = min(of_v, of_omega)
    slower = abs(v) < abs(last[0]) or v * last[0] < 0.0
    out[0] = last[0] + (of_v if slower else share) * (v - last[0])
    out[1] = last[1] + share * (omega - last[1])


def wheels_of(base: Chassis, v: float, omega: float) -> tuple[float, float]:
    """Angular speeds [rad/s] of the left and right wheel."""
    half = 0.5 * base.track_m * omega
    return (v - half) / base.wheel_radius_m, (v + half) / base.wheel_radius_m


def twist_of(base: Chassis, left: float, right: float) -> tuple[float, float]:
    """Forward [m/s] and turning speed [rad/s] of a base from its wheel speeds [rad/s], without slip."""
    r = base.wheel_radius_m
    return 0.5 * r * (left + right), r * (right - left) / base.track_m


class Odometry:
    """Pose of a base from the angles of its wheels, on exact arcs."""

    def __init__(self, base: Chassis, pose: Any = (0.0, 0.0, 0.0)) -> None:
        self._base = base
        self.pose = _three("pose", pose)
        self._last: tuple[float, float] | None = None

    def update(self, left: float, right: float) -> Array:
        """Update with wheel angles [rad] and return the pose. The first are the reference; bad ones are skipped."""
        if math.isfinite(left) and math.isfinite(right):
            if self._last is not None:
                way, turn = twist_of(self._base, left - self._last[0], right - self._last[1])
                along_arc(self.pose, way, turn, 1.0, self.pose)
            self._last = (left, right)
        return self.pose.copy()


class SteadyPlace:
    """The pose of a base, without the noise of single readings and without lag.

    The wheels move the pose; a difference to the measured pose is corrected within `over_s`.
    """

    def __init__(self, over_s: float = 0.05) -> None:
        self._over_s = over_s
        self._place: Array | None = None

    def update(self, pose: Any, twist: Any, dt: float) -> Array:
        """The pose [m, m, rad] one period later; all inputs must be finite."""
        now = np.array(pose, float)
        if self._place is None:
            self._place = now
            return now.copy()
        along_arc(self._place, float(twist[0]), float(twist[1]), dt, self._place)
        off = now - self._place
        off[2] = math.remainder(off[2], math.tau)
        self._place += min(1.0, dt / self._over_s) * off
        # the heading of a pose may be wrapped, or not: the place follows it
        self._place[2] = now[2] + math.remainder(self._place[2] - now[2], math.tau)
        return self._place.copy()


@dataclass(frozen=True)
class SlipReport:
    """The difference between odometry and pose that built up within the window."""

    apart_m: float
    apart_rad: float
    slipping: bool


class SlipDetector:
    """Detects slipping wheels: odometry and another source of poses drift apart within a short time.

    Only motions are compared, each relative to its start, so earlier odometry drift does not matter.
    """

    def __init__(self, params: Slip | None = None) -> None:
        self._p = params or Slip()
        self._past: deque[tuple[float, Array, Array]] = deque()

    def update(self, stamp_s: float, odometry: Any, pose: Any) -> SlipReport:
        """Update with two simultaneous poses. A step back in time, a gap or an invalid pose restarts the window."""
        by_wheels, by_pose = np.array(odometry, float), np.array(pose, float)
        good = bool(np.isfinite([stamp_s, *by_wheels, *by_pose]).all())
        if not good or (self._past and not 0.0 < stamp_s - self._past[-1][0] <= self._p.window_s):
            self._past.clear()
        if not good:
            return SlipReport(0.0, 0.0, False)
        self._past.append((stamp_s, by_wheels, by_pose))
        while stamp_s - self._past[0][0] > self._p.window_s + 1e-9:
            self._past.popleft()
        _, wheels_then, pose_then = self._past[0]
        rolled, moved = _seen_from(wheels_then, by_wheels), _seen_from(pose_then, by_pose)
        apart = math.hypot(rolled[0] - moved[0], rolled[1] - moved[1])
        turned = abs(math.remainder(rolled[2] - moved[2], 2.0 * math.pi))
        way, turn = max(_way(rolled), _way(moved)), max(abs(rolled[2]), abs(moved[2]))
        slipping = apart > self._p.most_m + self._p.share * way or turned > self._p.most_rad + self._p.share * turn
        return SlipReport(apart, turned, slipping)


def _way(motion: Array) -> float:
    return math.hypot(motion[0], motion[1])


def _seen_from(then: Array, now: Array) -> Array:
    """The motion from one base pose to another, in the axes of the first."""
    dx, dy = now[0] - then[0], now[1] - then[1]
    c, s = math.cos(then[2]), math.sin(then[2])
    return np.array((c * dx + s * dy, c * dy - s * dx, math.remainder(now[2] - then[2], math.tau)))


def _three(field: str, value: Any) -> Array:
    """A base pose, refused unless it is three finite numbers."""
    pose = np.array(value, float)
    if pose.shape != (3,) or not np.isfinite(pose).all():
        raise InputError(field, value, "x [m], y [m] and heading [rad], all finite")
    return pose
