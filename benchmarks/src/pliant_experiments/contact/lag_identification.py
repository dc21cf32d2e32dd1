"""Identify the lag of a robot from a small motion, over bandwidths and delays of its servo, with noise."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.identify.delay_fit import CONFIDENT, Delay, DelayError, check, identify, identify_force
from pliant.identify.delay_motion import Excitation, Motion, find_lag, move_free, move_pressed
from pliant.stability.plant import plant_of
from pliant.world.world_config import Servo
from pliant_experiments.scenes.contact_trial import QUICK, SLOW, Loop, plane, task

Array = np.ndarray[Any, Any]

BANDWIDTH_HZ, DELAY_MS = (3.0, 6.8, 13.0, 25.0), (2.0, 4.0, 8.0, 16.0, 30.0)
# Noise of the joint angles at the tool [m]: a hundredth of the amplitude.
NOISE_M = 2e-5
REPEATS = 3
STIFFNESS = (5e3, 2e4, 1e5)
LATE_TICKS = 4
# Target: this error, or this share of the lag.
TARGET_S, TARGET = 0.002, 0.05
Row = tuple[float, float, list[Delay]]


def _truth(servo: Servo, dt: float) -> float:
    """The lag of a simulated servo [s]: no command arrives before the period is over."""
    return max(servo.delay_s, dt) + 2.0 / servo.omega


def _noisy(moved: Motion, random: np.random.Generator) -> Delay:
    y = moved.position + NOISE_M * random.normal(size=len(moved.position))
    return identify(moved.command, y, moved.dt)


def _grid(seed: int, progress: Progress) -> tuple[list[Figure], list[Row]]:
    """Every servo is moved once, and noise is added to its readings several times."""
    random, rows = np.random.default_rng(seed), []
    for i, bandwidth in enumerate(BANDWIDTH_HZ):
        for j, delay in enumerate(DELAY_MS):
            servo = Servo(bandwidth_hz=bandwidth, delay_s=delay * 1e-3)
            what = task((), Loop("", servo, 20.0), seed, 10.0)
            moved = move_free(what, Excitation(), fast=True)
            rows.append((bandwidth, _truth(servo, what.dt), [_noisy(moved, random) for _ in range(REPEATS)]))
            progress((i * len(DELAY_MS) + j + 1) / (len(BANDWIDTH_HZ) * len(DELAY_MS)))
    off = np.array([[abs(found.lag_s - true) for found in many] for _, true, many in rows])
    share = np.array([[abs(f.lag_s - true) / max(TARGET_S, TARGET * true) for f in many] for _, true, many in rows])
    inside = np.array([[abs(f.lag_s - true) <= CONFIDENT * f.lag_std_s + _STEP_S for f in m] for _, true, m in rows])
    split = np.array([[abs(f.delay_s + f.servo_s - f.lag_s) for f in many] for _, _, many in rows])
    assert split.max() < 1e-9
    return [
        reported("servos", len(rows)),
        reported("smallest true lag", min(true for _, true, _ in rows) * 1e3, "ms"),
        reported("largest true lag", max(true for _, true, _ in rows) * 1e3, "ms"),
        at_most("largest error of the lag", off.max() * 1e3, "ms", 2.0),
        at_most("largest error relative to 2 ms or 5 %, whichever is larger", share.max(), "×", 1.0),
        reported("mean error of the lag", off.mean() * 1e3, "ms"),
        at_least("share of lags within their 95 % interval plus one physics step", inside.mean(), "", 0.9),
    ], rows


# The simulator's steps change its lag by up to one step [s].
_STEP_S = 5e-4


def _total(loop: Loop, seed: int) -> list[Figure]:
    """The whole lag of the loops that the other experiments run with, as `pliant identify delay` writes it."""
    what = task((), loop, seed, 10.0)
    found = find_lag(what, fast=True)
    true = plant_of(what).lag_s
    return [
        reported(f"total lag of the {loop.name} loop, identified", found.total_s * 1e3, "ms"),
        at_most(f"total lag of the {loop.name} loop, error", abs(found.total_s - true) * 1e3, "ms", 2.0),
    ]


def _pressed(stiffness: float, seed: int) -> list[Figure]:
    """In contact: the lag of the force, with a sensor without delay and with a late one."""
    surface = plane(stiffness)
    what = task((surface,), SLOW, seed, 10.0)
    moved = move_pressed(what, Excitation(), fast=True)
    found, late = _force_lag(moved, 0), _force_lag(moved, LATE_TICKS)
    lead, where = surface.damping_n_s_m / stiffness, f"pressing on {stiffness:g} N/m"
    return [
        at_most(f"{where}: motion to force, error of the lag", abs(found + lead) * 1e3, "ms", 2.0 + 0.05 * lead * 1e3),
        at_most(
            f"{where}: readings {LATE_TICKS * what.dt * 1e3:g} ms late, error of the lag",
            abs(late - found - LATE_TICKS * what.dt) * 1e3, "ms", 2.0,
        ),
        at_least(f"{where}: smallest force during the motion", moved.force.min(), "N", 0.0),
    ]  # fmt: skip


def _force_lag(moved: Motion, ticks: int) -> float:
    n = len(moved.force)
    late = replace(moved, force=np.concatenate([np.full(ticks, moved.force[0]), moved.force[: n - ticks]]))
    return identify_force(-late.position, -late.speed, late.force, late.dt).lag_s


def _rejections(seed: int) -> list[Figure]:
    """Data without a clear lag is rejected, not guessed."""
    random = np.random.default_rng(seed)
    moved = move_free(task((), SLOW, seed, 10.0), Excitation(amplitude_m=1e-4, seconds=2.0), fast=True)
    drowned = moved.position + 2e-4 * random.normal(size=len(moved.position))
    held = 0.5 * moved.position
    rejected = 0
    for position in (drowned, held, np.zeros_like(held)):
        try:
            check(identify(moved.command, position, moved.dt), 1e-4)
        except DelayError:
            rejected += 1
    return [at_least("rejected: hidden in noise, half executed, not executed", rejected, "of 3", 3)]


def run(seed: int, progress: Progress) -> Outcome:
    """Identified against true lag over the servo's bandwidth and delay, in contact, and with unusable data."""
    began = time.perf_counter()
    figures, rows = _grid(seed, lambda share: progress(0.7 * share))
    for loop in (QUICK, SLOW):
        figures += _total(loop, seed)
    for i, stiffness in enumerate(STIFFNESS):
        figures += _pressed(stiffness, seed)
        progress(0.75 + 0.2 * (i + 1) / len(STIFFNESS))
    figures += _rejections(seed)
    progress(1.0)
    notes = [
        f"The tool moves back and forth by 2 mm for 8 s, with {NOISE_M * 1e6:g} µm of noise on every position reading, "
        f"{REPEATS} times for each servo."
    ]
    return Outcome("delay", seed, time.perf_counter() - began, figures, notes, draw=lambda path: _draw(rows, path))


