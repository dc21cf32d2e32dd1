"""What goes over the board: parameters, requests and telemetry come out whole, in order, counted, or not at all."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from boards import Make, parameters, proposed, tell
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pliant.control.parameters import PARAMETERS
from pliant.control.telemetry import TELEMETRY
from pliant.errors import LoopError
from pliant.loop.board import Board
from pliant.loop.board_layout import QUEUE_SLOTS, SET, SET_SLOTS
from pliant.loop.slots import put
from support.properties import examples

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
        "import sys, os; from pathlib import Path; from pliant.loop.board import Board\n"
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
    slot = board._at["ring"] + 1 * (board.published.step + 8)
    record = TELEMETRY.new()
    put(slot, slot + 8, record.ctypes.data, 8, 2 * 5 + 2)
    word = board._bytes[slot - board.base : slot - board.base + 8].view(np.int64)
    word[0] -= 1  # odd: the writer is in the middle of number 5, which replaces number 1
    records, at, lost = board.read(0)
    assert records["tick"].tolist() == [0, 2, 3]
    assert (at, lost) == (4, 1)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
