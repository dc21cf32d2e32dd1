"""The tick of a torque law: from the measured joints and the felt wrench straight to joint torques.

    reading ─▶ goal into reach, led ─▶ impedance ─▶ joint accelerations ─▶ limits ─▶ τ = M_q q̈ + compensation ─▶ limits

Meanwhile the commanded joints follow the measured ones, so that a stop, a fault or another law takes over without a
jump and brakes within the acceleration limits.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.control.axes import turn
from pliant.control.laws.gains import impedance_target
from pliant.control.laws.goal_checks import check_axes, uncontrolled
from pliant.control.laws.impedance import impedance_law
from pliant.control.laws.law import JOINT_TORQUE, Law
from pliant.control.laws.law_panel import spring_panel
from pliant.control.limits.cuts import SINGULAR, cut
from pliant.control.limits.goal_reach import bring_into_reach, lead_round, limit_stretch
from pliant.control.limits.joint_drive import PULL, limit_drive, pull_share, too_fast
from pliant.control.limits.joint_torque import limit_torque, share_torque
from pliant.control.limits.smoothed_goal import arrives, smooth_goal, yield_lead
from pliant.control.sense import external_wrench
from pliant.kernel import fill, kernel, put, record_in
from pliant.model.inverse import damping_at, smallest_of_rows
from pliant.model.kinematics import dynamics, weight
from pliant.records import BY_LAW, FAULT_COMMAND, TORQUE
from pliant.solve import solve_lower, solve_upper
from pliant.spatial import pose_error

# A virtual push or wrench goal that changes by more than this within a tick [N, N m] has jumped.
_JUMP = (1.0, 0.1)
# Dry friction: the share that is compensated; the joint speed [rad/s], and the drive as a share of the friction, at
# which all of that is.
_CANCELLED, _SLIDES, _STARTS = 0.9, 0.02, 0.2
# Time constant with which the motion shows what pushes the joints [s]: well above a robot's delay.
_SHOWS = 0.02
# Friction that holds a resting joint is learned only while the law drives it by more than this share of its largest
# torque: below, the joint would creep and stick in turns. A joint rests below this speed [rad/s].
_WORTH, _RESTS = 1e-4, 2e-3

_MEMORY, _SCRATCH = impedance_law.MEMORY.dtype, impedance_law.SCRATCH.dtype


@kernel(separate=True)
def impede(h, p, s, r, g, c, o, w, dt):
    """Fill the command with the torques of the impedance law; a fault is set where they came out as no numbers."""
    x, k, law = record_in(w.scratch, _SCRATCH), record_in(s.memory, _MEMORY), p.impedance
    begins = s.driven != BY_LAW
    if s.set != p.impedance_gains.number:
        s.set = p.impedance_gains.number
        s.ramp = 0.0
    _foresee(h, s, r, x, begins, dt)
    _take_over(h, law, s, k, r, o, begins, dt)
    put(s.goal_twist, g.twist)
    rows = _rows(h, law, x)
    damping = _damping(h, p, s, x, w, o)
    impedance_law.weigh(h.M, h.n, law.axes, damping, x)
    _aim(h, p, s, k, g, x, dt, o)
    _feel(p, s, g, x)
    anew = begins or _asked_anew(p, k, g, x, dt)
    _into_law_axes(h, law, x)
    limit_stretch(p.limits, x.e, o)
    _compensate(h, law, s, k.load, x, rows)
    for i in range(h.n):
        x.top[i] = PULL * p.limits.acceleration_scale * h.a_max[i]
    spare = h.n > rows or damping > 0.0
    lost = damping / p.limits.singular_damping**2
    impedance_law.step(law, p.impedance_gains, s, h.M, r.q, r.qd, g.q, h.n, spare, lost, dt, x)
    shift, turns = _pulled(h, p, x)
    _expect_load(law, k.load, h.n, x)
    _brake_tool(h, p.limits, r, x, o)
    limit_drive(p.limits, h, r.q, r.qd, x.qdd, dt, o)
    if not _command(h, p, s, c, x, dt, anew, o):
        s.fault = FAULT_COMMAND
    else:
        yield_lead(k, o.pose, o.twist, shift, turns, x.e, dt)


@kernel
def _take_over(h, law, s, k, r, o, begins, dt):
    """The commanded joints follow the measured ones; a law that begins leads its goal from where the tool is."""
    if begins:
        put(k.led, o.pose)
        fill(k.led_twist, 0.0)
        fill(k.load, 0.0)
    else:
        _feel_load(h, law, s, k, r, dt)
    for i in range(h.n):
        s.q_cmd[i] = r.q[i]
        s.qd_cmd[i] = r.qd[i]
    put(s.pose, o.pose)
    put(s.twist, o.twist)
    put(s.moved, o.twist)


@kernel
def _damping(h, p, s, x, w, o):
    """Damping λ² of the inverse: near a singularity of the controlled directions, else 0."""
    sigma = smallest_of_rows(x.J, p.impedance.axes, h.n, s.weakest, w.inverse)
    o.singular_value = sigma
    if sigma < p.limits.singular_threshold:
        cut(o, SINGULAR, p.limits.singular_threshold, sigma)
    return damping_at(sigma, p.limits.singular_threshold, p.limits.singular_damping)


@kernel
def _foresee(h, s, r, x, begins, dt):
    """The arm's dynamics at the middle of the coming step: what holds on average while its torques act."""
    for i in range(h.n):
        gain = 0.0 if begins else r.qd[i] - s.qd_cmd[i]
        x.q[i] = r.q[i] + 0.5 * dt * r.qd[i]
        x.qd[i] = r.qd[i] + 0.5 * gain
    dynamics(h, x.q, x.qd)


