"""Limits on the command: joint and tool speed, joint acceleration, joint positions, and a safe stopping path.

One factor scales all joints, so the tool keeps its direction. Only the joint limits may change it, because a joint that
must brake cannot wait for the others.
"""

from __future__ import annotations

import math

from pliant.control.limits.braking import braking_speed, rest_span_of
from pliant.control.limits.cuts import ACCELERATION, POSITION, SPEED, TOOL_SPEED, cut
from pliant.control.limits.stopping_path import DUST, keep_inside, tool_speeds
from pliant.kernel import kernel


@kernel
def limit(p, h, s, qd, dt, o, w):
    """Limit the requested joint velocities `qd` [rad/s] in place; `o.limits` and `o.scale` report what acted.

    Returns the factor that scales the speed of all joints. `w` is scratch (`inside.SCRATCH`).
    """
    linear, angular = top_speeds(p, s, dt)
    scale = _cut_speed(p, h, qd, linear, angular, o)
    o.scale = scale * _cut_change(p, h, s, qd, dt, o)
    _slow_before_stops(p, h, s, qd, dt, o)
    keep_inside(p, h, s, qd, linear, angular, dt, o, w)
    return scale


@kernel
def top_speeds(p, s, dt):
    """Tool speed limits [m/s, rad/s]; after a limit was lowered, the tool brakes within its acceleration limit."""
    linear = math.sqrt(s.moved[0] ** 2 + s.moved[1] ** 2 + s.moved[2] ** 2)
    angular = math.sqrt(s.moved[3] ** 2 + s.moved[4] ** 2 + s.moved[5] ** 2)
    return (
        max(p.linear_speed_m_s, linear - dt * p.linear_acceleration_m_s2),
        max(p.angular_speed_rad_s, angular - dt * p.angular_acceleration_rad_s2),
    )


@kernel
def _cut_speed(p, h, qd, top_linear, top_angular, o):
    """Scale all joints by one factor until none is too fast, nor the tool; returns the factor."""
    scale, worst = 1.0, 0
    for i in range(h.n):
        top = p.speed_scale * h.v_max[i]
        if abs(qd[i]) * scale > top:
            scale, worst = top / abs(qd[i]), i
    if scale < 1.0:
        cut(o, SPEED, abs(qd[worst]), scale * abs(qd[worst]))
    linear, angular = tool_speeds(h, qd)
    for speed, top in ((linear, top_linear), (angular, top_angular)):
        if speed * scale > top * (1.0 + DUST):
            cut(o, TOOL_SPEED, speed * scale, top)
            scale = top / speed
    if scale < 1.0:
        for i in range(h.n):
            qd[i] *= scale
    return scale


@kernel
def _cut_change(p, h, s, qd, dt, o):
    """Cut the way from the last velocity to the wanted one by one factor, which is returned."""
    share, worst = 1.0, 0
    for i in range(h.n):
        top = p.acceleration_scale * h.a_max[i] * dt
        change = abs(qd[i] - s.qd_cmd[i])
        if change * share > top:
            share, worst = top / change, i
    if share < 1.0:
        change = abs(qd[worst] - s.qd_cmd[worst]) / dt
        cut(o, ACCELERATION, change, share * change)
        for i in range(h.n):
            qd[i] = s.qd_cmd[i] + share * (qd[i] - s.qd_cmd[i])
    return share


@kernel
def _slow_before_stops(p, h, s, qd, dt, o):
    """Slow each joint that nears its stop, so that it can brake alone and together with the others."""
    span = rest_span_of(p, h, qd, dt)
    for i in range(h.n):
        a = p.acceleration_scale * h.a_max[i]
        side = 1.0 if qd[i] > 0.0 else -1.0
        room = h.q_max[i] - s.q_cmd[i] if qd[i] > 0.0 else s.q_cmd[i] - h.q_min[i]
        room = max(0.0, room - p.position_margin)
        v = side * qd[i]
        if v * max(span, dt + 0.5 * v / a) <= room:
            continue
        top = min(braking_speed(room, a, dt), room / span)
        # no harder than it may brake; keep_inside has seen to it that this is enough
        top = max(top, side * s.qd_cmd[i] - a * dt)
        if v > top:
            cut(o, POSITION, v, top)
            qd[i] = side * top
