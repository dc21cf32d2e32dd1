"""Velocity of a base from samples that mislead: no estimator calls nonsense valid, whatever it is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.mobile.base.base_params import BaseVelocity
from pliant.mobile.velocity.estimate import COASTING, IGNORED, RESET, SCHEMES, STATUS, VALID
from pliant.mobile.velocity.estimators import CAKalman, Estimator, LocalPoly, Stencil
from pliant_experiments.mobile.base_velocity import mean_ratio, row_of
from pliant_experiments.rivals.rival_velocity import mean_step_velocity
from pliant_experiments.scenes.velocity_cells import Cell, cells, sample

FINE = BaseVelocity(noise_m=1e-4, noise_rad=1e-4)
LATE = FINE.model_copy(update={"stamps": "late"})
KINDS = (Stencil, LocalPoly, CAKalman)
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
T = np.arange(200) * 0.02


def drive(t: Any, speed: float = 0.4) -> np.ndarray:
    """Poses along x at a constant speed."""
    return np.stack([speed * t, 0 * t, 0 * t], 1)


def valid(said: Any) -> np.ndarray:
    """Forward velocities that an estimator stands for."""
    return said["v"][said["status"] == VALID]


# ---- words ----------------------------------------------------------------------------------------------------------


@kinds
def test_whatever_an_estimator_says_of_a_sample_has_words(kind: type[Estimator]) -> None:
    t, poses = T.copy(), drive(T)
    poses[60, 0] += 5.0
    poses[80] = np.nan
    t[150] = t[149]
    said = kind(FINE).run(t, poses)
    words = [STATUS[int(status)].partition(":")[0] for status in said["status"]]
    assert words[0] == "reset"
    assert words[50] == "valid"
    assert words[60] == "coasting"
    assert words[80] == ("coasting" if kind is CAKalman else "reset")  # a formula begins anew after what is no number
    assert words[150] == "ignored"
    assert SCHEMES[int(said["scheme"][50])] == {Stencil: "5-point", LocalPoly: "polynomial", CAKalman: "Kalman"}[kind]
    assert {int(scheme) for scheme in said["scheme"]} <= set(SCHEMES)


def test_a_filter_that_is_lost_says_so_and_a_velocity_of_zero() -> None:
    poses = drive(T)
    poses[80:140] = np.nan  # more than a second
    said = CAKalman(FINE).run(T, poses)
    assert STATUS[int(said["status"][139])].startswith("lost: no finite sample for too long")
    assert said["v"][139] == 0.0


# ---- against the mean-step formula ---------------------------------------------------------------------------------


def test_without_faults_the_filter_keeps_its_advantage_with_late_stamps_too() -> None:
    numbered = [(k, cell) for k, cell in enumerate(cells()) if cell.fault == "none"]
    rows = [row for row in (row_of(cell, k) for k, cell in numbered) if row.noisy]
    assert len(rows) == 51
    assert mean_ratio(rows) <= 0.034


# ---- outliers ------------------------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("offs", [(0.05, -0.05), (-0.05, 0.05), (0.05, -0.05, 0.05), (0.08, -0.03, -0.2)])
def test_outliers_in_a_row_that_disagree_are_all_left_out(kind: type[Estimator], offs: tuple[float, ...]) -> None:
    poses = drive(T)
    poses[150 : 150 + len(offs), 0] += offs
    said = kind(FINE).run(T, poses)
    assert np.isin(said["status"][150 : 150 + len(offs)], (COASTING, RESET)).all()
    assert said["v"][50:150] == pytest.approx(0.4, abs=5e-3)
    assert valid(said[150:]) == pytest.approx(0.4, abs=2e-2)
    assert said["v"][165:] == pytest.approx(0.4, abs=5e-3)


@kinds
@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("off", [5.0, 0.05, -0.05, -5.0])
def test_an_outlier_among_the_first_samples_is_no_velocity(kind: type[Estimator], at: int, off: float) -> None:
    poses = drive(T)
    poses[at, 0] += off
    said = kind(FINE).run(T, poses)
    assert np.abs(said["v"]).max() < BaseVelocity().most_speed_m_s + 0.1
    assert np.abs(said["v"][20:] - 0.4).max() < 0.02


@pytest.mark.parametrize("kind", [Stencil, LocalPoly])
@pytest.mark.parametrize("first", [0, 1, 100])
def test_two_stamps_that_almost_repeat_do_not_divide_noise_by_nothing(kind: type[Estimator], first: int) -> None:
    random = np.random.default_rng(8)
    t = np.sort(np.concatenate([T, [T[first] + 1.5e-6]]))
    said = kind(BaseVelocity()).run(t, drive(t) + random.normal(size=(len(t), 3)) * 1e-3)
    assert np.abs(said["velocity"][:, :2]).max() <= 2 * BaseVelocity().most_speed_m_s
    assert first == 0 or said[first + 1].status in (IGNORED, RESET)
    assert (said["status"][first + 3 :] == VALID).mean() > 0.9


@pytest.mark.parametrize("kind", [Stencil, LocalPoly])
def test_a_speed_that_no_base_has_is_never_valid(kind: type[Estimator]) -> None:
    said = kind(FINE).run(T, drive(T, 6.0))
    assert VALID not in said["status"]
    assert np.abs(said["v"]).max() == 0.0
    quick = BaseVelocity(noise_m=1e-4, noise_rad=1e-4, most_speed_m_s=8)
    assert valid(kind(quick).run(T, drive(T, 6.0)))[10:] == pytest.approx(6.0, abs=1e-9)


@kinds
def test_a_perfect_sensor_may_see_an_acceleration_begin_at_once(kind: type[Estimator]) -> None:
    x = 0.4 * np.maximum(T - 2.5, 0.0) ** 2  # suddenly 0.8 m/s²
    said = kind(BaseVelocity(noise_m=0.0, noise_rad=0.0)).run(T, np.stack([x, 0 * x, 0 * x], 1))
    assert (said["status"][1:] == VALID).all()
    assert said["v"] == pytest.approx(0.8 * np.maximum(T - 2.5, 0.0), abs=0.04)


# ---- late stamps ---------------------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("rate_hz", [10, 50])
def test_late_stamps_are_put_on_a_line_for_every_estimator(kind: type[Estimator], rate_hz: int) -> None:
    random, h = np.random.default_rng(9), 1.0 / rate_hz
    t = np.arange(20 * rate_hz) * h
    late = t + random.uniform(-0.2 * h, 0.2 * h, len(t))
    x = 0.3 * np.sin(1.6 * t)
    poses = np.stack([x, 0 * x, 0 * x], 1)
    settings = BaseVelocity(noise_m=0.0, noise_rad=0.0, stamps="late", window=5, degree=3)
    off = kind(settings).run(late, poses)["velocity"][:, 0] - 0.48 * np.cos(1.6 * t)
    formula = mean_step_velocity(late, poses)[:, 0] - 0.48 * np.cos(1.6 * t)
    counted = t > 2.0
    assert np.sqrt(np.mean(off[counted] ** 2)) < np.sqrt(np.mean(formula[counted] ** 2))
    assert np.sqrt(np.mean(off[counted] ** 2)) < 0.01


def changing(before_hz: int, after_hz: int, jitter: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Times of samples whose rate changes after four seconds, and their late stamps."""
    steps = np.concatenate([np.full(4 * before_hz, 1 / before_hz), np.full(max(90, 6 * after_hz), 1 / after_hz)])
    t = np.cumsum(steps)
    return t, t + np.random.default_rng(seed).uniform(-jitter, jitter, len(t)) * steps


