"""The whole loop of a law that presses on a surface, in one direction and discrete time: law, filter, servo, surface.

`tick_matrix` is one tick of it as a matrix, linearised about a steady contact. Its eigenvalues show whether it is
stable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.control.laws.stability_model import LinearLaw, Signals, Swing
from pliant.control.sense.external_wrench import smoothing
from pliant.stability.body import body_of
from pliant.stability.plant import Plant

Array = np.ndarray[Any, Any]

# Rounding may show an eigenvalue of 1, of a direction without a spring, as this much more.
_DUST = 1e-7


def tick_matrix(plant: Plant, stiffness: float, damping: float, law: LinearLaw) -> Array:
    """One tick of the loop as a matrix.

    The state is: command line, servo and arm, late readings of the sensor, filtered force; then what the law remembers.
    """
    body, n, late = body_of(plant, stiffness, damping), plant.transport, plant.late
    state = np.eye(n + len(body.over) + late + 1 + law.memory)
    line, z, rest = list(state[:n]), state[n : n + len(body.over)], list(state[n + len(body.over) :])
    readings, f_lp, memory = rest[:late], rest[late], rest[late + 1 :]
    # what the tick reads
    alpha, dt = float(smoothing(plant.cutoff_hz, plant.dt)), plant.dt
    felt, *readings = *readings, body.felt @ z + body.feed * line[0]
    f_new = f_lp + alpha * (felt - f_lp)
    v_cmd, memory = law.tick(Signals(f_new, f_lp, line[-1], body.seen @ z), memory)
    line.append(line[-1] + dt * v_cmd)
    z = body.over @ z + np.outer(body.before, line[0]) + np.outer(body.now, line[1])
    return np.array([*line[1:], *z, *readings, f_new, *memory])


def arrival(
    free: Array, touching: Array, plant: Plant, surface: tuple[float, float], speed: float, own: Array
) -> float:
    """The largest force [N] in the second after a tool arrives at `speed` [m/s]; `own` is what the law remembers.

    `free` and `touching` are a tick without and with the surface, which has a stiffness [N/m] and a damping [N s/m].
    """
    (stiffness, damping), n, dt = surface, plant.transport, plant.dt
    body = body_of(plant, stiffness, damping)
    first, last = n, n + len(body.over)
    state, peak = np.zeros(len(free)), 0.0
    # the servo follows a steady motion late by its lag, and what is in transit is ahead of it
    state[:n] = 2.0 * speed / plant.omega + speed * dt * np.arange(n)
    state[first:last] = speed * body.moving
    state[len(state) - len(own) :] = own
    for _ in range(round(1.0 / dt)):
        z = state[first:last]
        depth = float(body.depth @ z)
        peak = max(peak, stiffness * depth + damping * float(body.speed @ z)) if depth >= 0.0 else peak
        state = (touching if depth >= 0.0 else free) @ state
    return peak


def swing(matrix: Array, law: LinearLaw, dt: float) -> Swing:
    """The fastest growing mode of a tick of a law, whose memory comes last in the state, and before it the force."""
    values, vectors = np.linalg.eig(matrix)
    at = int(np.argmax(np.abs(values)))
    vector, force = vectors[:, at], len(matrix) - law.memory - 1
    return Swing(complex(np.log(complex(values[at]))) / dt, complex(vector[force]), vector[force + 1 :])


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
