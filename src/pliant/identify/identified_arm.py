"""An arm that is moved for an identification: in real time, or simulated as fast as possible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from pliant.control.laws.contact.contact_states import COMMANDS
from pliant.control.laws.registry import LAWS
from pliant.errors import LoopError
from pliant.loop import goal_requests
from pliant.loop.fault_text import first_fault
from pliant.session.fast_run import Simulation
from pliant.session.session import Session
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]


class Mover(Protocol):
    """The interface through which an identification moves an arm."""

    def move_joints(self, q: Any) -> None: ...

    def law(self, name: str, *, pressed: bool = False) -> None: ...

    def command(self, name: str) -> None: ...

    def pass_time(self, seconds: float) -> Array:
        """Wait; returns the telemetry since the last call, without gaps."""
        ...


class _Paced:
    """The arm in real time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.move_joints, self.law, self.command = session.move_joints, session.law, session.command

    def pass_time(self, seconds: float) -> Array:
        self._session.wait(seconds)
        return self._session.read()


class _Fast:
    """A simulated arm as fast as possible."""

    def __init__(self, task: Task) -> None:
        self._simulation = Simulation(task)

    def _ask(self, code: int, number: int = 0, values: Any = ()) -> None:
        self._simulation.cell.request(goal_requests.Request(code, number, values))

    def move_joints(self, q: Any) -> None:
        self._ask(goal_requests.GOAL_Q, values=q)

    def law(self, name: str, *, pressed: bool = False) -> None:
        self._ask(goal_requests.LAW, LAWS[name].number, [goal_requests.PRESSED] if pressed else ())

    def command(self, name: str) -> None:
        self._ask(goal_requests.CONTACT_COMMAND, COMMANDS[name])

    def pass_time(self, seconds: float) -> Array:
        ticks = max(1, round(seconds * self._simulation.task.rate_hz))
        records = self._simulation.advance(ticks)
        if len(records) < ticks:
            raise LoopError(first_fault(records, self._simulation.cell.controller.parameters[0]))
        return records


@contextmanager
def moving(task: Task, *, fast: bool) -> Iterator[Mover]:
    """The task's arm, running its law."""
    if fast:
        yield _Fast(task)
        return
    with Session(task) as session:
        yield _Paced(session)
