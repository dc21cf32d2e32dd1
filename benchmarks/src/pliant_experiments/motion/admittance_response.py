"""The law deflects by force over stiffness, damps every mode as requested, follows its goal, and is always stable."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported, within
from pliant.control.laws.gains import VIRTUAL_STIFFNESS, modal_ratios, modes, target
from pliant.control.parameters import Admittance, Parameters, Sense, diagonal
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.params.packing import to_record
from pliant.session.in_process.fast_run import Simulation, simulate
from pliant.task.schema import Event, Task
from pliant.world.world_config import Push, Sensor, SimConfig
from pliant_experiments.motion.random_sets import SETS, stability
from pliant_experiments.rivals.explicit_law import (
    Choices,
    ExplicitLaw,
    Trace,
    alike,
    damping_of,
    matrix_of,
    run_freely,
    run_in_simulator,
)
from pliant_experiments.scenes.probe_tool import TOOL

Array = np.ndarray[Any, Any]

DT = 0.002
FORCE, STIFFNESS, ASKED = 10.0, 100.0, 0.7
# A pose in which no axis of the tool is along one of the base.
TURNED = (2.9, -1.4, 1.7, -1.9, -1.2, 0.6)
SILENT = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)
OPEN = Sense(deadband_n=0.0, deadband_nm=0.0)


# ---- where it settles ----------------------------------------------------------------------------------------------


def _rest(frame: str, axis: int, seed: int) -> tuple[Array, Array]:
    """Time [s] and deflection [m] along an axis of the frame, under 10 N; across it the spring is ten times stiffer."""
    arm = Arm.load("ur5e", TOOL)
    R = np.eye(3) if frame == "base" else matrix_of(arm.pose(TURNED)[3:])
    wrench = (*(FORCE * R[:, axis]).tolist(), 0.0, 0.0, 0.0)
    soft = [STIFFNESS if i == axis else 10 * STIFFNESS for i in range(3)]
    admittance = Admittance.model_validate({"frame": frame, "stiffness": diagonal(*soft, 20.0, 20.0, 20.0)})
    task = Task(
        name=f"10 N along {'xyz'[axis]}", law="admittance", duration_s=6.0, tool=TOOL, start_q=TURNED,
        params=Parameters(sense=OPEN, admittance=admittance),
        sim=SimConfig(seed=seed, pushes=(Push.model_validate({"at_s": 0.5, "for_s": 60.0, "wrench": wrench}),)),
    )  # fmt: skip
    records = simulate(task).records
    pose = records["observed"]["pose"]
    return records["time_s"], (pose[:, :3] - pose[0, :3]) @ R


def _rests(seed: int) -> tuple[list[Figure], list[tuple[str, int, Array, Array]]]:
    figures, curves, across = [], [], 0.0
    expected = FORCE / STIFFNESS * 1e3
    for frame in ("base", "tool"):
        for axis in range(3):
            times, moved = _rest(frame, axis, seed)
            name = f"deflection under {FORCE:g} N, spring {STIFFNESS:g} N/m, along {'xyz'[axis]} of the {frame}"
            figures.append(within(name, moved[-500:, axis].mean() * 1e3, "mm", expected, 0.01 * expected))
            across = max(across, float(np.abs(np.delete(moved, axis, 1)).max()))
            curves.append((frame, axis, times, moved[:, axis]))
    return [*figures, at_most("cross-axis motion, largest of six", across * 1e3, "mm", 1.0)], curves


# ---- damping -------------------------------------------------------------------------------------------------------


def _turned_set() -> tuple[Array, Array]:
    """M = diag(10, 10, 1), and K = diag(50, 50, 1000) turned by 45° about x: what couples y and z."""
    c = np.sqrt(0.5)
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -c], [0.0, c, c]])
    return np.diag([10.0, 10.0, 1.0]), R @ np.diag([50.0, 50.0, 1000.0]) @ R.T


def _six(linear: Array, angular: float) -> Any:
    """A parameter: `linear` for x y z, a diagonal for the turns."""
    matrix = angular * np.eye(6)
    matrix[:3, :3] = linear
    return matrix.tolist()


def _fitted_ratio(y: Array) -> float:
    """The damping ratio of a mode from its samples: y⁺ = a y + b y⁻, whose poles are those of the motion."""
    (a, b), *_ = np.linalg.lstsq(np.column_stack([y[1:-1], y[:-2]]), y[2:], rcond=None)
    s = np.log(np.roots([1.0, -a, -b]).astype(complex))
    return float(-s[0].real / abs(s[0]))


def _modal(seed: int) -> tuple[list[Figure], tuple[Array, Array]]:
    """Request 0.70 for a set whose stiffness is rotated relative to its mass; check the poles and the motion."""
    M, K = _turned_set()
    angular = {"mass": 0.5, "stiffness": 20.0}
    admittance = Admittance.model_validate(
        {"mass": _six(M, angular["mass"]), "stiffness": _six(K, angular["stiffness"]), "damping_ratio": (ASKED,) * 6}
    )
    task = Task(
        name="modes", law="admittance", duration_s=4.0, tool=TOOL,
        params=Parameters(sense=Sense(deadband_n=50.0, deadband_nm=5.0), admittance=admittance),  # no response
        sim=SimConfig(seed=seed), events=(Event(at_s=0.5, goal_offset_m=(0.001, 0.001, 0.001)),),
    )  # fmt: skip
    records = simulate(task).records
    after = records["time_s"] > 0.51
    error = records["state"]["pose"][after, :3] - records["goal"]["pose"][after, :3]
    _, Q = modes(M, K)
    y = error @ M @ Q
    asked = modal_ratios(*(matrix[:3, :3] for matrix in target(to_record(admittance)[0])))
    figures = [
        within(f"damping ratio of mode {k + 1}, requested {ASKED:.2f}, from the motion", r, "", ASKED, 0.01 * ASKED)
        for k, r in enumerate(_fitted_ratio(y[:, k]) for k in range(3))
    ]
    figures += [
        within(f"damping ratio of mode {k + 1}, requested {ASKED:.2f}, from the poles", r, "", ASKED, 0.01 * ASKED)
        for k, r in enumerate(asked)
    ]
    rough = _all_ratios(M, damping_of("diagonal", M, K, ASKED), K)
    figures += [
        reported(f"diagonal damping only: ratio of mode {k + 1}, requested {ASKED:.2f}", r) for k, r in enumerate(rough)
    ]
    return figures, (records["time_s"][after], y / np.abs(y[0]) * np.sign(y[0]))


def _all_ratios(M: Array, D: Array, K: Array) -> list[float]:
    """One damping ratio per mode, 1 for a pair of poles that does not swing, sorted."""
    swinging = modal_ratios(M, D, K).tolist()
    return sorted(swinging + [1.0] * (len(M) - len(swinging)))


def _monotone() -> tuple[list[Figure], tuple[Array, Array, Array]]:
    """Damping over stiffness for M = 8 and a ratio of 0.8, by our rule and by the linear blend."""
    grid = np.concatenate([np.linspace(0, 1, 101), np.geomspace(1.001, 200, 400)])
    M, eye = 8.0 * np.eye(6), np.eye(6)
    section = to_record(Admittance(mass=diagonal(8.0, 8.0), damping_ratio=alike(0.8)))[0]

    def ours(k: float) -> float:
        section["stiffness"] = k * eye
        return float(target(section, DT)[1][0, 0])

    own = np.array([ours(k) for k in grid])
    blend = np.array([damping_of("blend", M, k * eye, 0.8)[0, 0] for k in grid])
    figures = [at_most("largest drop of damping as K rises from 0 to 200 N/m", -np.diff(own).min(), "N s/m", 0.0)]
    figures += [reported(f"damping for K = {k:g} N/m", ours(k), "N s/m") for k in (0.0, 1.0, 10.0, 100.0)]
    figures += [
        reported(f"linear blend: damping for K = {k:g} N/m", damping_of("blend", M, k * eye, 0.8)[0, 0], "N s/m")
        for k in (0.0, 1.0, 10.0, 100.0)
    ]
    runaway = FORCE / damping_of("ratio", M, 0 * eye, 0.8)[0, 0]
    figures.append(reported("ratio used as N s/m for K = 0: final speed under 10 N", runaway, "m/s"))
    return figures, (grid, own, blend)


# ---- lever arm, moving goal, opposite sign -------------------------------------------------------------------------


def _lever(seed: int) -> list[Figure]:
    """10 N across a tool whose tip is 0.254 m in front of the sensor."""
    length, tool = 0.254, Tool(tcp_m=(0.0, 0.0, 0.254))
    task = Task(law="hold", tool=tool, duration_s=2.0, start_q=TURNED, sim=SimConfig(seed=seed, sensor=SILENT))
    R = matrix_of(Arm.load("ur5e", tool).pose(TURNED)[3:])

    def at_tool(raw: list[float]) -> Array:
        simulation = Simulation(task)
        controller = simulation.runner.controller
        controller.reading[0].wrench[:] = raw
        controller.tick()
        return controller.observed[0].wrench.copy()

    at_tip, at_sensor = at_tool([10.0, 0, 0, 0, 10.0 * length, 0]), at_tool([10.0, 0, 0, 0, 0, 0])
    pushes = (Push.model_validate({"at_s": 0.5, "for_s": 60.0, "wrench": (*(10.0 * R[:, 0]).tolist(), 0, 0, 0)}),)
    pushed = Task.model_validate({**task.model_dump(), "sim": SimConfig(seed=seed, pushes=pushes).model_dump()})
    raw = simulate(pushed).records["reading"]["wrench"]
    return [
        within(
            "10 N at the tip, 0.254 m away: moment at the sensor, simulated", raw[-300:, 4].mean(), "N m", 2.54, 0.01
        ),
        at_most("the same at the tool: remaining moment", np.abs(at_tip[3:]).max(), "N m", 1e-12),
        within("10 N at the sensor: moment at the tool", np.linalg.norm(at_sensor[3:]), "N m", 2.54, 1e-12),
        *_at_base(seed),
    ]


def _at_base(seed: int) -> list[Figure]:
    """A pure push at the tool; the rival uses its moment about the base's origin."""
    moved = np.array([10.0, 0, 0, *np.cross([0.492, 0.133, 0.205], [10.0, 0, 0])])
    sim = SimConfig(seed=seed, sensor=SILENT, pushes=(Push(at_s=0.5, for_s=9.0, wrench=(10.0, 0, 0, 0, 0, 0)),))
    soft = Admittance(stiffness=diagonal(STIFFNESS, 20.0))
    sense = Sense(deadband_n=0.0, deadband_nm=0.0, frozen_s=0.0)
    task = Task(law="admittance", tool=TOOL, duration_s=3.0, params=Parameters(sense=sense, admittance=soft), sim=sim)
    law = ExplicitLaw(np.array(soft.mass), np.array(soft.stiffness), 1.0, DT, Choices(at_base=True, deadband=0.0))
    rival = run_in_simulator(law, sim, TOOL, 3.0)
    return [
        at_most("10 N at the tool: rotation", _turned(simulate(task).records["observed"]["pose"]), "°", 0.1),
        reported("moment about the base origin: rotation", _turned(rival.pose), "°"),
        reported("10 N along x at (0.492, 0.133, 0.205) m: moment about y at the base", moved[4], "N m"),
        reported("10 N along x at (0.492, 0.133, 0.205) m: moment about z at the base", moved[5], "N m"),
    ]


