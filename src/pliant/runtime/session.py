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
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, LoopError, PliantError, RecordingError, UnknownNameError
from pliant.laws import LAWS
from pliant.model.arm import Arm
from pliant.params.control import Parameters
from pliant.params.declare import changed, to_record
from pliant.records import TELEMETRY
from pliant.runtime import commands
from pliant.runtime.board import Board
from pliant.runtime.board_layout import FAULT, RUNNING, STARTING, STATUS
from pliant.runtime.task import Task
from pliant.runtime.warm import warm

# The ring holds this much, whatever the rate [s]: more than the black box needs, and time for a slow reader.
RING_S = 8.0
_START_S, _STOP_S, _ANSWER_S = 60.0, 5.0, 1.0

_numbers = itertools.count(1)


class Session:
    """A running loop. Use it as a context manager; leaving it stops the robot."""

    def __init__(
        self,
        task: Task,
        *,
        record: Path | None = None,
        ticks: int = 0,
        name: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.task = task
        self.name = name or f"{os.getpid()}-{next(_numbers)}"
        self.arm = Arm.load(task.robot.partition(":")[2], task.tool)
        self._record = record
        self._progress = progress
        self._ticks = ticks or -1
        self._at = 0
        self.lost = 0

    def start(self) -> Self:
        """Start the loop process (and the recorder, if a file was named); returns when it runs."""
        if self._record is not None:
            _claim(self._record)
        warm(self._progress)
        config = {"task": self.task.model_dump(mode="json"), "ticks": self._ticks}
        self.board = Board.create(self.name, config, ring_slots=round(RING_S * self.task.rate_hz))
        atexit.register(self._abandon)
        self._loop = _spawn("pliant.runtime.loop", str(self.board.path))
        self._recorder = None
        if self._record is not None:
            self._recorder = _spawn("pliant.runtime.save", str(self.board.path), str(self._record))
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

    # -- what is going on --

    @property
    def state(self) -> Any:
        """The newest telemetry record: `.reading`, `.observed`, `.command`, `.goal`, `.state`, `.timing`."""
        self.check()
        latest = self.board.latest()
        if latest is None:
            deadline = time.monotonic() + _ANSWER_S
            while latest is None and time.monotonic() < deadline:
                time.sleep(self.task.dt)
                latest = self.board.latest()
        if latest is None:
            raise LoopError("it has not ticked yet")
        return latest

    @property
    def q(self) -> np.ndarray[Any, Any]:
        """Measured joint positions [rad]."""
        return self.state.reading.q[: self.arm.n].copy()

    @property
    def pose(self) -> np.ndarray[Any, Any]:
        """Measured pose of the tool in the base [x, y, z, qw, qx, qy, qz]."""
        return self.state.observed.pose.copy()

    @property
    def wrench(self) -> np.ndarray[Any, Any]:
        """External wrench at the tool, in base axes [N, N m]."""
        return self.state.observed.wrench.copy()

    def read(self) -> np.ndarray[Any, Any]:
        """All telemetry since the last call, as one structured array; `lost` counts what came too late to read."""
        records, self._at, gone = self.board.read(self._at)
        self.lost += gone
        return records

    @property
    def parameters(self) -> Parameters:
        """The parameters in force."""
        entry = self.board.parameter_set(self.board.adopted)
        return self.task.params if entry is None else Parameters.model_validate(_plain(entry["values"]))

    @property
    def notes(self) -> dict[str, Any]:
        """What the loop says about itself: scheduling and memory it was granted."""
        return self.board.notes

    @property
    def running(self) -> bool:
        """Whether the loop is still going."""
        return self.board.status == RUNNING and self._loop.poll() is None

    def check(self) -> None:
        """Raise `LoopError` if the loop ended by a fault or was killed."""
        ended = self._loop.poll() is not None  # asked first: then the status is the last word
        status = self.board.status
        if status == FAULT or (ended and status in (STARTING, RUNNING)):
            self._end()

    def wait(self, seconds: float) -> Any:
        """Let `seconds` of loop time pass; returns the newest record. Raises if the loop faults meanwhile."""
        goal = self.board.head + round(seconds * self.task.rate_hz)
        while self.running and self.board.head < goal:
            time.sleep(min(0.02, max(0.0, (goal - self.board.head) * self.task.dt)))
        return self.state

    # -- what to do --

    def move_joints(self, q: ArrayLike) -> None:
        """Set the joint goal [rad] of the law `hold`."""
        self._send(commands.GOAL_Q, values=self._numbers("q", q, self.arm.n))

    def goal_pose(self, pose: ArrayLike) -> None:
        """Set the goal pose [x, y, z, qw, qx, qy, qz] in base axes."""
        values = self._numbers("pose", pose, 7)
        if abs(np.linalg.norm(values[3:]) - 1.0) > 1e-3:
            raise InputError("pose", values.tolist(), "a position and a unit quaternion (w, x, y, z)")
        values[3:] /= np.linalg.norm(values[3:])
        self._send(commands.GOAL_POSE, values=values)

    def goal_wrench(self, wrench: ArrayLike) -> None:
        """Set the wrench [N, N m] to be held, in base axes."""
        self._send(commands.GOAL_WRENCH, values=self._numbers("wrench", wrench, 6))

    def law(self, name: str) -> None:
        """Change to another law, from rest at the present pose."""
        if name not in LAWS:
            raise UnknownNameError("law", name, LAWS)
        self._send(commands.LAW, number=LAWS[name])

    def halt(self) -> None:
        """Come to rest and stay there; the loop goes on."""
        self._send(commands.HALT)

    def resume(self) -> None:
        """Go on after `halt`."""
        self._send(commands.RESUME)

    def push(self, force: ArrayLike, for_s: float = 0.5) -> None:
        """Push a simulated arm at its tool: a force [N], or a wrench of six numbers, in base axes."""
        values = self._numbers("force", force, 3 if np.size(force) == 3 else 6)
        if not (np.isfinite(for_s) and 0 < for_s <= 60):
            raise InputError("for_s", for_s, "more than 0 and at most 60 seconds")
        self._send(commands.PUSH, values=[*values, *[0.0] * (6 - len(values)), for_s])

    def set(self, values: dict[str, Any]) -> None:
        """Change live parameters, all of them or none: ``arm.set({"admittance.stiffness": 400})``."""
        deadline = time.monotonic() + _ANSWER_S
        while True:
            base = self.board.adopted
            proposed = changed(self.parameters, values, live_only=True)
            sequence = self.board.propose(to_record(proposed), base)
            while (answered := self.board.answered) < sequence:
                self._must_run()
                if time.monotonic() > deadline:
                    raise LoopError("it did not answer a parameter change")
                time.sleep(self.task.dt / 2)
            if answered == sequence:
                return
            if answered == sequence + 1 and self.board.adopted == base:
                raise InputError("the parameter set", values, "within the declared bounds")
            # Someone else's change came first, and ours was not made from it: once more.

    def _numbers(self, field: str, values: ArrayLike, n: int) -> np.ndarray[Any, Any]:
        try:
            array = np.array(values, float)
        except (ValueError, TypeError):
            array = np.zeros(0)
        if array.shape != (n,) or not np.isfinite(array).all():
            raise InputError(field, values, f"{n} finite numbers")
        return array

    def _must_run(self) -> None:
        self.check()
        if not self.running:
            raise LoopError(self.board.reason)

    def _send(self, code: int, *, number: int = 0, values: Any = ()) -> None:
        self._must_run()
        self.board.send(code, number=number, values=values)

    # -- the end --

    def join(self) -> None:
        """Wait until the loop ends by itself (a task with a duration); raises if it was a fault."""
        while self._loop.poll() is None:
            time.sleep(0.02)
        self._end()

    def stop(self) -> None:
        """Stop the robot and end the loop. Does nothing when it has ended; raises if it ended by a fault."""
        if self.board.path.exists() or self._loop.poll() is None:
            if self.running:
                self.board.send(commands.QUIT)
            self._end()

    def _end(self) -> None:
        """See the loop out, save what a killed one left, clear the shared memory away, and report what went wrong."""
        try:
            self._loop.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._loop.kill()
            self._loop.wait()
        status, reason, box = self.board.status, self.board.reason, self.board.notes.get("black_box")
        killed = status in (STARTING, RUNNING)
        if killed:
            reason = f"its process ended without a word (exit code {self._loop.returncode}, {STATUS[status]})"
            if self.board.head > 0:
                reason, box = self._save(reason)
            self.board.finish(FAULT, reason)
        recorded = self._recorder.wait() if self._recorder is not None else 0
        self.board.remove()
        atexit.unregister(self._abandon)
        if killed or status == FAULT:
            raise LoopError(reason, Path(box) if box else None)
        if recorded and self._record is not None:
            raise RecordingError(self._record, f"is not complete: its recorder ended early (exit code {recorded}).")

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


def _claim(path: Path) -> None:
    """Make sure now that a recording can be written there; its process would notice when the robot moves already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise RecordingError(path, f"cannot be written: {error.strerror or error}.") from None


def _plain(record: Any) -> Any:
    """A record as plain data: nested dicts, lists and numbers."""
    names = record.dtype.names
    return {name: _plain(record[name]) for name in names} if names else record.tolist()


def _spawn(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdin=subprocess.DEVNULL, start_new_session=True
    )


def connect(robot: str = "sim:ur5e", law: str = "hold", **task: Any) -> Session:
    """A session with a robot: ``connect("sim:ur5e", law="admittance", rate_hz=500, record="run.mcap")``.

    Further keywords are the fields of a `Task`; `record` names a recording, `name` the loop.
    """
    from pliant.params.declare import validated

    session = {key: task.pop(key) for key in ("record", "name") if key in task}
    if "record" in session:
        session["record"] = Path(session["record"])
    return Session(validated(Task, {"robot": robot, "law": law, **task}), **session)


__all__ = ["TELEMETRY", "Session", "connect"]
