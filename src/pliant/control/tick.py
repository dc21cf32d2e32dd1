"""One tick: reading in, command out. A pure function of (model, parameters, state, reading, goal, dt).

    reading ─▶ guard ─▶ sense ─▶ law (+ goal) ─▶ inverse ─▶ limits ─▶ guard ─▶ command

Same inputs, same outputs, bit for bit: the same compiled code serves the paced loop, a whole simulated run in one call,
and the replay of a recording.
"""

from __future__ import annotations

import math

from pliant.control.laws.law import JOINT_TORQUE, LAW_CALL, MAX_LAWS, TOOL_VELOCITY
from pliant.control.limits.compliant_frame import limit_tool
from pliant.control.limits.cuts import SINGULAR, cut
from pliant.control.limits.joint_command import limit
from pliant.control.limits.joint_torque import limit_torque
from pliant.control.limits.reach_edge import SCRATCH as EDGE
from pliant.control.limits.reach_edge import limit_edge
from pliant.control.limits.starvation import supervise_limits
from pliant.control.limits.stopping_path import SCRATCH as INSIDE
from pliant.control.safety_guard import vet_command, vet_motion, vet_reading
from pliant.control.sense import external_wrench
from pliant.kernel import call_at, fill, kernel, put
from pliant.model.inverse import SCRATCH, damped_inverse, damping_at, smallest_singular_value
from pliant.model.kinematics import dynamics, forward, jacobian, place
from pliant.records import (
    BY_BRAKE,
    BY_JOINTS,
    FAULT_COMMAND,
    FAULT_FORCE,
    FAULT_LAW,
    FAULT_SENSOR,
    FAULT_STAMP,
    IDLE,
    MAX_JOINTS,
    MAX_LAW_SCRATCH,
    TORQUE,
    VELOCITY,
    Field,
    Layout,
)
from pliant.spatial import pose_error, pose_integrate

# How fast a velocity-driven robot is pulled back onto the commanded position [1/s]: far below its servo.
VELOCITY_PULL = 1.0
# By torque, a fault brakes the joints as their acceleration limits allow, and over the last speed with this time
# constant [s], so that no torque jumps when they stop; below this speed [rad/s] they are told to stand still.
BRAKE_S, STANDS_RAD_S = 0.02, 1e-3

WORK = Layout(
    "Work",
    (
        Field("laws", "", "how each law is called, by its number", (MAX_LAWS,), LAW_CALL),
        Field("inverse", "", "scratch of the damped inverse", kind=SCRATCH),
        Field("scratch", "", "scratch of the running law, as it declares it", (MAX_LAW_SCRATCH,)),
        Field("e", "", "pose error", (6,)),
        Field("before", "", "velocity of the compliant frame a tick ago", (6,)),
        Field("asked", "", "velocity of the compliant frame that law and limits of the tool ask for", (6,)),
        Field("lost", "", "velocity that the damped inverse took from the compliant frame", (6,)),
        Field("edge", "", "scratch of the limit before the edge of the reach", kind=EDGE),
        Field("inside", "", "scratch of the limits that keep a way to rest", kind=INSIDE),
        Field("qd", "", "joint velocities asked for", (MAX_JOINTS,)),
        Field("before_qd", "", "joint velocities commanded a tick ago", (MAX_JOINTS,)),
        Field("three", "", "a vector", (3,)),
    ),
)


@kernel
def tick(handle, parameters, state, reading, goal, command, observed, work, mode, dt):
    """Run one tick of `dt` seconds; every argument but the last two is a one-element record array."""
    move_goal(goal[0], state[0], dt)
    step(handle[0], parameters[0], state[0], reading[0], goal[0], command[0], observed[0], work[0], mode, dt)


