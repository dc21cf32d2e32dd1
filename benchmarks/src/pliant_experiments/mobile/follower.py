"""Path following with a base that lags: smooth paths, Reeds-Shepp paths with cusps, an office; and pure pursuit."""

from __future__ import annotations

import math
import time
from pathlib import Path as File
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.pictures.plan_picture import draw_map
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.mobile.base.base_params import Base
from pliant.mobile.base.kinematic_base import KinematicConfig
from pliant.mobile.following.drive_limits import NO_NUMBER, STALE
from pliant.mobile.following.followers import PathFollower, RegulatedPurePursuit
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.planner import HybridAStar
from pliant_experiments.mobile.follow_runs import PERIOD_S, Run, cusp_path, drive, smooth_path
from pliant_experiments.mobile.pose_runs import Tracked, pose_figures
from pliant_experiments.scenes.plan_maps import office, queries

SMOOTH, CUSPS = 8, 20
SLOWER = KinematicConfig(delay_s=0.08, lag_s=0.12, turn_lag_s=0.12)
"""A base whose delays are 50 % longer than the follower assumes."""


def _paths(seed: int) -> dict[str, list[Path]]:
    first = 100 * seed
    return {
        "smooth": [smooth_path(first + k) for k in range(SMOOTH)],
        "Reeds-Shepp": [cusp_path(first + k) for k in range(CUSPS)],
    }


def _office_run(seed: int) -> tuple[HybridAStar, Run, Run]:
    """The first sufficiently long path through the office, by both followers."""
    planner = HybridAStar(office(0))
    far = (pair for pair in queries(planner, seed, 40, roomy=True) if math.dist(pair[0][:2], pair[1][:2]) > 18)
    path = planner.plan(*next(far)).path
    return planner, drive(PathFollower(path), seed), drive(RegulatedPurePursuit(path, space=planner.space), seed)


def _judged(name: str, runs: list[Run], rivals: list[Run]) -> list[Figure]:
    ends = np.array([run.end_error for run in runs])
    return [
        at_least(f"{name}: paths followed to the end", sum(run.done for run in runs), "", len(runs)),
        at_most(f"{name}: largest RMS distance from the path", 1e3 * max(run.rms_m for run in runs), "mm", 7.0),
        at_most(f"{name}: largest distance at the end", 1e3 * ends[:, 0].max(), "mm", 10.0),
        at_most(f"{name}: largest heading error at the end", math.degrees(ends[:, 1].max()), "°", 0.5),
        reported(f"{name}: total time", sum(run.time_s[-1] for run in runs), "s"),
        _to_the_end(f"{name}: pure pursuit, paths followed to the end", rivals),
        at_most(f"{name}: pure pursuit, largest RMS distance", 1e3 * max(run.rms_m for run in rivals), "mm", 35.0),
        reported(f"{name}: pure pursuit, largest distance at the end", 1e3 * max(r.end_error[0] for r in rivals), "mm"),
        reported(f"{name}: pure pursuit, total time", sum(run.time_s[-1] for run in rivals), "s"),
    ]


def _to_the_end(name: str, rivals: list[Run]) -> Figure:
    """How many paths pure pursuit finished: all, unless it stops before an obstacle."""
    ended = sum(run.done for run in rivals)
    return reported(name, ended) if name.startswith("office") else at_least(name, ended, "", len(rivals))


def _beyond_limits(runs: list[Run | Tracked]) -> int:
    """Commands that exceed what the base can do."""
    base, dust, count = Base(), 1e-9, 0
    for run in runs:
        v, w = run.command.T
        wheel = np.abs(v) + 0.5 * base.track_m * np.abs(w)
        dv, dw = np.diff(v) / PERIOD_S, np.diff(w) / PERIOD_S
        faster = (np.abs(v[1:]) > np.abs(v[:-1])) & (v[1:] * v[:-1] >= 0)
        most = np.where(faster, base.acceleration_m_s2, base.deceleration_m_s2)
        count += int(
            (v > base.forward_m_s + dust).sum()
            + (v < -base.backward_m_s - dust).sum()
            + (np.abs(w) > base.turn_rad_s + dust).sum()
            + (wheel > base.wheel_m_s + dust).sum()
            + (np.abs(dv) > most + 1e-6).sum()
            + (np.abs(dw) > base.turn_acceleration_rad_s2 + 1e-6).sum()
        )
    return count


