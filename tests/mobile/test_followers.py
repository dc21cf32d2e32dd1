"""Following paths: in closed loop, with everything that odometry and a path can do to a follower."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.mobile.base.base_params import Base, Follow, Footprint, Pursuit
from pliant.mobile.base.kinematic_base import KinematicBase, KinematicConfig
from pliant.mobile.following.drive_limits import (
    BLOCKED,
    DONE,
    DRIVING,
    LOST,
    NO_NUMBER,
    STALE,
    STOPPING,
    TURNING,
    TWIST,
    limited,
)
from pliant.mobile.following.followers import Follower, PathFollower, RegulatedPurePursuit
from pliant.mobile.following.track import track_of
from pliant.mobile.planning.base_path import Path, reeds_shepp_path
from pliant.mobile.planning.free_space import prepared
from pliant.mobile.planning.grid import grid_of
from pliant.params.packing import to_record
from pliant_experiments.mobile.follow_runs import cusp_path, drive, smooth_path

STRAIGHT = Path((0.0, 0.0, 0.0), np.array([[0.0, 4.0]]))
IDEAL = KinematicConfig(
    delay_s=0.0, lag_s=1e-3, turn_lag_s=1e-3, age_s=0.0, noise_m=0.0, noise_rad=0.0, noise_m_s=0.0, noise_rad_s=0.0
)
kinds = pytest.mark.parametrize("kind", [PathFollower, RegulatedPurePursuit], ids=lambda kind: kind.__name__)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path_of", [smooth_path, cusp_path])
def test_a_path_is_followed_within_millimetres_and_ends_where_it_ends(path_of: Any, seed: int) -> None:
    run = drive(PathFollower(path_of(seed)), seed)
    assert run.done
    assert run.rms_m < 0.007
    distance, turn = run.end_error
    assert distance < 0.010
    assert math.degrees(turn) < 0.5


def test_without_lag_and_noise_hardly_anything_is_left() -> None:
    run = drive(PathFollower(smooth_path(1), Base(delay_s=0.0)), 1, IDEAL)
    assert run.rms_m < 0.003


@kinds
def test_a_way_back_is_driven_backwards(kind: type[Follower]) -> None:
    path = reeds_shepp_path((0, 0, 0), (-2.0, 0.0, 0.0), 0.5)
    run = drive(kind(path), 0)
    assert run.done
    assert run.command[:, 0].max() <= 0.0
    assert run.command[:, 0].min() >= -Base().backward_m_s - 1e-12
    assert run.end_error[0] < 0.02


@kinds
def test_at_a_cusp_the_base_comes_to_rest(kind: type[Follower]) -> None:
    path = Path((0.0, 0.0, 0.0), np.array([[1.0, 1.0], [-1.0, -1.0], [0.0, 0.5]]))
    run = drive(kind(path), 0)
    assert run.done
    turns = np.flatnonzero(np.diff(np.sign(run.v[np.abs(run.v) > 0.005])))
    assert len(turns) == 2
    assert (run.state == STOPPING).sum() > 3


@kinds
def test_a_heading_that_is_far_off_is_turned_away_before_driving(kind: type[Follower]) -> None:
    follower, base = kind(STRAIGHT), KinematicBase((0.0, 0.0, 2.5), IDEAL)
    states, far = [], 0.0
    for _ in range(900):
        pose, v, omega, age = base.odometry()
        said = follower.update(pose, v, omega, age_s=age)
        base.command(said.v, said.omega)
        base.advance(0.02)
        states.append(int(said.state))
        if said.state == TURNING and DRIVING not in states:
            far = max(far, math.hypot(*base.pose[:2]))
    assert states[0] == TURNING
    assert far < 1e-3
    assert states[-1] == DONE
    assert base.pose == pytest.approx([4.0, 0.0, 0.0], abs=0.02)


@kinds
def test_a_base_that_stands_at_the_end_is_not_turned(kind: type[Follower]) -> None:
    follower = kind(STRAIGHT)
    said = follower.update((4.0, 0.0, 0.0), 0.0, 0.0)
    for _ in range(50):
        said = follower.update((4.0, 0.0, 0.0), 0.0, 0.0)
        assert math.isfinite(said.omega)
    assert (said.v, said.omega) == (0.0, 0.0)


@kinds
@pytest.mark.parametrize(
    ("pose", "v", "age", "state"),
    [
        ((math.nan, 0.0, 0.0), 0.3, 0.0, NO_NUMBER),
        ((0.5, 0.0, math.inf), 0.3, 0.0, NO_NUMBER),
        ((0.5, 0.0, 0.0), math.nan, 0.0, NO_NUMBER),
        ((0.5, 0.0, 0.0), 0.3, math.nan, NO_NUMBER),
        ((0.5, 0.0, 0.0), 0.3, 0.5, STALE),
        ((0.5, 0.0, 0.0), 0.3, -0.5, STALE),
        ((0.5, 2.0, 0.0), 0.3, 0.0, LOST),
    ],
)
def test_odometry_that_cannot_be_used_brakes_within_the_limits_and_driving_goes_on_after(
    kind: type[Follower], pose: Any, v: float, age: float, state: int
) -> None:
    follower = kind(STRAIGHT)
    for k in range(50):
        fast = follower.update((0.01 * k, 0.0, 0.0), 0.3, 0.0).v
    before = float(fast)  # pyright: ignore[reportPossiblyUnboundVariable]
    assert before > 0.3
    for _ in range(60):
        said = follower.update(pose, v, 0.0, age_s=age)
        assert said.state == state
        assert 0.0 <= before - said.v <= 1.8 * 0.02 + 1e-9
        before = float(said.v)
    assert before == 0.0
    assert follower.update((0.5, 0.0, 0.0), 0.0, 0.0).state == DRIVING


def test_pure_pursuit_stops_before_an_obstacle() -> None:
    cells = np.zeros((60, 80), bool)
    cells[25:35, 50:55] = True
    space = prepared(grid_of(cells, 0.1, (-2.0, -3.0)), Footprint())
    follower, base = RegulatedPurePursuit(STRAIGHT, space=space), KinematicBase((0.0, 0.0, 0.0), IDEAL)
    for _ in range(500):
        pose, v, omega, age = base.odometry()
        said = follower.update(pose, v, omega, age_s=age)
        base.command(said.v, said.omega)
        base.advance(0.02)
    assert said.state == BLOCKED  # pyright: ignore[reportPossiblyUnboundVariable]
    assert base.speeds[0] == pytest.approx(0.0, abs=1e-6)
    assert base.pose[0] + 0.36 < 3.0


@pytest.mark.parametrize(("wall_m", "speed_m_s"), [(0.5, 0.21), (0.7, 0.443), (1.2, 0.7)])
def test_pure_pursuit_slows_down_beside_a_wall_by_how_near_it_is(wall_m: float, speed_m_s: float) -> None:
    cells = np.zeros((60, 160), bool)
    cells[round(10 * (3.0 + wall_m)) :, 40:100] = True  # beside the lane, from x = 2 m to 8 m
    space = prepared(grid_of(cells, 0.1, (-2.0, -3.05)), Footprint())
    run = drive(RegulatedPurePursuit(Path((0.0, 0.0, 0.0), np.array([[0.0, 10.0]])), space=space), 0, IDEAL)
    assert run.done
    assert run.v.max() == pytest.approx(Pursuit().speed_m_s, rel=1e-3)
    # 0.32 m are the base and its margin, and from 0.6 m of room on it slows down
    assert run.v[(run.pose[:, 0] > 3.5) & (run.pose[:, 0] < 7.0)] == pytest.approx(speed_m_s, abs=1e-3)


def test_speeding_up_keeps_the_curvature_and_braking_is_not_delayed() -> None:
    base, twist = to_record(Base()), TWIST.new()
    for _ in range(100):
        limited(base[0], 0.6, 0.9, 0.02, twist[0])
        assert twist[0].omega == pytest.approx(1.5 * twist[0].v, rel=1e-9)
    ticks = 0
    while twist[0].v > 0:
        limited(base[0], 0.0, 0.0, 0.02, twist[0])
        assert twist[0].omega == pytest.approx(1.5 * twist[0].v, abs=1e-9)
        ticks += 1
    assert ticks == math.ceil(0.6 / 1.8 / 0.02 - 1e-9)


def test_the_speed_allowed_brakes_in_time_and_respects_curves() -> None:
    path = Path((0.0, 0.0, 0.0), np.array([[0.0, 3.0], [2.0, 1.0], [0.0, 1.0]]))
    points = track_of(path, Base(), Follow()).points
    v, step = points["speed"], 5.0 / (len(points) - 1)
    assert v[-1] == 0.0
    # half of 1.8 m/s² is what stops are planned with
    assert (np.diff(v**2) >= -2 * 0.9 * step - 1e-9).all()
    bend = points["curvature"] > 0
    assert (v[bend] ** 2 * 2.0 <= 1.0 + 1e-9).all()


def test_a_path_without_length_and_a_period_of_none_are_refused() -> None:
    with pytest.raises(InputError, match="no length"):
        PathFollower(Path((0.0, 0.0, 0.0), np.zeros((0, 2))))
    with pytest.raises(InputError, match="dt is 0"):
        PathFollower(STRAIGHT).update((0, 0, 0), 0, 0, dt=0.0)
    with pytest.raises(InputError, match="pose"):
        PathFollower(STRAIGHT).update((0, 0), 0, 0)
    with pytest.raises(InputError, match="arcs"):
        Path((0.0, 0.0, 0.0), np.array([[math.nan, 1.0]]))


def test_the_simulated_base_lags_as_declared() -> None:
    base = KinematicBase((0.0, 0.0, 0.0), KinematicConfig(delay_s=0.1, lag_s=0.2))
    base.command(1.0, 0.0)
    base.advance(0.1)
    assert abs(base.speeds[0]) < 0.02
    base.advance(0.2)
    assert base.speeds[0] == pytest.approx(1 - math.exp(-1), abs=0.01)
