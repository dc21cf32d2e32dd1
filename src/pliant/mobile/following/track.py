"""A path for a follower: closely spaced points with curvature and the speed limit that the path ahead allows.

    v² ≤ a_lat/|κ|    |v κ| ≤ ω_max    |v|(1 + |κ| track/2) ≤ wheel    v² ≤ v_next² + 2 d ds        (from the end back)

Where the curvature jumps by Δκ, a limited angular acceleration α makes the base deviate from the path by
v (v Δκ)³/(24 α²) if the turn starts half a ramp early. This sets the speed there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from pliant.errors import RejectedError
from pliant.kernel import kernel
from pliant.mobile.base.base_params import Base, Follow
from pliant.mobile.planning.base_path import Path
from pliant.mobile.velocity.estimate import wrapped
from pliant.records import Field, Layout

STEP_M = 0.01
WINDOW_M = 0.3
"""Changes of curvature closer than this count as one jump, because there is no time for two ramps."""

POINT = Layout(
    "TrackPoint",
    (
        Field("x", "m", "place"),
        Field("y", "m", "place"),
        Field("heading", "rad", "heading of the base"),
        Field("curvature", "1/m", "of the arc there"),
        Field("speed", "m/s", "largest speed there"),
    ),
)
PART = Layout(
    "TrackPart",
    (
        Field("first", "", "its first point", kind="i8"),
        Field("last", "", "its last point", kind="i8"),
        Field("direction", "", "1 forward, -1 in reverse"),
        Field("step", "m", "between two points"),
        Field("before", "m", "distance before it"),
    ),
)


class Track(NamedTuple):
    """Points, and the parts between two stops."""

    points: Any
    parts: Any


def track_of(path: Path, base: Base, follow: Follow) -> Track:
    """The track of a path, with a new part at every change between forward and reverse."""
    arcs = np.asarray(path.arcs, float)
    arcs = arcs[np.abs(arcs[:, 1]) > 1e-6]
    if not len(arcs):
        raise RejectedError("The path has no length, so there is nothing to follow.", field="path")
    signs = np.sign(arcs[:, 1])
    cuts = [0, *(np.flatnonzero(np.diff(signs)) + 1).tolist(), len(arcs)]
    points, parts = [], PART.new(len(cuts) - 1)
    start, count, before = path.start, 0, 0.0
    for k in range(len(cuts) - 1):
        part = Path(start, arcs[cuts[k] : cuts[k + 1]])
        n = max(4, math.ceil(part.length_m / STEP_M))
        rows = part.at(np.linspace(0.0, part.length_m, n + 1))
        sign, step = float(signs[cuts[k]]), part.length_m / n
        found = POINT.new(n + 1)
        for name, column in (("x", 0), ("y", 1), ("heading", 2), ("curvature", 3)):
            found[name] = rows[:, column]
        found["speed"] = _speeds(rows[:, 3], step, sign, base, follow)
        parts[k] = (count, count + n, sign, step, before)
        points.append(found)
        start, count, before = part.end, count + n + 1, before + part.length_m
    return Track(np.concatenate(points), parts)


def _speeds(curvature: Any, step: float, sign: float, base: Base, follow: Follow) -> Any:
    """Largest speed at each point: that of the place, and what braking for what lies ahead leaves."""
    k = np.abs(curvature)
    top = base.forward_m_s if sign > 0 else base.backward_m_s
    with np.errstate(divide="ignore"):
        turn = np.minimum(base.turn_rad_s / k, np.sqrt(base.lateral_m_s2 / k))
    v = np.minimum(np.minimum(turn, base.wheel_m_s / (1 + 0.5 * base.track_m * k)), top)
    n = max(3, round(WINDOW_M / step))
    jump = maximum_filter1d(curvature, n, mode="nearest") - minimum_filter1d(curvature, n, mode="nearest")
    with np.errstate(divide="ignore"):
        corner = (24 * base.turn_acceleration_rad_s2**2 * follow.corner_m / jump**3) ** 0.25
    v = np.minimum(v, corner)
    brake = follow.brake_share * base.deceleration_m_s2
    v[-1] = 0.0
    for i in range(len(v) - 2, -1, -1):
        v[i] = min(v[i], math.sqrt(v[i + 1] ** 2 + 2 * brake * step))
    return v


@kernel
def locate(track, part, s, x, y):
    """Distance along a part [m] of the point nearest to (x, y), searched around the distance s."""
    q = track.parts[part]
    n = q.last - q.first
    middle = int(s / q.step)
    reach = int(0.4 / q.step) + 2
    low, high = max(0, middle - reach), min(n, middle + reach)
    best, found = math.inf, low
    for i in range(low, high + 1):
        p = track.points[q.first + i]
        far = (x - p.x) ** 2 + (y - p.y) ** 2
        if far < best:
            best, found = far, i
    p = track.points[q.first + found]
    along = q.direction * (math.cos(p.heading) * (x - p.x) + math.sin(p.heading) * (y - p.y))
    # beyond the last point the way goes on, so that an overshoot is seen
    least = 0.0 if found > 0 else min(0.0, along)
    return max(least, found * q.step + along)


@kernel
def index_at(track, part, s):
    """The point of a part nearest to the distance s."""
    q = track.parts[part]
    return q.first + min(q.last - q.first, max(0, int(s / q.step + 0.5)))


@kernel
def mean_curvature(track, part, s, half):
    """Mean curvature around the distance s, over a window of ± half [m]."""
    low, high = index_at(track, part, s - half), index_at(track, part, s + half)
    total = 0.0
    for i in range(low, high + 1):
        total += track.points[i].curvature
    return total / (high - low + 1)


@kernel
def errors_at(track, part, s, pose):
    """Offset to the left of the path [m] and heading error [rad] of a pose at the distance s, on the exact arc."""
    q = track.parts[part]
    p = track.points[index_at(track, part, s)]
    off = s - (index_at(track, part, s) - q.first) * q.step
    heading = p.heading + p.curvature * q.direction * off
    dx, dy = pose[0] - p.x, pose[1] - p.y
    cross = math.cos(p.heading) * dy - math.sin(p.heading) * dx - 0.5 * p.curvature * off * off
    return cross, wrapped(pose[2] - heading)
