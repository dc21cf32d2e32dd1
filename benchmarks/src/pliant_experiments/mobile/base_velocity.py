"""Velocity of a base from sampled poses: rates, noise, jitter, rounding and faults; against the mean-step formula."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.mobile.base.base_params import BaseVelocity
from pliant.mobile.velocity.estimators import CAKalman, LocalPoly, Stencil
from pliant.mobile.velocity.stencil import POINTS, derivative_weights
from pliant_experiments.rivals.rival_velocity import mean_step_velocity
from pliant_experiments.scenes.velocity_cells import FAULTS, SIGNALS, Cell, Samples, cells, sample

Array = np.ndarray[Any, Any]

SHOWN = Cell(50, 1.0, "late sample", 0.0, "outliers")
QUIET = BaseVelocity(noise_m=0.0, noise_rad=0.0)
# The agility that the rule is compared with.
LESS_AGILE = 0.3


@dataclass(frozen=True)
class Row:
    """RMS errors [mm/s, mm/s, mrad/s] of one cell: each estimator on the sine, the trapezoid and the heading."""

    cell: Cell
    errors: dict[str, Array]

    @property
    def noisy(self) -> bool:
        """Whether anything other than a fault makes the samples inexact."""
        return bool(self.cell.noise_mm or self.cell.step_mm or self.cell.jitter != "none")

    def ratio(self, estimator: str = "CAKalman") -> Array:
        """Error of an estimator relative to the mean-step formula."""
        return self.errors[estimator] / self.errors["mean step"]

    def as_dict(self) -> dict[str, Any]:
        cell = self.cell
        about = {
            "rate_hz": cell.rate_hz, "noise_mm": cell.noise_mm, "jitter": cell.jitter, "step_mm": cell.step_mm,
            "fault": cell.fault,
        }  # fmt: skip
        by = {name: dict(zip(SIGNALS, map(float, values), strict=True)) for name, values in self.errors.items()}
        return {**about, "rms_mm_s": by}


def velocities(cell: Cell, samples: Samples) -> dict[str, Array]:
    """The result of each estimator."""
    stamps, poses = samples.stamps, samples.poses
    out = {kind.__name__: kind(cell.settings).run(stamps, poses)["velocity"] for kind in (CAKalman, LocalPoly, Stencil)}
    return {**out, "mean step": mean_step_velocity(stamps, poses)}


def row_of(cell: Cell, seed: int) -> Row:
    """One cell, sampled and estimated."""
    samples = sample(cell, np.random.default_rng(seed))
    rms = {
        name: 1e3 * np.sqrt(np.mean((said - samples.velocity)[samples.counted] ** 2, axis=0))
        for name, said in velocities(cell, samples).items()
    }
    return Row(cell, rms)


def mean_ratio(rows: list[Row], estimator: str = "CAKalman", signals: slice = slice(0, 2)) -> float:
    """Geometric mean of an estimator's error ratios, for sine and trapezoid or for other signals."""
    return float(np.exp(np.mean([np.log(row.ratio(estimator)[signals]) for row in rows])))


def _ratios(rows: list[Row]) -> list[Figure]:
    """The filter compared with the mean-step formula, over the noisy cells."""
    noisy = [row for row in rows if row.noisy]
    bare = [row for row in noisy if row.cell.fault == "none"]
    true = [row for row in bare if row.cell.jitter != "late stamp"]
    heading = slice(2, 3)
    return [
        reported("noisy cells", len(noisy)),
        at_most("error relative to the mean-step formula, geometric mean", mean_ratio(noisy), "", 0.03),
        at_most("the same, worst cell", max(row.ratio()[:2].max() for row in noisy), "", 1.0),
        at_most("the same without faults, exact stamps, geometric mean", mean_ratio(true), "", 0.03),
        reported("the same without faults, including late stamps, geometric mean", mean_ratio(bare)),
        at_most("the same for the turning speed, geometric mean", mean_ratio(noisy, signals=heading), "", 0.03),
        reported("the same for the turning speed, worst cell", max(row.ratio()[2] for row in noisy)),
        at_most("velocities that are not finite", sum(np.isnan(row.errors["CAKalman"]).sum() for row in rows), "", 0),
    ]


def _which(rows: list[Row]) -> list[Figure]:
    """All estimators on cells with noise, without noise, and with faults but no noise."""
    exact = [row for row in rows if not row.noisy]
    groups = {
        "noisy cells": [row for row in rows if row.noisy],
        "cells without noise and faults": [row for row in exact if row.cell.fault == "none"],
        "cells with faults, without noise": [row for row in exact if row.cell.fault != "none"],
    }
    return [
        reported(f"{where}: {kind.__name__} relative to mean step, geometric mean", mean_ratio(group, kind.__name__))
        for where, group in groups.items()
        for kind in (CAKalman, LocalPoly, Stencil)
    ]


