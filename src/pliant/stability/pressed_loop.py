"""The whole loop of a law that presses on a surface, in one direction and discrete time: law, filter, servo, surface.

`tick_matrix` is one tick of it as a matrix, linearised about a steady contact. Its eigenvalues show whether it is
stable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.control.laws.stability_model import LinearLaw, Signals
from pliant.control.sense.external_wrench import smoothing
from pliant.stability.plant import Plant

Array = np.ndarray[Any, Any]

SUBSTEPS = 4
"""Steps of the plant within a tick."""
# Rounding may show an eigenvalue of 1, of a direction without a spring, as this much more.
_DUST = 1e-7


def tick_matrix(plant: Plant, stiffness: float, damping: float, law: LinearLaw) -> Array:
    """One tick of the loop as a matrix.

    The state is: command line, reference and its speed, depth and its speed, filtered force; then what the law
    remembers.
    """
    n = plant.transport
    state = np.eye(n + 5 + law.memory)
    line = [state[i] for i in range(n)]
    ref, ref_d, x, v, f_lp = (state[n + i] for i in range(5))
    # what the tick reads
    alpha, dt, h = float(smoothing(plant.cutoff_hz, plant.dt)), plant.dt, plant.dt / SUBSTEPS

    def pull(reference: Array, speed: Array, target: Array) -> Array:
        return plant.omega**2 * (target - reference) - 2 * plant.omega * speed

    def push(acc: Array) -> Array:
        force = stiffness * x + damping * v
        return acc + 2 * plant.joint_omega * (ref_d - v) + plant.joint_omega**2 * (ref - x) - force / plant.mass

    felt = stiffness * x + damping * v + plant.tool * push(pull(ref, ref_d, line[0]))
    f_new = f_lp + alpha * (felt - f_lp)
    v_cmd, memory = law.tick(Signals(f_new, f_lp, line[-1], x), [state[n + 5 + i] for i in range(law.memory)])
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


def arrival(
    free: Array, touching: Array, plant: Plant, surface: tuple[float, float], speed: float, own: Array
) -> float:
    """The largest force [N] in the second after a tool arrives at `speed` [m/s]; `own` is what the law remembers.

    `free` and `touching` are a tick without and with the surface, which has a stiffness [N/m] and a damping [N s/m].
    """
    n, dt = plant.transport, plant.dt
    x, v = n + 2, n + 3
    stiffness, damping = surface
    state, peak = np.zeros(len(free)), 0.0
    # the servo follows a steady motion late by its lag, and what is in transit is ahead of it
    state[:n] = 2.0 * speed / plant.omega + speed * dt * np.arange(n)
    state[[n + 1, v]] = speed
    state[n + 5 :] = own
    for _ in range(round(1.0 / dt)):
        state = (touching if state[x] >= 0.0 else free) @ state
        peak = max(peak, stiffness * state[x] + damping * state[v]) if state[x] >= 0.0 else peak
    return float(peak)


def growth(matrix: Array) -> float:
    """The largest eigenvalue magnitude: below 1 the loop is stable (1: without a spring it stays where it is)."""
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def border(stable: Callable[[float], bool], low: float, high: float) -> float:
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
