"""A controller: the records of one arm and the tick that runs on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.control.telemetry import telemetry_of
from pliant.control.tick import tick
from pliant.control.tick_entries import connect_law, new_work
from pliant.model.arm import Arm
from pliant.records import COMMAND, GOAL, MODES, OBSERVED, READING, STATE


class Controller:
    """Put a reading into `reading`, call `tick`, take the command out of `command`."""

    def __init__(
        self,
        arm: Arm,
        parameters: np.ndarray[Any, Any],
        interface: str,
        dt: float,
        laws: Iterable[str] | None = None,
        kind: type[Parameters] = Parameters,
    ) -> None:
        self.arm, self.dt, self.mode = arm, dt, MODES[interface]
        self.parameters = parameters
        self.state, self.reading, self.goal = STATE.new(), READING.new(), GOAL.new()
        self.command, self.observed, self.work = COMMAND.new(), OBSERVED.new(), new_work(laws, kind)
        self._kind, self.telemetry = kind, telemetry_of(kind)

    def begin(self, law: str) -> None:
        """Start with `law`, at rest where the robot is."""
        self.use(law)
        self.goal[0].law = LAWS[law].number
        self.aim()

    def use(self, law: str) -> None:
        """Load a law that may be requested later; one that is loaded costs nothing."""
        connect_law(self.work, LAWS[law], self._kind)

    def aim(self) -> None:
        """Make the last commanded position (before the first tick: the measured one) the goal, at rest."""
        goal, state = self.goal[0], self.state[0]
        goal.q[:] = state.q_cmd if state.started else self.reading[0].q
        goal.pose[:] = self.arm.pose(goal.q[: self.arm.n])
        for field in ("twist", "accel", "wrench", "push"):
            goal[field] = 0.0

    def tick(self) -> None:
        """Run one tick on the records."""
        tick(*self.arguments)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the compiled tick, in its order."""
        return (
            self.arm.handle,
            self.parameters,
            self.state,
            self.reading,
            self.goal,
            self.command,
            self.observed,
            self.work,
            self.mode,
            self.dt,
        )

    @property
    def results(self) -> tuple[Any, ...]:
        """The records of a tick's telemetry, in the order of `cycle.finish`."""
        return self.reading, self.goal, self.observed, self.command, self.state, self.work

    @property
    def fault(self) -> int:
        """Number of the fault that stopped the robot, or 0."""
        return int(self.state[0].fault)

    @property
    def at_rest(self) -> bool:
        """Whether nothing is commanded to move."""
        return not np.any(self.state[0].qd_cmd)