def _guards() -> list[Figure]:
    """Odometry that cannot be used stops the base; a base at rest on its path is not turned by noise."""
    figures = []
    for name, pose, age, state in (
        ("not finite", (math.nan, 0.0, 0.0), 0.0, NO_NUMBER),
        ("stale", (1.0, 0.0, 0.0), 1.0, STALE),
    ):
        follower = PathFollower(Path((0.0, 0.0, 0.0), np.array([[0.0, 5.0]])))
        for k in range(60):
            follower.update((0.004 * k, 0.0, 0.0), 0.2, 0.0)
        said, ticks = follower.update(pose, 0.2, 0.0, age_s=age), 1
        while (abs(said.v) > 0.0 or abs(said.omega) > 0.0) and ticks < 200:
            said, ticks = follower.update(pose, 0.2, 0.0, age_s=age), ticks + 1
        stopped = said.state == state and said.v == 0.0
        figures.append(
            at_most(f"odometry {name}: command zero after", ticks * PERIOD_S if stopped else math.nan, "s", 1.0)
        )
    return figures


def run(seed: int, progress: Progress) -> Outcome:
    """Every path with both followers, then a slower base, the office, and faulty odometry."""
    began = time.perf_counter()
    paths, figures, all_runs, first = _paths(seed), [], [], {}
    total, done = 2 * (SMOOTH + CUSPS) + CUSPS + 4, 0
    for name, group in paths.items():
        runs, rivals = [], []
        for k, path in enumerate(group):
            runs.append(drive(PathFollower(path), 100 * seed + k))
            rivals.append(drive(RegulatedPurePursuit(path), 100 * seed + k))
            done += 2
            progress(done / total)
        figures += _judged(name, runs, rivals)
        all_runs, first[name] = all_runs + runs + rivals, (runs, rivals)
    slow = [drive(PathFollower(path), 100 * seed + k, SLOWER) for k, path in enumerate(paths["Reeds-Shepp"])]
    planner, ours, theirs = _office_run(seed)
    figures += _judged("office", [ours], [theirs])
    sampled, tracked = pose_figures(seed)
    figures += [
        reported("base 50 % slower than assumed, Reeds-Shepp: RMS distance", 1e3 * max(r.rms_m for r in slow), "mm"),
        at_most(
            "commands above a limit of the base", _beyond_limits([*all_runs, *slow, ours, theirs, *tracked]), "", 0.0
        ),
        *_guards(),
        *sampled,
    ]
    progress(1.0)
    return Outcome(
        "follower", seed, time.perf_counter() - began, figures,
        draw=lambda path: _draw(first, planner, ours, theirs, path),
    )  # fmt: skip


def _draw(first: Any, planner: HybridAStar, ours: Run, theirs: Run, target: File) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 3, "Path following with a base that lags",
            "delay 40 ms, lag 80 ms, odometry 20 ms old with noise of 2 mm and 2 mrad, 50 Hz",
            panel_inches=(5.2, 4.4), share_x=False,
        )  # fmt: skip
        runs, rivals = first["Reeds-Shepp"]
        pick = max(range(len(runs)), key=lambda k: (runs[k].path.cusps, runs[k].path.length_m))
        way = runs[pick].path.samples(0.01)
        axes[0, 0].plot(way[:, 0], way[:, 1], color=theme.text, lw=3, alpha=0.25, label="path")
        _lines(axes[0, 0], rivals[pick], runs[pick], theme)
        axes[0, 0].set_aspect("equal", adjustable="datalim")
        axes[0, 0].set_xlabel("x [m]")
        style.label(axes[0, 0], "Reeds-Shepp path", "m", "y")
        for k, (run, name) in enumerate(((theirs, "pure pursuit"), (ours, "path follower"))):
            axes[0, 1].plot(run.time_s, 1e3 * run.cross_m, color=theme.lines[1 - k], lw=1, label=name)
        axes[0, 1].set_xlabel("time [s]")
        style.label(axes[0, 1], "Office: distance from the path", "mm")
        style.legend(axes[0, 1])
        draw_map(axes[0, 2], planner.grid, theme)
        axes[0, 2].plot(ours.pose[:, 0], ours.pose[:, 1], color=theme.lines[0], lw=1.6)
        axes[0, 2].set_title(f"Office: {ours.path.length_m:.0f} m in {ours.time_s[-1]:.0f} s")
    style.save(fig, target)


def _lines(ax: Any, rival: Run, ours: Run, theme: style.Theme) -> None:
    ax.plot(rival.pose[:, 0], rival.pose[:, 1], color=theme.lines[1], lw=1.1, label="pure pursuit")
    ax.plot(ours.pose[:, 0], ours.pose[:, 1], color=theme.lines[0], lw=1.1, label="path follower")
