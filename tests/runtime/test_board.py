"""The board: what is put in comes out whole, in order, counted, or not at all."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.errors import InputError, LoopError, UnknownNameError
from pliant.params.control import PARAMETERS
from pliant.records import TELEMETRY, Field, Layout
from pliant.runtime import board_layout
from pliant.runtime.board import Board, alive, running, sweep
from pliant.runtime.board_layout import FAULT, QUEUE_SLOTS, RUNNING, SET, SET_SLOTS, STARTING, TEXT_BYTES
from pliant.runtime.slots import publish, put

Make = Callable[..., Board]


@pytest.fixture
def make(shelf: Path) -> Make:
    def create(name: str = "one", ring_slots: int = 8, **config: Any) -> Board:
        return Board.create(name, config, ring_slots)

    return create


def tell(board: Board, numbers: range) -> None:
    """Publish telemetry records whose tick is their number."""
    record = TELEMETRY.new()
    for number in numbers:
        record["tick"], record["state"]["pose"] = number, number
        publish(*board.publisher, record.ctypes.data, record.itemsize, number)


def parameters(value: float) -> np.ndarray[Any, Any]:
    """A set whose every number is `value`."""
    values = PARAMETERS.new()
    values.view(np.float64)[:] = value
    return values


def proposed(board: Board, seen: int = 0) -> tuple[int, int, bytes]:
    """Number, base and values of the proposal on the board, as the loop would take it."""
    into = SET.new()
    sequence = board.proposal(seen, into)
    return sequence, int(into[0].revision), into["values"].tobytes()


# ---- making and finding --------------------------------------------------------------------------------------------


def test_both_ends_see_the_same_block(make: Make) -> None:
    owner = make(task={"name": "µ"})
    guest = Board.attach("one")
    assert guest.config == {"task": {"name": "µ"}}
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
    board.finish(FAULT, "µ" * TEXT_BYTES)
    assert 0.4 * TEXT_BYTES < len(board.reason) <= TEXT_BYTES
    assert set(board.reason[:-1]) == {"µ"}
    assert board.notes == {"text": "x" * 100}
    assert proposed(board) == (2, 0, parameters(1.0).tobytes())


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


# ---- parameters ----------------------------------------------------------------------------------------------------


def test_a_proposal_is_seen_once_and_whole(make: Make) -> None:
    board = make()
    assert board.proposal(0, SET.new()) == 0
    sequence = board.propose(parameters(3.0), base=7)
    assert proposed(board) == (sequence, 7, parameters(3.0).tobytes())
    assert proposed(board, sequence) == (sequence, 0, parameters(0.0).tobytes())


def test_of_two_proposals_the_later_counts(make: Make) -> None:
    board = make()
    first, second = board.propose(parameters(1.0), 0), board.propose(parameters(2.0), 0)
    assert second > first
    assert proposed(board) == (second, 0, parameters(2.0).tobytes())


def test_a_writer_that_died_in_the_middle_leaves_nothing_to_adopt_and_blocks_nobody(make: Make) -> None:
    board = make()
    seen = board.propose(parameters(1.0), 0)
    board.header.proposed = seen + 1  # odd: as `put` leaves it when it is killed while copying
    half = parameters(9.0).view(np.uint8)[: PARAMETERS.dtype.itemsize // 2]
    at = board._offsets["proposal"]
    board._bytes[at : at + len(half)] = half
    assert proposed(board, seen) == (seen, 0, parameters(0.0).tobytes())
    sequence = Board.attach("one").propose(parameters(2.0), 5)
    assert sequence % 2 == 0
    assert proposed(board, seen) == (sequence, 5, parameters(2.0).tobytes())


def test_an_answer_says_which_proposal_and_whether_it_was_refused(make: Make) -> None:
    board, guest = make(), Board.attach("one")
    for refused in (False, True):
        sequence = guest.propose(parameters(1.0), 0)
        assert guest.answered < sequence
        board.answer(sequence, refused=refused)
        assert guest.answered == sequence + refused


def test_a_writer_that_is_killed_in_its_turn_gives_the_turn_back(make: Make) -> None:
    board = make()
    code = (
        "import sys, os; from pathlib import Path; from pliant.runtime.board import Board\n"
        "board = Board.attach(Path(sys.argv[1]))\n"
        "with board._turn():\n    os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(board.path)], check=False)
    assert done.returncode == -9
    board.send(1)
    assert board.propose(parameters(1.0), 0) == 2


def test_adopted_sets_are_found_by_revision_until_they_are_replaced(make: Make) -> None:
    board = make()
    for revision in range(SET_SLOTS + 3):
        board.adopt(revision, 10 * revision, parameters(float(revision)))
    guest = Board.attach("one")
    assert guest.adopted == SET_SLOTS + 2
    for revision in (3, SET_SLOTS, SET_SLOTS + 2):
        entry = guest.parameter_set(revision)
        assert entry is not None
        assert (int(entry.revision), int(entry.tick)) == (revision, 10 * revision)
        assert entry["values"].tobytes() == parameters(float(revision)).tobytes()
    assert guest.parameter_set(2) is None
    assert guest.parameter_set(SET_SLOTS + 3) is None


def test_there_is_room_for_the_sets_of_a_slider_that_moves_for_as_long_as_the_black_box_lasts() -> None:
    assert SET_SLOTS >= 60 * 8  # 60 changes a second, 8 s


# ---- requests ------------------------------------------------------------------------------------------------------


def test_requests_come_out_in_the_order_they_went_in(make: Make) -> None:
    board, guest = make(), Board.attach("one")
    for number in range(3 * QUEUE_SLOTS):  # round the queue more than once
        guest.send(number % 9, at_tick=7 * number, number=number, values=[number, -number])
        item = board.take()
        assert item is not None
        assert (int(item.code), int(item.at_tick), int(item.number)) == (number % 9, 7 * number, number)
        assert item["values"][:3].tolist() == [number, -number, 0]
    assert board.take() is None


def test_a_full_queue_refuses_and_keeps_what_it_has(make: Make) -> None:
    board = make()
    for number in range(QUEUE_SLOTS):
        board.send(1, number=number)
    with pytest.raises(LoopError, match="queue is full"):
        board.send(1, number=-1)
    assert [int(board.take().number) for _ in range(3)] == [0, 1, 2]  # type: ignore[union-attr]
    board.send(1, number=QUEUE_SLOTS)
    rest = []
    while (item := board.take()) is not None:
        rest.append(int(item.number))
    assert rest == list(range(3, QUEUE_SLOTS + 1))


@pytest.mark.parametrize("shared", [True, False], ids=["one board", "a board each"])
def test_threads_that_send_at_once_lose_nothing(make: Make, shared: bool) -> None:
    board, senders, each = make(), 4, 500
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def send(sender: int) -> None:
        end = board if shared else Board.attach("one")
        for number in range(each):
            while True:
                try:
                    end.send(1 + sender, number=number)
                    break
                except LoopError:
                    continue

    threads = [threading.Thread(target=send, args=(sender,)) for sender in range(senders)]
    try:
        for thread in threads:
            thread.start()
        got: dict[int, list[int]] = {}
        while any(thread.is_alive() for thread in threads) or int(board.header.queue_in) > int(board.header.queue_out):
            if (item := board.take()) is not None:
                got.setdefault(int(item.code), []).append(int(item.number))
    finally:
        sys.setswitchinterval(interval)
    assert got == {1 + sender: list(range(each)) for sender in range(senders)}


# ---- telemetry -----------------------------------------------------------------------------------------------------


def test_before_the_first_tick_there_is_nothing(make: Make) -> None:
    board = make()
    assert board.latest() is None
    records, at, lost = board.read(0)
    assert (len(records), at, lost) == (0, 0, 0)


def test_the_latest_record_is_the_last_one_published(make: Make) -> None:
    board = make()
    for number in range(20):
        tell(board, range(number, number + 1))
        latest = board.latest()
        assert latest is not None
        assert int(latest.tick) == number
        assert set(latest.state.pose.tolist()) == {number}


def test_a_slow_reader_gets_the_newest_and_knows_exactly_how_many_it_lost(make: Make) -> None:
    board = make(ring_slots=8)
    tell(board, range(21))
    records, at, lost = board.read(2)
    assert records["tick"].tolist() == list(range(13, 21))
    assert (at, lost) == (21, 11)
    assert board.read(at)[1:] == (21, 0)


def test_reading_a_few_at_a_time_loses_nothing(make: Make) -> None:
    board = make(ring_slots=8)
    tell(board, range(8))
    at, seen = 0, []
    while at < board.head:
        records, at, lost = board.read(at, 3)
        seen += records["tick"].tolist()
        assert lost == 0
    assert seen == list(range(8))


def test_a_record_that_is_being_written_is_lost_not_torn(make: Make) -> None:
    board = make(ring_slots=4)
    tell(board, range(4))
    slot = board._at["ring"] + 1 * (TELEMETRY.dtype.itemsize + 8)
    record = TELEMETRY.new()
    put(slot, slot + 8, record.ctypes.data, 8, 2 * 5 + 2)
    word = board._bytes[slot - board.base : slot - board.base + 8].view(np.int64)
    word[0] -= 1  # odd: the writer is in the middle of number 5, which replaces number 1
    records, at, lost = board.read(0)
    assert records["tick"].tolist() == [0, 2, 3]
    assert (at, lost) == (4, 1)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    slots=st.integers(1, 9),
    steps=st.lists(st.tuples(st.integers(0, 12), st.one_of(st.none(), st.integers(1, 12))), max_size=20),
)
def test_what_is_read_and_what_is_lost_add_up(make: Make, slots: int, steps: list[tuple[int, int | None]]) -> None:
    board = make(ring_slots=slots)
    board.remove()
    at, published, lost, seen = 0, 0, 0, []
    for more, most in steps:
        tell(board, range(published, published + more))
        published += more
        records, following, gone = board.read(at, most)
        ticks = records["tick"].tolist()
        assert following == at + len(ticks) + gone
        assert ticks == list(range(following - len(ticks), following))
        if most is None:
            assert (following, gone) == (published, max(0, published - at - slots))
        at, lost, seen = following, lost + gone, seen + ticks
    assert len(set(seen)) == len(seen)
    assert len(seen) + lost == at <= published


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
    sweep()
    assert running() == []


@pytest.mark.parametrize("survivor", ["owner_pid", "loop_pid"])
def test_a_board_with_a_living_process_stays(make: Make, dead: int, survivor: str) -> None:
    board = make()
    board.header.owner_pid, board.header.loop_pid = dead, dead
    board.header[survivor] = os.getpid()
    sweep()
    assert running() == ["one"]


def test_a_board_that_is_just_being_made_and_files_of_others_stay(shelf: Path, make: Make, dead: int) -> None:
    make().header.owner_pid = dead
    (shelf / "pliant-new").write_bytes(bytes(4096))
    (shelf / "pliant-short").write_bytes(b"x")
    (shelf / "other").write_bytes(b"x")
    sweep()
    assert sorted(path.name for path in shelf.iterdir()) == ["other", "pliant-new", "pliant-short"]


def test_a_new_board_takes_the_name_of_a_dead_one(make: Make, dead: int) -> None:
    make().header.owner_pid = dead
    assert int(make().header.owner_pid) == os.getpid()


def test_a_zombie_is_not_alive() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and nobody has asked for its exit code
    assert not alive(process.pid)
    process.wait()
    assert alive(os.getpid())
