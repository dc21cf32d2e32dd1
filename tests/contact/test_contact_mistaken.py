"""What is no slope, no surface and no friction: a surface that moves, a light hand or an offset, a wall in the way."""

from __future__ import annotations

import numpy as np
import pytest
from point_robot import DT, PointRobot

from pliant.control.laws.contact.contact_states import DONE, FAULT, FORCE_LIMIT, GAVE_WAY, SLIDE

STIFF = 2e4


def off_deg(robot: PointRobot) -> float:
    """Angle between the learned normal and the way that the tool came [deg]."""
    return float(np.degrees(np.arccos(np.clip(-robot.contact.approach @ robot.contact.normal, -1.0, 1.0))))


def test_a_surface_that_moves_under_the_sliding_tool_is_not_taken_for_a_slope() -> None:
    robot = PointRobot(STIFF, dwell_s=0.2, length_m=0.06)
    robot.friction = 0.3
    robot.begin().until(SLIDE)
    robot.tick(600)
    steepest, start = 0.0, len(robot.pressed)
    for i in range(6000):
        robot.height = 0.005 * (np.cos(2 * np.pi * 0.2 * i * DT) - 1.0)
        robot.tick()
        if robot.contact.state != SLIDE:
            break
        steepest = max(steepest, off_deg(robot))
    robot.until(DONE)  # before it was a fault: 55°, and 19 N
    assert steepest < 20.0
    assert max(robot.pressed[start:]) < 1.5 * robot.p.target_n


def test_an_unknown_slope_along_the_path_is_still_learned_under_friction() -> None:
    for slope in (20.0, -20.0):
        robot = PointRobot(STIFF, slope=np.radians(slope), dwell_s=0.2, band_n=0.5)
        robot.friction = 0.3
        robot.begin().until(SLIDE)
        robot.tick(1500)
        assert off_deg(robot) == pytest.approx(20.0, abs=2.0)


@pytest.mark.parametrize(("stiffness", "lag_s"), [(STIFF, 0.046), (1e5, 0.021), (1e5, 0.046)])
@pytest.mark.parametrize("lifts_n", [1.0, 3.0])
def test_a_hand_lighter_than_the_target_is_not_pressed_through_onto_the_surface_below(
    stiffness: float, lag_s: float, lifts_n: float
) -> None:
    robot = PointRobot(stiffness, lag_s=lag_s, gap=0.003).begin()
    robot.tick(50)
    robot.push[2] = lifts_n
    robot.tick(3000)
    assert max(robot.pressed) < 1.5 * robot.p.peak_n  # before: up to 45 N
    assert robot.contact.reason != FORCE_LIMIT


def test_an_offset_is_noticed_as_soon_with_a_high_force_limit() -> None:
    robot = PointRobot(0.0, gap=0.5, force_limit_n=200.0).begin()
    robot.tick(50)
    robot.push[2] = 2.0
    before = robot.s.pose[2]
    robot.until(FAULT)
    assert robot.contact.reason == GAVE_WAY
    assert before - robot.s.pose[2] < 0.03  # before: 0.2 m


def test_a_wall_that_was_run_into_does_not_bar_the_lift_off_by_the_force_of_the_lag() -> None:
    robot = PointRobot(STIFF, lag_s=0.046, dwell_s=0.2, length_m=0.05).begin()
    robot.until(SLIDE)
    robot.tick(500)
    wall, hardest = robot.x[0] + 0.002, 0.0
    for _ in range(3000):
        press = 6e4 * max(0.0, robot.x[0] - wall)
        if robot.contact.state == FAULT and robot.s.pose[2] > 0.01:
            press = 0.0  # it is over the top of the wall
        robot.push[:] = (-press, 0.0, -0.2 * press if robot.o.twist[2] > 1e-4 else 0.0)  # it rubs on it
        hardest = max(hardest, press)
        robot.tick()
    assert hardest > 1.5 * robot.p.force_limit_n  # the lag: it grows after the fault
    assert (robot.contact.state, robot.contact.reason, robot.contact.lifted) == (FAULT, FORCE_LIMIT, 1)
    assert robot.s.pose[2] > 0.9 * robot.p.retract_m  # before, it was left pressed against the wall
    assert robot.pressed[-1] == 0.0


def test_a_stiffness_that_was_learned_by_mistake_while_sliding_is_forgotten() -> None:
    robot = PointRobot(STIFF, dwell_s=0.2, length_m=0.06).begin()
    robot.until(SLIDE)
    robot.tick(200)
    assert robot.contact.stiffness == pytest.approx(STIFF, rel=0.1)
    robot.contact.stiffness = 4.0 * STIFF
    robot.tick(1000)  # 2 s, in which the force shows nothing of it
    assert robot.contact.stiffness == pytest.approx(STIFF, rel=0.5)
    assert robot.contact.state == SLIDE
