"""What-if: simulate a recorded run again with other parameters.

Goals, laws, commands, stops and virtual pushes are inputs of the tick. They are in the recording, whether they came
from the script, a page or a program. Pushes by hand on a simulated arm are not recorded and are missing. The pushes of
the task's script come at their times. A recording that starts in the middle of a run starts at rest where the arm was.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.control.laws.registry import law_of
from pliant.control.parameters import Parameters
from pliant.errors import RejectedError
from pliant.record.reader import Recording
from pliant.robots import is_simulated
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ChangedRun:
    """The run with other parameters."""

    records: Array
    fault: str
    from_rest: bool
    """Whether it started at rest in the middle of the recorded run."""


def run_changed(recording: Recording, task: Task, parameters: Parameters) -> ChangedRun:
    """Simulate a whole recording again with these parameters."""
    records = recording.records
    if not is_simulated(task.robot):
        raise RejectedError("What-if needs a recording of a simulated robot.")
    if not len(records):
        raise RejectedError(f"{recording.path.name} contains no records.")
    first = int(records["tick"][0])
    if first > 0 and law_of(records["goal"]["law"][0]).takes_commands:
        raise RejectedError(
            "What-if needs a recording that starts before first contact. Start the run with Record checked, "
            "or use pliant run --record."
        )
    begun = _begun_at(task, recording, first).model_copy(update={"params": parameters, "events": ()})
    simulation = Simulation(begun, unchecked=True)
    simulation.tick = first
    parts = []
    for begin, end in _constant_goals(records):
        _aim(simulation, records["goal"][begin])
        wanted = int(records["tick"][end - 1]) + 1 - simulation.tick
        parts.append(simulation.advance(wanted))
        if len(parts[-1]) < wanted:
            break
    found = np.concatenate(parts)
    return ChangedRun(found, simulation.fault, first > 0)


def _begun_at(task: Task, recording: Recording, first: int) -> Task:
    """The task, begun where the recording begins: with the arm there, and with the rest of its script."""
    if first == 0:
        return task
    start = tuple(recording.records["reading"]["q"][0][: recording.n].tolist())
    gone = first * task.dt
    pushes = [push.model_copy(update={"at_s": push.at_s - gone}) for push in task.sim.pushes if push.at_s >= gone]
    sim = task.sim.model_copy(update={"pushes": tuple(pushes)})
    return task.model_copy(update={"start_q": start, "sim": sim})


def _constant_goals(records: Array) -> list[tuple[int, int]]:
    """Runs of records whose goal stays the same, from the first to after the last."""
    goals = np.ascontiguousarray(records["goal"]).view(np.uint8).reshape(len(records), -1)
    cuts = np.flatnonzero((goals[1:] != goals[:-1]).any(axis=1)) + 1
    return list(pairwise([0, *cuts.tolist(), len(records)]))


def _aim(simulation: Simulation, goal: Any) -> None:
    """Give the controller a recorded goal: its position in this tick, so that it does not move on by itself."""
    simulation.runner.controller.goal[0] = goal
    simulation.goal.motion_s = 0.0