@kernel
def move_goal(g, s, dt):
    """Move a goal that was told to move on; its motion ends when its time is over. Before the tick: it is an input.

    A law that waits until the tool has lifted off finds its goal there, not where it was asked for.
    """
    if must_wait(s, g):
        put(g.q, s.q_cmd)
        put(g.pose, s.pose)
    if g.motion_s <= 0.0:
        return
    pose_integrate(g.pose, g.twist, dt, g.pose)
    g.motion_s -= dt
    if g.motion_s < 0.5 * dt:
        g.motion_s = 0.0
        fill(g.twist, 0.0)
        fill(g.accel, 0.0)


@kernel(separate=True)
def step(h, p, s, r, g, c, o, w, mode, dt):
    """The tick on records: see `tick`."""
    _clear(o)
    believed = vet_reading(h, p, s, r, dt)
    if believed:
        _observe(h, r, o)
    needed = must_wait(s, g) or mode != TORQUE or p.without_wrench[g.law] == 0
    good = external_wrench.supervise(p.sense, s, r, needed, dt)
    if good and believed:
        external_wrench.external(h, p.sense, r.wrench, w.three, s.wrench)
    vet_motion(h, p, s, r, o, dt)
    put(o.wrench, s.wrench)
    if s.fault == 0 and (good or not needed if s.started == 0 else s.law != g.law and not must_wait(s, g)):
        _start(h, p, s, r, g, c, o, w, mode, dt)
    external_wrench.low_pass(p.sense, s, s.wrench, dt)
    law = w.laws[s.law]
    if s.started != 0 and law.takes_commands == 0:
        s.commands = g.commands  # a law that takes none discards them
    by_torque = s.started != 0 and s.fault == 0 and g.stop == 0 and law.output == JOINT_TORQUE and mode == TORQUE
    if by_torque:
        _check(s, call_at(law.step, (h, p, s, r, g, c, o, w, dt)))
    if not by_torque or s.fault != 0:  # a torque law that has just failed hands over at once
        brakes = mode == TORQUE and s.started != 0 and s.fault != 0 and not must_finish(s)
        if brakes:
            _take_over_braking(p, h, s, r)
        _want(h, p, s, r, g, c, o, w, dt)
        if brakes and s.driven == BY_BRAKE:
            _brake(h, s, w, dt)
        _vet(h, s, w)
        scale = limit(p.limits, h, s, w.qd, dt, o, w.inside)
        _follow(h, s, w, scale, dt)
        _drive(h, p, s, r, c, w, o, mode, dt)
    if s.started != 0 and s.fault == 0 and g.stop == 0 and law.handles_halt == 0:
        pose_error(s.pose, g.pose, w.e)
        supervise_limits(p.limits, s, w.e, o, dt)
    vet_command(h, p, s, c, dt)


@kernel
def must_wait(s, g):
    """Whether another law is requested that may not take over yet, because the present one has to finish first."""
    return s.started != 0 and s.busy != 0 and g.law != s.law and g.pressed == 0


@kernel
def must_finish(s):
    """Whether the law keeps running after a failure of the force sensor or too much force: no tool stays pressed."""
    return s.finishes != 0 and s.blind == 0 and _is_of_sensor(s)


@kernel
def _is_of_sensor(s):
    return FAULT_SENSOR < s.fault < FAULT_STAMP or s.fault == FAULT_FORCE


@kernel
def _check(s, status):
    """A law that raised an error is a fault."""
    if status != 0 and s.fault == 0:
        s.fault = FAULT_LAW


@kernel
def _clear(o):
    """Nothing of the tick before is left: what is observed follows from this tick alone."""
    o.limits = 0
    o.scale = 1.0
    o.singular_value = math.nan
    fill(o.asked, 0.0)
    fill(o.allowed, 0.0)
    fill(o.pose, 0.0)
    o.pose[3] = 1.0
    fill(o.twist, 0.0)


@kernel
def _vet(h, s, w):
    """No number that is not finite may reach the limits, the command or the virtual mass."""
    for i in range(h.n):
        if not math.isfinite(w.qd[i]) and s.fault == 0:
            s.fault = FAULT_COMMAND
    if s.fault == FAULT_COMMAND:
        fill(w.qd, 0.0)


