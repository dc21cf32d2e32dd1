"""One tick: reading in, command out. A pure function of (model, parameters, state, reading, goal, dt).

    reading ─▶ sense ─▶ law (+ goal) ─▶ inverse ─▶ limits ─▶ command

Same inputs, same outputs, bit for bit: the same compiled code serves the paced loop, a whole simulated run in one call,
and the replay of a recording.
"""

from __future__ import annotations

import math

from pliant.contact import states
from pliant.contact import step as contact
from pliant.kernel import fill, kernel, put
from pliant.laws import ADMITTANCE, CONTACT, HOLD, IMPEDANCE, admittance, hold, impedance
from pliant.limits.edge import SCRATCH as EDGE
from pliant.limits.edge import limit_edge
from pliant.limits.inside import SCRATCH as INSIDE
from pliant.limits.joint import limit
from pliant.limits.report import SINGULAR, cut
from pliant.limits.tool import limit_tool
from pliant.limits.torque import limit_torque
from pliant.model.inverse import SCRATCH, damped_inverse, damping_at, smallest_singular_value
from pliant.model.kinematics import dynamics, forward, jacobian, place
from pliant.records import (
    FAULT_COMMAND,
    FAULT_NUMBER,
    FAULT_POSE_ERROR,
    FAULT_SENSOR,
    IDLE,
    MAX_JOINTS,
    TORQUE,
    VELOCITY,
    Field,
    Layout,
)
from pliant.runtime.axes import turn as _turn
from pliant.runtime.impede import BY_JOINTS, impede
from pliant.sense import wrench
from pliant.spatial import pose_error, pose_integrate

# How fast a velocity-driven robot is pulled back onto the commanded position [1/s]: far below its servo.
VELOCITY_PULL = 1.0

# Below this speed [m/s, rad/s] a tool without a spring is at rest once nothing pushes it.
STILL = 1e-3

