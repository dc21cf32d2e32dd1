"""The goals that the events of a task set: one that would stop the robot at once is found before anything moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.model.arm import Arm
from pliant.robots import is_simulated
from pliant.task.spring_stretch import check_goal, check_takes_goal
from pliant.task.task_sections import Event

if TYPE_CHECKING:
    from pliant.task.schema import Task


class ScriptedGoals:
    """Follows the goal through the events of a task. The tool is assumed to be at the goal of the event before."""

    def __init__(self, task: Task, arm: Arm, q: ArrayLike | None) -> None:
        self._pose, self._offset = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]), np.zeros(3)
        self._known = not LAWS[task.law].takes_commands
        sections = (getattr(task.params, law.section) for law in LAWS.values() if law.matrices is not None)
        if any(section.frame == "tool" for section in sections):  # only then its orientation matters
            self._known &= q is not None or is_simulated(task.robot)
            self._pose = arm.pose(q if q is not None else task.start_q or arm.q_home)

    def check(self, event: Event, law: str, parameters: Parameters) -> None:
        """Raise for a goal that the law does not use, or that would stop the robot at once."""
        if LAWS[law].takes_commands or event.goal_q:  # what moves the tool away is not followed
            self._known = False
        if not event.goal_offset_m:
            return
        check_takes_goal(law)
        step = np.zeros(6)
        step[:3] = event.goal_offset_m - self._offset
        if self._known:
            check_goal(law, parameters, self._pose, step, step)
        self._known, self._offset = True, np.array(event.goal_offset_m)