@kernel
def _feel_load(h, law, s, k, r, dt):
    """What pushes the joints from outside: what moves them beyond the torques of the last tick, low-passed.

    The simple form reckons with it as the shaped one does with the sensor, so it needs none. Otherwise it is what the
    sensor does not explain: friction, errors of sensor and model.
    """
    share = dt / (dt + _SHOWS)
    for i in range(h.n):
        total = h.bias[i] + h.damping[i] * r.qd[i] - s.tau[i]
        for j in range(h.n):
            total += h.M[i, j] * (r.qd[j] - s.qd_cmd[j]) / dt
        if law.form == impedance_law.SHAPED or law.friction_observer != 0:
            for j in range(6):
                total -= h.J[j, i] * s.wrench_lp[j]
        # at rest, the difference is the torque with which the law drives the joint
        sticks = abs(r.qd[i]) < _RESTS and abs(total - k.load[i]) < _WORTH * h.tau_max[i]
        if law.friction_observer == 0 or not sticks:
            k.load[i] += share * (total - k.load[i])


@kernel
def _aim(h, p, s, k, g, x, dt, o):
    """The led goal within reach, and how far the tool is from it, in the base frame."""
    put(x.goal, g.pose)
    put(x.goal_twist, g.twist)
    put(x.accel, g.accel)
    bring_into_reach(p.limits, h, s.pose, x.goal, x.goal_twist, x.accel, o)
    pose_error(x.goal, k.led, x.e)
    _pace(h, p, k, x, dt)
    smooth_goal(p.limits, k, x.goal, x.goal_twist, x.accel, x.e, x.pace, dt, o)
    for i in range(3):
        if p.impedance.frame == 0 and p.impedance.axes[i] == 0:  # what is not controlled has no goal
            x.goal[i] = s.pose[i]
    lead_round(p.limits, h, s.pose, x.goal, x.goal_twist, x.accel, o)
    pose_error(s.pose, x.goal, x.e)
    for i in range(6):
        x.v[i] = o.twist[i] - x.goal_twist[i]
    put(x.Jdot_qd, h.Jdot_qd)


@kernel
def _pace(h, p, k, x, dt):
    """Speed and acceleration that the joints can follow along x.e, shifts and turns apart, in x.pace."""
    for first in (0, 3):
        x.pace[first] = x.pace[first + 1] = math.inf
        if arrives(p.limits, k, x.e, x.goal_twist, first, dt):
            continue
        fill(x.b, 0.0)
        far = math.sqrt(x.e[first] ** 2 + x.e[first + 1] ** 2 + x.e[first + 2] ** 2)
        for i in range(first, first + 3):
            x.b[i] = x.e[i] / max(far, 1e-12)
        if p.impedance.frame == 1:
            turn(h.X_tool, x.b, True)
        for i in range(6):
            x.b[i] *= p.impedance.axes[i]
        impedance_law.spread(h.n, x, x.drive)
        for i in range(h.n):
            each = max(abs(x.drive[i]), 1e-9)
            x.pace[first] = min(x.pace[first], PULL * p.limits.speed_scale * h.v_max[i] / each)
            x.pace[first + 1] = min(x.pace[first + 1], PULL * p.limits.acceleration_scale * h.a_max[i] / each)


