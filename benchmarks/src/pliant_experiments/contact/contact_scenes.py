"""Other surfaces: a plane, an unknown tilt, a surface that moves, one that ends, one that becomes stiffer."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported, within
from pliant.control.laws.contact.contact_states import DWELL, RETRACT, SLIDE, STATES
from pliant.world.world_config import Surface
from pliant_experiments.scenes.contact_trial import (
    FORCE,
    GAP,
    QUICK,
    SLOW,
    Loop,
    Trace,
    contact_of,
    judge,
    plane,
    run_contact,
    state_of,
    task,
    top_of_home,
)

STIFF, STIFFNESS, SOFT, SOFTEST = 1e5, 2e4, 2e3, 1e3
# Ticks at the end of the dwell over which the force is averaged.
REST = 100
# From where to where a surface becomes stiffer within 10 mm.
PATCHES = ((SOFT, STIFFNESS), (5e3, STIFF))
SWING_M, SWING_HZ, SWING_AT_S = 0.005, 0.2, 3.0
# When it begins to move under a tool that slides [s]: friction has been learned by then.
SLIDING_AT_S = 7.0
Drawn = list[tuple[str, Trace]]


def _planes(loop: Loop, seed: int) -> tuple[list[Figure], Drawn]:
    figures, drawn = [], []
    for stiffness, tilt in ((STIFFNESS, 0.0), (STIFFNESS, 20.0), (STIFFNESS, -20.0), (STIFF, 20.0), (STIFF, -20.0)):
        trace = run_contact(task((plane(stiffness, tilt),), loop, seed, 25.0))
        found, name = judge(trace), f"plane of {stiffness:g} N/m tilted by {tilt:g}°, {loop.name}"
        slid = np.flatnonzero(state_of(trace) == SLIDE)
        normal = contact_of(trace)["normal"][slid[-1]] if len(slid) else np.full(3, np.nan)
        learned = float(np.degrees(np.arctan2(-normal[1], normal[2])))
        figures += [
            at_most(f"{name}: peak", found.peak_n, "N", 10.0),
            at_most(f"{name}: contact losses", found.losses, "", 0.0),
            reported(f"{name}: settling time to ±5 %", found.settle_s, "s"),
            reported(f"{name}: RMS error while sliding", found.slide_rms_n, "N"),
            within(f"{name}: estimated tilt", learned, "deg", tilt, 2.0),
            within(f"{name}: slide distance", 1e3 * _way(trace), "mm", 50.0, 0.1),
        ]
        drawn.append((f"plane of {stiffness:g} N/m, {tilt:g}°", trace))
    return figures, drawn


def _across(loop: Loop, seed: int) -> tuple[list[Figure], Drawn]:
    """Planes that are tilted across the path: the force before the slope is known, and how long that lasts."""
    figures = []
    for stiffness in (SOFTEST, STIFFNESS, STIFF):
        for tilt in (20.0, -20.0):
            surface = plane(stiffness).model_copy(update={"rpy_deg": (0.0, tilt, 0.0)})
            trace = run_contact(task((surface,), loop, seed, 25.0))
            found, name = judge(trace), f"plane of {stiffness:g} N/m tilted by {tilt:g}° across the path, {loop.name}"
            rested = trace.normal_n[np.flatnonzero(state_of(trace) == DWELL)[-REST:]]
            figures += [
                at_most(f"{name}: peak", found.peak_n, "N", 10.0),
                at_most(f"{name}: contact losses", found.losses, "", 0.0),
                reported(f"{name}: settling time to ±5 % before the slide (none: not settled)", found.settle_s, "s"),
                reported(f"{name}: force along the true normal at the end of the dwell", rested.mean(), "N"),
                reported(f"{name}: RMS error while sliding", found.slide_rms_n, "N"),
            ]
    return figures, []


def _moving(loop: Loop, seed: int) -> tuple[list[Figure], Drawn]:
    surface = plane(STIFFNESS, 0.0, swing_m=SWING_M, swing_hz=SWING_HZ, swing_at_s=SWING_AT_S)
    trace = run_contact(task((surface,), loop, seed, SWING_AT_S + 2 / SWING_HZ, dwell_s=60.0))
    held = (state_of(trace) == DWELL) & (trace.time_s > SWING_AT_S)
    error = trace.normal_n[held] - FORCE
    name = f"surface that moves by ±5 mm at 0.2 Hz, {loop.name}"
    return [
        at_most(f"{name}: contact losses", judge(trace).losses, "", 0.0),
        reported(f"{name}: RMS error", np.sqrt(np.mean(error**2)), "N"),
        reported(f"{name}: largest error", np.abs(error).max(), "N"),
    ], [("moving by ±5 mm", trace)]


def _moving_under_the_slide(loop: Loop, seed: int) -> tuple[list[Figure], Drawn]:
    """The same motion under a sliding tool: on its own it looks like a slope of 32°."""
    surface = plane(STIFFNESS, 0.0, swing_m=SWING_M, swing_hz=SWING_HZ, swing_at_s=SLIDING_AT_S)
    trace = run_contact(task((surface,), loop, seed, 25.0))
    found, slid = judge(trace), state_of(trace) == SLIDE
    name = f"slide on a surface that moves by ±5 mm, {loop.name}"
    upright = contact_of(trace)["normal"][slid, 2].min(initial=1.0)
    return [
        at_most(f"{name}: peak", found.peak_n, "N", 10.0),
        at_most(f"{name}: contact losses", found.losses, "", 0.0),
        reported(f"{name}: RMS error while sliding", found.slide_rms_n, "N"),
        reported(f"{name}: largest error of the normal", np.degrees(np.arccos(upright)), "deg"),
        within(f"{name}: slide distance", 1e3 * _way(trace), "mm", 50.0, 0.1),
    ], [("moving by ±5 mm while sliding", trace)]


def _edge(loop: Loop, seed: int) -> tuple[list[Figure], Drawn]:
    """A box that ends 20 mm after the touch."""
    x, y, z = (float(v) for v in top_of_home())
    box = Surface(
        kind="box", position_m=(x, y, z - GAP - 0.03), half_size_m=(0.05, 0.02, 0.03), stiffness_n_m=STIFFNESS
    )
    trace = run_contact(task((box,), loop, seed, 20.0))
    state, name = state_of(trace), f"surface that ends, {loop.name}"
    late_s, dive_m = _over_the_edge(trace)
    return [
        at_most(f"{name}: time from the edge to lift-off", late_s, "s", 0.2),
        at_most(f"{name}: depth below the edge", dive_m * 1e3, "mm", 2.0),
        at_most(f"{name}: peak", judge(trace).peak_n, "N", 10.0),
        within(f"{name}: ends as {STATES[7]}", float(state[-1]), "", 7.0, 0.0),
    ], [("ends after 20 mm", trace)]


def _over_the_edge(trace: Trace) -> tuple[float, float]:
    """Time from the edge to the lift-off [s] and how far the tool dived [m]; NaN if it did not happen."""
    state = state_of(trace)
    slid = np.flatnonzero(state == SLIDE)
    off = slid[0] + np.flatnonzero(trace.normal_n[slid[0] :] == 0.0) if len(slid) else slid
    if not len(off):
        return math.nan, math.nan
    lifts = np.flatnonzero(state[off[0] :] == RETRACT)
    dive = float(trace.tip[off[0], 2] - trace.tip[off[0] :, 2].min())
    return (float(trace.time_s[off[0] + lifts[0]] - trace.time_s[off[0]]) if len(lifts) else math.nan), dive


def _patch(loop: Loop, seed: int) -> tuple[list[Figure], Drawn]:
    """Ten and twenty times stiffer within 10 mm; the surface's x axis is turned into the path."""
    figures, drawn = [], []
    for soft, stiff in PATCHES:
        surface = plane(soft, 0.0, stiffness_end_n_m=stiff, change_m=(0.01, 0.02)).model_copy(
            update={"rpy_deg": (0.0, 0.0, 90.0)}
        )
        trace = run_contact(task((surface,), loop, seed, 30.0))
        found, name = judge(trace), f"{soft:g} to {stiff:g} N/m within 10 mm, {loop.name}"
        figures += [
            at_most(f"{name}: peak", found.peak_n, "N", 10.0),
            at_most(f"{name}: contact losses", found.losses, "", 0.0),
            reported(f"{name}: RMS error while sliding", found.slide_rms_n, "N"),
            within(f"{name}: slide distance", 1e3 * _way(trace), "mm", 50.0, 0.1),
        ]
        drawn.append((f"becomes {stiff / soft:g} times stiffer", trace))
    return figures, drawn


