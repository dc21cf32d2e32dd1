"""An arm that is moved for an identification: in real time, or simulated as fast as possible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from pliant.session.in_process.simulation import Simulation
from pliant.session.session import Session
from pliant.task.schema import Task

Array = np.ndarray[Any, Any]


class Mover(Protocol):
    """The interface through which an identification moves an arm."""

    def move_joints(self, q: Any) -> None: ...

    def law(self, name: str, *, pressed: bool = False) -> None: ...

    def command(self, name: str) -> None: ...

    def wait(self, seconds: float) -> Array:
        """Wait; returns the telemetry since the last call, without gaps."""
        ...


class _Paced:
    """The arm in real time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.move_joints, self.law, self.command = session.move_joints, session.law, session.command

    def wait(self, seconds: float) -> Array:
        self._session.wait(seconds)
        return self._session.read()


class _Fast:
    """A simulated arm as fast as possible."""

    def __init__(self, task: Task) -> None:
        self._simulation = simulation = Simulation(task)
        self.move_joints, self.law, self.command = simulation.move_joints, simulation.law, simulation.command

    def wait(self, seconds: float) -> Array:
        return self._simulation.watch(max(seconds, self._simulation.task.dt))


@contextmanager
def running_arm(task: Task, *, fast: bool) -> Iterator[Mover]:
    """The task's arm, running its law."""
    if fast:
        yield _Fast(task)
        return
    with Session(task) as session:
        yield _Paced(session)
