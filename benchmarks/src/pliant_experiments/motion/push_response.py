"""A pushed arm settles where spring and push balance, and returns when released."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Outcome, at_most, reported, within
from pliant.control.parameters import Admittance, Parameters, Sense, diagonal
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task
from pliant.world.world_config import Push, SimConfig
from pliant_experiments.scenes.probe_tool import TOOL

STIFFNESS, DEADBAND, FORCE = 200.0, 1.0, 20.0
LINEAR = (STIFFNESS, STIFFNESS, STIFFNESS)


def _run(axis: int, seed: int) -> np.ndarray[Any, Any]:
    wrench = [0.0] * 6
    wrench[axis] = FORCE
    parameters = Parameters(
        sense=Sense(deadband_n=DEADBAND),
        admittance=Admittance(stiffness=diagonal(*LINEAR, 20.0, 20.0, 20.0)),
    )
    pushes = (Push.model_validate({"at_s": 1.0, "for_s": 4.0, "wrench": tuple(wrench)}),)
    task = Task(
        name=f"push {'xyz'[axis]}", law="admittance", duration_s=9.0, tool=TOOL, params=parameters,
        sim=SimConfig(seed=seed, pushes=pushes),
    )  # fmt: skip
    return simulate(task).records


def run(seed: int, progress: Progress) -> Outcome:
    """Push along x, y and z."""
    began = time.perf_counter()
    runs, figures = [], []
    expected = (FORCE - DEADBAND) / STIFFNESS * 1e3
    for axis in range(3):
        records = _run(axis, seed)
        runs.append(records)
        moved = (records["observed"]["pose"][:, :3] - records["observed"]["pose"][0, :3]) * 1e3
        held = (records["time_s"] > 4.0) & (records["time_s"] < 4.9)
        name = "xyz"[axis]
        figures += [
            within(
                f"deflection under {FORCE:g} N along {name}", moved[held, axis].mean(), "mm", expected, 0.01 * expected
            ),
            at_most(f"cross-axis motion, push along {name}", np.abs(np.delete(moved, axis, 1)).max(), "mm", 1.0),
            at_most(f"remaining deflection after the push along {name}", np.linalg.norm(moved[-1]), "mm", 0.2),
        ]
        progress((axis + 1) / 3)
    figures.append(reported("deflection at balance of spring and push", expected, "mm"))
    return Outcome("push", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(runs, path))


def _draw(runs: list[np.ndarray[Any, Any]], path: Path) -> None:
    with style.applied() as theme:
        title = f"A push of {FORCE:g} N on a spring of {STIFFNESS:g} N/m at the tool"
        fig, axes = style.figure(2, 1, title, "three runs, pushed along x, y and z; sim:ur5e, 500 Hz")
        for axis, records in enumerate(runs):
            moved = (records["observed"]["pose"][:, axis] - records["observed"]["pose"][0, axis]) * 1e3
            axes[0, 0].plot(records["time_s"], records["observed"]["wrench"][:, axis], color=theme.xyz[axis], lw=0.7)
            axes[1, 0].plot(records["time_s"], moved, color=theme.xyz[axis], label=f"along {'xyz'[axis]}")
        rest = (FORCE - DEADBAND) / STIFFNESS * 1e3
        axes[1, 0].axhline(rest, color=theme.faint, ls="--", lw=1, label="(push − deadband) / stiffness")
        style.label(axes[0, 0], "External force at the tool", "N")
        style.label(axes[1, 0], "Tool position", "mm")
        axes[1, 0].set_xlabel("time [s]")
        style.legend(axes[1, 0])
    style.save(fig, path)
