"""The board: what is put in comes out whole, in order, counted, or not at all."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from boards import Make, parameters, proposed, tell

from pliant.control.parameters import PARAMETERS
from pliant.control.published import Published
from pliant.errors import InputError, UnknownNameError
from pliant.loop import board_layout
from pliant.loop.board import Board, running
from pliant.loop.board_layout import FAULT, RUNNING, SET, STARTING, TEXT_BYTES, described
from pliant.loop.boards.board_files import alive
from pliant.loop.boards.board_recovery import recover
from pliant.records import Field, Layout

# ---- making and finding --------------------------------------------------------------------------------------------


def test_both_ends_see_the_same_block(make: Make) -> None:
    owner = make(task={"name": "µ"})
    guest = Board.attach("one")
    assert guest.config == {"task": {"name": "µ"}, "published": json.loads(json.dumps(described(Published())))}
    assert (guest.status, int(guest.header.owner_pid), guest.head) == (STARTING, os.getpid(), 0)
    guest.set_status(RUNNING)
    tell(guest, range(3))
    assert (owner.status, owner.head) == (RUNNING, 3)


def test_a_board_is_found_by_name_and_by_path(make: Make) -> None:
    board = make()
    assert running() == ["one"]
    assert Board.attach("one").path == Board.attach(board.path).path == board.path


def test_an_unknown_name_lists_the_loops_there_are(make: Make) -> None:
    make("left")
    make("right")
    with pytest.raises(UnknownNameError, match=r"'lefy'.*Did you mean 'left'.*left, right"):
        Board.attach("lefy")


def test_a_name_is_taken_until_its_board_is_removed(make: Make) -> None:
    board = make()
    with pytest.raises(InputError, match="'one'"):
        make()
    board.remove()
    make()


@pytest.mark.parametrize("name", ["a/b", "../one", "nul\0"])
def test_a_name_that_cannot_be_a_file_is_refused(make: Make, name: str) -> None:
    with pytest.raises(InputError, match="name"):
        make(name)


@pytest.mark.parametrize("content", [b"", b"short", bytes(4096), os.urandom(1 << 16)])
def test_a_file_that_is_no_board_is_refused(shelf: Path, content: bytes) -> None:
    (shelf / "pliant-odd").write_bytes(content)
    with pytest.raises(InputError, match="pliant-odd"):
        Board.attach("odd")


def test_a_folder_is_no_board(shelf: Path) -> None:
    with pytest.raises(InputError, match="board"):
        Board.attach(shelf)


def test_a_board_of_another_size_is_refused(make: Make) -> None:
    board = make()
    with board.path.open("ab") as file:
        file.write(bytes(64))
    with pytest.raises(InputError, match="version"):
        Board.attach("one")


def test_a_board_of_another_version_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version in which the same numbers lie in another order has boards of the same size."""
    ours = make("ours")
    turned = Layout("Set", (*SET.fields[:-1], Field("values", "", "", kind=Layout("P", PARAMETERS.fields[::-1]))))
    monkeypatch.setattr(board_layout, "SET", turned)
    theirs = make("theirs")
    monkeypatch.undo()
    assert theirs.path.stat().st_size == ours.path.stat().st_size
    with pytest.raises(InputError, match="version"):
        Board.attach(theirs.path)


def test_the_memory_is_there_before_it_is_used(make: Make) -> None:
    """Shared memory that turns out to be full would kill the loop in the middle of a run."""
    board = make(ring_slots=500)
    assert board.path.stat().st_blocks * 512 >= board.path.stat().st_size


def test_a_board_that_nobody_holds_gives_its_file_back(make: Make) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    for _ in range(3):
        make().remove()
    (Path(make().path.parent) / "pliant-odd").write_bytes(bytes(1 << 16))
    for _ in range(3):
        with pytest.raises(InputError):
            Board.attach("odd")
    Board.attach("one").remove()
    assert not set(Path("/proc/self/fd").iterdir()) - before


# ---- text ----------------------------------------------------------------------------------------------------------