def _turned(poses: Array) -> float:
    """Largest angle [°] between the first pose and another."""
    return float(np.degrees(2 * np.arccos(np.clip(np.abs(poses[:, 3:] @ poses[0, 3:]), 0, 1)).max()))


def _follow(seed: int, *, told_speed: bool) -> tuple[Array, Array, Array, Array]:
    """A goal that swings by 2 × 50 mm along y: time, goal, commanded and measured position [m]."""
    task = Task(law="admittance", tool=TOOL, duration_s=5.0, sim=SimConfig(seed=seed))
    simulation, rows = Simulation(task), []
    goal = simulation.goal
    start, omega, swing = float(goal.pose[1]), 2 * np.pi / 4, 0.05
    for i in range(task.ticks):
        goal.pose[1] = start - swing * (1 - np.cos(omega * i * DT))
        goal.twist[1] = -swing * omega * np.sin(omega * i * DT) if told_speed else 0.0
        record = simulation.step()
        rows.append((i * DT, goal.pose[1] - start, record.state.pose[1] - start, record.observed.pose[1] - start))
    columns = np.array(rows).T
    return columns[0], columns[1], columns[2], columns[3]


def _goal(seed: int) -> tuple[list[Figure], tuple[Array, Array, Array, Array]]:
    times, goal, commanded, measured = _follow(seed, told_speed=True)
    _, _, late, _ = _follow(seed, told_speed=False)
    figures = [
        at_most(
            "moving goal, 79 mm/s: compliant frame, largest error", np.abs(commanded - goal).max() * 1e3, "mm", 0.1
        ),
        reported("moving goal: measured tool, largest error", np.abs(measured - goal).max() * 1e3, "mm"),
        reported("moving goal without its velocity: compliant frame, error", np.abs(late - goal).max() * 1e3, "mm"),
    ]
    return figures, (times, goal, commanded, late)


