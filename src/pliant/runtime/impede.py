"""The tick of a torque law: from the measured joints and the felt wrench straight to joint torques.

    reading ─▶ goal into reach ─▶ impedance ─▶ joint accelerations ─▶ limits ─▶ τ = M_q q̈ + compensation ─▶ limits

The commanded joints follow the measured ones meanwhile: whatever comes next, a stop, a fault or another law, takes over
from there without a jump and brakes within the acceleration limits.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.laws import impedance
from pliant.limits.drive import limit_drive
from pliant.limits.reach import bring_into_reach, limit_stretch
from pliant.limits.report import SINGULAR, cut
from pliant.limits.torque import limit_torque, share_torque
from pliant.model.inverse import damping_at, smallest_of_rows
from pliant.model.kinematics import dynamics, weight
from pliant.records import FAULT_COMMAND, TORQUE
from pliant.runtime.axes import turn
from pliant.sense import wrench
from pliant.spatial import pose_error


@kernel
def impede(h, p, s, r, g, c, w, o, dt):
    """Fill the command with the torques of the impedance law; a fault is set where they came out as no numbers."""
    x, law = w.impedance, p.impedance
    if s.set != p.impedance_gains.number:
        s.set = p.impedance_gains.number
        s.ramp = 0.0
    dynamics(h, r.q, r.qd)
    _follow_measured(h, s, r, g, o)
    _aim(h, p, s, g, x, o)
    _feel(p, s, g, x)
    rows = _into_law_axes(h, law, s, g, x, o)
    limit_stretch(p.limits, x.e, o)
    sigma = smallest_of_rows(x.J, law.axes, h.n, s.weakest, w.inverse)
    o.singular_value = sigma
    if sigma < p.limits.singular_threshold:
        cut(o, SINGULAR, p.limits.singular_threshold, sigma)
    damping = damping_at(sigma, p.limits.singular_threshold, p.limits.singular_damping)
    impedance.weigh(h.M, h.n, law.axes, damping, x)
    x.known[:] = 0.0
    if rows < 6 and law.cancel_force != 0 and law.form == impedance.SHAPED:
        _feel_others(h, law, s, x)
    _compensate(h, law, s, r, x)
    spare = h.n > rows or damping > 0.0
    lost = damping / p.limits.singular_damping**2
    impedance.step(law, p.impedance_gains, s, h.M, r.q, r.qd, g.q, h.n, spare, lost, dt, x)
    if not _finite(x.qdd, h.n):
        s.fault = FAULT_COMMAND
        return
    limit_drive(p.limits, h, r.q, r.qd, x.qdd, dt, o)
    _command(h, p, s, c, x, dt, o)


@kernel
def _finite(values, n):
    """Whether the first n numbers are finite."""
    good = True
    for i in range(n):
        good = good and math.isfinite(values[i])
    return good


@kernel
def _follow_measured(h, s, r, g, o):
    for i in range(h.n):
        s.q_cmd[i] = r.q[i]
        s.qd_cmd[i] = r.qd[i]
    s.pose[:] = o.pose
    s.twist[:] = o.twist
    s.moved[:] = o.twist
    s.goal_twist[:] = g.twist


@kernel
def _aim(h, p, s, g, x, o):
    """The goal within reach, and how far the tool is from it, in base axes."""
    x.goal[:] = g.pose
    x.goal_twist[:] = g.twist
    x.accel[:] = g.accel
    for i in range(3):
        if p.impedance.frame == 0 and p.impedance.axes[i] == 0:  # what is not controlled has no goal
            x.goal[i] = s.pose[i]
    bring_into_reach(p.limits, h, s.pose, x.goal, x.goal_twist, x.accel, o)
    pose_error(s.pose, x.goal, x.e)
    for i in range(6):
        x.v[i] = o.twist[i] - x.goal_twist[i]
    x.Jdot_qd[:] = h.Jdot_qd


@kernel
def _feel(p, s, g, x):
    """What the law feels. In the simple form a push acts by itself and is not felt again."""
    for i in range(6):
        x.F[i] = s.wrench_lp[i] - g.wrench[i]
    wrench.deadband(p.sense, x.F, x.F)
    for i in range(6):
        x.F[i] = (x.F[i] if p.impedance.form == impedance.SHAPED else -g.wrench[i]) + g.push[i]


@kernel
def _into_law_axes(h, law, s, g, x, o):
    """Everything in the law's axes, nothing in directions that are not controlled; returns how many are."""
    x.J[:] = h.J
    if law.frame == 1:
        for six in (x.e, x.v, x.accel, x.F, x.Jdot_qd):
            turn(h.X_tool, six, True)
        for k in range(h.n):
            turn(h.X_tool, x.J[:, k], True)
    rows = 0
    for i in range(6):
        if law.axes[i] != 0:
            rows += 1
            continue
        x.e[i] = x.v[i] = x.accel[i] = x.F[i] = x.Jdot_qd[i] = 0.0
        x.J[i, :] = 0.0
    return rows


@kernel
def _measured(h, law, s, x):
    """The measured push in the law's axes, in x.f."""
    x.f[:] = s.wrench_lp
    if law.frame == 1:
        turn(h.X_tool, x.f, True)


@kernel
def _feel_others(h, law, s, x):
    """Pushes in directions that are not controlled act on the joints; the tool must not give way to them."""
    _measured(h, law, s, x)
    if law.frame == 1:
        for k in range(h.n):
            turn(h.X_tool, h.J[:, k], True)
    impedance.feel_others(h.J, x.f, law.axes, h.n, x)


@kernel
def _compensate(h, law, s, r, x):
    """Torques that take the arm's own dynamics, and the push that the law answers, off the joints, in x.tau.

    What acts and is left on the joints is in x.open: the law reckons with it.
    """
    x.tau[:] = h.bias
    if law.cancel_coriolis == 0 or law.cancel_gravity == 0:
        x.tau[:] = 0.0
        if law.cancel_coriolis != 0 or law.cancel_gravity != 0:
            weight(h, x.rest)
            for i in range(h.n):
                x.tau[i] = x.rest[i] if law.cancel_gravity != 0 else h.bias[i] - x.rest[i]
    _measured(h, law, s, x)
    cancel = law.cancel_force != 0 and law.form == impedance.SHAPED
    for i in range(h.n):
        friction, push = h.damping[i] * r.qd[i], 0.0
        for k in range(6):
            push += x.J[k, i] * x.f[k]
        x.open[i] = x.tau[i] - h.bias[i] + (0.0 if cancel else push)
        if law.cancel_friction != 0:
            x.tau[i] += friction
        else:
            x.open[i] -= friction
        if cancel:
            x.tau[i] -= push


@kernel
def _command(h, p, s, c, x, dt, o):
    """τ = M_q q̈ + compensation, within what the drives can do."""
    for i in range(h.n):
        x.drive[i] = 0.0
        for k in range(h.n):
            x.drive[i] += h.M[i, k] * (x.qdd[k] - x.pushed[k])
    share = share_torque(h, x.tau, x.drive, o)
    o.scale *= share
    c.mode = TORQUE
    for i in range(h.n):
        c.q[i] = s.q_cmd[i]
        c.qd[i] = s.qd_cmd[i]
        c.tau[i] = x.tau[i] + share * x.drive[i]
    limit_torque(p.limits, h, s, c.tau, dt, o)
