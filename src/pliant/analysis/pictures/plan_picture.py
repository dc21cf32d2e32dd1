"""A planned path as a picture and as data."""

from __future__ import annotations

import math
from pathlib import Path as File
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from pliant.analysis.pictures import style
from pliant.mobile.base.base_params import Footprint
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.mobile.planning.planner import Plan

FOOTPRINT_EVERY_M = 0.6


def as_dict(plan: Plan, goal: tuple[float, float, float]) -> dict[str, Any]:
    """What ``--json`` prints."""
    path = plan.path
    arcs = [
        {"curvature_1_m": float(k), "length_m": float(abs(s)), "direction": 1 if s > 0 else -1} for k, s in path.arcs
    ]
    x, y, heading = path.end
    return {
        "length_m": path.length_m,
        "backward_m": path.backward_m,
        "cusps": path.cusps,
        "cost_m": plan.cost_m,
        "expanded": plan.expanded,
        "goal_error_m": math.hypot(x - goal[0], y - goal[1]),
        "goal_error_deg": abs(math.degrees(math.remainder(heading - goal[2], math.tau))),
        "start": list(path.start),
        "arcs": arcs,
    }


def changes(path: Path) -> str:
    """The number of changes of direction, as text."""
    return "1 change of direction" if path.cusps == 1 else f"{path.cusps} changes of direction"


def corners(body: Footprint, pose: Any) -> np.ndarray[Any, Any]:
    """The four corners of a footprint at a pose."""
    f, r, w = body.front_m, body.rear_m, body.width_m / 2
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return np.array([[f, w], [f, -w], [-r, -w], [-r, w]]) @ np.array([[c, s], [-s, c]]) + np.asarray(pose[:2])


def draw_map(ax: Axes, grid: OccupancyGrid, theme: style.Theme) -> None:
    """A map from above: obstacles dark, unknown cells grey."""
    cells = np.asarray(grid.occupancy, float)
    shade = np.where(cells < 0, 0.25, np.clip(cells, 0, 100) / 100.0)
    ax.imshow(shade, origin="lower", extent=grid.extent, cmap="Greys", vmin=0, vmax=1.15, interpolation="nearest")
    ax.set_aspect("equal")
    ax.grid(False)
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")


def draw_path(ax: Axes, path: Path, body: Footprint, theme: style.Theme) -> None:
    """A path with the base on it: forwards in one colour, backwards in another."""
    rows = path.samples(0.05)
    way = np.linspace(0.0, path.length_m, len(rows))
    for pose in path.at(np.arange(0.0, path.length_m + 1e-9, FOOTPRINT_EVERY_M)):
        ax.add_patch(Polygon(corners(body, pose), closed=True, fill=False, ec=theme.lines[0], lw=0.5, alpha=0.35))
    for sign, colour, name in ((1.0, theme.lines[0], "forwards"), (-1.0, theme.lines[1], "backwards")):
        line = np.where((rows[:, 4] == sign)[:, None], rows[:, :2], np.nan)
        if len(way) and np.isfinite(line).any():
            ax.plot(line[:, 0], line[:, 1], color=colour, lw=2, label=name)
    for pose, colour, name in ((path.start, theme.lines[2], "start"), (path.end, theme.alarm, "goal")):
        ax.add_patch(Polygon(corners(body, pose), closed=True, fc=colour, ec=colour, alpha=0.5, lw=1.2))
        ax.plot(pose[0], pose[1], "o", color=colour, ms=4, ls="none", label=name)
        ax.annotate(
            "", (pose[0] + 0.8 * math.cos(pose[2]), pose[1] + 0.8 * math.sin(pose[2])), pose[:2],
            arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.5},
        )  # fmt: skip


def draw_plan(grid: OccupancyGrid, plan: Plan, body: Footprint, target: File) -> None:
    """Save the planned path on its map as a picture file."""
    path, (width, height) = plan.path, grid.size_m
    tall = float(np.clip(6.4 * height / width, 2.5, 9.0))
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 1, f"Path through {grid.name}",
            f"{path.length_m:.2f} m, {path.backward_m:.2f} m of it backwards, {changes(path)}",
            panel_inches=(6.8, tall),
        )  # fmt: skip
        draw_map(axes[0, 0], grid, theme)
        draw_path(axes[0, 0], path, body, theme)
        style.legend(axes[0, 0])
    style.save(fig, target)
