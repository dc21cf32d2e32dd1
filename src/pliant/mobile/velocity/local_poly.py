"""Velocity by a polynomial of low degree, fitted by least squares to the last samples and differentiated at the newest.

    min Σ (z_i - Σ_k c_k u_i^k)²      u = (t - t_mid)/half, in [-1, 1]

Time is centred and scaled: with absolute wall-clock times the normal equations would lose all precision.
"""

from __future__ import annotations

import math

from pliant.kernel import fill, kernel
from pliant.mobile.velocity.estimate import COASTING, IGNORED, POLYNOMIAL, RESET, VALID, ZERO, to_body
from pliant.mobile.velocity.samples import add_sample, is_plausible
from pliant.records import Field, Layout
from pliant.solve import factor_n, solve_lower, solve_upper

MOST = 4

POLY_WORK = Layout(
    "PolyWork",
    (
        Field("A", "", "normal equations", (MOST, MOST)),
        Field("L", "", "their factor", (MOST, MOST)),
        Field("c", "", "coefficients", (MOST,)),
        Field("u", "", "powers at one sample", (MOST,)),
    ),
)


@kernel
def step(p, s, t, z, w, o):
    """Update with the pose z at time t [s], and write the velocity into `o`."""
    status = add_sample(p, s, t, z, p.window)
    o.status = status
    if status in (IGNORED, COASTING):
        return
    n, m = s.n, min(p.degree, s.n - 1) + 1
    before = (o.velocity[0], o.velocity[1], o.velocity[2])
    o.stamp_s = s.stamp[0] if n > 0 else t
    for axis in range(3):
        o.velocity[axis], o.acceleration[axis], o.sigma[axis] = 0.0, math.nan, math.nan
        if n > 0:
            o.pose[axis] = s.pose[0, axis]
    if n < 2:
        o.status, o.scheme = RESET, ZERO
    else:
        half = 0.5 * (s.stamp[0] - s.stamp[n - 1])
        gain = _normal_equations(s, n, m, half, w)
        for axis in range(3):
            _fit(s, n, m, half, gain, axis, w, o)
        if is_plausible(p, s, gain, before, o):
            o.status, o.scheme = VALID, POLYNOMIAL
    to_body(o)


@kernel
def _powers(s, i, n, m, half, u):
    """Powers of the scaled time of sample i; the newest has time 1, the oldest -1."""
    x = (s.stamp[i] - s.stamp[0]) / half + 1.0
    u[0] = 1.0
    for k in range(1, m):
        u[k] = u[k - 1] * x


@kernel
def _normal_equations(s, n, m, half, w):
    """Factor Σ u uᵀ; the noise of the velocity for a noise of 1 in the samples."""
    w.A[:] = 0.0
    for i in range(n):
        _powers(s, i, n, m, half, w.u)
        for a in range(m):
            for b in range(m):
                w.A[a, b] += w.u[a] * w.u[b]
    factor_n(w.A, m, w.L)
    # d, the derivative of the powers at u = 1, is k; variance of dᵀc: σ² dᵀ(Σ u uᵀ)⁻¹ d = σ² |L⁻¹ d|²
    for k in range(m):
        w.u[k] = float(k)
    solve_lower(w.L, m, w.u)
    total = 0.0
    for k in range(m):
        total += w.u[k] * w.u[k]
    return math.sqrt(total) / half


@kernel
def _fit(s, n, m, half, gain, axis, w, o):
    """Coefficients, velocity, acceleration and standard deviation of one axis."""
    fill(w.c, 0.0)
    for i in range(n):
        _powers(s, i, n, m, half, w.u)
        for k in range(m):
            w.c[k] += w.u[k] * (s.pose[i, axis] - s.pose[0, axis])
    solve_lower(w.L, m, w.c)
    solve_upper(w.L, m, w.c)
    left = 0.0
    for i in range(n):
        _powers(s, i, n, m, half, w.u)
        away = s.pose[i, axis] - s.pose[0, axis]
        for k in range(m):
            away -= w.c[k] * w.u[k]
        left += away * away
    speed, bend = 0.0, 0.0
    for k in range(1, m):
        speed += k * w.c[k]
        bend += k * (k - 1) * w.c[k]
    o.velocity[axis], o.acceleration[axis] = speed / half, bend / (half * half)
    if n > m:
        o.sigma[axis] = math.sqrt(left / (n - m)) * gain


@kernel
def run(parameters, state, stamps, poses, work, out):
    """Many samples in one call: stamps (n), poses (n, 3), estimates (n)."""
    p, s, w = parameters[0], state[0], work[0]
    for i in range(stamps.shape[0]):
        if i > 0:
            out[i] = out[i - 1]
        step(p, s, stamps[i], poses[i], w, out[i])
