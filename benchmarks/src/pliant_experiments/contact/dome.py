"""A probe finds a dome, holds 5 N, dwells and slides 50 mm: peak, settling, losses and error; against other laws."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported, within
from pliant.control.laws.contact.contact_states import SLIDE
from pliant_experiments.rivals.rival_contact import RIVALS, judge_rival, run_rival
from pliant_experiments.scenes.contact_trial import (
    FORCE,
    QUICK,
    SLOW,
    Figures,
    Loop,
    Trace,
    completed,
    dome,
    judge,
    run_contact,
    state_of,
    task,
)

STIFFNESS = (1e3, 5e3, 2e4, 1e5)
BESIDE = ("saturated", "sign", "proposed", "admittance", "force_mode")


def _targets(loop: Loop, stiffness: float, found: Figures) -> list[Figure]:
    """The targets of one row of the table."""
    where = f"{stiffness:g} N/m, {loop.name}"
    quick, stiff = loop is QUICK, stiffness > 5e4
    figures = [
        at_most(f"{where}: peak", found.peak_n, "N", 7.5 if quick and not stiff else 10.0),
        at_most(f"{where}: contact losses", found.losses, "", 0.0),
        at_most(f"{where}: settling time to ±5 %", found.settle_s, "s", 1.0 if quick else 2.0),
    ]
    name = f"{where}: RMS error while sliding"
    if quick:
        figures.append(at_most(name, found.slide_rms_n, "N", 0.5 if stiff else 0.2))
    else:
        figures.append(reported(name, found.slide_rms_n, "N"))
    speed = 1e3 * found.way_m / found.slide_s if found.slide_s > 0.0 else math.nan
    figures.append(reported(f"{where}: mean speed while sliding", speed, "mm/s"))
    return figures + completed(where, found)


def _learned(loop: Loop, stiffness: float, trace: Trace) -> list[Figure]:
    """What the law had learned at the end of the slide, compared with the truth."""
    records, where = trace.records, f"{stiffness:g} N/m, {loop.name}"
    slid = np.flatnonzero(state_of(trace) == SLIDE)
    assert records is not None
    if not len(slid):
        return []
    last = records["contact"][slid[-1]]
    tip = records["observed"]["pose"][slid[-1], :3]
    out = tip - np.array(dome(stiffness).position_m)
    off = np.degrees(np.arccos(np.clip(last["normal"] @ out / np.linalg.norm(out), -1, 1)))
    return [
        reported(f"{where}: estimated stiffness", float(last["stiffness"]), "N/m"),
        reported(f"{where}: error of the normal at the end", float(off), "deg"),
    ]


def _rivals(loop: Loop, stiffness: float, seed: int) -> tuple[list[Figure], Trace]:
    figures, kept = [], None
    for key in BESIDE:
        trace, phase = run_rival(RIVALS[key], dome(stiffness), loop, seed)
        found, where = judge_rival(trace, phase), f"{stiffness:g} N/m, {loop.name}, {RIVALS[key].name}"
        kept = kept or trace
        figures += [
            reported(f"{where}: peak", found.peak_n, "N"),
            reported(f"{where}: contact losses", found.losses),
            reported(f"{where}: RMS error while sliding", found.slide_rms_n, "N"),
        ]
    assert kept is not None
    return figures, kept


def run(seed: int, progress: Progress) -> Outcome:
    """Four stiffnesses with a total lag of 25 ms and 50 ms; only the stiffness range is declared."""
    began = time.perf_counter()
    figures: list[Figure] = []
    drawn: list[tuple[Loop, float, Trace, Trace]] = []
    for i, loop in enumerate((QUICK, SLOW)):
        figures.append(within(f"total lag, {loop.name}", loop.lag_s() * 1e3, "ms", (25.0, 50.0)[i], 0.2))
        for j, stiffness in enumerate(STIFFNESS):
            trace = run_contact(task((dome(stiffness),), loop, seed, 20.0))
            figures += _targets(loop, stiffness, judge(trace)) + _learned(loop, stiffness, trace)
            beside, rival = _rivals(loop, stiffness, seed)
            figures += beside
            drawn.append((loop, stiffness, trace, rival))
            progress((4 * i + j + 1) / 8)
    notes = [
        "All forces are true forces of the simulator, not sensor readings. The other laws are given the time of first"
        " contact and, if they use it, the true normal. Pliant has to find both."
    ]
    return Outcome("dome", seed, time.perf_counter() - began, figures, notes, draw=lambda path: _draw(drawn, path))


def _draw(drawn: list[tuple[Loop, float, Trace, Trace]], path: Path) -> None:
    with style.applied() as theme:
        subtitle = "true force along the normal; sim:ur5e, 500 Hz, µ = 0.3; thin: saturated PI loop"
        fig, axes = style.figure(4, 2, "5 N on a dome with a radius of 45 mm", subtitle, panel_inches=(6.0, 1.75))
        for i, (loop, stiffness, trace, rival) in enumerate(drawn):
            ax = axes[i % 4, i // 4]
            ax.plot(rival.time_s, rival.normal_n, color=theme.alarm, lw=0.5, alpha=0.7)
            ax.plot(trace.time_s, trace.normal_n, color=theme.lines[0])
            ax.axhspan(0.95 * FORCE, 1.05 * FORCE, color=theme.grid, zorder=0)
            ax.set_ylim(0.0, 15.0)
            ax.set_xlim(0.0, 12.0)
            style.label(ax, f"{stiffness:g} N/m, total lag {loop.name}", "N", "force")
        for ax in axes[-1]:
            ax.set_xlabel("time [s]")
    style.save(fig, path)
