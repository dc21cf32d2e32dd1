"""Figures: a measured value beside the bar it must meet, and the outcome that collects them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, SupportsFloat


@dataclass(frozen=True)
class Figure:
    """One measured value. `bar` is what it must meet, in words; empty for a value that is only told."""

    name: str
    value: float
    unit: str = ""
    bar: str = ""
    holds: bool = True

    def as_dict(self) -> dict[str, Any]:
        value = self.value if math.isfinite(self.value) else None
        return {"name": self.name, "value": value, "unit": self.unit, "bar": self.bar, "holds": self.holds}


def at_most(name: str, value: SupportsFloat, unit: str, bar: float) -> Figure:
    """A value that must not exceed `bar`. Not a number holds nothing."""
    return Figure(name, float(value), unit, f"≤ {bar:g}", bool(float(value) <= bar))


def at_least(name: str, value: SupportsFloat, unit: str, bar: float) -> Figure:
    """A value that must reach `bar`."""
    return Figure(name, float(value), unit, f"≥ {bar:g}", bool(float(value) >= bar))


def within(name: str, value: SupportsFloat, unit: str, target: float, tolerance: float) -> Figure:
    """A value that must lie within `tolerance` of `target`."""
    return Figure(
        name, float(value), unit, f"{target:.4g} ± {tolerance:.3g}", bool(abs(float(value) - target) <= tolerance)
    )


def told(name: str, value: SupportsFloat, unit: str = "") -> Figure:
    """A value without a bar."""
    return Figure(name, float(value), unit)


@dataclass(frozen=True)
class Outcome:
    """What an experiment or a benchmark found."""

    name: str
    seed: int
    seconds: float
    figures: list[Figure]
    notes: list[str] = field(default_factory=list)
    draw: Callable[[Path], None] | None = None
    """Makes the picture, if there is one."""
    table: list[dict[str, Any]] = field(default_factory=list)
    """Rows behind the figures, where there are too many to be figures; part of the JSON object."""

    @property
    def holds(self) -> bool:
        return all(figure.holds for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """The one JSON object that ``--json`` prints."""
        more = {"notes": self.notes, "table": self.table}
        return {
            "name": self.name,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "figures": [figure.as_dict() for figure in self.figures],
            "holds": self.holds,
            **{name: rows for name, rows in more.items() if rows},
        }
