"""The robot's own servo: transport delay, command filter, stiff joint loop with full knowledge of its dynamics.

Like a real servo it interpolates: positions and velocities reach the commanded value at the end of the period, because
a staircase would shake the arm at the loop rate. That period is part of the declared delay. Torques act after the
delay, without interpolation.

    ref'' = ω² (target - ref) - 2 ω ref'                        what an external controller sees of the robot
    τ = M (ref'' + 2 ω_s (ref' - q̇) + ω_s² (ref - q)) + bias    how strongly the joints track ref
"""

from __future__ import annotations

import math

from pliant.kernel import floats, kernel, mj_mulM
from pliant.records import IDLE, POSITION, TORQUE, VELOCITY
from pliant.world.world_layout import DELAY_SLOTS


@kernel
def send(w, c, share):
    """Append a command to the delay line, interpolated by `share` from the last period's command to this one."""
    slot = w.count % DELAY_SLOTS
    w.line_mode[slot] = c.mode
    if c.mode != w.last_mode:  # the last command was of another kind: there is nothing to interpolate from
        share = 1.0
    for i in range(w.n):
        value = c.tau[i]
        if c.mode == POSITION:
            value = w.last[i] + share * (c.q[i] - w.last[i])
        elif c.mode == VELOCITY:
            value = w.last[i] + share * (c.qd[i] - w.last[i])
        w.line[slot, i] = value


@kernel
def remember(w, c):
    """At the end of a period, store its command as the start of the next interpolation."""
    w.last_mode = c.mode
    for i in range(w.n):
        w.last[i] = c.q[i] if c.mode == POSITION else c.qd[i]


@kernel
def _arrived(w):
    """Mode and slot of the command that takes effect in this physics step."""
    if w.halted == 0:
        slot = (w.count - w.delay) % DELAY_SLOTS
        if w.count >= w.delay and w.line_mode[slot] == TORQUE:
            return TORQUE, slot
        # interpolation has used up one period of the delay
        delay = max(0, w.delay - w.substeps)
        slot = (w.count - delay) % DELAY_SLOTS
        if w.count >= delay and w.line_mode[slot] != TORQUE:
            return w.line_mode[slot], slot
    return IDLE, 0


@kernel
def demand(w):
    """The output of the delay line: joint torques (returns True), or joint accelerations in w.acc."""
    q, qd = floats(w.qpos, w.n), floats(w.qvel, w.n)
    mode, slot = _arrived(w)
    if mode == TORQUE:
        tau = floats(w.qfrc_applied, w.n)
        for i in range(w.n):
            tau[i] = w.line[slot, i]
            w.ref[i], w.ref_d[i], w.target[i] = q[i], qd[i], q[i]
        return True
    for i in range(w.n):
        if mode == POSITION:
            w.target[i] = w.line[slot, i]
        elif mode == VELOCITY:
            w.target[i] += w.h * w.line[slot, i]
        acc = w.omega * w.omega * (w.target[i] - w.ref[i]) - 2.0 * w.omega * w.ref_d[i]
        k = w.omega_stiff
        w.acc[i] = acc + 2.0 * k * (w.ref_d[i] - qd[i]) + k * k * (w.ref[i] - q[i])
        w.ref_d[i] += w.h * acc
        w.ref[i] += w.h * w.ref_d[i]
    return False


@kernel
def saturate(w):
    """Limit the joint torques to the drives' limits, and remember them."""
    tau = floats(w.qfrc_applied, w.n)
    for i in range(w.n):
        if abs(tau[i]) > w.tau_max[i]:
            tau[i] = math.copysign(w.tau_max[i], tau[i])
        w.tau[i] = tau[i]


@kernel
def drive(w):
    """Compute the joint torques of this physics step from the output of the delay line."""
    if not demand(w):
        mj_mulM(w.model, w.data, w.qfrc_applied, w.acc.ctypes.data)
        tau, bias, passive = floats(w.qfrc_applied, w.n), floats(w.qfrc_bias, w.n), floats(w.qfrc_passive, w.n)
        for i in range(w.n):
            tau[i] += bias[i] - passive[i]
    saturate(w)
