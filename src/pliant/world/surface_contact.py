"""Surfaces of declared stiffness: the force of a surface on the tool's tip.

    f_n = max(0, k δ + d δ̇)                    along the normal; a surface pushes, it never pulls
    f_t = -(k z + d ż),  |f_t| ≤ µ f_n         along the surface; z is how far the material was dragged

A separate force law is used because a soft MuJoCo contact is not a spring in N/m. The tip is a ball at the tool point.
In continuous time the law cannot create energy. To ensure the same for a bounce in discrete steps, the damping is at
least `LEAST_DAMPING · k · h` (at k = 10⁵ N/m and half a millisecond: 5 N s/m).
"""

from __future__ import annotations

import math

from pliant.kernel import call_at, fill, floats, kernel
from pliant.spatial import quat_rotate, quat_rotate_inv

LEAST_DAMPING = 0.1


@kernel
def locate(c, point):
    """Put a point [m] of the base frame into c.point, in the frame of the surface at rest."""
    for i in range(3):
        c.point[i] = point[i] - c.pose[i]
    quat_rotate_inv(c.pose[3:7], c.point, c.point)


@kernel
def measure(c):
    """Let the kind of the surface compute distance and normal at c.point; a kernel that raises leaves no number."""
    if call_at(c.measure_at, (c,)) != 0:
        c.distance = math.nan


@kernel
def touch(w, c, tip):
    """Write the force of surface `c` on a tip at `tip` [m] with velocity w.velocity into c.force (base axes)."""
    c.force[:], c.press = 0.0, 0.0
    locate(c, tip)
    rate = 2.0 * math.pi * c.swing_hz
    turn = rate * max(0.0, w.time - c.swing_at)
    c.point[2] += c.swing * (1.0 - math.cos(turn))
    c.here = _stiffness_at(c, c.point[0])
    measure(c)
    depth = w.tip_radius - c.distance
    if depth <= 0.0:
        c.touching = 0
        fill(c.stretch, 0.0)
        return
    c.touching = 1
    n = w.normal
    quat_rotate(c.pose[3:7], c.normal, n)
    # the touching point lies r below the ball's centre: v + ω × (-r n)
    v, omega, r = w.point_velocity, w.velocity[0:3], w.tip_radius
    v[0] = w.velocity[3] - r * (omega[1] * n[2] - omega[2] * n[1])
    v[1] = w.velocity[4] - r * (omega[2] * n[0] - omega[0] * n[2])
    v[2] = w.velocity[5] - r * (omega[0] * n[1] - omega[1] * n[0])
    _leave_behind(w, c, v, -rate * c.swing * math.sin(turn))
    along = v[0] * n[0] + v[1] * n[1] + v[2] * n[2]
    damping = max(c.damping, LEAST_DAMPING * c.here * w.h)
    c.press = max(0.0, c.here * depth - damping * along)
    _drag(w, c, n, along, c.press, damping)
    for i in range(3):
        c.force[i] = c.press * n[i] - w.six[i]


@kernel
def _stiffness_at(c, x):
    """Stiffness at `x` [m] along the surface: it changes evenly from one place to another."""
    span = c.change[1] - c.change[0]
    share = (x - c.change[0]) / span if span > 0.0 else (1.0 if x > c.change[0] else 0.0)
    return c.stiffness + max(0.0, min(1.0, share)) * c.stiffness_change


@kernel
def _leave_behind(w, c, v, speed):
    """Take the surface's own velocity, `speed` along its z axis, from the velocity `v` of the touching point."""
    w.six[0], w.six[1], w.six[2] = 0.0, 0.0, speed
    quat_rotate(c.pose[3:7], w.six[0:3], w.six[0:3])
    for i in range(3):
        v[i] -= w.six[i]


@kernel
def _drag(w, c, n, along, press, damping):
    """Friction: the material is dragged along like a spring until µ·f_n tears it loose; to subtract, in w.six."""
    lean = c.stretch[0] * n[0] + c.stretch[1] * n[1] + c.stretch[2] * n[2]
    for i in range(3):
        c.stretch[i] += w.h * (w.point_velocity[i] - along * n[i]) - lean * n[i]
    most = c.friction * press
    # what the spring alone cannot hold has slipped; it must not take up the damper's share, which nobody has stored
    _shorten(c.stretch, most / c.here)
    for i in range(3):
        w.six[i] = c.here * c.stretch[i] + damping * (w.point_velocity[i] - along * n[i])
    _shorten(w.six, most)


@kernel
def _shorten(vector, most):
    """Bring the first three numbers of `vector` to the length `most` if they are longer."""
    size = math.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)
    if size > most:
        for i in range(3):
            vector[i] *= most / size


@kernel
def contacts(w):
    """Add the force of every surface at the tool's tip to the wrench that acts on the tool body."""
    tip = floats(w.tool_xpos, 3)
    com = floats(w.tool_xipos, 3)
    applied = floats(w.tool_xfrc, 6)
    fill(w.contact_force, 0.0)
    for k in range(w.n_surfaces):
        c = w.surface[k]
        touch(w, c, tip)
        if c.touching == 0:
            continue
        # the force acts where the ball touches: r below its centre
        rx = tip[0] - w.tip_radius * w.normal[0] - com[0]
        ry = tip[1] - w.tip_radius * w.normal[1] - com[1]
        rz = tip[2] - w.tip_radius * w.normal[2] - com[2]
        fx, fy, fz = c.force[0], c.force[1], c.force[2]
        for i in range(3):
            applied[i] += c.force[i]
            w.contact_force[i] += c.force[i]
        applied[3] += ry * fz - rz * fy
        applied[4] += rz * fx - rx * fz
        applied[5] += rx * fy - ry * fx
