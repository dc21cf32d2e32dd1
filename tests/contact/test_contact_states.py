"""The state machine: every state × every command × every fault leads where the table says, and says why."""

from __future__ import annotations

import copy
import functools
import itertools
from typing import Any

import numpy as np
import pytest
from point_robot import DT, PointRobot

from pliant.analysis.pictures import state_diagram
from pliant.control.laws.contact import contact_law as contact_step
from pliant.control.laws.contact.contact_states import (
    ABORT,
    BACK,
    COMMANDS,
    DONE,
    DWELL,
    EVENTS,
    FAULT,
    FORCE_LIMIT,
    GONE,
    IDLE,
    LIFTED,
    NEXT,
    NONE,
    PAUSED,
    PRELOAD,
    READY,
    RETRACT,
    ROBOT,
    SEEK,
    SENSELESS,
    SENSOR,
    SLIDE,
    STATES,
    STUCK,
    TIMEOUT,
    TOO_FAR,
)  # fmt: skip
from pliant.records import FAULT_COMMAND, FAULT_NUMBER, FAULT_POSE_ERROR, FAULT_SENSOR, WRENCH_STALE

ALL = range(len(STATES))
PRESSING = (DWELL, SLIDE)


def robot_in(state: int, paused_from: int = DWELL) -> PointRobot:
    """A robot that has come into this state by itself, as a user would bring it there."""
    return copy.deepcopy(_brought_into(state, paused_from))


@functools.cache
def _brought_into(state: int, paused_from: int) -> PointRobot:
    robot = PointRobot(2e4, dwell_s=0.2, length_m=0.01)
    robot.tick()
    if state == IDLE:
        return robot
    robot.command("set_start")
    robot.tick()
    if state == READY:
        return robot
    robot.command("start")
    robot.tick()
    if state == PAUSED:
        robot.until(paused_from)
        robot.command("pause")
        robot.tick()
    elif state == FAULT:
        robot.until(DWELL)
        robot.command("abort")
        robot.tick(400)
        assert robot.contact.lifted == 1
    else:
        robot.until(state)
    while state == RETRACT and robot.contact.touching:  # a pause waits for that
        robot.tick()
    assert robot.contact.state == state
    return robot


@pytest.mark.parametrize(("state", "command"), list(itertools.product(ALL, COMMANDS)))
def test_a_command_leads_where_the_table_says_or_is_refused_and_changes_nothing(state: int, command: str) -> None:
    robot = robot_in(state)
    preloaded = state == READY and command == "start"
    to = int(NEXT[state, COMMANDS[command]])
    robot.command(command)
    robot.tick()
    c = robot.contact
    if to == NONE:
        assert (c.state, c.rejected) == (state, SENSELESS)
    else:
        assert c.state == (to if to >= 0 else DWELL)
        assert (c.reason, c.rejected) == (COMMANDS[command], 0)
    assert not preloaded or c.state == SEEK


@pytest.mark.parametrize("state", ALL)
def test_too_much_force_is_a_fault_in_every_state(state: int) -> None:
    robot = robot_in(state)
    robot.push[1] = 30.0  # from the side: it is the whole force that counts
    robot.tick()
    assert robot.contact.state == FAULT
    assert robot.contact.reason == (FORCE_LIMIT if state != FAULT else ABORT)


@pytest.mark.parametrize("state", ALL)
def test_a_failed_sensor_is_a_fault_in_every_state(state: int) -> None:
    robot = robot_in(state)
    robot.s.fault = FAULT_SENSOR + WRENCH_STALE
    robot.tick()
    assert robot.contact.state == FAULT
    assert robot.contact.reason == (SENSOR if state != FAULT else ABORT)


@pytest.mark.parametrize(("state", "command"), list(itertools.product(ALL, COMMANDS)))
def test_a_fault_comes_before_a_command(state: int, command: str) -> None:
    robot = robot_in(state)
    robot.push[:] = (0.0, 0.0, 40.0)
    robot.command(command)
    robot.tick()
    assert robot.contact.state == FAULT  # the only command that a fault hears is a new start, not under this force


FAILURES = ("force", "sensor", "number", "command", "pose error", "stuck")
REASONS = {"force": FORCE_LIMIT, "sensor": SENSOR, "stuck": STUCK}


def fail(robot: PointRobot, failure: str) -> None:
    """Let something go wrong, as the tick would notice it."""
    faults = {"number": FAULT_NUMBER, "command": FAULT_COMMAND, "pose error": FAULT_POSE_ERROR}
    if failure == "force":
        robot.push[:] = (0.0, 0.0, 40.0)
    elif failure == "sensor":
        robot.s.fault = FAULT_SENSOR + WRENCH_STALE
    elif failure == "stuck":
        robot.contact.stuck_s = 10.0
        robot.s.twist[:] = 0.0  # what the limits have left
    else:
        robot.s.fault = faults[failure]


