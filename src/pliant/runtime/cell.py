"""A robot with its controller and the script of a task: what the paced loop and a simulated run have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.params.declare import changed, to_record
from pliant.robots import open_robot
from pliant.runtime import commands
from pliant.runtime.controller import Controller
from pliant.runtime.task import Task

Adopted = Callable[[int, int, np.ndarray[Any, Any]], None]


class Cell:
    """Robot, controller, script. `adopted(revision, tick, set)` hears of every parameter set that comes into force."""

    def __init__(self, task: Task, adopted: Adopted) -> None:
        self.task, self._adopted = task, adopted
        self.robot = open_robot(task.robot, task)
        self.controller = Controller(self.robot.arm, to_record(task.params), task.interface, task.dt)
        self.revision = 0
        self.script: dict[int, list[tuple[np.ndarray[Any, Any] | None, list[commands.Request]]]] = {}

    def begin(self) -> None:
        """Connect, look where the robot is, aim there, and prepare the script: every set in it is validated now."""
        self.robot.open()
        self.robot.read(self.controller.reading)
        self.controller.begin(self.task.law)
        self._adopted(0, 0, self.controller.parameters)
        start_pose, parameters = self.controller.goal[0].pose.copy(), self.task.params
        n = self.robot.arm.n
        for event in sorted(self.task.events, key=lambda event: event.at_s):
            if event.goal_q and len(event.goal_q) != n:
                raise InputError("goal_q", event.goal_q, f"{n} angles, one per joint of {self.robot.name}")
            if event.goal_offset_m and len(event.goal_offset_m) != 3:
                raise InputError("goal_offset_m", event.goal_offset_m, "3 numbers")
            record = None
            if event.set:
                parameters = changed(parameters, event.set, live_only=True)
                record = to_record(parameters)
            tick = round(event.at_s * self.task.rate_hz)
            self.script.setdefault(tick, []).append((record, list(commands.requests_of(event, start_pose))))

    def perform(self, number: int) -> None:
        """Let the events of tick `number` happen."""
        for record, requests in self.script.pop(number, ()):
            if record is not None:
                self.adopt(record, number)
            for request in requests:
                self.request(request)

    def request(self, request: commands.Request) -> None:
        """Carry out a request now."""
        commands.apply(request, self.controller.goal[0], self.robot, self.robot.arm.n)

    def adopt(self, parameters: np.ndarray[Any, Any], number: int) -> None:
        """Put a parameter set into force from tick `number` on."""
        self.revision += 1
        self.controller.parameters[:] = parameters
        self._adopted(self.revision, number, parameters)