def _less_agile(rows: list[Row], seed: int) -> list[Figure]:
    """The filter with less agility than the rule gives, on the noisy cells without faults."""
    ratios = []
    for k, row in enumerate(rows):
        if row.noisy and row.cell.fault == "none":
            settings = row.cell.settings.model_copy(update={"agility_m2_s5": LESS_AGILE})
            samples = sample(row.cell, np.random.default_rng(1000 * seed + k))
            off = (CAKalman(settings).run(samples.stamps, samples.poses)["velocity"] - samples.velocity)[
                samples.counted
            ]
            ratios.append(1e3 * np.sqrt(np.mean(off**2, axis=0))[:2] / row.errors["mean step"][:2])
    name = f"agility {LESS_AGILE:g} instead of {BaseVelocity().agility_m2_s5:g}, without faults"
    return [
        reported(f"{name}: geometric mean", np.exp(np.mean(np.log(ratios)))),
        reported(f"{name}: worst cell", np.max(ratios)),
    ]


def _gains() -> list[Figure]:
    """Noise gain of each stencil: velocity noise for a position noise of 1, times the period."""
    figures, w = [], np.zeros(POINTS)
    for n, gain in ((2, math.sqrt(2.0)), (3, math.sqrt(6.5)), (5, 5.584)):
        derivative_weights(-np.arange(float(POINTS)), n, w)
        figures.append(within(f"noise gain of a {n}-point stencil", np.linalg.norm(w[:n]), "1/h", gain, 1e-3))
    return figures


def _selected(rows: list[Row]) -> list[Figure]:
    """Selected cells, filter and formula side by side."""
    figures = []
    for cell in (
        Cell(10, 1.0, "none", 0.0, "none"), Cell(50, 0.1, "late sample", 0.0, "none"),
        Cell(500, 1.0, "none", 0.0, "none"), Cell(50, 0.1, "none", 0.0, "outliers"), Cell(50, 0.1, "none", 0.0, "NaN"),
    ):  # fmt: skip
        row = next(row for row in rows if row.cell == cell)
        name = f"{cell.rate_hz} Hz, {cell.noise_mm:g} mm" + "".join(
            f", {word}" for word in (cell.jitter, cell.fault) if word != "none"
        )
        for k in (0, 1):
            figures.append(reported(f"{name}: {SIGNALS[k]}, filter", row.errors["CAKalman"][k], "mm/s"))
            figures.append(reported(f"{name}: {SIGNALS[k]}, mean step", row.errors["mean step"][k], "mm/s"))
    return figures


def _stencil() -> list[Figure]:
    """The stencil with true stamps on references without noise."""
    w, t = 2 * math.pi * 0.25, np.arange(0.0, 12.0, 0.1)
    poses = np.stack([0.3 * np.sin(w * t), 0 * t, 0 * t], 1)
    truth = 0.3 * w * np.cos(w * t)
    five = Stencil(QUIET).run(t, poses)["velocity"][:, 0] - truth
    two = np.diff(poses[:, 0]) / np.diff(t) - truth[1:]
    # four samples on time, one late, the next early: a straight drive of 1 m/s
    uneven = np.array([0.0, 0.1, 0.2, 0.39, 0.4])
    straight = np.stack([uneven, 0 * uneven, 0 * uneven], 1)
    step = np.zeros((12, 3))
    step[6:, 0] = 0.1
    times = np.arange(12) * 0.1
    return [
        at_most("reference without noise, 10 Hz: stencil", 1e3 * np.sqrt(np.mean(five[10:] ** 2)), "mm/s", 0.1),
        reported("reference without noise, 10 Hz: two points", 1e3 * np.sqrt(np.mean(two[10:] ** 2)), "mm/s"),
        within("1 m/s with a late and an early sample: stencil", _last(uneven, straight), "m/s", 1.0, 1e-9),
        reported(
            "1 m/s with a late and an early sample: mean step", mean_step_velocity(uneven, straight)[-1, 0], "m/s"
        ),
        at_most("reference that steps by 0.1 m: stencil", _largest(times, step), "m/s", 1e-9),
        reported("reference that steps by 0.1 m: mean step", np.abs(mean_step_velocity(times, step)).max(), "m/s"),
    ]


def _last(t: Array, poses: Array) -> float:
    return float(Stencil(QUIET).run(t, poses)["velocity"][-1, 0])


def _largest(t: Array, poses: Array) -> float:
    return float(np.abs(Stencil(QUIET).run(t, poses)["velocity"]).max())


