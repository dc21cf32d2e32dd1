"""The force law: a speed into the surface from the force error.

    PI            v = kp e + I - w        İ = kp e / T_i + (v_done - v_asked) / T_b
    mass–damper   m v̇ + d v = e,  d = 1/kp,  m = d T;  then - w

e = f_target - f_n, and w is the observed speed of the surface. Against a spring k with the total lag T, v = kp e is
stable for kp k T < π/2 and does not overshoot up to 1/e ≈ 0.37. So the gain follows from the learned stiffness, or from
the stiffest declared surface until it is learned. Contact damping acts like more gain at high frequencies.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel

# Weight of the surface's damping beside stiffness × lag.
DAMPING_SHARE = 0.5
# Share of the gain at which the inertia of the tool alone would make it swing.
INERTIA_SHARE = 0.3
# Elastic gears let the arm swing, hardly damped, at the angular frequency ω. In a force loop with the lag T on a
# surface k, the swing appears with the gain SWING m ω/(k T) through the inertia m of the tool, which the sensor feels,
# and with SWAY/(ω T) through the surface. Two poles more in the filter of the force reduce that gain to 1.
SWING, SWAY = 12.0, 4.0
# The gain rises over so many lags, and falls at once.
RISE_LAGS = 1.0
# What a limit took from the speed is taken from the integral within so many lags.
BACK_LAGS = 2.0
# A first touch is firm at so many times the force that counts as contact.
FIRM = 2.0
# Share of the allowed peak that speed × stiffness × lag may make up: the rest is the time it takes to turn round.
APPROACH_SHARE = 0.9
# The way in that no force answers slows the tool down to its approach, over so many times what the softest surface
# needs to count as contact: a hand or an offset is no surface, and the real one may be close.
UNANSWERED = 3.0


@kernel
def lag(p, c):
    """The total lag [s] of the force as it is smoothed now."""
    return p.lag_s + 2.0 * c.soft_s


@kernel
def _smoothing_s(p, stiffness, mass):
    """Time constant [s] of each of the two poles that keep an elastic arm from swinging, on this `stiffness` [N/m]."""
    omega = 2.0 * math.pi * p.resonance_hz
    if omega <= 0.0:
        return 0.0
    # (1 + (ω τ)²) = (SWING m ω/k + SWAY/ω)/T
    swing = (SWING * mass * omega / stiffness + SWAY / omega) / p.lag_s
    return math.sqrt(max(0.0, swing - 1.0)) / omega


@kernel
def smooth(c, F, into, dt):
    """Smooth the force `F` [N] and the speed into the surface [m/s] alike; the result is in `c.soft` and `c.soft_v`."""
    share = dt / (c.soft_s + dt)
    for i in range(3):
        c.soft[i] += share * (F[i] - c.soft[i])
        c.soft[3 + i] += share * (c.soft[i] - c.soft[3 + i])
    c.soft_v[0] = into
    c.soft_v[1] += share * (into - c.soft_v[1])
    c.soft_v[2] += share * (c.soft_v[1] - c.soft_v[2])


@kernel
def approach_speed(p):
    """The largest approach speed [m/s] at which the peak force on the stiffest declared surface stays within peak_n."""
    # peak ≈ v k T
    return min(p.approach_m_s, APPROACH_SHARE * p.peak_n / (p.stiffness_max_n_m * p.lag_s))


@kernel
def tune(p, c, mass, dt):
    """Set smoothing and gain that stiffness, lag and the `mass` [kg] beyond the sensor allow."""
    rise = min(1.0, dt / (RISE_LAGS * p.lag_s))
    c.soft_s += rise * (_smoothing_s(p, c.bound, mass) - c.soft_s)
    total = lag(p, c)
    goal = p.margin / (total * c.bound + DAMPING_SHARE * c.damping)
    # v = -kp m v̇(t - T) swings by itself from kp m/T = 1 on
    goal = min(goal, INERTIA_SHARE * total / max(mass, 1e-3))
    share = rise if goal > c.gain else 1.0
    c.gain += share * (goal - c.gain)


@kernel
def begin(p, c):
    """Reset the force law at first touch: gain for the stiffest surface, no integral, no observed motion."""
    c.gain = p.margin / (p.lag_s * p.stiffness_max_n_m)
    c.integral, c.soft_s = 0.0, 0.0
    c.surface_v, c.surface_a = 0.0, 0.0


@kernel
def raise_target(p, c, dt):
    """Soft start: raise the target from the force at contact at a constant rate."""
    step = p.target_n * dt / p.soft_start_s if p.soft_start_s > 0.0 else p.target_n
    c.target_n += max(-step, min(step, p.target_n - c.target_n))


@kernel
def _integral_rate(p, c, e, done):
    """How fast the integral changes [m/s²]; `done` is what the limits left of the speed asked for a tick ago."""
    back = 1.0 / (BACK_LAGS * lag(p, c))
    if p.feed_forward != 0:
        return -back * c.integral  # what is fed forward needs none, and nothing may be left of one
    # on the way to the target there is nothing to integrate yet
    error = c.gain * e / (p.integral_lags * lag(p, c)) if c.following != 0 else 0.0
    return error + back * (done - c.asked)


@kernel
def fastest_inward(p, c):
    """The largest speed into the surface [m/s]; it rises with the certainty of contact.

    While contact is being lost it is at most the approach speed, so that the tool does not dive over an edge.
    """
    slow = min(p.press_m_s, approach_speed(p))
    if c.force_n < p.touch_n:
        return slow
    unanswered = c.sunk_m * p.stiffness_min_n_m / (UNANSWERED * p.touch_n)
    return slow + (p.press_m_s - slow) * max(0.0, 1.0 - unanswered)


@kernel
def press(p, c, done, dt):
    """The speed into the surface [m/s]; `done` is the speed that the limits allowed one tick ago."""
    e, fastest = c.target_n - c.force_n, p.press_m_s
    ahead = c.surface_v + lag(p, c) * c.surface_a if p.feed_forward != 0 else 0.0
    if p.law == 1:
        # (m + dt d) v⁺ = m v + dt e   with   m = d T
        own = c.integral + (c.gain * e - c.integral) * dt / (lag(p, c) + dt)
        c.integral = max(-fastest, min(fastest, own))
        c.damper_n = -c.integral / c.gain
        v = c.integral - ahead
    else:
        c.damper_n = 0.0
        c.integral += dt * _integral_rate(p, c, e, done)
        c.integral = max(-fastest, min(fastest, c.integral))
        v = c.gain * e + c.integral - ahead
    fastest_in = fastest_inward(p, c)
    if c.following == 0 and c.force_n < FIRM * p.touch_n:
        v = max(v, approach_speed(p))  # barely touched, on a soft surface perhaps: go on as before
    c.wanted = v
    c.asked = max(-fastest, min(fastest_in, v))
    return c.asked


@kernel
def give_way(p, c):
    """The speed [m/s] that only reduces a force above the target, for the stiffest declared surface."""
    return max(-p.press_m_s, min(0.0, p.margin / (p.lag_s * p.stiffness_max_n_m) * (p.target_n - c.force_n)))


@kernel
def braked(way, acceleration):
    """The largest speed [m/s] from which the tool can stop within `way` [m]."""
    return math.sqrt(2.0 * acceleration * max(0.0, way))
