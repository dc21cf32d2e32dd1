"""A whole simulated run in one compiled call: the same tick and simulator, without pacing.

Runs in several threads scale with the cores, because compiled code does not hold the GIL.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pliant.compiling.ahead import ensure, lines_on_stderr
from pliant.compiling.entry_points import law_groups
from pliant.control import telemetry
from pliant.errors import InputError, RejectedError, said
from pliant.kernel import kernel
from pliant.loop.fault_text import first_fault
from pliant.loop.periods import period, stands, works_at
from pliant.loop.saving import BLACK_BOX_S, arm_writer, fault_file
from pliant.loop.task_runner import Cell
from pliant.records import TELEMETRY
from pliant.robots.simulated import SimRobot
from pliant.sensors.sensor_link import check_keeps_pace
from pliant.task.own_laws import compile_own_laws
from pliant.task.schema import Task, arm_of, laws_of

# Long stretches are cut, so that progress can be shown and Ctrl-C is heard [s of simulated time].
_CHUNK_S = 5.0
# Ticks after which it is asked whether a lift-off is over.
_STRETCH = 10


@kernel
def run(world, handle, parameters, state, reading, goal, command, observed, work, mode, dt, first, revision, out):
    """Ticks `first` … `first + len(out) - 1` of a simulated run; ends short at a fault once the arm stands."""
    w, h, p, s, r = world[0], handle[0], parameters[0], state[0], reading[0]
    g, c, o, k = goal[0], command[0], observed[0], work[0]
    for i in range(out.shape[0]):
        period(w, h, p, s, r, g, c, o, k, mode, dt)
        telemetry.fill(out[i], first + i, dt, revision, r, g, o, c, s)
        if s.fault != 0 and stands(h, s, r):
            return i + 1
    return out.shape[0]


class Simulation:
    """A simulated robot and controller that advance many ticks at a time."""

    def __init__(self, task: Task) -> None:
        check_keeps_pace(task.sensor)
        ensure("batch", *law_groups(laws_of(task)), notice=lines_on_stderr())
        compile_own_laws(task.own_laws)
        self.task = task
        self.sets: list[tuple[int, int, np.ndarray[Any, Any]]] = []
        self.cell = Cell(task, lambda revision, tick, values: self.sets.append((revision, tick, values.copy())))
        if not isinstance(self.cell.robot, SimRobot):
            raise InputError("robot", task.robot, "a simulated robot (sim:…) to run as fast as possible")
        self.world = self.cell.robot.world
        self.cell.begin()
        self.tick = 0

    def advance(self, ticks: int) -> np.ndarray[Any, Any]:
        """Run `ticks` ticks without scripted events; returns their telemetry (fewer after a fault)."""
        out = TELEMETRY.new(ticks)
        done = run(self.world.record, *self.cell.controller.arguments, self.tick, self.cell.revision, out)
        self.tick += done
        return out[:done]


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


def simulate(task: Task, progress: Callable[[float], None] | None = None, *, lift_off: bool = False) -> Run:
    """Run a whole task as fast as possible; `progress` is called with the completed share (0 to 1).

    With `lift_off`, a tool that presses at the end lifts off first, as in a paced loop, so the run takes longer.
    """
    if not isinstance(task, Task):
        hint = f" Use pliant.simulate(pliant.load_task({task!r}))." if isinstance(task, str) else ""
        raise RejectedError(f"task is {said(task)}, but simulate needs a Task.{hint}", field="task", value=task)
    simulation = Simulation(task)
    chunk = max(1, round(_CHUNK_S * task.rate_hz))
    events = [tick for tick in simulation.cell.script if tick < task.ticks]
    cuts = sorted({*range(0, task.ticks, chunk), *events, task.ticks})
    parts = []
    for first, last in pairwise(cuts):
        simulation.cell.perform(first)
        parts.append(simulation.advance(last - first))
        if progress:
            progress(last / task.ticks)
        if simulation.tick < last:
            break
    if lift_off and simulation.tick == task.ticks:
        parts += _lifted(simulation)
    records = np.concatenate(parts)
    return Run(task, records, simulation.sets, first_fault(records, simulation.cell.controller.parameters[0]))


def _lifted(simulation: Simulation) -> Iterator[np.ndarray[Any, Any]]:
    """The telemetry of the lift-off at the end of a run, in short stretches until it is over or has taken too long."""
    cell = simulation.cell
    last = simulation.tick + cell.lift_off()
    while simulation.tick < last and works_at(cell.controller.state):
        before = simulation.tick
        yield simulation.advance(min(_STRETCH, last - before))
        if simulation.tick == before:  # a fault has ended it
            return


def save_run(run: Run, path: Path) -> None:
    """Write a simulated run."""
    with arm_writer(path, run.task, arm_of(run.task), fault=run.fault) as writer:
        for revision, tick, values in run.sets:
            writer.parameters(revision, values[0], tick * run.task.dt)
        writer.append(run.records)


def save_last_seconds(run: Run) -> Path:
    """Write the last seconds of a simulated run that ended in a fault."""
    path = fault_file(f"{os.getpid()}")
    records = run.records[-max(1, round(BLACK_BOX_S * run.task.rate_hz)) :]
    first = int(records["revision"][0])
    save_run(replace(run, records=records, sets=[item for item in run.sets if item[0] >= first]), path)
    return path
