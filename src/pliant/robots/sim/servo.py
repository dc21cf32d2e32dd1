"""The robot's own servo: transport delay, command filter, stiff joint loop with full knowledge of its dynamics.

    ref'' = ω² (target - ref) - 2 ω ref'                        what an outside controller sees of the robot
    τ = M (ref'' + 2 ω_s (ref' - q̇) + ω_s² (ref - q)) + bias    how hard the joints hold on to ref
"""

from __future__ import annotations

import math

from pliant.kernel import floats, kernel, mj_mulM
from pliant.records import IDLE, POSITION, TORQUE, VELOCITY
from pliant.robots.sim.layout import DELAY_SLOTS


@kernel
def send(w, c):
    """Put a command at the end of the delay line."""
    slot = w.count % DELAY_SLOTS
    w.line_mode[slot] = c.mode
    for i in range(w.n):
        if c.mode == POSITION:
            w.line[slot, i] = c.q[i]
        elif c.mode == VELOCITY:
            w.line[slot, i] = c.qd[i]
        else:
            w.line[slot, i] = c.tau[i]


@kernel
def drive(w):
    """Compute the joint torques of this physics step from what comes out of the delay line."""
    q, qd = floats(w.qpos, w.n), floats(w.qvel, w.n)
    tau = floats(w.qfrc_applied, w.n)
    mode = IDLE
    slot = (w.count - w.delay) % DELAY_SLOTS
    if w.count >= w.delay and w.halted == 0:
        mode = w.line_mode[slot]
    if mode == TORQUE:
        for i in range(w.n):
            tau[i] = w.line[slot, i]
            w.ref[i], w.ref_d[i], w.target[i] = q[i], qd[i], q[i]
    else:
        for i in range(w.n):
            if mode == POSITION:
                w.target[i] = w.line[slot, i]
            elif mode == VELOCITY:
                w.target[i] += w.h * w.line[slot, i]
            acc = w.omega * w.omega * (w.target[i] - w.ref[i]) - 2.0 * w.omega * w.ref_d[i]
            w.ref_d[i] += w.h * acc
            w.ref[i] += w.h * w.ref_d[i]
            k = w.omega_stiff
            w.acc[i] = acc + 2.0 * k * (w.ref_d[i] - qd[i]) + k * k * (w.ref[i] - q[i])
        mj_mulM(w.model, w.data, w.qfrc_applied, w.acc.ctypes.data)
        bias, passive = floats(w.qfrc_bias, w.n), floats(w.qfrc_passive, w.n)
        for i in range(w.n):
            tau[i] += bias[i] - passive[i]
    for i in range(w.n):
        if abs(tau[i]) > w.tau_max[i]:
            tau[i] = math.copysign(w.tau_max[i], tau[i])
        w.tau[i] = tau[i]
