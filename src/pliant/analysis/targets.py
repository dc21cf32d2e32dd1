"""Figures: a measured value and the target it must meet, and the outcome that collects them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, SupportsFloat


@dataclass(frozen=True)
class Figure:
    """One measured value and its target, which is empty for a value that is only reported."""

    name: str
    """What was measured."""
    value: float
    """The measured value."""
    unit: str = ""
    """Its unit."""
    target: str = ""
    """The target as text, such as ≤ 5."""
    met: bool = True
    """Whether the value meets its target."""
    or_more: bool = False
    """Whether the true value may be larger: the search for it ended here."""

    def as_dict(self) -> dict[str, Any]:
        """Its part of the JSON object that ``--json`` prints."""
        value = self.value if math.isfinite(self.value) else None
        return {"name": self.name, "value": value, "unit": self.unit, "target": self.target, "met": self.met}


def at_most(name: str, value: SupportsFloat, unit: str, target: float) -> Figure:
    """A value that must not exceed `target`; NaN never meets it."""
    return Figure(name, float(value), unit, f"≤ {target:g}", bool(float(value) <= target))


def at_least(name: str, value: SupportsFloat, unit: str, target: float) -> Figure:
    """A value that must reach `target`."""
    return Figure(name, float(value), unit, f"≥ {target:g}", bool(float(value) >= target))


def within(name: str, value: SupportsFloat, unit: str, target: float, tolerance: float) -> Figure:
    """A value that must lie within `tolerance` of `target`."""
    return Figure(
        name, float(value), unit, f"{target:.4g} ± {tolerance:.3g}", bool(abs(float(value) - target) <= tolerance)
    )


def reported(name: str, value: SupportsFloat, unit: str = "") -> Figure:
    """A value without a target."""
    return Figure(name, float(value), unit)


@dataclass(frozen=True)
class Outcome:
    """The result of an experiment or a benchmark."""

    name: str
    """Name of the experiment or benchmark."""
    seed: int
    """Seed of its random numbers."""
    seconds: float
    """How long it took [s]."""
    figures: list[Figure]
    """What was measured, with targets."""
    notes: list[str] = field(default_factory=list)
    """Sentences for the user, such as what could not be measured."""
    draw: Callable[[Path], None] | None = None
    """Draws the picture, for experiments that have one."""
    table: list[dict[str, Any]] = field(default_factory=list)
    """The data behind the figures, if it is too long to list there; part of the JSON object."""

    @property
    def passed(self) -> bool:
        """Whether every target is met."""
        return all(figure.met for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """The JSON object that ``--json`` prints."""
        more = {"notes": self.notes, "table": self.table}
        return {
            "name": self.name,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "figures": [figure.as_dict() for figure in self.figures],
            "passed": self.passed,
            **{name: rows for name, rows in more.items() if rows},
        }
