"""How much of the measured force is normal, and how much noise it has.

    F = N n - µ N t        |F| = N √(1 + µ²)        N = share |F|,   share → F·n̂ / |F|   over a way of s along the path

While the tool slides, the force loop holds share × |F|, not F·n̂. Friction µ N makes F·n̂ depend on the believed normal:
an error δ of n̂ changes it by µ N sin δ, the loop then changes the true depth, and that looks like a slope, which turns
n̂ further. |F| does not depend on n̂, and the share follows slowly, over s = 0.5 mm + 0.3 µ N/k; its change counts as no
slope either. Before the slide nothing separates friction from a slope, and N is F·n̂. What leans further than the
largest friction is a hand, and not part of |F|. Nor is |F| used while a hand pushes across the path: the normal is
frozen then, so F·n̂ cannot run away, and a hand changes |F| but not F·n̂.
"""

from __future__ import annotations

import math

from pliant.control.laws.contact.contact_states import DONE, FAULT, IDLE, PAUSED, READY, SLIDE
from pliant.control.laws.contact.vectors import dot, size
from pliant.kernel import fill, kernel

# The largest friction coefficient that is believed. The normal share of the force is then 1/√2, so the tool is never
# pressed with more than √2 times what is asked for.
FRICTION_MOST = 1.0
# Until the tool has slid so many times what friction shifts the surface, µ N/k, and this way [m], the surface may still
# stick to it: friction grows, and |F| with it, which says nothing of the slope.
STICK_TIMES, STICK_M = 1.2, 5e-5
# The share follows over this way [m], and over so many times what friction shifts the surface, µ N/k.
SHARE_M, SHARE_TIMES = 0.0005, 0.3
# A total force above so many times the target (and so many times the noise) for this time [s] is a fault.
OVER, OVER_SIGMAS, OVER_S = 3.0, 4.0, 0.5
# Friction has no component across the path, so a force that leans that way further than this many times the declared
# slope is a push, and says nothing of the normal. No declared slope allows more than this [rad].
LEEWAY, MOST_SLOPE = 1.5, 1.2
# Noise and zero are means over this time [s], and count once they were looked at for so long.
FREE_S, LEAST_FREE_S = 0.5, 0.05


@kernel
def begin(p, c):
    """Forget noise and zero: nothing has been measured yet."""
    fill(c.zero, 0.0)
    c.free_n2, c.noise_n, c.share = 0.0, p.noise_n, 1.0


@kernel
def hang(p, c, F, alpha, dt):
    """While the tool hangs free, measure noise and mean of the low-passed force `F`."""
    if c.state not in (IDLE, READY, DONE, FAULT) or c.since_s < LEAST_FREE_S:
        for i in range(3):
            c.free[i] = F[i] if c.state in (IDLE, READY) else c.free[i]
        return
    share = dt / min(FREE_S, max(dt, c.since_s - LEAST_FREE_S + dt))
    spread = 0.0
    for i in range(3):
        off = F[i] - c.free[i]
        c.free[i] += share * off
        spread += off * off / 3.0
    c.free_n2 += share * (spread - c.free_n2)
    # what the low-pass leaves of one sample's noise: σ² α/(2 - α)
    c.noise_n = max(p.noise_n, min(p.preload_n, math.sqrt(c.free_n2 * (2.0 - alpha) / alpha)))


@kernel
def aside(F, along):
    """The part of the force `F` across the normal, as far as friction explains it; `along` is the part along it."""
    return min(FRICTION_MOST * max(0.0, along), math.sqrt(max(0.0, dot(F, F) - along * along)))


@kernel
def most_aside(p):
    """How far a force may lean across the path, as a share of the normal force: as far as the declared slope allows."""
    return math.tan(min(MOST_SLOPE, LEEWAY * p.slope_deg * math.pi / 180.0))


@kernel
def is_pushed(p, c, F, along):
    """Whether the force `F`, `along` the normal [N], leans across the path further than a slope explains."""
    n, w = c.normal, c.way
    bx, by, bz = n[1] * w[2] - n[2] * w[1], n[2] * w[0] - n[0] * w[2], n[0] * w[1] - n[1] * w[0]
    return abs(F[0] * bx + F[1] * by + F[2] * bz) > most_aside(p) * max(0.0, along) * size(w)


@kernel
def sticks(c, across):
    """Whether the surface may still stick to the tool, under a force of `across` [N] across the normal."""
    return c.travelled_m < STICK_M + STICK_TIMES * across / c.stiffness


@kernel
def measure(p, c, F, speed, dt):
    """Set `c.force_n` from the force `F`, at this sliding `speed` [m/s]; returns its rate without that of the share."""
    along, whole = dot(F, c.normal), size(F)
    across = aside(F, along)
    total = math.hypot(along, across)
    before_n, before, before_along = c.force_n, c.felt_n, c.along_n
    c.total_n, c.felt_n, c.along_n = whole, total, along
    sliding = c.state == SLIDE or (c.state == PAUSED and c.before == SLIDE)
    if not sliding or along < p.touch_n:
        c.share = along / total if along > 0.0 else 1.0
        c.force_n = along
        return (along - before_n) / dt
    if is_pushed(p, c, F, along):
        c.force_n = along
        return (along - before_along) / dt
    way = SHARE_M + SHARE_TIMES * across / c.stiffness
    c.share += min(1.0, speed * dt / way) * (along / total - c.share)
    c.force_n = c.share * total
    return (along - before_along) / dt if sticks(c, across) else c.share * (total - before) / dt


@kernel
def mind_the_total(p, c, dt):
    """Add up the time for which the total force is far above the target: no friction explains that."""
    most = OVER * max(p.target_n, c.target_n) + OVER_SIGMAS * c.noise_n
    c.over_s = c.over_s + dt if c.total_n > most else 0.0


@kernel
def is_over(c):
    """Whether the total force has been far above the target for too long."""
    return c.over_s > OVER_S
