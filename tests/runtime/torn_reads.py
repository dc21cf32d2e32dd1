"""Compiled writer and readers that try to tear records on a board: every 8-byte word of a record is the same number.

Run as a program it is a reader: ``python torn_reads.py <board> <counts> <which reader>``.
"""

import sys
from pathlib import Path

import numpy as np

from pliant.control.published import Published
from pliant.kernel import copy_bytes, floats, kernel
from pliant.loop.board import Board
from pliant.loop.board_layout import SET
from pliant.loop.slots import collect, get, lock_word, publish, put, store_word

# what is published whatever law runs; no law has the numbers that are written here
RECORD_BYTES, SET_BYTES = Published().layout.dtype.itemsize, SET.dtype.itemsize
BUFFER = max(RECORD_BYTES, SET_BYTES) // 8

# One reader's row of words in the file of counts, which are raised as it goes.
READY, WHOLE, MIXED, RAW_MIXED, REFUSED, DONE = range(6)
WORDS, PHASES, READERS = 8, 2, 2

ENOUGH = 30_000
"""Whole reads of each reader after which the writer may stop."""

GIVE_UP = 200_000_000
"""Writes after which it stops in any case, so that a reader that dies does not hang the test."""


@kernel
def uniform(address, words):
    """Whether all `words` 8-byte words at `address` are the same."""
    values = floats(address, words)
    same = True
    for i in range(1, words):
        same = same and values[i] == values[0]
    return same


@kernel
def tally(counts, record, raw, words, read, expected):
    """Count one attempt: `read` says whether the copy in `record` was called whole; `raw` was copied without asking."""
    if not uniform(raw, words):
        store_word(counts + 8 * RAW_MIXED, lock_word(counts + 8 * RAW_MIXED) + 1)
    if not read:
        store_word(counts + 8 * REFUSED, lock_word(counts + 8 * REFUSED) + 1)
    elif uniform(record, words) and floats(record, 1)[0] == expected:
        store_word(counts + 8 * WHOLE, lock_word(counts + 8 * WHOLE) + 1)
    else:
        store_word(counts + 8 * MIXED, lock_word(counts + 8 * MIXED) + 1)


@kernel
def content(counts, readers):
    """Whether every reader has seen enough: whole records by asking, and a torn one by not asking."""
    for i in range(readers):
        row = counts + 8 * WORDS * i
        if lock_word(row + 8 * WHOLE) < ENOUGH or lock_word(row + 8 * RAW_MIXED) < 1:
            return False
    return True


@kernel
def write_ring(ring, record, size, counts, readers):
    """Publish records until the readers are content; returns how many."""
    words, number = floats(record, size // 8), 0
    while number < GIVE_UP and not (number % 1000 == 0 and content(counts, readers)):
        words[:] = number
        publish(ring, record, number)
        number += 1
    return number


@kernel
def read_ring(ring, spare, record, raw, size, counts):
    """Read the newest record, with and without asking whether it is whole, until told that it is over."""
    head, first, slots, _, step = ring
    while lock_word(counts + 8 * DONE) == 0:
        number = lock_word(head) - 1
        if number >= 0:
            copy_bytes(raw, first + (number % slots) * (step + 8) + 8, size)
            read = collect(ring, number, number + 1, spare, record, 0) == 1
            tally(counts, record, raw, size // 8, read, number)


@kernel
def write_slot(lock, slot, record, size, counts, readers):
    """Put sets into the one slot until the readers are content; returns how many."""
    words, number = floats(record, size // 8), 0
    while number < GIVE_UP and not (number % 1000 == 0 and content(counts, readers)):
        number += 1
        words[:] = 2 * number
        put(lock, slot, record, size, 2 * number)
    return number


@kernel
def read_slot(lock, slot, record, raw, size, counts):
    """Read the slot, with and without asking, until told that it is over."""
    while lock_word(counts + 8 * DONE) == 0:
        sequence = lock_word(lock)
        copy_bytes(raw, slot, size)
        if sequence > 0:
            read = sequence % 2 == 0 and get(lock, slot, record, size, sequence)
            tally(counts, record, raw, size // 8, read, sequence)


def read(board: Board, counts: np.ndarray, reader: int) -> None:
    """Both phases of one reader."""
    record, raw = np.zeros(BUFFER), np.zeros(BUFFER)
    buffers = record.ctypes.data, raw.ctypes.data
    ring, slot = counts[0, reader], counts[1, reader]
    slot[READY] = ring[READY] = 1
    spare = np.zeros(board.published.step // 8)
    read_ring(board.ring, spare.ctypes.data, *buffers, RECORD_BYTES, ring.ctypes.data)
    read_slot(board._word["proposed"], board._at["proposal"], *buffers, SET_BYTES, slot.ctypes.data)


def write(board: Board, counts: np.ndarray) -> tuple[int, int]:
    """Both phases of the writer; returns how many records and sets it wrote."""
    record = np.zeros(BUFFER)
    records = write_ring(board.ring, record.ctypes.data, RECORD_BYTES, counts[0].ctypes.data, READERS)
    counts[0, :, DONE] = 1
    lock, slot = board._word["proposed"], board._at["proposal"]
    sets = write_slot(lock, slot, record.ctypes.data, SET_BYTES, counts[1].ctypes.data, READERS)
    counts[1, :, DONE] = 1
    return records, sets


def open_counts(path: Path) -> np.ndarray:
    """The shared counts: phase × reader × word."""
    return np.memmap(path, np.int64, "r+", shape=(PHASES, READERS, WORDS))


if __name__ == "__main__":
    read(Board.attach(Path(sys.argv[1])), open_counts(Path(sys.argv[2])), int(sys.argv[3]))
