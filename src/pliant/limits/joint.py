"""Joint limits: speed, then acceleration, then braking distance to the stops.

One factor scales all joints, so the tool keeps its direction; only the stops may bend it, because a joint that must
brake cannot wait for the others.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.records import LIMIT_ACCELERATION, LIMIT_POSITION, LIMIT_SPEED


@kernel
def braking_speed(distance, accel, dt):
    """The largest speed from which `accel` still stops within `distance`, in whole ticks of dt.

    v dt + v²/(2a) ≤ d   gives   v = a dt (√(1 + 2 d/(a dt²)) - 1); the step in hand counts, so nothing overshoots.
    """
    if distance <= 0.0:
        return 0.0
    step = accel * dt
    return step * (math.sqrt(1.0 + 2.0 * distance / (step * dt)) - 1.0)


@kernel
def limit(p, h, s, qd, dt, o):
    """Cut the wanted joint velocities `qd` [rad/s] in place; what acted is added to `o.limits` and `o.scale`."""
    # 1. speed: one factor for all
    scale = 1.0
    for i in range(h.n):
        top = p.speed_scale * h.v_max[i]
        if abs(qd[i]) * scale > top:
            scale = top / abs(qd[i])
    if scale < 1.0:
        o.limits |= LIMIT_SPEED
        for i in range(h.n):
            qd[i] *= scale
    # 2. acceleration: the way from the last velocity to the wanted one is cut by one factor
    share = 1.0
    for i in range(h.n):
        top = p.acceleration_scale * h.a_max[i] * dt
        change = abs(qd[i] - s.qd_cmd[i])
        if change * share > top:
            share = top / change
    if share < 1.0:
        o.limits |= LIMIT_ACCELERATION
        for i in range(h.n):
            qd[i] = s.qd_cmd[i] + share * (qd[i] - s.qd_cmd[i])
    o.scale = scale * share
    # 3. stops: v ≤ what can still brake
    for i in range(h.n):
        a = p.acceleration_scale * h.a_max[i]
        up = braking_speed(h.q_max[i] - p.position_margin - s.q_cmd[i], a, dt)
        down = braking_speed(s.q_cmd[i] - h.q_min[i] - p.position_margin, a, dt)
        if qd[i] > up:
            qd[i] = up
            o.limits |= LIMIT_POSITION
        elif qd[i] < -down:
            qd[i] = -down
            o.limits |= LIMIT_POSITION
