"""A mobile robot parks its arm, drives through a flat, reaches a table; then with each fault that should stop it."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.pictures.plan_picture import draw_map
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.errors import PliantError
from pliant.mobile.mission.mission_task import MissionTask, begun
from pliant.mobile.mission.stage_machine import Mission
from pliant.mobile.planning.grid import OccupancyGrid
from pliant.mobile.planning.map_files import load_map
from pliant.params.declare import changed
from pliant_experiments.mobile.mission_faults import NOISE, Noisy
from pliant_experiments.mobile.mission_runs import (
    AROUND_TABLE,
    DETOURS,
    DOOR,
    Result,
    Stop,
    detour,
    fetch,
    mishaps,
    random_starts,
    seen_through,
    stopped,
    with_box,
)

STARTS, ON_WHEELS, WITH_NOISE, MISHAPS = 20, 3, 3, 14
TARGET_MM = 10.0


def _judged(name: str, asked: int, results: list[Result], task: MissionTask) -> list[Figure]:
    """Targets of every mission that reaches its goal."""
    if not results:
        return [at_least(f"{name}: missions that reach the goal", 0, "", asked)]
    slowest = {stage: max(r.seconds[stage] for r in results) for stage in "ABC"}
    off_mm = 1e3 * max(r.apart_m for r in results)
    return [
        at_least(f"{name}: missions that reach the goal", sum(r.done for r in results), "", asked),
        at_most(f"{name}: largest tool position error at the end", off_mm, "mm", TARGET_MM),
        at_most(f"{name}: largest tool orientation error", math.degrees(max(r.apart_rad for r in results)), "°", 0.5),
        at_most(f"{name}: slowest stage A", slowest["A"], "s", task.park.limit_s),
        at_most(f"{name}: slowest stage B", slowest["B"], "s", task.travel.limit_s),
        at_most(f"{name}: slowest stage C", slowest["C"], "s", task.reach.limit_s),
        at_most(f"{name}: largest joint error when parked", max(r.parked_rad for r in results), "rad", 0.01),
        reported(f"{name}: largest position error of the base", 1e3 * max(r.stand_m for r in results), "mm"),
        at_most(f"{name}: samples with a collision of the base", sum(r.touches for r in results), "", 0.0),
        at_most(f"{name}: slip reported", sum(r.slipping for r in results), "ticks", 0.0),
    ]


def _commands(results: list[Result]) -> list[Figure]:
    """Commands after the filter: limits, including changes of stage."""
    worst = {name: max(r.shares[name] for r in results) for name in results[0].shares}
    return [
        *(at_most(f"{name}, of the limit", round(100 * share, 6), "%", 100.0) for name, share in worst.items()),
        at_most(
            "accelerations at the change between stages, of the limit",
            round(100 * max(r.handed_over for r in results), 6), "%", 100.0,
        ),
        at_most("sideways speed commanded to the base", max(r.sideways_m_s for r in results), "m/s", 1e-9),
    ]  # fmt: skip


def _stops(stops: list[Stop]) -> list[Figure]:
    fastest = max(stops, key=lambda stop: stop.speed_m_s)
    return [
        at_least("faults: stopped in the right stage for the right reason", sum(s.as_expected for s in stops), "",
                 len(stops)),
        at_most("faults: largest speed at the end", max(s.at_rest for s in stops), "m/s or rad/s", 0.002),
        at_most("faults: accelerations including the stop, of the limit",
                round(100 * max(s.share for s in stops), 6), "%", 100.0),
        at_most("faults: samples with a collision of the base", sum(s.touches for s in stops), "", 0.0),
        reported("faults: largest base speed at the start of a stop", fastest.speed_m_s, "m/s"),
        reported("faults: true stopping distance of this base", fastest.way_m, "m"),
    ]  # fmt: skip


def _detours(cases: list[tuple[Result, int]]) -> list[Figure]:
    """With an obstacle that appears on the path while the base drives."""
    name, results = "obstacle on the path", [result for result, _ in cases]
    wanted = 1 + max(len(shares) for shares in DETOURS.values())
    return [
        at_least(f"{name}: missions that reach the goal", sum(r.done for r in results), "", len(results)),
        at_least(f"{name}: most paths planned in one mission", max(ways for _, ways in cases), "", wanted),
        at_most(f"{name}: largest tool position error", 1e3 * max(r.apart_m for r in results), "mm", TARGET_MM),
        at_most(f"{name}: samples with a collision of the base", sum(r.touches for r in results), "",
                0.0),
    ]  # fmt: skip


def _refusals(task: MissionTask, grid: OccupancyGrid) -> tuple[Figure, list[str]]:
    """Impossible missions are rejected before anything moves, for the right reason; and the exceptions."""
    body, _, _ = begun(task)
    high = (*task.goal_m[:2], 3.0, *task.goal_pose[3:])
    bad: list[tuple[OccupancyGrid, Any, Any, str]] = [
        (with_box(grid, *AROUND_TABLE), task.goal_pose, task.start_pose, "would touch an obstacle"),
        (with_box(grid, *DOOR), task.goal_pose, task.start_pose, "No path exists"),
        (grid, high, task.start_pose, "No base pose was found"),
        (grid, np.full(7, math.nan), task.start_pose, "unit quaternion"),
        (grid, task.goal_pose, (4.95, 1.0, 0.0), "is not free"),  # in a wall
        (grid, task.goal_pose, (math.nan, 1.0, 0.0), "three finite numbers"),
    ]
    refused, wrong = 0, list[str]()
    for cells, goal, start, word in bad:
        try:
            Mission(body, cells, goal, task, task.dt).prepare(start)
            wrong.append(f"Not rejected, although expected with {word!r}.")
        except PliantError as error:
            refused += word in str(error)
            wrong += [] if word in str(error) else [f"Rejected for a reason other than {word!r}: {error}"]
    name = "impossible missions: rejected before anything moves, for the right reason"
    return at_least(name, refused, "", len(bad)), wrong


def _lost(results: list[Result]) -> list[Figure]:
    """With noisy localisation."""
    name = f"{WITH_NOISE} with noise of {1e3 * NOISE[0]:g} mm, {1e3 * NOISE[1]:g} mrad in the base's pose"
    off_mm = 1e3 * max((r.apart_m for r in results), default=math.nan)
    return [
        at_least(f"{name}: missions that reach the goal", sum(r.done for r in results), "", WITH_NOISE),
        at_most(f"{name}: largest tool position error at the end", off_mm, "mm", TARGET_MM),
        reported(f"{name}: slip reported without slip", sum(r.slipping for r in results), "ticks"),
    ]


def _tried(task: MissionTask, refused: list[str], seed: int | None = None) -> list[Result]:
    """The result of a mission, unless it was rejected at the start; with a `seed`, localisation is noisy."""
    try:
        if seed is not None:
            return [seen_through(task, between=lambda robot: Noisy(robot, seed))[0]]
        return [seen_through(task)[0]]
    except PliantError as error:
        refused.append(f"Rejected from the start {_from(task)}: {error}")
        return []


def _notes(stops: list[Stop], results: list[Result]) -> list[str]:
    """Notes on unexpected results."""
    notes = [f"Not as expected: {s.name}: {s.reason or 'not stopped'}." for s in stops if not s.as_expected]
    return notes + [f"Goal not reached from the start {_from(r.task)}: {r.reason}." for r in results if not r.done]


def _from(task: MissionTask) -> str:
    x, y, degrees = task.start
    return f"({x:.2f} m, {y:.2f} m, {degrees:.0f}°){', on wheels' if task.sim.wheels else ''}"


def run(seed: int, progress: Progress) -> Outcome:
    """Random starts on a planar base, some on wheels, then every fault that must stop a mission."""
    began, task = time.perf_counter(), fetch()
    grid, mishap_list = load_map(task.map), mishaps()[:MISHAPS]
    starts = random_starts(task, seed, STARTS)
    total = STARTS + ON_WHEELS + WITH_NOISE + 0.5 * len(mishap_list) + len(DETOURS)
    results, wheels, noisy = list[Result](), list[Result](), list[Result]()
    stops, refused = list[Stop](), list[str]()
    for k, one in enumerate(starts):
        results += _tried(one, refused)
        progress((k + 1) / total)
    for k, one in enumerate(starts[:ON_WHEELS]):
        wheels += _tried(changed(one, {"sim.wheels": True}), refused)
        progress((STARTS + k + 1) / total)
    for k, one in enumerate(starts[-WITH_NOISE:]):
        noisy += _tried(one, refused, seed=100 * seed + k)
        progress((STARTS + ON_WHEELS + k + 1) / total)
    for mishap in mishap_list:
        stops.append(stopped(task, mishap))
        progress((STARTS + ON_WHEELS + WITH_NOISE + 0.5 * len(stops)) / total)
    detours = {where: detour(task, shares) for where, shares in DETOURS.items()}
    refusals, wrong = _refusals(task, grid)
    figures = [
        *_judged(f"{STARTS} random starts", STARTS, results, task),
        *_judged(f"{ON_WHEELS} on wheels", ON_WHEELS, wheels, task),
        *_lost(noisy),
        *_detours(list(detours.values())),
        *_commands([*results, *wheels, *noisy, *(result for result, _ in detours.values())]),
        *_stops(stops),
        refusals,
    ]
    progress(1.0)
    notes = [*refused, *wrong, *_notes(stops, [*results, *wheels, *noisy, *(r for r, _ in detours.values())])]
    return Outcome(
        "mission", seed, time.perf_counter() - began, figures, notes=notes,
        draw=lambda path: _draw(grid, task, results, stops, path), table=_rows([*results, *wheels, *noisy], stops),
    )  # fmt: skip


def _rows(results: list[Result], stops: list[Stop]) -> list[dict[str, Any]]:
    rows = [
        {
            "start": list(r.task.start), "wheels": r.task.sim.wheels, "done": r.done, "reason": r.reason,
            "distance_mm": 1e3 * r.apart_m, "stand_mm": 1e3 * r.stand_m,
            "seconds": [r.seconds[stage] for stage in "ABC"],
        }
        for r in results
    ]  # fmt: skip
    rows += [
        {"mishap": s.name, "as_expected": s.as_expected, "reason": s.reason, "speed_m_s": s.speed_m_s,
         "way_m": s.way_m, "seconds_to_rest": s.seconds}
        for s in stops
    ]  # fmt: skip
    return rows


def _draw(grid: OccupancyGrid, task: MissionTask, results: list[Result], stops: list[Stop], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            2, 2, "Missions from random starts, and stops after faults",
            "UR5e on a differential-drive base in simulation: park the arm, drive, reach over the table",
            panel_inches=(6.4, 2.9), share_x=False,
        )  # fmt: skip
        spec = axes[0, 0].get_gridspec()
        for ax in axes[:, 0]:
            ax.remove()
        above = fig.add_subplot(spec[:, 0])
        draw_map(above, grid, theme)
        for k, result in enumerate(results):
            colour = theme.lines[k % len(theme.lines)]
            above.plot(*result.base[:, :2].T, color=colour, lw=1.2)
            above.plot(*result.base[0, :2], "o", color=colour, ms=4)
            axes[0, 1].semilogy(result.far[:, 0], 1e3 * np.maximum(result.far[:, 1], 1e-6), color=colour, lw=1)
        above.plot(*task.goal_m[:2], "x", color=theme.alarm, ms=8, mew=2, ls="none", label="tool goal")
        style.legend(above)
        axes[0, 1].axhline(TARGET_MM, color=theme.faint, ls=(0, (5, 3)), lw=1)
        axes[0, 1].set_ylim(1e-3, 2e4)
        axes[0, 1].set_xlabel("time [s]")
        style.label(axes[0, 1], "Tool position error", "mm", "distance")
        for k, stop in enumerate(s for s in stops if len(s.v)):
            axes[1, 1].plot(*stop.v.T, color=theme.lines[k % len(theme.lines)], lw=1.4)
        axes[1, 1].axvline(0.0, color=theme.alarm, lw=0.8)
        axes[1, 1].set_xlim(-0.4, 2.0)
        axes[1, 1].set_xlabel("time since the start of the stop [s]")
        style.label(axes[1, 1], "Base command during a stop", "m/s", "v")
    style.save(fig, path)
