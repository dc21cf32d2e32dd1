"""A mission as a picture: map, path and robot on the left; arm, error and commands over time on the right."""

from __future__ import annotations

from pathlib import Path as File
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from pliant.analysis.mission_figures import STAGES, Story
from pliant.analysis.pictures import style
from pliant.analysis.pictures.plan_picture import corners, draw_map
from pliant.analysis.pictures.style import LIGHT, Theme

Array = np.ndarray[Any, Any]

LEAST_MM = 1e-2
"""The lower end of the logarithmic error axis [mm]."""


def draw(story: Story, target: File | str, theme: Theme = LIGHT) -> None:
    """Save the picture of a mission as a file."""
    style.save(figure(story, theme), target)


def figure(story: Story, theme: Theme = LIGHT) -> Figure:
    """The picture of a mission as a figure, not saved."""
    last = story.log[-1] if story.log else None
    said = "" if last is None else f"{last.stage}: {last.reason}"
    stopped = [change.reason for change in story.log if change.stage == "stopping"]
    with style.applied(theme):
        fig, axes = style.figure(
            3, 2, f"Mission: {story.task.name}", stopped[-1] if stopped else said,
            panel_inches=(6.4, 2.0), share_x=False, theme=theme,
        )  # fmt: skip
        grid = axes[0, 0].get_gridspec()
        grid.set_width_ratios((1.5, 1.0))
        for ax in axes[:, 0]:
            ax.remove()
        _from_above(fig.add_subplot(grid[:, 0]), story, theme)
        _from_beside(axes[0, 1], story, theme)
        _error(axes[1, 1], story, theme)
        _commands(axes[2, 1], story, theme)
        axes[2, 1].set_xlabel("time [s]")
        for ax in axes[1:, 1]:
            _bands(ax, story, theme, words=ax is axes[1, 1])
            ax.set_xlim(0.0, max(story.end_s, 1e-3))
    return fig


def _colours(theme: Theme) -> dict[str, str]:
    return {"A": theme.lines[3], "B": theme.lines[0], "C": theme.lines[2], "stopping": theme.alarm}


def _from_above(ax: Axes, story: Story, theme: Theme) -> None:
    draw_map(ax, story.grid, theme)
    body = story.task.planner.footprint
    if story.way is not None:
        rows = story.way.samples(0.05)
        ax.plot(rows[:, 0], rows[:, 1], color=theme.faint, lw=4, alpha=0.35, label="plan")
    colours = _colours(theme)
    for stage, begin, end in story.spans():
        part = (story.time_s >= begin) & (story.time_s <= end)
        if stage != "A":
            ax.plot(*story.base[part, :2].T, color=colours[stage], lw=1.6, label=f"base, {STAGES[stage]}")
    tool = story.tool[:, :2]
    ax.plot(*tool.T, color=theme.lines[1], lw=0.8, alpha=0.8, label="tool")
    for row, strong in _moments(story):
        pose, arm = story.base[row], story.links(row)
        if np.isfinite(pose).all():
            ax.add_patch(
                Polygon(corners(body, pose), closed=True, fc=theme.lines[0], ec=theme.lines[0], alpha=strong, lw=1.0)
            )
            ax.plot(arm[:, 0], arm[:, 1], "-o", color=theme.text, lw=1.4, ms=1.8, alpha=min(1.0, 0.3 + strong))
    ax.plot(*story.goal[:2], "x", color=theme.alarm, ms=8, mew=2, ls="none", label="tool goal")
    style.legend(ax)


def _moments(story: Story) -> list[tuple[int, float]]:
    """Records that are shown, and how strongly: some on the way, the start and the end."""
    n = len(story.records)
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(np.nan_to_num(story.base[:, :2]), axis=0).T))])
    between = [int(np.searchsorted(way, s)) for s in np.arange(0.7, way[-1], 0.7)] if n > 1 else []
    return [*((row, 0.08) for row in between if row < n), (0, 0.3), (n - 1, 0.5)]


def _from_beside(ax: Axes, story: Story, theme: Theme) -> None:
    """The arm at the ends of the stages, seen from the side, in the axes of the base."""
    base = story.body.base
    half, colours = 0.5 * base.length_m, _colours(theme)
    ax.add_patch(
        Polygon(
            [(-half, 0.05), (half, 0.05), (half, base.height_m), (-half, base.height_m)],
            closed=True, fc=theme.grid, ec=theme.faint, lw=1.0,
        )
    )  # fmt: skip
    ax.plot([0.0], [base.wheel_radius_m], "o", color=theme.faint, ms=9)
    moments = [(0, "at the start", theme.faint)]
    for stage, _, end in story.spans():
        row = min(len(story.records) - 1, int(np.searchsorted(story.time_s, end)))
        if stage != "B":
            moments.append((row, f"after {STAGES[stage]}", colours[stage]))
    for row, name, colour in moments:
        along, height = beside(story.links(row), story.base[row])
        ax.plot(along, height, "-o", color=colour, lw=2, ms=3, label=name)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("ahead of the base [m]")
    style.label(ax, "Arm, side view", "m", "height")
    style.legend(ax)


def beside(points: Array, pose: Array) -> tuple[Array, Array]:
    """Points in a side view of the base: distance ahead and height [m]."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return c * (points[:, 0] - pose[0]) + s * (points[:, 1] - pose[1]), points[:, 2]


def _error(ax: Axes, story: Story, theme: Theme) -> None:
    far = 1e3 * np.linalg.norm(story.tool[:, :3] - story.goal[:3], axis=1)
    ax.semilogy(story.time_s, np.maximum(far, LEAST_MM), color=theme.text)
    ax.axhline(1e3 * story.task.reach.tolerance_m, color=theme.faint, lw=1.0, ls=(0, (5, 3)), label="tolerance")
    style.label(ax, "Tool position error", "mm", "distance")
    style.legend(ax)


def _commands(ax: Axes, story: Story, theme: Theme) -> None:
    u = story.commands
    fastest = np.abs(u[:, 2:]).max(axis=1)
    for values, name, colour in (
        (u[:, 0], "v [m/s]", theme.lines[0]),
        (u[:, 1], "ω [rad/s]", theme.lines[1]),
        (fastest, "fastest joint [rad/s]", theme.lines[2]),
    ):
        ax.plot(story.time_s, values, color=colour, lw=1.2, label=name)
    style.label(ax, "Commands", "m/s, rad/s", "speed")
    style.legend(ax)


def _bands(ax: Axes, story: Story, theme: Theme, *, words: bool) -> None:
    """The stages behind a line over time."""
    colours = _colours(theme)
    for stage, begin, end in story.spans():
        ax.axvspan(begin, end, color=colours[stage], alpha=0.1, lw=0)
        if words and end > begin:
            place = {"xycoords": ("data", "axes fraction"), "xytext": (3, 3), "textcoords": "offset points"}
            ax.annotate(STAGES[stage], (begin, 0.0), va="bottom", fontsize=8, color=colours[stage], **place)
