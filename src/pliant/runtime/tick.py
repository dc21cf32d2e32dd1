"""One tick: reading in, command out. A pure function of (model, parameters, state, reading, goal, dt).

    reading ─▶ sense ─▶ law (+ goal) ─▶ inverse ─▶ limits ─▶ command

Same inputs, same outputs, bit for bit: the same compiled code serves the paced loop, a whole simulated run in one call,
and the replay of a recording.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.laws import ADMITTANCE, HOLD, admittance, hold
from pliant.limits.joint import limit
from pliant.model.inverse import SCRATCH, damped_inverse
from pliant.model.kinematics import dynamics, forward, jacobian
from pliant.records import (
    FAULT_NUMBER,
    IDLE,
    LIMIT_SINGULAR,
    LIMIT_TORQUE,
    MAX_JOINTS,
    TORQUE,
    VELOCITY,
    Field,
    Layout,
)
from pliant.sense import wrench

# How fast a velocity-driven robot is pulled back onto the commanded position [1/s]: far below its servo.
VELOCITY_PULL = 1.0

WORK = Layout(
    "Work",
    (
        Field("inverse", "", "scratch of the damped inverse", kind=SCRATCH),
        Field("e", "", "pose error", (6,)),
        Field("F", "", "wrench that the law feels", (6,)),
        Field("qd", "", "joint velocities asked for", (MAX_JOINTS,)),
        Field("three", "", "a vector", (3,)),
    ),
)


@kernel
def tick(handle, parameters, state, reading, goal, command, observed, work, mode, dt):
    """Run one tick of `dt` seconds; every argument but the last two is a one-element record array."""
    step(handle[0], parameters[0], state[0], reading[0], goal[0], command[0], observed[0], work[0], mode, dt)


@kernel
def step(h, p, s, r, g, c, o, w, mode, dt):
    """The tick on records: see `tick`."""
    o.limits = 0
    o.scale = 1.0
    _observe(h, s, r, o)
    good = wrench.usable(r)
    wrench.supervise(p.sense, s, good, dt)
    if good:
        wrench.external(h, p.sense, r.wrench, w.three, o.wrench)
    if s.fault == 0 and (good if s.started == 0 else s.law != g.law):
        _start(s, r, g, o)
    wrench.low_pass(p.sense, s, o.wrench, dt)
    _want(h, p, s, g, w, o, dt)
    limit(p.limits, h, s, w.qd, dt, o)
    _follow(h, s, w, dt)
    _drive(h, p, s, r, c, w, o, mode)


@kernel
def _observe(h, s, r, o):
    """Where the tool is and how it moves, from the measured joints."""
    for i in range(h.n):
        if not (math.isfinite(r.q[i]) and math.isfinite(r.qd[i])):
            s.fault = FAULT_NUMBER
    if s.fault == FAULT_NUMBER:  # from now on no joint reading is looked at
        return
    forward(h, r.q)
    jacobian(h)
    o.pose[:] = h.X_tool
    for i in range(6):
        total = 0.0
        for k in range(h.n):
            total += h.J[i, k] * r.qd[k]
        o.twist[i] = total


@kernel
def _start(s, r, g, o):
    """Begin a law at rest: at the measured joints first, at the commanded ones when one law takes over from another."""
    if s.started == 0:
        s.q_cmd[:] = r.q
        s.qd_cmd[:] = 0.0
        s.wrench_lp[:] = o.wrench
        s.started = 1
    s.law = g.law
    s.twist[:] = 0.0


@kernel
def _want(h, p, s, g, w, o, dt):
    """The joint velocities that the law asks for, in `w.qd`. Not begun, stopped or faulted, that is none."""
    forward(h, s.q_cmd)
    jacobian(h)
    s.pose[:] = h.X_tool
    w.qd[:] = 0.0
    if s.started == 0 or g.stop != 0 or s.fault != 0:
        return
    if g.law == HOLD:
        hold.step(p.hold, h, s, g.q, p.limits.acceleration_scale, dt, w.qd)
    elif g.law == ADMITTANCE:
        for i in range(6):
            w.F[i] = s.wrench_lp[i] - g.wrench[i]
        wrench.deadband(p.sense, w.F, w.F)
        admittance.step(p.admittance, s, w.F, g.pose, g.twist, dt, w.e)
        o.singular_value = damped_inverse(
            h.J, h.n, s.twist, p.limits.singular_threshold, p.limits.singular_damping, s.weakest, w.inverse, w.qd
        )
        if o.singular_value < p.limits.singular_threshold:
            o.limits |= LIMIT_SINGULAR


@kernel
def _follow(h, s, w, dt):
    """Integrate the command, and give the virtual mass the velocity that the limits left of it."""
    for i in range(h.n):
        s.qd_cmd[i] = w.qd[i]
        s.q_cmd[i] += dt * w.qd[i]
    for i in range(6):
        total = 0.0
        for k in range(h.n):
            total += h.J[i, k] * w.qd[k]
        s.twist[i] = total


@kernel
def _drive(h, p, s, r, c, w, o, mode):
    """Say the command in the words of the robot's interface; before a first good reading there is nothing to say."""
    blind = s.fault == FAULT_NUMBER
    if s.started == 0 or (blind and mode == TORQUE):
        c.mode = IDLE
        return
    c.mode = mode
    for i in range(h.n):
        c.q[i] = s.q_cmd[i]
        c.qd[i] = s.qd_cmd[i]
        c.tau[i] = 0.0
    if mode == VELOCITY and not blind:
        for i in range(h.n):
            qd = c.qd[i] + VELOCITY_PULL * (s.q_cmd[i] - r.q[i])
            c.qd[i] = math.copysign(min(abs(qd), h.v_max[i]), qd)
    elif mode == TORQUE:
        _torque(h, p, s, r, c, w, o)


@kernel
def _torque(h, p, s, r, c, w, o):
    """Computed torque around the commanded joints: τ = M (ω² e + 2 ζ ω ė) + bias, cut at the drives' limits."""
    dynamics(h, r.q, r.qd)
    omega = 2.0 * math.pi * p.hold.bandwidth_hz
    for i in range(h.n):
        w.qd[i] = omega * omega * (s.q_cmd[i] - r.q[i]) + 2.0 * p.hold.damping_ratio * omega * (s.qd_cmd[i] - r.qd[i])
    for i in range(h.n):
        total = h.bias[i]
        for k in range(h.n):
            total += h.M[i, k] * w.qd[k]
        if abs(total) > h.tau_max[i]:
            total = math.copysign(h.tau_max[i], total)
            o.limits |= LIMIT_TORQUE
        c.tau[i] = total
