"""A connection to a running loop: read its state and control it.

A `Session` (which started the loop) and a process that attached to it have the same methods.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.control.parameters import Parameters, parameters_of, record_of
from pliant.errors import InputError, LoopError, PliantError, RejectedError
from pliant.loop.board import Board, running
from pliant.loop.boards.board_files import ignored_files, name_of_file
from pliant.loop.boards.board_recovery import has_survivor
from pliant.robots import is_simulated
from pliant.session.arm_verbs import ArmVerbs
from pliant.session.board_link import ANSWER_S, SILENT, BoardLink, Ticking
from pliant.task.schema import MISSION, Task, arm_of, check_fits


class Link(BoardLink[Task], ArmVerbs):
    """A connection to the board of a loop that runs an arm."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        arm = arm_of(task)
        check_fits(task, arm)
        self._begin(arm)

    @property
    def parameters(self) -> Parameters:
        """The current parameters."""
        return self._set_of(self.board.adopted) or self.task.params

    def halt(self) -> None:
        """Stop and hold position; the loop keeps running. A contact pauses: it holds its force under supervision."""
        ArmVerbs.halt(self)

    def watch(self, seconds: float) -> np.ndarray[Any, Any]:
        """Wait for `seconds` of loop time; returns the telemetry of that time, one record for each tick."""
        first = self.board.head
        self.wait(seconds)
        return self.board.read(first)[0]

    # -- how requests and parameter sets reach the loop --

    def _latest(self) -> Any | None:
        return self.board.latest()

    def _ticks(self) -> int:
        return self.board.head

    def _await(self, request: int) -> None:
        self._wait_taken(request)

    def _answering(self) -> str:
        self._must_run()
        return super()._answering()

    def _known_sets(self) -> Iterator[tuple[int, int, Parameters]]:
        for revision in range(self.board.adopted + 1):
            entry = self.board.parameter_set(revision)
            if entry is not None:
                yield revision, int(entry["tick"]), parameters_of(type(self.task.params), entry["values"])

    def _set_of(self, revision: int) -> Parameters | None:
        entry = self.board.parameter_set(revision)
        return None if entry is None else parameters_of(type(self.task.params), entry["values"])

    def _propose(self, make: Callable[[Parameters], Parameters], what: Any) -> tuple[Parameters, Parameters]:
        """Offer a set made from the one in force until the loop has decided on it; returns both."""
        while True:
            self._must_run()
            base, before = self.board.adopted, self.parameters
            after = make(before)
            self.check_now(before, after)
            self._guard(before, after)
            sequence = self.board.propose(record_of(after), base)
            answered = self._answered(sequence, before)
            if answered == sequence:
                return before, after
            if answered == sequence + 1 and self.board.adopted == base:
                raise InputError("the parameter set", what, "within the declared bounds")
            # Someone else's change came first, and ours was not made from it: once more.

    def _answered(self, sequence: int, before: Parameters) -> int:
        """Wait until the loop has decided on a proposal, by its own time: a machine that holds it up costs it none."""
        last, ticking = self.board.head + round(ANSWER_S * self.task.rate_hz), Ticking(self.board)
        try:
            while (answered := self.board.answered) < sequence:
                self._must_run()
                ticking.check()
                if self.board.head > last and self.board.answered < sequence:
                    raise LoopError("it did not answer a parameter change", headline=SILENT)
                time.sleep(self.task.dt / 2)
        except LoopError:
            if int(self.board.header.proposed) == sequence:  # made from no set, this one takes its place and is refused
                self.board.propose(record_of(before), -1)
            if (answered := self.board.answered) != sequence:  # else it was just in time
                raise
        return answered


def attach(name: str | None = None) -> Link:
    """Connect to a loop that another process started; without a name, to the only running loop (see `board_of`)."""
    return link_to(board_of(name))


def link_to(board: Board) -> Link:
    """A connection to the arm's loop that a board belongs to."""
    if MISSION in board.config:
        raise RejectedError(f"Loop {name_of(board)} is a mission: it has no law and no parameters to change.")
    link = Link(Task.model_validate(board.config["task"]))
    link.board, link.name = board, name_of(board)
    link.unchecked = bool(board.config.get("unchecked"))
    return link


def board_of(name: str | None, *, may_be_real: bool = False) -> Board:
    """The board of a running loop; without a name, of the only one.

    A loop that drives a real robot, or that was started in another folder, must be named, unless it `may_be_real`: it
    is not moved from the wrong terminal.
    """
    if name is not None:
        if not isinstance(name, str):
            raise InputError("name", name, "text: the name of a running loop")
        return Board.attach(name)
    board = _only_board()
    if may_be_real:
        return board
    if not _is_simulated(board):
        why = "drives a real robot"
    elif board.config.get("folder") != str(Path.cwd()):
        why = "was started in another folder, maybe by someone else"
    else:
        return board
    raise RejectedError(
        f"The only running loop {why}: {_described(board)}. To use it, name it: --loop {name_of(board)}.",
        field="--loop",
    )


def _is_simulated(board: Board) -> bool:
    """Whether a loop drives a simulated robot; a robot of unknown kind is taken for a real one."""
    try:
        return MISSION in board.config or is_simulated(board.config["task"]["robot"])
    except PliantError:
        return False


def _described(board: Board) -> str:
    """A loop in words, to choose it from several: name, task, robot, start and folder."""
    config = board.config
    task = config.get("task") or config.get(MISSION, {})
    what = f"{name_of(board)} ({task.get('name', 'task')} on {task.get('robot', 'a robot')}"
    return f"{what}, started at {config.get('started', '?')} in {config.get('folder', '?')})"


def name_of(board: Board) -> str:
    """The name of the loop that a board belongs to."""
    return name_of_file(board.path)


def _only_board() -> Board:
    """The board of the only running loop; if there are several, the error lists them."""
    boards = []
    for name in running():
        with contextlib.suppress(PliantError):  # it has just ended, or is another version's
            boards.append(Board.attach(name))
    boards = [board for board in boards if has_survivor(board.header)]
    if not boards:
        ignored = "".join(f" {said}." for said in ignored_files())
        raise RejectedError(f"No loop is running. Start one with pliant run in another terminal.{ignored}")
    if len(boards) > 1:
        words = [_described(board) for board in boards]
        listed = f"{', '.join(words[:-1])} and {words[-1]}"
        raise RejectedError(f"{len(boards)} loops are running: {listed}. Choose one with --loop NAME.")
    return boards[0]
