"""Random maps for the planner: long walls with gaps, clutter, and an office with doors and furniture."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.mobile.planning.free_space import distance_at
from pliant.mobile.planning.grid import OccupancyGrid, grid_of
from pliant.mobile.planning.planner import HybridAStar

Array = np.ndarray[Any, Any]

SIZE_M, CELL_M = 40.0, 0.1
DOOR_M = 1.2


def _empty() -> Array:
    n = round(SIZE_M / CELL_M)
    cells = np.zeros((n, n), bool)
    cells[:2] = cells[-2:] = cells[:, :2] = cells[:, -2:] = True
    return cells


def _box(cells: Array, x: float, y: float, width: float, height: float, value: bool = True) -> None:
    i, j = max(0, round(x / CELL_M)), max(0, round(y / CELL_M))
    cells[j : max(j, round((y + height) / CELL_M)), i : max(i, round((x + width) / CELL_M))] = value


def walls(seed: int) -> OccupancyGrid:
    """Seven walls from side to side, each with a gap of 2 m at a random position."""
    random, cells = np.random.default_rng([1, seed]), _empty()
    for k in range(7):
        x = 5.0 * (k + 1)
        _box(cells, x, 0.0, 0.3, SIZE_M)
        _box(cells, x, random.uniform(1.0, SIZE_M - 3.0), 0.3, 2.0, False)
    return grid_of(cells, CELL_M, name="walls")


def clutter(seed: int) -> OccupancyGrid:
    """Boxes of random size and position."""
    random, cells = np.random.default_rng([2, seed]), _empty()
    for _ in range(220):
        width, height = random.uniform(0.2, 1.8, 2)
        x, y = random.uniform(0.5, SIZE_M - 2.5, 2)
        _box(cells, x, y, width, height)
    return grid_of(cells, CELL_M, name="clutter")


def office(seed: int) -> OccupancyGrid:
    """Rooms of 5 m on both sides of corridors, doors of 1.2 m, four random pieces of furniture in every room.

    The first 0.8 m behind a door are free. Two more corridors lie between the blocks; every second room has a second
    door to them.
    """
    random, cells = np.random.default_rng([3, seed]), _empty()
    for bottom in (0.0, 14.0, 28.0):
        for y in (bottom, bottom + 5.0, bottom + 7.0, bottom + 12.0):
            _box(cells, 0.0, y - 0.1, SIZE_M, 0.2)
        for k in range(8):
            for y, door in ((bottom, bottom + 5.0), (bottom + 7.0, bottom + 7.0)):
                _box(cells, 5.0 * k, y, 0.2, 5.0)
                _furniture(cells, random, 5.0 * k, y)
                _door(cells, random, 5.0 * k, door)
    for y in (12.0, 14.0, 26.0, 28.0):
        for k in random.choice(8, 4, replace=False):
            _door(cells, random, 5.0 * k, y)
    return grid_of(cells, CELL_M, name="office")


def _door(cells: Array, random: np.random.Generator, x: float, y: float) -> None:
    _box(cells, x + random.uniform(0.5, 5.0 - 0.5 - DOOR_M), y - 0.9, DOOR_M, 1.8, False)


def _furniture(cells: Array, random: np.random.Generator, x: float, y: float) -> None:
    for _ in range(4):
        width, height = random.uniform(0.4, 1.6), random.uniform(0.4, 0.9)
        if random.uniform() < 0.5:
            width, height = height, width
        _box(cells, x + random.uniform(0.4, 4.6 - width), y + random.uniform(0.4, 4.6 - height), width, height)


MAPS = {"walls": walls, "clutter": clutter, "office": office}


def queries(planner: HybridAStar, seed: int, n: int, *, roomy: bool = False) -> list[tuple[Array, Array]]:
    """Pairs of free poses of the base (`roomy`: with room to turn), whether or not a path connects them."""
    random, found = np.random.default_rng([4, seed]), []
    while len(found) < 2 * n:
        pose = np.array([*random.uniform(0.0, SIZE_M, 2), random.uniform(-np.pi, np.pi)])
        needed = planner.space.about[0].surely_free if roomy else 0.0
        if planner.free(pose) and distance_at(planner.space, pose[0], pose[1]) >= needed:
            found.append(pose)
    return [(found[2 * k], found[2 * k + 1]) for k in range(n)]