@kinds
@pytest.mark.parametrize(("before_hz", "after_hz"), [(10, 50), (25, 50), (30, 50)])
@pytest.mark.parametrize("jitter", [0.0, 0.1])
def test_a_source_with_late_stamps_may_speed_up(
    kind: type[Estimator], before_hz: int, after_hz: int, jitter: float
) -> None:
    for seed in range(5):
        t, late = changing(before_hz, after_hz, jitter, seed)
        said = kind(LATE).run(late, drive(t))
        off, changed = np.abs(said["v"] - 0.4), 4 * before_hz
        assert off[changed - 10 :][said["status"][changed - 10 :] == VALID].max() < 0.05
        assert (said["status"][changed + 15 :] == VALID).mean() > 0.9


@kinds
@pytest.mark.parametrize(("before_hz", "after_hz"), [(50, 33), (50, 25), (50, 10), (500, 50), (40, 50)])
@pytest.mark.parametrize("jitter", [0.0, 0.2])
def test_with_late_stamps_every_change_of_rate_is_over_after_forty_samples(
    kind: type[Estimator], before_hz: int, after_hz: int, jitter: float
) -> None:
    for seed in range(5):
        t, late = changing(before_hz, after_hz, jitter, seed)
        said = kind(LATE).run(late, drive(t))
        assert said["v"][4 * before_hz + 40 :] == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize("seed", [123, 255, 340])
def test_after_a_gap_a_few_late_stamps_make_no_sample_seem_lost(seed: int) -> None:
    """A line through five stamps with short steps is too steep; a sample that was then counted twice stayed so."""
    cell = Cell(10, 0.0, "late stamp", 0.0, "gap")
    seen = sample(cell, np.random.default_rng(seed))
    out = CAKalman(cell.settings).run(seen.stamps, seen.poses)
    again = np.argmax(np.diff(seen.stamps)) + 1
    off = (out["velocity"] - seen.velocity)[again + 1 :, :2]
    assert np.sqrt(np.mean(off**2, axis=0)).max() < 0.15
