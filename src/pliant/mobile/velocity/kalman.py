"""Velocity of a base by a Kalman filter: constant acceleration between samples, one filter each for x, y and heading.

    x = (p, v, a)    p⁺ = p + v dt + a dt²/2    v⁺ = v + a dt    a⁺ = a + noise of density q
    z = p + noise of variance r                 r = σ² + step²/12 + (v σ_t)²

dt is the true time between two stamps. A sample farther from the prediction than `gate` standard deviations, and than a
sudden acceleration √q explains, is rejected. After `most_rejected` rejections in a row the next sample is accepted,
because then the base has moved. Over missing or invalid samples the filter predicts, for `gap_s` at most. With late
stamps dt is a whole number of periods, so the delay of a single stamp has no effect.
"""

from __future__ import annotations

import math

from pliant.kernel import fill, kernel, put
from pliant.mobile.velocity.estimate import COASTING, IGNORED, KALMAN, LEAST_DT, LOST, RESET, VALID, to_body, wrapped
from pliant.mobile.velocity.stamps import STAMPS, clear, regular
from pliant.records import Field, Layout

# Standard deviation that even a perfect sensor is given: rounding of the computer, and a finite filter.
FLOOR = 1e-6

KALMAN_STATE = Layout(
    "BaseKalman",
    (
        Field("started", "", "0 before the first sample", kind="i8"),
        Field("rejected", "", "consecutive outliers", kind="i8"),
        Field("backward", "", "consecutive stamps from the past", kind="i8"),
        Field("raw_s", "s", "last stamp as received"),
        Field("heard_s", "s", "stamp of the last finite sample"),
        Field("stamp_s", "s", "time of the state"),
        Field("x", "", "position, velocity, acceleration of x, y, heading", (3, 3)),
        Field("P", "", "their covariance", (3, 3, 3)),
        Field("held", "m, m, rad", "last rejected sample", (3,)),
        Field("held_s", "s", "its time"),
        Field("stamps", "", "the stamps so far, if they are late", kind=STAMPS),
    ),
)


@kernel
def step(p, s, t, z, o):
    """Update with the pose z (x, y, heading) at time t [s], and write the estimate into `o`."""
    finite = math.isfinite(z[0]) and math.isfinite(z[1]) and math.isfinite(z[2])
    if not math.isfinite(t):
        o.status = IGNORED
        return
    gone = t - s.raw_s
    if s.started == 1 and -p.gap_s < gone < LEAST_DT:
        s.backward = s.backward + 1 if gone < -LEAST_DT else s.backward
        if s.backward <= p.most_rejected:
            o.status = IGNORED
            return
    s.backward = 0
    s.raw_s = t
    if s.started == 0 or t - s.heard_s > p.gap_s or gone < LEAST_DT:
        clear(s.stamps)
        s.started = 0
        o.status = LOST
        if not finite:
            o.stamp_s = t
            fill(o.velocity, 0.0)
            fill(o.acceleration, 0.0)
            fill(o.sigma, math.nan)
            o.v, o.lateral, o.omega = 0.0, 0.0, 0.0
            return
        s.heard_s = t
        _begin(p, s, regular(s.stamps, t) if p.stamps == 1 else t, z)
        o.status = RESET
    else:
        s.heard_s = t if finite else s.heard_s
        before = s.stamp_s
        s.stamp_s = regular(s.stamps, t) if p.stamps == 1 else t
        d = s.stamps.step_s if p.stamps == 1 else t - before
        _advance(p, s, max(LEAST_DT, d))
        known = s.stamps.off_s == 0.0 or s.stamps.anew == 1
        o.status = _weigh(p, s, z, max(LEAST_DT, d)) if finite and known else COASTING
    _write_estimate(s, o)


@kernel
def _variance(p, s, axis):
    """Variance of a sample: noise, rounding, and a motion that goes on while the time is not quite known."""
    noise, grid = (p.noise_rad, p.step_rad) if axis == 2 else (p.noise_m, p.step_m)
    still = noise**2 + grid**2 / 12.0
    return max(still, FLOOR * FLOOR) + (s.x[axis, 1] * s.stamps.sigma_s) ** 2


@kernel
def _begin(p, s, t, z):
    """Start from one sample: nothing is known of velocity and acceleration but what is thought possible."""
    s.started, s.rejected, s.stamp_s = 1, 0, t
    fill(s.x, 0.0)
    s.P[:] = 0.0
    for axis in range(3):
        s.x[axis, 0] = z[axis]
        speed = p.most_speed_rad_s if axis == 2 else p.most_speed_m_s
        s.P[axis, 0, 0] = _variance(p, s, axis)
        s.P[axis, 1, 1] = speed * speed
        # what an agility q lets the acceleration become in a second
        s.P[axis, 2, 2] = p.agility_rad2_s5 if axis == 2 else p.agility_m2_s5