@kernel
def _asked_anew(p, k, g, x, dt):
    """Whether something else is asked than a tick ago, so that torques would jump: a push, an acceleration, a set."""
    anew = k.revision != p.revision
    k.revision = p.revision
    for i in range(6):
        most = p.limits.linear_acceleration_m_s2 if i < 3 else p.limits.angular_acceleration_rad_s2
        anew = anew or abs(x.accel[i] - k.accel[i]) > most * dt / p.limits.torque_rise_s
        anew = anew or abs(g.push[i] - g.wrench[i] - k.asked[i]) > _JUMP[i // 3]
        k.accel[i], k.asked[i] = x.accel[i], g.push[i] - g.wrench[i]
    return anew


@kernel
def _feel(p, s, g, x):
    """What the law feels. In the simple form a push acts by itself and is not felt again."""
    for i in range(6):
        x.F[i] = s.wrench_lp[i] - g.wrench[i]
    external_wrench.deadband(p.sense, x.F, x.F)
    for i in range(6):
        x.F[i] = (x.F[i] if p.impedance.form == impedance_law.SHAPED else -g.wrench[i]) + g.push[i]


@kernel
def _rows(h, law, x):
    """The Jacobian in the law's axes, nothing in directions that are not controlled; returns how many are."""
    column = x.b  # the right-hand side is set later
    for k in range(h.n):
        for i in range(6):
            column[i] = h.J[i, k]
        if law.frame == 1:
            turn(h.X_tool, column, True)
        for i in range(6):
            x.J[i, k] = column[i]
    rows = 0
    for i in range(6):
        if law.axes[i] != 0:
            rows += 1
        else:
            fill(x.J[i], 0.0)
    return rows


@kernel
def _into_law_axes(h, law, x):
    """What the law computes with in its own axes, nothing in directions that are not controlled."""
    for six in (x.e, x.v, x.accel, x.F, x.Jdot_qd):
        if law.frame == 1:
            turn(h.X_tool, six, True)
        for i in range(6):
            if law.axes[i] == 0:
                six[i] = 0.0


@kernel
def _measured(h, law, s, x):
    """The measured push in the law's axes, in x.f."""
    put(x.f, s.wrench_lp)
    if law.frame == 1:
        turn(h.X_tool, x.f, True)


@kernel
def _feel_others(h, law, s, x):
    """Pushes in directions that are not controlled act on the joints; the tool must not give way to them."""
    _measured(h, law, s, x)
    if law.frame == 1:
        for k in range(h.n):
            turn(h.X_tool, h.J[:, k], True)
    impedance_law.feel_others(h.J, x.f, law.axes, h.n, x)


@kernel
def _compensate(h, law, s, load, x, rows):
    """Torques that take the arm's own dynamics, and the push that the law answers, off the joints, in x.tau.

    What acts and is left on the joints is in x.open: the law reckons with it.
    """
    cancel = law.cancel_force != 0 and law.form == impedance_law.SHAPED
    fill(x.known, 0.0)
    if rows < 6 and cancel:
        _feel_others(h, law, s, x)
    put(x.tau, h.bias)
    if law.cancel_coriolis == 0 or law.cancel_gravity == 0:
        fill(x.tau, 0.0)
        if law.cancel_coriolis != 0 or law.cancel_gravity != 0:
            weight(h, x.rest)
            for i in range(h.n):
                x.tau[i] = x.rest[i] if law.cancel_gravity != 0 else h.bias[i] - x.rest[i]
    _measured(h, law, s, x)
    for i in range(h.n):
        friction, push = h.damping[i] * x.qd[i], 0.0
        if law.form == impedance_law.SHAPED or law.friction_observer != 0:
            for k in range(6):
                push += x.J[k, i] * x.f[k]
        else:
            push = load[i]
        x.open[i] = x.tau[i] - h.bias[i] + (0.0 if cancel else push)
        if law.friction_observer != 0:
            x.tau[i] -= load[i]
        if law.cancel_friction != 0:
            x.tau[i] += friction
        else:
            x.open[i] -= friction
        if cancel:
            x.tau[i] -= push


@kernel
def _pulled(h, p, x):
    """The share of its pull that the spring can have, 1 where it does not prevail; for shifts and turns."""
    for i in range(h.n):
        x.drive[i] = 0.0
        for k in range(h.n):
            x.drive[i] += h.M[i, k] * x.pull[k]
    share, shift, turns = pull_share(p.limits, h, x.tau, x.pull, x.drive), 0.0, 0.0
    if share < 1.0:
        for i in range(6):
            along = 0.0
            for k in range(h.n):
                along += x.J[i, k] * x.pull[k]
            if i < 3:
                shift += along * (x.c[i] - x.F[i])
            else:
                turns += along * (x.c[i] - x.F[i])
    return share if shift > 0.0 else 1.0, share if turns > 0.0 else 1.0


@kernel
def _expect_load(law, load, n, x):
    """Add what the sensor does not explain to the expected joint accelerations, so that the limits reckon with it.

    The law itself does not: without a limit that acts, it drops out of the torques. Else an error of the force sensor
    would outrun the brakes.
    """
    if law.form != impedance_law.SHAPED or law.friction_observer != 0:
        return  # already in x.open, or compensated
    put(x.known, load)
    solve_lower(x.L, n, x.known)
    solve_upper(x.L, n, x.known)
    for k in range(n):
        x.qdd[k] += x.known[k]
        x.pushed[k] += x.known[k]


@kernel
def _brake_tool(h, p, r, x, o):
    """A tool that is too fast is braked along its path, in the directions that are controlled."""
    for i in range(6):
        x.v[i], x.a[i] = 0.0, x.Jdot_qd[i]
        for k in range(h.n):
            x.v[i] += x.J[i, k] * r.qd[k]
            x.a[i] += x.J[i, k] * x.qdd[k]
    shift, turns = too_fast(x.v, x.a, 0, p.linear_speed_m_s, o), too_fast(x.v, x.a, 3, p.angular_speed_rad_s, o)
    if shift > 0.0 or turns > 0.0:
        for i in range(6):
            x.b[i] = (shift if i < 3 else turns) * x.v[i]
        impedance_law.spread(h.n, x, x.drive)
        for k in range(h.n):
            x.qdd[k] -= x.drive[k]


@kernel
def _against_friction(friction, qd, drive):
    """Torque [N m] against dry friction: along the motion; at rest, along the drive that would start it.

    It is a little less than the friction, because more would drive the joint; it fades in, so that it does not jump.
    """
    if friction <= 0.0:
        return 0.0
    along = qd / _SLIDES + drive / (_STARTS * friction)
    return _CANCELLED * friction * min(max(along, -1.0), 1.0)


@kernel
def _command(h, p, s, c, x, dt, anew, o):
    """τ = M_q q̈ + compensation, within what the drives can do; returns whether every torque is a finite number."""
    for i in range(h.n):
        x.drive[i] = 0.0
        for k in range(h.n):
            x.drive[i] += h.M[i, k] * (x.qdd[k] - x.pushed[k])
        if p.impedance.cancel_dry_friction != 0:
            x.tau[i] += _against_friction(h.friction[i], s.qd_cmd[i], x.drive[i])
    share = share_torque(h, x.tau, x.drive, o)
    o.scale *= share
    c.mode = TORQUE
    for i in range(h.n):
        c.q[i] = s.q_cmd[i]
        c.qd[i] = s.qd_cmd[i]
        c.tau[i] = x.tau[i] + share * x.drive[i]
    s.driven = BY_LAW
    return limit_torque(p.limits, h, s, c.tau, dt, anew, o)


@kernel(separate=True)
def _begin(h, p, s, r, g, c, o, w, dt):
    if s.tank_j < 0.0:
        s.tank_j = p.impedance.tank_j
    s.set = p.impedance_gains.number


def _needs_wrench(section: Any) -> bool:
    """In the simple form a push moves the arm by itself; to tell it from friction takes a sensor."""
    return int(section["form"]) != impedance_law.SIMPLE or int(section["friction_observer"]) != 0


LAW = Law(
    "impedance", 3, impede, JOINT_TORQUE, section="impedance", begin=_begin, needs_wrench=_needs_wrench,
    matrices=("impedance_gains", impedance_target), uses_goal=True, takes_wrench=True, check_goal=uncontrolled,
    check_arm=check_axes, state=impedance_law.MEMORY, scratch=impedance_law.SCRATCH,
    panel=spring_panel("impedance", drags_push=True),
)  # fmt: skip