def test_notes_add_up_and_the_reason_is_kept(make: Make) -> None:
    board, guest = make(), Board.attach("one")
    assert (guest.notes, guest.reason) == ({}, "")
    board.annotate({"granted": "all", "black_box": "here"})
    board.annotate({"black_box": "there"})
    board.finish(FAULT, "die Feder brach: ½ ⚙")
    assert guest.notes == {"granted": "all", "black_box": "there"}
    assert (guest.status, guest.reason) == (FAULT, "die Feder brach: ½ ⚙")


def test_a_long_reason_is_cut_and_does_not_run_into_its_neighbour(make: Make) -> None:
    board = make()
    board.annotate({"text": "x" * 100})
    board.propose(parameters(1.0), 0)
    most = TEXT_BYTES["reason"]
    board.finish(FAULT, "µ" * most)
    assert 0.4 * most < len(board.reason) <= most
    assert set(board.reason[:-1]) == {"µ"}
    assert board.notes == {"text": "x" * 100}
    assert proposed(board) == (2, 0, parameters(1.0).tobytes())


def test_the_mission_log_can_be_written_again_and_gets_another_number(make: Make) -> None:
    board = make()
    assert board.mission_log == {}
    before = board.mission_log_number
    board.write_mission_log({"log": ["x" * 100_000]})
    assert board.mission_log_number != before
    assert len(board.mission_log["log"][0]) == 100_000
    board.write_mission_log({"stage": "B"})
    assert board.mission_log == {"stage": "B"}


def test_a_shorter_text_replaces_a_longer_one_whole(make: Make) -> None:
    board = make()
    board.finish(FAULT, "a long reason")
    board.finish(FAULT, "short")
    assert board.reason == "short"


def test_a_configuration_that_does_not_fit_is_refused(shelf: Path) -> None:
    with pytest.raises(InputError, match="task"):
        Board.create("one", {"task": "x" * (1 << 20)}, 8)
    assert running() == []


def test_notes_read_while_they_are_written_are_whole(make: Make) -> None:
    board, guest = make(), Board.attach("one")
    texts = [json.dumps({"text": f"{n}" * n * 100}) for n in range(7)]
    allowed = {"", *texts}
    seen: set[str] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(guest._read_text("notes"))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(1000):
        for text in texts:
            board._write_text("notes", text)
    done.set()
    reader.join()
    assert seen
    assert seen <= allowed


def test_notes_whose_writer_was_killed_in_the_middle_are_empty(make: Make) -> None:
    board = make()
    board.annotate({"text": "x"})
    word = board._bytes[board._offsets["notes"] :][:8].view(np.int64)
    word[0] += 1  # odd, as `put` leaves it
    assert board.notes == {}
    board.annotate({"text": "y"})
    assert board.notes == {"text": "y"}


# ---- sweeping ------------------------------------------------------------------------------------------------------


@pytest.fixture
def dead() -> int:
    """The number of a process that was and is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert not alive(process.pid)
    return process.pid


def test_a_board_whose_processes_are_dead_is_swept_away(make: Make, dead: int) -> None:
    board = make()
    board.header.owner_pid, board.header.loop_pid = dead, dead
    assert recover() == []
    assert running() == []


@pytest.mark.parametrize("survivor", ["owner_pid", "loop_pid"])
def test_a_board_with_a_living_process_stays(make: Make, dead: int, survivor: str) -> None:
    board = make()
    board.header.owner_pid, board.header.loop_pid = dead, dead
    board.header[survivor] = os.getpid()
    assert recover() == []
    assert running() == ["one"]


def test_a_board_that_is_just_being_made_and_files_of_others_stay(shelf: Path, make: Make, dead: int) -> None:
    make().header.owner_pid = dead
    (shelf / "pliant-new").write_bytes(bytes(4096))
    (shelf / "pliant-short").write_bytes(b"x")
    (shelf / "other").write_bytes(b"x")
    assert recover() == []
    assert sorted(path.name for path in shelf.iterdir()) == ["other", "pliant-new", "pliant-short"]


def test_a_new_board_takes_the_name_of_a_dead_one(make: Make, dead: int) -> None:
    make().header.owner_pid = dead
    assert recover() == []
    assert int(make().header.owner_pid) == os.getpid()


def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and nobody has asked for its exit code
    assert not alive(process.pid)
    process.wait()
    assert alive(os.getpid())
