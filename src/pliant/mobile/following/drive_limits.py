"""Functions shared by all followers: the command, the limits of the drive, turning on the spot."""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.records import Field, Layout

DRIVING, TURNING, STOPPING, DONE, STALE, NO_NUMBER, LOST, BLOCKED = 1, 2, 3, 4, 5, 6, 7, 8
STATES = {
    DRIVING: "driving",
    TURNING: "turning on the spot",
    STOPPING: "stopping, before a change of direction or at the end",
    DONE: "at the end",
    STALE: "stopped: the odometry is too old",
    NO_NUMBER: "stopped: the odometry is not finite",
    LOST: "stopped: too far from the path",
    BLOCKED: "stopped: an obstacle is on the path",
}

TWIST = Layout(
    "Twist",
    (
        Field("v", "m/s", "commanded forward speed"),
        Field("omega", "rad/s", "commanded turning speed"),
        Field("state", "", "what the follower is doing (see STATES)", kind="i8"),
        Field("path_m", "m", "distance along the path"),
        Field("cross_m", "m", "distance from the path, left of it positive"),
        Field("turn_rad", "rad", "heading error"),
        Field("part", "", "part of the path between two stops", kind="i8"),
    ),
)

ODOMETRY = Layout(
    "Odometry",
    (
        Field("pose", "m, m, rad", "x, y and heading", (3,)),
        Field("v", "m/s", "forward speed"),
        Field("omega", "rad/s", "turning speed"),
        Field("age", "s", "how old it is"),
    ),
)

AT_REST_M_S, AT_REST_RAD_S = 0.01, 0.03


@kernel
def _possible(base, v, omega):
    """The share of a command that speeds and wheels allow."""
    most = base.forward_m_s if v >= 0.0 else base.backward_m_s
    wheel = abs(v) + 0.5 * base.track_m * abs(omega)
    share = 1.0
    if abs(v) > most:
        share = most / abs(v)
    if abs(omega) * share > base.turn_rad_s:
        share = base.turn_rad_s / abs(omega)
    return base.wheel_m_s / wheel if wheel * share > base.wheel_m_s else share


@kernel
def limited(base, v, omega, dt, o):
    """Move the command in `o` towards (v, ω) as far as speeds, wheels and accelerations allow.

    A reduced v stays on the requested arc (or, without one, on the present arc): ω is reduced with it. Acceleration
    waits for the turn; braking is never delayed.
    """
    share = _possible(base, v, omega)
    v, omega = share * v, share * omega
    slower = abs(v) < abs(o.v) or v * o.v < 0.0
    dv = dt * (base.deceleration_m_s2 if slower else base.acceleration_m_s2)
    dw = dt * base.turn_acceleration_rad_s2
    next_v = o.v + min(dv, max(-dv, v - o.v))
    if abs(v) > 1e-6:
        omega *= next_v / v if next_v * v > 0.0 else 0.0
    elif omega == 0.0 and abs(o.v) > 1e-6:
        omega = o.omega * next_v / o.v
    turn = omega - o.omega
    share = min(1.0, dw / max(abs(turn), 1e-12))
    o.v = next_v if slower else o.v + share * (next_v - o.v)
    o.omega += share * turn


@kernel
def halted(base, dt, o, state):
    """Brake as hard as allowed, and set the reason."""
    limited(base, 0.0, 0.0, dt, o)
    o.state = state


@kernel
def turn_rate(base, share, settle_s, error, omega):
    """Turning speed that removes a heading error (goal minus heading), compensating the delay."""
    left = error - omega * base.delay_s
    most = math.sqrt(2.0 * share * base.turn_acceleration_rad_s2 * abs(left))
    return math.copysign(min(base.turn_rad_s, most, abs(left) / settle_s), left)


@kernel
def unusable(m, stale_s):
    """NO_NUMBER or STALE, or 0 if the odometry `m` can be used."""
    total = m.pose[0] + m.pose[1] + m.pose[2] + m.v + m.omega
    if not math.isfinite(total) or not math.isfinite(m.age):
        return NO_NUMBER
    return STALE if m.age > stale_s or m.age < 0.0 else 0


@kernel
def unusable_at(odometry, stale_s):
    """`unusable` for a one-element record array."""
    return unusable(odometry[0], stale_s)