@kernel
def _advance(p, s, d):
    """Predict by a time d [s]: x⁺ = F x, P⁺ = F P Fᵀ + Q."""
    for axis in range(3):
        x, P = s.x[axis], s.P[axis]
        q = p.agility_rad2_s5 if axis == 2 else p.agility_m2_s5
        x[0] += d * (x[1] + 0.5 * d * x[2])
        x[1] += d * x[2]
        # F P: rows 0 and 1 take from the rows below; then the same with columns for (F P) Fᵀ
        for j in range(3):
            P[0, j] += d * (P[1, j] + 0.5 * d * P[2, j])
            P[1, j] += d * P[2, j]
        for i in range(3):
            P[i, 0] += d * (P[i, 1] + 0.5 * d * P[i, 2])
            P[i, 1] += d * P[i, 2]
        P[0, 0] += q * d**5 / 20.0
        P[0, 1] += q * d**4 / 8.0
        P[0, 2] += q * d**3 / 6.0
        P[1, 1] += q * d**3 / 3.0
        P[1, 2] += q * d * d / 2.0
        P[2, 2] += q * d
        P[1, 0], P[2, 0], P[2, 1] = P[0, 1], P[0, 2], P[1, 2]
        if s.stamps.anew == 1:
            # the times before were off by so much
            P[0, 0] += (x[1] * s.stamps.off_s) ** 2


@kernel
def _weigh(p, s, z, d):
    """Correct by a sample, or leave it out as an outlier; returns what became of it."""
    turn = wrapped(z[2] - s.x[2, 0])
    if _is_outlier(p, s, z[0] - s.x[0, 0], z[1] - s.x[1, 0], turn, d):
        if s.rejected < p.most_rejected:
            s.rejected += 1
            put(s.held, z)
            s.held_s = s.stamp_s
            return COASTING
        _restart(p, s, z)
        return RESET
    s.rejected = 0
    _correct(p, s, z)
    return VALID


@kernel
def _is_outlier(p, s, dx, dy, turn, d):
    for axis in range(3):
        away = dx if axis == 0 else dy if axis == 1 else turn
        # noise of density q stands for accelerations that change at once, by √q when they do so once a second
        sudden = 0.5 * math.sqrt(p.agility_rad2_s5 if axis == 2 else p.agility_m2_s5) * d * d
        most = p.most_speed_rad_s if axis == 2 else p.most_speed_m_s
        r = _variance(p, s, axis)
        far = sudden + p.gate * math.sqrt(s.P[axis, 0, 0] + r)
        if s.P[axis, 1, 1] >= most * most:
            # nothing is known of the speed yet, but that it has a limit
            far = min(far, math.sqrt(s.P[axis, 0, 0]) + 2.0 * p.gate * math.sqrt(r))
        if abs(away) > far:
            return True
    return False


@kernel
def _restart(p, s, z):
    """Start from the sample before, if it fits the same motion: then the velocity is known at once."""
    t, passed = s.stamp_s, s.stamp_s - s.held_s
    way = math.hypot(z[0] - s.held[0], z[1] - s.held[1])
    if s.rejected > 0 and passed > LEAST_DT and way <= p.most_speed_m_s * passed + 2.0 * p.gate * p.noise_m:
        _begin(p, s, t, s.held)
        _advance(p, s, passed)
        _correct(p, s, z)
    else:
        _begin(p, s, t, z)


@kernel
def _correct(p, s, z):
    """x⁺ = x + K (z - p), P⁺ = (I - K H) P, K = P Hᵀ / (P_pp + r)."""
    for axis in range(3):
        x, P = s.x[axis], s.P[axis]
        away = wrapped(z[2] - x[0]) if axis == 2 else z[axis] - x[0]
        total = P[0, 0] + _variance(p, s, axis)
        k0, k1, k2 = P[0, 0] / total, P[1, 0] / total, P[2, 0] / total
        x[0] += k0 * away
        x[1] += k1 * away
        x[2] += k2 * away
        a, b, c = P[0, 0], P[0, 1], P[0, 2]
        P[0, 0], P[0, 1], P[0, 2] = a - k0 * a, b - k0 * b, c - k0 * c
        P[1, 1], P[1, 2] = P[1, 1] - k1 * b, P[1, 2] - k1 * c
        P[2, 2] -= k2 * c
        P[1, 0], P[2, 0], P[2, 1] = P[0, 1], P[0, 2], P[1, 2]


@kernel
def _write_estimate(s, o):
    """The state in the words of an estimate."""
    o.stamp_s, o.scheme = s.stamp_s, KALMAN
    for axis in range(3):
        o.pose[axis], o.velocity[axis], o.acceleration[axis] = s.x[axis, 0], s.x[axis, 1], s.x[axis, 2]
        o.sigma[axis] = math.sqrt(max(0.0, s.P[axis, 1, 1]) + (s.x[axis, 1] * s.stamps.slack) ** 2)
    to_body(o)


@kernel
def run(parameters, state, stamps, poses, out):
    """Many samples in one call: stamps (n), poses (n, 3), estimates (n)."""
    p, s = parameters[0], state[0]
    for i in range(stamps.shape[0]):
        if i > 0:
            out[i] = out[i - 1]
        step(p, s, stamps[i], poses[i], out[i])
