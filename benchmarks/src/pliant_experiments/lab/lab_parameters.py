"""Effect of mass, damping and stiffness: damping ratios and deflections match the equation."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported, within
from pliant_experiments.scenes.two_link_lab import damping_ratio, law, moved, place, pushed, rest

Array = np.ndarray[Any, Any]
FORCE, ON_S = -10.0, 0.5
SETS = {"M 1, B 100": (1.0, 100.0, 6.0), "M 1, B 10": (1.0, 10.0, 6.0), "M 100, B 100": (100.0, 100.0, 30.0)}
STIFFNESSES = (50.0, 250.0, 1000.0)
_FIRST = 500


def _ratios() -> tuple[list[Figure], dict[str, Array]]:
    figures, curves = [], {}
    for name, (mass, damping, seconds) in SETS.items():
        records = pushed(0, FORCE, seconds, law(mass, damping)).records
        way = -moved(records)[:, 0]
        found = damping_ratio(records["time_s"][_FIRST:], way[_FIRST:], 40.0)
        wanted = damping / (2 * math.sqrt(mass * 250.0))
        figures.append(within(f"{name}, K 250: damping ratio", found, "", wanted, 0.02 * wanted))
        if wanted < 1:
            peak = 100 * math.exp(-math.pi * wanted / math.sqrt(1 - wanted**2))
            figures.append(within(f"{name}: overshoot", 100 * (way.max() / 40.0 - 1), "%", peak, 1.0))
        figures.append(at_most(f"{name}: largest cross-axis motion", np.abs(moved(records)[:, 1]).max(), "mm", 0.1))
        curves[name] = np.column_stack([records["time_s"], way])
    return figures, curves


def _stiffnesses() -> tuple[list[Figure], dict[str, Array]]:
    figures, curves = [], {}
    for stiffness in STIFFNESSES:
        records = pushed(0, FORCE, 14.0, law(stiffness=stiffness)).records
        wanted = 1e4 / stiffness
        figures.append(
            within(f"K {stiffness:g}: deflection f/K under 10 N", -rest(records)[0], "mm", wanted, 0.005 * wanted)
        )
        curves[f"K {stiffness:g}"] = np.column_stack([records["time_s"], -moved(records)[:, 0]])
        reach = float(np.linalg.norm(place(records), axis=1).max())
        figures.append(reported(f"K {stiffness:g}: largest distance from the shoulder", reach, "m"))
    return figures, curves


def run(seed: int, progress: Progress) -> Outcome:
    """The same push of 10 N with different masses, dampings and stiffnesses."""
    began = time.perf_counter()
    ratios, swings = _ratios()
    progress(0.6)
    deflections, rests = _stiffnesses()
    progress(1.0)
    return Outcome(
        "lab-parameters", seed, time.perf_counter() - began, [*ratios, *deflections],
        draw=lambda path: _draw(swings, rests, path),
    )  # fmt: skip


def _draw(swings: dict[str, Array], rests: dict[str, Array], path: Path) -> None:
    with style.applied() as theme:
        subtitle = "two-link arm, 1 kHz; 10 N along −x from 0.5 s; motion in the direction of the push"
        fig, axes = style.figure(1, 2, "Mass, damping, stiffness", subtitle, share_x=False, panel_inches=(6.2, 3.0))
        for (name, curve), colour in zip(swings.items(), theme.lines, strict=False):
            axes[0, 0].plot(curve[:, 0], curve[:, 1], color=colour, label=name)
        axes[0, 0].set_xlim(0, 12)
        axes[0, 0].axhline(40.0, color=theme.faint, lw=0.8, ls=":")
        style.label(axes[0, 0], "K 250 N/m", "mm", "motion")
        for (name, curve), colour in zip(rests.items(), theme.lines, strict=False):
            axes[0, 1].plot(curve[:, 0], curve[:, 1], color=colour, label=name)
        style.label(axes[0, 1], "M 1 kg, B 100 N s/m", "mm", "motion")
        for ax in axes.flat:
            ax.set_xlabel("time [s]")
            style.legend(ax)
    style.save(fig, path)
