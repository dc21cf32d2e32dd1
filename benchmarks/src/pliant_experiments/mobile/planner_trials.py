"""Paths through walls, clutter and an office: success rate and time, against OMPL and the uncompiled search."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.pictures.plan_picture import draw_map, draw_path
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.mobile.base.base_params import Footprint
from pliant.mobile.planning.free_space import free_at, prepared
from pliant.mobile.planning.planner import HybridAStar, NoPathError, Plan
from pliant.mobile.planning.reeds_shepp import path_lengths
from pliant_experiments.rivals.rival_planner import (
    ompl_is_there,
    ompl_lengths,
    ompl_solves,
    one_query,
    pairs,
    uncompiled,
)
from pliant_experiments.scenes.plan_maps import MAPS, queries

Array = np.ndarray[Any, Any]

QUERIES, OMPL_S = 200, 8.0
PAIRS, RADIUS_M = 20_000, 0.7
NO_OMPL = "OMPL is not installed (pip install -e '.[dev]' in Pliant's folder)"
OFFICE_SHARE = 186 / 200
# Bounds on the poses of the query that is also searched uncompiled.
SEARCHED = (40, 400)


@dataclass
class Tally:
    """The results of the queries on one map."""

    name: str
    planner: HybridAStar
    asked: list[tuple[Array, Array]]
    plans: list[Plan | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """Processor time of each query."""
    clock_s: list[float] = field(default_factory=list)
    """Elapsed time of each query."""
    made_s: float = 0.0

    @property
    def solved(self) -> int:
        return sum(plan is not None for plan in self.plans)


def _ask(name: str, seed: int, *, roomy: bool) -> Tally:
    """All queries on one map, after a first one that does not count, and the set-up time per map."""
    planner = HybridAStar(MAPS[name](seed))
    tally = Tally(name, planner, queries(planner, seed, QUERIES, roomy=roomy))
    _answer(planner, *tally.asked[0])
    began = time.thread_time()
    _ = planner.lattices
    tally.made_s = time.thread_time() - began
    for start, goal in tally.asked:
        began = time.thread_time(), time.perf_counter()
        tally.plans.append(_answer(planner, start, goal))
        tally.seconds.append(time.thread_time() - began[0])
        tally.clock_s.append(time.perf_counter() - began[1])
    return tally


def _answer(planner: HybridAStar, start: Array, goal: Array) -> Plan | None:
    try:
        return planner.plan(start, goal)
    except NoPathError:
        return None


def _goal_error(tally: Tally) -> float:
    """Largest distance between the end of a path and its goal [m; a radian counts as a metre]."""
    worst = 0.0
    for plan, (_, goal) in zip(tally.plans, tally.asked, strict=True):
        if plan is not None:
            x, y, heading = plan.path.end
            turn = math.remainder(heading - goal[2], math.tau)
            worst = max(worst, math.hypot(x - goal[0], y - goal[1]), abs(turn))
    return worst


def _collisions(tally: Tally) -> int:
    """Paths on which the footprint, without its margin, touches something; checked every centimetre."""
    body = tally.planner.settings.footprint.model_copy(update={"margin_m": 0.0})
    bare = prepared(tally.planner.grid, Footprint.model_validate(body.model_dump()))
    return sum(
        not all(free_at(bare, row[0], row[1], row[2]) for row in plan.path.samples(0.01))
        for plan in tally.plans
        if plan is not None
    )


def _figures(tally: Tally) -> list[Figure]:
    name, share = tally.name, OFFICE_SHARE if tally.name == "office" else 1.0
    p50, p95, p99 = (1e3 * float(x) for x in np.percentile(tally.seconds, (50, 95, 99)))
    found = [plan for plan in tally.plans if plan is not None]
    slow = (
        [at_most(f"{name}: 95 % within", p95, "ms", 150.0), reported(f"{name}: 99 % within", p99, "ms")]
        if name == "office"
        else [reported(f"{name}: 95 % within", p95, "ms"), at_most(f"{name}: 99 % within", p99, "ms", 100.0)]
    )
    return [
        at_least(f"{name}: solved of {len(tally.asked)}", tally.solved, "", math.ceil(share * len(tally.asked))),
        reported(f"{name}: median", p50, "ms"),
        *slow,
        reported(f"{name}: 99 % within, elapsed time", 1e3 * np.percentile(tally.clock_s, 99), "ms"),
        reported(f"{name}: set-up once per map", 1e3 * tally.made_s, "ms"),
        at_most(f"{name}: paths with a collision", _collisions(tally), "", 0.0),
        at_most(f"{name}: largest error at the goal", _goal_error(tally), "m or rad", 1e-6),
        reported(f"{name}: mean length", np.mean([plan.path.length_m for plan in found]), "m"),
    ]


def _lengths() -> tuple[list[Figure], list[str]]:
    """Reeds-Shepp lengths compared with those of OMPL."""
    apart, notes = math.nan, [f"{NO_OMPL}, so Reeds-Shepp lengths were not compared."]
    if ompl_is_there():
        a, b = pairs(PAIRS)
        apart, notes = np.abs(path_lengths(a, b, RADIUS_M) - ompl_lengths(a, b, RADIUS_M)).max(), []
    return [_if_there(f"Reeds-Shepp lengths of {PAIRS} pairs, largest difference from OMPL", apart, "m", 1e-9)], notes


def _if_there(name: str, value: float, unit: str, target: float) -> Figure:
    """A comparison with OMPL and its target; without OMPL it is reported as not measured and has no target."""
    return reported(name, value, unit) if math.isnan(value) else at_most(name, value, unit, target)


def _cramped(seed: int, progress: Progress) -> tuple[list[Figure], list[str]]:
    """The clutter with starts and goals that need not have room to turn; some queries have no path."""
    tally, name = _ask("clutter", seed, roomy=False), "clutter, no room to turn at the ends"
    p99 = 1e3 * np.percentile(tally.seconds, 99)
    beside, notes = _beside_ompl(tally, name, progress)
    solved = reported(f"{name}: solved of {len(tally.asked)}", tally.solved)
    return [solved, reported(f"{name}: 99 % within", p99, "ms"), *beside], notes


def _beside_ompl(tally: Tally, name: str, progress: Progress) -> tuple[list[Figure], list[str]]:
    """Queries that OMPL solves and Pliant does not: only those that Pliant did not solve are tried."""
    open_ones = [pair for plan, pair in zip(tally.plans, tally.asked, strict=True) if plan is None]
    more, notes = math.nan, [f"{NO_OMPL}, so its success rate was not measured ({name})."]
    if ompl_is_there():
        more, notes = 0.0, []
        for k, (start, goal) in enumerate(open_ones):
            more += ompl_solves(tally.planner, start, goal, OMPL_S)
            progress((k + 1) / len(open_ones))
    beside = _if_there(f"{name}: unsolved, but solved by OMPL's RRTConnect in {OMPL_S:g} s", more, "", 0.0)
    return [reported(f"{name}: unsolved", len(open_ones)), beside], notes


def _beside_uncompiled(tally: Tally, seed: int) -> list[Figure]:
    """One query of the clutter, compiled and uncompiled, in this one run."""
    least, most = SEARCHED
    effort = [plan.expanded if plan is not None else 0 for plan in tally.plans]
    number = next((k for k, n in enumerate(effort) if least <= n <= most), int(np.argmax(effort)))
    quick, slow = one_query(tally.name, seed, number, 5), uncompiled(tally.name, seed, number)
    apart = np.abs(np.array(quick["arcs"]) - np.array(slow["arcs"])).max()
    return [
        reported(f"one query ({quick['expanded']} poses): compiled", 1e3 * quick["seconds"], "ms"),
        reported("the same query: uncompiled", 1e3 * slow["seconds"], "ms"),
        at_least("times faster than uncompiled", slow["seconds"] / quick["seconds"], "×", 100.0),
        at_most("difference of the two paths", apart, "1/m or m", 1e-9),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """Three maps with 200 queries each."""
    began = time.perf_counter()
    tallies, figures = [], []
    for k, name in enumerate(MAPS):
        tallies.append(_ask(name, seed, roomy=name != "office"))
        figures += _figures(tallies[-1])
        progress(0.5 * (k + 1) / len(MAPS))
    beside, notes = _beside_ompl(tallies[-1], "office", lambda share: progress(0.5 + 0.3 * share))
    cramped, unknown = _cramped(seed, lambda share: progress(0.8 + 0.15 * share))
    lengths, silent = _lengths()
    figures += beside + cramped + lengths + _beside_uncompiled(tallies[1], seed)
    notes += unknown + silent
    progress(1.0)
    notes.append("Times are CPU times of the planning thread, so other programs do not count.")
    return Outcome(
        "planner", seed, time.perf_counter() - began, figures, notes=notes, draw=lambda path: _draw(tallies, path)
    )


def _draw(tallies: list[Tally], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 3, "Paths through walls, clutter and an office",
            "40 × 40 m, cells of 0.1 m, radius 0.5 m, footprint 0.72 × 0.60 m; longest path of each map",
            panel_inches=(5.4, 5.4), share_x=False,
        )  # fmt: skip
        for ax, tally in zip(axes[0], tallies, strict=True):
            longest = max((p for p in tally.plans if p is not None), key=lambda plan: plan.path.length_m)
            draw_map(ax, tally.planner.grid, theme)
            draw_path(ax, longest.path, tally.planner.settings.footprint, theme)
            ax.set_title(f"{tally.name}: {tally.solved} of {len(tally.asked)}")
        style.legend(axes[0, 2])
    style.save(fig, path)
