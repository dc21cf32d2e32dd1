"""Common part of every connection to a running loop: read its state, wait, halt it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from pliant.errors import LoopError, WaitTimeoutError
from pliant.loop import goal_requests
from pliant.loop.board import Board
from pliant.loop.board_layout import FAULT, RUNNING, STARTING
from pliant.loop.boards.board_files import alive
from pliant.session.input_checks import function, number


class AnyTask(Protocol):
    """What every kind of task has."""

    @property
    def name(self) -> str: ...

    @property
    def rate_hz(self) -> float: ...

    @property
    def dt(self) -> float: ...

    @property
    def robot(self) -> str: ...


T = TypeVar("T", bound=AnyTask)

# How long a loop may take to answer, and to give its first record [s].
ANSWER_S = 1.0
# A loop that lives but has not ticked for this long is stuck [s]; one that saves its last seconds after a fault has
# longer, because a busy machine may take its time for that.
_STALL_S, _SAVE_S = 5.0, 60.0
SILENT = "The control loop does not respond"
ENDED = "The control loop has ended"


def too_late(timeout_s: float) -> WaitTimeoutError:
    """The error for a condition that did not become true in time."""
    return WaitTimeoutError(f"The condition did not become true within {timeout_s:g} s.")


def _still_starting() -> LoopError:
    return LoopError("it is still starting. Try again in a moment", headline="The control loop is not ready")


class Ticking:
    """Checks that a running loop still ticks."""

    def __init__(self, board: Board) -> None:
        self._board, self._head, self._moved = board, -1, time.monotonic()

    def check(self) -> None:
        """Raise `LoopError` if the loop has not ticked for too long."""
        if self._board.head != self._head:
            self._head, self._moved = self._board.head, time.monotonic()
        elif (stood_s := time.monotonic() - self._moved) > _STALL_S:
            most_s = _SAVE_S if "fault" in self._board.notes else _STALL_S
            if stood_s > most_s:
                raise LoopError(f"it has not ticked for {most_s:g} s", headline=SILENT)


class BoardLink(Generic[T]):
    """A connection to the board of a running loop."""

    _board: Board | None = None
    _start_again = "Start it again with pliant run"

    def __init__(self, task: T) -> None:
        self.task = task
        self.name = ""
        self.lost = 0
        self._at = 0

    @property
    def board(self) -> Board:
        """The shared memory of the loop."""
        if self._board is None:
            raise LoopError(
                "it has not been started. Use the session in a with statement, or call start()",
                headline="The control loop is not running",
            )
        return self._board

    @board.setter
    def board(self, board: Board) -> None:
        self._board = board

    @property
    def title(self) -> str:
        """The loop in words: its name, task and robot."""
        kind, _, which = self.task.robot.partition(":")
        return f"Loop {self.name} ({self.task.name} on {kind}:{Path(which).name})"

    @property
    def running(self) -> bool:
        """Whether the loop is running."""
        return self.board.status == RUNNING and alive(int(self.board.header.loop_pid))

    def check(self) -> None:
        """Raise `LoopError` if the loop ended in a fault or was killed."""
        if self.board.status == FAULT:
            raise LoopError(self.board.reason)

    def has_stopped(self, since: int) -> bool:
        """Whether a record from tick `since` on shows that the loop has carried out a stop."""
        records, _, _ = self.board.read(since)
        return bool(records["goal"]["stop"].any())

    # -- what is going on --

    @property
    def state(self) -> Any:
        """The newest telemetry record: `.reading`, `.observed`, `.command`, `.goal`, `.state`, `.timing`."""
        self.check()
        latest = self.board.latest()
        if latest is None:
            deadline = time.monotonic() + (ANSWER_S if self.board.status == STARTING else _STALL_S)
            while latest is None and time.monotonic() < deadline:
                time.sleep(self.task.dt)
                latest = self.board.latest()
        if latest is None and self.board.status == STARTING:
            raise _still_starting()
        if latest is None:
            raise LoopError("it has not ticked yet", headline=SILENT)
        return latest

    def read(self) -> np.ndarray[Any, Any]:
        """All telemetry since the last call, as one structured array; `lost` counts records that were overwritten."""
        records, self._at, gone = self.board.read(self._at)
        self.lost += gone
        return records

    @property
    def notes(self) -> dict[str, Any]:
        """Notes of the loop: real-time scheduling and memory."""
        return self.board.notes

    def wait(self, seconds: float) -> Any:
        """Wait for `seconds` of loop time; returns the newest record. Raises if the loop ends in a fault."""
        seconds = number("seconds", seconds, 0.0, math.inf, "s")
        self.check()
        goal = self.board.head + round(seconds * self.task.rate_hz)
        ticking = Ticking(self.board)
        while self.running and self.board.head < goal:
            ticking.check()
            time.sleep(min(0.02, max(0.0, (goal - self.board.head) * self.task.dt)))
        return self.state

    def wait_until(self, condition: Callable[[], object], timeout_s: float = 10.0) -> Any:
        """Wait until ``condition()`` is true; returns the newest record.

        Raises `WaitTimeoutError` after `timeout_s` of loop time, and `LoopError` if the loop ends first.
        """
        condition = function("condition", condition)
        timeout_s = number("timeout_s", timeout_s, 0.0, math.inf, "s")
        last, ticking = self.board.head + round(timeout_s * self.task.rate_hz), Ticking(self.board)
        while not condition():
            self._must_run()
            ticking.check()
            if self.board.head > last:
                raise too_late(timeout_s)
            time.sleep(self.task.dt)
        return self.state

    # -- what to do --

    def halt(self) -> None:
        """Stop and hold position; the loop keeps running."""
        self._send(goal_requests.HALT)

    def _must_run(self) -> None:
        self.check()
        if not self.running and self.board.status == STARTING:
            raise _still_starting()
        if not self.running:
            if not self.board.reason:
                unknown = "it did not confirm the request. See its terminal for the reason"
                raise LoopError(unknown, headline=f"Loop {self.name} has ended")
            raise LoopError(f"{self.board.reason}. {self._start_again}", headline=ENDED)

    def _send(self, code: int, *, number: int = 0, values: Any = (), at_tick: int = 0) -> int:
        """Send a request that is carried out at a tick (0: now); returns its number in the queue."""
        self._must_run()
        return self.board.send(code, number=number, values=values, at_tick=at_tick)

    def settle(self) -> None:
        """Wait until the loop has taken every request so far and has ticked since; raises `LoopError` if it hangs."""
        self._wait_taken(int(self.board.header.queue_in))

    def _wait_taken(self, number: int) -> None:
        """Wait until the loop has taken the request with this number, and has ticked with it."""
        ticking = Ticking(self.board)
        while self.running and self.board.taken < number:
            ticking.check()
            time.sleep(self.task.dt / 2)
        self.wait(self.task.dt)
