"""A diagnosis in one picture: force and motion, and below them when each finding occurred."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Diagnosis, Finding
from pliant.analysis.pictures import style
from pliant.analysis.pictures.style import LIGHT, Theme

Array = np.ndarray[Any, Any]

# What lasts for less than this share of the run is marked in the curves too.
_WHILE = 0.3


def save_diagnosis(case: Case, diagnosis: Diagnosis, title: str, path: Path | str) -> Path:
    """Draw a diagnosis and save it as PNG, SVG or PDF."""
    return style.save(draw(case, diagnosis, title), path)


def draw(case: Case, diagnosis: Diagnosis, title: str, theme: Theme = LIGHT) -> Figure:
    """The picture as a figure, not saved."""
    found = [finding for finding in diagnosis.findings if finding.wrong]
    said = f"{len(found)} finding{'s' * (len(found) != 1)}" if found else "nothing found"
    with style.applied(theme):
        fig, axes = style.figure(3, 1, title, f"{said}; red: alarm, yellow: warning", panel_inches=(9.5, 2.3))
        _force(axes[0, 0], case, theme)
        _speed(axes[1, 0], case, theme)
        _when(axes[2, 0], case, found, theme)
        for ax in axes[:2, 0]:
            for finding in found:
                _shade(ax, case, finding, theme)
        axes[2, 0].set_xlabel("time [s]")
        axes[2, 0].set_xlim(float(case.time_s[0]), float(case.time_s[-1]))
    return fig


def _force(ax: Axes, case: Case, theme: Theme) -> None:
    t = case.time_s
    if case.is_contact:
        ax.plot(t, case.pressed, color=theme.lines[0], lw=0.8, label="along the normal")
        target = np.where(case.active, case.contact["target_n"], np.nan)
        ax.plot(t, target, color=theme.text, lw=1.0, ls="--", label="commanded")
    else:
        for i, name in enumerate("xyz"):
            ax.plot(t, case.force[:, i], color=theme.xyz[i], lw=0.8, label=name)
    style.label(ax, "Force on the tool", "N", "force")
    style.least_span(ax, 1.0)
    style.legend(ax)


def _speed(ax: Axes, case: Case, theme: Theme) -> None:
    t = case.time_s
    if case.is_contact:
        ax.plot(t, 1e3 * case.into, color=theme.lines[1], lw=0.8, label="measured")
        ax.plot(t, 1e3 * case.contact["asked"], color=theme.text, lw=0.8, label="commanded")
        style.label(ax, "Speed into the surface", "mm/s", "speed")
    else:
        twist = case.records["observed"]["twist"]
        for i, name in enumerate("xyz"):
            ax.plot(t, 1e3 * twist[:, i], color=theme.xyz[i], lw=0.8, label=name)
        style.label(ax, "Speed of the tool", "mm/s", "speed")
    style.legend(ax)


def _colour(finding: Finding, theme: Theme) -> str:
    return theme.alarm if finding.severity == "alarm" else theme.lines[4]


def _shade(ax: Axes, case: Case, finding: Finding, theme: Theme) -> None:
    """Mark what was so for a while only: what is so all the time would hide everything."""
    lasted = sum(span.end_s - span.start_s for span in finding.spans)
    if lasted < _WHILE * len(case.records) * case.dt:
        for span in finding.spans:
            ax.axvspan(*span, color=_colour(finding, theme), alpha=0.15, lw=0)


def _when(ax: Axes, case: Case, found: list[Finding], theme: Theme) -> None:
    """One row per finding with its time spans; a finding without spans covers the whole run."""
    whole = (float(case.time_s[0]), float(case.time_s[-1]) - float(case.time_s[0]))
    for row, finding in enumerate(found):
        bars = [(span.start_s, span.end_s - span.start_s) for span in finding.spans] or [whole]
        colour = _colour(finding, theme)
        ax.broken_barh(bars, (-row - 0.35, 0.7), facecolor=colour, edgecolor=colour, lw=0.6)
    ax.set_yticks([-row for row in range(len(found))], labels=[finding.name for finding in found])
    ax.set_ylim(-max(len(found), 1) + 0.4, 0.6)
    ax.grid(axis="y", visible=False)
    style.label(ax, "Time of each finding")
    if not found:
        ax.set_yticks([])
        ax.text(0.5, 0.5, "nothing found", transform=ax.transAxes, ha="center", va="center", color=theme.faint)
