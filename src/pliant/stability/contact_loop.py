"""The whole contact loop in one direction, in discrete time: law, filter, transport, servo, arm, surface.

`loop_matrix` is one tick of the contact law's loop as a matrix, linearised about a settled contact: its eigenvalues
show whether it is stable, and its margins in gain and stiffness. `comply_matrix` is the same for an admittance that
presses on a surface. (`stability.first_touch` runs the contact law's own code against the same model.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.force_law import DAMPING_SHARE, INERTIA_SHARE
from pliant.control.laws.contact.surface_estimate import FOLLOW_LAGS, QUIET
from pliant.control.laws.contact.tool_motion import BETWEEN_TICKS, CORRECT_S, LEAST_TICKS
from pliant.control.sense.external_wrench import smoothing
from pliant.stability.plant import Plant

Array = np.ndarray[Any, Any]

SUBSTEPS = 4
# Rounding may show an eigenvalue of 1, of a direction without a spring, as this much more.
_DUST = 1e-7


def gain_for(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """The gain [m/(N s)] that the law uses on a known surface."""
    return min(
        p.margin / (p.lag_s * stiffness + DAMPING_SHARE * damping), INERTIA_SHARE * p.lag_s / max(plant.tool, 1e-3)
    )


# ---- stable or not -------------------------------------------------------------------------------------------------


Law = Callable[[Array, Array, Array, Array, list[Array]], tuple[Array, list[Array]]]
"""(filtered force before and now, commanded and measured position, memory) → (speed into the surface, memory)."""


def _tick_matrix(plant: Plant, stiffness: float, damping: float, own: int, law: Law) -> Array:
    """One tick of the loop as a matrix, closed by a law that remembers `own` numbers.

    The state is: command line, reference and its speed, depth and its speed, filtered force; then the law's.
    """
    n = plant.transport
    state = np.eye(n + 5 + own)
    line = [state[i] for i in range(n)]
    ref, ref_d, x, v, f_lp = (state[n + i] for i in range(5))
    # what the tick reads
    alpha, dt, h = float(smoothing(plant.cutoff_hz, plant.dt)), plant.dt, plant.dt / SUBSTEPS

    def pull(reference: Array, speed: Array, target: Array) -> Array:
        return plant.omega**2 * (target - reference) - 2 * plant.omega * speed

    def push(acc: Array) -> Array:
        force = stiffness * x + damping * v
        return acc + 2 * plant.hold * (ref_d - v) + plant.hold**2 * (ref - x) - force / plant.mass

    felt = stiffness * x + damping * v + plant.tool * push(pull(ref, ref_d, line[0]))
    f_new = f_lp + alpha * (felt - f_lp)
    v_cmd, memory = law(f_lp, f_new, line[-1], x, [state[n + 5 + i] for i in range(own)])
    line.append(line[-1] + dt * v_cmd)
    before, now = line[0], line[1]
    for j in range(SUBSTEPS):
        acc = pull(ref, ref_d, before + (now - before) * (j / SUBSTEPS))
        up = push(acc)
        ref_d = ref_d + h * acc
        ref = ref + h * ref_d
        v = v + h * up
        x = x + h * v
    return np.array([*line[1:], ref, ref_d, x, v, f_new, *memory])


def loop_matrix(p: Contact, plant: Plant, stiffness: float, damping: float, gain: float, known: float) -> Array:
    """One tick of the contact law's loop, for a surface whose stiffness it assumes to be `known` [N/m].

    The law's state is its integral or the speed of its virtual mass; the observed motion of the tool (explained
    position and its speed, what it is off, filtered speed); and, if it feeds that forward, of the surface (speed,
    acceleration).
    """
    dt, alpha = plant.dt, float(smoothing(plant.cutoff_hz, plant.dt))
    theta = math.exp(-dt / (FOLLOW_LAGS * p.lag_s + p.noise_n / (known * QUIET)))
    lag = max(LEAST_TICKS * dt, p.lag_s - (1 - alpha) / alpha * dt - BETWEEN_TICKS * dt)

    def law(f_lp: Array, f: Array, commanded: Array, x: Array, memory: list[Array]) -> tuple[Array, list[Array]]:
        *moved, v_lp = memory[1:5]
        moved, speed = observed(moved, commanded, x, lag, dt)
        v = v_lp + alpha * (speed - v_lp)
        ahead, seen = 0.0 * f, memory[5:]
        if p.feed_forward == "surface":
            off = ((f - f_lp) - damping * (v - v_lp)) / (dt * known) - v - seen[0] - dt * seen[1]
            seen = [seen[0] + dt * seen[1] + (1 - theta * theta) * off, seen[1] + (1 - theta) ** 2 / dt * off]
            ahead = seen[0] + p.lag_s * seen[1]
        if p.law == "mass":  # (m + dt d) v⁺ = m v + dt e   with   e = -f about the target
            own = memory[0] + (-gain * f - memory[0]) * dt / (p.lag_s + dt)
            return own - ahead, [own, *moved, v, *seen]
        own = memory[0] - dt * gain / (p.integral_lags * p.lag_s) * f if p.feed_forward == "none" else 0.0 * f
        return own - gain * f - ahead, [own, *moved, v, *seen]

    return _tick_matrix(plant, stiffness, damping, 7 if p.feed_forward == "surface" else 5, law)


def observed(moved: list[Array], commanded: Array, x: Array, lag: float, dt: float) -> tuple[list[Array], Array]:
    """One tick of the law's observer of the tool's motion (`tool_motion`): its memory and the observed speed."""
    y, rate, off = moved
    omega = 2.0 / lag
    rate = (rate + dt * omega**2 * (commanded - y)) / (1.0 + omega * dt) ** 2
    y = y + dt * rate
    step = dt / CORRECT_S * (x - y - off)
    return [y, rate, off + step], rate + step / dt


def comply_matrix(
    gains: tuple[Array, Array, Array], feels: Array, into: Array, plant: Plant, stiffness: float, damping: float
) -> Array:
    """One tick of an admittance with `gains` (M, D, K) that presses `into` (unit vector, law's axes) a surface.

    `feels` has a number for each of the six directions: the share of the wrench that the law receives.
    """
    M, D, K = gains
    dt, inward = plant.dt, np.concatenate([into, np.zeros(3)])
    inverse = np.linalg.inv(M + dt * D + dt * dt * K)

    def law(f_lp: Array, f: Array, commanded: Array, x: Array, memory: list[Array]) -> tuple[Array, list[Array]]:
        moving, off = np.array(memory[:6]), np.array(memory[6:])
        # (M + dt D + dt² K) v⁺ = M v + dt (F - K e),   F = -f n
        moving = inverse @ (M @ moving - dt * K @ off - dt * np.outer(feels * inward, f))
        return inward @ moving, [*moving, *(off + dt * moving)]

    return _tick_matrix(plant, stiffness, damping, 12, law)


def arrival(
    free: Array, touching: Array, plant: Plant, stiffness: float, damping: float, speed: float, own: Array
) -> float:
    """The largest force [N] in the second after a tool arrives at `speed` [m/s]; `own` is what the law remembers.

    `free` and `touching` are a tick without and with the surface.
    """
    n, dt = plant.transport, plant.dt
    x, v = n + 2, n + 3
    state, peak = np.zeros(len(free)), 0.0
    # the servo follows a steady motion late by its lag, and what is in transit is ahead of it
    state[:n] = 2.0 * speed / plant.omega + speed * dt * np.arange(n)
    state[[n + 1, v, n + 5]] = speed
    state[n + 5 :] = own
    for _ in range(round(1.0 / dt)):
        state = (touching if state[x] >= 0.0 else free) @ state
        peak = max(peak, stiffness * state[x] + damping * state[v]) if state[x] >= 0.0 else peak
    return float(peak)


def growth(matrix: Array) -> float:
    """The largest eigenvalue magnitude: below 1 the loop is stable (1: without a spring it stays where it is)."""
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def border(stable: Any, low: float, high: float) -> float:
    """The largest number up to which `stable(number)` holds, between two numbers [by bisection in the logarithm]."""
    if not stable(low):
        return math.nan
    if stable(high):
        return high
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if stable(middle) else (low, middle)
    return low


def is_stable(matrix: Array) -> bool:
    """Whether no mode grows."""
    return growth(matrix) < 1.0 + _DUST


def gain_margin(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """The gain margin of the loop (at most 100); NaN if it is unstable already."""
    gain = gain_for(p, plant, stiffness, damping)

    def stable(times: float) -> bool:
        return is_stable(loop_matrix(p, plant, stiffness, damping, times * gain, stiffness))

    return border(stable, 1.0, 100.0)


def largest_stiffness(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """The stiffest surface [N/m] on which the gain for `stiffness` is still stable."""
    gain = gain_for(p, plant, stiffness, damping)

    def stable(actual: float) -> bool:
        return is_stable(loop_matrix(p, plant, actual, damping, gain, stiffness))

    return border(stable, stiffness, 1e3 * stiffness)
