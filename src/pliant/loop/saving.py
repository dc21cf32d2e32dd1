"""Write runs to files: a simulated run, the last seconds of a loop, and a loop while it runs.

``python -m pliant.loop.saving <board> <file> <tick>`` is the recorder: a separate process that reads the board's ring
from a tick on until the loop ends or the recorder is asked to stop. The loop does not know about it.
"""

from __future__ import annotations

import datetime
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.control.parameters import PARAMETERS, set_layout
from pliant.control.published import Published
from pliant.errors import InputError, PliantError, RecordingError, RejectedError, UnwritableError
from pliant.loop.board import Board
from pliant.loop.board_layout import FAULT, RUNNING, STARTING
from pliant.loop.boards.board_files import alive, name_of_file
from pliant.loop.processes import RECORDER, arguments, ended_within, exit_words, sees_out, spawn
from pliant.loop.run_description import ACCOUNT, MODEL, model_bytes, run_meta
from pliant.model.arm import Arm
from pliant.record.container import MAGIC
from pliant.record.writer import RecordingWriter
from pliant.task.schema import MISSION, Task, arm_of

BLACK_BOX_S = 5.0
# How long to wait for the owner to report a killed loop [s].
_LAST_WORDS_S = 10.0
# How long a recorder may take to end after its loop [s]: a moment, but longer on a busy machine or disk.
RECORDER_S = 10.0
# How long a process may take to end that was killed [s]; one that waits for a broken disk takes longer.
_KILL_S = 1.0
# Exit codes of the recorder.
RECORDS_LOST, UNWRITABLE = 4, 5
NOW = -1
MISSIONS = "pliant.mobile.mission.simulated_mission"


def output_folder() -> Path:
    """The default folder for output files: $PLIANT_OUT, or `out` in the working folder."""
    return Path(os.environ.get("PLIANT_OUT", "out"))


def recording_path(name: Path | str) -> Path:
    """The file of a new recording; raises `InputError` for what cannot be its name."""
    if not isinstance(name, str | Path):
        raise InputError("record", name, "a file name ending in .mcap")
    if str(name) in ("", "."):
        raise RejectedError(
            "The file name of the recording is empty. Give a file name ending in .mcap.", field="record"
        )
    path = Path(name)
    if path.suffix.lower() != ".mcap" and not path.is_dir():
        raise InputError("record", str(name), "a file name ending in .mcap")
    return path


def claim_recording(path: Path) -> None:
    """Check before the robot moves that a recording can be written there.

    An older recording may be overwritten, but no other file: it could be the task itself.
    """
    path = recording_path(path)
    there = path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0)
            begin = file.read(len(MAGIC))
        if not there:  # an interrupted run must not leave an empty file
            path.unlink()
    except OSError as error:
        raise UnwritableError(path, error) from None
    if begin and not MAGIC.startswith(begin):
        raise RecordingError(path, "already exists and is not a recording. Give the recording another name.")


def arm_writer(path: Path, task: Task, arm: Arm, **more: object) -> RecordingWriter:
    """A recording of an arm's task."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableError(path, error) from None
    layout, joints = set_layout(type(task.params)), list(arm.joint_names)
    published = Published.of(arm.n, task.interface, type(task.params))
    meta = run_meta(task, arm, **more)
    writer = RecordingWriter(path, meta, joints, layout, sets_as=PARAMETERS.dtype, published=published)
    writer.attach(MODEL, model_bytes(arm), "application/octet-stream")
    return writer


def fault_file(name: str) -> Path:
    """The file for the last seconds before a fault."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return output_folder() / f"fault-{stamp}-{name}.mcap"


def save_black_box(board: Board, reason: str) -> Path:
    """Write the last seconds that the board still holds, with the reason of the fault."""
    path = fault_file(name_of_file(board.path))
    first = max(0, board.head - round(BLACK_BOX_S / _period_s(board)))
    records, _, _ = board.read(first)
    with _writer_for(board, path) as writer:
        _sets(writer, board, records, -1)
        writer.append(records)
        _conclude(writer, board, reason)
    return path


def _period_s(board: Board) -> float:
    """Time from tick to tick of a loop [s]."""
    config = board.config
    return 1.0 / float((config.get("task") or config[MISSION])["rate_hz"])


def _writer_for(board: Board, path: Path) -> RecordingWriter:
    """What writes the recording of a loop: of an arm, or of a mission."""
    config = board.config
    if MISSION not in config:
        task = Task.model_validate(config["task"])
        return arm_writer(path, task, arm_of(task))
    writer_of_board: Any = importlib.import_module(MISSIONS).writer_of_board  # missions build upon loops
    return writer_of_board(board, path)


