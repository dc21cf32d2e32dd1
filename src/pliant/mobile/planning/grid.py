"""A map: which cells of a plane are free, occupied or unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import InputError

Array = np.ndarray[Any, Any]

UNKNOWN, FREE, OCCUPIED = -1, 0, 100
LETHAL = 65
"""Occupancy [%] at or above which a cell is an obstacle."""
MOST_CELLS = 100_000_000


@dataclass(frozen=True)
class OccupancyGrid:
    """Occupancy in percent (-1: unknown), as in ROS: row 0 is at the smallest y, column 0 at the smallest x."""

    occupancy: Array
    """The cells [%]: rows along y, columns along x."""
    resolution_m: float
    """Cell size."""
    origin: tuple[float, float] = (0.0, 0.0)
    """Lower left corner of the lower left cell [m]."""
    name: str = "map"
    """Name for messages."""

    def __post_init__(self) -> None:
        cells = np.asarray(self.occupancy)
        if cells.ndim != 2 or 0 in cells.shape or cells.size > MOST_CELLS:
            raise InputError("the map", cells.shape, f"a table of 1 to {MOST_CELLS:.0e} cells with rows and columns")
        if not (math.isfinite(self.resolution_m) and 1e-4 <= self.resolution_m <= 10):
            raise InputError("resolution", self.resolution_m, "a cell size from 0.0001 to 10 m")
        if len(self.origin) != 2 or not all(math.isfinite(value) for value in self.origin):
            raise InputError("origin", self.origin, "two finite numbers: x and y [m] of the lower left corner")

    @property
    def size_m(self) -> tuple[float, float]:
        """Width and height [m]."""
        rows, columns = self.occupancy.shape
        return columns * self.resolution_m, rows * self.resolution_m

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom, top [m]."""
        (x, y), (width, height) = self.origin, self.size_m
        return x, x + width, y, y + height

    def blocked(self, *, unknown_is_free: bool = False) -> Array:
        """The cells that the base must not cover."""
        cells = np.asarray(self.occupancy)
        solid = cells >= LETHAL
        return solid if unknown_is_free else solid | (cells < 0)


def grid_of(blocked: Array, resolution_m: float, origin: tuple[float, float] = (0.0, 0.0), name: str = "map") -> Any:
    """A grid from flags: true is occupied, row 0 at the smallest y."""
    cells = np.where(np.asarray(blocked, bool), OCCUPIED, FREE).astype(np.int8)
    return OccupancyGrid(cells, resolution_m, origin, name)
