"""The control loop: read, tick, write, publish, in its own process.

Started by a `Session` (see `processes`), which names the board. It takes its task from there,
obeys the board's command queue, and ends on request, by a fault that the tick reports, or by an exception. In every
case the robot is stopped first; then the last seconds are saved and the reason is written to the board.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pliant.compiling.ahead import is_ready, load_group
from pliant.errors import PliantError, RobotError
from pliant.loop import goal_requests
from pliant.loop.board import Board
from pliant.loop.board_layout import FAULT, RUNNING, SET, STOPPED
from pliant.loop.fault_text import fault_words
from pliant.loop.pacing import PACE, start_at
from pliant.loop.periods import is_still_at, must_finish_at, period_runner, works_at
from pliant.loop.processes import arguments
from pliant.loop.realtime import memory_kib, prepare
from pliant.loop.slots import has_request
from pliant.loop.task_runner import TaskRunner
from pliant.records import FAULT_SLOW, copied
from pliant.task.schema import Task

# After a fault the robot brakes within its acceleration limits; this much longer it may take until it stands [s].
_SETTLE_S = 1.0
# How long the recorder may take to start [s]: on a busy machine it has to compile first.
_RECORDER_S = 120.0
# The longest time for which a fault may brake before that [s].
_BRAKE_MOST_S = 5.0
# At the latest after this many ticks the loop looks whether its owner lives, and obeys signals.
_MOST_PERIODS = 32
# A user's law that makes so many periods in a row too long is stopped.
_SLOW_PERIODS = 25


class Loop:
    """One running loop: a cell, a board, and what connects them."""

    def __init__(self, board: Board) -> None:
        self.board = board
        config = board.config
        self.task = Task.model_validate(config["task"])
        self.last = int(config["ticks"])
        self.is_recorded = bool(config.get("recorded"))
        self.runner = TaskRunner(self.task, lambda revision, tick, values: board.adopt(revision, tick, values))
        self.robot = self.runner.robot
        self.proposal = SET.new()
        self.telemetry = self.runner.controller.telemetry.new()
        self.pending: list[Any] = []
        self.seen = 0
        self.asked = ""
        self.lift_until = 0
        self.owner = int(board.header.owner_pid)

    def run(self) -> tuple[int, str]:
        """Run until asked to stop or until a fault; returns the board status to end with, and the reason."""
        controller, board = self.runner.controller, self.board
        self._await_recorder()
        load_group("loop")  # before the robot is opened: what the cache lacks takes long
        self.runner.begin()
        granted = prepare()
        resident, private = memory_kib()
        board.annotate({"granted": granted.as_dict(), "resident_kib": resident, "private_kib": private})
        pace, number, brake_until, why = PACE.new(), 0, 0, ""
        pace[0].period = round(self.task.dt * 1e9)
        run_periods = period_runner(
            self.runner.robot, controller, self.telemetry.ctypes.data, (board.ring, board.door), pace
        )
        board.set_status(RUNNING)
        start_at(pace)
        while self._listen(number):
            number = run_periods(number, self._until(number), self.seen, self.runner.revision)
            if self.runner.robot.fault:  # it has stopped or cannot be reached: nothing left to brake or lift off
                board.annotate({"fault": self.runner.robot.fault})  # at once: a broken line may break its driver too
                return FAULT, self.runner.robot.fault
            if pace[0].slow >= _SLOW_PERIODS and not controller.fault and self.runner.law.is_own:
                controller.state[0].fault = FAULT_SLOW
                busy, period = float(pace[0].busy) * 1e-6, self.task.dt * 1e3
                why = (
                    f"a tick with the law {self.runner.law.name} took {busy:.3g} ms, longer than the period of "
                    f"{period:g} ms, {int(pace[0].slow)} times in a row. Make the law faster, or lower rate_hz"
                )
            if controller.fault:
                if not why:
                    why = fault_words(
                        controller.state[0], controller.goal[0], controller.reading[0], controller.parameters[0]
                    )
                    why += self.runner.sensor_words
                if not brake_until and not must_finish_at(controller.state):
                    brake_until = number + round(self._braking_s() / self.task.dt)
                stands = is_still_at(controller.arm.handle, controller.state, controller.reading)
                if stands or 0 < brake_until <= number:
                    return FAULT, why
        return STOPPED, self.asked

    def _await_recorder(self) -> None:
        """A recording begins with the first tick: on a busy machine a recorder may start later than the ring lasts."""
        deadline = time.monotonic() + _RECORDER_S
        while self.is_recorded and not self.board.recording and not self.asked and os.getppid() == self.owner:
            if time.monotonic() > deadline:
                raise PliantError(
                    f"The recorder did not start within {_RECORDER_S:g} s. Check whether its process hangs, or run "
                    "without a recording."
                )
            time.sleep(0.005)

    def _until(self, number: int) -> int:
        """The next tick at which there is something to listen to, as far as is known now."""
        known = [number + _MOST_PERIODS, *self.runner.script, *(item.at_tick for item in self.pending)]
        if self.last > number:
            known.append(self.last)
        return int(min(tick for tick in known if tick > number))

    def _braking_s(self) -> float:
        """How long it takes at most until the arm stands [s]."""
        controller = self.runner.controller
        n, scale = controller.arm.n, float(controller.parameters[0].limits.acceleration_scale)
        slowest = float(np.max(np.abs(controller.state[0].qd_cmd[:n]) / (scale * controller.arm.a_max)))
        # a speed that is not finite says nothing, and no arm brakes longer than this
        return _SETTLE_S + (min(slowest, _BRAKE_MOST_S) if np.isfinite(slowest) else 0.0)

    def _listen(self, number: int) -> bool:
        """The one point of a tick where the world outside is heard: script, requests, parameters. False: end."""
        if number == self.last:
            self.asked = "the task is complete"
        elif os.getppid() != self.owner:
            self.asked = "the process that started the loop has exited"
        if number in self.runner.script:
            self.runner.perform(number)
        if has_request(*self.board.door, self.seen):
            while (item := self.board.take()) is not None:
                self.pending.append(item)
            self._adopt(number)
        if self.pending:
            self._obey(number)
        return not self.asked or self._lifts(number)

    def _lifts(self, number: int) -> bool:
        """Whether the end has to wait: an active law is commanded to end, such as to lift off, within a time limit."""
        if not works_at(self.runner.controller.state):
            return False
        if not self.lift_until:
            self.lift_until = number + self.runner.end_law()
        return number < self.lift_until

    def _obey(self, number: int) -> None:
        """Carry out the requests that are due."""
        due = [item for item in self.pending if item.at_tick <= number]
        self.pending = [item for item in self.pending if item.at_tick > number]
        for item in due:
            if item.code == goal_requests.QUIT:
                self.asked = "a stop was requested"
            elif np.isfinite(item["values"]).all():
                self.runner.request(goal_requests.Request(int(item.code), int(item.number), item["values"]))

    def _adopt(self, number: int) -> None:
        """Take over a proposed set: all of it; or none, if out of bounds, from a set that has gone, or not live."""
        seen = self.board.proposal(self.seen, self.proposal)
        if seen == self.seen:
            return
        self.seen = seen
        parameters = copied(self.proposal["values"])
        good = self.proposal["revision"][0] == self.runner.revision and self.runner.accepts(parameters)
        if good:
            self.runner.adopt(parameters, number)
        self.board.answer(seen, refused=not good)


class Running(Protocol):
    """What a loop process runs: the loop of an arm or of a mission."""

    robot: Any
    asked: str
    """Why it should end, as soon as that is known."""

    def run(self) -> tuple[int, str]:
        """Run until the end; returns the board status to end with, and the reason."""
        ...


def live(path: str, make: Callable[[Board], Running]) -> int:
    """Body of a loop process: in every case the robot is stopped and the reason is written to the board."""
    board = Board.attach(Path(path))
    board.header.loop_pid = os.getpid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's business; it asks us to stop
    loop: Running | None = None
    status, reason = FAULT, "it could not start"
    try:
        loop = make(board)
        current = loop

        def ask(*_: object) -> None:
            current.asked = "a signal requested the stop"

        signal.signal(signal.SIGTERM, ask)
        status, reason = loop.run()
    except RobotError as error:
        reason = str(error).rstrip(".")
    except PliantError as error:
        board.annotate({"refused": True})
        reason = str(error).rstrip(".")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        reason = f"{type(error).__name__}: {error} ({where})"
    finally:
        if loop is not None:
            try:
                loop.robot.stop()
            except Exception as error:
                status, reason = FAULT, f"{reason}; stopping the robot failed too: {error}"
    _leave(board, status, reason)
    if loop is not None:
        loop.robot.close()
    return 0 if status == STOPPED else 3


def _leave(board: Board, status: int, reason: str) -> None:
    """The robot stands: save what happened if it was a fault, then tell everyone, then clear away."""
    if status == FAULT and board.head > 0:
        board.annotate({"fault": reason})  # a reader that waits for the next tick learns why none comes
        from pliant.loop.saving import save_black_box

        try:
            board.annotate({"black_box": str(save_black_box(board, reason))})
        except Exception as error:
            reason += f" (the last seconds could not be saved: {error})"
    board.finish(status, reason)
    if os.getppid() != int(board.header.owner_pid):
        board.remove()


def main(path: str) -> int:
    """Body of the process of an arm's loop."""
    return live(path, Loop)


if __name__ == "__main__":
    if is_ready("loop"):
        load_group("loop")  # while the owner gets ready
    sys.exit(main(*arguments()))
