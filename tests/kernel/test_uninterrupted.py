"""Signals that come during work that must not be left half done are handled after it, all of them."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from pliant.kernel.uninterrupted import uninterrupted

BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def handled() -> Iterator[list[int]]:
    """What the program's own handlers were called with; the one of SIGINT raises, as Python's does."""
    called: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        called.append(number)
        raise KeyboardInterrupt

    before = [signal.signal(signal.SIGINT, interrupt), signal.signal(signal.SIGTERM, lambda n, _: called.append(n))]
    yield called
    for number, handler in zip(BOTH, before, strict=True):
        signal.signal(number, handler)


def test_both_signals_are_handled_after_the_block_although_one_handler_raises(handled: list[int]) -> None:
    own, during = [signal.getsignal(number) for number in BOTH], [0]

    def work() -> None:
        with uninterrupted():
            for number in BOTH:
                signal.raise_signal(number)
            during.append(len(handled))

    with pytest.raises(KeyboardInterrupt):
        work()
    assert during == [0, 0]
    assert sorted(handled) == sorted(BOTH)
    assert [signal.getsignal(number) for number in BOTH] == own


def test_within_another_block_a_signal_waits_for_the_end_of_both(handled: list[int]) -> None:
    with uninterrupted():
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
        assert not handled
    assert handled == [signal.SIGTERM]


def test_an_ignored_signal_stays_ignored(handled: list[int]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    assert not handled


def test_an_error_in_the_block_comes_through(handled: list[int]) -> None:
    with pytest.raises(ZeroDivisionError), uninterrupted():
        _ = 1 / 0
