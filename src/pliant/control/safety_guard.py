"""The guard: what protects people, independent of the law that runs. Read this first in a safety review.

    reading ─▶ vet_reading ─▶ (pose, force) ─▶ vet_motion ─▶ law, limits ─▶ vet_command ─▶ robot

`vet_reading` believes no reading that cannot be true. `vet_motion` stops an arm that really is too fast, too far or
pressed too hard. `vet_command` has the last word on what leaves the tick. The guard has its own copy of the last good
reading, of the last command and of the fault, and never reads what a law has computed, except the command that it
vets. A fault is latched; once a reading was false, `blind` is set, and no joint reading is used again.

It allocates nothing, raises nothing and calls nothing outside this file. Every comparison is written so that a number
that is not finite fails it. Tests of every branch: tests/tick/test_guard_*.py.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel, put
from pliant.records import (
    BY_BRAKE,
    BY_LAW,
    FAULT_DEVIATION,
    FAULT_DISAGREE,
    FAULT_FORCE,
    FAULT_JOINT_SPEED,
    FAULT_JUMP,
    FAULT_NUMBER,
    FAULT_OUTPUT,
    FAULT_RANGE,
    FAULT_STALE,
    FAULT_STAMP,
    FAULT_TOOL_SPEED,
    FAULT_WORKSPACE,
    IDLE,
    TORQUE,
    WRENCH_OK,
)

# Stamps closer than this are those of one reading [s].
_SAME_S = 1e-6
# Over a gap in the readings, the speed may have changed by an acceleration of so many times the joint's limit: a
# collision, or a stop by the robot itself. A gap is longer than so many periods.
_HARSH, _GAP = 4.0, 5.0
# Time over which positions and speeds are compared [s]. Well above the delay of a filter on the speed.
_COMPARED_S = 0.3
# A speed is real if the positions moved by at least this share of it.
_REAL = 0.5
# Time in which a lowered limit of the tool speed takes effect: the arm needs it to brake [s].
_LOWERED_S = 0.5
# Longest lag of an arm that follows its command, and how long it may be farther away [s].
_LAG_S, _AWAY_S = 0.25, 0.1
# While braking, a joint may become faster again by this share of its limit, by noise and elastic gears.
_FASTER = 0.1
# Rounding allowed where the limits already act exactly.
_ROUNDING = 1.001


@kernel
def _trip(s, fault, place, value, limit):
    """Stop the robot; the first fault is reported. Returns False for the caller's convenience."""
    g = s.guard
    if g.fault == 0:
        g.fault, g.place, g.value, g.limit = fault, place, value, limit
    if s.fault == 0:
        s.fault = fault
    return False


@kernel
def _distrust(s, fault, place, value, limit):
    """The joint readings cannot be true: nothing is computed from them any more. It outranks every other fault."""
    g = s.guard
    if s.blind == 0:
        s.blind = 1
        g.fault, g.place, g.value, g.limit = fault, place, value, limit
        s.fault = fault
    return False


# ---- before the law: is the reading true? ---------------------------------------------------------------------------


@kernel
def vet_reading(h, p, s, r, dt):
    """Whether the joints of this reading can be believed. If not, no reading is used again."""
    g = s.guard
    if s.blind != 0:
        return False
    for i in range(h.n):
        if not math.isfinite(r.q[i]):
            return _distrust(s, FAULT_NUMBER, i, r.q[i], 0.0)
        if not math.isfinite(r.qd[i]):
            return _distrust(s, FAULT_NUMBER, i, r.qd[i], 1.0)
        outside = max(h.q_min[i] - r.q[i], r.q[i] - h.q_max[i])
        if not outside <= p.guard.range_margin_rad:
            side = h.q_min[i] if r.q[i] < h.q_min[i] else h.q_max[i]
            return _distrust(s, FAULT_RANGE, i, r.q[i], side)
    at, past = r.stamp_s - r.age_s, r.stamp_s - r.age_s - g.at_s
    if not (math.isfinite(at) and (g.seen == 0 or past >= -_SAME_S)):
        return _distrust(s, FAULT_STAMP, 0, r.stamp_s, g.at_s)
    g.fresh = 1 if g.seen == 0 or past > _SAME_S else 0
    g.stale_s = 0.0 if g.fresh != 0 else g.stale_s + dt
    if not max(g.stale_s, r.age_s) <= p.guard.stale_s:
        return _distrust(s, FAULT_STALE, 0, max(g.stale_s, r.age_s), p.guard.stale_s)
    if g.fresh == 0:
        return True
    good = _vet_speeds(h, p, s, r) if g.seen == 0 else _vet_change(h, p, s, r, past, dt)
    g.seen, g.at_s = 1, at
    put(g.q, r.q)
    put(g.qd, r.qd)
    if s.started == 0:
        put(g.sent, r.q)
    return good


