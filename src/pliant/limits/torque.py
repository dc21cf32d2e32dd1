"""Limits of a command by torque: what a drive can give, and how fast it may change."""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.limits.report import TORQUE, TORQUE_RATE, cut


@kernel
def share_torque(h, base, drive, o):
    """The share of `drive` [N m] that the joints can give on top of `base`: one factor, so that the tool keeps its way.

    What compensates (`base`) comes first; a joint that has nothing left for it does not stop the others.
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
def limit_torque(p, h, s, tau, dt, o):
    """Cut joint torques `tau` [N m] in place: no drive above its limit, none faster than `torque_rise_s` allows."""
    for i in range(h.n):
        total = tau[i]
        if not abs(total) <= h.tau_max[i]:
            most = math.copysign(h.tau_max[i], total)
            cut(o, TORQUE, total, most)
            total = most
        most = h.tau_max[i] * dt / p.torque_rise_s
        change = total - s.tau[i]
        if abs(change) > most:
            cut(o, TORQUE_RATE, change / dt, math.copysign(most, change) / dt)
            total = s.tau[i] + math.copysign(most, change)
        tau[i] = total
        s.tau[i] = total
