"""Velocity of a noise-free reference: the derivative of the polynomial through the last 5, 3 or 2 samples.

The weights are Fornberg's for the actual stamps (Generation of finite difference formulas on arbitrarily spaced grids,
1988), so uneven times cost no accuracy. Every stencil amplifies noise: 5 points by 5.6/h, more than 2 points. For
measured poses use the Kalman filter.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.mobile.velocity.estimate import COASTING, IGNORED, RESET, VALID, ZERO, to_body
from pliant.mobile.velocity.samples import add_sample, is_plausible

POINTS = 5


@kernel
def derivative_weights(times, n, w):
    """Weights w of the first derivative at times[0] of the polynomial through n samples (Lagrange form).

    w_j = Π_{i≠0,j} (t_0 - t_i) / Π_{i≠j} (t_j - t_i)    w_0 = Σ_{i≠0} 1/(t_0 - t_i)
    """
    w[0] = 0.0
    for j in range(1, n):
        value = 1.0 / (times[j] - times[0])
        for i in range(1, n):
            if i != j:
                value *= (times[0] - times[i]) / (times[j] - times[i])
        w[j] = value
        w[0] += 1.0 / (times[0] - times[j])


@kernel
def step(p, s, t, z, w, o):
    """Update with the pose z at time t [s], and write the velocity and the stencil used into `o`; w holds 5 numbers."""
    status = add_sample(p, s, t, z, POINTS)
    o.status = status
    if status in (IGNORED, COASTING):
        return
    n = s.n if s.n < 3 else 3 if s.n < 5 else 5
    before = (o.velocity[0], o.velocity[1], o.velocity[2])
    o.stamp_s = s.stamp[0] if n > 0 else t
    gain = 0.0
    if n >= 2:
        derivative_weights(s.stamp, n, w)
        for j in range(n):
            gain += w[j] * w[j]
    for axis in range(3):
        # weights sum to zero: differences from the newest lose no digits
        o.velocity[axis] = 0.0
        for j in range(1, n):
            o.velocity[axis] += w[j] * (s.pose[j, axis] - s.pose[0, axis])
        o.acceleration[axis], o.sigma[axis] = math.nan, math.nan
        if n > 0:
            o.pose[axis] = s.pose[0, axis]
    if n < 2:
        o.status, o.scheme = RESET, ZERO
    elif is_plausible(p, s, math.sqrt(gain), before, o):
        o.status, o.scheme = VALID, n
    to_body(o)


@kernel
def run(parameters, state, stamps, poses, w, out):
    """Many samples in one call: stamps (n), poses (n, 3), estimates (n)."""
    p, s = parameters[0], state[0]
    for i in range(stamps.shape[0]):
        if i > 0:
            out[i] = out[i - 1]
        step(p, s, stamps[i], poses[i], w, out[i])
