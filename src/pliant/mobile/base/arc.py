"""The exact arc of constant speed and turning speed, along which every base here moves.

x⁺ = x + s sinc(φ/2) cos(θ + φ/2)          s: distance [m], φ: turn [rad]
"""

from __future__ import annotations

import math

from pliant.kernel import kernel


@kernel
def after(x, y, heading, way, turn):
    """The pose after `way` [m] on an arc that turns by `turn` [rad]; the heading is not wrapped."""
    half = 0.5 * turn
    chord = way * (math.sin(half) / half if abs(half) > 1e-8 else 1.0)
    return x + chord * math.cos(heading + half), y + chord * math.sin(heading + half), heading + turn


@kernel
def moved(x, y, heading, curvature, s):
    """The pose after s [m] along an arc of this curvature [1/m]."""
    return after(x, y, heading, s, curvature * s)


@kernel
def along_arc(pose, v, omega, dt, out):
    """The pose of a base at `pose` after dt [s] of v [m/s] and omega [rad/s]."""
    out[0], out[1], out[2] = after(pose[0], pose[1], pose[2], v * dt, omega * dt)
