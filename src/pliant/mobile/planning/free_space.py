"""Free poses of a base: an occupancy grid with its distance field, and a rectangular footprint.

Blocked cells are squares. The distance field decides most poses directly; between the inscribed and the circumscribed
circle, two covering circles are checked, and then the rectangle itself against every blocked square.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt

from pliant.kernel import kernel
from pliant.mobile.base.arc import moved
from pliant.mobile.base.base_params import Footprint
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.records import Field, Layout

Array = np.ndarray[Any, Any]

ABOUT = Layout(
    "Space",
    (
        Field("x", "m", "lower left corner of the padded grid"),
        Field("y", "m", "lower left corner of the padded grid"),
        Field("cell", "m", "side of a cell"),
        Field("front", "m", "footprint ahead of the base point, margin included"),
        Field("rear", "m", "footprint behind the base point, margin included"),
        Field("side", "m", "half the width, margin included"),
        Field("inscribed", "m", "radius around the base point that the footprint covers completely"),
        Field("surely_free", "m", "distance at which no heading collides"),
        Field("roomy", "m", "distance below which some heading collides"),
        Field("circle", "m", "radius of the two circles that cover the footprint, plus the size of a cell"),
        Field("step", "m", "distance between the checked poses along an arc"),
    ),
)


class Space(NamedTuple):
    """The map as kernels use it; the grid is padded with blocked cells, so nothing beyond the map is free."""

    about: Any
    blocked: Any
    distance: Any
    """Distance from the centre of a cell to the centre of the nearest blocked cell [m]."""


def prepared(grid: OccupancyGrid, body: Footprint, *, unknown_is_free: bool = False) -> Space:
    """The space of a footprint on a grid."""
    about = ABOUT.new()
    a, cell = about[0], grid.resolution_m
    a.cell, a.step = cell, body.step_m
    a.front, a.rear, a.side = (
        body.front_m + body.margin_m,
        body.rear_m + body.margin_m,
        body.width_m / 2 + body.margin_m,
    )
    a.inscribed = min(a.front, a.rear, a.side)
    # a point may be half a diagonal from the centre of its cell, and so may the edge of a blocked square
    hidden = math.sqrt(2.0) * cell
    a.surely_free = math.hypot(max(a.front, a.rear), a.side) + hidden
    a.roomy = a.surely_free - hidden + 0.5 * cell
    a.circle = math.hypot((a.front + a.rear) / 4, a.side) + hidden
    pad = math.ceil(a.surely_free / cell) + 1
    a.x, a.y = grid.origin[0] - pad * cell, grid.origin[1] - pad * cell
    blocked = np.pad(grid.blocked(unknown_is_free=unknown_is_free), pad, constant_values=True)
    distance = np.asarray(distance_transform_edt(~blocked)) * cell
    return Space(
        about, np.ascontiguousarray(blocked.astype(np.uint8)), np.ascontiguousarray(distance.astype(np.float32))
    )


@kernel
def distance_at(space, x, y):
    """The distance field at a point; 0 outside."""
    a = space.about[0]
    i, j = math.floor((x - a.x) / a.cell), math.floor((y - a.y) / a.cell)
    if i < 0 or j < 0 or j >= space.distance.shape[0] or i >= space.distance.shape[1]:
        return 0.0
    return space.distance[j, i]


@kernel
def free_at(space, x, y, heading):
    """Whether the footprint is free of obstacles."""
    a = space.about[0]
    d = distance_at(space, x, y)
    if d > a.surely_free:
        return True
    # a blocked square is at least half a cell nearer than its centre, and the point at most 0.71 cells off the centre
    if d + 0.21 * a.cell < a.inscribed or not math.isfinite(x + y + heading):
        return False
    c, s = math.cos(heading), math.sin(heading)
    middle, apart = 0.5 * (a.front - a.rear), 0.25 * (a.front + a.rear)
    one = distance_at(space, x + (middle + apart) * c, y + (middle + apart) * s)
    two = distance_at(space, x + (middle - apart) * c, y + (middle - apart) * s)
    if one > a.circle and two > a.circle:
        return True
    return not _touches(space, x + middle * c, y + middle * s, c, s, 0.5 * (a.front + a.rear), a.side)


@kernel
def _touches(space, x, y, c, s, along, side):
    """Whether a rectangle (centre x, y; half sides) overlaps a blocked square: separating axes of both."""
    a = space.about[0]
    half = 0.5 * a.cell
    wide, high = along * abs(c) + side * abs(s), along * abs(s) + side * abs(c)
    spread = half * (abs(c) + abs(s))
    ny, nx = space.blocked.shape
    first, last = math.floor((x - wide - a.x) / a.cell), math.floor((x + wide - a.x) / a.cell)
    low, top = math.floor((y - high - a.y) / a.cell), math.floor((y + high - a.y) / a.cell)
    if first < 0 or low < 0 or last >= nx or top >= ny:
        return True
    for j in range(low, top + 1):
        for i in range(first, last + 1):
            if space.blocked[j, i] != 0:
                dx, dy = a.x + i * a.cell + half - x, a.y + j * a.cell + half - y
                if abs(c * dx + s * dy) < along + spread and abs(c * dy - s * dx) < side + spread:
                    return True
    return False


@kernel
def arc_free(space, x, y, heading, curvature, length):
    """Whether an arc of signed length [m] is free; where there is room, poses in between are skipped."""
    a = space.about[0]
    sign = 1.0 if length >= 0.0 else -1.0
    far, gone = abs(length), 0.0
    # on a tight arc the corners go farther than the base point
    step = a.step * min(1.0, 2.0 / max(1e-9, abs(curvature) * a.surely_free))
    while True:
        s = sign * gone
        px, py, h = moved(x, y, heading, curvature, s)
        room = distance_at(space, px, py) - a.surely_free
        if room <= 0.0 and not free_at(space, px, py, h):
            return False
        if gone >= far:
            return True
        gone = min(far, gone + max(step, room))
