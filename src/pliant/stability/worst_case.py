"""The surfaces on which a law may press, each judged in the worst case of what is not declared.

Stiffness: the declared range. Damping: from zero, unless the task declares it for a simulated surface. Lag: from that
of the model to the one that the law declares. Direction: all that the surface allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.control.laws.law import Law
from pliant.control.laws.registry import LAWS
from pliant.control.laws.stability_model import LinearLaw, Pressing, StabilityModel
from pliant.control.parameters import Parameters
from pliant.errors import PliantError, RejectedError
from pliant.stability.body import apparent_stiffness
from pliant.stability.plant import Plant, built_arm, plants_of, tool_axis
from pliant.stability.pressed_loop import arrival, border, growth, is_stable, swing, tick_matrix
from pliant.task.schema import Task
from pliant.world.surface_kind import Surface

Array = np.ndarray[Any, Any]

LEAST_MARGIN = 1.5
"""The loop must be stable with this many times the gain."""
MOST_MARGIN = 100.0
"""The gain margin is searched no further than this."""
MOST_STIFF = 1e7
"""The stiffest surface is searched no further than this [N/m]."""
DAMPINGS = (0.0, 50.0)
"""Range of the damping [N s/m] of a surface that does not declare it; soft tissue and foam have 3 to 60."""
ASSUMED_N_M = (100.0, 1000.0)
"""Stiffness [N/m] assumed for a law whose task declares no surface: a hand on the tool, or a soft part."""
POINTS = 5
_LEAST = 1e-4
# A law that learns from its oscillations does so at most so many times, each time as much as the last one shows.
_LESSONS = 8
# Steps in which the stiffest surface is searched before its border is narrowed down.
_STEPS = 12
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
    """The peak force [N] if the tool arrives at a speed [m/s]; None for a law that slows down before."""

    @property
    def stands(self) -> bool:
        """Whether the gain margin is large enough."""
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


@dataclass(frozen=True)
class _Pressed:
    """What a law may press on: stiffness [N/m], possible dampings [N s/m], inward direction (base frame)."""

    stiffness: float
    dampings: tuple[float, ...]
    into: Array


# ---- the loop of a law ---------------------------------------------------------------------------------------------


def places(task: Task, parameters: Parameters, law: str, *, assume: bool = False) -> Iterator[Place]:
    """Every surface on which this law may press, in the worst case; empty for a law without a stability model.

    `assume` adds a default range of stiffness if the task declares no surface and the law no range of its own.
    """
    if law in LAWS and LAWS[law].stability is not None:
        loops = Loops(task, parameters, LAWS[law])
        yield from map(loops.place, loops.surfaces(assume))


def stiffnesses(task: Task, parameters: Parameters, law: Law) -> list[float]:
    """Stiffnesses [N/m] over the range that the law declares, and simulated ones outside it."""
    low, high = _declared_range(law, parameters) or (0.0, math.inf)
    declared = [float(k) for k in np.geomspace(low, high, POINTS)] if low > 0.0 else []
    there = {max(one.stiffness_n_m, one.stiffness_end_n_m) for one in task.sim.surfaces}
    return declared + sorted(k for k in there if not low <= k <= high)


def stiffest(task: Task, parameters: Parameters, law: str) -> float:
    """The stiffest surface [N/m] up to which the law is stable in every direction, from the softest that it declares.

    NaN if it is not stable there; a law that declares no range begins at 1 N/m.
    """
    loops = Loops(task, parameters, LAWS[law])
    along = {tuple(one.into): one.into for one in loops.surfaces(assume=True)}
    low, _ = _declared_range(LAWS[law], parameters) or (1.0, math.inf)

    def stable(stiffness: float) -> bool:
        return all(loops.place(_Pressed(stiffness, DAMPINGS, into)).bears(1.0) for into in along.values())

    steps = np.geomspace(low, MOST_STIFF, _STEPS)
    return border(stable, low, next((float(k) for k in steps if not stable(float(k))), MOST_STIFF))


class Loops:
    """The loops of a law with a stability model, one for each surface and direction in which it presses."""

    def __init__(self, task: Task, parameters: Parameters, law: Law) -> None:
        self._task, self._parameters, self._law = task, parameters, law
        self._plants: dict[tuple[float, ...], Callable[[float], Plant]] = {}

    @cached_property
    def _pose(self) -> Array:
        """The tool at the start."""
        arm = built_arm(self._task)
        return arm.pose(np.array(self._task.start_q or arm.q_home, float))

    @property
    def model(self) -> StabilityModel:
        """The stability model of the law."""
        assert self._law.stability is not None
        return self._law.stability

    def surfaces(self, assume: bool) -> Iterator[_Pressed]:
        """The surfaces of the law's own range, along the tool's axis; else those of the task."""
        if self.model.stiffness_range is None:
            yield from _surfaces(self._task, assume)
            return
        into = tool_axis(self._pose)
        yield from (_Pressed(k, DAMPINGS, into) for k in stiffnesses(self._task, self._parameters, self._law))

    def place(self, one: _Pressed) -> Place:
        """The loop on a surface, with every damping that it may have and every lag from the model's to the declared."""
        plant = self._plant(one)
        known = self._known(plant, one.stiffness)
        declared_s = declared_lag(self._law, self._parameters)
        plants = [plant] if declared_s <= plant.lag_s else [plant, plant.with_lag(declared_s)]
        press = Pressing(self._parameters, self._task.dt, self._task.tool.mass_kg, known, 0.0, one.into, self._pose)
        cases = [(each, damping) for each in plants for damping in one.dampings]

        def tick(each: Plant, damping: float, times: float = 1.0) -> Array:
            return self._settled(each, (one.stiffness, damping), replace(press, damping=damping, gain=times))

        def bears(times: float) -> bool:
            return all(is_stable(tick(each, damping, times)) for each, damping in cases)

        def grows() -> float:
            return max(growth(tick(each, damping)) ** (each.lag_s / each.dt) for each, damping in cases)

        def hit(speed: float) -> float:
            return max(self._arrival(plant, (one.stiffness, d), replace(press, damping=d), speed) for d in one.dampings)

        predicted = self._tick(plant, (one.stiffness, 0.0), press)[1].moving is not None
        return Place(self._law.name, one.stiffness, known, bears, grows, hit if predicted else None)

    def _plant(self, one: _Pressed) -> Plant:
        along = tuple(one.into.tolist())
        if along not in self._plants:
            self._plants[along] = plants_of(self._task, self._parameters, one.into)
        return self._plants[along](one.stiffness)

    def _known(self, plant: Plant, stiffness: float) -> float:
        """The stiffness that a law with a range assumes: that of surface and gears together, within the range."""
        declared = _declared_range(self._law, self._parameters)
        if declared is None:
            return stiffness
        low, high = declared
        return min(max(apparent_stiffness(plant, stiffness), low), high)

    def _settled(self, plant: Plant, surface: tuple[float, float], case: Pressing) -> Array:
        """A tick of the loop once the law has learned what its own oscillation shows, if it oscillates at all."""
        tick, law = self._tick(plant, surface, case)
        for _ in range(_LESSONS):
            if self.model.learn is None or is_stable(tick):
                break
            learned = self.model.learn(case, swing(tick, law, plant.dt))
            if (learned.stiffness, learned.damping) == (case.stiffness, case.damping):
                break
            case = learned
            tick, law = self._tick(plant, surface, case)
        return tick

    def _arrival(self, plant: Plant, surface: tuple[float, float], case: Pressing, speed: float) -> float:
        """The peak force [N] if the tool arrives at a speed [m/s] and nothing but the surface acts on it."""
        tick, law = self._tick(plant, surface, case)
        assert law.moving is not None
        free, _ = self._tick(plant, (0.0, 0.0), replace(case, damping=0.0))
        return arrival(free, tick, plant, surface, speed, law.moving(speed))

    def _tick(self, plant: Plant, surface: tuple[float, float], case: Pressing) -> tuple[Array, LinearLaw]:
        try:
            law = self.model.response(case)
            tick = np.array(tick_matrix(plant, *surface, law), float)
            if not np.isfinite(tick).all():
                raise ValueError("a number is not finite")
        except Exception as error:
            if isinstance(error, PliantError) or not self._law.is_own:
                raise
            what = f"{type(error).__name__}: {error}".rstrip(". ")
            raise RejectedError(
                f"The stability model of the law {self._law.name} failed ({what}). Correct it, or leave it out.",
                field="law",
                value=self._law.name,
            ) from error
        return tick, law


def declared_lag(law: Law, parameters: Parameters) -> float:
    """The total lag that a law assumes [s]; 0 if it assumes none."""
    lag = law.stability.lag if law.stability is not None else ""
    return float(getattr(getattr(parameters, law.section), lag)) if lag else 0.0


def _declared_range(law: Law, parameters: Parameters) -> tuple[float, float] | None:
    names = law.stability.stiffness_range if law.stability is not None else None
    if names is None:
        return None
    low, high = (float(getattr(getattr(parameters, law.section), name)) for name in names)
    return low, high


# ---- the surfaces of a task ----------------------------------------------------------------------------------------


def has_surface(task: Task) -> bool:
    """Whether the task declares a surface."""
    return task.surface_n_m > 0.0 or bool(task.sim.surfaces)


def _surfaces(task: Task, assume: bool) -> Iterator[_Pressed]:
    """The surfaces that the task declares, or, if there are none, the assumed ones."""
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