@kernel
def _observe(h, r, o):
    """Where the tool is and how it moves, from the measured joints."""
    forward(h, r.q)
    jacobian(h)
    put(o.pose, h.X_tool)
    for i in range(6):
        total = 0.0
        for k in range(h.n):
            total += h.J[i, k] * r.qd[k]
        o.twist[i] = total


@kernel
def _start(h, p, s, r, g, c, o, w, mode, dt):
    """Begin a law at rest: at the measured joints first, at the commanded ones when one law takes over from another."""
    if w.laws[g.law].step == 0:
        s.fault = FAULT_LAW
        return
    if s.started != 0:
        _check(s, call_at(w.laws[s.law].end, (h, p, s, r, g, c, o, w, dt)))
    else:
        put(s.q_cmd, r.q)
        fill(s.qd_cmd, 0.0)
        put(s.wrench_lp, s.wrench)
        s.tank_j = -1.0
        for i in range(MAX_JOINTS):
            s.tau[i] = r.tau[i] if mode == TORQUE and math.isfinite(r.tau[i]) else 0.0
    s.law, s.started = g.law, 1
    s.set, s.ramp = 0, 1.0  # at rest at the goal, new gains hold no energy
    s.busy = s.finishes = 0
    s.starved_s = 0.0
    fill(s.memory, 0.0)
    fill(s.weakest, 0.0)
    fill(s.twist, 0.0)
    fill(s.moved, 0.0)
    fill(s.goal_twist, 0.0)
    _check(s, call_at(w.laws[s.law].begin, (h, p, s, r, g, c, o, w, dt)))


@kernel
def _want(h, p, s, r, g, c, o, w, dt):
    """The joint velocities that the law requests, in `w.qd`: none before its start, halted or after a fault."""
    place(h, s.q_cmd)
    jacobian(h)
    put(s.pose, h.X_tool)
    fill(w.qd, 0.0)
    fill(w.lost, 0.0)
    law = w.laws[s.law]
    if s.started != 0 and s.fault != 0 and not _is_of_sensor(s):
        call_at(law.fail, (h, p, s, r, g, c, o, w, dt))
    halted = g.stop != 0 and law.handles_halt == 0
    if s.started == 0 or halted or (s.fault != 0 and not must_finish(s)) or law.output == JOINT_TORQUE:
        return
    put(w.before, s.twist)
    _check(s, call_at(law.step, (h, p, s, r, g, c, o, w, dt)))
    if law.output == TOOL_VELOCITY and _is_finite(s.twist) and s.fault != FAULT_LAW:
        _to_joints(h, p, s, w, o, dt)
    elif law.output == TOOL_VELOCITY:
        s.fault = FAULT_COMMAND if s.fault == 0 else s.fault
        put(s.twist, w.before)
    elif s.fault == FAULT_LAW:
        fill(w.qd, 0.0)


@kernel
def _take_over_braking(p, h, s, r):
    """A fault by torque brakes from the measured motion.

    Of the drives' pull only what slows a joint down is kept: it may be all that holds against a load that the sensor
    did not report. Where the command was ahead, it must not pull the joint on.
    """
    if s.driven == BY_BRAKE or s.blind != 0:
        return
    omega, zeta = 2.0 * math.pi * p.joint_loop.frequency_hz, p.joint_loop.damping_ratio
    for i in range(h.n):
        pull = s.q_cmd[i] - r.q[i] + 2.0 * zeta / omega * (s.qd_cmd[i] - r.qd[i])
        s.q_cmd[i] = r.q[i] + (pull if pull * r.qd[i] < 0.0 else 0.0)
        s.qd_cmd[i] = r.qd[i]
        s.owed[i] = 0.0  # the torques that drove the joints end at once
    s.driven = BY_BRAKE


