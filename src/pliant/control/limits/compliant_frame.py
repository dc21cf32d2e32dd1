"""Limits on the compliant frame: speed, acceleration, and a box that its origin may not leave.

They act on the virtual mass itself, so there is no windup. Linear and angular motion are limited separately, each by
one factor, so that the direction is kept. The box blocks outward motion only and lets the tool brake before its faces.
Above the top speed (it was lowered, or the joints could not follow) the mass brakes within its acceleration limit.
"""

from __future__ import annotations

import math

from pliant.control.limits.braking import braking_speed, rest_span_of
from pliant.control.limits.cuts import TOOL_ACCELERATION, TOOL_SPEED, WORKSPACE, cut
from pliant.kernel import kernel

# The virtual mass turns this far before a face of the box [m]: sliding along it, the arm needs some room to brake.
MARGIN = 0.002
# It brakes before a face with this share of its acceleration: before three at once it brakes along all three axes.
_SHARE = 1.0 / math.sqrt(3.0)
# Whoever slides along a face beyond that margin is led back at this slope, and in no less than so many ticks.
_SLOPE, _TICKS = 0.05, 20.0


@kernel
def length_of(v, first):
    return math.sqrt(v[first] ** 2 + v[first + 1] ** 2 + v[first + 2] ** 2)


@kernel
def _cut_speed(v, first, most, o):
    speed = length_of(v, first)
    if speed > most:
        cut(o, TOOL_SPEED, speed, most)
        for i in range(first, first + 3):
            v[i] *= most / speed


@kernel
def _room(p, position, i, side):
    """How far [m] it is along axis `i` to the upper (`side` 1) or lower (-1) face, less the margin."""
    margin = max(0.0, min(MARGIN, 0.25 * (p.workspace_max_m[i] - p.workspace_min_m[i])))
    face = p.workspace_max_m[i] if side > 0.0 else p.workspace_min_m[i]
    return side * (face - position[i]) - margin


@kernel
def _outward(p, position, span, i, side, dt):
    """The largest speed [m/s] towards a face: the mass can brake from it, and so can the joints, in `span` [s]."""
    room = max(0.0, _room(p, position, i, side))
    return min(braking_speed(room, _SHARE * p.linear_acceleration_m_s2, dt), room / span)


@kernel
def _far(p, position, v, span, dt):
    """Whether every face is so far that nobody needs to brake before it."""
    speed, room = length_of(v, 0), math.inf
    for i in range(3):
        room = min(room, _room(p, position, i, 1.0), _room(p, position, i, -1.0))
    return speed * max(span, dt + 0.5 * speed / (_SHARE * p.linear_acceleration_m_s2)) <= room


@kernel
def _cut_box(p, position, v, span, dt, o):
    """Cut what leads out of the box too fast, and lead back what slides along beyond its margin."""
    if _far(p, position, v, span, dt):
        return
    for i in range(3):
        for side in (1.0, -1.0):
            top = _outward(p, position, span, i, side, dt)
            if side * v[i] > top:
                cut(o, WORKSPACE, side * v[i], top)
                v[i] = side * top
    speed = length_of(v, 0)
    for i in range(3):
        up, down = _room(p, position, i, 1.0), _room(p, position, i, -1.0)
        if (up < 0.0) != (down < 0.0):
            side = 1.0 if up < 0.0 else -1.0
            back = min(-min(up, down) / (_TICKS * dt), _SLOPE * speed)
            if side * v[i] > -back:
                v[i] = -side * back
    faster = length_of(v, 0)
    if faster > speed:
        for i in range(3):
            v[i] *= speed / faster


@kernel
def change_of(v, before, first):
    return math.sqrt(
        (v[first] - before[first]) ** 2
        + (v[first + 1] - before[first + 1]) ** 2
        + (v[first + 2] - before[first + 2]) ** 2
    )


@kernel
def _cut_change(v, before, first, most, dt, o):
    """Cut the change from `before` to `v` of three components to `most` per second."""
    change = change_of(v, before, first)
    if change > most * dt:
        cut(o, TOOL_ACCELERATION, change / dt, most)
        for i in range(first, first + 3):
            v[i] = before[i] + (v[i] - before[i]) * (most * dt / change)


@kernel
def _must_brake(p, position, before, v, share, span, i, dt):
    """The change [m/s] that axis `i` needs to stop before its face; 0 if `share` of the wanted one is enough."""
    side = math.copysign(1.0, before[i])
    change = max(_outward(p, position, span, i, side, dt) - side * before[i], -_SHARE * p.linear_acceleration_m_s2 * dt)
    return side * change if change < share * side * (v[i] - before[i]) else 0.0


@kernel
def _cut_change_but_brake(p, position, before, v, span, dt, o):
    """Like `_cut_change` for x, y, z, but an axis that must brake before a face does not wait for the others."""
    most = p.linear_acceleration_m_s2 * dt
    change = change_of(v, before, 0)
    if change <= most:
        return
    cut(o, TOOL_ACCELERATION, change / dt, most / dt)
    share, forced, free = most / change, 0.0, 0.0
    for i in range(3):
        needed = _must_brake(p, position, before, v, share, span, i, dt)
        forced += needed * needed
        free += (v[i] - before[i]) ** 2 if needed == 0.0 else 0.0
    rest = min(share, math.sqrt(max(0.0, most * most - forced) / free)) if free > 0.0 else share
    for i in range(3):
        needed = _must_brake(p, position, before, v, share, span, i, dt)
        v[i] = before[i] + (needed if needed != 0.0 else rest * (v[i] - before[i]))


@kernel
def limit_tool(p, h, s, before, dt, o):
    """Limit the velocity `s.twist` [m/s, rad/s] of the compliant frame; `before` is its value one tick ago."""
    v, span = s.twist, rest_span_of(p, h, s.qd_cmd, dt)
    _cut_speed(v, 0, p.linear_speed_m_s, o)
    _cut_speed(v, 3, p.angular_speed_rad_s, o)
    _cut_box(p, s.pose, v, span, dt, o)
    _cut_change_but_brake(p, s.pose, before, v, span, dt, o)
    _cut_change(v, before, 3, p.angular_acceleration_rad_s2, dt, o)
