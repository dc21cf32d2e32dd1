"""Clearance of a base: the distance from the edge of its footprint to the nearest blocked cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.ndimage import binary_erosion
from scipy.spatial import KDTree

from pliant.mobile.base.base_params import Footprint
from pliant.mobile.planning.grid import OccupancyGrid

Array = np.ndarray[Any, Any]

FAR_M = 2.0
"""The search radius; larger distances are reported as this."""


class Clearance:
    """Free space around a footprint on a map; the footprint's margin is not included."""

    def __init__(self, grid: OccupancyGrid, body: Footprint, *, unknown_is_free: bool = False) -> None:
        blocked = np.pad(grid.blocked(unknown_is_free=unknown_is_free), 1, constant_values=True)
        # only a cell at the edge of a blocked region can be nearest
        inside = np.asarray(binary_erosion(blocked, np.ones((3, 3))), bool)
        rows, columns = np.nonzero(blocked & ~inside)
        cell, (x, y) = grid.resolution_m, grid.origin
        self._half = 0.5 * cell
        self._cells = np.column_stack([x + (columns - 0.5) * cell, y + (rows - 0.5) * cell])
        self._tree = KDTree(self._cells)
        self._box = -body.rear_m, body.front_m, 0.5 * body.width_m
        self._reach = FAR_M + math.hypot(max(body.front_m, body.rear_m), 0.5 * body.width_m)

    def at(self, poses: Array) -> Array:
        """Clearance [m] at each base pose (n, 3), at most FAR_M, accurate to half a cell; 0 at contact."""
        near = self._tree.query_ball_point(np.nan_to_num(poses[:, :2]), self._reach)
        return np.array([self._one(pose, self._cells[found]) for pose, found in zip(poses, near, strict=True)])

    def _one(self, pose: Array, cells: Array) -> float:
        if not len(cells):
            return FAR_M
        c, s = math.cos(pose[2]), math.sin(pose[2])
        dx, dy = (cells - pose[:2]).T
        along, across = c * dx + s * dy, np.abs(c * dy - s * dx)
        rear, front, side = self._box
        gap = np.hypot(np.maximum(np.maximum(rear - along, along - front), 0.0), np.maximum(across - side, 0.0))
        return float(np.clip(gap.min() - self._half, 0.0, FAR_M))
