"""Torn reads: one process writes and two read as fast as they can, and nobody ever sees parts of two records as one."""

import subprocess
import sys

import numpy as np
import pytest
import torn_reads
from torn_reads import MIXED, PHASES, RAW_MIXED, READERS, READY, WHOLE, WORDS

from pliant.loop.board import Board

RING, SLOT = 0, 1


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory, until) -> np.ndarray:
    """What two readers counted while this process wrote: phase (ring, parameter slot) × reader × word."""
    path = tmp_path_factory.mktemp("torn") / "counts"
    path.write_bytes(bytes(8 * PHASES * READERS * WORDS))
    counts = torn_reads.open_counts(path)
    board = Board.create(f"torn-{path.parent.name}-{id(counts)}", {}, ring_slots=2)
    program = [sys.executable, torn_reads.__file__, str(board.path), str(path)]
    readers = [subprocess.Popen([*program, str(i)]) for i in range(READERS)]
    try:
        until(lambda: counts[:, :, READY].all() or any(reader.poll() is not None for reader in readers))
        assert counts[:, :, READY].all(), "a reader could not start"
        torn_reads.write(board, counts)
        assert [reader.wait(600) for reader in readers] == [0] * READERS
    finally:
        for reader in readers:
            reader.kill()
        board.remove()
    return np.array(counts)


def test_a_telemetry_record_is_never_torn(counts: np.ndarray) -> None:
    assert (counts[RING, :, WHOLE] >= torn_reads.ENOUGH).all()
    assert (counts[RING, :, MIXED] == 0).all()


def test_a_parameter_set_is_never_torn(counts: np.ndarray) -> None:
    assert (counts[SLOT, :, WHOLE] >= torn_reads.ENOUGH).all()
    assert (counts[SLOT, :, MIXED] == 0).all()


def test_the_same_readers_see_torn_records_when_they_do_not_ask(counts: np.ndarray) -> None:
    """Otherwise the two tests above would prove nothing."""
    assert (counts[:, :, RAW_MIXED] > 0).all()


@pytest.mark.parametrize("word", [0, 1, 17, torn_reads.RECORD_BYTES // 8 - 1])
def test_a_record_with_one_other_word_is_seen_as_mixed(word: int) -> None:
    record = np.full(torn_reads.RECORD_BYTES // 8, 7.0)
    assert torn_reads.uniform(record.ctypes.data, len(record))
    record[word] = 8.0
    assert not torn_reads.uniform(record.ctypes.data, len(record))
