"""A loop that this process started: its start, its supervision and its end."""

from __future__ import annotations

import atexit
import contextlib
import datetime
import itertools
import os
import signal
import subprocess
import sys
import time
from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

from pliant.control.published import Published
from pliant.errors import LoopError, PliantError, RecordingError, RejectedError
from pliant.loop import goal_requests
from pliant.loop.board import Board
from pliant.loop.board_layout import FAULT, RUNNING, STARTING, STATUS
from pliant.loop.boards.board_recovery import recover
from pliant.loop.processes import exit_words, sees_out, spawn
from pliant.loop.saving import claim_recording, end_recorder, follow, recording_problem
from pliant.robots.robot_registry import kind_of
from pliant.session.board_link import BoardLink, T

# The ring holds this much, whatever the rate [s]: more than the black box needs, and time for a slow reader.
RING_S = 8.0
_START_S, _STOP_S = 300.0, 5.0

# Signals by which a process ends itself, or is ended for what it did: not those of someone else.
_CRASHES = {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}

_numbers = itertools.count(1)


def next_name() -> str:
    """The next default name of a loop."""
    return f"{os.getpid()}-{next(_numbers)}"


class Started(BoardLink[T]):
    """A loop that this process started. Use it as a context manager; leaving the context stops the robot."""

    _record: Path | None = None
    _recorder: subprocess.Popen[bytes] | None = None
    _started = False
    _start_again = "Start a new session"

    @abstractmethod
    def start(self) -> Self:
        """Start the loop; returns when it runs."""

    def _launch(self, module: str, config: dict[str, Any], published: Published) -> Self:
        """Start the loop's process (and the recorder, if a file was named); returns when it runs."""
        if self._started:
            raise RejectedError("This session has already been started. Make a new one.", field="session")
        if self._record is not None:
            claim_recording(self._record)
        begun = {"folder": str(Path.cwd()), "started": f"{datetime.datetime.now():%H:%M:%S}"}
        config = {**config, **begun, "recorded": self._record is not None}
        for said in recover():
            print(said, file=sys.stderr)
        self.board = Board.create(self.name, config, round(RING_S * self.task.rate_hz), published)
        atexit.register(self._stop_at_exit)
        self._started = True
        self._loop = spawn(module, str(self.board.path))
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
            if self._recorder is not None and self._recorder.poll() is not None:
                self.board.recording = True  # the loop waits for a recorder that does not come any more
            time.sleep(0.005)
        self.check()

    @property
    def recorder(self) -> subprocess.Popen[bytes] | None:
        """The process that records the loop from its start, if a file was named."""
        return self._recorder

    @property
    def running(self) -> bool:
        """Whether the loop is running."""
        return self._started and self.board.status == RUNNING and self._loop.poll() is None

    def check(self) -> None:
        """Raise `LoopError` if the loop ended in a fault, was killed, or was never started."""
        board = self.board  # raises if the session was never started
        ended = self._loop.poll() is not None  # checked first: then the status is final
        status = board.status
        if status == FAULT or (ended and status in (STARTING, RUNNING)):
            self._end()

    # -- the end --

    def join(self) -> None:
        """Wait until the loop ends by itself (a task with a duration); raises if it ends in a fault.

        A process that has reported its end but hangs while a library shuts down is killed.
        """
        while self._loop.poll() is None and self.board.status in (STARTING, RUNNING):
            time.sleep(0.02)
        self._end()

    def stop(self) -> None:
        """Stop the robot and end the loop. Does nothing if it has ended; raises if it ended in a fault."""
        if self._started and (self.board.path.exists() or self._loop.poll() is None):
            if self.running:
                try:
                    self.board.send(goal_requests.QUIT)
                except LoopError:  # its queue is full: it does not listen
                    self._loop.terminate()
            self._end()

    def _end(self) -> None:
        """See the loop out, save what a killed one left, clear the shared memory away, and report what went wrong."""
        self._await_loop()
        status, reason, box = self.board.status, self.board.reason, self.board.notes.get("black_box")
        killed = status in (STARTING, RUNNING)
        if killed:
            reason = self.board.notes.get("fault") or self._exit_reason(status)
            if self.board.head > 0:
                reason, box = self._save(reason)
            self.board.finish(FAULT, reason)
        if self._recorder is not None:
            end_recorder(self._recorder)
        self.board.remove()
        atexit.unregister(self._stop_at_exit)
        if status == FAULT and self.board.notes.get("refused"):
            raise PliantError(f"{reason}.")
        if killed or status == FAULT:
            raise LoopError(reason, Path(box) if box else None)
        if self._record is not None and self._recorder is not None and (problem := recording_problem(self._recorder)):
            raise RecordingError(self._record, problem)

    def _await_loop(self) -> None:
        """Wait until the process of the loop has ended; one that does not end is terminated, then killed."""
        for insist in (self._loop.terminate, self._loop.kill):
            if sees_out(self._loop, _STOP_S + self._patience_s()):
                return
            insist()
        self._loop.wait()

    @property
    def recording_problem(self) -> str:
        """Why the recording is incomplete, as a sentence; "" if it is not. The loop does not depend on the recorder."""
        problem = "" if self._recorder is None else recording_problem(self._recorder)
        return f"{self._record} {problem}" if problem else ""

    def _exit_reason(self, status: int) -> str:
        """What became of a loop that could not say so itself."""
        code = self._loop.returncode
        kind, which = kind_of(self.task.robot)
        if -code in _CRASHES and (words := kind.crash_words(which)):
            return f"{words} ({signal.Signals(-code).name})"
        return f"its process exited without reporting a reason ({exit_words(code)} while {STATUS[status]})"

    def _patience_s(self) -> float:
        """How much longer than usual the loop may take to end [s]."""
        return 0.0

    def _save(self, reason: str) -> tuple[str, str | None]:
        """Save what a killed loop left on the board; returns the reason of its end, and where the file is."""
        from pliant.loop.saving import save_black_box

        try:
            box = str(save_black_box(self.board, reason))
        except (OSError, PliantError) as error:
            return f"{reason} (the last seconds could not be saved: {error})", None
        self.board.annotate({"black_box": box})
        return reason, box

    def _stop_at_exit(self) -> None:
        """At the exit of the interpreter, for a session that was not stopped."""
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
