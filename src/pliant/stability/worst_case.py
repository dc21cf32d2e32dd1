"""The surfaces on which a law may press, each judged in the worst case of what is not declared.

Stiffness: the declared range. Damping: from zero, unless the task declares it for a simulated surface. Lag: from that
of the model to the one that the contact law declares. Direction: all that the surface allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.control.laws.gains import target
from pliant.control.parameters import Parameters, record_of
from pliant.spatial import quat_rotate_inv
from pliant.stability.contact_loop import arrival, border, comply_matrix, gain_for, growth, is_stable, loop_matrix
from pliant.stability.plant import Plant, plants_of
from pliant.task.schema import Task, arm_of
from pliant.world.surface_kind import Surface

Array = np.ndarray[Any, Any]

LEAST_MARGIN = 1.5
"""The loop must be stable with this many times the gain."""
MOST_MARGIN = 100.0
"""The gain margin is searched no further than this."""
DAMPINGS = (0.0, 50.0)
"""Range of the damping [N s/m] of a surface that does not declare it; soft tissue and foam have 3 to 60."""
ASSUMED_N_M = (100.0, 1000.0)
"""Stiffness [N/m] assumed for an admittance whose task declares no surface: a hand on the tool, or a soft part."""
POINTS = 5
_LEAST = 1e-4
# What is declared as the stiffest surface is also checked this much softer.
_SOFTER = 30.0
_AXES = np.eye(3)


@dataclass(frozen=True)
class Place:
    """One surface that a law may press on; `bears(n)` is True if the loop is stable with n times the gain."""

    law: str
    stiffness: float
    known: float
    """The stiffness that the law assumes [N/m]."""
    bears: Callable[[float], bool]
    growth: Callable[[], float]
    """Factor by which the fastest mode grows within a total lag; below 1 the loop is stable."""
    hit: Callable[[float], float] | None = None
    """For an admittance: the peak force [N] if the tool arrives at a speed [m/s]."""

    @property
    def stands(self) -> bool:
        return self.bears(1.0) and self.bears(LEAST_MARGIN)

    @cached_property
    def margin(self) -> float:
        """Gain margin, from 10⁻⁴ to 100."""
        up = border(self.bears, 1.0, MOST_MARGIN)
        down = border(self.bears, _LEAST, 1.0) if math.isnan(up) else up
        return _LEAST if math.isnan(down) else down

    @property
    def badness(self) -> float:
        """How far it is from the least margin, which is 1; an unstable loop is worse the faster it grows."""
        # an unstable loop has no one margin: observed motion grows by itself, whatever the gain
        return LEAST_MARGIN / self.margin if self.bears(1.0) else LEAST_MARGIN * max(1.0, self.growth())


# ---- the contact law -----------------------------------------------------------------------------------------------


def range_of(task: Task, parameters: Parameters) -> list[float]:
    """Stiffnesses [N/m] over the range declared for the contact law, and simulated ones outside it."""
    p = parameters.contact
    declared = [float(k) for k in np.geomspace(p.stiffness_min_n_m, p.stiffness_max_n_m, POINTS)]
    there = {max(one.stiffness_n_m, one.stiffness_end_n_m) for one in task.sim.surfaces}
    return declared + sorted(k for k in there if not p.stiffness_min_n_m <= k <= p.stiffness_max_n_m)


def pressing(task: Task, parameters: Parameters, assume: bool = False) -> Iterator[Place]:
    """The surfaces of the contact law; its range of stiffness is always declared, so nothing is assumed."""
    p, plants = parameters.contact, plants_of(task, parameters)
    for stiffness in range_of(task, parameters):
        # the law learns no stiffness beyond the declared ones
        known = min(max(stiffness, p.stiffness_min_n_m), p.stiffness_max_n_m)
        yield Place("contact", stiffness, known, *_all_pressing(p, plants(stiffness), stiffness, known))


def _all_pressing(
    p: Any, plant: Plant, stiffness: float, known: float
) -> tuple[Callable[[float], bool], Callable[[], float]]:
    """Whether it is stable with every damping and lag from the model's to the declared one, and how fast it grows."""
    lags = [plant] if p.lag_s <= plant.lag_s else [plant, plant.with_lag(p.lag_s)]
    cases = [(one, damping, gain_for(p, one, known, damping)) for one in lags for damping in DAMPINGS]

    def bears(times: float) -> bool:
        return all(is_stable(loop_matrix(p, one, stiffness, d, times * gain, known)) for one, d, gain in cases)

    def grows() -> float:
        ticks = ((one, loop_matrix(p, one, stiffness, d, gain, known)) for one, d, gain in cases)
        return max(growth(tick) ** (one.lag_s / one.dt) for one, tick in ticks)

    return bears, grows


