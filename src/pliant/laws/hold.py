"""Hold: keep the joints at their goal, and go there on a straight line when it moves.

    q̇ = r e                e = q_goal - q_cmd
    r = min over all joints i of   (1 - exp(-ω dt))/dt   and   v_i/|e_i|   where   v_i dt + v_i²/(2 a_i) = |e_i|

v_i is the fastest approach that joint i can still brake, in whole ticks; the exponential lands softly. One factor for
all joints: were each to go at its own pace, those with a short way would overshoot while the limits serve the others.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel


@kernel
def step(p, h, s, goal_q, accel_scale, dt, qd):
    """The joint velocities [rad/s] that lead from the commanded joints to `goal_q` [rad] in ticks of dt [s]."""
    rate = (1.0 - math.exp(-2.0 * math.pi * p.bandwidth_hz * dt)) / dt
    for i in range(h.n):
        a = 0.9 * accel_scale * h.a_max[i]  # the rest of the acceleration is left to the limits
        distance = abs(goal_q[i] - s.q_cmd[i])
        # v/|e| = 2/dt / (1 + √(1 + 2 |e|/(a dt²)))
        rate = min(rate, 2.0 / (dt * (1.0 + math.sqrt(1.0 + 2.0 * distance / (a * dt * dt)))))
    for i in range(h.n):
        qd[i] = rate * (goal_q[i] - s.q_cmd[i])