def _conclude(writer: RecordingWriter, board: Board, fault: str = "") -> None:
    """Add the log of a mission, and the fault that ended the loop."""
    if fault:
        writer.add(fault=fault)
    if mission_log := board.mission_log:
        writer.attach(ACCOUNT, json.dumps(mission_log["account"]).encode(), "application/json")


def _sets(writer: RecordingWriter, board: Board, records: np.ndarray, known: int) -> int:
    """Write the parameter sets that came into force in `records`; returns the newest revision written."""
    for revision in np.unique(records["revision"]):
        if revision > known:
            entry = board.parameter_set(int(revision))
            if entry is not None:
                writer.parameters(int(revision), entry.values, int(entry.tick) * _period_s(board))
            known = int(revision)
    return known


def follow(board: Path, path: Path, first: int = 0) -> subprocess.Popen[bytes]:
    """Start the recorder, from tick `first` on, or with NOW, as soon as it is ready."""
    return spawn(RECORDER, str(board), str(path), str(first))


def end_recorder(recorder: subprocess.Popen[bytes], wait_s: float = RECORDER_S) -> None:
    """Wait for a recorder whose loop has ended; one that hangs is killed. What it has written stays readable."""
    if not sees_out(recorder, wait_s):
        print(f"The recorder did not end within {wait_s:g} s: it was killed.", file=sys.stderr)
        recorder.kill()
        ended_within(recorder, _KILL_S)


def recording_problem(recorder: subprocess.Popen[bytes]) -> str:
    """Why the file of a recorder is incomplete; "" if it is not, or the recorder still runs."""
    code = recorder.poll()
    if not code:
        return ""
    if code == RECORDS_LOST:
        return "is incomplete: records were lost, because the recorder could not keep up."
    if code == UNWRITABLE:
        return "is incomplete: the recorder could not write it. Free some space, or record to another disk."
    return f"is incomplete: the recorder exited early ({exit_words(code)})."


def record(board: Board, path: Path, first: int = 0, asked: Callable[[], bool] = lambda: False) -> int:
    """Record a loop to its end, or until `asked`; returns how many records were lost.

    An older recording of this name is kept until the loop has published its first record.
    """
    new = _unfinished(path)
    try:
        return _follow(board, path, new, first, asked)
    finally:
        new.unlink(missing_ok=True)


def has_begun(board: Board, path: Path) -> bool:
    """Whether the recorder of this new file has begun. Several may follow one loop: the board cannot tell which has."""
    return path.exists() or (board.head == 0 and _unfinished(path).exists())


def _unfinished(path: Path) -> Path:
    """Where a recording is written until its loop has published its first record."""
    return path.with_name(f"{path.name}.new")


def _follow(board: Board, path: Path, new: Path, first: int, asked: Callable[[], bool]) -> int:
    with _writer_for(board, new) as writer:
        at, lost, known = board.head if first == NOW else first, 0, -1
        while True:
            if board.head > 0 and new.exists():
                new.replace(path)
            board.recording = True  # from now on the file exists for anything that waits for it
            ended = asked() or board.status not in (STARTING, RUNNING) or _loop_died(board)
            records, at, gone = board.read(at)
            lost += gone
            if len(records):
                known = _sets(writer, board, records, known)
                writer.append(records)
            if ended and (asked() or not len(records)):
                _conclude(writer, board, "" if asked() else _fault_of(board))
                return lost
            time.sleep(0.02)


def _fault_of(board: Board) -> str:
    """The fault that ended a loop, or "". For a killed loop, its owner reports the fault."""
    deadline = time.monotonic() + _LAST_WORDS_S
    while board.status in (STARTING, RUNNING) and time.monotonic() < deadline and alive(int(board.header.owner_pid)):
        time.sleep(0.02)
    if board.status in (STARTING, RUNNING):
        return str(board.notes.get("fault", "its process exited without reporting a reason"))
    return board.reason if board.status == FAULT else ""


def _loop_died(board: Board) -> bool:
    pid = int(board.header.loop_pid)
    return (pid > 0 and not alive(pid)) or (pid == 0 and not alive(int(board.header.owner_pid)))


if __name__ == "__main__":
    ends: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ends.append(number))
    board, path, first = arguments()
    try:
        missing = record(Board.attach(Path(board)), Path(path), int(first), lambda: bool(ends))
    except (OSError, PliantError) as error:
        print(f"The recorder has ended, and the loop goes on: {error}", file=sys.stderr)
        sys.exit(UNWRITABLE)
    gc.freeze()  # the owner waits for this process: skip the last garbage collection
    if missing:
        print(f"{missing} records were lost: the recorder could not keep up.", file=sys.stderr)
        sys.exit(RECORDS_LOST)
