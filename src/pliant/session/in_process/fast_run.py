"""A whole simulated run of a task, and its recording."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.loop.periods import works_at
from pliant.loop.saving import BLACK_BOX_S, arm_writer, fault_file, recording_path
from pliant.session.in_process.compiled_steps import TRUTH
from pliant.session.in_process.simulation import Simulation
from pliant.session.input_checks import must_be_task
from pliant.task.schema import Task, arm_of

_Part = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]

# Long runs are cut into parts, so that progress can be shown and Ctrl-C takes effect soon [s of simulated time].
_CHUNK_S = 5.0
# Ticks after which it is asked whether a lift-off is over.
_PART_TICKS = 10


@dataclass(frozen=True)
class Run:
    """The result of a simulated run."""

    task: Task
    """The task that was run."""
    records: np.ndarray[Any, Any]
    """One telemetry record per tick."""
    sets: list[tuple[int, int, np.ndarray[Any, Any]]]
    """(revision, first tick, parameter record)"""
    fault: str
    """Why the controller stopped the robot ("" if it did not)."""
    normal_n: np.ndarray[Any, Any]
    """The true contact force along the normals of what is touched, in every tick [N]."""

    def save(self, path: Path | str) -> None:
        """Write the run as a recording (.mcap). Missing folders are created."""
        with arm_writer(recording_path(path), self.task, arm_of(self.task), fault=self.fault) as writer:
            for revision, tick, values in self.sets:
                writer.parameters(revision, values[0], tick * self.task.dt)
            writer.append(self.records)


def simulate(
    task: Task,
    progress: Callable[[float], None] | None = None,
    *,
    lift_off: bool = False,
    unchecked: bool = False,
) -> Run:
    """Run a whole task as fast as possible; `progress` is called with the completed share (0 to 1): first with
    0, when the simulation is ready to start.

    With `lift_off`, a tool that presses at the end lifts off first, as in a paced loop, so the run takes longer. A task
    that is not stable on its declared surfaces is rejected, unless `unchecked`.
    """
    must_be_task(task, "simulate")
    simulation = Simulation(task, unchecked=unchecked)
    chunk = max(1, round(_CHUNK_S * task.rate_hz))
    parts: list[_Part] = []
    if progress:
        progress(0.0)  # what takes long before is the start, not the run
    for first in range(0, task.ticks, chunk):
        parts.append(_advanced(simulation, min(chunk, task.ticks - first)))
        if progress:
            progress(min(1.0, (first + chunk) / task.ticks))
        if not simulation.running:
            break
    if lift_off and simulation.tick == task.ticks:
        parts += _lifted(simulation)
    records, normal_n = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return Run(task, records, list(simulation.sets), simulation.fault, normal_n)


def _advanced(simulation: Simulation, ticks: int) -> _Part:
    """The telemetry of so many ticks, and the true normal force in each."""
    truth = np.zeros((ticks, TRUTH))
    records = simulation.advance(ticks, truth)
    return records, truth[: len(records), 3]


def _lifted(simulation: Simulation) -> Iterator[_Part]:
    """The telemetry of the lift-off at the end of a run, in short parts until it is over or has taken too long."""
    runner = simulation.runner
    last = simulation.tick + runner.end_law()
    while simulation.tick < last and works_at(runner.controller.state):
        before = simulation.tick
        yield _advanced(simulation, min(_PART_TICKS, last - before))
        if simulation.tick == before:  # a fault has ended it
            return


def save_last_seconds(run: Run) -> Path:
    """Write the last seconds of a simulated run that ended in a fault."""
    path = fault_file(f"{os.getpid()}")
    records = run.records[-max(1, round(BLACK_BOX_S * run.task.rate_hz)) :]
    first = int(records["revision"][0])
    replace(run, records=records, sets=[item for item in run.sets if item[0] >= first]).save(path)
    return path
