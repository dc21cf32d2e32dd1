"""What the tests of the board put on it and take from it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.control.parameters import PARAMETERS
from pliant.control.telemetry import TELEMETRY
from pliant.loop.board import Board
from pliant.loop.board_layout import SET
from pliant.loop.slots import publish

Make = Callable[..., Board]


def tell(board: Board, numbers: range) -> None:
    """Publish telemetry records whose tick is their number."""
    record = TELEMETRY.new()
    for number in numbers:
        record["tick"], record["state"]["pose"] = number, number
        publish(board.ring, record.ctypes.data, number)


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
