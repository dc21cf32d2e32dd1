"""A goal that the arm cannot reach is brought to where it can; a spring pulls no harder than at its largest stretch.

The reach is a shell around the first joint: no farther than the links are long together, no nearer than the longest is
longer than the others together. For two links this is exact; for other arms it leaves out only what is out of reach in
any posture, and near the true edge the damped inverse takes over.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.limits.report import REACH, STRETCH, WORKSPACE, cut


@kernel
def bring_into_reach(p, h, tool, goal, twist, accel, o):
    """Move the goal (its first three numbers [m]) into the workspace box and the reach; its velocity follows suit.

    `tool` is where the tool is: a goal at the very middle of the reach has no direction of its own.
    """
    for i in range(3):
        kept = min(max(goal[i], p.workspace_min_m[i]), p.workspace_max_m[i])
        if kept != goal[i]:
            cut(o, WORKSPACE, goal[i], kept)
            goal[i], twist[i], accel[i] = kept, 0.0, 0.0
    inner, outer = h.reach_min, h.reach_max
    margin = min(p.reach_margin_m, 0.25 * (outer - inner))
    inner = inner + margin if inner > 0.0 else 0.0
    outer -= margin
    away = _distance(goal, h.reach_center)
    kept = min(max(away, inner), outer)
    if kept == away:
        return
    cut(o, REACH, away, kept)
    along = goal if away > 1e-6 else tool
    length = max(_distance(along, h.reach_center), 1e-9)
    nx = (along[0] - h.reach_center[0]) / length
    ny = (along[1] - h.reach_center[1]) / length
    nz = (along[2] - h.reach_center[2]) / length
    # on the shell, the goal moves as its direction turns: (r/|d|) (v - n n·v)
    out = nx * twist[0] + ny * twist[1] + nz * twist[2]
    turn = kept / max(away, inner, 1e-6)
    goal[0], goal[1], goal[2] = (
        h.reach_center[0] + kept * nx,
        h.reach_center[1] + kept * ny,
        h.reach_center[2] + kept * nz,
    )
    twist[0], twist[1], twist[2] = (
        turn * (twist[0] - out * nx),
        turn * (twist[1] - out * ny),
        turn * (twist[2] - out * nz),
    )
    accel[0], accel[1], accel[2] = 0.0, 0.0, 0.0


@kernel
def _distance(a, b):
    return math.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


@kernel
def limit_stretch(p, e, o):
    """Shorten the stretch `e` [m, rad] that a spring sees, shifts and turns apart, and keep its direction."""
    for first in (0, 3):
        most = p.pose_error_m if first == 0 else p.pose_error_rad
        size = math.sqrt(e[first] ** 2 + e[first + 1] ** 2 + e[first + 2] ** 2)
        if size > most:
            cut(o, STRETCH, size, most)
            for i in range(first, first + 3):
                e[i] *= most / size
