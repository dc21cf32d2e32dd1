"""The control loop: read, tick, write, publish, in a process of its own.

Started as ``python -m pliant.runtime.loop <board>`` by a `Session`. It takes its task from the board, obeys the board's
command queue, and ends in one of three ways: asked to, by a fault that the tick reported, or by an exception. On every way
out the robot is stopped first; then the last seconds are saved and the reason is put on the board.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from pliant.params.control import PARAMETERS, Parameters
from pliant.params.declare import bounds_arrays, to_record
from pliant.records import FAULTS, TELEMETRY
from pliant.robots import open_robot
from pliant.runtime import commands
from pliant.runtime.board import FAULT, RUNNING, STOPPED, Board, publish
from pliant.runtime.controller import Controller
from pliant.runtime.realtime import Pacer, memory_kib, prepare
from pliant.runtime.task import Task

# After a fault the robot brakes within its acceleration limits; this long it may take before the loop ends [s].
_BRAKE_S = 0.5


class Loop:
    """One running loop: robot, controller, board, and what connects them."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.task = Task.model_validate(board.config["task"])
        self.robot = open_robot(self.task.robot, self.task)
        self.controller = Controller(self.robot.arm, to_record(self.task.params), self.task.interface, self.task.dt)
        self.low, self.high = bounds_arrays(Parameters)
        self.proposal = PARAMETERS.new()
        self.telemetry = TELEMETRY.new()
        self.pending: list[Any] = []
        self.revision, self.seen = 0, 0
        self.stopping = False
        self.owner = int(board.header.owner_pid)

    def run(self) -> tuple[int, str]:
        """Run until asked to stop or until a fault; returns the board status to end with, and the reason."""
        controller, robot, board = self.controller, self.robot, self.board
        robot.open()
        robot.read(controller.reading)
        controller.begin(self.task.law)
        board.adopt(0, 0, controller.parameters)
        self._warm_up()
        granted = prepare()
        resident, private = memory_kib()
        board.annotate({"granted": granted.as_dict(), "resident_kib": resident, "private_kib": private})
        pacer = Pacer(self.task.dt)
        timing = self.telemetry[0].timing
        target = (*board.publisher, self.telemetry.ctypes.data, self.telemetry.nbytes)
        number, brake_until, busy = 0, 0, 0
        board.set_status(RUNNING)
        pacer.start()
        while True:
            late = pacer.wait()
            began = time.monotonic_ns()
            robot.read(controller.reading)
            if not self._obey(number):
                return STOPPED, self.reason
            self._adopt(number)
            controller.tick()
            robot.write(controller.command)
            timing.wall_ns = time.time_ns()
            timing.late_s, timing.busy_s, timing.overruns = late * 1e-9, busy * 1e-9, pacer.overruns
            controller.fill(self.telemetry, number, self.revision)
            publish(*target, number)
            number += 1
            if controller.fault:
                brake_until = brake_until or number + round(_BRAKE_S / self.task.dt)
                if controller.at_rest or number >= brake_until:
                    return FAULT, FAULTS[controller.fault]
            busy = time.monotonic_ns() - began

    reason = "asked to stop"

    def _warm_up(self) -> None:
        """Load every compiled function before time counts; the controller is put back as it was."""
        kept = self.controller.snapshot()
        self.controller.tick()
        self.controller.fill(self.telemetry, 0, 0)
        self.controller.restore(kept)

    def _obey(self, number: int) -> bool:
        """Take requests from the board and carry out those that are due; False: end the loop."""
        board = self.board
        while (item := board.take()) is not None:
            self.pending.append(item)
        if self.stopping:
            return False
        if number % 64 == 0 and os.getppid() != self.owner:
            self.reason = "the process that started the loop is gone"
            return False
        if self.pending:
            due = [item for item in self.pending if item.at_tick <= number]
            self.pending = [item for item in self.pending if item.at_tick > number]
            for item in due:
                if not commands.apply(item, self.controller.goal[0], self.robot, self.robot.arm.n):
                    return False
        return True

    def _adopt(self, number: int) -> None:
        """At this one point of a tick, take over a proposed parameter set: all of it or, out of bounds, none of it."""
        seen = self.board.proposal(self.seen, self.proposal)
        if seen == self.seen:
            return
        self.seen = seen
        values = self.proposal.view(np.float64)
        if not bool(np.all((values >= self.low) & (values <= self.high))):
            self.board.answer(seen, refused=True)
            return
        self.revision += 1
        self.controller.parameters[0] = self.proposal[0]
        self.board.adopt(self.revision, number, self.proposal)
        self.board.answer(seen)


def main(path: str) -> int:
    """Body of the loop process."""
    board = Board.attach(Path(path))
    board.header.loop_pid = os.getpid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the owner's business; it asks us to stop
    loop: Loop | None = None
    status, reason = FAULT, "it could not start"
    try:
        loop = Loop(board)
        current = loop

        def ask(*_: object) -> None:
            current.stopping = True

        signal.signal(signal.SIGTERM, ask)
        status, reason = loop.run()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        reason = f"{type(error).__name__}: {error} ({where})"
    finally:
        if loop is not None:
            loop.robot.stop()
    _leave(board, status, reason)
    if loop is not None:
        loop.robot.close()
    return 0 if status == STOPPED else 3


def _leave(board: Board, status: int, reason: str) -> None:
    """The robot stands: save what happened if it was a fault, then tell everyone, then clear away."""
    if status == FAULT and board.head > 0:
        from pliant.runtime.blackbox import save

        try:
            board.annotate({"black_box": str(save(board, reason))})
        except Exception as error:
            reason += f" (and the last seconds could not be saved: {error})"
    board.finish(status, reason)
    if os.getppid() != int(board.header.owner_pid):
        board.remove()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