def _opposite(seed: int) -> tuple[list[Figure], Trace]:
    """The explicit law whose spring pushes away from the goal, after a short touch."""
    M, K = np.array(diagonal(8.0, 0.5)), np.array(diagonal(100.0, 20.0))
    D = damping_of("diagonal", M, K, 0.8)
    pole = float(np.linalg.eigvals([[0, 1], [K[0, 0] / M[0, 0], -D[0, 0] / M[0, 0]]]).real.max())
    touch = SimConfig(seed=seed, sensor=SILENT, pushes=(Push(at_s=0.2, for_s=0.2, wrench=(0.0, -5.0, 0, 0, 0, 0)),))
    choices = Choices(spring_sign=-1.0, deadband=0.0, damping="diagonal")
    away = run_in_simulator(ExplicitLaw(M, K, 0.8, DT, choices), touch, TOOL, 3.5)
    free = run_freely(ExplicitLaw(M, K, 0.8, DT, choices), lambda t: np.eye(6)[0] * (5.0 if t < 0.2 else 0.0), 2.5)
    tail = (free.time_s > 0.8) & (free.moved() < 0.2)  # not yet at the speed clamp
    growth = float(np.polyfit(free.time_s[tail], np.log(free.moved()[tail]), 1)[0])
    return [
        reported("spring of opposite sign: unstable pole", pole, "1/s"),
        reported("spring of opposite sign: measured growth", growth, "1/s"),
        reported(
            "spring of opposite sign: motion after a touch, simulated arm", np.abs(away.moved(1)).max() * 1e3, "mm"
        ),
    ], away


