"""Hold: keep the joints at their goal, and move on a straight line in joint space when it changes.

    q̇ = r e                e = q_goal - q_cmd
    r = min over all joints i of   (1 - exp(-ω dt))/dt   and   v_i/|e_i|   where   v_i dt + v_i²/(2 a_i) = |e_i|

v_i is the largest speed from which joint i can still brake, in whole ticks; the exponential gives a smooth stop. One
factor applies to all joints. With separate factors, joints with a short distance would overshoot while the limits act.
"""

from __future__ import annotations

import math

from pliant.control.laws.law import JOINT_VELOCITY, Law
from pliant.control.laws.law_panel import Panel
from pliant.kernel import kernel


@kernel
def step(p, h, s, goal_q, accel_scale, dt, qd):
    """The joint velocities [rad/s] from the commanded joints towards `goal_q` [rad], in ticks of dt [s]."""
    rate = (1.0 - math.exp(-2.0 * math.pi * p.bandwidth_hz * dt)) / dt
    for i in range(h.n):
        a = 0.9 * accel_scale * h.a_max[i]  # the rest of the acceleration is left to the limits
        distance = abs(goal_q[i] - s.q_cmd[i])
        # v/|e| = 2/dt / (1 + √(1 + 2 |e|/(a dt²)))
        rate = min(rate, 2.0 / (dt * (1.0 + math.sqrt(1.0 + 2.0 * distance / (a * dt * dt)))))
    for i in range(h.n):
        qd[i] = rate * (goal_q[i] - s.q_cmd[i])


@kernel(separate=True)
def _step(h, p, s, r, g, c, o, w, dt):
    step(p.hold, h, s, g.q, p.limits.acceleration_scale, dt, w.qd)


_JOINT_GOAL = "follows a joint goal, not this one"
_PANEL = Panel(no_push="keeps the arm in place", no_goal=_JOINT_GOAL, no_virtual_push=_JOINT_GOAL)
LAW = Law("hold", 1, _step, JOINT_VELOCITY, section="hold", feels=False, panel=_PANEL)
