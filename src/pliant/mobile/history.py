"""The last samples of a base, and which of them may be differentiated together.

A stamp that repeats is the same sample. A gap, a step back in time or a value that is no number ends a trajectory. So
does a pose that no admissible acceleration explains, once the next one agrees with it; alone it is an outlier.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.mobile.estimate import COASTING, IGNORED, LEAST_DT, RESET, VALID, wrapped
from pliant.records import Field, Layout

ROOM = 64

HISTORY = Layout(
    "BaseHistory",
    (
        Field("n", "", "samples there are, the newest first", kind="i8"),
        Field("doubted", "", "1: the sample before did not fit", kind="i8"),
        Field("held", "m, m, rad", "the sample that did not fit", (3,)),
        Field("stamp", "s", "their stamps", (ROOM,)),
        Field("pose", "m, m, rad", "their poses, the heading unwrapped", (ROOM, 3)),
    ),
)


@kernel
def admit(p, s, t, z, keep):
    """Put the pose z of time t [s] in front of the history, of which `keep` are kept; says what became of it."""
    if not math.isfinite(t):
        return IGNORED
    if s.n > 0 and abs(t - s.stamp[0]) < LEAST_DT:
        return IGNORED
    if not (math.isfinite(z[0]) and math.isfinite(z[1]) and math.isfinite(z[2])):
        s.n, s.doubted = 0, 0
        return RESET
    fresh = s.n == 0 or t - s.stamp[0] > p.gap_s or t < s.stamp[0]
    if not fresh and s.doubted == 1:
        fresh = _apart(z, s.held) < _apart(z, s.pose[0])
    elif not fresh and _jumps(p, s, t, z):
        s.doubted = 1
        s.held[:] = z
        return COASTING
    s.doubted = 0
    if fresh:
        s.n = 0
    _push(s, t, z, keep)
    return RESET if fresh else VALID


@kernel
def _apart(a, b):
    """How far two poses are apart, a radian like a metre."""
    return math.hypot(a[0] - b[0], a[1] - b[1]) + abs(wrapped(a[2] - b[2]))


@kernel
def _jumps(p, s, t, z):
    """Whether a pose is farther from where the last two lead than an admissible acceleration and noise explain."""
    if s.n < 2:
        return False
    d, before = t - s.stamp[0], s.stamp[0] - s.stamp[1]
    for axis in range(3):
        a = p.most_acceleration_rad_s2 if axis == 2 else p.most_acceleration_m_s2
        noise = p.noise_rad + p.step_rad if axis == 2 else p.noise_m + p.step_m
        ratio = d / before
        speed = (s.pose[0, axis] - s.pose[1, axis]) / before
        away = z[axis] - s.pose[0, axis]
        if axis == 2:
            away = wrapped(away)
        # |z - x - v d| ≤ a d (d + before)/2, and the noise of three samples
        if abs(away - speed * d) > 0.5 * a * d * (d + before) + p.gate * noise * (1.0 + 2.0 * ratio):
            return True
    return False


@kernel
def _push(s, t, z, keep):
    last = min(s.n, keep - 1)
    for i in range(last, 0, -1):
        s.stamp[i] = s.stamp[i - 1]
        for axis in range(3):
            s.pose[i, axis] = s.pose[i - 1, axis]
    s.n = last + 1
    s.stamp[0] = t
    s.pose[0, 0], s.pose[0, 1] = z[0], z[1]
    s.pose[0, 2] = s.pose[1, 2] + wrapped(z[2] - s.pose[1, 2]) if s.n > 1 else z[2]
