"""Rows: the loop and its owner are killed, stopped, interrupted, alone and together."""

from __future__ import annotations

import os
import signal

import numpy as np

from pliant.loop.board_layout import RUNNING, STOPPED
from pliant.loop.boards.board_files import alive, process_state
from pliant_experiments.faults.fault_rig import BLACK_BOX_S, RATE_HZ, Rig, Run, after, is_gone, readable_ticks
from pliant_experiments.faults.fault_row import Seen, row

LOOP, OWNER, BOTH = "loop", "process that started the loop", "loop and the process that started it"
# The robot of a loop whose owner has died must be stopped after this time [s].
ORPHAN_S = 0.5
# Ctrl-C must end a stopped loop within this time [s].
END_S = 3.0
# A black box is full after five seconds; the short form of a row does not wait for them.
_FULL, _SHORT = round((BLACK_BOX_S + 1.0) * RATE_HZ), 150


def full(rig: Rig, short: bool, *more: object, record: bool = True) -> Run:
    """A run that has lasted as long as the row needs."""
    return rig.run(*more, record=record).until_tick(_SHORT if short else _FULL)


def _stops_for_good(run: Run, seen: Seen) -> None:
    """The robot of a simulation is safe when its loop no longer runs."""
    seen.safe_s = after(lambda: run.board.status != RUNNING or not alive(run.loop))
    seen.must(seen.safe_s is not None, "the robot stops")


def _is_killed(rig: Rig, seen: Seen, short: bool, number: signal.Signals) -> None:
    run = full(rig, short)
    os.kill(run.loop, number)
    _stops_for_good(run, seen)
    seen.must(run.ended() is not None and run.code == 3, "exit code 3")
    seen.must(f"killed by {number.name}" in run.err, f"the fault names {number.name}")
    seen.saved = rig.has_last_seconds(run)
    seen.must(seen.saved, "the black box holds the last seconds")
    seen.must(readable_ticks(run.recording) == run.board.head, "the recording is complete")
    seen.must(is_gone(run), "no shared memory is left")


@row(1, LOOP, "killed (SIGKILL)", "its owner saves the black box and reports the fault; the recorder closes its file")
def killed(rig: Rig, seen: Seen, short: bool) -> None:
    _is_killed(rig, seen, short, signal.SIGKILL)


@row(2, LOOP, "crashes (SIGSEGV)", "as if it were killed")
def crashes(rig: Rig, seen: Seen, short: bool) -> None:
    _is_killed(rig, seen, short, signal.SIGSEGV)


