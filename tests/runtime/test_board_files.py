"""Whatever else has the name of a board is never waited for, followed or believed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any

import numpy as np
import pytest
from boards import Make

from pliant.control.published import Published
from pliant.errors import InputError, PliantError, RejectedError
from pliant.loop.board import Board, running
from pliant.loop.board_layout import HEADER, MAGIC, fingerprint, offsets
from pliant.loop.boards.board_recovery import recover
from pliant.session.link import board_of

NAME = "pliant-odd"
FOREIGN_USER = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """A test that waits for the other end of a pipe fails soon."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _socket(path: Path) -> None:
    with socket(AF_UNIX) as one:
        one.bind(str(path))


KINDS: dict[str, Callable[[Path], Any]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a socket": _socket,
    "a link": lambda path: path.symlink_to(path.with_name("elsewhere")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_a_file_is_neither_opened_nor_removed(shelf: Path, make: Make, kind: str) -> None:
    KINDS[kind](shelf / NAME)
    with pytest.raises(InputError, match=rf"odd is not the shared memory of one of your loops: it is {kind}"):
        Board.attach("odd")
    assert recover() == []
    assert running() == []
    with pytest.raises(RejectedError, match=rf"No loop is running\..*odd was ignored: it is {kind}\."):
        board_of(None)
    board = make("mine")  # a loop can start beside it
    assert board_of("mine").path == board.path
    with pytest.raises(RejectedError, match=rf"odd is in the way of a loop named 'odd': it is {kind}\. Remove it"):
        make("odd")
    assert [path.name for path in shelf.iterdir() if path.name != board.path.name] == [NAME]


def test_a_link_to_a_board_is_not_followed(shelf: Path, make: Make) -> None:
    board = make()
    (shelf / NAME).symlink_to(board.path)
    with pytest.raises(InputError, match="it is a link"):
        Board.attach("odd")
    assert running() == ["one"]


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
def test_a_board_that_others_can_write_is_not_believed(make: Make, mode: int) -> None:
    board = make()
    board.path.chmod(mode)
    with pytest.raises(InputError, match="other users can write it"):
        Board.attach("one")
    assert running() == []


@needs_root
def test_a_board_of_another_user_is_neither_believed_nor_removed_nor_listed(make: Make, shelf: Path) -> None:
    board = make()
    board.header.owner_pid = 2**22 + 1  # no process has this number
    os.chown(board.path, FOREIGN_USER, FOREIGN_USER)
    with pytest.raises(InputError, match=f"it belongs to user {FOREIGN_USER}"):
        Board.attach("one")
    assert recover() == []
    assert running() == []
    with pytest.raises(RejectedError, match=r"No loop is running\. Start one with pliant run in another terminal\.$"):
        board_of(None)  # what other users run is theirs
    assert board.path.exists()


def forged(path: Path, size: int | None = None, **fields: int) -> None:
    """A file that begins like a board of this version."""
    slots, step = fields.get("ring_slots", 8), fields.get("ring_step", Published().step)
    header = HEADER.new()
    end = offsets(slots, step)["end"] if size is None and 0 <= slots < 100 and 0 <= step < 1e6 else size or 1 << 20
    header[0].magic, header[0].version, header[0].total_bytes = MAGIC, fingerprint(), end
    header[0].ring_slots, header[0].ring_step = slots, step
    header[0].owner_pid, header[0].status, header[0].head = os.getpid(), 2, 5
    for name, value in fields.items():
        header[0][name] = value
    path.write_bytes(header.tobytes() + bytes(max(0, end - header.nbytes)))
    path.chmod(0o600)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "what its records hold"),
        ({"ring_slots": 2**62}, "layout does not fit"),
        ({"ring_slots": -1}, "layout does not fit"),
        ({"ring_slots": 0}, "layout does not fit"),
        ({"ring_step": 0}, "layout does not fit"),
        ({"ring_step": -8}, "layout does not fit"),
        ({"ring_step": 12}, "layout does not fit"),
        ({"ring_slots": 16, "size": 4096}, "layout does not fit"),
        ({"total_bytes": 1 << 30}, "this version"),
        ({"version": 7}, "this version"),
    ],
)
def test_a_forged_header_is_rejected_with_a_sentence(shelf: Path, fields: dict[str, int], why: str) -> None:
    forged(shelf / NAME, **fields)
    with pytest.raises(InputError, match=why):
        Board.attach("odd")
    with pytest.raises(PliantError, match="No loop is running"):
        board_of(None)


@pytest.mark.parametrize(
    "published",
    [
        None,
        5,
        {"joints": 10**9, "on": ["position"], "own": {}},
        {"joints": -1, "on": ["position"], "own": {}},
        {"joints": 6, "on": 5, "own": {}},
        {"joints": 6, "on": ["position"], "own": {"x": [99, "float64 a"]}},
        {"joints": 6, "on": ["position"], "own": {"x": [5, "nonsense"]}},
        {"joints": 6, "on": ["position"], "own": {}},
    ],
)
def test_records_that_do_not_fit_the_ring_are_not_read(make: Make, published: Any) -> None:
    """A reader that believed them would read beyond the end of the block."""
    board = make()
    board._write_text("config", json.dumps({"task": {}, "published": published}))
    if published is None:  # all is published, as by this board
        assert Board.attach("one").published.step == Published().step
        return
    with pytest.raises(InputError, match=r"its records have another size|does not say what its records hold"):
        Board.attach("one")


def test_random_bytes_in_a_board_end_in_a_sentence_or_do_no_harm(make: Make) -> None:
    random, board = np.random.default_rng(1), make()
    sound = bytes(board._bytes)
    for _ in range(60):
        damaged = bytearray(sound)
        for at in random.integers(0, 4096, 6):
            damaged[at] = random.integers(0, 256)
        board.path.write_bytes(damaged)
        with suppress(PliantError):  # any other error, a crash or a hang fails
            guest = Board.attach("one")
            guest.read(0)
            guest.latest()
            assert isinstance(guest.config, dict)


def test_a_maker_that_dies_leaves_nothing_that_stays(shelf: Path, make: Make) -> None:
    code = (
        "import os, sys; from pathlib import Path; from pliant.loop import board; from pliant.loop.boards import "
        "board_files\n"
        "board_files.board_folder = lambda: Path(sys.argv[1])\n"
        "board.Board._write_text = lambda *_: os.kill(os.getpid(), 9)\n"
        "board.Board.create('half', {}, 8)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(shelf)], check=False).returncode == -signal.SIGKILL
    assert len(list(shelf.iterdir())) == 1
    assert running() == []
    assert recover() == []
    assert list(shelf.iterdir()) == []
    make("half")


def test_an_old_file_without_content_is_removed_and_a_new_one_stays(shelf: Path) -> None:
    (shelf / "pliant-new").write_bytes(bytes(4096))
    (shelf / "pliant-old").write_bytes(bytes(4096))
    (shelf / "pliant-notes").write_bytes(b"not a board" + bytes(4096))
    for name in ("pliant-old", "pliant-notes"):
        os.utime(shelf / name, (1.0, 1.0))
    assert recover() == []
    assert sorted(path.name for path in shelf.iterdir()) == ["pliant-new", "pliant-notes"]
