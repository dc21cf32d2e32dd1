"""Hands on a tool in contact, a sensor the wrong way round, a lift-off that is stopped: what bounds each of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from point_robot import DT, PointRobot

from pliant.control.laws.contact.contact_params import Contact, check_order
from pliant.control.laws.contact.contact_states import (
    ABORT,
    BARRED,
    COMMANDS,
    DONE,
    DWELL,
    FAULT,
    GONE,
    HALT,
    HALTED,
    LAW,
    LOST,
    PAUSE,
    PAUSED,
    PULLED,
    READY,
    RESUME,
    RETRACT,
    REVERSED,
    SEEK,
    SENSELESS,
    SLIDE,
    STILL,
    STOP,
    TIMEOUT,
    TOO_OFTEN,
    TURNED,
)
from pliant.errors import InputError

STIFF = 2e4


def at(state: int, **values: float) -> PointRobot:
    """A robot that has come to this state by itself."""
    robot = PointRobot(STIFF, **{"dwell_s": 0.2, "length_m": 0.05, **values}).begin()
    robot.until(state)
    return robot


def off_deg(robot: PointRobot) -> float:
    """Angle between the learned normal and the way that the tool came [deg]."""
    return float(np.degrees(np.arccos(np.clip(-robot.contact.approach @ robot.contact.normal, -1.0, 1.0))))


# ---- leaning on the sliding tool -----------------------------------------------------------------------------------


@pytest.mark.parametrize("push", [(0.0, 8.0, 0.0), (0.0, 12.0, -8.0), (0.0, -8.0, -5.0)])
def test_a_hand_that_leans_on_the_sliding_tool_does_not_turn_the_normal(push: tuple[float, ...]) -> None:
    robot = at(SLIDE)
    robot.tick(500)
    robot.push[:] = push
    robot.tick(1500)
    assert off_deg(robot) < 10.0
    robot.push[:] = 0.0
    robot.until(DONE)
    assert robot.s.pose[2] > 0.9 * robot.p.retract_m
    assert max(robot.pressed) < robot.p.force_limit_n


def test_a_slope_across_the_path_is_still_learned_from_the_force() -> None:
    robot = PointRobot(STIFF, slope=np.radians(20.0), heading=(0.0, 1.0, 0.0), dwell_s=0.2, band_n=0.5).begin()
    robot.until(SLIDE)
    robot.tick(2000)
    assert off_deg(robot) == pytest.approx(20.0, abs=2.0)


def test_a_normal_outside_of_its_cone_is_a_fault_that_lifts_off_along_the_approach() -> None:
    robot = at(SLIDE)
    robot.tick(200)
    before = robot.s.pose[:3].copy()
    robot.contact.normal[:] = (0.0, np.sin(1.4), np.cos(1.4))  # 80°
    robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (FAULT, TURNED)
    robot.tick(1000)
    np.testing.assert_allclose(robot.s.pose[:3] - before, (0.0, 0.0, robot.p.retract_m), atol=1e-3)


@pytest.mark.parametrize("tilt_deg", [80.0, 110.0])
def test_a_stop_never_lifts_off_into_the_surface_nor_along_it(tilt_deg: float) -> None:
    robot = at(SLIDE)
    robot.tick(200)
    tilt = np.radians(tilt_deg)
    robot.contact.normal[:] = (0.0, np.sin(tilt), np.cos(tilt))
    robot.command("stop")
    robot.until(DONE)
    assert robot.s.pose[2] > 0.9 * robot.p.retract_m
    assert robot.pressed[-1] == 0.0


def test_a_lift_off_is_not_done_while_a_force_is_left_and_goes_on_along_the_approach() -> None:
    robot = at(DWELL)
    robot.tick(300)
    robot.contact.normal[:] = (np.sin(1.2), 0.0, np.cos(1.2))  # 69°: within the cone, and wrong
    before = robot.s.pose[2]
    robot.push[0] = 3.0
    robot.command("stop")
    robot.until(FAULT, DONE)
    assert (robot.contact.state, robot.contact.reason) == (FAULT, STILL)
    rise = robot.s.pose[2] - before
    assert rise == pytest.approx(robot.p.retract_m * (1.0 + np.cos(1.2)), abs=1e-3)
    robot.tick(500)  # and there it stands
    assert robot.s.pose[2] - before == pytest.approx(rise, abs=1e-4)


def test_a_cone_smaller_than_the_declared_slope_is_refused() -> None:
    with pytest.raises(InputError, match=r"contact\.slope_deg = .* deg exceeds contact\.cone_deg = 30 deg\."):
        check_order(Contact(slope_deg=40.0, cone_deg=30.0))


# ---- drawn away ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [DWELL, SLIDE, PAUSED])
def test_a_tool_that_is_drawn_away_from_the_surface_is_a_fault_within_its_leash(state: int) -> None:
    robot = at(SLIDE if state == SLIDE else DWELL, dwell_s=0.2 if state == SLIDE else 60.0)
    robot.tick(300)
    if state == PAUSED:
        robot.g.stop = 1
        robot.tick()
    before = robot.s.pose[2]
    robot.push[2] = 10.0
    robot.until(FAULT, within_s=30.0)
    share = 0.5 if state == PAUSED else 1.0
    assert robot.contact.reason == PULLED
    assert 0.7 < (robot.s.pose[2] - before) / (share * robot.p.leash_m) < 1.2  # the path has its own share of it
    robot.tick(4000)
    assert robot.s.pose[2] - before < share * robot.p.leash_m + 1.1 * robot.p.retract_m


@pytest.mark.parametrize("state", [DWELL, SLIDE, PAUSED])
def test_a_surface_that_moves_by_five_millimetres_is_followed_and_draws_nobody_away(state: int) -> None:
    robot = at(SLIDE if state == SLIDE else DWELL, dwell_s=0.2 if state == SLIDE else 60.0, settle_s=60.0)
    robot.tick(300)
    if state == PAUSED:
        robot.g.stop = 1
    for i in range(5000):
        robot.height = 0.005 * np.sin(2 * np.pi * 0.2 * i * DT)
        robot.tick()
        assert robot.contact.state in (state, DONE, RETRACT)
        assert robot.contact.reason not in (GONE, STOP)


# ---- stopping a lift-off -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["pause", "halt"])
def test_a_lift_off_can_be_paused_once_contact_is_gone_and_goes_on_where_it_was(how: str) -> None:
    robot = at(DWELL, retract_m=0.1)
    robot.tick(300)
    before = robot.s.pose[2]
    robot.command("stop")
    robot.tick()
    if how == "pause":
        robot.command("pause")
    else:
        robot.g.stop = 1
    robot.tick()
    assert robot.contact.state == RETRACT  # it still presses
    robot.until(PAUSED)
    assert robot.contact.reason == (PAUSE if how == "pause" else HALT)
    assert robot.pressed[-1] < robot.p.touch_n
    robot.tick(500)
    where = robot.s.pose[2]
    assert where - before < 0.03
    robot.tick(500)
    assert robot.s.pose[2] == where
    if how == "pause":
        robot.command("resume")
    robot.g.stop = 0
    robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (RETRACT, RESUME)
    robot.until(DONE)
    assert robot.s.pose[2] - before == pytest.approx(robot.p.retract_m, abs=1e-3)


@pytest.mark.parametrize("paused", [False, True])
def test_an_abort_of_a_lift_off_finishes_that_lift_off_and_begins_no_other(paused: bool) -> None:
    robot = at(DWELL)
    robot.tick(300)
    before = robot.s.pose[2]
    robot.command("stop")
    robot.tick(200)
    if paused:
        robot.command("pause")
        robot.tick(300)
        assert robot.contact.state == PAUSED
    robot.command("abort")
    robot.tick(1000)
    assert (robot.contact.state, robot.contact.reason, robot.contact.lifted) == (FAULT, ABORT, 1)
    assert robot.s.pose[2] - before == pytest.approx(robot.p.retract_m, abs=1e-3)


@pytest.mark.parametrize("how", ["stop", "law"])
def test_a_stop_or_another_law_during_a_halt_lifts_off_all_the_same(how: str) -> None:
    robot = at(DWELL)
    robot.g.stop = 1
    robot.tick(300)
    assert robot.contact.state == PAUSED
    if how == "stop":
        robot.command("stop")
    else:
        robot.g.stop, robot.g.law = 0, 1
    robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (RETRACT, STOP if how == "stop" else LAW)
    robot.until(DONE)


@pytest.mark.parametrize("early", range(0, 14, 3))
@pytest.mark.parametrize("how", ["pause", "halt"])
def test_a_pause_at_the_very_touch_does_not_press_on(how: str, early: int) -> None:
    values = {"stiffness_max_n_m": 1e4, "dwell_s": 60.0, "settle_s": 60.0, "approach_m_s": 0.1}
    robot = PointRobot(1e4, lag_s=0.046, **values).begin()
    while robot.x[2] > 0.0:
        robot.tick()
    robot.tick(early)
    if how == "pause":
        robot.command("pause")
    robot.g.stop = int(how == "halt")
    robot.tick(1500)
    assert robot.contact.state == PAUSED
    assert max(robot.pressed) < 1.1 * robot.p.peak_n
    assert robot.pressed[-1] < robot.p.target_n + 0.1


# ---- obstacles, signs, losses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.05, 0.2])
def test_what_bars_a_lift_off_is_let_go_of(speed: float) -> None:
    robot = PointRobot(STIFF, lag_s=0.046, dwell_s=60.0, settle_s=60.0, retract_m_s=speed).begin()
    robot.until(DWELL)
    robot.tick(300)
    robot.command("stop")
    shelf = robot.x[2] + 0.01
    for _ in range(1500):
        robot.push[2] = -1e4 * max(0.0, robot.x[2] - shelf)
        robot.tick()
    assert (robot.contact.state, robot.contact.reason, robot.contact.lifted) == (FAULT, BARRED, 1)
    assert -robot.push[2] <= robot.p.touch_n
    assert robot.pressed[-1] == 0.0


@pytest.mark.parametrize("stiffness", [1e3, 2e4, 1e5])
def test_a_sensor_the_wrong_way_round_is_noticed_at_the_touch_and_the_tool_goes_back(stiffness: float) -> None:
    robot = PointRobot(stiffness, lag_s=0.046)
    robot.sign = -1.0
    robot.begin()
    robot.until(FAULT)
    assert robot.contact.reason == REVERSED
    robot.tick(1000)
    assert max(robot.pressed) < robot.p.force_limit_n
    assert robot.pressed[-1] == 0.0
    assert robot.contact.lifted == 1


def test_a_hand_from_above_while_seeking_is_not_pressed_against_without_end() -> None:
    robot = PointRobot(STIFF, gap=0.05).begin()
    robot.tick(500)
    where, most = robot.x[2], 0.0
    for _ in range(2000):
        robot.push[2] = -2.0 - 1e4 * max(0.0, robot.x[2] - where)
        robot.tick()
        most = max(most, -robot.push[2])
    assert (robot.contact.state, robot.contact.reason) == (FAULT, REVERSED)
    assert most < 2.0 + robot.p.force_limit_n
    assert -robot.push[2] < most


def test_noise_and_inertia_while_seeking_are_no_pull() -> None:
    random = np.random.default_rng(4)
    robot = PointRobot(STIFF, gap=0.02).begin()
    while robot.contact.state == SEEK:
        robot.push[:] = random.normal(0.0, 0.2, 3)
        robot.tick()
    assert robot.contact.state == DWELL


def test_contact_that_is_lost_again_and_again_is_a_fault() -> None:
    robot = at(DWELL, dwell_s=1.0, settle_s=60.0)
    for i in range(30000):
        robot.stiffness = 0.0 if i % 250 < 35 else STIFF
        robot.tick()
        if robot.contact.state == FAULT:
            break
    assert robot.contact.reason == TOO_OFTEN
    assert robot.contact.losses == robot.p.losses_most + 1


def test_the_time_to_settle_goes_on_over_losses() -> None:
    robot = at(DWELL, dwell_s=1.0, settle_s=2.0, losses_most=1000)
    ticks = 0
    while robot.contact.state != FAULT:
        robot.stiffness = 0.0 if ticks % 250 < 35 else STIFF
        robot.tick()
        ticks += 1
        assert ticks * DT < 6.0
    assert robot.contact.reason == TIMEOUT


# ---- commands --------------------------------------------------------------------------------------------------------


def test_a_refused_order_says_why_and_the_next_change_of_state_forgets_it() -> None:
    robot = at(DWELL)
    robot.command("start")
    robot.tick()
    assert (robot.contact.state, robot.contact.rejected) == (DWELL, SENSELESS)
    robot.until(SLIDE)
    assert robot.contact.rejected == 0


def test_two_commands_of_one_tick_are_both_heard_in_their_order() -> None:
    robot = PointRobot(STIFF)
    robot.tick()
    robot.g.earlier, robot.g.command = COMMANDS["set_start"], COMMANDS["start"]
    robot.g.commands += 2
    robot.tick()
    assert robot.contact.state == READY
    robot.tick()
    assert robot.contact.state == SEEK


def test_a_start_or_a_resume_while_the_loop_is_halted_is_refused_and_nothing_moves() -> None:
    robot = PointRobot(STIFF)
    robot.command("set_start")
    robot.tick()
    robot.g.stop = 1
    robot.command("start")
    robot.tick()
    assert (robot.contact.state, robot.contact.rejected) == (READY, HALTED)
    assert not robot.s.twist.any()
    robot.g.stop = 0
    robot.command("start")
    robot.tick()
    robot.g.stop = 1
    robot.tick()
    robot.command("resume")
    robot.tick()
    assert (robot.contact.state, robot.contact.rejected) == (PAUSED, HALTED)


@pytest.mark.parametrize(("before", "command"), list(itertools.product((SEEK, DWELL, SLIDE, RETRACT), COMMANDS)))
def test_every_command_to_a_contact_paused_in_any_state_leads_where_it_should(before: int, command: str) -> None:
    robot = at(before)
    robot.tick(100 if before == RETRACT else 0)
    robot.command("pause")
    robot.tick()
    assert (robot.contact.state, robot.contact.before) == (PAUSED, before)
    robot.command(command)
    robot.tick()
    to = {"resume": before, "stop": RETRACT, "abort": FAULT}.get(command, PAUSED)
    assert robot.contact.state == to
    assert (robot.contact.rejected != 0) == (to == PAUSED)
    assert robot.contact.reason != LOST
