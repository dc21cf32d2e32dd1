"""The lag of a robot from its records: found with its interval, or refused when it cannot be told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.identify.delay_fit import CONFIDENT, DelayError, answer, check, check_force, identify, identify_force

Array = np.ndarray[Any, Any]
DT, AMPLITUDE = 0.002, 2e-3


def command(seed: int = 0, ticks: int = 3000) -> Array:
    """To and fro between two places at random times, as softly as 3 Hz; it rests before."""
    random, goal, at, place = np.random.default_rng(seed), np.zeros(ticks), 50, AMPLITUDE
    while at < ticks:
        stay = int(random.integers(30, 120))
        goal[at : at + stay] = place
        at, place = at + stay, AMPLITUDE - place
    u = np.zeros(ticks)
    for i in range(1, ticks):
        u[i] = u[i - 1] + (1.0 - np.exp(-2 * np.pi * 3.0 * DT)) * (goal[i] - u[i - 1])
    return u


@pytest.mark.parametrize(("delay", "servo"), [(0.004, 0.03), (0.002, 0.0075), (0.0331, 0.05), (0.02, 0.004)])
def test_a_lag_is_found_exactly_without_noise(delay: float, servo: float) -> None:
    u = command()
    found = identify(u, answer(u, DT, delay, servo), DT)
    assert found.lag_s == pytest.approx(delay + servo, abs=1e-5)
    assert found.delay_s == pytest.approx(delay, abs=2e-4)
    assert found.gain == pytest.approx(1.0, abs=1e-4)
    check(found, AMPLITUDE)


def test_the_interval_holds_the_lag_nineteen_times_out_of_twenty() -> None:
    u, true, inside = command(), 0.034, 0
    for seed in range(20):
        noise = 5e-5 * np.random.default_rng(seed).normal(size=len(u))
        found = identify(u, answer(u, DT, 0.004, 0.03) + noise, DT)
        low, high = found.interval_s
        assert high - low == pytest.approx(2 * CONFIDENT * found.lag_std_s)
        inside += low <= true <= high
    assert inside >= 16  # 19 expected; fewer than 16 once in 400 times


def test_noise_that_repeats_itself_widens_the_interval() -> None:
    u = command()
    white = 5e-5 * np.random.default_rng(1).normal(size=len(u))
    slow = np.convolve(white, np.ones(25) / 5.0, mode="same")  # as strong, but 25 samples say the same
    y = answer(u, DT, 0.004, 0.03)
    assert identify(u, y + slow, DT).lag_std_s > 2 * identify(u, y + white, DT).lag_std_s


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda y: y + 2e-3 * np.random.default_rng(0).normal(size=len(y)), "does not follow the command"),
        (lambda y: 0.5 * y, "carried out only 50%"),
        (lambda y: 0.0 * y, "does not follow the command|carried out only 0%"),
        (lambda y: y + 0.2 * y.std() * np.sin(np.arange(len(y)) * 0.3), "does not fit a delay plus a servo"),
    ],
)
def test_what_no_robot_does_is_refused_with_the_reason(spoil: Any, why: str) -> None:
    u = command()
    with pytest.raises(DelayError, match=why):
        check(identify(u, spoil(answer(u, DT, 0.004, 0.03)), DT), AMPLITUDE)


def test_a_robot_that_was_not_moved_or_hardly_recorded_is_refused() -> None:
    with pytest.raises(DelayError, match="command does not move the robot"):
        identify(np.zeros(500), np.zeros(500), DT)
    with pytest.raises(DelayError, match="too few"):
        identify(np.zeros(10), np.zeros(10), DT)
    with pytest.raises(DelayError, match="finite"):
        identify(command(), np.full(3000, np.nan), DT)


@pytest.mark.parametrize("late", [0, 2, 5])
@pytest.mark.parametrize("stiffness", [2e4, 1e5])
def test_a_force_that_comes_late_is_told_from_one_that_damping_brings_early(stiffness: float, late: int) -> None:
    y = answer(command(), DT, 0.004, 0.03) / stiffness * 1e3
    v = np.gradient(y, DT)
    force = 5.0 + stiffness * y + 50.0 * v + 0.8 * np.gradient(v, DT)
    force = np.concatenate([np.full(late, force[0]), force[: len(force) - late]])
    force += 0.05 * np.random.default_rng(3).normal(size=len(y))
    found = identify_force(y, v, force, DT)
    assert found.lag_s == pytest.approx(late * DT - 50.0 / stiffness, abs=1e-3)
    assert found.stiffness_n_m == pytest.approx(stiffness, rel=0.03)
    check_force(found)


def test_a_force_that_has_nothing_to_do_with_the_motion_is_refused() -> None:
    y = answer(command(), DT, 0.004, 0.03)
    with pytest.raises(DelayError, match="does not follow"):
        check_force(identify_force(y, np.gradient(y, DT), np.random.default_rng(0).normal(size=len(y)), DT))
