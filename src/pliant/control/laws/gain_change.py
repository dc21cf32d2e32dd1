"""Gain changes while a law runs: ramped, and limited by an energy tank.

Changed gains take effect over `ramp_s`. A stiffer spring or a heavier mass holds more energy for the same stretch and
speed. That energy comes from a tank, which only the damper refills. An empty tank pauses the change.
"""

from __future__ import annotations

from pliant.kernel import kernel


@kernel
def _energy_per_ramp(g, v, e):
    """What the whole change would add to ½ vᵀ M v + ½ eᵀ K e at the present speed and stretch [J]."""
    total = 0.0
    for i in range(6):
        for j in range(6):
            total += 0.5 * v[i] * (g.M1[i, j] - g.M0[i, j]) * v[j]
            total += 0.5 * e[i] * (g.K1[i, j] - g.K0[i, j]) * e[j]
    return total


@kernel
def advance_change(p, g, s, v, e, dt):
    """Advance a gain change by one step, as fast as `ramp_s` and the energy tank allow."""
    step = min(dt / p.ramp_s, 1.0 - s.ramp)
    price = _energy_per_ramp(g, v, e)
    if step * price > s.tank_j:
        step = s.tank_j / price
    s.ramp = min(1.0, s.ramp + step)
    if 1.0 - s.ramp < 1e-12:
        s.ramp = 1.0
    paid = max(0.0, step * price)
    s.tank_j = max(0.0, s.tank_j - paid)
    s.injected_j += paid


@kernel
def refill(p, s, D, v, dt):
    """Refill the tank with the energy that the damper dissipates in a tick of dt [s] at velocity v."""
    lost = 0.0
    for i in range(6):
        for j in range(6):
            lost += dt * v[i] * D[i, j] * v[j]
    # even a tank of no size passes on what was just taken: a change may be slow, but it is never refused for ever
    s.tank_j = max(lost, min(p.tank_j, s.tank_j + lost))


@kernel
def blend(a, b, share, out):
    """Interpolate the gains from `a` to `b` by the fraction `share`."""
    for i in range(6):
        for j in range(6):
            out[i, j] = a[i, j] + share * (b[i, j] - a[i, j])
