"""Pressing statically measures a surface's stiffness as declared: force by sensor, penetration by joints."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Outcome, at_most, reported
from pliant.control.parameters import Admittance, Parameters, Sense, diagonal
from pliant.model.arm import Arm
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Event, Task
from pliant.world.world_config import SimConfig, Surface
from pliant_experiments.scenes.probe_tool import TOOL

STIFFNESS = (1e3, 3e3, 1e4, 3e4, 1e5)
LOADS = (10.0, 20.0, 40.0)
_SETTLE_S, _LOOK_S, _GAP = 4.0, 1.0, 1e-4


def _task(stiffness: float, seed: int) -> Task:
    """Press with rising loads: a damper alone moves the tool until the surface pushes back with the requested force."""
    top = Arm.load("ur5e", TOOL).pose(Arm.load("ur5e", TOOL).q_home)
    surface = Surface(
        position_m=(0.0, 0.0, float(top[2]) - TOOL.tip_radius_m - _GAP), stiffness_n_m=stiffness, friction=0.3
    )
    sim = SimConfig(seed=seed, surfaces=(surface,))
    # a velocity-commanded robot against a spring k with the lag T needs a damper of more than k T
    damper = 6.0 * stiffness * (sim.servo.lag_s + 0.01)
    linear = (1e5, 1e5, damper)
    parameters = Parameters(
        sense=Sense(deadband_n=0.0, deadband_nm=0.0),
        admittance=Admittance(
            mass=diagonal(8.0, 8.0, 2.0, 0.5, 0.5, 0.5),
            damping_by="value",
            damping=diagonal(*linear, 1e3, 1e3, 1e3),
            stiffness=diagonal(1e4, 1e4, 0.0, 1e3, 1e3, 1e3),
        ),
    )
    events = tuple(
        Event(at_s=i * (_SETTLE_S + _LOOK_S), wrench_goal=(0.0, 0.0, load, 0.0, 0.0, 0.0))
        for i, load in enumerate(LOADS)
    )
    return Task(
        name="press", law="admittance", duration_s=len(LOADS) * (_SETTLE_S + _LOOK_S), tool=TOOL, params=parameters,
        sim=sim, events=events,
    )  # fmt: skip


def run(seed: int, progress: Progress) -> Outcome:
    """Press surfaces of five stiffnesses with three loads each; the slope of force over depth is the stiffness."""
    began = time.perf_counter()
    figures, lines = [], []
    for i, stiffness in enumerate(STIFFNESS):
        task = _task(stiffness, seed)
        records = simulate(task, unchecked=True).records
        depth, force = [], []
        for step in range(len(LOADS)):
            end = (step + 1) * (_SETTLE_S + _LOOK_S)
            look = (records["time_s"] >= end - _LOOK_S) & (records["time_s"] < end)
            depth.append(-records["observed"]["pose"][look, 2].mean())
            force.append(records["observed"]["wrench"][look, 2].mean())
        slope = float(np.polyfit(depth, force, 1)[0])
        lines.append((stiffness, np.array(depth) - depth[0] + force[0] / slope, np.array(force)))
        figures += [
            reported(f"measured stiffness, declared {stiffness:g} N/m", slope, "N/m"),
            at_most(f"stiffness error, declared {stiffness:g} N/m", 100 * abs(slope / stiffness - 1), "%", 2.0),
        ]
        progress((i + 1) / len(STIFFNESS))
    return Outcome("press", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(lines, path))


def _draw(lines: list[tuple[float, np.ndarray, np.ndarray]], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 1, "Static press", "points: measured; lines: declared stiffness", panel_inches=(7, 4.5)
        )
        ax = axes[0, 0]
        for i, (stiffness, depth, force) in enumerate(lines):
            ax.plot(depth * 1e3, force, "o", color=theme.lines[i], label=f"{stiffness:g} N/m")
            reach = np.array([force.min() * 0.8, force.max() * 1.2])
            ax.plot(reach / stiffness * 1e3, reach, "-", color=theme.lines[i], lw=0.9)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("penetration, from the joints [mm]")
        style.label(ax, "Force over penetration", "N", "force, from the sensor")
        ax.legend(loc="lower right")
    style.save(fig, path)