@dataclass(frozen=True)
class _Seen:
    rests: list[tuple[str, int, Array, Array]]
    modes: tuple[Array, Array]
    damping: tuple[Array, Array, Array]
    goal: tuple[Array, Array, Array, Array]
    away: Trace
    shares: tuple[float, float]


def run(seed: int, progress: Progress) -> Outcome:
    """Every property of the law, compared with the explicit law."""
    began = time.perf_counter()
    rests, rest_curves = _rests(seed)
    progress(0.2)
    modal, modal_curves = _modal(seed)
    monotone, damping = _monotone()
    progress(0.4)
    stable, shares = stability(seed)
    progress(0.7)
    lever, (goal, goal_curves) = _lever(seed), _goal(seed)
    progress(0.85)
    opposite, away = _opposite(seed)
    progress(1.0)
    seen = _Seen(rest_curves, modal_curves, damping, goal_curves, away, shares)
    figures = [*rests, *modal, *monotone, *stable, *lever, *goal, *opposite]
    note = f"A mode softer than {VIRTUAL_STIFFNESS:g} N/m is damped as if it had that stiffness."
    return Outcome(
        "admittance-response", seed, time.perf_counter() - began, figures, [note], draw=lambda path: _draw(seen, path)
    )


# ---- picture -------------------------------------------------------------------------------------------------------