@kernel
def _brake(h, s, w, dt):
    """The joint velocities asked for while a fault brakes by torque."""
    put(w.before_qd, s.qd_cmd)
    for i in range(h.n):
        w.qd[i] = 0.0 if abs(s.qd_cmd[i]) < STANDS_RAD_S else s.qd_cmd[i] * max(0.0, 1.0 - dt / BRAKE_S)


@kernel
def _is_finite(values):
    finite = True
    for i in range(len(values)):
        finite = finite and math.isfinite(values[i])
    return finite


@kernel
def _to_joints(h, p, s, w, o, dt):
    """Limits of the compliant frame, and the joint velocities that move it as `s.twist` says."""
    limit_tool(p.limits, h, s, w.before, dt, o)
    put(w.asked, s.twist)
    o.singular_value = smallest_singular_value(h.J, h.n, s.weakest, w.inverse)
    if o.singular_value < p.limits.singular_threshold:
        cut(o, SINGULAR, p.limits.singular_threshold, o.singular_value)
    sigma, near, damping = o.singular_value, p.limits.singular_threshold, p.limits.singular_damping
    limit_edge(p.limits, h, s, sigma, damping_at(sigma, near, damping), w.edge, dt, o)
    damped_inverse(h.J, h.n, s.twist, sigma, near, damping, w.inverse, w.qd)
    put(w.lost, w.inverse.lost)


@kernel
def _follow(h, s, w, scale, dt):
    """Integrate the command, and give the virtual mass the velocity that the limits left of it.

    What damping near a singularity took is left to the mass: else it would be a friction that holds the arm there.
    """
    for i in range(h.n):
        s.qd_cmd[i] = w.qd[i]
        s.q_cmd[i] += dt * w.qd[i]
    for i in range(6):
        total = 0.0
        for k in range(h.n):
            total += h.J[i, k] * w.qd[k]
        s.moved[i] = total
        s.twist[i] = total + scale * w.lost[i]


@kernel
def _drive(h, p, s, r, c, w, o, mode, dt):
    """Say the command in the words of the robot's interface; before a first good reading there is nothing to say."""
    blind = s.blind != 0
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
            c.qd[i] = math.copysign(min(abs(qd), p.limits.speed_scale * h.v_max[i]), qd)
    elif mode == TORQUE:
        _torque(h, p, s, r, c, w, o, dt)


@kernel
def _torque(h, p, s, r, c, w, o, dt):
    """Computed torque around the commanded joints, cut at the drives' limits.

    τ = M (ω² e + 2 ζ ω ė) + bias + friction - Jᵀ F: a push that the law has answered must not push a second time.
    While a fault brakes, q̈_cmd is added to ω² e + 2 ζ ω ė: without it the joints would come to rest ahead of the
    command, and swing back to it.
    """
    dynamics(h, r.q, r.qd)
    brakes = s.driven == BY_BRAKE
    omega, zeta = 2.0 * math.pi * p.joint_loop.frequency_hz, p.joint_loop.damping_ratio
    for i in range(h.n):
        w.qd[i] = omega * omega * (s.q_cmd[i] - r.q[i]) + 2.0 * zeta * omega * (s.qd_cmd[i] - r.qd[i])
        if brakes:
            w.qd[i] += (s.qd_cmd[i] - w.before_qd[i]) / dt
    for i in range(h.n):
        total = h.bias[i] + h.damping[i] * r.qd[i]
        for k in range(h.n):
            total += h.M[i, k] * w.qd[k]
        for k in range(6):
            total -= h.J[k, i] * s.wrench_lp[k]
        c.tau[i] = total
    # the commanded joints move anew in every tick; this loop (joint_loop.frequency_hz) is slow enough to wait
    if not limit_torque(p.limits, h, s, c.tau, dt, not brakes, o):
        s.fault = FAULT_COMMAND if s.fault == 0 else s.fault
        c.mode = IDLE
    if not brakes:
        s.driven = BY_JOINTS
