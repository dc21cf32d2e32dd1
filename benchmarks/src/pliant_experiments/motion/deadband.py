"""A deadband subtracted from the law's input: the tool settles, starts in the right direction, and springs back."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.control.parameters import Admittance, Parameters, Sense, diagonal
from pliant.control.sense.external_wrench import deadband
from pliant.model.tool import Tool
from pliant.params.packing import to_record
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task
from pliant.world.world_config import Push, SimConfig
from pliant_experiments.rivals.explicit_law import Choices, ExplicitLaw, Trace, alike, run_in_simulator

Array = np.ndarray[Any, Any]

DT, DEADBAND, RATIO = 0.002, 1.0, 0.8
# A tool without mass: the sensor measures only the pushes, so that only the laws differ.
TOOL = Tool(tcp_m=(0.0, 0.0, 0.15))
# Pushed along -y from the left of the base, the arm has a metre of room.
START = (3.66, -1.57, 1.57, -1.57, -1.57, 0.0)
PUSH_N, BACK_N, REST_S, STIFFNESS = 20.0, 2.0, 5.0, 200.0
# A push of 1 s, 5 s of rest, then a small one the other way.
_FIRST_S = 0.5
_BACK_S = _FIRST_S + 1.0 + REST_S
_END_S = _BACK_S + 2.0


def _scene(seed: int, *, back: bool) -> SimConfig:
    pushes = [Push(at_s=_FIRST_S, for_s=1.0, wrench=(0.0, -PUSH_N, 0.0, 0.0, 0.0, 0.0))]
    if back:
        pushes.append(Push(at_s=_BACK_S, for_s=2.0, wrench=(0.0, BACK_N, 0.0, 0.0, 0.0, 0.0)))
    return SimConfig(seed=seed, pushes=tuple(pushes))


def _ours(seed: int, stiffness: float, *, back: bool) -> Array:
    parameters = Parameters(
        sense=Sense(deadband_n=DEADBAND),
        admittance=Admittance(stiffness=diagonal(stiffness, 20.0), damping_ratio=alike(RATIO)),
    )
    task = Task(
        law="admittance", tool=TOOL, start_q=START, duration_s=_END_S, params=parameters,
        sim=_scene(seed, back=back),
    )  # fmt: skip
    return simulate(task).records


def _rival(seed: int, stiffness: float, *, back: bool) -> Trace:
    mass, spring = np.array(diagonal(8.0, 0.5)), np.array(diagonal(stiffness, 20.0))
    law = ExplicitLaw(mass, spring, RATIO, DT, Choices(early_return=True, deadband=DEADBAND, coefficient=0.8))
    return run_in_simulator(law, _scene(seed, back=back), TOOL, _END_S, start_q=START)


def _first(times: Array, velocity: Array) -> float:
    """The first commanded velocity [m/s] after the push back began; positive in the direction of the push."""
    later = np.flatnonzero((times > _BACK_S) & np.isfinite(velocity) & (np.abs(velocity) > 1e-9))
    return float(velocity[later[0]]) if len(later) else float("nan")


def _steepest(seed: int) -> tuple[float, float]:
    """Largest change of the law's input per newton of change of the wrench: over random pairs, and over the edge."""
    random, p = np.random.default_rng(seed), to_record(Sense(deadband_n=DEADBAND))[0]
    worst = 0.0
    for _ in range(2000):
        one = np.concatenate([random.normal(0, 2 * DEADBAND, 3), np.zeros(3)])
        other = one + np.concatenate([random.normal(0, 10.0 ** random.uniform(-6, 0), 3), np.zeros(3)])
        worst = max(worst, float(np.linalg.norm(_felt(p, one) - _felt(p, other)) / np.linalg.norm(one - other)))
    step = 1e-9
    low, high = np.eye(6)[0] * (DEADBAND - step), np.eye(6)[0] * (DEADBAND + step)
    return worst, float(np.linalg.norm(_felt(p, high) - _felt(p, low)))


def _felt(p: Any, wrench: Array) -> Array:
    out = np.zeros(6)
    deadband(p, wrench, out)
    return out


