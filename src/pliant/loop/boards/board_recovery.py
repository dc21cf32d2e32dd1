"""What killed loops left in shared memory: their last seconds become black boxes, then their boards are removed.

A loop that is killed is reported by its owner, and a loop whose owner is killed ends by itself. If both are killed at
once, nobody is left to save what happened; but the board still holds it, until the next start of a loop.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError
from pliant.loop.board import Board
from pliant.loop.board_layout import FAULT, HEADER, MAGIC, STOPPED, fingerprint
from pliant.loop.boards.board_files import alive, board_paths, name_of_file, open_board, remove_unfinished
from pliant.loop.saving import save_black_box

KILLED = "its process and the process that started it were killed"


def recover() -> list[str]:
    """Save what killed loops left, and remove their boards and all that were never finished; returns what was done."""
    remove_unfinished()
    return [said for path in board_paths() if (said := _recovered(path))]


def has_survivor(header: Any) -> bool:
    """Whether the loop of a board, or the process that started it, is alive."""
    return any(alive(pid) for pid in (int(header.owner_pid), int(header.loop_pid)) if pid > 0)


def _recovered(path: Path) -> str:
    """What was done about one board, in a sentence; "" if its loop is alive or left nothing."""
    with _alone(path) as handle:
        if handle is None:
            return ""
        content = os.pread(handle, HEADER.dtype.itemsize, 0)
        if len(content) < HEADER.dtype.itemsize:
            return ""
        header: Any = np.frombuffer(content, HEADER.dtype)[0]
        if header.magic != MAGIC or has_survivor(header):
            return ""
        if header.version != fingerprint():
            return (
                f"{path} holds the last seconds of a killed loop of another version of Pliant. Start a task with that "
                "version to save them, or remove the file."
            )
        return _saved(path)


def _saved(path: Path) -> str:
    """Save the last seconds of a dead loop, if nobody did, and remove its board."""
    name = name_of_file(path)
    try:
        board = Board.attach(path)
        said = ""
        if board.head > 0 and board.status != STOPPED and not board.notes.get("black_box"):
            reason = board.reason if board.status == FAULT else _reason(board)
            said = f"Loop {name} had been killed. Its last seconds were recovered: {save_black_box(board, reason)}"
    except Exception as error:  # anything may be on the board, and a law or driver of the user is loaded
        why = str(error).rstrip(".")
        return f"The last seconds of the killed loop {name} could not be saved: {why}. To give them up, remove {path}."
    board.remove()
    return said


def _reason(board: Board) -> str:
    """Why a loop ended that had no time to write it down."""
    fault = board.notes.get("fault")
    return f"{fault} ({KILLED} before the fault was reported)" if fault else KILLED


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[int | None]:
    """A descriptor of a board that no other process recovers meanwhile; None if it cannot be had."""
    try:
        handle = open_board(path)
    except (OSError, PliantError):
        yield None
        return
    try:
        yield handle if _is_locked(handle, path) else None
    finally:
        os.close(handle)


def _is_locked(handle: int, path: Path) -> bool:
    """Whether this process holds the lock of a board, and the board has not been removed meanwhile."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return path.stat().st_ino == os.fstat(handle).st_ino
    except OSError:
        return False