@kernel
def _vet_speeds(h, p, s, r):
    """The first reading: there is none to compare it with."""
    for i in range(h.n):
        g, top = s.guard, p.guard.joint_speed_share * h.v_max[i]
        g.rate[i], g.drift[i] = r.qd[i], 0.0
        if not abs(r.qd[i]) <= top:
            return _distrust(s, FAULT_JOINT_SPEED, i, r.qd[i], top)
    return True


@kernel
def _vet_change(h, p, s, r, past, dt):
    """Compare the reading with the last one, `past` seconds ago: positions must move as the speeds say.

    |Δq - (q̇ + q̇₋) Δt/2| ≤ jump + min(k a Δt²/4, 2 v Δt)        the trapezoid's error at an acceleration up to k a
    """
    g = s.guard
    keep = _COMPARED_S / (_COMPARED_S + past) if past <= _GAP * dt else 0.0
    for i in range(h.n):
        change = r.q[i] - g.q[i]
        miss = change - 0.5 * (r.qd[i] + g.qd[i]) * past
        slack = min(0.25 * _HARSH * h.a_max[i] * past * past, 2.0 * h.v_max[i] * past)
        most = p.guard.jump_rad + slack
        if not abs(miss) <= most:
            return _distrust(s, FAULT_JUMP, i, miss, most)
        g.drift[i] = keep * (g.drift[i] + miss)
        if not abs(g.drift[i]) <= p.guard.disagreement_rad:
            return _distrust(s, FAULT_DISAGREE, i, g.drift[i], p.guard.disagreement_rad)
        g.rate[i] = change / past
        top = p.guard.joint_speed_share * h.v_max[i]
        if not abs(r.qd[i]) <= top:
            if not g.rate[i] * r.qd[i] >= _REAL * r.qd[i] * r.qd[i]:  # only the speed is false
                return _distrust(s, FAULT_JOINT_SPEED, i, r.qd[i], top)
            _trip(s, FAULT_JOINT_SPEED, i, r.qd[i], top)
    return True


# ---- before the law: is the motion within bounds? -------------------------------------------------------------------


@kernel
def vet_motion(h, p, s, r, o, dt):
    """Stop an arm that is too fast, outside its workspace, pressed too hard, or away from its command.

    Needs the measured pose, twist and Jacobian (`o`, `h`) and the external wrench of this tick.
    """
    if s.blind != 0:
        return
    _vet_tool_speed(h, s, o, 0, p.limits.linear_speed_m_s, p.guard.tool_speed_share, dt)
    _vet_tool_speed(h, s, o, 1, p.limits.angular_speed_rad_s, p.guard.tool_turn_share, dt)
    _vet_workspace(p, s, o)
    _vet_force(p, s, dt)
    _vet_following(h, p, s, r, dt)


@kernel
def _vet_tool_speed(h, s, o, turns, limit, share, dt):
    """Measured speed of the tool point (or of turning) against its limit."""
    g, first = s.guard, 3 * turns
    g.top[turns] = max(limit, g.top[turns] * (1.0 - dt / _LOWERED_S))
    most = share * g.top[turns]
    speed = math.sqrt(o.twist[first] ** 2 + o.twist[first + 1] ** 2 + o.twist[first + 2] ** 2)
    if g.fresh == 0 or speed <= most:
        return
    moved = 0.0  # the same from the positions alone
    for i in range(first, first + 3):
        total = 0.0
        for k in range(h.n):
            total += h.J[i, k] * g.rate[k]
        moved += total * total
    if not math.sqrt(moved) >= _REAL * speed:
        _distrust(s, FAULT_TOOL_SPEED, turns, speed, most)
    _trip(s, FAULT_TOOL_SPEED, turns, speed, most)


