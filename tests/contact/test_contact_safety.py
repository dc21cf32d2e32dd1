"""What must never happen in contact: press on in a fault, dive on an offset, be deaf while halted, leave pressed."""

from __future__ import annotations

import numpy as np
import pytest
from point_robot import DT, PointRobot

from pliant.control.laws.contact.contact_params import Contact, check_order
from pliant.control.laws.contact.contact_states import (
    ABORT,
    BARRED,
    DONE,
    DWELL,
    FAULT,
    FORCE_LIMIT,
    GAVE_WAY,
    HALT,
    HEADING,
    IDLE,
    LAW,
    LIFTING,
    PAUSED,
    PRELOAD,
    READY,
    RESUME,
    RETRACT,
    SEEK,
    SENSOR,
    SLIDE,
    STUCK,
    TOO_FAR,
)
from pliant.errors import InputError
from pliant.records import FAULT_SENSOR, WRENCH_STALE

STIFF = 2e4


def at(state: int, **values: float) -> PointRobot:
    """A robot that has come to this state by itself."""
    robot = PointRobot(STIFF, dwell_s=0.2, length_m=0.01, **values).begin()
    robot.until(state)
    return robot


# ---- the force limit in a fault ------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [DWELL, RETRACT])
def test_a_lift_off_that_meets_an_obstacle_holds_within_the_force_limit(state: int) -> None:
    robot = at(state)
    if state == DWELL:
        robot.tick(100)
        robot.command("abort")
    shelf, force = robot.x[2] + 0.005, 0.0
    for _ in range(2000):
        robot.push[2] = -STIFF * max(0.0, robot.x[2] - shelf)
        robot.tick()
        force = max(force, -robot.push[2])
    assert (robot.contact.state, robot.contact.lifted) == (FAULT, 1)
    assert robot.contact.reason == (ABORT if state == DWELL else BARRED)
    # what it still gets beyond half the limit is the way during the lag
    assert force < 0.5 * robot.p.force_limit_n + 1.2 * robot.p.retract_m_s * STIFF * robot.p.lag_s
    assert not robot.s.twist.any()
    # and it does not go on clamping whatever is there, nor come back to the surface
    assert -robot.push[2] <= robot.p.touch_n
    assert robot.pressed[-1] == 0.0


def test_a_hook_from_the_side_that_tightens_stops_the_lift_off() -> None:
    robot = at(DWELL)
    robot.tick(100)
    robot.command("abort")
    robot.tick(20)
    start = robot.s.pose[2]
    for _ in range(1000):
        robot.push[0] = 1e4 * max(0.0, robot.s.pose[2] - start)
        robot.tick()
    assert robot.contact.lifted == 1
    assert robot.push[0] < 2.5 * robot.p.force_limit_n


def test_a_surface_that_presses_hard_and_rubs_does_not_keep_a_fault_from_lifting_off() -> None:
    robot = at(SLIDE)
    robot.tick(50)
    robot.height += 0.002  # 40 N
    before = robot.s.pose[2]
    for _ in range(1500):
        press = STIFF * max(0.0, robot.height - robot.x[2])
        robot.push[0] = -0.8 * press
        robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (FAULT, FORCE_LIMIT)
    assert robot.s.pose[2] == pytest.approx(before + robot.p.retract_m, abs=2e-3)


@pytest.mark.parametrize("state", [IDLE, READY, DONE])
@pytest.mark.parametrize("push", [(0.0, 0.0, -25.0), (25.0, 0.0, 0.0), (0.0, 0.0, 25.0)])
def test_too_much_force_on_a_tool_that_is_not_at_work_does_not_move_it(state: int, push: tuple[float, ...]) -> None:
    robot = PointRobot(STIFF, gap=0.002, dwell_s=0.1, length_m=0.002)
    robot.tick()
    if state != IDLE:
        robot.command("set_start")
        robot.tick()
    if state == DONE:
        robot.command("start")
        robot.until(DONE)
        robot.tick(100)
    where = robot.s.pose.copy()
    robot.push[:] = push
    robot.tick(1000)
    assert (robot.contact.state, robot.contact.reason) == (FAULT, FORCE_LIMIT)
    np.testing.assert_array_equal(robot.s.pose, where)