def _sideways() -> list[Figure]:
    """A motion along x with a heading of 45°: the sideways speed is reported."""
    t = np.arange(0.0, 3.0, 0.02)
    said = CAKalman().run(t, np.stack([0.5 * t, 0 * t, 0 * t + math.pi / 4], 1))[-1]
    return [
        within("0.5 m/s along x, heading 45°: forward", said.v, "m/s", 0.5 * math.sqrt(0.5), 1e-3),
        within("0.5 m/s along x, heading 45°: sideways", said.lateral, "m/s", -0.5 * math.sqrt(0.5), 1e-3),
        at_least("standard deviation is finite and positive (1 is yes)", float(0 < said.sigma[0] < 1), "", 1.0),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """All cells, the stencil on reference motions, and a base that moves sideways."""
    began = time.perf_counter()
    rows, all_cells = [], cells()
    for k, cell in enumerate(all_cells):
        rows.append(row_of(cell, 1000 * seed + k))
        progress((k + 1) / len(all_cells))
    figures = (
        _ratios(rows) + _which(rows) + _less_agile(rows, seed) + _selected(rows) + _gains() + _stencil() + _sideways()
    )
    return Outcome(
        "base-velocity", seed, time.perf_counter() - began, figures, notes=_table(rows),
        draw=lambda path: _draw(rows, seed, path), table=[row.as_dict() for row in rows],
    )  # fmt: skip


def _table(rows: list[Row]) -> list[str]:
    """Every cell in a line of at most 80 characters: RMS of sine and trapezoid together, filter / mean step."""
    lines = [
        "RMS error [mm/s], filter / mean-step formula. Rows: rate [Hz], noise [mm],",
        "jitter of 20 % (S: late sample, T: late stamp), rounding [mm]. Columns: faults.",
        f"{'':12}" + "".join(f"{fault:>11}" for fault in FAULTS),
    ]
    for first in range(0, len(rows), len(FAULTS)):
        cell = rows[first].cell
        kind = {"none": "-", "late sample": "S", "late stamp": "T"}[cell.jitter]
        line = f"{cell.rate_hz:3d} {cell.noise_mm:3g} {kind} {cell.step_mm:1g} "
        for row in rows[first : first + len(FAULTS)]:
            ours, theirs = (math.sqrt(np.mean(row.errors[name][:2] ** 2)) for name in ("CAKalman", "mean step"))
            line += f"{_short(ours)}/{_short(theirs)}".rjust(11)
        lines.append(line)
    return lines


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _draw(rows: list[Row], seed: int, path: Path) -> None:
    samples = sample(SHOWN, np.random.default_rng(seed))
    said = velocities(SHOWN, samples)
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 2, "Base velocity from sampled poses",
            "left: 50 Hz, 1 mm of noise, samples up to 20 % late, 1 % outliers of 50 mm; right: every cell",
            panel_inches=(6.2, 3.6), share_x=False,
        )  # fmt: skip
        ax, t = axes[0, 0], samples.stamps
        shown = (t > 4) & (t < 12)
        ax.plot(t[shown], said["mean step"][shown, 1], color=theme.lines[1], lw=0.6, alpha=0.7, label="mean step")
        ax.plot(t[shown], samples.velocity[shown, 1], color=theme.text, lw=2.4, alpha=0.35, label="true")
        ax.plot(t[shown], said["CAKalman"][shown, 1], color=theme.lines[0], label="Kalman filter")
        ax.set_ylim(-1.5, 1.5)
        ax.set_xlabel("time [s]")
        style.label(ax, "Trapezoid", "m/s", "velocity")
        style.legend(ax)
        _scatter(axes[0, 1], rows, theme)
    style.save(fig, path)


def _scatter(ax: Any, rows: list[Row], theme: style.Theme) -> None:
    for k, rate in enumerate((10, 50, 500)):
        chosen = [row for row in rows if row.cell.rate_hz == rate and not row.cell.clean]
        x = [np.sqrt(np.mean(row.errors["mean step"][:2] ** 2)) for row in chosen]
        y = [np.sqrt(np.mean(row.errors["CAKalman"][:2] ** 2)) for row in chosen]
        ax.plot(x, y, "o", ms=3.5, ls="none", color=theme.lines[k], alpha=0.7, label=f"{rate} Hz")
    span = np.array([1.0, 3e5])
    ax.plot(span, span, color=theme.faint, lw=1, ls="--")
    ax.plot(span, 0.03 * span, color=theme.faint, lw=1, ls=":")
    ax.annotate("equal", (30, 36), color=theme.faint, fontsize=8, rotation=38)
    ax.annotate("3 %", (3e4, 0.036 * 3e4), color=theme.faint, fontsize=8, rotation=38)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(0.2, 3e3)
    ax.set_xlabel("mean-step formula [mm/s]")
    style.label(ax, "RMS error", "mm/s", "Kalman filter")
    style.legend(ax)
