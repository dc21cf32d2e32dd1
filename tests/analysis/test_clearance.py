"""How near a base comes to what stands around it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pliant.analysis.clearance import FAR_M, Clearance
from pliant.mobile.base.base_params import Footprint
from pliant.mobile.planning.grid import OccupancyGrid, grid_of

CELL = 0.05
BODY = Footprint(front_m=0.5, rear_m=0.3, width_m=0.6)


def room() -> OccupancyGrid:
    """A free room of 10 × 8 m with one pillar, from (6, 4) to (6.2, 4.2)."""
    blocked = np.zeros((160, 200), bool)
    blocked[80:84, 120:124] = True
    return grid_of(blocked, CELL)


@pytest.mark.parametrize(
    ("pose", "gap"),
    [
        ((5.0, 4.1, 0.0), 0.5),
        ((5.0, 4.1, math.pi), 0.7),
        ((6.1, 3.0, 0.0), 0.7),
        ((6.1, 3.0, math.pi / 2), 0.5),
        ((5.0, 3.0, 0.0), math.hypot(0.5, 0.7)),
        ((2.0, 0.6, 0.0), 0.3),
    ],
)
def test_the_gap_is_that_between_footprint_and_nearest_cell(pose: tuple[float, float, float], gap: float) -> None:
    (found,) = Clearance(room(), BODY).at(np.array([pose]))
    assert found == pytest.approx(gap, abs=0.5 * CELL)


def test_what_touches_has_none_and_what_is_far_is_not_looked_at() -> None:
    touching, far = Clearance(room(), BODY).at(np.array([[6.0, 4.1, 0.4], [3.5, 4.0, 0.0]]))
    assert touching == 0.0
    assert far == pytest.approx(FAR_M, abs=0.5 * CELL)


def test_unknown_cells_count_unless_they_are_free() -> None:
    cells = np.zeros((100, 100), np.int8)
    cells[:, 60:] = -1
    grid, pose = OccupancyGrid(cells, CELL), np.array([[2.0, 2.5, 0.0]])
    assert Clearance(grid, BODY).at(pose)[0] == pytest.approx(0.5, abs=0.5 * CELL)
    assert Clearance(grid, BODY, unknown_is_free=True).at(pose)[0] > 1.4


def test_a_pose_that_is_no_number_does_not_stop_the_rest() -> None:
    gaps = Clearance(room(), BODY).at(np.array([[math.nan, 1.0, 0.0], [5.0, 4.1, 0.0]]))
    assert gaps[1] == pytest.approx(0.5, abs=0.5 * CELL)
