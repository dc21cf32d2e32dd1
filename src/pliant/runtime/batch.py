"""A whole simulated run in one compiled call: the same tick, the same simulator, no pacing.

Several runs in threads scale with the cores, because compiled code holds no lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.laws import LAWS
from pliant.params.control import Parameters
from pliant.params.declare import changed, to_record
from pliant.records import FAULTS, TELEMETRY
from pliant.robots import open_robot
from pliant.robots.sim.robot import SimRobot
from pliant.robots.sim.step import advance, read
from pliant.runtime import telemetry
from pliant.runtime.controller import Controller
from pliant.runtime.task import Event, Task
from pliant.runtime.tick import step


@kernel
def _run(world, handle, parameters, state, reading, goal, command, observed, work, mode, dt, first, revision, out):
    """Ticks `first` … `first + len(out) - 1` of a simulated run; stops short at a fault once the arm stands still."""
    w, h, p, s, r = world[0], handle[0], parameters[0], state[0], reading[0]
    g, c, o, k = goal[0], command[0], observed[0], work[0]
    for i in range(out.shape[0]):
        read(w, r)
        step(h, p, s, r, g, c, o, k, mode, dt)
        advance(w, c)
        telemetry.fill(out[i], first + i, dt, revision, r, g, o, c, s)
        if s.fault != 0:
            moving = False
            for j in range(h.n):
                moving = moving or s.qd_cmd[j] != 0.0
            if not moving:
                return i + 1
    return out.shape[0]


class Simulation:
    """One simulated run of a task, in segments between events."""

    def __init__(self, task: Task) -> None:
        self.task = task
        robot = open_robot(task.robot, task)
        if not isinstance(robot, SimRobot):
            raise InputError("robot", task.robot, "a simulated one (sim:…) to run as fast as possible")
        self.robot = robot
        self.parameters: Parameters = task.params
        self.controller = Controller(robot.arm, to_record(task.params), task.interface, task.dt)
        robot.read(self.controller.reading)
        self.controller.begin(task.law)
        self.start_pose = self.controller.goal[0].pose.copy()
        self._rewind()
        self.tick, self.revision = 0, 0
        self.sets: list[tuple[int, int, Any]] = [(0, 0, self.controller.parameters.copy())]

    def _rewind(self) -> None:
        """The first reading was only a look: give its random numbers back, so that run and loop agree."""
        self.robot.world.record[0].rng = self.task.sim.seed

    def advance(self, ticks: int) -> np.ndarray[Any, Any]:
        """Run `ticks` ticks; returns their telemetry (fewer after a fault)."""
        out = TELEMETRY.new(ticks)
        done = _run(self.robot.world.record, *self.controller.arguments, self.tick, self.revision, out)
        self.tick += done
        return out[:done]

    def set(self, values: dict[str, Any]) -> None:
        """Change parameters between two ticks; an invalid set changes nothing."""
        self.parameters = changed(self.parameters, values)
        self.controller.parameters[:] = to_record(self.parameters)
        self.revision += 1
        self.sets.append((self.revision, self.tick, self.controller.parameters.copy()))

    def apply(self, event: Event) -> None:
        """Let a scripted event happen now."""
        if event.set:
            self.set(event.set)
        goal = self.controller.goal[0]
        for code, number, values in goal_changes(event, self.start_pose):
            from pliant.runtime import commands

            item = {"code": code, "number": number, "values": values}
            commands.apply(_Item(item), goal, self.robot, self.robot.arm.n)

    @property
    def fault(self) -> str:
        """Why the controller stopped the robot ("" if it did not)."""
        return FAULTS.get(self.controller.fault, "")


class _Item(dict[str, Any]):
    """A request that never went through the board's queue."""

    __getattr__ = dict.__getitem__


def goal_changes(event: Event, start_pose: Any) -> Iterator[tuple[int, int, list[float]]]:
    """The requests that an event makes of a loop: (code, number, values)."""
    from pliant.runtime import commands

    if event.law:
        yield commands.LAW, LAWS[event.law], []
    if event.goal_q:
        yield commands.GOAL_Q, 0, list(event.goal_q)
    if event.goal_offset_m:
        pose = start_pose.copy()
        pose[:3] += event.goal_offset_m
        yield commands.GOAL_POSE, 0, pose.tolist()
    if event.wrench_goal is not None:
        yield commands.GOAL_WRENCH, 0, list(event.wrench_goal)
    if event.stop:
        yield commands.HALT, 0, []


def simulate(task: Task, progress: Callable[[float], None] | None = None) -> tuple[np.ndarray[Any, Any], Simulation]:
    """Run a whole task as fast as possible; returns its telemetry and the simulation it ended in."""
    simulation = Simulation(task)
    events = sorted(task.events, key=lambda event: event.at_s)
    due = [round(event.at_s * task.rate_hz) for event in events]
    # long stretches are cut so that progress can be shown and Ctrl-C is heard
    chunk = max(1, round(5.0 * task.rate_hz))
    cuts = sorted({0, task.ticks, *range(0, task.ticks, chunk), *(tick for tick in due if tick < task.ticks)})
    parts = []
    for first, last in zip(cuts, cuts[1:], strict=False):
        for tick, event in zip(due, events, strict=True):
            if tick == first:
                simulation.apply(event)
        part = simulation.advance(last - first)
        parts.append(part)
        if progress:
            progress(last / task.ticks)
        if len(part) < last - first:
            break
    return np.concatenate(parts), simulation