def _figures(seed: int, ours: tuple[Array, Array], rivals: tuple[Trace, Trace]) -> list[Figure]:
    free, sprung = ours
    rival_free, rival_sprung = rivals
    y = sprung["observed"]["pose"][:, 1]
    left = abs(y[round(_BACK_S / DT)] - y[0])
    resting = (free["time_s"] > _BACK_S - 1) & (free["time_s"] < _BACK_S)
    still = np.abs(free["state"]["twist"][resting, :3]).max()
    slope, jump = _steepest(seed)
    reached = (rival_free.time_s > _BACK_S) & (rival_free.time_s < _BACK_S + 1.0)
    astray = -np.diff(rival_free.moved(1)[reached]).clip(max=0).sum()
    first = _first(free["time_s"], free["state"]["twist"][:, 1])
    return [
        at_least(f"first command under -{BACK_N:g} N, in the direction of the push", first * 1e3, "mm/s", 0.0),
        at_most("speed in the last second without a push", still * 1e3, "mm/s", 0.1),
        at_most(f"{PUSH_N:g} N on {STIFFNESS:g} N/m: remaining deflection after {REST_S:g} s", left * 1e3, "mm", 1.0),
        at_most("slope of the law's input over the push", slope, "N/N", 1.0 + 1e-9),
        at_most("jump of the law's input at the edge of the deadband", jump, "N", 1e-8),
        reported("early-return deadband: first command, in the direction of the push",
             _first(rival_free.time_s, rival_free.velocity[:, 1]), "m/s"),
        reported("early-return deadband: motion in the wrong direction", astray * 1e3, "mm"),
        reported(f"early-return deadband: {PUSH_N:g} N on {STIFFNESS:g} N/m, permanent deflection",
             abs(rival_sprung.moved(1)[-1]) * 1e3, "mm"),
        reported("early-return deadband: jump of the law's input at its edge", DEADBAND, "N"),
    ]  # fmt: skip


def run(seed: int, progress: Progress) -> Outcome:
    """Push, release, push back a little; with a damper only and with a spring, by Pliant's law and by early return."""
    began = time.perf_counter()
    ours = _ours(seed, 0.0, back=True), _ours(seed, STIFFNESS, back=False)
    progress(0.3)
    rivals = _rival(seed, 0.0, back=True), _rival(seed, STIFFNESS, back=False)
    progress(0.8)
    figures = _figures(seed, ours, rivals)
    progress(1.0)
    return Outcome("deadband", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(ours, rivals, path))


def _draw(ours: tuple[Array, Array], rivals: tuple[Trace, Trace], path: Path) -> None:
    with style.applied() as theme:
        title = f"{PUSH_N:g} N for 1 s, no push for {REST_S:g} s, then {BACK_N:g} N in the other direction"
        fig, axes = style.figure(2, 2, title, f"sim:ur5e, 500 Hz, deadband {DEADBAND:g} N", share_x=False)
        own, alarm = theme.lines[0], theme.alarm
        free, rival = ours[0], rivals[0]
        axes[0, 0].plot(free["time_s"], -free["state"]["twist"][:, 1], color=own, label="Pliant")
        axes[0, 0].plot(rival.time_s, -rival.velocity[:, 1], "--", color=alarm, label="early return")
        style.label(axes[0, 0], "Commanded speed, no spring", "m/s")
        near = (free["time_s"] > _BACK_S - 0.1) & (free["time_s"] < _BACK_S + 0.9)
        axes[0, 1].plot(free["time_s"][near], -free["state"]["twist"][near, 1], color=own, label="Pliant")
        near = (rival.time_s > _BACK_S - 0.1) & (rival.time_s < _BACK_S + 0.9)
        axes[0, 1].plot(rival.time_s[near], -rival.velocity[near, 1], "--", color=alarm, label="early return")
        axes[0, 1].axhline(0, color=theme.faint, lw=0.8)
        style.label(axes[0, 1], f"The same, under {BACK_N:g} N backwards", "m/s")
        sprung, rival = ours[1], rivals[1]
        moved = sprung["observed"]["pose"][0, 1] - sprung["observed"]["pose"][:, 1]
        axes[1, 0].plot(sprung["time_s"], moved * 1e3, color=own, label="Pliant")
        axes[1, 0].plot(rival.time_s, -rival.moved(1) * 1e3, "--", color=alarm, label="early return")
        style.label(axes[1, 0], f"Tool motion, spring of {STIFFNESS:g} N/m", "mm")
        grid = np.linspace(-2.5, 2.5, 1001)
        p = to_record(Sense(deadband_n=DEADBAND))[0]
        axes[1, 1].plot(grid, [_felt(p, np.eye(6)[0] * f)[0] for f in grid], color=own, label="Pliant")
        cut = np.where(np.abs(grid) < DEADBAND, np.nan, grid)
        axes[1, 1].plot(grid, cut, "--", color=alarm, label="early return")
        axes[1, 1].set_xlabel("push [N]")
        style.label(axes[1, 1], "Input of the law", "N")
        for ax in (axes[0, 0], axes[0, 1], axes[1, 0]):
            ax.set_xlabel("time [s]")
        for ax in axes.flat:
            style.legend(ax)
    style.save(fig, path)
