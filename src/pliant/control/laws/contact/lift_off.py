"""Lift-off: its direction, obstacles, and whether the force is gone.

The tool lifts off along the learned normal. If the force contradicts the normal, or it is outside the allowed cone
around the approach, it was learned wrong. If a force remains after `retract_m`, the tool moves on by the same distance
back along the approach, unless a hand pulls it that way. If there is an obstacle, it moves back a little and stops.
"""

from __future__ import annotations

import math

from pliant.control.laws.contact import contact_states, force_law
from pliant.control.laws.contact.contact_states import FAULT, RETRACT
from pliant.control.laws.contact.vectors import distance, dot, size
from pliant.kernel import kernel, put

# A lift-off is complete this close to its end [m]; after so many times its duration and a second it was stopped.
NEAR, PATIENCE = 2e-5, 3.0
# It goes no further against this share of the force limit, or once the force has grown by it.
AGAINST = 0.5
# Friction is never more than so many times what presses: a larger share of the force is something that holds the tool.
FRICTION_MOST = 2.0
# What the force becomes within so many lags is still the motion before the lift-off, not the lift-off itself.
STILL_LAGS = 2.0
# It goes back from an obstacle by this share of the way that it has lifted off, or until the force is gone.
BACK_SHARE = 0.5
# What `c.lifts` says: out along the normal, out along the approach, back from an obstacle.
ALONG_NORMAL, ALONG_APPROACH, BACK = range(3)


@kernel
def mind_the_force(p, c, s):
    """At the start of a lift-off, check that the normal is at least as good a direction as the approach.

    If the force opposes the normal but still points out of the approached surface, the tool follows the force.
    """
    c.lift_n = size(s.wrench)
    if c.state not in (RETRACT, FAULT) or c.lifted != 0:
        return
    F = s.wrench_lp
    strong = s.fault == 0 and size(F) >= p.touch_n
    if strong and dot(F, c.normal) < 0.0 and dot(F, c.approach) < 0.0:
        for i in range(3):
            c.normal[i] = F[i] / size(F)
    if is_outside(p, c):
        _back_the_way_it_came(c)


@kernel
def _aside(F, n):
    """How much of the force [N] is across the normal."""
    along = dot(F, n)
    return math.sqrt(max(0.0, dot(F, F) - along * along))


@kernel
def is_outside(p, c):
    """Whether the angle between normal and approach exceeds `cone_deg`."""
    return -dot(c.approach, c.normal) < math.cos(p.cone_deg * math.pi / 180.0)


@kernel
def _back_the_way_it_came(c):
    for i in range(3):
        c.normal[i] = -c.approach[i]


@kernel
def is_barred(p, c, s):
    """Whether an obstacle blocks the lift-off, so that it must not continue.

    The surface and its friction push the tool outwards; that does not count as an obstacle.
    """
    if s.fault != 0 or c.lifts == BACK:  # the sensor says nothing any more; or it gives way already
        return False
    limit, F = p.force_limit_n, s.wrench
    # of a sensor that may have the wrong sign only a force that grows says that the way out is barred
    least = c.lift_n if c.reason == contact_states.REVERSED else 0.0
    if -dot(s.wrench_lp, c.normal) > least + AGAINST * limit:
        return True
    out, aside = max(0.0, dot(F, c.normal)), _aside(F, c.normal)
    return aside > limit and aside > FRICTION_MOST * out and aside > c.lift_n + AGAINST * limit


@kernel
def go_back(c, position):
    """Start to move back from an obstacle, by at most half the distance covered, which was free."""
    c.back_m = BACK_SHARE * distance(position, c.anchor)
    put(c.anchor, position[0:3])
    c.lifts = BACK


@kernel
def is_late(p, c):
    """Whether a lift-off takes so long that something must be blocking it."""
    return c.since_s > PATIENCE * p.retract_m / p.retract_m_s + 1.0


@kernel
def feels_force(p, c):
    """Whether the tool still feels a force that the sensor's zero does not explain."""
    return size(c.resting) > p.touch_n + p.zero_n


@kernel
def speed(p, c, s):
    """The speed into the surface [m/s] during a lift-off; sets `c.lifted` at its end."""
    gone = distance(s.pose, c.anchor)
    if c.since_s < STILL_LAGS * p.lag_s and c.reason != contact_states.REVERSED:
        c.lift_n = max(c.lift_n, size(s.wrench))
    if c.state == FAULT and is_late(p, c):
        c.lifted = 1
    elif c.lifts == BACK:
        left = c.back_m - gone
        if left > NEAR and s.fault == 0 and size(s.wrench_lp) > p.touch_n:
            return min(p.approach_m_s, force_law.braked(left, p.acceleration_m_s2))
        c.lifted = 1
    elif p.retract_m - gone >= NEAR:
        return -min(p.retract_m_s, force_law.braked(p.retract_m - gone, p.acceleration_m_s2))
    elif c.lifts == ALONG_NORMAL and s.fault == 0 and c.reason != contact_states.PULLED and feels_force(p, c):
        _back_the_way_it_came(c)
        put(c.anchor, s.pose[0:3])
        c.lifts = ALONG_APPROACH
    else:
        c.lifted = 1
    return 0.0