@pytest.mark.parametrize(("state", "command", "failure"), list(itertools.product(ALL, (None, *COMMANDS), FAILURES)))
def test_every_state_with_every_command_and_every_failure_ends_in_a_fault_that_says_why(
    state: int, command: str | None, failure: str
) -> None:
    robot = robot_in(state)
    before = int(robot.contact.reason)
    if command is not None:
        robot.command(command)
    fail(robot, failure)
    if robot.s.fault != 0 and robot.s.fault < FAULT_SENSOR:  # so does the tick: it asks no law then
        contact_step.fail(robot.s)
        robot.s.twist[:] = 0.0
    else:
        robot.tick()
    c = robot.contact
    heard = command is not None and NEXT[state, COMMANDS[command]] != NONE
    moved_on = failure == "stuck" and (state not in (SEEK, SLIDE, RETRACT) or heard)
    if state == FAULT:
        assert c.state in ((FAULT, READY) if command == "set_start" and failure == "stuck" else (FAULT,))
        assert c.state == READY or c.reason == before
    elif moved_on:  # only who wants to move can be stuck, and a command comes before
        assert c.reason != STUCK
    else:
        assert (c.state, c.reason) == (FAULT, REASONS.get(failure, ROBOT))
    assert np.isfinite(robot.s.twist).all()
    assert robot.s.twist[:3] @ c.normal >= -1e-12 or c.state != FAULT  # never into the surface


def test_a_robot_that_failed_is_not_lifted_and_stands() -> None:
    robot = robot_in(SLIDE)
    fail(robot, "number")
    contact_step.fail(robot.s)
    assert (robot.contact.state, robot.contact.reason, robot.contact.lifted) == (FAULT, ROBOT, 1)


def test_every_change_of_state_is_recorded_with_an_event_that_the_table_has_for_it() -> None:
    random = np.random.default_rng(8)
    names: Any = list(COMMANDS)
    robot, seen = PointRobot(2e4, dwell_s=0.05, length_m=0.003), set()
    for _ in range(24000):
        if random.random() < 0.02:
            robot.command(str(random.choice(["set_start", "start", *names])))
        if random.random() < 0.003:
            robot.g.stop = 1 - robot.g.stop
        if random.random() < 0.004:
            robot.push[:] = random.normal(size=3) * random.choice([0.0, 0.0, 0.0, 1.0, 20.0])
        elif random.random() < 0.02:
            robot.push[:] = 0.0
        before, paused = int(robot.contact.state), int(robot.contact.before)
        robot.tick()
        after, reason = int(robot.contact.state), int(robot.contact.reason)
        if after != before:
            assert NEXT[before, reason] in (after, BACK)
            assert NEXT[before, reason] != BACK or after == paused
            seen.add((before, after, reason))
    assert len(seen) > 15


def test_a_tool_that_a_limit_holds_back_is_noticed_while_it_seeks_and_while_it_slides() -> None:
    for state in (SEEK, SLIDE):
        robot = PointRobot(2e4, gap=0.02, dwell_s=0.2, length_m=0.01).begin() if state == SEEK else robot_in(SLIDE)
        robot.tick(50)
        for _ in range(600):
            robot.s.twist[:] = 0.0  # what the workspace left of it
            way = float(robot.contact.travelled_m)
            robot.tick()
            if robot.contact.state != state:
                break
            assert robot.contact.travelled_m == way  # way that was not gone does not count
        assert (robot.contact.state, robot.contact.reason) == (FAULT, STUCK)


@pytest.mark.parametrize("tilt_deg", [100.0, -100.0])
def test_a_fault_does_not_lift_off_along_a_normal_that_the_force_contradicts(tilt_deg: float) -> None:
    robot = robot_in(SLIDE)
    tilt = np.radians(tilt_deg)
    robot.contact.normal[:] = (np.sin(tilt), 0.0, np.cos(tilt))  # learned wrong: out of the side, and down
    robot.command("abort")
    robot.tick()
    robot.tick(1000)
    assert robot.contact.lifted == 1
    assert robot.s.pose[2] > 0.9 * robot.p.retract_m


def test_a_push_from_above_while_seeking_is_neither_followed_nor_pressed_against() -> None:
    robot = PointRobot(2e4, gap=0.02).begin()
    robot.tick(100)
    height = robot.s.pose[2]
    robot.push[2] = -40.0
    robot.tick(1000)
    assert (robot.contact.state, robot.contact.reason, robot.contact.lifted) == (FAULT, FORCE_LIMIT, 1)
    assert robot.s.pose[2] == pytest.approx(height, abs=1e-4)