# ---- an offset is no surface ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.6, 1.0, 1.4])
def test_a_start_is_refused_under_an_offset_that_would_count_as_contact(offset: float) -> None:
    robot = PointRobot(1e5, gap=0.2)
    robot.push[2] = offset
    robot.begin()
    assert (robot.contact.state, robot.contact.rejected) != (SEEK, 0)
    robot.tick(1000)
    assert robot.s.pose[2] == 0.2


def test_a_start_works_with_the_noise_of_a_sensor() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        robot = PointRobot(STIFF, gap=0.02)
        for command in ("", "set_start", "", "start"):
            if command:
                robot.command(command)
            for _ in range(1 if command else 25):
                robot.push[:] = random.normal(0.0, 0.1, 3)  # 0.2 N behind the filter of the wrench
                robot.tick()
        assert robot.contact.state == SEEK


@pytest.mark.parametrize("offset", [0.6, 1.0, 2.0])
def test_an_offset_that_comes_later_does_not_lead_far_into_the_air(offset: float) -> None:
    robot = PointRobot(1e5, gap=0.5).begin()
    robot.tick(100)
    start = robot.s.pose[2]
    robot.push[2] = offset
    robot.until(FAULT)
    assert robot.contact.reason == GAVE_WAY
    assert start - robot.s.pose[2] < 1.3 * robot.p.force_limit_n / robot.p.stiffness_min_n_m


def test_the_softest_declared_surface_and_one_that_moves_do_not_count_as_giving_way() -> None:
    robot = PointRobot(1e3, dwell_s=1.0, length_m=0.01).begin()
    robot.until(DWELL)
    for i in range(3000):
        robot.height = 0.005 * np.sin(2 * np.pi * 0.2 * i * DT)
        robot.tick()
    assert robot.contact.reason != GAVE_WAY
    robot.until(DONE)


def test_a_preload_above_the_force_that_counts_as_contact_is_refused_at_the_door() -> None:
    with pytest.raises(InputError, match=r"contact\.preload_n = .* N exceeds contact\.touch_n = 0\.5 N\. Lower"):
        check_order(Contact(preload_n=0.6))
    check_order(Contact())


# ---- the fast phase ------------------------------------------------------------------------------------------------


def test_after_a_spurious_touch_the_tool_is_no_faster_than_an_approach() -> None:
    robot = PointRobot(1e5, lag_s=0.046, gap=0.055, height_m=0.05).begin()
    robot.tick(200)
    robot.push[2] = 0.8
    robot.until(DWELL)
    robot.push[2] = 0.0
    robot.until(SEEK)
    robot.tick(60)  # until it has come down from what it had
    fastest = 0.0
    while robot.contact.state == SEEK:
        robot.tick()
        fastest = max(fastest, -robot.s.twist[2])
    assert fastest < 1.1 * 0.9 * robot.p.peak_n / (robot.p.stiffness_max_n_m * robot.p.lag_s)
    assert max(robot.pressed) < 10.0


def test_touches_that_are_none_do_not_make_the_search_longer() -> None:
    robot = PointRobot(1e5, gap=0.5, seek_m=0.02).begin()
    for i in range(60000):
        robot.push[2] = 0.8 if i % 400 < 10 else 0.0
        robot.tick()
        if robot.contact.state == FAULT:
            break
    assert robot.contact.reason == TOO_FAR
    assert 0.5 - robot.s.pose[2] < 0.022


