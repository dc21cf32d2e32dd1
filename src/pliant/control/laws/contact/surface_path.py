"""Paths on a surface: the direction in the tangent plane, as a function of the distance travelled.

A path is defined by the angle ψ between its present and its initial direction. On a curved surface the plane turns.
"""

from __future__ import annotations

import math

from pliant.kernel import fill, kernel

NONE, STRAIGHT, SPIRAL, RASTER = range(4)
# A heading closer to the normal than this (sine of the angle) gives no direction.
LEAST = 1e-3


@kernel
def length(p):
    """Total length of the path [m]."""
    if p.path == RASTER:
        steps = math.floor(p.width_m / p.pitch_m + 1e-9)
        return (steps + 1) * p.length_m + steps * p.pitch_m
    return p.length_m if p.path != NONE else 0.0


@kernel
def angle(p, travelled):
    """The angle ψ [rad] after `travelled` [m]."""
    if p.path == SPIRAL:
        # r = pitch θ/2π, whose length is about pitch θ²/4π; its tangent leads the radius by atan θ
        theta = math.sqrt(4.0 * math.pi * travelled / p.pitch_m)
        return theta + math.atan(theta)
    if p.path == RASTER:
        leg = p.length_m + p.pitch_m
        number = math.floor(travelled / leg)
        if travelled - number * leg > p.length_m:
            return 0.5 * math.pi
        return math.pi if number % 2 == 1 else 0.0
    return 0.0


@kernel
def direction(p, travelled, n, out):
    """Unit vector along the path in the plane perpendicular to the normal `n`; zeros if the heading is along `n`."""
    h = p.heading
    along = h[0] * n[0] + h[1] * n[1] + h[2] * n[2]
    x, y, z = h[0] - along * n[0], h[1] - along * n[1], h[2] - along * n[2]
    size = math.sqrt(x * x + y * y + z * z)
    if size < LEAST:
        fill(out, 0.0)
        return
    x, y, z = x / size, y / size, z / size
    psi = angle(p, travelled)
    cos, sin = math.cos(psi), math.sin(psi)
    # turned about n:  t = cos ψ e + sin ψ n × e
    out[0] = cos * x + sin * (n[1] * z - n[2] * y)
    out[1] = cos * y + sin * (n[2] * x - n[0] * z)
    out[2] = cos * z + sin * (n[0] * y - n[1] * x)
