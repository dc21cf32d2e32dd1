"""Whether a limit starves the law: it cuts most of what the law asks for, for seconds, and the error does not shrink.

An acceleration or torque limit that acts for a moment is normal. One that acts for long rules the motion instead of the
law: the virtual spring no longer pulls as declared. Counted is the time in which such a limit leaves less than half;
other time counts back twice as fast. A limit on speed or place (speed, workspace, joint range, edge of the reach) may
act as long as somebody pushes against it, so that time does not count, and neither does a motion that gets nearer to
its goal.
"""

from __future__ import annotations

import math

from pliant.control.limits.cuts import (
    ACCELERATION,
    EDGE,
    POSITION,
    REACH,
    SPEED,
    TOOL_ACCELERATION,
    TOOL_SPEED,
    TORQUE,
    WORKSPACE,
)
from pliant.kernel import kernel
from pliant.records import BY_LAW, FAULT_STARVED

_RULING = 1 << ACCELERATION | 1 << TORQUE | 1 << TOOL_ACCELERATION
_EXCUSED = 1 << SPEED | 1 << TOOL_SPEED | 1 << POSITION | 1 << WORKSPACE | 1 << EDGE | 1 << REACH
# Below this fraction of what was asked for, the limit rules; and the error has shrunk once it is below that fraction.
_LEFT, _SHRUNK = 0.5, 0.9
# Lever [m] with which an orientation error counts as a position error.
_LEVER = 0.2


@kernel
def supervise_limits(p, s, e, o, dt):
    """Update `s.starved_*` after a tick with the pose error `e` [m, rad]; sets a fault when it has lasted too long."""
    error = math.sqrt(e[0] ** 2 + e[1] ** 2 + e[2] ** 2) + _LEVER * math.sqrt(e[3] ** 2 + e[4] ** 2 + e[5] ** 2)
    left, by = _left(s, o)
    if s.starved_s > 0.0 and error < _SHRUNK * s.starved_error:
        s.starved_s, s.starved_error = 0.0, error
    if left >= _LEFT or (o.limits & _EXCUSED) != 0:
        s.starved_s = max(0.0, s.starved_s - 2.0 * dt)
        return
    if s.starved_s <= 0.0:
        s.starved_left, s.starved_error = left, error
    s.starved_s += dt
    s.starved_by = by
    s.starved_left += (left - s.starved_left) * dt / s.starved_s
    if p.starved_fault_s > 0.0 and s.starved_s >= p.starved_fault_s and s.fault == 0:
        s.fault = FAULT_STARVED


@kernel
def _left(s, o):
    """The smallest fraction that a limit left of what the law asked for in this tick, and which limit it was."""
    left, by = 1.0, 0
    if (o.limits & _RULING) == 0:
        return left, by
    for limit in (ACCELERATION, TORQUE, TOOL_ACCELERATION):
        if (o.limits >> limit & 1) != 0 and o.asked[limit] != 0.0:
            share = abs(o.allowed[limit] / o.asked[limit])
            if limit == TORQUE and s.driven == BY_LAW:  # the torque contains the arm's weight; the scale does not
                share = min(share, o.scale)
            if share < left:
                left, by = share, limit
    return left, by
