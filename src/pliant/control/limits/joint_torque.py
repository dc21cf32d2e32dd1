"""Limits of a torque command: the torque of the drives, and how fast a new request is ramped in."""

from __future__ import annotations

import math

from pliant.control.limits.cuts import TORQUE, TORQUE_RATE, cut
from pliant.kernel import kernel, put


@kernel
def share_torque(h, base, drive, o):
    """The fraction of `drive` [N m] available on top of `base`: one factor, so that the tool keeps its direction.

    The compensation (`base`) comes first. A joint with no torque left does not stop the others.
    """
    share, worst = 1.0, -1
    for i in range(h.n):
        room = h.tau_max[i] - math.copysign(base[i], base[i] * drive[i])
        if room > 0.0 and abs(drive[i]) * share > room:
            share, worst = room / abs(drive[i]), i
    if worst >= 0:
        cut(o, TORQUE, base[worst] + drive[worst], base[worst] + share * drive[worst])
    return share


@kernel
def limit_torque(p, h, s, tau, dt, anew, o):
    """Limit joint torques `tau` [N m] in place to the drives' limits, and ramp in a new request (`anew`).

    With `anew` the torques continue from the last ones, and the difference is added no faster than `torque_rise_s`
    allows. The response to motion and force is never slowed. A rate limit on the whole torque would be a lag inside the
    loop that grows with the request, and a stiff spring would oscillate.

    `torque_rate_nm_s` limits every torque change, for a drive that requires it. It slows the response and is off by
    default.

    A torque that is not finite is not sent: the last torques stay, and False is returned.
    """
    for i in range(h.n):
        if not math.isfinite(tau[i]):
            put(tau, s.tau)
            return False
    for i in range(h.n):
        total = _within(h, i, tau[i], o)
        if anew:
            s.owed[i] = s.tau[i] - total
        if s.owed[i] != 0.0:
            less = max(0.0, abs(s.owed[i]) - h.tau_max[i] * dt / p.torque_rise_s)
            if less > 0.0:
                cut(o, TORQUE_RATE, -s.owed[i] / dt, math.copysign(abs(s.owed[i]) - less, -s.owed[i]) / dt)
            s.owed[i] = math.copysign(less, s.owed[i])
            total = min(max(total + s.owed[i], -h.tau_max[i]), h.tau_max[i])
        if p.torque_rate_nm_s > 0.0:
            total = _no_faster(s.tau[i], total, p.torque_rate_nm_s, dt, o)
        tau[i] = total
        s.tau[i] = total
    return True


@kernel
def _no_faster(last, total, rate, dt, o):
    change = total - last
    if abs(change) > rate * dt:
        cut(o, TORQUE_RATE, change / dt, math.copysign(rate, change))
        return last + math.copysign(rate * dt, change)
    return total


@kernel
def _within(h, i, total, o):
    if abs(total) > h.tau_max[i]:
        most = math.copysign(h.tau_max[i], total)
        cut(o, TORQUE, total, most)
        return most
    return total
