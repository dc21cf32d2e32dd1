"""Move an unreachable goal into the reach, and limit the stretch of the virtual spring.

The resulting goal is always inside the workspace. Where workspace and reach barely overlap, the workspace decides.

The reach is a shell around the first joint: its outer radius is the sum of the link lengths, its inner radius the
longest link minus the sum of the others. For two links this is exact. For other arms the shell excludes only points
out of reach in every posture; near the true edge the damped inverse takes over.
"""

from __future__ import annotations

import math

from pliant.control.limits.cuts import REACH, STRETCH, WORKSPACE, cut
from pliant.kernel import kernel

# A box that cuts through the reach: the goal goes from one to the other and back at most this often.
_ROUNDS = 8


@kernel
def bring_into_reach(p, h, tool, goal, twist, accel, o):
    """Move the goal (its first three numbers [m]) into the workspace and the reach, and adjust its velocity.

    `tool` is the tool's position: a goal at the very centre moves to that side.
    """
    margin = min(p.reach_margin_m, 0.25 * (h.reach_max - h.reach_min))
    inner = h.reach_min + margin if h.reach_min > 0.0 else 0.0
    _bring_into_box(p, goal, twist, accel, o)
    for _ in range(_ROUNDS):
        if not _bring_to_edge(h.reach_center, inner, h.reach_max - margin, tool, goal, twist, accel, o):
            return
        if not _bring_into_box(p, goal, twist, accel, o):
            return


@kernel
def lead_round(p, h, tool, goal, twist, accel, o):
    """If the straight path to a goal passes through the hole around the first joint, lead the goal around it."""
    bring_into_reach(p, h, tool, goal, twist, accel, o)
    if h.reach_min > 0.0:
        margin = min(p.reach_margin_m, 0.25 * (h.reach_max - h.reach_min))
        _lead_round(h.reach_center, h.reach_min + margin, tool, goal, twist, accel, o)
        _bring_into_box(p, goal, twist, accel, o)


@kernel
def _bring_into_box(p, goal, twist, accel, o):
    """Returns whether the goal was outside."""
    outside = False
    for i in range(3):
        kept = min(max(goal[i], p.workspace_min_m[i]), p.workspace_max_m[i])
        if kept != goal[i]:
            outside = True
            cut(o, WORKSPACE, goal[i], kept)
            goal[i], twist[i], accel[i] = kept, 0.0, 0.0
    return outside


@kernel
def _bring_to_edge(center, inner, outer, tool, goal, twist, accel, o):
    """Between the radii `inner` and `outer`; a goal at the very middle goes to the side where the tool is.

    Returns whether the goal was elsewhere; what is off by rounding is not.
    """
    away = _distance(goal, center)
    kept = min(max(away, inner), outer)
    if abs(kept - away) <= 1e-12 * outer:
        return False
    cut(o, REACH, away, kept)
    along = goal if away > 1e-6 else tool
    length = max(_distance(along, center), 1e-9)
    nx, ny, nz = (along[0] - center[0]) / length, (along[1] - center[1]) / length, (along[2] - center[2]) / length
    # on the shell, the goal moves as its direction turns: (r/|d|) (v - n n·v)
    out = nx * twist[0] + ny * twist[1] + nz * twist[2]
    turn = kept / max(away, inner, 1e-6)
    goal[0], goal[1], goal[2] = center[0] + kept * nx, center[1] + kept * ny, center[2] + kept * nz
    twist[0], twist[1], twist[2] = (
        turn * (twist[0] - out * nx),
        turn * (twist[1] - out * ny),
        turn * (twist[2] - out * nz),
    )
    accel[0], accel[1], accel[2] = 0.0, 0.0, 0.0
    return True


@kernel
def _lead_round(center, inner, tool, goal, twist, accel, o):
    """Put the goal on the tangent from the tool to the hole, as far away as it was, if the hole is in the way."""
    ax, ay, az = tool[0] - center[0], tool[1] - center[1], tool[2] - center[2]
    wx, wy, wz = goal[0] - tool[0], goal[1] - tool[1], goal[2] - tool[2]
    far = math.sqrt(wx * wx + wy * wy + wz * wz)
    inward = -(ax * wx + ay * wy + az * wz)
    if inward <= 0.0 or inward >= far * far:  # the nearest point of the way is one of its ends
        return
    share = inward / (far * far)
    nearest = math.sqrt((ax + share * wx) ** 2 + (ay + share * wy) ** 2 + (az + share * wz) ** 2)
    if nearest >= inner:
        return
    cut(o, REACH, nearest, inner)
    r = max(math.sqrt(ax * ax + ay * ay + az * az), 1e-9)
    ax, ay, az = ax / r, ay / r, az / r
    along = ax * wx + ay * wy + az * wz
    sx, sy, sz = wx - along * ax, wy - along * ay, wz - along * az
    side = math.sqrt(sx * sx + sy * sy + sz * sz)
    if side < 1e-6:  # exactly opposite: both ways round are as long
        sx, sy, sz = (-ay, ax, 0.0) if ax * ax + ay * ay > 0.01 else (0.0, -az, ay)
        side = math.sqrt(sx * sx + sy * sy + sz * sz)
    # the tangent makes the angle β with the way to the middle: sin β = inner/r
    sine = min(1.0, inner / r)
    cosine = math.sqrt(1.0 - sine * sine)
    goal[0] = tool[0] + far * (sine * sx / side - cosine * ax)
    goal[1] = tool[1] + far * (sine * sy / side - cosine * ay)
    goal[2] = tool[2] + far * (sine * sz / side - cosine * az)
    for i in range(3):
        twist[i], accel[i] = 0.0, 0.0


@kernel
def _distance(a, b):
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@kernel
def limit_stretch(p, e, o):
    """Limit the stretch `e` [m, rad] of the spring, translation and rotation separately; the direction is kept."""
    for first in (0, 3):
        most = p.pose_error_m if first == 0 else p.pose_error_rad
        size = math.sqrt(e[first] ** 2 + e[first + 1] ** 2 + e[first + 2] ** 2)
        if size > most:
            cut(o, STRETCH, size, most)
            for i in range(first, first + 3):
                e[i] *= most / size
