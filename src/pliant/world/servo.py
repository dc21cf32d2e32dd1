"""The robot's own servo: transport delay, command filter, stiff joint loop with full knowledge of its dynamics.

Like a real servo it interpolates: positions and velocities reach the commanded value at the end of the period, because
a staircase would shake the arm at the loop rate. That period is part of the declared delay. Torques act after the
delay, without interpolation.

    ref'' = ω² (target - ref) - 2 ω ref'                        what an external controller sees of the robot
    τ = M (ref'' + 2 ω_s (ref' - q̇) + ω_s² (ref - q)) + bias    how strongly the joints track ref

With elastic gears the servo controls each motor by itself, with the same ω_s and the same knowledge of the arm as a
feed forward: see `realism/gear_motor.py`.
"""

from __future__ import annotations

import math

from pliant.kernel import floats, kernel, mj_mulM
from pliant.records import IDLE, POSITION, TORQUE, VELOCITY
from pliant.world.realism.gear_motor import motors
from pliant.world.world_layout import DELAY_SLOTS


@kernel
def send(w, c, share):
    """Append a command to the delay line, interpolated by `share` from the last period's command to this one."""
    slot = w.count % DELAY_SLOTS
    if w.packets.waiting > 0:
        _repeat(w, slot)
        return
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
def _repeat(w, slot):
    """Append the last command that got through, while a packet is late."""
    w.packets.waiting -= 1
    w.line_mode[slot] = w.last_mode
    for i in range(w.n):
        w.line[slot, i] = w.packets.tau[i] if w.last_mode == TORQUE else w.last[i]


@kernel
def remember(w, c):
    """At the end of a period, store its command as the start of the next interpolation, if it got through."""
    if w.packets.waiting > 0:
        return
    w.last_mode = c.mode
    for i in range(w.n):
        w.last[i] = c.q[i] if c.mode == POSITION else c.qd[i]
        w.packets.tau[i] = c.tau[i]


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
    q, qd = floats(w.axis_q, w.n), floats(w.axis_qd, w.n)
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
        k = w.omega_stiff if w.drive.on == 0 else 0.0  # a motor has a servo of its own
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
    by_torque = demand(w)
    if not by_torque:
        mj_mulM(w.model, w.data, w.qfrc_applied, w.acc.ctypes.data)
        balance(w)
    act(w, by_torque)


@kernel
def balance(w):
    """Add to the torques of the accelerations what carries the arm, and what turns the motors."""
    tau, bias, passive = floats(w.qfrc_applied, w.n), floats(w.qfrc_bias, w.n), floats(w.qfrc_passive, w.n)
    for i in range(w.n):
        tau[i] += bias[i] - passive[i]
    if w.drive.on != 0:
        for i in range(w.n):
            tau[i] += w.drive.rotor[i] * w.acc[i]


@kernel
def act(w, by_torque):
    """Let the drives apply these torques, through their gears if they have any."""
    if w.drive.on != 0:
        motors(w, by_torque)
    else:
        saturate(w)
