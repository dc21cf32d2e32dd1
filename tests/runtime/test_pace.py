"""Wake-ups: on a fixed grid, with missed periods counted and skipped."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from pliant.kernel import kernel
from pliant.loop.pacing import PACE, civil_time, start, wait

MS = 1_000_000


@kernel
def _start(pace):
    start(pace[0])


@kernel
def _wait(pace):
    wait(pace[0])


@kernel
def _time_of_day(pace):
    return civil_time(pace[0])


@pytest.fixture
def pace() -> Any:
    record = PACE.new()
    record[0].period = 5 * MS
    _start(record)
    return record


def test_a_wake_up_is_never_early_and_lies_on_the_grid(pace: Any) -> None:
    first = int(pace[0].deadline)
    for _ in range(20):
        _wait(pace)
        assert pace[0].woke >= pace[0].deadline
        assert (pace[0].deadline - first) % pace[0].period == 0
        assert pace[0].late >= 0


def test_missed_periods_are_counted_and_skipped(pace: Any) -> None:
    first = int(pace[0].deadline)
    time.sleep(0.023)  # four periods and a half, or more
    _wait(pace)
    missed = int(pace[0].overruns)
    assert missed >= 3
    assert pace[0].deadline == first + (1 + missed) * pace[0].period
    assert pace[0].busy >= 23 * MS
    assert pace[0].late >= missed * pace[0].period  # as late as it was, not only within the period it is in now


def test_a_signal_does_not_end_the_wait(pace: Any) -> None:
    pace[0].period = 50 * MS
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        _wait(pace)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert pace[0].woke >= pace[0].deadline


def test_the_clocks_are_the_systems_own(pace: Any) -> None:
    before = time.time_ns()
    told = _time_of_day(pace)
    assert before <= told <= time.time_ns()
    _start(pace)
    assert 0 <= time.monotonic_ns() - int(pace[0].woke) < 60_000 * MS