# ---- the admittance ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pressed:
    """What an admittance may press on: stiffness [N/m], possible dampings [N s/m], inward direction (base frame)."""

    stiffness: float
    dampings: tuple[float, ...]
    into: Array


def has_surface(task: Task) -> bool:
    """Whether the task declares a surface for an admittance."""
    return task.surface_n_m > 0.0 or bool(task.sim.surfaces)


def complying(task: Task, parameters: Parameters, assume: bool = False) -> Iterator[Place]:
    """The surfaces of an admittance; `assume` adds those of `ASSUMED_N_M` if the task declares none."""
    for one in _surfaces(task, assume):
        loop = _Complying(task, parameters, one.into)
        yield Place("admittance", one.stiffness, one.stiffness, loop.bears(one), loop.grows(one), loop.hit(one))


def stiffest(task: Task, parameters: Parameters) -> float:
    """The stiffest surface [N/m] on which the admittance is stable in every direction; NaN if there is none."""
    along = {tuple(one.into): _Complying(task, parameters, one.into) for one in _surfaces(task, assume=True)}

    def stable(stiffness: float) -> bool:
        return all(loop.bears(_Pressed(stiffness, DAMPINGS, loop.into))(1.0) for loop in along.values())

    return border(stable, 1.0, 1e7)


class _Complying:
    """The loop of an admittance that presses along one direction [`into`, base frame]."""

    def __init__(self, task: Task, parameters: Parameters, into: Array) -> None:
        self.into, inward = into, into.copy()
        if parameters.admittance.frame == "tool":
            arm = arm_of(task)
            quat_rotate_inv(arm.pose(np.array(task.start_q or arm.q_home, float))[3:], into, inward)
        self._inward, self._plants = inward, plants_of(task, parameters, into)
        self._gains = target(record_of(parameters)[0].admittance, task.dt)
        self._feels = np.array(parameters.admittance.axes, float)

    def _tick(self, stiffness: float, damping: float, times: float = 1.0) -> Array:
        plant = self._plants(stiffness)
        return comply_matrix(self._gains, times * self._feels, self._inward, plant, stiffness, damping)

    def bears(self, one: _Pressed) -> Callable[[float], bool]:
        """Whether the loop is stable with every damping of a surface, with a multiple of the gain."""
        return lambda times: all(is_stable(self._tick(one.stiffness, d, times)) for d in one.dampings)

    def grows(self, one: _Pressed) -> Callable[[], float]:
        """The factor by which the fastest mode grows within a total lag, with any damping of a surface."""

        def grows() -> float:
            plant = self._plants(one.stiffness)
            return max(growth(self._tick(one.stiffness, d)) for d in one.dampings) ** (plant.lag_s / plant.dt)

        return grows

    def hit(self, one: _Pressed) -> Callable[[float], float]:
        """The peak force [N] if the tool arrives at a speed [m/s] and nothing but the surface acts on it."""

        def peak(speed: float) -> float:
            free, plant = self._tick(0.0, 0.0), self._plants(one.stiffness)
            moving = np.concatenate([speed * self._inward, np.zeros(9)])
            cases = ((self._tick(one.stiffness, d), d) for d in one.dampings)
            return max(arrival(free, tick, plant, one.stiffness, d, speed, moving) for tick, d in cases)

        return peak


def _surfaces(task: Task, assume: bool) -> Iterator[_Pressed]:
    """The surfaces that the task declares for an admittance, or, if there are none, the assumed ones."""
    if task.surface_n_m > 0.0:
        yield from _any_direction(task.surface_n_m / _SOFTER, task.surface_n_m)
        return
    for surface in task.sim.surfaces:
        dampings = (surface.damping_n_s_m,) if "damping_n_s_m" in surface.model_fields_set else DAMPINGS
        stiffness = {surface.stiffness_n_m, surface.stiffness_end_n_m or surface.stiffness_n_m}
        for axis in type(surface).its_kind.pressed_along:
            yield from (_Pressed(k, dampings, -_turned(surface, np.array(axis))) for k in sorted(stiffness))
    if assume and not task.sim.surfaces:
        yield from _any_direction(*ASSUMED_N_M)


def _any_direction(low: float, high: float) -> Iterator[_Pressed]:
    for stiffness in np.geomspace(low, high, 3):
        yield from (_Pressed(float(stiffness), DAMPINGS, -axis) for axis in _AXES)


def _turned(surface: Surface, axis: Array) -> Array:
    """An axis of the surface in the base frame."""
    r, p, y = np.radians(surface.rpy_deg)
    cr, sr, cp, sp, cy, sy = math.cos(r), math.sin(r), math.cos(p), math.sin(p), math.cos(y), math.sin(y)
    R = np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip
    return R @ axis