WORK = Layout(
    "Work",
    (
        Field("inverse", "", "scratch of the damped inverse", kind=SCRATCH),
        Field("admittance", "", "scratch of the law", kind=admittance.SCRATCH),
        Field("impedance", "", "scratch of the torque law", kind=impedance.SCRATCH),
        Field("contact", "", "scratch of the contact law", kind=contact.SCRATCH),
        Field("e", "", "pose error", (6,)),
        Field("before", "", "velocity of the compliant frame a tick ago", (6,)),
        Field("asked", "", "velocity of the compliant frame that law and limits of the tool ask for", (6,)),
        Field("moved", "", "velocity that the frame really had, relative to the goal, in the law's axes", (6,)),
        Field("goal_twist", "", "velocity of the goal, in the law's axes", (6,)),
        Field("F", "", "wrench that the law feels", (6,)),
        Field("lost", "", "velocity that the damped inverse took from the compliant frame", (6,)),
        Field("edge", "", "scratch of the limit before the edge of the reach", kind=EDGE),
        Field("inside", "", "scratch of the limits that keep a way to rest", kind=INSIDE),
        Field("qd", "", "joint velocities asked for", (MAX_JOINTS,)),
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
    _observe(h, s, r, o)
    needed = must_wait(s, g) or not feels_by_motion(p, g, mode)
    good = wrench.supervise(p.sense, s, r, needed, dt)
    if good and s.fault != FAULT_NUMBER:
        wrench.external(h, p.sense, r.wrench, w.three, s.wrench)
    put(o.wrench, s.wrench)
    if s.fault == 0 and (good or not needed if s.started == 0 else s.law != g.law and not must_wait(s, g)):
        _start(p, s, r, g)
    wrench.low_pass(p.sense, s, s.wrench, dt)
    if s.started != 0 and s.law != CONTACT:
        contact.pass_over(s, g)
    by_torque = s.started != 0 and s.fault == 0 and g.stop == 0 and s.law == IMPEDANCE and mode == TORQUE
    if by_torque:
        impede(h, p, s, r, g, c, w, o, dt)
    if not by_torque or s.fault != 0:  # a torque law that has just failed hands over at once
        _want(h, p, s, g, w, o, dt)
        _vet(h, s, w)
        scale = limit(p.limits, h, s, w.qd, dt, o, w.inside)
        _follow(h, s, w, scale, dt)
        _drive(h, p, s, r, c, w, o, mode, dt)


@kernel
def must_wait(s, g):
    """Another law may not take over from a contact that presses: nobody would watch the force, or lift the tool off."""
    asked = s.started != 0 and s.law == CONTACT and g.law != CONTACT and g.pressed == 0
    return asked and states.is_at_work(s.contact)


@kernel
def feels_by_motion(p, g, mode):
    """Whether the law needs no force sensor: a push moves the arm by itself in the simple impedance."""
    return g.law == IMPEDANCE and p.impedance.form == impedance.SIMPLE and mode == TORQUE


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
def _observe(h, s, r, o):
    """Where the tool is and how it moves, from the measured joints."""
    for i in range(h.n):
        if not (math.isfinite(r.q[i]) and math.isfinite(r.qd[i])):
            s.fault = FAULT_NUMBER
    if s.fault == FAULT_NUMBER:  # from now on no joint reading is looked at
        return
    forward(h, r.q)
    jacobian(h)
    put(o.pose, h.X_tool)
    for i in range(6):
        total = 0.0
        for k in range(h.n):
            total += h.J[i, k] * r.qd[k]
        o.twist[i] = total


@kernel
def _start(p, s, r, g):
    """Begin a law at rest: at the measured joints first, at the commanded ones when one law takes over from another."""
    if s.started == 0:
        put(s.q_cmd, r.q)
        fill(s.qd_cmd, 0.0)
        put(s.wrench_lp, s.wrench)
        s.started = 1
        s.tank_j = p.impedance.tank_j if g.law == IMPEDANCE else p.admittance.tank_j
        for i in range(MAX_JOINTS):
            s.tau[i] = r.tau[i] if math.isfinite(r.tau[i]) else 0.0
    s.law = g.law
    s.set = p.impedance_gains.number if g.law == IMPEDANCE else p.gains.number
    s.ramp = 1.0  # at rest at the goal, new gains hold no energy
    fill(s.weakest, 0.0)
    fill(s.twist, 0.0)
    fill(s.moved, 0.0)
    fill(s.goal_twist, 0.0)
    contact.begin(s)


@kernel
def _want(h, p, s, g, w, o, dt):
    """The joint velocities that the law asks for, in `w.qd`. Not begun, stopped or faulted, that is none."""
    place(h, s.q_cmd)
    jacobian(h)
    put(s.pose, h.X_tool)
    fill(w.qd, 0.0)
    fill(w.lost, 0.0)
    if s.fault != 0 and s.law == CONTACT and s.fault < FAULT_SENSOR:
        contact.fail(s)
    halted = g.stop != 0 and s.law != CONTACT  # a halted contact is still watched, and lifted off after a fault
    if s.started == 0 or halted or (s.fault != 0 and not must_lift(s)):
        return
    if s.law == HOLD:
        hold.step(p.hold, h, s, g.q, p.limits.acceleration_scale, dt, w.qd)
    elif s.law == ADMITTANCE:
        comply(h, p, s, g, w, dt)
        _to_joints(h, p, s, w, o, dt)
    elif s.law == CONTACT:
        put(w.before, s.twist)
        contact.step(p.contact, s, o, g, wrench.smoothing(p.sense.cutoff_hz, dt), h.tool_mass, w.contact, dt)
        _to_joints(h, p, s, w, o, dt)


@kernel
def must_lift(s):
    """A force sensor that fails must not leave the tool pressed: the contact law lifts it off first."""
    return s.law == CONTACT and s.fault > FAULT_SENSOR and s.contact.lifted == 0


@kernel
def comply(h, p, s, g, w, dt):
    """Admittance: the velocity `s.twist` of the compliant frame, before any limit; the handle is at that frame."""
    for i in range(6):
        w.F[i] = s.wrench_lp[i] - g.wrench[i]
    wrench.deadband(p.sense, w.F, w.F)
    for i in range(6):
        w.F[i] += g.push[i]
    if s.set != p.gains.number:
        s.set = p.gains.number
        s.ramp = 0.0
    pose_error(s.pose, g.pose, w.e)
    put(w.before, s.twist)
    put(w.goal_twist, g.twist)
    for i in range(6):
        # the mass rides on the goal: a goal that speeds up takes it along instead of leaving it behind by M a / K
        s.twist[i] += g.twist[i] - s.goal_twist[i]
        w.moved[i] = s.moved[i] - s.goal_twist[i]
        s.goal_twist[i] = g.twist[i]
    if p.admittance.frame == 1:
        for six in (s.twist, w.e, w.F, w.goal_twist, w.moved):
            _turn(h.X_tool, six, True)
    _trip(p, s, w.e)
    for i in range(6):
        if p.admittance.axes[i] == 0:  # what does not give way does not feel
            w.F[i] = 0.0
    admittance.step(p.admittance, p.gains, s, w.F, w.e, w.goal_twist, w.moved, STILL, dt, w.admittance)
    if p.admittance.frame == 1:
        _turn(h.X_tool, s.twist, False)


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
def _trip(p, s, e):
    """A virtual spring that is stretched too far (`e` in the law's axes) is a fault: something is not as planned."""
    far, turned = 0.0, 0.0
    for i in range(3):
        if p.gains.free[i] == 0:
            far += e[i] * e[i]
        if p.gains.free[3 + i] == 0:
            turned += e[3 + i] * e[3 + i]
    if s.fault == 0 and (far > p.limits.pose_error_m**2 or turned > p.limits.pose_error_rad**2):
        s.fault = FAULT_POSE_ERROR


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
            c.qd[i] = math.copysign(min(abs(qd), p.limits.speed_scale * h.v_max[i]), qd)
    elif mode == TORQUE:
        _torque(h, p, s, r, c, w, o, dt)


@kernel
def _torque(h, p, s, r, c, w, o, dt):
    """Computed torque around the commanded joints, cut at the drives' limits.

    τ = M (ω² e + 2 ζ ω ė) + bias + friction - Jᵀ F: a push that the law has answered must not push a second time.
    """
    dynamics(h, r.q, r.qd)
    omega = 2.0 * math.pi * p.hold.drive_hz
    for i in range(h.n):
        w.qd[i] = omega * omega * (s.q_cmd[i] - r.q[i]) + 2.0 * p.hold.damping_ratio * omega * (s.qd_cmd[i] - r.qd[i])
    for i in range(h.n):
        total = h.bias[i] + h.damping[i] * r.qd[i]
        for k in range(h.n):
            total += h.M[i, k] * w.qd[k]
        for k in range(6):
            total -= h.J[k, i] * s.wrench_lp[k]
        c.tau[i] = total
    # what moves the commanded joints is asked anew in every tick; this loop (hold.drive_hz) is slow enough to wait
    if not limit_torque(p.limits, h, s, c.tau, dt, True, o):
        s.fault = FAULT_COMMAND if s.fault == 0 else s.fault
        c.mode = IDLE
    s.driven = BY_JOINTS