@kernel
def _vet_workspace(p, s, o):
    """An arm that starts outside its workspace may enter it; once inside, it must not leave it."""
    g, inside = s.guard, True
    for k in range(3):
        low, high, x = p.limits.workspace_min_m[k], p.limits.workspace_max_m[k], o.pose[k]
        inside = inside and low <= x <= high
        if g.inside != 0 and not max(low - x, x - high) <= p.guard.workspace_margin_m:
            _trip(s, FAULT_WORKSPACE, k, x, low if x < low else high)
    if inside:
        g.inside = 1


@kernel
def _vet_force(p, s, dt):
    """A force or moment on the tool that lasts as long as a failed sensor may."""
    g, f = s.guard, s.wrench
    force = math.sqrt(f[0] ** 2 + f[1] ** 2 + f[2] ** 2)
    moment = math.sqrt(f[3] ** 2 + f[4] ** 2 + f[5] ** 2)
    if s.trouble != WRENCH_OK or (force <= p.guard.force_n and moment <= p.guard.moment_nm):
        g.pressed_s = 0.0
        return
    g.pressed_s += dt
    if g.pressed_s > p.sense.hold_s:
        if force > p.guard.force_n:
            _trip(s, FAULT_FORCE, 0, force, p.guard.force_n)
        else:
            _trip(s, FAULT_FORCE, 1, moment, p.guard.moment_nm)


@kernel
def _vet_following(h, p, s, r, dt):
    """A joint that does not follow its command; and joints that become faster while a fault brakes them."""
    g, fastest = s.guard, 0.0
    g.lead *= 1.0 - dt / _LAG_S
    for i in range(h.n):
        g.lead = max(g.lead, abs(s.qd_cmd[i]) / h.v_max[i])
        fastest = max(fastest, abs(r.qd[i]) / h.v_max[i])
    if s.driven == BY_BRAKE:
        g.slowest = min(g.slowest, fastest)
        if not fastest <= g.slowest + _FASTER:  # the robot's own controller must stop the arm
            s.blind = 1
        return
    g.slowest = fastest
    if s.started == 0 or s.driven == BY_LAW or s.fault != 0:
        return
    far, worst = 0.0, -1
    for i in range(h.n):
        off = abs(s.q_cmd[i] - r.q[i]) - _LAG_S * g.lead * h.v_max[i]
        if not off <= max(far, p.guard.deviation_rad):
            far, worst = off, i
    g.away_s = 0.0 if worst < 0 else g.away_s + dt
    if g.away_s > _AWAY_S:
        _trip(s, FAULT_DEVIATION, worst, abs(s.q_cmd[worst] - r.q[worst]), p.guard.deviation_rad)


# ---- after the law: what may leave the tick -------------------------------------------------------------------------


@kernel
def vet_command(h, p, s, c, dt):
    """The last word on a command: the guard's fault stands, and no command is outside what the robot can do."""
    g = s.guard
    if g.fault != 0 and (s.fault == 0 or s.blind != 0):
        s.fault = g.fault
    if c.mode == TORQUE:
        if s.blind != 0:
            c.mode = IDLE
        for i in range(h.n):
            if not abs(c.tau[i]) <= _ROUNDING * h.tau_max[i]:
                c.mode, s.blind = IDLE, 1
                _trip(s, FAULT_OUTPUT, i, c.tau[i], h.tau_max[i])
        return
    if c.mode == IDLE:
        return
    good = True
    for i in range(h.n):
        good = good and _vet_joint(h, p, s, c, i, dt)
    for i in range(h.n):
        if not good:  # stay at the last good command
            c.q[i] = s.q_cmd[i] = g.sent[i]
            c.qd[i] = s.qd_cmd[i] = 0.0
        g.sent[i] = c.q[i]


@kernel
def _vet_joint(h, p, s, c, i, dt):
    """Whether a joint can go to its commanded position, at its commanded speed, from the last one."""
    g, outside = s.guard, max(h.q_min[i] - c.q[i], c.q[i] - h.q_max[i])
    if not outside <= p.guard.range_margin_rad:
        return _trip(s, FAULT_OUTPUT, i, c.q[i], h.q_min[i] if c.q[i] < h.q_min[i] else h.q_max[i])
    speed = max(abs(c.qd[i]), abs(c.q[i] - g.sent[i]) / dt)
    if not speed <= _ROUNDING * h.v_max[i]:
        return _trip(s, FAULT_OUTPUT, i, speed, h.v_max[i])
    return True