def _draw(seen: _Seen, path: Path) -> None:
    with style.applied() as theme:
        title, subtitle = "Properties of the admittance law", "sim:ur5e, 500 Hz; dashed: explicit law"
        fig, axes = style.figure(3, 2, title, subtitle, share_x=False, panel_inches=(6.0, 2.5))
        for frame, axis, times, moved in seen.rests:
            line, name = ("-", f"{'xyz'[axis]}") if frame == "base" else (":", None)
            axes[0, 0].plot(times, moved * 1e3, line, color=theme.xyz[axis], label=name)
        axes[0, 0].axhline(FORCE / STIFFNESS * 1e3, color=theme.faint, lw=0.8)
        style.label(axes[0, 0], "10 N on 100 N/m; dotted: tool axes", "mm", "motion")
        times, y = seen.modes
        for k in range(3):
            axes[0, 1].plot(times - times[0], y[:, k], color=theme.lines[k], label=f"mode {k + 1}")
        axes[0, 1].axhline(-0.046, color=theme.faint, lw=0.8)
        style.label(axes[0, 1], "Three modes, requested ratio 0.70", "-", "deflection")
        grid, own, blend = seen.damping
        axes[1, 0].plot(grid, own, color=theme.lines[0], label="Pliant")
        axes[1, 0].plot(grid, blend, "--", color=theme.alarm, label="linear blend")
        axes[1, 0].set_xscale("symlog", linthresh=0.1)
        axes[1, 0].set_ylim(0)
        axes[1, 0].set_xlabel("stiffness [N/m]")
        style.label(axes[1, 0], "Damping over stiffness", "N s/m")
        bars = axes[1, 1].barh(["explicit", "Pliant"], [100 * share for share in seen.shares[::-1]], height=0.5)
        bars[0].set_color(theme.alarm)
        axes[1, 1].bar_label(bars, fmt=" %.3g %%")
        axes[1, 1].set_xlim(0, 119)
        axes[1, 1].set_xlabel("unstable sets [%]")
        style.label(axes[1, 1], f"Stability of {SETS:,} random sets of M, D, K and period")
        times, goal, commanded, late = seen.goal
        axes[2, 0].plot(times, goal * 1e3, color=theme.faint, lw=3, label="goal")
        axes[2, 0].plot(times, commanded * 1e3, color=theme.lines[0], label="compliant frame")
        axes[2, 0].plot(times, late * 1e3, ":", color=theme.lines[1], label="without goal velocity")
        style.label(axes[2, 0], "Moving goal", "mm", "y")
        axes[2, 1].plot(seen.away.time_s, -seen.away.moved(1) * 1e3, "--", color=theme.alarm, label="opposite sign")
        style.label(axes[2, 1], "5 N for 0.2 s, spring of opposite sign", "mm", "motion")
        for ax in (axes[0, 0], axes[0, 1], axes[2, 0], axes[2, 1]):
            ax.set_xlabel("time [s]")
        for ax in (axes[0, 0], axes[0, 1], axes[1, 0], axes[2, 0]):
            style.legend(ax)
    style.save(fig, path)
