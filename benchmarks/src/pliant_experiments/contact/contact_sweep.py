"""Stiffness × total lag: contact settles over the whole grid without manual tuning."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported, within
from pliant.world.world_config import Servo
from pliant_experiments.scenes.contact_trial import Figures, Loop, dome, judge, run_contact, task

Array = np.ndarray[Any, Any]

STIFFNESS = tuple(float(f"{k:.2g}") for k in np.logspace(3, 5, 7))
LAGS_MS = (15, 25, 35, 50)
# From here on a surface counts as stiff: above 2·10⁴ N/m.
_STIFF = sum(stiffness < 2.5e4 for stiffness in STIFFNESS)
CUTOFF_HZ, TRANSPORT_S = 50.0, 0.004


def loop_of(lag_s: float, dt: float = 0.002) -> Loop:
    """A robot with this total lag: the servo has the lag that filter, period and transport leave."""
    servo = lag_s - 1.0 / (2.0 * math.pi * CUTOFF_HZ) - dt - TRANSPORT_S
    bandwidth = 2.0 / servo * math.sqrt(math.sqrt(2.0) - 1.0) / (2.0 * math.pi)
    return Loop(f"{lag_s * 1e3:.0f} ms", Servo(bandwidth_hz=bandwidth, delay_s=TRANSPORT_S), CUTOFF_HZ)


def _targets(lag_ms: int, row: list[Figures]) -> list[Figure]:
    """The targets of a row of the grid; they are stricter for a fast robot, above all on surfaces that are not the
    stiffest.
    """
    name, quick = f"{STIFFNESS[0]:g} to {STIFFNESS[-1]:g} N/m, {lag_ms} ms", lag_ms <= 25
    figures = [
        at_most(f"{name}: contact losses", sum(f.losses for f in row), "", 0.0),
        at_most(f"{name}: longest settling time", np.max([f.settle_s for f in row]), "s", 1.0 if quick else 2.0),
        within(f"{name}: shortest slide distance", 1e3 * np.min([f.way_m for f in row]), "mm", 50.0, 0.1),
        within(f"{name}: longest slide distance", 1e3 * np.max([f.way_m for f in row]), "mm", 50.0, 0.1),
        within(f"{name}: contacts that end with the path complete", sum(f.ended for f in row), "", len(row), 0.0),
    ]
    if not quick:
        return [
            *figures,
            at_most(f"{name}: largest peak", np.max([f.peak_n for f in row]), "N", 10.0),
            reported(f"{name}: largest RMS error while sliding", np.max([f.slide_rms_n for f in row]), "N"),
        ]
    for part, peak, rms in ((slice(0, _STIFF), 7.5, 0.2), (slice(_STIFF, None), 10.0, 0.5)):
        some = f"{STIFFNESS[part][0]:g} to {STIFFNESS[part][-1]:g} N/m, {lag_ms} ms"
        worst = np.max([f.slide_rms_n for f in row[part]])
        figures += [
            at_most(f"{some}: largest peak", np.max([f.peak_n for f in row[part]]), "N", peak),
            at_most(f"{some}: largest RMS error while sliding", worst, "N", rms),
        ]
    return figures


def run(seed: int, progress: Progress) -> Outcome:
    """The dome on a grid of seven stiffnesses and four lags."""
    began = time.perf_counter()
    figures, rows = [], []
    for i, lag in enumerate(LAGS_MS):
        loop, row = loop_of(lag * 1e-3), []
        for j, stiffness in enumerate(STIFFNESS):
            row.append(judge(run_contact(task((dome(stiffness),), loop, seed, 20.0))))
            progress((i * len(STIFFNESS) + j + 1) / (len(LAGS_MS) * len(STIFFNESS)))
        rows.append(row)
        figures += _targets(lag, row)
    return Outcome("contact-sweep", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(rows, path))


def _draw(rows: list[list[Figures]], path: Path) -> None:
    panels = (
        ("Peak", "N", [[f.peak_n for f in row] for row in rows]),
        ("Settling time to ±5 %", "s", [[f.settle_s for f in row] for row in rows]),
        ("RMS error while sliding", "N", [[f.slide_rms_n for f in row] for row in rows]),
    )
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 3, "5 N on a dome: stiffness × total lag", "sim:ur5e, 500 Hz; true forces", panel_inches=(4.6, 3.0)
        )
        for ax, (title, unit, values) in zip(axes[0], panels, strict=True):
            for i, (lag, line) in enumerate(zip(LAGS_MS, values, strict=True)):
                ax.plot(STIFFNESS, line, "o-", ms=3, color=theme.lines[i], label=f"{lag} ms")
            ax.set_xscale("log")
            ax.set_xlabel("stiffness [N/m]")
            style.label(ax, title, unit)
            ax.set_ylim(bottom=0.0)
        style.legend(axes[0, 0])
    style.save(fig, path)
