"""Common part of every connection to a running loop: read its state, wait, halt it."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, LoopError
from pliant.runtime import commands
from pliant.runtime.board import Board, alive
from pliant.runtime.board_layout import FAULT, RUNNING, STARTING

if TYPE_CHECKING:
    from pliant.runtime.mission_task import MissionTask
    from pliant.runtime.task import Task

T = TypeVar("T", bound="Task | MissionTask")

# How long a loop may take to answer, and to give its first record [s].
ANSWER_S = 1.0
# A loop that lives but has not ticked for this long is stuck [s]; one that saves its last seconds after a fault has
# longer, because a busy machine may take its time for that.
_STALL_S, _SAVE_S = 5.0, 60.0
# A coordinate beyond this is a mistake [m, rad, N, N m].
SANE = 1e4
SILENT = "The control loop does not respond"


def number(field: str, value: Any, low: float, high: float, unit: str, *, least: str = "") -> float:
    """`value` as a number within bounds; otherwise an `InputError`. `least` words a lower bound that is not allowed."""
    try:
        found = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not (low <= found <= high and math.isfinite(found)) or (least and found == low):
        bounds = least or (f"{low:g} to {high:g} {unit}" if math.isfinite(high) else f"at least {low:g} {unit}")
        raise InputError(field, value, bounds if math.isfinite(found) else f"a number, {bounds}", unit=unit)
    return found


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

    board: Board

    def __init__(self, task: T) -> None:
        self.task = task
        self.name = ""
        self.lost = 0
        self._at = 0

    @property
    def running(self) -> bool:
        """Whether the loop is running."""
        return self.board.status == RUNNING and alive(int(self.board.header.loop_pid))

    def check(self) -> None:
        """Raise `LoopError` if the loop ended in a fault or was killed."""
        if self.board.status == FAULT:
            raise LoopError(self.board.reason)

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

    # -- what to do --

    def halt(self) -> None:
        """Stop and hold position; the loop keeps running."""
        self._send(commands.HALT)

    def _numbers(self, field: str, values: ArrayLike, *sizes: int, allowed: str = "") -> np.ndarray[Any, Any]:
        """`values` as an array of one of these sizes; an error shows `allowed`."""
        try:
            array = np.array(values, float)
        except (ValueError, TypeError):
            array = np.zeros(0)
        words = allowed or f"{' or '.join(map(str, sizes))} numbers"
        if array.ndim != 1 or len(array) not in sizes:
            raise InputError(field, values, words)
        if not np.all(np.abs(array) <= SANE):
            raise InputError(field, values, f"{words.partition(', each ')[0]}, each finite and within ±{SANE:g}")
        return array

    def _must_run(self) -> None:
        self.check()
        if not self.running and self.board.status == STARTING:
            raise _still_starting()
        if not self.running:
            raise LoopError(self.board.reason or "no reason was reported")

    def _send(self, code: int, *, number: int = 0, values: Any = ()) -> None:
        self._must_run()
        self.board.send(code, number=number, values=values)
