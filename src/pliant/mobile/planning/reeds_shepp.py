"""The shortest path of a car that drives forward and in reverse with a minimum turning radius.

Reeds and Shepp, Optimal paths for a car that goes both forwards and backwards, Pacific J. Math. 145 (1990): every
shortest path is one of 48 words of at most five arcs and straights. Eight formulas give them all: they are also applied
with time reversed (x → -x, φ → -φ), mirrored (y → -y, φ → -φ) and from the end. Equation numbers below are those of the
paper; the radius is 1, and a negative length is driven in reverse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.records import Field, Layout

MOST = 5
LEFT, STRAIGHT, RIGHT = 1.0, 0.0, -1.0
# Lengths that rounding made this much too short or negative still count as zero.
DUST = 1e-13

WORD = Layout(
    "Word",
    (
        Field("n", "", "number of pieces", kind="i8"),
        Field("turn", "", "1 left, 0 straight, -1 right", (MOST,)),
        Field("length", "radius", "signed length of each piece", (MOST,)),
        Field("total", "radius", "length of the whole path"),
    ),
)


@kernel
def _turn(angle):
    """The same angle in [-π, π], both ends kept: an arc of half a turn exists in both directions."""
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi)) if abs(angle) > math.pi else angle


@kernel
def _keep_if_shorter(w, flip, mirror, backward, lengths, turns, n):
    """Keep a word if it is shorter than the best so far; `turns` belong to `lengths`."""
    a, b, c, d, e = lengths
    total = abs(a) + abs(b) + abs(c) + abs(d) + abs(e)
    if total >= w.total:
        return
    w.total, w.n = total, n
    sign, side = -1.0 if flip else 1.0, -1.0 if mirror else 1.0
    for i in range(n):
        k = n - 1 - i if backward else i
        w.length[k], w.turn[k] = sign * lengths[i], side * turns[i]


@kernel
def _ccs(w, x, y, phi, flip, mirror, backward):
    """Words that may be driven from both ends: C|C|C, C|CC (8.3, 8.4) and C|C S C (8.9, 8.10)."""
    s, c = math.sin(phi), math.cos(phi)
    xi, eta = x - s, y - 1.0 + c
    far, theta = math.hypot(xi, eta), math.atan2(eta, xi)
    if far <= 4.0:
        u = -2.0 * math.asin(0.25 * far)
        t = _turn(theta + 0.5 * u + math.pi)
        v = _turn(phi - t + u)
        if t >= -DUST:
            _keep_if_shorter(w, flip, mirror, backward, (t, u, v, 0.0, 0.0), (LEFT, RIGHT, LEFT, 0.0, 0.0), 3)
    if far >= 2.0:
        r = math.sqrt(far * far - 4.0)
        t = _turn(theta + math.atan2(r, -2.0))
        v = _turn(phi - 0.5 * math.pi - t)
        if t >= -DUST and r >= 2.0 and v <= DUST:
            quarter = -0.5 * math.pi
            _keep_if_shorter(
                w, flip, mirror, backward, (t, quarter, 2.0 - r, v, 0.0), (LEFT, RIGHT, STRAIGHT, LEFT, 0.0), 4
            )
    xi, eta = x + s, y - 1.0 - c
    far, t = math.hypot(xi, eta), math.atan2(xi, -eta)
    v = _turn(t + 0.5 * math.pi - phi)
    if far >= 2.0 and t >= -DUST and v <= DUST:
        quarter = -0.5 * math.pi
        _keep_if_shorter(
            w, flip, mirror, backward, (t, quarter, 2.0 - far, v, 0.0), (LEFT, RIGHT, STRAIGHT, RIGHT, 0.0), 4
        )


@kernel
def _outer(u, v, xi, eta):
    """First arc of a word of four arcs whose inner ones are u and v (the paper's τ)."""
    delta = _turn(u - v)
    A, B = math.sin(u) - math.sin(delta), math.cos(u) - math.cos(delta) - 1.0
    angle = math.atan2(eta * A - xi * B, xi * A + eta * B)
    turned = 2.0 * (math.cos(delta) - math.cos(v) - math.cos(u)) + 3.0
    return _turn(angle + math.pi) if turned < 0.0 else angle


@kernel
def _cccc(w, x, y, phi, flip, mirror):
    """Words of four arcs: C C|C C (8.7) and C|C C|C (8.8); both look the same from their end."""
    xi, eta = x + math.sin(phi), y - 1.0 - math.cos(phi)
    turns = (LEFT, RIGHT, LEFT, RIGHT, 0.0)
    rho = 0.25 * (2.0 + math.hypot(xi, eta))
    if rho <= 1.0:
        u = math.acos(rho)
        t = _outer(u, -u, xi, eta)
        v = _turn(t - 2.0 * u - phi)
        if t >= -DUST and v <= DUST:
            _keep_if_shorter(w, flip, mirror, False, (t, u, -u, v, 0.0), turns, 4)
    rho = (20.0 - xi * xi - eta * eta) / 16.0
    if 0.0 <= rho <= 1.0:
        u = -math.acos(rho)
        t = _outer(u, u, xi, eta)
        v = _turn(t - phi)
        if t >= -DUST and v >= -DUST:
            _keep_if_shorter(w, flip, mirror, False, (t, u, u, v, 0.0), turns, 4)


@kernel
def _csc(w, x, y, phi, flip, mirror):
    """C S C (8.1, 8.2) and C|C S C|C (8.11); all look the same from their end."""
    s, c = math.sin(phi), math.cos(phi)
    u, t = math.hypot(x - s, y - 1.0 + c), math.atan2(y - 1.0 + c, x - s)
    v = _turn(phi - t)
    if t >= -DUST and v >= -DUST:
        _keep_if_shorter(w, flip, mirror, False, (t, u, v, 0.0, 0.0), (LEFT, STRAIGHT, LEFT, 0.0, 0.0), 3)
    xi, eta = x + s, y - 1.0 - c
    far = math.hypot(xi, eta)
    if far < 2.0:
        return
    u = math.sqrt(far * far - 4.0)
    t = _turn(math.atan2(eta, xi) + math.atan2(2.0, u))
    v = _turn(t - phi)
    if t >= -DUST and v >= -DUST:
        _keep_if_shorter(w, flip, mirror, False, (t, u, v, 0.0, 0.0), (LEFT, STRAIGHT, RIGHT, 0.0, 0.0), 3)
    middle = 4.0 - u
    if middle <= 0.0:
        t = _turn(math.atan2((4.0 - middle) * xi - 2.0 * eta, -2.0 * xi + (middle - 4.0) * eta))
        v = _turn(t - phi)
        if t >= -DUST and v >= -DUST:
            q = -0.5 * math.pi
            _keep_if_shorter(w, flip, mirror, False, (t, q, middle, q, v), (LEFT, RIGHT, STRAIGHT, LEFT, RIGHT), 5)


@kernel
def shortest(x, y, phi, w):
    """The shortest word to (x, y, φ) from the origin, all in radii; fills `w`."""
    w.total, w.n = math.inf, 0
    phi = _turn(phi)
    # seen from the end: the way back, mirrored in the bisector
    xb, yb = x * math.cos(phi) + y * math.sin(phi), x * math.sin(phi) - y * math.cos(phi)
    for flip in (False, True):
        for mirror in (False, True):
            sx, sy = -1.0 if flip else 1.0, -1.0 if mirror else 1.0
            angle = sx * sy * phi
            _csc(w, sx * x, sy * y, angle, flip, mirror)
            _cccc(w, sx * x, sy * y, angle, flip, mirror)
            _ccs(w, sx * x, sy * y, angle, flip, mirror, False)
            _ccs(w, sx * xb, sy * yb, angle, flip, mirror, True)


@kernel
def between(a, b, radius, w):
    """The shortest word from pose a to pose b (x, y, heading), in radii of `radius` [m]."""
    dx, dy, c, s = b[0] - a[0], b[1] - a[1], math.cos(a[2]), math.sin(a[2])
    shortest((c * dx + s * dy) / radius, (c * dy - s * dx) / radius, b[2] - a[2], w)


@kernel
def lengths(a, b, radius, word, out):
    """Lengths [m] of the shortest paths between poses a (n, 3) and b (n, 3)."""
    w = word[0]
    for i in range(a.shape[0]):
        between(a[i], b[i], radius, w)
        out[i] = radius * w.total


def path_lengths(a: Any, b: Any, radius_m: float) -> np.ndarray[Any, Any]:
    """Lengths [m] of the shortest paths from each pose of a (n, 3) to that of b (n, 3): x, y, heading."""
    start = checked_poses("a", a)
    goal, out = checked_poses("b", b, len(start)), np.zeros(len(start))
    lengths(start, goal, checked_radius(radius_m), WORD.new(), out)
    return out


def checked_poses(name: str, poses: Any, n: int | None = None) -> np.ndarray[Any, Any]:
    """Poses (n, 3) as numbers; raises if they are not valid."""
    try:
        values = np.ascontiguousarray(np.atleast_2d(np.asarray(poses, float)))
    except (TypeError, ValueError):
        values = np.zeros((0, 0))
    if values.ndim != 2 or values.shape[1] != 3 or len(values) != (len(values) if n is None else n):
        many = "poses of" if n is None else f"{n} poses of" if n != 1 else "a pose of"
        told = poses if values.size <= 3 else values.shape
        raise InputError(name, told, f"{many} three numbers: x [m], y [m] and heading [rad]")
    if not np.isfinite(values).all():
        bad = values[~np.isfinite(values).all(axis=1)][0].tolist()
        raise InputError(name, bad, "three finite numbers: x [m], y [m] and heading [rad]")
    return values


def checked_radius(radius_m: float) -> float:
    """A valid arc radius; raises otherwise."""
    if not 0.0 < radius_m < math.inf:
        raise InputError("radius_m", radius_m, "a finite length greater than 0 m")
    return float(radius_m)
