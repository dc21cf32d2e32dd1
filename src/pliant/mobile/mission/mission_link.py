"""A connection to a mission that runs in real time: begin it, stop it, change its goal, and read its log."""

from __future__ import annotations

import secrets
import time
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pliant.compiling.ahead import ensure, lines_on_stderr
from pliant.errors import LoopError, RejectedError
from pliant.loop import goal_requests
from pliant.loop.board import Board
from pliant.loop.board_layout import checked_name
from pliant.loop.processes import MISSION_LOOP
from pliant.mobile.mission.mission_task import MissionTask
from pliant.mobile.mission.simulated_mission import published_by
from pliant.session.board_link import SILENT, BoardLink
from pliant.session.input_checks import numbers
from pliant.session.link import Link, board_of, link_to, name_of
from pliant.session.started_loop import Started, next_name
from pliant.task.schema import MISSION

_SEEK_S = 120.0


class MissionLink(BoardLink[MissionTask]):
    """A connection to the board of a mission."""

    @property
    def mission_log(self) -> dict[str, Any]:
        """The log of the mission: `stage`, whether it is `moving` or `seeking` a path, and its `account`."""
        return self.board.mission_log

    @property
    def stage(self) -> str:
        """ready, A, B, C, stopping, done or stopped."""
        return self.mission_log["stage"]

    def has_stopped(self, since: int) -> bool:
        """Whether the mission is stopping or has stopped; its log shows that, its records do not."""
        return not self.mission_log.get("moving", True) or self.mission_log.get("stage") in ("stopping", "stopped")

    def begin(self) -> None:
        """Begin; a finished mission begins again from the robot's current pose. Raises if there is no path."""
        self._ask(goal_requests.RESUME)

    def goal(self, position: ArrayLike) -> None:
        """Set another goal of the tool [m] in the map frame; it keeps its orientation, and two numbers keep its height.

        Nothing moves: a goal pose of the base and a path are planned, and `begin` drives there. Raises if there are
        none.
        """
        values = numbers("goal", position, 2, 3, allowed="2 or 3 numbers [m]")
        pose = np.array(self.mission_log["account"]["goal"])
        pose[: len(values)] = values
        self._ask(goal_requests.GOAL_POSE, pose)

    def _ask(self, code: int, values: Any = ()) -> None:
        """Ask for something, and wait for the answer."""
        number = secrets.randbits(48)
        self._send(code, number=number, values=values)
        deadline, told = time.monotonic() + _SEEK_S, -1
        while time.monotonic() < deadline:
            self._must_run()
            if self.board.mission_log_number != told:
                told = self.board.mission_log_number
                why = self.mission_log.get("answers", {}).get(str(number))
                if why:
                    raise RejectedError(why)
                if why is not None:
                    return
            time.sleep(0.01)
        raise LoopError(f"it did not answer within {_SEEK_S:g} s", headline=SILENT)


class MissionSession(Started[MissionTask], MissionLink):
    """A mission in its own process. It waits for `begin`; leaving the context stops the robot."""

    def __init__(self, task: MissionTask, *, name: str | None = None) -> None:
        super().__init__(task)
        self.name = next_name() if name is None else checked_name(name)
        """Name of the loop, by which other processes find it."""

    def start(self) -> Self:
        """Start the process; returns when a path has been found, and raises if no path exists."""
        ensure("loop", "body", "planner", notice=lines_on_stderr())
        published = published_by(self.task)
        return self._launch(MISSION_LOOP, {MISSION: self.task.model_dump(mode="json")}, published)

    def _patience_s(self) -> float:
        """How long the robot may take to brake [s]."""
        return 10.0


def attach_any(name: str | None = None, *, may_be_real: bool = False) -> Link | MissionLink:
    """Connect to an arm's loop or to a mission; without a name, to the only running loop (see `board_of`)."""
    board = board_of(name, may_be_real=may_be_real)
    return _mission_link(board) if MISSION in board.config else link_to(board)


def attach_mission(name: str | None = None) -> MissionLink:
    """Connect to a mission that another process started; without a name, to the only running loop."""
    return _mission_link(board_of(name))


def _mission_link(board: Board) -> MissionLink:
    if MISSION not in board.config:
        raise RejectedError(f"Loop {name_of(board)} controls an arm; it is not a mission.")
    link = MissionLink(MissionTask.model_validate(board.config[MISSION]))
    link.board, link.name = board, name_of(board)
    return link
