"""Velocity of a base from its poses: closed forms, independent libraries, and everything that a sensor can do wrong."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.errors import InputError
from pliant.mobile.base.base_params import BaseVelocity
from pliant.mobile.velocity.estimate import COASTING, IGNORED, KALMAN, LOST, RESET, VALID, wrapped
from pliant.mobile.velocity.estimators import CAKalman, Estimator, LocalPoly, Stencil
from pliant.mobile.velocity.stencil import derivative_weights
from pliant.params.declare import validated
from pliant_experiments.rivals.rival_velocity import mean_step_velocity
from support.needs import library, needs
from support.properties import examples

Oracle = Callable[[str], Any]

QUIET = BaseVelocity(noise_m=0.0, noise_rad=0.0)
KINDS = (Stencil, LocalPoly, CAKalman)
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def along_x(t: Any, x: Any) -> np.ndarray:
    """Poses that move along x only."""
    return np.stack([np.asarray(x, float), np.zeros(len(t)), np.zeros(len(t))], 1)


# ---- the formulas --------------------------------------------------------------------------------------------------


@needs("findiff")
@pytest.mark.parametrize("n", [2, 3, 5])
def test_weights_on_even_stamps_are_those_of_findiff(n: int) -> None:
    w = np.zeros(5)
    derivative_weights(-np.arange(5.0), n, w)
    known = library("findiff").coefficients(deriv=1, offsets=[-i for i in range(n)])["coefficients"]
    assert w[:n] == pytest.approx(np.array(known, float), abs=1e-12)


@examples(100)
@given(st.lists(st.floats(0.005, 0.3), min_size=4, max_size=4), st.lists(st.floats(-2, 2), min_size=5, max_size=5))
def test_five_points_are_exact_for_every_polynomial_of_degree_four_on_any_stamps(
    steps: list[float], coefficients: list[float]
) -> None:
    t = 1.7e9 + np.concatenate([[0.0], np.cumsum(steps)])
    u = t - t[-1]
    free = BaseVelocity(most_acceleration_m_s2=500, most_speed_m_s=50)
    said = Stencil(free).run(t, along_x(t, np.polyval(coefficients, u)))[-1]
    assert said.scheme == 5
    assert said.velocity[0] == pytest.approx(coefficients[-2], abs=2e-5)  # a stamp of today has 2e-7 s


def test_the_stencil_grows_from_zero_to_five_points_and_says_so() -> None:
    t = np.arange(7) * 0.1
    assert Stencil().run(t, along_x(t, 0.3 * t))["scheme"].tolist() == [0, 2, 3, 3, 5, 5, 5]


def test_a_late_and_an_early_sample_do_not_turn_a_velocity_around() -> None:
    t = np.array([0.0, 0.1, 0.2, 0.39, 0.4])
    assert Stencil(QUIET).run(t, along_x(t, t))[-1].v == pytest.approx(1.0, abs=1e-12)
    assert mean_step_velocity(t, along_x(t, t))[-1, 0] < -1.0


@pytest.mark.parametrize(("n", "gain"), [(2, 1.414), (3, 2.550), (5, 5.584)])
def test_every_stencil_makes_noise_louder_and_five_points_most_of_all(n: int, gain: float) -> None:
    w = np.zeros(5)
    derivative_weights(-np.arange(5.0), n, w)
    assert np.linalg.norm(w[:n]) == pytest.approx(gain, abs=1e-3)


@pytest.mark.parametrize(("degree", "window"), [(1, 4), (2, 9), (3, 20)])
def test_the_local_polynomial_is_that_of_numpy_and_does_not_mind_a_wall_clock(degree: int, window: int) -> None:
    random = np.random.default_rng(1)
    t = np.cumsum(random.uniform(0.01, 0.03, 60))
    x = 0.3 * np.sin(2 * t) + random.normal(size=60) * 1e-3
    chosen = BaseVelocity(degree=degree, window=window)
    plain, shifted = (LocalPoly(chosen).run(t + start, along_x(t, x))["velocity"][-1, 0] for start in (0.0, 1.7e9))
    u = t[-window:] - t[-1]
    known = np.polyval(np.polyder(np.polyfit(u, x[-window:], degree)), 0.0)
    assert plain == pytest.approx(known, abs=1e-9)
    assert shifted == pytest.approx(known, abs=1e-4)


@needs("pynumdiff")
def test_the_filter_is_the_textbooks() -> None:
    kalman_filter = library("pynumdiff").kalman_filter
    random = np.random.default_rng(2)
    t = np.cumsum(random.uniform(0.01, 0.03, 200))
    x = 0.3 * np.sin(1.6 * t) + random.normal(size=200) * 1e-3
    p = BaseVelocity(noise_m=1e-3, gate=20)
    A, Q = np.zeros((199, 3, 3)), np.zeros((199, 3, 3))
    for i, d in enumerate(np.diff(t)):
        A[i] = [[1, d, d * d / 2], [0, 1, d], [0, 0, 1]]
        rows = [[d**5 / 20, d**4 / 8, d**3 / 6], [d**4 / 8, d**3 / 3, d**2 / 2], [d**3 / 6, d**2 / 2, d]]
        Q[i] = p.agility_m2_s5 * np.array(rows)
    # begun from the first sample: a most uncertain position, corrected once
    P0 = np.diag([1e2, p.most_speed_m_s**2, p.agility_m2_s5])
    post = kalman_filter(x, np.array([x[0], 0, 0]), P0, A, Q, np.array([[1.0, 0, 0]]), np.array([[1e-6]]), save_P=False)
    ours = CAKalman(p).run(t, along_x(t, x))
    assert ours["velocity"][:, 0] == pytest.approx(post[:, 1], abs=2e-5)
    assert ours["acceleration"][:, 0] == pytest.approx(post[:, 2], abs=2e-4)


@needs("pynumdiff")
def test_the_filter_ends_where_a_smoother_of_another_library_ends() -> None:
    rtsdiff = library("pynumdiff").rtsdiff
    random = np.random.default_rng(3)
    t = np.arange(500) * 0.02
    x = 0.3 * np.sin(1.6 * t) + random.normal(size=500) * 1e-3
    p = BaseVelocity(noise_m=1e-3)
    smooth = rtsdiff(x, 0.02, order=2, log_qr_ratio=math.log10(p.agility_m2_s5 / p.noise_m**2))[1][-1]
    assert CAKalman(p).run(t, along_x(t, x))[-1].velocity[0] == pytest.approx(smooth, abs=1e-4)


def test_the_filters_own_standard_deviation_is_about_right() -> None:
    t, off, sigma = np.arange(2000) * 0.01, [], 0.0
    for seed in range(20):
        random = np.random.default_rng(seed)
        # jerk that is white noise of the density that the filter expects
        a = np.cumsum(random.normal(size=2000)) * math.sqrt(0.8 * 0.01)
        v = np.cumsum(a) * 0.01
        x = np.cumsum(v - 0.5 * 0.01 * a) * 0.01
        said = CAKalman().run(t, along_x(t, x + random.normal(size=2000) * 1e-3))
        off.append(said["velocity"][200:, 0] - v[200:])
        sigma = said["sigma"][-1, 0]
    assert 0.9 < np.sqrt(np.mean(np.square(off))) / sigma < 1.1


# ---- frames --------------------------------------------------------------------------------------------------------


@kinds
def test_the_heading_may_pass_the_half_turn_many_times(kind: type[Estimator]) -> None:
    t = np.arange(0.0, 30.0, 0.02)
    heading = 1.1 * t
    poses = np.stack([0 * t, 0 * t, np.mod(heading + math.pi, 2 * math.pi) - math.pi], 1)
    said = kind().run(t, poses)
    assert said["omega"][50:] == pytest.approx(1.1, abs=1e-3)
    assert said["pose"][-1, 2] == pytest.approx(heading[-1], abs=1e-3)


@kinds
@pytest.mark.parametrize("heading", [0.0, math.pi / 4, -2.0])
def test_what_a_differential_drive_cannot_do_is_told(kind: type[Estimator], heading: float) -> None:
    t = np.arange(0.0, 3.0, 0.02)
    said = kind().run(t, np.stack([0.5 * t, 0 * t, 0 * t + heading], 1))[-1]
    assert said.v == pytest.approx(0.5 * math.cos(heading), abs=1e-3)
    assert said.lateral == pytest.approx(-0.5 * math.sin(heading), abs=1e-3)


@given(st.floats(-1e6, 1e6))
def test_a_wrapped_angle_is_the_same_angle(angle: float) -> None:
    short = wrapped(angle)
    assert -math.pi <= short <= math.pi
    assert math.cos(short) == pytest.approx(math.cos(angle), abs=1e-8)
    assert math.sin(short) == pytest.approx(math.sin(angle), abs=1e-8)


# ---- faults --------------------------------------------------------------------------------------------------------

T = np.arange(200) * 0.02
DRIVE = along_x(T, 0.4 * T)


@kinds
def test_a_stamp_that_repeats_changes_nothing(kind: type[Estimator]) -> None:
    estimator = kind()
    before = estimator.run(T, DRIVE)[-1].copy()
    for later in (0.0, 5e-7, -5e-7):
        again = estimator.update(T[-1] + later, (9.0, 9.0, 1.0))
        assert again.status == IGNORED
        assert again.velocity.tolist() == before.velocity.tolist()


@kinds
@pytest.mark.parametrize("stamp", [math.nan, math.inf, -math.inf])
def test_a_stamp_that_is_no_number_changes_nothing(kind: type[Estimator], stamp: float) -> None:
    estimator = kind()
    estimator.run(T, DRIVE)
    assert estimator.update(stamp, (0.0, 0.0, 0.0)).status == IGNORED
    assert estimator.update(T[-1] + 0.02, (0.4 * (T[-1] + 0.02), 0, 0)).v == pytest.approx(0.4, abs=1e-2)


@kinds
def test_a_gap_of_more_than_a_second_starts_anew(kind: type[Estimator]) -> None:
    estimator = kind()
    estimator.run(T, DRIVE)
    said = estimator.update(T[-1] + 1.2, (7.0, 3.0, 1.0))
    assert said.status == RESET
    assert said.velocity.tolist() == [0.0, 0.0, 0.0]


@kinds
def test_after_a_second_without_numbers_nothing_is_known(kind: type[Estimator]) -> None:
    estimator = kind()
    estimator.run(T, 0.5 * T[:, None] ** 2 * [1.0, 0.0, 0.0])  # it speeds up
    for k in range(1, 200):
        said = estimator.update(T[-1] + 0.02 * k, (math.nan, 0.0, 0.0))
        assert abs(said.v) < T[-1] + 1.1  # it may be guessed for a second
        assert k < 55 or said.velocity.tolist() == [0.0, 0.0, 0.0]
        assert k < 55 or said.status in (LOST, RESET)
    assert estimator.update(T[-1] + 4.0, (2.0, 0.0, 0.0)).v == 0.0


@kinds
def test_a_clock_that_is_set_back_does_not_end_the_estimation(kind: type[Estimator]) -> None:
    estimator = kind()
    estimator.run(T + 1000.0, DRIVE)
    assert estimator.run(T, DRIVE)[-1].v == pytest.approx(0.4, abs=1e-3)
    assert estimator.run(T - 0.5 + T[-1], DRIVE)[-1].v == pytest.approx(0.4, abs=1e-3)  # by less than the gap


def test_the_filter_coasts_over_what_is_no_number_and_the_stencil_starts_anew() -> None:
    for kind, status, v in ((CAKalman, COASTING, 0.4), (Stencil, RESET, 0.0), (LocalPoly, RESET, 0.0)):
        estimator = kind()
        estimator.run(T, DRIVE)
        said = estimator.update(T[-1] + 0.02, (math.nan, 0.0, 0.0))
        assert said.status == status
        assert said.v == pytest.approx(v, abs=5e-3)


@kinds
def test_one_outlier_is_left_out(kind: type[Estimator]) -> None:
    poses = DRIVE.copy()
    poses[150, 0] += 0.05
    said = kind(BaseVelocity(noise_m=1e-4, noise_rad=1e-4)).run(T, poses)
    assert said[150].status == COASTING
    assert said["v"][50:] == pytest.approx(0.4, abs=5e-3)


@kinds
def test_a_new_trajectory_is_believed_and_gives_no_leap_of_velocity(kind: type[Estimator]) -> None:
    poses = DRIVE.copy()
    poses[100:, 0] += 0.5
    said = kind(BaseVelocity(noise_m=1e-4, noise_rad=1e-4)).run(T, poses)
    assert RESET in said["status"][100:105]
    assert np.abs(said["v"]).max() < 0.5
    assert said["v"][110:] == pytest.approx(0.4, abs=5e-3)


def test_late_stamps_are_made_regular_and_true_ones_are_left_alone() -> None:
    random = np.random.default_rng(5)
    t = np.arange(1500) * 0.02
    late = t + random.uniform(-0.004, 0.004, len(t))
    keep = random.uniform(size=len(t)) > 0.02  # lost samples do not shift the count
    drive = along_x(t, 0.3 * np.sin(1.6 * t))[keep]
    truth = 0.48 * np.cos(1.6 * t)[keep]
    rms = {}
    for kind in ("true", "late"):
        said = CAKalman(validated(BaseVelocity, {"noise_m": 1e-4, "noise_rad": 1e-4, "stamps": kind}))
        rms[kind] = np.sqrt(np.mean((said.run(late[keep], drive)["velocity"][:, 0] - truth)[100:] ** 2))
    assert rms["late"] < 0.008
    assert rms["true"] > 5 * rms["late"]


sample = st.floats(allow_nan=True, allow_infinity=True)
tame = st.floats(-5, 5)


@examples(60)
@given(st.lists(st.tuples(st.one_of(sample, st.floats(0, 3)), st.one_of(sample, tame), tame, tame), max_size=40))
def test_whatever_comes_in_a_velocity_is_a_number(samples: list[tuple[float, float, float, float]]) -> None:
    for kind in KINDS:
        estimator = kind()
        for t, x, y, heading in samples:
            if abs(x) > 1e100 and math.isfinite(x):
                continue  # squares of these are no numbers in any filter
            said = estimator.update(t, (x, y, heading))
            assert np.isfinite(said.velocity).all()
            assert math.isfinite(said.v)


def test_poses_of_the_wrong_shape_and_settings_out_of_bounds_are_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        CAKalman().run([0.0, 0.1], [[0.0, 0.0]])
    with pytest.raises(InputError, match="stamps_s"):
        CAKalman().run(["soon"], [(0.0, 0.0, 0.0)])
    with pytest.raises(InputError, match="noise_m is -1"):
        validated(BaseVelocity, {"noise_m": -1})
    assert len(CAKalman().run([], np.zeros((0, 3)))) == 0


def test_samples_one_by_one_are_samples_together() -> None:
    poses = DRIVE + np.random.default_rng(6).normal(size=DRIVE.shape) * 1e-3
    for kind in KINDS:
        one, many = kind(), kind().run(T, poses)
        for i, t in enumerate(T):
            last = one.update(t, poses[i])
        assert last.velocity.tolist() == many[-1].velocity.tolist()  # pyright: ignore[reportPossiblyUnboundVariable]
        assert last.status == VALID  # pyright: ignore[reportPossiblyUnboundVariable]


PROGRAM = """
import numpy as np
from pliant.mobile.velocity.estimators import CAKalman, LocalPoly, Stencil
from pliant.mobile.base.base_params import BaseVelocity
random = np.random.default_rng(7)
t = np.arange(60) * 0.02 + random.uniform(-4e-3, 4e-3, 60)
poses = np.stack([np.sin(t), np.cos(t), 3 * t], 1) + random.normal(size=(60, 3)) * 1e-3
for kind, stamps in ((CAKalman, "late"), (CAKalman, "true"), (LocalPoly, "late"), (Stencil, "true")):
    print(kind(BaseVelocity(stamps=stamps)).run(t, poses)["velocity"].tolist())
"""


@pytest.mark.slow
def test_without_compilation_the_numbers_are_the_same() -> None:
    def said(disable: str) -> str:
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disable}
        line = [sys.executable, "-c", PROGRAM]
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout

    compiled, plain = ([float(x) for x in said(d).replace("[", " ").replace("]", " ").replace(",", " ").split()]
                       for d in "01")  # fmt: skip
    assert np.array(plain) == pytest.approx(np.array(compiled), rel=1e-9, abs=1e-12)
    assert KALMAN == 200
