"""A session: a control loop in a process of its own, and your end of it.

    with pliant.connect("sim:ur5e", law="admittance") as arm:
        arm.push([20, 0, 0], for_s=1)
        print(arm.wait(1.5).observed.pose)

The loop keeps its own time. Nothing that happens in this process, a garbage collection, a busy thread, a breakpoint,
reaches it; when this process ends, it stops the robot.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from pliant.errors import LoopError, PliantError, RecordingError
from pliant.laws import LAWS
from pliant.robots import crash_words
from pliant.runtime import commands
from pliant.runtime.board import Board
from pliant.runtime.board_layout import FAULT, RUNNING, STARTING, STATUS
from pliant.runtime.guard import guard_start
from pliant.runtime.link import Link
from pliant.runtime.save import claim_recording, follow
from pliant.runtime.spawn import LOOP, spawn
from pliant.runtime.task import Task, located
from pliant.runtime.warm import warm

# The ring holds this much, whatever the rate [s]: more than the black box needs, and time for a slow reader.
RING_S = 8.0
_START_S, _STOP_S = 300.0, 5.0
# So many times as long as lifting off takes, the loop waits for it before it ends.
LIFT_TIMES = 3.0

# Signals by which a process ends itself, or is ended for what it did: not those of someone else.
_CRASHES = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}

_numbers = itertools.count(1)


class Session(Link):
    """A running loop. Use it as a context manager; leaving it stops the robot."""

    def __init__(
        self,
        task: Task,
        *,
        record: Path | str | None = None,
        ticks: int = 0,
        name: str | None = None,
        unchecked: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        super().__init__(located(task))
        self.name = name or f"{os.getpid()}-{next(_numbers)}"
        self.unchecked = unchecked
        self._record = None if record is None else Path(record)
        self._progress = progress
        self._ticks = ticks or -1
        self._started = False

    def start(self) -> Self:
        """Start the loop process (and the recorder, if a file was named); returns when it runs.

        A task that is not stable on the surfaces that it declares is refused, unless the session is `unchecked`.
        """
        if not self.unchecked:
            guard_start(self.task)
        if self._record is not None:
            claim_recording(self._record)
        warm(self._progress)
        config = {"task": self.task.model_dump(mode="json"), "ticks": self._ticks, "unchecked": self.unchecked}
        self.board = Board.create(self.name, config, ring_slots=round(RING_S * self.task.rate_hz))
        atexit.register(self._abandon)
        self._started = True
        self._loop = spawn(LOOP, str(self.board.path))
        self._recorder = None
        if self._record is not None:
            self._recorder = follow(self.board.path, self._record)
        try:
            self._await_start()
        except KeyboardInterrupt:
            self._loop.terminate()
            with contextlib.suppress(PliantError):
                self._end()
            raise
        return self

    def _await_start(self) -> None:
        deadline = time.monotonic() + _START_S
        while self.board.status == STARTING:
            if self._loop.poll() is not None or time.monotonic() > deadline:
                self._end()
            time.sleep(0.005)
        self.check()
        # a loop that ticks fills its ring; the recorder must be there before it is full
        while self._recorder is not None and self._recorder.poll() is None and not self.board.recording:
            time.sleep(0.005)

    @property
    def running(self) -> bool:
        """Whether the loop is still going."""
        return self._started and self.board.status == RUNNING and self._loop.poll() is None

    def check(self) -> None:
        """Raise `LoopError` if the loop ended by a fault or was killed, or was never started."""
        if not self._started:
            raise LoopError("it has not been started: use the session in a with statement, or call start()")
        ended = self._loop.poll() is not None  # asked first: then the status is the last word
        status = self.board.status
        if status == FAULT or (ended and status in (STARTING, RUNNING)):
            self._end()

    # -- the end --

    def join(self) -> None:
        """Wait until the loop ends by itself (a task with a duration); raises if it was a fault."""
        while self._loop.poll() is None:
            time.sleep(0.02)
        self._end()

    def stop(self) -> None:
        """Stop the robot and end the loop. Does nothing when it has ended; raises if it ended by a fault."""
        if self._started and (self.board.path.exists() or self._loop.poll() is None):
            if self.running:
                try:
                    self.board.send(commands.QUIT)
                except LoopError:  # its queue is full: it does not listen
                    self._loop.terminate()
            self._end()

    def _end(self) -> None:
        """See the loop out, save what a killed one left, clear the shared memory away, and report what went wrong."""
        for insist in (self._loop.terminate, self._loop.kill):
            try:
                self._loop.wait(_STOP_S + self._lift_s())
                break
            except subprocess.TimeoutExpired:
                insist()
        self._loop.wait()
        status, reason, box = self.board.status, self.board.reason, self.board.notes.get("black_box")
        killed = status in (STARTING, RUNNING)
        if killed:
            reason = self.board.notes.get("fault") or self._last_words(status)
            if self.board.head > 0:
                reason, box = self._save(reason)
            self.board.finish(FAULT, reason)
        recorded = self._recorder.wait() if self._recorder is not None else 0
        self.board.remove()
        atexit.unregister(self._abandon)
        if status == FAULT and self.board.notes.get("refused"):
            raise PliantError(f"{reason}.")
        if killed or status == FAULT:
            raise LoopError(reason, Path(box) if box else None)
        if recorded and self._record is not None:
            raise RecordingError(self._record, f"is not complete: its recorder ended early (exit code {recorded}).")

    def _last_words(self, status: int) -> str:
        """What became of a loop that could not say so itself."""
        code = self._loop.returncode
        if -code in _CRASHES and (words := crash_words(self.task.robot)):
            return f"{words} ({signal.Signals(-code).name})"
        return f"its process ended without a word (exit code {code}, {STATUS[status]})"

    def _lift_s(self) -> float:
        """How long a tool that presses may take to lift off [s]: the loop does not end before."""
        latest, p = self.board.latest(), self.parameters.contact
        if latest is None or int(latest.state.law) != LAWS["hybrid"]:
            return 0.0
        return LIFT_TIMES * p.retract_m / p.retract_m_s

    def _save(self, reason: str) -> tuple[str, str | None]:
        """Save what a killed loop left on the board; returns the reason of its end, and where the file is."""
        from pliant.runtime.save import save_black_box

        try:
            box = str(save_black_box(self.board, reason))
        except (OSError, PliantError) as error:
            return f"{reason} (and the last seconds could not be saved: {error})", None
        self.board.annotate({"black_box": box})
        return reason, box

    def _abandon(self) -> None:
        """At the exit of the interpreter, for a session that nobody stopped."""
        try:
            self.stop()
        except PliantError as error:
            print(error, file=sys.stderr)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.stop()
        except PliantError:
            if kind is None:
                raise


def connect(robot: str = "sim:ur5e", law: str = "hold", **task: Any) -> Session:
    """A session with a robot: ``connect("sim:ur5e", law="admittance", rate_hz=500, record="run.mcap")``.

    Further keywords are the fields of a `Task`; `record` names a recording, `name` the loop. `unchecked` lets a task
    run that is not stable on the surfaces that it declares.
    """
    from pliant.params.declare import validated

    session = {key: task.pop(key) for key in ("record", "name", "unchecked") if key in task}
    return Session(validated(Task, {"robot": robot, "law": law, **task}), **session)