@pytest.mark.parametrize("state", [SEEK, DWELL, SLIDE, PAUSED])
@pytest.mark.parametrize("why", ["force", "sensor", "abort"])
def test_a_fault_at_work_lifts_off_along_the_normal_and_then_stands(state: int, why: str) -> None:
    robot = robot_in(state)
    if why == "force":
        robot.push[0] = 30.0
    elif why == "sensor":
        robot.s.fault = FAULT_SENSOR + WRENCH_STALE
    else:
        robot.command("abort")
    robot.tick()
    robot.push[:] = 0.0
    before, normal = robot.s.pose[:3].copy(), robot.contact.normal.copy()
    robot.tick(2000)
    assert (robot.s.pose[:3] - before) @ normal == pytest.approx(robot.p.retract_m, abs=1e-3)
    assert robot.contact.lifted == 1
    assert not robot.s.twist.any()


@pytest.mark.parametrize("state", [IDLE, READY, DONE])
def test_who_is_not_at_work_does_not_move_when_the_sensor_fails(state: int) -> None:
    robot = robot_in(state)
    robot.s.fault = FAULT_SENSOR + WRENCH_STALE
    robot.tick(200)
    assert not robot.s.twist.any()


def test_a_start_under_preload_is_refused_with_the_reason() -> None:
    robot = robot_in(READY)
    robot.push[2] = 3.0
    robot.command("start")
    robot.tick()
    assert (robot.contact.state, robot.contact.rejected) == (READY, PRELOAD)


def test_no_surface_and_a_force_that_never_settles_end_in_a_fault() -> None:
    robot = PointRobot(2e4, gap=0.5, seek_m=0.005).begin()
    robot.until(FAULT)
    assert robot.contact.reason == TOO_FAR
    robot = PointRobot(2e4, settle_s=0.5, dwell_s=0.5, band_n=0.01).begin()
    robot.until(DWELL)
    for i in range(2000):
        robot.push[2] = 0.5 * (-1) ** (i // 100)
        robot.tick()
    assert (robot.contact.state, robot.contact.reason) == (FAULT, TIMEOUT)


def test_a_surface_that_ends_is_noticed_and_the_tool_lifts_off_within_a_fifth_of_a_second() -> None:
    robot = robot_in(SLIDE)
    robot.tick(100)
    lowest = robot.s.pose[2]
    robot.stiffness = 0.0
    ticks = 0
    while robot.contact.state != RETRACT:
        robot.tick()
        lowest, ticks = min(lowest, robot.s.pose[2]), ticks + 1
        assert ticks * DT <= 0.2
    assert robot.contact.reason == GONE
    assert lowest > -0.002
    robot.until(DONE)
    assert robot.contact.reason == LIFTED


def test_lost_contact_that_is_found_again_goes_on_where_it_was() -> None:
    robot = robot_in(SLIDE)
    robot.tick(100)
    way, stiffness = float(robot.contact.travelled_m), robot.stiffness
    robot.stiffness = 0.0
    robot.until(SEEK)
    robot.stiffness = stiffness
    robot.until(DWELL)
    assert robot.contact.losses == 1
    robot.until(SLIDE)
    assert robot.contact.travelled_m >= way
    robot.until(DONE)


def test_a_pause_holds_the_force_and_going_on_finishes_the_path() -> None:
    robot = robot_in(PAUSED, paused_from=SLIDE)
    robot.tick(500)
    where = robot.s.pose[0]
    robot.tick(500)
    assert robot.s.pose[0] == pytest.approx(where, abs=1e-5)
    assert robot.pressed[-1] == pytest.approx(robot.p.target_n, rel=0.02)
    robot.command("resume")
    robot.until(DONE)


def test_random_orders_and_pushes_never_lead_out_of_the_table_nor_to_a_number_that_is_none() -> None:
    random = np.random.default_rng(5)
    names: Any = list(COMMANDS)
    robot = PointRobot(5e3, dwell_s=0.05, length_m=0.004)
    for _ in range(6000):
        if random.random() < 0.02:
            robot.command(str(random.choice(names)))
        if random.random() < 0.02:
            robot.push[:] = random.normal(size=3) * random.choice([0.0, 0.2, 2.0, 15.0])
        before = int(robot.contact.state)
        robot.tick()
        after, c = int(robot.contact.state), robot.contact
        assert after == before or after in NEXT[before] or -2 in NEXT[before]
        assert int(c.reason) in EVENTS
        assert np.isfinite(robot.s.twist).all()
        assert np.linalg.norm(robot.s.twist[:3]) < 0.1
        if after in (IDLE, READY, DONE):
            assert not robot.s.twist[3:].any()


def test_every_event_has_words_and_every_state_a_way_out_of_it() -> None:
    assert set(EVENTS) == set(range(NEXT.shape[1]))
    assert len(state_diagram.NAMES) == len(EVENTS)  # the picture knows them too, and by name where they lead to a fault
    assert all(state_diagram.NAMES[event] for event in EVENTS if (NEXT[:, event] == FAULT).any())
    for state in ALL:
        assert (NEXT[state] != NONE).any()
    for state in ALL:
        if state != FAULT:
            assert NEXT[state, FORCE_LIMIT] == NEXT[state, SENSOR] == NEXT[state, ROBOT] == FAULT