def _draw(rows: list[Row], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 2, "Identified lag", f"2 mm for 8 s, {NOISE_M * 1e6:g} µm of noise; bars: 95 %",
            panel_inches=(5.6, 3.4),
        )  # fmt: skip
        left, right = axes[0]
        most = max(true for _, true, _ in rows) * 1.1e3
        left.plot([0, most], [0, most], color=theme.faint, lw=0.8)
        for i, bandwidth in enumerate(BANDWIDTH_HZ):
            mine = [(true * 1e3, many) for band, true, many in rows if band == bandwidth]
            for k, (true, many) in enumerate(mine):
                lag = np.array([found.lag_s for found in many]) * 1e3
                label = f"{bandwidth:g} Hz" if k == 0 else None
                left.plot(np.full(len(lag), true), lag, "o", ms=3, mfc="none", color=theme.lines[i], label=label)
                std = np.array([found.lag_std_s for found in many]).mean() * 1e3
                right.errorbar(true, lag.mean() - true, yerr=CONFIDENT * std, fmt="o", ms=3, lw=1, color=theme.lines[i])
        x = np.linspace(0, most, 200)
        target = np.maximum(TARGET_S * 1e3, TARGET * x)
        right.fill_between(x, -target, target, color=theme.grid, zorder=0)
        style.label(left, "Identified lag", "ms")
        style.label(right, "Lag error, mean of the repeats", "ms")
        for ax in (left, right):
            ax.set_xlabel("true lag of the servo [ms]")
            ax.set_xlim(0, most)
        style.legend(left)
    style.save(fig, path)
