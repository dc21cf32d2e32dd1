"""Limits on the joint accelerations of a torque law: acceleration, speed, and braking before the joint limits.

For a motion law, the command itself is limited. A torque law starts from the measured position and velocity, so its
speed can only be reduced: a joint above its top speed, or too fast to stop before its limit, is braked. So is the tool.
"""

from __future__ import annotations

import math

from pliant.control.limits.braking import braking_speed
from pliant.control.limits.cuts import ACCELERATION, POSITION, SPEED, TOOL_SPEED, cut
from pliant.kernel import kernel

# Time over which a joint is brought back to its top speed [s]: well above the period and a robot's delay.
_BEND = 0.02
# Share of the acceleration with which a joint brakes before its stop; the rest is left for what was not foreseen.
_SHARE = 0.5
# Share of what the joints can do that a goal may ask for; the rest is left to damper and pushes.
PULL = 0.5


@kernel
def pull_share(p, h, base, pull, torque):
    """The fraction of a pull that the joints can deliver: joint accelerations `pull` [rad/s²] from `torque` [N m].

    `base` [N m] is the compensation.
    """
    share = 1.0
    for i in range(h.n):
        top = PULL * p.acceleration_scale * h.a_max[i]
        if abs(pull[i]) * share > top:
            share = top / abs(pull[i])
        room = PULL * (h.tau_max[i] - abs(base[i]))
        if room > 0.0 and abs(torque[i]) * share > room:
            share = room / abs(torque[i])
    return share


@kernel
def too_fast(v, a, first, top, o):
    """Damping per mass [1/s] to add so that a tool with velocity `v` and acceleration `a` stays below its top speed.

    Uses three numbers of each, from `first` on. At the `top` speed the tool may not accelerate; above, it brakes.
    """
    speed = math.sqrt(v[first] ** 2 + v[first + 1] ** 2 + v[first + 2] ** 2)
    if speed < 1e-9:
        return 0.0
    along = (v[first] * a[first] + v[first + 1] * a[first + 1] + v[first + 2] * a[first + 2]) / speed
    more = along - (top - speed) / _BEND
    if more <= 0.0:
        return 0.0
    cut(o, TOOL_SPEED, speed + _BEND * along, top)
    return more / speed


@kernel
def limit_drive(p, h, q, qd, qdd, dt, o):
    """Limit joint accelerations `qdd` [rad/s²] in place, at joint positions `q` [rad] and velocities `qd` [rad/s]."""
    share, worst = 1.0, 0
    for i in range(h.n):
        top = p.acceleration_scale * h.a_max[i]
        if abs(qdd[i]) * share > top:
            share, worst = top / abs(qdd[i]), i
    if share < 1.0:
        cut(o, ACCELERATION, abs(qdd[worst]), share * abs(qdd[worst]))
        for i in range(h.n):
            qdd[i] *= share
    o.scale = share
    for i in range(h.n):
        a = p.acceleration_scale * h.a_max[i]
        for side in (1.0, -1.0):
            room = h.q_max[i] - q[i] if side > 0.0 else q[i] - h.q_min[i]
            # the room that is left when the joint has been bent
            room -= p.position_margin + _BEND * max(0.0, side * qd[i])
            before = braking_speed(room, _SHARE * a, dt)
            top = min(p.speed_scale * h.v_max[i], before)
            most = max(-a, (top - side * qd[i]) / max(_BEND, dt))
            if side * qdd[i] > most:
                cut(o, POSITION if before <= top else SPEED, abs(qd[i]), top)
                qdd[i] = side * most
