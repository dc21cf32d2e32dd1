"""Braking: the largest speed from which a stop is possible, and the stopping distance."""

from __future__ import annotations

import math

from pliant.kernel import kernel


@kernel
def braking_speed(distance, accel, dt):
    """The largest speed from which `accel` still stops within `distance`, in whole ticks of dt.

    v dt + v²/(2a) ≤ d   gives   v = a dt (√(1 + 2 d/(a dt²)) - 1); the current step counts, so nothing overshoots.
    """
    if distance <= 0.0:
        return 0.0
    step = accel * dt
    return step * (math.sqrt(1.0 + 2.0 * distance / (step * dt)) - 1.0)


@kernel
def rest_span(ticks, dt):
    """The stopping distance, this tick included, as the time it would take at the speed of this tick.

    All joints lose the same fraction of their speed in each tick: N + (N - 1) + (N - 2) + … of N parts, for N `ticks`.
    """
    whole = math.floor(ticks)
    return dt * (whole + 1.0) * (ticks - 0.5 * whole) / ticks if ticks > 1.0 else dt


@kernel
def ticks_to_rest(p, h, qd, dt):
    """Ticks until the slowest-braking joint stops, from joint velocities `qd` [rad/s]."""
    most = 0.0
    for i in range(h.n):
        most = max(most, abs(qd[i]) / h.a_max[i])
    return most / (p.acceleration_scale * dt)


@kernel
def rest_span_of(p, h, qd, dt):
    """`rest_span` of an arm at joint velocities `qd` [rad/s]."""
    return rest_span(ticks_to_rest(p, h, qd, dt), dt)
