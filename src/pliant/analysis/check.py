"""What is to be expected of a contact task over the surfaces that it declares, before anything moves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis import style
from pliant.analysis.figures import Figure, Outcome, at_least, at_most, told
from pliant.analysis.stability import Touch, gain_for, gain_margin, largest_stiffness, plant_of, touch
from pliant.errors import InputError
from pliant.runtime.task import Task

# So much more gain than the law takes must be bearable.
LEAST_MARGIN = 1.5
# The declared lag may be so much shorter than that of the model.
LAG_SHARE = 0.9
# Damping [N s/m] of a surface of which no more is known than its stiffness.
DAMPING = 50.0
POINTS = 5


def grid(task: Task) -> list[float]:
    """The stiffnesses to look at [N/m]: over the declared range."""
    p = task.params.contact
    return [float(k) for k in np.geomspace(p.stiffness_min_n_m, p.stiffness_max_n_m, POINTS)]


def check(task: Task, damping: float = DAMPING) -> Outcome:
    """Margins, the first touch and its settling, each beside what it must meet."""
    if task.law != "hybrid" and not any(event.law == "hybrid" for event in task.events):
        raise InputError("law", task.law, "hybrid: only a contact can be checked", "See docs/laws/hybrid.md.")
    p, plant = task.params.contact, plant_of(task)
    figures: list[Figure] = [
        at_least("declared lag over that of the model", p.lag_s / plant.lag_s, "", LAG_SHARE),
        told("total lag of the model", plant.lag_s * 1e3, "ms"),
        told("mass that the arm presents", plant.mass, "kg"),
    ]
    drawn = []
    for stiffness in grid(task):
        where, found = f"{stiffness:.3g} N/m", touch(task, stiffness, damping)
        drawn.append((stiffness, found))
        figures += [
            told(f"{where}: gain", gain_for(p, plant, stiffness, damping) * 1e3, "mm/(N s)"),
            at_least(f"{where}: gain margin", gain_margin(p, plant, stiffness, damping), "×", LEAST_MARGIN),
            told(f"{where}: stable up to", largest_stiffness(p, plant, stiffness, damping), "N/m"),
            at_most(f"{where}: peak of the first touch", found.peak_n, "N", p.peak_n),
            at_most(f"{where}: settled to ±5 %", found.settle_s, "s", p.settle_s),
        ]
    return Outcome("check", 0, 0.0, figures, _advice(figures), draw=lambda path: _draw(task, drawn, path))


def _advice(figures: list[Figure]) -> list[str]:
    """A sentence for each kind of bar that is not met."""
    words = {
        "declared lag": "The declared lag is shorter than the loop's: raise contact.lag_s, or every gain is too high.",
        "gain margin": "The loop is not stable enough: raise contact.lag_s or lower contact.margin.",
        "peak": "The first touch presses too hard: lower contact.approach_m_s, or declare contact.lag_s as it is.",
        "settled": "The force does not settle in time: see the margins, and contact.settle_s.",
    }
    return [text for key, text in words.items() if any(key in f.name and not f.holds for f in figures)]


def _draw(task: Task, drawn: list[tuple[float, Touch]], path: Path) -> None:
    p = task.params.contact
    with style.applied() as theme:
        subtitle = "the law's own code against a model of servo, arm, filter and surface"
        fig, axes = style.figure(1, 1, f"First touch predicted: {task.name}", subtitle, panel_inches=(8.0, 3.6))
        ax: Any = axes[0, 0]
        ax.axhspan(0.95 * p.target_n, 1.05 * p.target_n, color=theme.grid, zorder=0)
        for i, (stiffness, found) in enumerate(drawn):
            begin = found.time_s[int(np.argmax(found.force_n > 0.0))]
            ax.plot(found.time_s - begin, found.force_n, color=theme.lines[i], label=f"{stiffness:.3g} N/m")
        ax.axhline(p.peak_n, color=theme.alarm, ls="--", lw=1)
        late = [found.settle_s for _, found in drawn if math.isfinite(found.settle_s)]
        ax.set_xlim(-0.1, max(1.5, *late) if late else 1.5)
        ax.set_xlabel("time since first touch [s]")
        style.label(ax, "Force", "N")
        style.legend(ax)
    style.save(fig, path)
