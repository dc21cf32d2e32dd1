"""The admittance as it responds to a surface: a linear model for the check of its stability."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pliant.control.laws.gains import target
from pliant.control.laws.stability_model import Array, LinearLaw, Memory, Pressing, Signals, StabilityModel
from pliant.control.parameters import Parameters, record_of
from pliant.spatial import quat_rotate_inv


@lru_cache(maxsize=16)
def _gains(parameters: Parameters, dt: float) -> tuple[Array, Array, Array, Array]:
    """M, D and K, and the inverse of M + dt D + dt² K."""
    M, D, K = target(record_of(parameters)[0].admittance, dt)
    return M, D, K, np.linalg.inv(M + dt * D + dt * dt * K)


def response(press: Pressing) -> LinearLaw:
    """The virtual mass, pressed along one direction; it remembers its velocity and its pose error."""
    M, _, K, inverse = _gains(press.parameters, press.dt)
    dt, into = press.dt, press.into.copy()
    if press.parameters.admittance.frame == "tool":
        quat_rotate_inv(press.pose[3:], press.into, into)
    inward = np.concatenate([into, np.zeros(3)])
    feels = press.gain * np.array(press.parameters.admittance.axes, float) * inward

    def tick(now: Signals, memory: Memory) -> tuple[Array, Memory]:
        moving, off = np.array(memory[:6]), np.array(memory[6:])
        # (M + dt D + dt² K) v⁺ = M v + dt (F - K e),   F = -f n
        moving = inverse @ (M @ moving - dt * K @ off - dt * np.outer(feels, now.force))
        return inward @ moving, [*moving, *(off + dt * moving)]

    return LinearLaw(tick, 12, lambda speed: np.concatenate([speed * inward, np.zeros(6)]))


STABILITY = StabilityModel(
    response,
    title="admittance",
    remedy="Raise admittance.mass and damping, or use the law contact.",
    is_advice=True,
)
