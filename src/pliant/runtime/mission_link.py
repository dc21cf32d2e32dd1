"""Your end of a mission that runs at its own pace: begin it, stop it, give it another goal, and see how it goes."""

from __future__ import annotations

import secrets
import time
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import LoopError, RejectedError
from pliant.runtime import commands
from pliant.runtime.board_link import BoardLink
from pliant.runtime.link import board_of, name_of
from pliant.runtime.mission_task import MissionTask
from pliant.runtime.spawn import MISSION_LOOP
from pliant.runtime.started import Started, next_name
from pliant.runtime.task import MISSION
from pliant.runtime.warm import ensure, lines_on_stderr

_SEEK_S = 120.0


class MissionLink(BoardLink[MissionTask]):
    """A connection to the board of a mission."""

    @property
    def story(self) -> dict[str, Any]:
        """What it tells of itself: `stage`, whether it is `moving` or `seeking` a way, and its `account`."""
        return self.board.story

    @property
    def stage(self) -> str:
        """ready, A, B, C, stopping, done or stopped."""
        return self.story["stage"]

    def begin(self) -> None:
        """Begin; a mission that is over begins once more from where the robot stands. Raises if there is no way."""
        self._ask(commands.RESUME)

    def goal(self, position: ArrayLike) -> None:
        """Another goal of the tool [m], in the axes of the map, turned as before; two numbers leave its height.

        Nothing moves: a place and a way are looked for, and `begin` takes them. Raises if there are none.
        """
        values = self._numbers("goal", position, 2 if np.size(position) == 2 else 3)
        pose = np.array(self.story["account"]["goal"])
        pose[: len(values)] = values
        self._ask(commands.GOAL_POSE, pose)

    def _ask(self, code: int, values: Any = ()) -> None:
        """Ask for something, and wait for the answer."""
        number = secrets.randbits(48)
        self._send(code, number=number, values=values)
        deadline, told = time.monotonic() + _SEEK_S, -1
        while time.monotonic() < deadline:
            self._must_run()
            if self.board.told != told:
                told = self.board.told
                why = self.story.get("answers", {}).get(str(number))
                if why:
                    raise RejectedError(why)
                if why is not None:
                    return
            time.sleep(0.01)
        raise LoopError(f"it did not answer within {_SEEK_S:g} s")


class MissionSession(Started[MissionTask], MissionLink):
    """A mission in a process of its own. It waits until it is told to `begin`; leaving it stops the robot."""

    def __init__(self, task: MissionTask, *, name: str | None = None) -> None:
        super().__init__(task)
        self.name = name or next_name()

    def start(self) -> Self:
        """Start the process; returns when a way has been found, and raises if there is none."""
        ensure("loop", "body", "planner", notice=lines_on_stderr())
        return self._launch(MISSION_LOOP, {MISSION: self.task.model_dump(mode="json")})

    def _patience_s(self) -> float:
        """How long the robot may take to brake [s]."""
        return 10.0


def attach_mission(name: str | None = None) -> MissionLink:
    """Connect to a mission that someone else started; without a name, to the only loop that runs."""
    board = board_of(name)
    if MISSION not in board.config:
        raise RejectedError(f"Loop {name_of(board)} is the loop of an arm, not a mission.")
    link = MissionLink(MissionTask.model_validate(board.config[MISSION]))
    link.board, link.name = board, name_of(board)
    return link
