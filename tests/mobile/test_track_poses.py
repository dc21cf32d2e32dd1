"""Poses that come one by one become commands of a base that stays near them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Base
from pliant.mobile.following.drive_limits import DRIVING, LOST, NO_NUMBER, STALE
from pliant.mobile.following.stamped_poses import NO_REFERENCE, STATES, PoseCommand, PoseTracker
from pliant.mobile.velocity.estimators import Stencil
from pliant_experiments.mobile.pose_runs import FivePoint, sideways, to_and_fro, tracked, weaving

DT = 0.02
EXACT = Base(delay_s=0.0)
NAN = math.nan


def driven(tracker: PoseTracker, reference: Any, pose: Any, seconds: float) -> tuple[Any, list[PoseCommand]]:
    """A base that does at once what it is told, and everything that it was told; a reference of None does not come."""
    where, said = np.array(pose, float), list[PoseCommand]()
    v = omega = 0.0
    for k in range(round(seconds / DT)):
        if (sample := reference(k * DT)) is not None:
            tracker.reference(k * DT, sample)
        command = tracker.update(k * DT, where, v, omega, dt=DT)
        v, omega = command.v, command.omega
        along_arc(where, v, omega, DT, where)
        said.append(command)
    return where, said


@pytest.mark.parametrize(("motion", "rate_hz", "most_mm"), [(weaving, 10, 15), (weaving, 50, 10), (to_and_fro, 50, 10)])
def test_noisy_poses_are_followed_by_a_base_that_lags_and_closer_than_by_five_points(
    motion: Any, rate_hz: int, most_mm: float
) -> None:
    ours, rival = (tracked(motion, rate_hz, 3, PoseTracker(velocity=source)) for source in (None, FivePoint()))
    assert ours.rms_mm < most_mm
    assert rival.rms_mm > 2 * ours.rms_mm
    assert np.all(ours.state == DRIVING)


def test_what_the_tracker_does_has_words() -> None:
    _, said = driven(PoseTracker(EXACT), lambda t: (0.1 * t, 0.0, 0.0) if 0.2 < t < 1.0 else None, (0, 0, 0), 2.0)
    assert [STATES[said[k].state] for k in (0, 40, -1)] == [
        "stopped: no reference has arrived, or the last one is too old",
        "driving",
        "stopped: no reference has arrived, or the last one is too old",
    ]


def test_exact_poses_are_followed_closely_backwards_too() -> None:
    def back(t: float) -> Any:
        return (-0.2 * t, 0.0, 0.0)

    where, said = driven(PoseTracker(EXACT, velocity=Stencil()), back, (0.03, 0.05, 0.1), 10.0)
    np.testing.assert_allclose(where, back(10.0), atol=0.006)
    assert min(command.v for command in said) >= -0.4


def test_a_reference_at_rest_is_approached_and_held_without_turning_about() -> None:
    where, said = driven(PoseTracker(EXACT), lambda t: (0.2, 0.0, 0.0), (0.0, 0.0, 0.0), 8.0)
    np.testing.assert_allclose(where, (0.2, 0.0, 0.0), atol=0.003)
    assert abs(said[-1].v) < 1e-3
    assert abs(said[-1].omega) < 1e-3


def test_a_reference_that_turns_on_the_spot_is_turned_with_across_the_wrap() -> None:
    where, said = driven(
        PoseTracker(EXACT), lambda t: (0.0, 0.0, math.remainder(2.0 + 0.5 * t, math.tau)), (0, 0, 2), 6.0
    )
    assert math.remainder(where[2] - 5.0, math.tau) == pytest.approx(0.0, abs=0.03)
    assert np.abs([command.v for command in said]).max() < 0.01


def test_a_reference_that_goes_sideways_turns_the_base_towards_its_motion_and_says_so() -> None:
    run = tracked(sideways, 50, 0, PoseTracker())
    assert np.median(run.lateral_m_s) == pytest.approx(-0.15, abs=0.01)
    assert run.rms_mm < 20.0
    where, said = driven(PoseTracker(EXACT), lambda t: (0.0, 0.2 * t, 0.0), (0.0, 0.0, 0.0), 10.0)
    assert where[2] == pytest.approx(math.pi / 2, abs=0.05)  # all of it sideways: it is driven along, forwards
    assert math.dist(where[:2], (0.0, 2.0)) < 0.05
    assert said[-1].lateral_m_s == pytest.approx(0.2, abs=0.01)


def at_rest_after(said: list[PoseCommand], state: int, begin_s: float) -> float:
    first = next(k for k, command in enumerate(said) if command.state == state and command.v == command.omega == 0.0)
    assert all(command.v == 0.0 for command in said[first:])
    return first * DT - begin_s


@pytest.mark.parametrize("after", [None, (NAN, 0.0, 0.0), (0.3, 0.0, NAN)])
def test_references_that_come_no_more_or_are_no_numbers_stop_the_base(after: Any) -> None:
    _, said = driven(PoseTracker(EXACT), lambda t: (0.4 * t, 0.0, 0.0) if t < 3.0 else after, (0, 0, 0), 6.0)
    assert said[140].v == pytest.approx(0.4, abs=0.03)
    assert 0.5 < at_rest_after(said, NO_REFERENCE, 3.0) < 1.0
    assert all(np.isfinite((command.v, command.omega)).all() for command in said)


def test_without_a_reference_it_stands() -> None:
    command = PoseTracker().update(0.0, (0.0, 0.0, 0.0), 0.0, 0.0)
    assert (command.v, command.omega, command.state) == (0.0, 0.0, NO_REFERENCE)


@pytest.mark.parametrize(
    ("pose", "age_s", "state"),
    [((NAN, 0, 0), 0.0, NO_NUMBER), ((0.4, 0, 0), 1.0, STALE), ((0.4, 0.9, 0), 0.0, LOST)],
)
def test_odometry_that_cannot_be_used_and_a_reference_out_of_sight_stop_it(pose: Any, age_s: float, state: int) -> None:
    tracker = PoseTracker(EXACT)
    _, said = driven(tracker, lambda t: (0.4 * t, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
    speeds = [said[-1].v]
    for k in range(50, 70):
        tracker.reference(k * DT, (0.4, 0.0, 0.0))
        command = tracker.update(k * DT, pose, 0.4, 0.0, age_s=age_s, dt=DT)
        speeds.append(command.v)
        assert command.state == state
    assert speeds[-1] == 0.0
    assert -np.diff(speeds).min() <= EXACT.deceleration_m_s2 * DT + 1e-9


def test_what_it_is_given_is_checked() -> None:
    with pytest.raises(InputError, match="stale_s"):
        PoseTracker(stale_s=NAN)
    with pytest.raises(InputError, match="pose"):
        PoseTracker().update(0.0, (0.0, 0.0), 0.0, 0.0)
    with pytest.raises(InputError, match="dt"):
        PoseTracker().update(0.0, (0.0, 0.0, 0.0), 0.0, 0.0, dt=NAN)
