"""Force law, surface and path: stable for the gain it chooses, stiffness learned, friction taken off with its sign."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from point_robot import DT, PointRobot

from pliant.control.laws.contact import force_law, surface_estimate, surface_path
from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.contact_states import DONE, DWELL, SLIDE
from pliant.control.parameters import Parameters, record_of
from pliant.params.declare import changed


def parameters(**values: object) -> Contact:
    named = {f"contact.{name}": value for name, value in values.items()}
    return record_of(changed(Parameters(), named))[0].contact


def settled(robot: PointRobot) -> float:
    """Time from first touch until the force stays within 5 % [s]."""
    pressed = np.array(robot.pressed)
    touched = int(np.argmax(pressed > 0.0))
    off = np.flatnonzero(np.abs(pressed - robot.p.target_n) > 0.05 * robot.p.target_n)
    return (int(off[-1]) - touched) * DT


# ---- contact that settles ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["pi", "mass"])
@pytest.mark.parametrize("stiffness", [1e3, 5e3, 2e4, 1e5])
def test_contact_settles_without_a_bounce_on_every_stiffness(stiffness: float, law: str) -> None:
    robot = PointRobot(stiffness, law=law, dwell_s=1.5).begin()
    robot.until(DWELL)
    robot.tick(600)
    assert max(robot.pressed) < 7.5
    assert robot.contact.losses == 0
    assert settled(robot) < 1.0


@pytest.mark.parametrize("stiffness", [1e3, 5e3, 2e4, 1e5])
def test_the_stiffness_is_learned_at_the_first_touch(stiffness: float) -> None:
    robot = PointRobot(stiffness, dwell_s=1.0).begin()
    robot.until(SLIDE)
    assert robot.contact.stiffness == pytest.approx(stiffness, rel=0.25)


def test_gain_times_stiffness_times_lag_is_the_declared_margin() -> None:
    robot = PointRobot(2e4, dwell_s=1.0).begin()
    robot.until(SLIDE)
    assert robot.contact.gain * robot.contact.bound * robot.p.lag_s == pytest.approx(robot.p.margin, rel=0.1)


def test_a_gain_beyond_the_limit_of_gain_stiffness_and_lag_does_not_settle() -> None:
    # what the rule protects from: pi/2 is the limit for a pure lag; here a tenth of the lag is declared
    robot = PointRobot(1e5, lag_s=0.05, dwell_s=0.5)
    robot.p.lag_s = 0.005
    robot.begin()
    robot.tick(1500)
    assert max(robot.pressed) > 2 * robot.p.peak_n


def test_the_approach_is_slower_for_a_stiffer_surface_and_a_longer_lag() -> None:
    slow = parameters(stiffness_max_n_m=1e5, lag_s=0.05, approach_m_s=0.5)
    quick = parameters(stiffness_max_n_m=1e5, lag_s=0.025, approach_m_s=0.5)
    soft = parameters(stiffness_max_n_m=1e4, lag_s=0.05, approach_m_s=0.5)
    assert force_law.approach_speed(quick) == pytest.approx(2 * force_law.approach_speed(slow))
    assert force_law.approach_speed(soft) == pytest.approx(10 * force_law.approach_speed(slow))
    # peak = v k T
    assert force_law.approach_speed(slow) * 1e5 * 0.05 <= slow.peak_n


def test_a_declared_height_is_crossed_fast_and_braked_before_its_end() -> None:
    robot = PointRobot(2e4, gap=0.05, height_m=0.045).begin()
    speeds = []
    while robot.contact.state != DWELL:
        robot.tick()
        speeds.append(-robot.s.twist[2])
    assert max(speeds) == pytest.approx(robot.p.free_m_s)
    assert speeds[-2] == pytest.approx(force_law.approach_speed(robot.p))
    assert max(robot.pressed) < 7.5


@pytest.mark.parametrize("slope_deg", [20.0, -20.0])
def test_an_unknown_slope_is_learned_while_sliding(slope_deg: float) -> None:
    robot = PointRobot(2e4, slope=math.radians(slope_deg), dwell_s=0.3, length_m=0.03).begin()
    robot.until(SLIDE)
    began = len(robot.pressed)
    robot.tick(1000)
    assert_allclose(robot.contact.normal, robot.n, atol=0.02)
    assert np.abs(np.array(robot.pressed[began:]) - 5.0).max() < 2.5
    robot.until(DONE)


def test_what_a_limit_left_in_the_integral_does_not_stay_as_an_error_of_the_force() -> None:
    robot = PointRobot(1e3, dwell_s=600.0).begin()
    robot.until(DWELL)
    robot.tick(500)
    robot.contact.integral = -0.002
    robot.tick(1000)
    assert robot.pressed[-1] == pytest.approx(robot.p.target_n, rel=0.01)


@pytest.mark.parametrize("feed_forward", ["none", "surface"])
def test_a_surface_that_moves_steadily_leaves_no_error(feed_forward: str) -> None:
    robot = PointRobot(2e4, dwell_s=600.0, feed_forward=feed_forward).begin()
    robot.until(DWELL)
    robot.tick(500)
    for i in range(2000):
        robot.height = -0.001 * i * DT
        robot.tick()
    assert robot.pressed[-1] == pytest.approx(robot.p.target_n, rel=0.01)


# ---- stiffness that is not fooled ----------------------------------------------------------------------------------


def test_a_surface_that_moves_does_not_look_soft() -> None:
    robot = PointRobot(2e4, dwell_s=600.0).begin()
    robot.until(DWELL)
    robot.tick(500)
    known = float(robot.contact.stiffness)
    for i in range(2000):
        robot.height = 0.002 * (math.cos(2 * math.pi * 0.5 * i * DT) - 1.0)
        robot.tick()
    assert robot.contact.stiffness == pytest.approx(known, rel=0.1)


def test_a_surface_that_becomes_ten_times_stiffer_is_noticed_before_the_loop_swings() -> None:
    robot = PointRobot(2e3, dwell_s=600.0, lag_s=0.04).begin()
    robot.until(DWELL)
    robot.tick(700)
    random, worst = np.random.default_rng(2), 0.0
    for i in range(3000):
        depth = robot.pressed[-1] / robot.stiffness
        robot.stiffness = 2e3 * 10 ** min(1.0, i / 500)
        robot.height += robot.pressed[-1] / robot.stiffness - depth  # as stiff as that, it gives way less
        robot.push[2] = 0.02 * random.normal()
        robot.tick()
        worst = max(worst, abs(robot.pressed[-1] - robot.p.target_n))
    assert robot.contact.losses == 0
    assert worst < 2.5
    assert robot.contact.bound < robot.p.stiffness_max_n_m
    assert np.std(robot.pressed[-500:]) < 0.1


def pressed_in_turns(robot: PointRobot, seconds: float) -> None:
    """Hold a force that someone changes by ±4 N eight times a second."""
    held = float(robot.p.target_n)
    for i in range(round(seconds / DT)):
        robot.p.target_n = held + 4.0 * math.sin(2 * math.pi * 8.0 * i * DT)
        robot.tick()
    robot.p.target_n = held


@pytest.mark.parametrize("damping", [100.0, 300.0])
def test_a_surface_that_begins_to_damp_is_learned_where_it_is_pressed_in_turns(damping: float) -> None:
    robot = PointRobot(2e4, dwell_s=600.0, soft_start_s=0.05).begin()
    robot.until(DWELL)
    robot.tick(500)
    robot.damping = damping
    pressed_in_turns(robot, 4.0)
    # the motion follows from the command and the declared lag: 1 ms of error looks like a damping of k × 1 ms
    assert robot.contact.damping == pytest.approx(damping, abs=0.1 * damping + 2e4 * 1e-3)
    assert robot.contact.stiffness > 0.95 * 2e4  # it may be taken for stiffer, never for softer


@pytest.mark.parametrize("what", ["rest", "noise", "motion"])
def test_what_is_no_damping_teaches_none(what: str) -> None:
    robot = PointRobot(2e4, dwell_s=600.0).begin()
    robot.until(DWELL)
    robot.tick(500)
    known, random = float(robot.contact.damping), np.random.default_rng(4)
    for i in range(2000):
        if what == "noise":
            robot.push[2] = 0.02 * random.normal()
        if what == "motion":
            robot.height = 0.002 * (math.cos(2 * math.pi * 0.5 * i * DT) - 1.0)
        robot.tick()
    assert robot.contact.damping == pytest.approx(known, abs=5.0)


# ---- friction ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.1, 0.3, 0.8])
def test_taking_friction_off_leaves_the_normal_force(mu: float) -> None:
    n, t, out = np.array([0, 0, 1.0]), np.array([1.0, 0, 0]), np.zeros(3)
    felt = 5.0 * n - mu * 5.0 * t  # environment on robot: friction acts against the motion
    surface_estimate.friction_free(felt, t, mu, n, out)
    assert_allclose(out, 5.0 * n, atol=1e-12)
    # the other sign adds it once more: a tilt of atan 2 mu, 58 degrees at 0.8
    surface_estimate.friction_free(felt, -t, mu, n, out)
    assert math.atan2(-out[0], out[2]) == pytest.approx(math.atan(2 * mu))


# ---- paths ---------------------------------------------------------------------------------------------------------


def walked(p: Contact, n: np.ndarray, step: float = 1e-5) -> np.ndarray:
    t, at, rows = np.zeros(3), np.zeros(3), []
    for i in range(round(surface_path.length(p) / step)):
        surface_path.direction(p, i * step, n, t)
        assert abs(t @ n) < 1e-9
        assert np.linalg.norm(t) == pytest.approx(1.0)
        at = at + step * t
        rows.append(at)
    return np.array(rows)


def test_a_straight_path_stays_in_the_tangent_plane_and_has_its_length() -> None:
    n = np.array([0.0, math.sin(0.3), math.cos(0.3)])
    way = walked(parameters(path="straight", length_m=0.02, heading=(0.0, 1.0, 0.0)), n)
    assert_allclose(way[-1], 0.02 * np.array([0, math.cos(0.3), -math.sin(0.3)]), atol=1e-6)


def test_the_turns_of_a_spiral_are_a_pitch_apart() -> None:
    way = walked(parameters(path="spiral", length_m=0.3, pitch_m=0.004), np.array([0, 0, 1.0]))
    radius, turn = np.hypot(way[:, 0], way[:, 1]), np.unwrap(np.arctan2(way[:, 1], way[:, 0]))
    late = turn > 2 * math.pi
    assert np.polyfit(turn[late] / (2 * math.pi), radius[late], 1)[0] == pytest.approx(0.004, rel=0.03)


def test_a_raster_covers_its_rectangle() -> None:
    way = walked(parameters(path="raster", length_m=0.02, pitch_m=0.003, width_m=0.009), np.array([0, 0, 1.0]))
    assert np.ptp(way[:, 0]) == pytest.approx(0.02, abs=1e-4)
    assert np.ptp(way[:, 1]) == pytest.approx(0.009, abs=1e-4)
    assert len(way) * 1e-5 == pytest.approx(4 * 0.02 + 3 * 0.003, abs=1e-4)


# ---- what a recording shows of the law -----------------------------------------------------------------------------


def test_the_law_tells_what_it_wanted_before_its_own_limit() -> None:
    robot = PointRobot(1e3, dwell_s=1.0, press_m_s=0.0005).begin()
    robot.tick(50)
    assert robot.contact.wanted == robot.contact.asked > 0.0  # it seeks: this limit is for contact
    robot.until(DWELL)
    robot.tick(20)
    assert robot.contact.asked == pytest.approx(0.0005)
    assert robot.contact.wanted > 1.1 * robot.contact.asked


def test_the_damper_of_the_virtual_mass_is_told_and_opposes_its_speed() -> None:
    robot = PointRobot(5e3, law="mass", dwell_s=1.0).begin()
    robot.until(DWELL)
    robot.tick(30)
    assert robot.contact.integral > 0.0
    assert robot.contact.damper_n == pytest.approx(-robot.contact.integral / robot.contact.gain)
    other = PointRobot(5e3, law="pi", dwell_s=1.0).begin()
    other.until(DWELL)
    other.tick(30)
    assert other.contact.damper_n == 0.0
