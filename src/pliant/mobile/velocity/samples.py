"""The last samples of a base, and which of them may be differentiated together.

A repeated stamp is the same sample. A gap, a step back in time or a value that is not finite ends a trajectory. So does
a pose that no plausible acceleration explains, once the next one confirms it; alone it is an outlier. Late stamps are
fitted to a line, the whole history to the newest one.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel, put
from pliant.mobile.velocity.estimate import COASTING, IGNORED, LEAST_DT, RESET, VALID, ZERO, wrapped
from pliant.mobile.velocity.stamps import LEAST, STAMPS, clear, regular
from pliant.records import Field, Layout

ROOM = 64
# A sample that comes after so small a share of the step before gives only noise for the velocity.
CLOSE = 0.01

HISTORY = Layout(
    "BaseHistory",
    (
        Field("n", "", "number of samples, newest first", kind="i8"),
        Field("doubted", "", "1: the previous sample did not fit", kind="i8"),
        Field("held", "m, m, rad", "the sample that did not fit", (3,)),
        Field("raw_s", "s", "last stamp as received"),
        Field("stamp", "s", "their stamps", (ROOM,)),
        Field("number", "", "their numbers on the line, if stamps are late", (ROOM,)),
        Field("pose", "m, m, rad", "their poses, the heading unwrapped", (ROOM, 3)),
        Field("stamps", "", "the stamps so far, if they are late", kind=STAMPS),
    ),
)


@kernel
def add_sample(p, s, t, z, keep):
    """Add the pose z at time t [s] to the history of `keep` samples; returns how it was used."""
    if not math.isfinite(t):
        return IGNORED
    gone = t - s.raw_s
    least = CLOSE * (s.stamp[0] - s.stamp[1]) if s.n > 1 and p.stamps == 0 else 0.0
    if s.n > 0 and (abs(gone) < LEAST_DT or 0.0 < gone < least):
        return IGNORED
    if not (math.isfinite(z[0]) and math.isfinite(z[1]) and math.isfinite(z[2])):
        s.n, s.doubted = 0, 0
        return RESET
    if gone > p.gap_s or gone < 0.0:
        s.n = 0
        clear(s.stamps)
    s.raw_s = t
    if p.stamps == 1:
        t = _aligned_times(s, t)
        if s.stamps.off_s != 0.0 and s.stamps.anew == 0:
            return COASTING  # the time of the sample is unknown
    if s.n > 0 and s.doubted == 1 and _apart(z, s.held) < _apart(z, s.pose[0]):
        s.n = 0
    if s.n > 0 and _jumps(p, s, t, z):
        s.doubted = 1
        put(s.held, z)
        return COASTING
    s.doubted = 0
    fresh = s.n == 0
    _push(s, t, z, keep)
    return RESET if fresh else VALID


@kernel
def _aligned_times(s, t):
    """The time on the line of late stamps, and the samples before put on the same line."""
    t = regular(s.stamps, t)
    if s.stamps.anew == 1:
        s.n = 0
    if s.stamps.n >= LEAST:
        newest = s.stamps.newest
        for i in range(s.n):
            s.stamp[i] = t - (newest - s.number[i]) * s.stamps.period_s
    return t


@kernel
def is_plausible(p, s, gain, before, o):
    """Whether the velocity in `o` is plausible; if not, the previous one (`before`) is repeated.

    `gain` is the noise of the velocity for a pose noise of 1. The history of an implausible velocity is cleared.
    """
    for axis in range(3):
        speed, noise = (p.most_speed_rad_s, p.noise_rad) if axis == 2 else (p.most_speed_m_s, p.noise_m)
        grid = p.step_rad if axis == 2 else p.step_m
        if not abs(o.velocity[axis]) <= speed + min(speed, p.gate * (noise + grid) * gain):
            o.velocity[0], o.velocity[1], o.velocity[2] = before
            s.n = 1
            o.status = RESET if o.scheme == ZERO else COASTING
            return False
    return True


@kernel
def _apart(a, b):
    """How far two poses are apart, a radian like a metre."""
    return math.hypot(a[0] - b[0], a[1] - b[1]) + abs(wrapped(a[2] - b[2]))


@kernel
def _jumps(p, s, t, z):
    """Whether a pose is farther from where the last two lead than an admissible acceleration and noise explain.

    Or farther from the only one before than an admissible speed.
    """
    d, before = t - s.stamp[0], s.stamp[0] - s.stamp[1]
    for axis in range(3):
        a = p.most_acceleration_rad_s2 if axis == 2 else p.most_acceleration_m_s2
        noise = p.noise_rad + p.step_rad if axis == 2 else p.noise_m + p.step_m
        away = z[axis] - s.pose[0, axis]
        if axis == 2:
            away = wrapped(away)
        if s.n == 1:
            most = p.most_speed_rad_s if axis == 2 else p.most_speed_m_s
            if abs(away) > most * d + 2.0 * p.gate * noise:
                return True
            continue
        ratio = d / before
        speed = (s.pose[0, axis] - s.pose[1, axis]) / before
        # |z - x - v d| ≤ a d (d + before)/2, and the noise of three samples
        if abs(away - speed * d) > 0.5 * a * d * (d + before) + p.gate * noise * (1.0 + 2.0 * ratio):
            return True
    return False


@kernel
def _push(s, t, z, keep):
    last = min(s.n, keep - 1)
    for i in range(last, 0, -1):
        s.stamp[i], s.number[i] = s.stamp[i - 1], s.number[i - 1]
        for axis in range(3):
            s.pose[i, axis] = s.pose[i - 1, axis]
    s.n = last + 1
    s.stamp[0], s.number[0] = t, s.stamps.newest
    s.pose[0, 0], s.pose[0, 1] = z[0], z[1]
    s.pose[0, 2] = s.pose[1, 2] + wrapped(z[2] - s.pose[1, 2]) if s.n > 1 else z[2]
