"""A mission as a picture: map, path and robot on the left; arm, error and commands over time on the right."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from pliant.analysis.mission_figures import STAGES, MissionHistory
from pliant.analysis.pictures import style
from pliant.analysis.pictures.plan_picture import corners, draw_map
from pliant.analysis.pictures.style import LIGHT, Theme

Array = np.ndarray[Any, Any]

LEAST_MM = 1e-2
"""The lower end of the logarithmic error axis [mm]."""


def draw(mission: MissionHistory, target: File | str, theme: Theme = LIGHT) -> None:
    """Save the picture of a mission as a file."""
    style.save(figure(mission, theme), target)


def figure(mission: MissionHistory, theme: Theme = LIGHT) -> Figure:
    """The picture of a mission as a figure, not saved."""
    last = mission.log[-1] if mission.log else None
    said = "" if last is None else f"{last.stage}: {last.reason}"
    stopped = [change.reason for change in mission.log if change.stage == "stopping"]
    with style.applied(theme):
        fig, axes = style.figure(
            3, 2, f"Mission: {mission.task.name}", stopped[-1] if stopped else said,
            panel_inches=(6.4, 2.0), share_x=False, theme=theme,
        )  # fmt: skip
        grid = axes[0, 0].get_gridspec()
        grid.set_width_ratios((1.5, 1.0))
        for ax in axes[:, 0]:
            ax.remove()
        _from_above(fig.add_subplot(grid[:, 0]), mission, theme)
        _from_beside(axes[0, 1], mission, theme)
        _error(axes[1, 1], mission, theme)
        _commands(axes[2, 1], mission, theme)
        axes[2, 1].set_xlabel("time [s]")
        for ax in axes[1:, 1]:
            _bands(ax, mission, theme, words=ax is axes[1, 1])
            ax.set_xlim(0.0, max(mission.end_s, 1e-3))
    return fig


def _colours(theme: Theme) -> dict[str, str]:
    return {"A": theme.lines[3], "B": theme.lines[0], "C": theme.lines[2], "stopping": theme.alarm}


def _from_above(ax: Axes, mission: MissionHistory, theme: Theme) -> None:
    draw_map(ax, mission.grid, theme)
    body = mission.task.planner.footprint
    if mission.path is not None:
        rows = mission.path.samples(0.05)
        ax.plot(rows[:, 0], rows[:, 1], color=theme.faint, lw=4, alpha=0.35, label="plan")
    colours = _colours(theme)
    for stage, begin, end in mission.spans():
        part = (mission.time_s >= begin) & (mission.time_s <= end)
        if stage != "A":
            ax.plot(*mission.base[part, :2].T, color=colours[stage], lw=1.6, label=f"base, {STAGES[stage]}")
    tool = mission.tool[:, :2]
    ax.plot(*tool.T, color=theme.lines[1], lw=0.8, alpha=0.8, label="tool")
    for row, strong in _moments(mission):
        pose, arm = mission.base[row], mission.links(row)
        if np.isfinite(pose).all():
            ax.add_patch(
                Polygon(corners(body, pose), closed=True, fc=theme.lines[0], ec=theme.lines[0], alpha=strong, lw=1.0)
            )
            ax.plot(arm[:, 0], arm[:, 1], "-o", color=theme.text, lw=1.4, ms=1.8, alpha=min(1.0, 0.3 + strong))
    ax.plot(*mission.goal[:2], "x", color=theme.alarm, ms=8, mew=2, ls="none", label="tool goal")
    style.legend(ax)


def _moments(mission: MissionHistory) -> list[tuple[int, float]]:
    """Records that are shown, with their opacity: the start, some in between, and the end."""
    n = len(mission.records)
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(np.nan_to_num(mission.base[:, :2]), axis=0).T))])
    between = [int(np.searchsorted(way, s)) for s in np.arange(0.7, way[-1], 0.7)] if n > 1 else []
    return [*((row, 0.08) for row in between if row < n), (0, 0.3), (n - 1, 0.5)]


def _from_beside(ax: Axes, mission: MissionHistory, theme: Theme) -> None:
    """The arm at the ends of the stages, seen from the side, in the axes of the base."""
    base = mission.body.base
    half, colours = 0.5 * base.length_m, _colours(theme)
    ax.add_patch(
        Polygon(
            [(-half, 0.05), (half, 0.05), (half, base.height_m), (-half, base.height_m)],
            closed=True, fc=theme.grid, ec=theme.faint, lw=1.0,
        )
    )  # fmt: skip
    ax.plot([0.0], [base.wheel_radius_m], "o", color=theme.faint, ms=9)
    moments = [(0, "at the start", theme.faint)]
    for stage, _, end in mission.spans():
        row = min(len(mission.records) - 1, int(np.searchsorted(mission.time_s, end)))
        if stage != "B":
            moments.append((row, f"after {STAGES[stage]}", colours[stage]))
    for row, name, colour in moments:
        along, height = beside(mission.links(row), mission.base[row])
        ax.plot(along, height, "-o", color=colour, lw=2, ms=3, label=name)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("ahead of the base [m]")
    style.label(ax, "Arm, side view", "m", "height")
    style.legend(ax)


def beside(points: Array, pose: Array) -> tuple[Array, Array]:
    """Points in a side view of the base: distance ahead and height [m]."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return c * (points[:, 0] - pose[0]) + s * (points[:, 1] - pose[1]), points[:, 2]


def _error(ax: Axes, mission: MissionHistory, theme: Theme) -> None:
    far = 1e3 * np.linalg.norm(mission.tool[:, :3] - mission.goal[:3], axis=1)
    ax.semilogy(mission.time_s, np.maximum(far, LEAST_MM), color=theme.text)
    ax.axhline(1e3 * mission.task.reach.tolerance_m, color=theme.faint, lw=1.0, ls=(0, (5, 3)), label="tolerance")
    style.label(ax, "Tool position error", "mm", "distance")
    style.legend(ax)


def _commands(ax: Axes, mission: MissionHistory, theme: Theme) -> None:
    u = mission.commands
    fastest = np.abs(u[:, 2:]).max(axis=1)
    for values, name, colour in (
        (u[:, 0], "v [m/s]", theme.lines[0]),
        (u[:, 1], "ω [rad/s]", theme.lines[1]),
        (fastest, "fastest joint [rad/s]", theme.lines[2]),
    ):
        ax.plot(mission.time_s, values, color=colour, lw=1.2, label=name)
    style.label(ax, "Commands", "m/s, rad/s", "speed")
    style.legend(ax)


def _bands(ax: Axes, mission: MissionHistory, theme: Theme, *, words: bool) -> None:
    """The stages as bands behind a line over time."""
    colours = _colours(theme)
    for stage, begin, end in mission.spans():
        ax.axvspan(begin, end, color=colours[stage], alpha=0.1, lw=0)
        if words and end > begin:
            place = {"xycoords": ("data", "axes fraction"), "xytext": (3, 3), "textcoords": "offset points"}
            ax.annotate(STAGES[stage], (begin, 0.0), va="bottom", fontsize=8, color=colours[stage], **place)
