"""A robot with its controller and the events of a task: the common part of the paced loop and a simulated run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pliant.control.controller import Controller
from pliant.control.laws.gains import admissible
from pliant.control.laws.law import Law
from pliant.control.laws.registry import LAWS, has_new_matrices, law_of, prepare, progress_of
from pliant.control.parameters import record_of, set_layout
from pliant.loop import goal_requests
from pliant.loop.periods import works_at
from pliant.loop.resting_check import check_rest
from pliant.params.declare import bounds_arrays, changed, live_places
from pliant.records import FAULT_SENSOR, TROUBLES, copied
from pliant.robots import open_robot
from pliant.robots.sensed_robot import with_sensor
from pliant.robots.simulated import SimRobot
from pliant.robots.supervised import Supervised
from pliant.task.schema import Event, ModelError, Task, arm_of, check_fits, laws_of

Adopted = Callable[[int, int, np.ndarray[Any, Any]], None]


class TaskRunner:
    """Robot, controller, events. `adopted(revision, tick, set)` is called for every parameter set that takes effect."""

    def __init__(self, task: Task, adopted: Adopted) -> None:
        self.task, self._adopted = task, adopted
        robot, self._sensor = with_sensor(open_robot(task.robot, task), task.sensor)
        self.robot = robot if isinstance(robot, SimRobot) else Supervised(robot)
        parameters = record_of(task.params)
        prepare(parameters, None, 1.0, 0, task.dt)
        limits = task.params.limits
        same = task.model_error == ModelError() and not (
            limits.joint_acceleration_rad_s2 or limits.joint_acceleration_m_s2
        )
        arm = self.robot.arm if same else arm_of(task)
        self.controller = Controller(arm, parameters, task.interface, task.dt, laws_of(task), type(task.params))
        self._low, self._high = bounds_arrays(type(task.params))
        self._fixed = np.flatnonzero(~live_places(type(task.params)))
        self.revision = 0
        self.script: dict[int, list[tuple[Event, np.ndarray[Any, Any], list[goal_requests.Request]]]] = {}

    @property
    def law(self) -> Law:
        """The law that is asked for now."""
        return law_of(self.controller.goal[0].law)

    @property
    def sensor_words(self) -> str:
        """What a sensor of its own says about its trouble, to append to a fault of the force sensor."""
        is_its_fault = self.controller.fault - FAULT_SENSOR in TROUBLES
        return self._sensor.words if self._sensor is not None and is_its_fault else ""

    def begin(self) -> None:
        """Connect, check the resting wrench, make the current pose the goal, and validate all events."""
        self.robot.open()
        check_rest(self.task, self.robot, self.controller.arm, self.controller.reading)
        self.robot.read(self.controller.reading)
        self.controller.begin(self.task.law)
        self._adopted(0, 0, self.controller.parameters)
        check_fits(self.task, self.robot.arm, self.controller.reading[0].q[: self.robot.arm.n])
        self._schedule()

    def begin_again(self) -> None:
        """Make the pose that was read the goal, before the first tick of another run."""
        self.controller.aim()
        self.script.clear()
        self._schedule()

    def _schedule(self) -> None:
        """Write the events of the task, with their goals, into the script."""
        start_pose, parameters = self.controller.goal[0].pose.copy(), self.task.params
        law = self.task.law
        for event in sorted(self.task.events, key=lambda event: event.at_s):
            parameters, law = changed(parameters, event.set, live_only=True), event.law or law
            tick = round(event.at_s * self.task.rate_hz)
            requests = list(goal_requests.requests_of(event, start_pose, LAWS[law]))
            self.script.setdefault(tick, []).append((event, record_of(parameters), requests))

    def perform(self, number: int) -> None:
        """Carry out the events of tick `number`."""
        for event, values, requests in self.script.pop(number, ()):
            if event.set:
                parameters = copied(self.controller.parameters)  # what was set from outside meanwhile stays
                named = set_layout(type(self.task.params)).dtype
                _overlay(parameters.view(named)[0], values.view(named)[0], event.set)
                self.adopt(parameters, number)
            for request in requests:
                self.request(request)

    def request(self, request: goal_requests.Request) -> None:
        """Carry out a request now. A new law starts where the robot is, not at an earlier goal."""
        if request.code == goal_requests.LAW and request.number != self.controller.goal[0].law:
            self.controller.use(law_of(request.number).name)
            self.controller.aim()
        heard = int(self.controller.state[0].commands)
        goal_requests.apply(request, self.controller.goal[0], self.robot, self.robot.arm.n, self._listening, heard)

    @property
    def _listening(self) -> Law:
        """The law that hears commands: one that has to end before the requested one starts listens until then."""
        state = self.controller.state[0]
        running = law_of(state.law) if state.started else self.law
        return running if running.takes_commands else self.law

    def end_law(self) -> int:
        """Command an active law to end; returns for how many ticks at most the end of the loop has to wait for it."""
        law = self._listening
        if not works_at(self.controller.state) or law.commands is None or not law.commands.ends:
            return 0
        self.request(goal_requests.command(law.commands.ends, law))
        section = self.controller.parameters.view(set_layout(type(self.task.params)).dtype)[0][law.section]
        return round(law.commands.end_s(section) / self.task.dt)

    def accepts(self, parameters: np.ndarray[Any, Any]) -> bool:
        """Whether a proposed set may take effect now: within bounds, with good matrices, and nothing fixed changed."""
        now, values = self.controller.parameters, parameters.view(np.float64)[: len(self._low)]
        if not ((values >= self._low) & (values <= self._high)).all():
            return False
        if (parameters.view(np.int64)[self._fixed] != now.view(np.int64)[self._fixed]).any():
            return False
        # an offset that changes under a force that is held would be pressed for: once more each time
        if (parameters["sense"]["bias"] != now["sense"]["bias"]).any() and works_at(self.controller.state):
            return False
        changed_ones = [law for law in LAWS.values() if has_new_matrices(law, parameters, now)]
        return all(admissible(parameters[law.section][0]) for law in changed_ones)

    def adopt(self, parameters: np.ndarray[Any, Any], number: int) -> None:
        """Apply a parameter set from tick `number` on; its gains ramp from the present ones."""
        self.revision += 1
        before = self.controller.parameters
        prepare(parameters, before, progress_of(self.controller.state, before), self.revision, self.task.dt)
        # as bytes: field by field takes ten times as long
        self.controller.parameters.view(np.uint8)[:] = parameters.view(np.uint8)
        self._adopted(self.revision, number, parameters)


def _overlay(target: Any, source: Any, names: Iterable[str]) -> None:
    """Copy the parameters of these dotted names from one record to another."""
    for dotted in names:
        *path, last = dotted.split(".")
        to, of = target, source
        for part in path:
            to, of = to[part], of[part]
        to[last] = of[last]