def _way(trace: Trace) -> float:
    """How far the path was followed [m]."""
    return float(contact_of(trace)["travelled_m"].max())


SCENES = (_planes, _across, _moving, _moving_under_the_slide, _edge, _patch)


def run(seed: int, progress: Progress) -> Outcome:
    """Each scene with a total lag of 25 ms and 50 ms."""
    began = time.perf_counter()
    figures: list[Figure] = []
    drawn: list[Drawn] = []
    for i, loop in enumerate((QUICK, SLOW)):
        drawn.append([])
        for j, scene in enumerate(SCENES):
            found, traces = scene(loop, seed)
            figures += found
            drawn[i] += traces
            progress((len(SCENES) * i + j + 1) / (2 * len(SCENES)))
    return Outcome("contact-scenes", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(drawn, path))


def _draw(drawn: list[Drawn], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            10, 2, "5 N on other surfaces", "true force along the normal; left: total lag 25 ms, right: 50 ms",
            panel_inches=(6.0, 1.6),
        )  # fmt: skip
        for column, traces in enumerate(drawn):
            for row, (name, trace) in enumerate(traces):
                ax = axes[row, column]
                ax.axhspan(0.95 * FORCE, 1.05 * FORCE, color=theme.grid, zorder=0)
                ax.plot(trace.time_s, trace.normal_n, color=theme.lines[column])
                ax.set_ylim(0.0, 12.0)
                ax.set_xlim(0.0, 14.0)
                style.label(ax, name, "N", "force")
        for ax in axes[-1]:
            ax.set_xlabel("time [s]")
    style.save(fig, path)
