"""The cells of the base-velocity table: a known motion, sampled with noise, jitter, rounding and faults."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.mobile.base.base_params import BaseVelocity

Array = np.ndarray[Any, Any]

SECONDS, SKIPPED_S = 24.0, 1.0
RATES = (10, 50, 500)
NOISES_MM = (0.0, 0.1, 1.0)
JITTERS = ("none", "late sample", "late stamp")
STEPS_MM = (0.0, 1.0)
FAULTS = ("none", "outliers", "NaN", "duplicates", "gap", "new path")
SIGNALS = ("sine", "trapezoid", "heading")

JITTER = 0.2  # of the period, to both sides
SPEED, ACCELERATION, CRUISE_S, REST_S = 0.5, 0.8, 1.4, 0.6
OUTLIER, SHARE = 0.05, 0.01
GAP_S, JUMP_M = 1.5, 0.5


@dataclass(frozen=True)
class Cell:
    """One combination of sampling conditions."""

    rate_hz: int
    noise_mm: float
    jitter: str
    step_mm: float
    fault: str

    @property
    def clean(self) -> bool:
        return self.noise_mm == 0 and self.jitter == "none" and self.step_mm == 0 and self.fault == "none"

    @property
    def settings(self) -> BaseVelocity:
        """What a user would declare: noise and rounding of the sensor, and the kind of its time stamps."""
        noise, step = self.noise_mm * 1e-3, self.step_mm * 1e-3
        kind = "late" if self.jitter == "late stamp" else "true"
        return BaseVelocity(noise_m=noise, noise_rad=noise, step_m=step, step_rad=step, stamps=kind)


def cells() -> list[Cell]:
    """All cells: rates × noises × jitters × rounding × faults."""
    return [Cell(*each) for each in itertools.product(RATES, NOISES_MM, JITTERS, STEPS_MM, FAULTS)]


def motion(t: Array) -> tuple[Array, Array]:
    """True pose (n, 3) and velocity (n, 3): a sine of 0.25 Hz and 0.3 m, a trapezoid, a turning heading."""
    w, turn = 2 * math.pi * 0.25, 2 * math.pi * 0.2
    y, vy = _trapezoid(t)
    pose = np.stack([0.3 * np.sin(w * t), y, 3.0 + 1.2 * np.sin(turn * t)], 1)
    return pose, np.stack([0.3 * w * np.cos(w * t), vy, 1.2 * turn * np.cos(turn * t)], 1)


def _trapezoid(t: Array) -> tuple[Array, Array]:
    """Position and velocity of a drive to and fro: accelerate, cruise, brake, rest, and back."""
    ramp = SPEED / ACCELERATION
    half = 2 * ramp + CRUISE_S + REST_S
    u = np.mod(t, half)
    sign = np.where(np.mod(np.floor(t / half), 2) == 0, 1.0, -1.0)
    v = np.minimum(SPEED, np.minimum(ACCELERATION * u, ACCELERATION * (2 * ramp + CRUISE_S - u)))
    v = np.maximum(v, 0.0)
    way = SPEED * (ramp + CRUISE_S)
    rising = np.where(u < ramp, 0.5 * ACCELERATION * u**2, SPEED * (u - 0.5 * ramp))
    left = np.maximum(2 * ramp + CRUISE_S - u, 0.0)
    y = np.where(left < ramp, way - 0.5 * ACCELERATION * left**2, rising)
    return np.where(sign > 0, y, way - y), sign * v


@dataclass(frozen=True)
class Samples:
    """The input of an estimator, its true result, and the samples that count."""

    stamps: Array
    poses: Array
    velocity: Array
    counted: Array


def sample(cell: Cell, random: np.random.Generator) -> Samples:
    """The motion as sampled in this cell."""
    h = 1.0 / cell.rate_hz
    regular = np.arange(round(SECONDS * cell.rate_hz)) * h
    wobble = random.uniform(-JITTER * h, JITTER * h, len(regular))
    taken = regular + wobble if cell.jitter == "late sample" else regular
    stamps = regular + wobble if cell.jitter == "late stamp" else taken.copy()
    poses, velocity = motion(taken)
    poses = poses + random.normal(size=poses.shape) * cell.noise_mm * 1e-3
    if cell.step_mm:
        poses = np.round(poses / (cell.step_mm * 1e-3)) * cell.step_mm * 1e-3
    stamps, poses, velocity = _spoil(cell, stamps, poses, velocity, random)
    poses[:, 2] = np.mod(poses[:, 2] + math.pi, 2 * math.pi) - math.pi
    return Samples(stamps, poses, velocity, stamps - stamps[0] > SKIPPED_S)


def _spoil(
    cell: Cell, stamps: Array, poses: Array, velocity: Array, random: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Put the faults of the cell in."""
    n, later = len(stamps), round(SKIPPED_S * cell.rate_hz)
    if cell.fault in ("outliers", "NaN"):
        hit = random.choice(np.arange(later, n), round(SHARE * n), replace=False)
        poses[hit] += OUTLIER * random.choice([-1.0, 1.0], size=(len(hit), 3))
    if cell.fault == "NaN":
        poses[random.choice(np.arange(later, n), round(SHARE * n), replace=False)] = np.nan
    elif cell.fault == "duplicates":
        twice = np.sort(np.concatenate([np.arange(n), np.flatnonzero(random.uniform(size=n) < 0.05)]))
        return stamps[twice], poses[twice], velocity[twice]
    elif cell.fault == "gap":
        t = np.arange(n) / cell.rate_hz
        stay = (t < 0.5 * SECONDS) | (t > 0.5 * SECONDS + GAP_S)
        return stamps[stay], poses[stay], velocity[stay]
    elif cell.fault == "new path":
        poses[n // 2 :, :2] += JUMP_M
    return stamps, poses, velocity