@row(3, LOOP, "is asked to end (SIGTERM)", "the robot is stopped; no error")
def terminated(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    os.kill(run.loop, signal.SIGTERM)
    _stops_for_good(run, seen)
    seen.must(run.ended() is not None and run.code == 0, "exit code 0")
    seen.must("pliant:" not in run.err, "no error")
    seen.must(run.board.status == STOPPED, "the robot is stopped")
    seen.must(not rig.boxes(), "no black box")
    seen.must(readable_ticks(run.recording) == run.board.head, "the recording is complete")


@row(4, LOOP, "stopped for a while (SIGSTOP)", "missed periods are skipped, never made up for in a burst")
def suspended(rig: Rig, seen: Seen, short: bool) -> None:
    run, stop_s = full(rig, short=True), 1.5 if short else 10.0
    head = _stopped_for(run, run.loop, stop_s)
    run.ticks_on(200)
    records = run.board.read(head - 5)[0]
    wall = records["timing"]["wall_ns"] * 1e-9
    jump = int(np.argmax(np.diff(wall)))
    missed = int(records["timing"]["overruns"][-1] - records["timing"]["overruns"][0])
    seen.must(missed >= 0.9 * stop_s * RATE_HZ, f"{missed} periods are skipped")
    most = round(0.5 * RATE_HZ) + 2
    burst = int(np.sum(wall[jump + 1 :] < wall[jump + 1] + 0.5))
    seen.must(burst <= most, f"{burst} ticks in the half second after it, at most {most}")
    run.send(signal.SIGINT)
    seen.must(run.ended() is not None and run.code == 0, "the run ends without an error")


def _stopped_for(run: Run, pid: int, seconds: float) -> int:
    """Stop a process for a while; returns the next tick of the loop at that moment."""
    os.kill(pid, signal.SIGSTOP)
    after(lambda: process_state(pid) == "T")
    head = run.board.head
    after(lambda: False, seconds)
    os.kill(pid, signal.SIGCONT)
    return head


@row(5, LOOP, "stopped (SIGSTOP), then Ctrl-C in its owner", f"its owner ends it within {END_S:g} s; the robot stops")
def suspended_and_interrupted(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    os.kill(run.loop, signal.SIGSTOP)
    after(lambda: process_state(run.loop) == "T")
    run.send(signal.SIGINT)
    seen.safe_s = after(lambda: not alive(run.loop))
    seen.must((seen.safe_s or PATIENT) <= END_S, f"the loop has ended within {END_S:g} s")
    seen.must(run.ended() is not None and run.code == 0, "exit code 0")
    seen.must(is_gone(run), "no shared memory is left")


PATIENT = 1e9
"""Stands for a time that never came [s]."""


@row(6, OWNER, "killed, terminated or hung up", f"the loop stops the robot within {ORPHAN_S:g} s and clears up")
def orphaned(rig: Rig, seen: Seen, short: bool) -> None:
    for number in (signal.SIGKILL,) if short else (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
        run = full(rig, short=True)
        pid, recorder = run.loop, run.recorder
        run.send(number)
        waited = after(lambda run=run: run.board.status != RUNNING)
        seen.safe_s = max(seen.safe_s or 0.0, PATIENT if waited is None else waited)
        seen.must(after(lambda pid=pid: not alive(pid)) is not None, f"{number.name}: the loop ends")
        seen.must(run.board.status == STOPPED, f"{number.name}: the robot is stopped")
        seen.must(after(lambda run=run: is_gone(run)) is not None, f"{number.name}: no shared memory is left")
        seen.must(after(lambda pid=recorder: not alive(pid)) is not None, f"{number.name}: the recorder ends")
        seen.must(readable_ticks(run.recording) == run.board.head, f"{number.name}: the recording is complete")
    seen.must((seen.safe_s or PATIENT) <= ORPHAN_S, f"the robot is stopped within {ORPHAN_S:g} s")


@row(7, OWNER, "Ctrl-C", "the robot is stopped; no error")
def interrupted(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    run.send(signal.SIGINT)
    _stops_for_good(run, seen)
    seen.must(run.ended() is not None and run.code == 0, "exit code 0")
    seen.must("pliant:" not in run.err, "no error")
    seen.must("peak tool speed" in run.out, "the summary is printed")
    seen.must(is_gone(run), "no shared memory is left")


@row(8, OWNER, "stopped for a while (SIGSTOP)", "the loop keeps running (a program that hangs does not stop its loop)")
def owner_suspended(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short=True)
    seconds = 1.5 if short else 10.0
    first = _stopped_for(run, run.pid, seconds)
    ticks = run.board.head - first
    seen.must(ticks >= 0.5 * seconds * RATE_HZ, f"{ticks} ticks meanwhile")
    run.send(signal.SIGINT)
    seen.must(run.ended() is not None and run.code == 0, "the run ends without an error")


@row(9, BOTH, "killed at once", "the next start of a loop saves the black box from shared memory")
def both_killed(rig: Rig, seen: Seen, short: bool) -> None:
    run = full(rig, short, record=False)
    pid = run.loop
    os.kill(run.pid, signal.SIGSTOP)  # neither may do anything about the other
    os.kill(pid, signal.SIGKILL)
    os.kill(run.pid, signal.SIGKILL)
    seen.safe_s = after(lambda: not alive(pid))
    run.ended()
    following = rig.said("run", rig.brief())
    seen.must(following.code == 0, "the next run starts and ends")
    seen.must(f"Loop {run.name} had been killed. Its last seconds were recovered: " in following.err, "it is reported")
    seen.saved = rig.has_last_seconds(run)
    seen.must(seen.saved, "the black box holds the last seconds")
    seen.must(is_gone(run), "its shared memory is removed")
    again = rig.said("run", rig.brief())
    seen.must(len(rig.boxes()) == 1 and "recovered" not in again.err, "it is recovered once")


DIES_WHILE_IT_MAKES_ITS_BOARD = """
import os, sys
from pliant.loop.board import Board
Board._write_text = lambda *_: os.kill(os.getpid(), 9)
Board.create(sys.argv[1], {}, 8)
"""


@row(10, OWNER, "dies while it makes its shared memory", "the unfinished block is removed at the next start")
def unfinished(rig: Rig, seen: Seen, short: bool) -> None:
    from pliant.loop.boards.board_files import board_folder

    def left() -> list[str]:
        return [path.name for path in board_folder().iterdir() if str(maker.pid) in path.name]

    maker = rig.python(DIES_WHILE_IT_MAKES_ITS_BOARD, f"half-{os.getpid()}")
    maker.ended()
    seen.must(len(left()) == 1, "an unfinished block is left")
    seen.must(rig.said("run", rig.brief()).code == 0, "the next run starts and ends")
    seen.must(not left(), "the block is removed")
