"""Braking before the edge of the reach: elbow stretched, or wrist over the shoulder.

The smallest singular value σ belongs to a velocity u of the tool and w of the joints. Near an edge they make a fold:

    J w = σ u       moving the joints by s w moves the tool by σ s + κ s²/2 along u       κ = uᵀ J̇ w at q̇ = w

so σ falls by |κ| s on the way out and would be zero at the edge, from which no motion leads back. The motion stops
while σ is still slightly larger. Where κ is zero (an aligned wrist) there is no edge, and nothing is limited.
"""

from __future__ import annotations

import math

from pliant.control.limits.braking import braking_speed
from pliant.control.limits.cuts import EDGE, cut
from pliant.kernel import kernel, put
from pliant.records import MAX_JOINTS, Field, Layout

SCRATCH = Layout(
    "Edge",
    (
        Field("u", "", "tool velocity of the smallest singular value", (6,)),
        Field("w", "", "its joint velocity", (MAX_JOINTS,)),
    ),
)

# Share of the singular threshold that is kept, and up to how many times the threshold braking is looked at.
KEPT, _LOOK = 0.2, 2.0


@kernel
def limit_edge(p, h, s, sigma, damping, w, dt, o):
    """Remove from `s.twist` what approaches the edge of the reach faster than the joints can brake.

    `damping` is λ² of the inverse here; `w` is scratch for u (6) and w (n).
    """
    if sigma > _LOOK * p.singular_threshold:
        return
    size = _directions(h, s, w)
    if size < 1e-9:
        return
    bend = _bend(h, w)
    along = 0.0
    for i in range(6):
        along += w.u[i] * s.twist[i]
    if along * bend >= 0.0:
        return
    accel = math.inf
    for k in range(h.n):
        if w.w[k] != 0.0:
            accel = min(accel, p.acceleration_scale * h.a_max[k] / abs(w.w[k]))
    room = (sigma - KEPT * p.singular_threshold) / abs(bend)
    top = braking_speed(room, accel, dt) * (sigma * sigma + damping) / sigma
    if abs(along) > top:
        cut(o, EDGE, abs(along), top)
        for i in range(6):
            s.twist[i] -= w.u[i] * (along - math.copysign(top, along))


@kernel
def _directions(h, s, w):
    """u and w of the smallest singular value; returns the length that w had."""
    n, size = h.n, 0.0
    if n < 6:
        put(w.w[:n], s.weakest[:n])
        for i in range(6):
            w.u[i] = 0.0
            for k in range(n):
                w.u[i] += h.J[i, k] * w.w[k]
            size += w.u[i] * w.u[i]
        size = math.sqrt(size)
        for i in range(6):
            w.u[i] /= max(size, 1e-12)
        return size
    for k in range(n):
        w.w[k] = 0.0
        for i in range(6):
            w.w[k] += h.J[i, k] * s.weakest[i]
        size += w.w[k] * w.w[k]
    size = math.sqrt(size)
    for k in range(n):
        w.w[k] /= max(size, 1e-12)
    put(w.u, s.weakest)
    return size


@kernel
def _bend(h, w):
    """κ: acceleration of the tool along u at the constant joint velocity w."""
    total = wx = wy = wz = 0.0
    for k in range(h.n):
        v = w.w[k]
        jx, jy, jz = v * h.J[0, k], v * h.J[1, k], v * h.J[2, k]
        zx, zy, zz = v * h.J[3, k], v * h.J[4, k], v * h.J[5, k]
        ux, uy, uz = 2.0 * wx + zx, 2.0 * wy + zy, 2.0 * wz + zz
        total += w.u[0] * (uy * jz - uz * jy) + w.u[1] * (uz * jx - ux * jz) + w.u[2] * (ux * jy - uy * jx)
        total += w.u[3] * (wy * zz - wz * zy) + w.u[4] * (wz * zx - wx * zz) + w.u[5] * (wx * zy - wy * zx)
        wx, wy, wz = wx + zx, wy + zy, wz + zz
    return total
