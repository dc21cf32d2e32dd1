"""Hold: keep the joints at their goal, and go there when it moves.

    q̇ = sign(e) min( ω |e|, √(2 a |e|) )          e = q_goal - q_cmd

The square root is the fastest approach that the acceleration limit can still brake; the linear part lands softly.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel


@kernel
def step(p, h, s, goal_q, accel_scale, qd):
    """The joint velocities [rad/s] that lead from the commanded joints to `goal_q` [rad]."""
    omega = 2.0 * math.pi * p.bandwidth_hz
    for i in range(h.n):
        e = goal_q[i] - s.q_cmd[i]
        # 0.8 leaves the limiter room to brake in whole ticks
        speed = min(omega * abs(e), math.sqrt(2.0 * 0.8 * accel_scale * h.a_max[i] * abs(e)))
        qd[i] = math.copysign(speed, e)
