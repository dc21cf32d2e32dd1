"""The last slots of the queue are kept for what stops a robot."""

from __future__ import annotations

from boards import Make

from pliant.control.laws.contact.contact_states import COMMANDS
from pliant.errors import LoopError
from pliant.loop.board import Board
from pliant.loop.board_layout import QUEUE_SLOTS
from pliant.loop.goal_requests import COMMAND, GOAL_POSE, HALT, PROTECTING_COMMAND, PUSH, QUIT


def fill(board: Board, code: int, number: int = 0) -> int:
    """How many more of these it takes."""
    for sent in range(QUEUE_SLOTS + 1):
        try:
            board.send(code, number=number)
        except LoopError:
            return sent
    raise AssertionError("it takes them without an end")


def test_who_sends_without_an_end_leaves_room_for_a_stop_and_stops_for_the_end(make: Make) -> None:
    board = make()
    assert fill(board, PUSH) == QUEUE_SLOTS - 16
    assert fill(board, GOAL_POSE) == 0
    assert fill(board, COMMAND, COMMANDS["start"]) == 0
    for command in ("stop", "abort"):  # those of a contact end its motion, too
        board.send(PROTECTING_COMMAND, number=COMMANDS[command])
    assert fill(board, HALT) == 10
    assert fill(board, QUIT) == 4


def test_a_command_has_the_number_that_is_reached_when_it_is_taken(make: Make) -> None:
    board = make()
    first, second = board.send(HALT), board.send(PUSH)
    assert board.taken < first < second
    board.take()
    assert first <= board.taken < second
    board.take()
    assert board.taken == second
