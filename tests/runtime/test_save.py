"""The recorder of a loop that never ticked."""

from __future__ import annotations

from pathlib import Path

from pliant.loop.board import Board
from pliant.loop.board_layout import FAULT
from pliant.loop.saving import record
from pliant.task.schema import Task


def test_a_loop_that_was_refused_leaves_the_older_recording_of_its_name_as_it_was(tmp_path: Path) -> None:
    board = Board.create(tmp_path.name, {"task": Task().model_dump(mode="json")}, 8)
    older, other = tmp_path / "run.mcap", tmp_path / "other.mcap"
    older.write_bytes(b"what was recorded before")
    try:
        board.finish(FAULT, "it was refused")
        assert (record(board, older), record(board, other)) == (0, 0)
    finally:
        board.remove()
    assert older.read_bytes() == b"what was recorded before"
    assert list(tmp_path.iterdir()) == [older]
