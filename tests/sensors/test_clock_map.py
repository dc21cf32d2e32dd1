"""Stamps of another clock: mapped to this computer's clock, monotone and bounded."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.sensors.clock_map import MOST_AGE_S, ClockMap


def test_jitter_of_the_network_is_removed() -> None:
    random, clock = np.random.default_rng(0), ClockMap()
    sampled = 100.0 + 0.001 * np.arange(5000)
    late = random.exponential(0.002, len(sampled))
    mapped = [clock.arrival(s + 1e6, s + delay) for s, delay in zip(sampled.tolist(), late.tolist(), strict=True)]
    error = np.array(mapped[500:]) - sampled[500:]
    assert np.abs(error).max() < 0.001
    assert late[500:].max() > 0.01


@pytest.mark.parametrize("rate", [1.0 - 1e-4, 1.0 + 1e-4])
def test_a_clock_that_drifts_is_followed(rate: float) -> None:
    clock, error = ClockMap(), 0.0
    for k in range(20_000):
        now = 50.0 + 0.01 * k
        error = max(error, abs(clock.arrival(rate * now, now) - now))
    assert error < 0.002


def test_a_device_that_restarts_its_clock_is_followed_at_once() -> None:
    clock = ClockMap()
    for k in range(100):
        clock.arrival(5000.0 + 0.001 * k, 10.0 + 0.001 * k)
    assert clock.arrival(0.0, 10.2) == pytest.approx(10.2)
    assert clock.arrival(0.001, 10.201) == pytest.approx(10.201, abs=1e-6)


def test_a_stamp_that_is_not_finite_counts_as_now() -> None:
    clock = ClockMap()
    assert clock.arrival(math.nan, 3.0) == 3.0
    assert clock.arrival(math.inf, 3.5) == 3.5


@given(st.lists(st.tuples(st.floats(allow_nan=True, allow_infinity=True), st.floats(0.0, 10.0)), max_size=60))
def test_a_mapped_time_is_never_in_the_future_nor_too_old_nor_before_the_last(steps: list[tuple[float, float]]) -> None:
    clock, now, last = ClockMap(), 0.0, -math.inf
    for stamp, passed in steps:
        now += passed
        mapped = clock.arrival(stamp, now)
        assert last <= mapped <= now
        assert mapped >= now - MOST_AGE_S
        last = mapped