# ---- halted --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [SEEK, DWELL, SLIDE])
def test_a_halt_pauses_and_its_end_goes_on(state: int) -> None:
    robot = at(state, gap=0.005)
    robot.g.stop = 1
    robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (PAUSED, HALT)
    robot.tick(500)
    assert robot.contact.state == PAUSED
    assert np.linalg.norm(robot.s.twist[:2]) < 1e-4
    robot.g.stop = 0
    robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (state, RESUME)
    robot.until(DONE)


def test_the_end_of_a_halt_does_not_end_a_pause_that_was_ordered() -> None:
    robot = at(DWELL)
    robot.command("pause")
    robot.tick()
    robot.g.stop = 1
    robot.tick(10)
    robot.g.stop = 0
    robot.tick(100)
    assert robot.contact.state == PAUSED


@pytest.mark.parametrize("failure", ["force", "sensor"])
def test_a_halted_contact_is_still_watched_and_lifted_off(failure: str) -> None:
    robot = at(DWELL)
    robot.g.stop = 1
    robot.tick(100)
    before = robot.s.pose[2]
    if failure == "force":
        robot.push[0] = 30.0
    else:
        robot.s.fault = FAULT_SENSOR + WRENCH_STALE
    robot.tick()
    robot.push[:] = 0.0
    assert (robot.contact.state, robot.contact.reason) == (FAULT, FORCE_LIMIT if failure == "force" else SENSOR)
    robot.tick(1000)
    assert robot.s.pose[2] == pytest.approx(before + robot.p.retract_m, abs=1e-3)


# ---- another law, commands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [SEEK, DWELL, SLIDE, PAUSED])
def test_another_law_lets_the_tool_lift_off_first(state: int) -> None:
    robot = at(DWELL if state == PAUSED else state, gap=0.005)
    if state == PAUSED:
        robot.command("pause")
        robot.tick()
    robot.g.law = 1
    robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (RETRACT, LAW)
    robot.until(DONE)
    assert robot.pressed[-1] == 0.0


def test_a_start_cannot_be_set_before_a_fault_has_lifted_off_nor_under_force() -> None:
    robot = at(DWELL)
    robot.tick(300)
    robot.command("abort")
    robot.tick()
    robot.command("set_start")
    robot.tick()
    assert (robot.contact.state, robot.contact.rejected) == (FAULT, LIFTING)
    robot.tick(1000)
    assert robot.pressed[-1] == 0.0
    robot.push[2] = 2.0
    robot.tick(100)
    robot.command("set_start")
    robot.tick()
    assert (robot.contact.state, robot.contact.rejected) == (FAULT, PRELOAD)
    robot.push[2] = 0.0
    robot.tick(100)
    robot.command("set_start")
    robot.tick()
    assert robot.contact.state == READY


# ---- stuck ---------------------------------------------------------------------------------------------------------


def test_a_lift_off_that_a_limit_blocks_is_a_fault_and_not_done() -> None:
    robot = at(RETRACT)
    where = robot.s.pose.copy()
    for _ in range(3000):
        robot.tick()
        robot.s.pose[:], robot.sent, robot.s.twist[:] = where, where[:3].copy(), 0.0
        if robot.contact.state != RETRACT:
            break
    assert (robot.contact.state, robot.contact.reason) == (FAULT, STUCK)


def test_a_heading_along_the_axis_of_the_tool_is_refused_at_the_start() -> None:
    robot = PointRobot(STIFF, heading=(0.0, 0.0, 1.0)).begin()
    assert (robot.contact.state, robot.contact.rejected) == (READY, HEADING)
    robot = PointRobot(STIFF, heading=(0.0, 0.0, 1.0), path="none", dwell_s=0.2).begin()
    robot.until(DONE)


def test_a_slide_that_goes_nowhere_ends_as_stuck() -> None:
    robot = at(SLIDE)
    for _ in range(1000):
        robot.p.heading[:] = robot.contact.normal  # the surface has turned into the heading
        robot.tick()
        if robot.contact.state != SLIDE:
            break
    assert (robot.contact.state, robot.contact.reason) == (FAULT, STUCK)
