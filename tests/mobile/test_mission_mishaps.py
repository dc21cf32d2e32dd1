"""What stops a mission, and what does not."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from obedient import DT, GOAL, PARK, START, Drive, Faults, begun, driving, ended_with, room, stop_of, stopped_by

from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.base_params import Base, Footprint
from pliant.mobile.base.drive_model import limited, limits_record
from pliant.mobile.following.progress import ProgressWatch
from pliant.mobile.mission.mission_params import Park, Reach, Travel
from pliant.mobile.mission.stage_machine import BEGIN, DONE
from pliant.mobile.mission.stages import Observation, pose_apart
from pliant.mobile.planning.free_space import free_at, prepared
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.mobile.whole_body.mobile_arm import Chassis

WALL = (2.6, 0.0, 0.2, 4.0)


@pytest.mark.parametrize("field", ["q", "qd", "twist", "expected", "age_s"])
def test_a_reading_that_is_no_number_stops_it(body: Body, field: str) -> None:
    why = stopped_by(driving(body), lambda seen: replace(seen, **{field: math.nan * getattr(seen, field)}))
    assert "not finite" in why


def test_odometry_that_is_too_old_stops_it(body: Body) -> None:
    assert "0.50 s old" in stopped_by(driving(body), lambda seen: replace(seen, age_s=0.5))


@pytest.mark.parametrize("stage", ["A", "C"])
def test_an_arm_that_something_holds_stops_it_and_is_pressed_no_more(body: Body, stage: str) -> None:
    robot = Drive(begun(body))
    while robot.mission.stage != stage:
        robot.period()
    held = robot.q[BASE_JOINTS:].copy()

    def stuck(seen: Observation) -> Observation:
        return replace(seen, q=np.concatenate([seen.q[:BASE_JOINTS], held]), qd=np.zeros(6))

    assert re.search(r"joint \d is 0\.1\d rad away from its command", stopped_by(robot, stuck))
    assert np.abs(robot.q[BASE_JOINTS:] - held).max() < 0.002  # what is commanded is where the arm is


def test_an_arm_that_lags_behind_its_command_is_not_held(body: Body) -> None:
    robot = Drive(begun(body))
    past = [robot.q.copy()]

    def late(seen: Observation) -> Observation:
        past.append(seen.q)
        joints = past[max(0, len(past) - round(0.1 / DT))][BASE_JOINTS:]
        return replace(seen, q=np.concatenate([seen.q[:BASE_JOINTS], joints]), ahead_s=0.1)

    while robot.mission.stage in (BEGIN, "A"):
        robot.period(late)
    assert robot.mission.stage == "B"


def stuck_base(robot: Drive, spins: bool = False) -> Faults:
    """From now on the base stays where it is, and its pose is heard with noise; its wheels stand, or turn as told."""
    held, random = robot.q[:BASE_JOINTS].copy(), np.random.default_rng(1)

    def stay(seen: Observation) -> Observation:
        robot.q[:BASE_JOINTS] = held
        noise = 0.002 * random.normal(size=BASE_JOINTS)
        return replace(seen, q=np.concatenate([held + noise, seen.q[BASE_JOINTS:]]), twist=spins * seen.twist)

    return stay


@pytest.mark.parametrize("spins", [False, True])
def test_a_base_that_is_stuck_stops_it_after_a_second_whatever_its_wheels_say(body: Body, spins: bool) -> None:
    robot = driving(body)
    began_s = robot.time_s
    assert re.search(
        r"commanded to move 0\.\d+ m but moved 0\.\d+ m in 1 s: it is stuck",
        stopped_by(robot, stuck_base(robot, spins)),
    )
    assert stop_of(robot) - began_s < 1.1


def test_a_base_that_cannot_turn_on_the_spot_is_stuck_too() -> None:
    watch = ProgressWatch()
    said = [watch.update(DT * k, (0.0, 0.0 if k < 50 else 0.8), (1.0, 2.0, 3.1)) for k in range(200)]
    first = next(k for k, why in enumerate(said) if why)
    assert "commanded to turn by" in said[first]
    assert 50 + 0.3 / 0.8 / DT < first < 150


@pytest.mark.parametrize("late_s", [0.0, 0.1, 0.2])
def test_a_base_that_is_late_is_not_stuck(late_s: float) -> None:
    """Through hard starts, stops, turns on the spot and curves to both sides."""
    watch, steps, told, now = ProgressWatch(), round(late_s / DT), np.zeros(3), np.zeros(2)
    wishes = [(1.5, 0.0), (0.0, 0.0), (0.0, 2.5), (0.0, -2.5), (-0.4, 0.0), (0.6, 2.5), (0.6, -2.5), (0.0, 0.0)]
    places, limits = [told.copy()], limits_record(Chassis(), Base())
    for k in range(2400):
        limited(limits[0], now, np.array(wishes[k // 150 % len(wishes)]), DT, now)
        along_arc(told, *now, DT, told)
        places.append(told.copy())
        x, y, heading = places[max(0, k + 1 - steps)]
        assert not watch.update(DT * k, now, (x, y, math.remainder(heading, math.tau)))


def test_wheels_that_slip_stop_it_when_it_lasts(body: Body) -> None:
    robot = driving(body)
    began_s = robot.time_s
    assert "the wheels have slipped for 0.6 s" in stopped_by(robot, lambda seen: replace(seen, slipping=True))
    assert stop_of(robot) - began_s == pytest.approx(0.6, abs=2 * DT)


def test_slip_that_is_seen_now_and_then_does_not_stop_it(body: Body) -> None:
    """Noise of a pose looks like slip at single moments; a pose that is put right does for slip.window_s."""
    robot = driving(body)
    began_s = robot.time_s
    robot.to_the_end(lambda s: replace(s, slipping=round(s.time_s / DT) % 3 == 0 or s.time_s - began_s < 0.5))
    assert robot.mission.stage == DONE


def test_a_joint_that_leaves_its_park_pose_stops_the_drive(body: Body) -> None:
    why = stopped_by(driving(body), lambda seen: replace(seen, q=seen.q + 0.6 * np.eye(9)[4]))
    assert "stage B was stopped: joint 2 is 0.60 rad away from its command" in why


def test_a_force_at_the_tool_stops_it(body: Body) -> None:
    why = stopped_by(driving(body), lambda seen: replace(seen, force_n=400.0))
    assert "400 N act on the tool; at most 100 N are allowed" in why


def test_a_base_that_nothing_stops_does_not_keep_a_stop_from_ending(body: Body) -> None:
    robot = driving(body)
    robot.mission.stop("")
    assert "a stop was requested" in stopped_by(robot, lambda seen: replace(seen, twist=np.array((0.3, 0.0))))
    assert "still moves after 20 s" in robot.mission.log[-1].reason


def test_a_base_that_is_slower_than_it_should_be_runs_out_of_time(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, limit_s=2.0, limit_s_m=0.0)))
    robot.to_the_end()
    assert "stage B was stopped: it exceeded its time limit of 2 s" in ended_with(robot)


def test_a_long_way_may_take_its_time_per_metre(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, limit_s=2.0, limit_s_m=10.0)))
    robot.to_the_end()
    assert robot.mission.stage == DONE
    reach_pose = robot.mission.reach_pose
    assert reach_pose is not None
    assert robot.mission.drive.limit_s == pytest.approx(10.0 * reach_pose.plan.path.length_m)


def test_an_arm_that_cannot_be_parked_in_time_does_not_begin(body: Body) -> None:
    robot = Drive(begun(body, park=Park(q=PARK, limit_s=0.5)))
    robot.to_the_end()
    assert "it cannot start: the arm needs" in ended_with(robot)
    assert not np.any(robot.commands)


@pytest.mark.parametrize(("axis", "off", "done"), [(0, 0.02, "moved"), (2, 0.1, "turned")])
def test_a_locked_base_that_moves_stops_it(body: Body, axis: int, off: float, done: str) -> None:
    robot = Drive(begun(body))
    robot.period()
    why = stopped_by(robot, lambda seen: replace(seen, q=seen.q + off * np.eye(9)[axis]))
    assert f"the base is locked but has {done} by" in why


def test_a_base_that_drives_already_does_not_begin(body: Body) -> None:
    robot = Drive(begun(body))
    why = stopped_by(robot, lambda seen: replace(seen, twist=np.array((0.2, 0.0))) if seen.time_s < 0.1 else seen)
    assert "the base is not at rest" in why


def test_a_map_that_leaves_no_way_stops_it_before_the_obstacle(body: Body) -> None:
    robot = Drive(begun(body))
    robot.until("B", 0.2)
    robot.mission.see(room(WALL))
    robot.to_the_end()
    why = ended_with(robot)
    assert "an obstacle blocks the path" in why
    assert "no other path exists: No path exists to any of the" in why
    assert robot.mission.planner.free(robot.q[:3])


def test_a_base_takes_another_way_around_what_a_map_shows_in_its_way(body: Body) -> None:
    robot = Drive(begun(body))
    robot.until("B", 0.2)
    before = robot.mission.reach_pose
    assert before is not None
    x, y, _ = before.plan.path.at([0.6 * before.plan.path.length_m])[0, :3]
    grid = room((x - 0.2, y - 0.2, 0.4, 0.4))
    robot.mission.see(grid)
    bare = prepared(grid, Footprint(margin_m=0.0))
    while not robot.mission.ended and robot.time_s < 200.0:
        robot.period()
        assert free_at(bare, *robot.q[:3])
    assert [change.stage for change in robot.mission.log] == ["A", "B", "B", "C", DONE]
    assert "an obstacle blocks the path" in robot.mission.log[2].reason
    assert pose_apart(body.pose(robot.q), np.array(GOAL))[0] < 0.005
    assert robot.sharpest <= 1.0 + 1e-9
    stood = [np.abs(u[:2]).max() == 0.0 for u, stage in zip(robot.commands, robot.stages, strict=True) if stage == "B"]
    assert any(stood[100:-100])  # it stood before it went on


def test_other_ways_are_looked_for_as_often_as_allowed_and_no_more(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, detours=2)))
    robot.until("B", 0.1)
    boxes = list[tuple[float, float, float, float]]()
    while not robot.mission.ended and len(boxes) < 9:
        reach_pose = robot.mission.reach_pose
        assert reach_pose is not None
        # whatever way it takes, something small is put on it
        x, y, _ = reach_pose.plan.path.at([0.7 * reach_pose.plan.path.length_m])[0, :3]
        boxes.append((x - 0.1, y - 0.1, 0.2, 0.2))
        seen = robot.mission.detours
        robot.mission.see(room(*boxes))
        while not robot.mission.ended and robot.mission.detours == seen:
            robot.period()
        for _ in range(50):
            robot.period()
    robot.to_the_end()
    assert robot.mission.detours == 2
    assert "and 2 of 2 detours were already taken" in ended_with(robot)
    assert len(boxes) == 3


def test_without_other_ways_allowed_something_in_the_way_stops_it_at_once(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, detours=0)))
    robot.until("B", 0.2)
    robot.mission.see(room(WALL))
    robot.to_the_end()
    assert ended_with(robot).endswith("m ahead")


def test_a_map_that_shows_the_same_does_not_stop_it(body: Body) -> None:
    robot = Drive(begun(body))
    robot.until("B", 0.2)
    robot.mission.see(room())
    robot.to_the_end()
    assert robot.mission.stage == DONE


def test_a_goal_that_is_blocked_while_the_arm_is_parked_is_told_when_driving_should_begin(body: Body) -> None:
    robot = Drive(begun(body))
    robot.until("A")
    robot.mission.see(room((2.9, 0.3, 2.8, 3.4)))
    robot.to_the_end()
    assert "stage B was stopped: it cannot start: goal" in ended_with(robot)


@pytest.mark.parametrize("off", [(0.05, 0.0, 0.0), (0.0, 0.0, 0.05)])
def test_a_base_beside_its_place_does_not_begin_to_reach(body: Body, off: Any) -> None:
    mission = begun(body)
    reach_pose = mission.prepare(START)
    mission.reach.place = reach_pose.q
    q = np.concatenate([reach_pose.q[:3] + off, PARK])
    assert "from the pose to reach from" in mission.reach.enter(Observation(0.0, q, np.zeros(6), np.zeros(2), q[3:], q))
    mission.reach.place = q
    assert mission.reach.enter(Observation(0.0, q, np.zeros(6), np.zeros(2), q[3:], q)) == ""


def test_noise_of_the_measured_place_does_not_stop_a_mission(body: Body) -> None:
    robot, random = Drive(begun(body)), np.random.default_rng(0)

    def noisy(seen: Observation) -> Observation:
        return replace(seen, q=seen.q + random.normal(size=9) * ([0.002] * 3 + [0.0] * 6))

    robot.to_the_end(noisy)
    assert robot.mission.stage == DONE
    assert robot.mission.log[-1].time_s - robot.mission.log[-2].time_s < 8.0
    assert pose_apart(body.pose(robot.q), np.array(GOAL))[0] < 0.005


def test_a_tool_that_does_not_come_near_runs_out_of_time(body: Body) -> None:
    robot = Drive(begun(body, reach=Reach(limit_s=8.0)))
    robot.until("C")
    robot.to_the_end(lambda seen: replace(seen, q=seen.q + 0.02 * np.eye(9)[5]))
    assert "stage C was stopped: it exceeded its time limit of 8 s" in ended_with(robot)
