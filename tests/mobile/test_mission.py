"""A mission as pure logic, on a robot that does exactly what it is told, or something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pliant.errors import PliantError
from pliant.mobile.body import BASE_JOINTS, Body
from pliant.mobile.mission import DONE, STOPPED, Mission
from pliant.mobile.space import free_at, prepared
from pliant.mobile.stages import Seen, pose_apart
from pliant.mobile.stand import Stands
from pliant.model.grid import OccupancyGrid, grid_of
from pliant.params.mission import MissionSettings, Park, Reach, Travel
from pliant.params.mobile import Footprint

DT = 0.01
START = (1.0, 1.0, 0.5)
GOAL = (4.3, 2.0, 0.8, 0.0, -math.sqrt(0.5), math.sqrt(0.5), 0.0)
"""Above a table, tool down, as the arm at home has it when the base faces +x."""
PARK = (3.14, -2.46, 2.28, -1.40, -1.57, 0.0)
SETTINGS = MissionSettings(park=Park(q=PARK), travel=Travel(candidates=60))

Faults = Callable[[Seen], Seen]


def room(*boxes: tuple[float, float, float, float]) -> OccupancyGrid:
    """6 × 4 m with a table, and more if asked for."""
    cells = np.zeros((40, 60), bool)
    for x, y, width, height in ((4.2, 1.5, 1.0, 1.0), *boxes):
        cells[round(10 * y) : round(10 * (y + height)), round(10 * x) : round(10 * (x + width))] = True
    return grid_of(cells, 0.1)


@pytest.fixture(scope="module")
def body() -> Body:
    return Body()


def begun(body: Body, grid: OccupancyGrid | None = None, **changes: Any) -> Mission:
    return Mission(body, grid or room(), GOAL, SETTINGS.model_copy(update=changes), DT)


class Drive:
    """A robot that does what it is told, and everything that was commanded."""

    def __init__(self, mission: Mission, place: Any = START) -> None:
        self.mission, self.q = mission, np.array([*place, *mission.body.q_home[BASE_JOINTS:]])
        self.u, self.time_s = np.zeros(mission.body.m), 0.0
        self.commands: list[Any] = []
        self.stages: list[str] = []

    def period(self, fault: Faults = lambda seen: seen, obeys: float = 1.0) -> None:
        joints = self.q[BASE_JOINTS:]
        seen = Seen(self.time_s, self.q.copy(), self.u[2:].copy(), self.u[:2].copy(), joints.copy(), self.q.copy())
        self.u = self.mission.step(fault(seen))
        self.commands.append(self.u)
        self.stages.append(self.mission.stage)
        self.q = self.mission.body.moved(self.q, obeys * self.u, DT)
        self.time_s += DT

    def to_the_end(self, fault: Faults = lambda seen: seen, until_s: float = 200.0) -> None:
        while not self.mission.ended and self.time_s < until_s:
            self.period(fault)

    def until(self, stage: str, share: float = 0.0) -> None:
        while not (self.mission.stage == stage and self.mission.drive.share >= share):
            self.period()
            assert not self.mission.ended

    @property
    def sharpest(self) -> float:
        """Largest share of an acceleration limit of base or joints that the commands used."""
        body, u = self.mission.body, np.array(self.commands)
        last = np.vstack([np.zeros(body.m), u[:-1]])
        slower = (np.abs(u[:, 0]) < np.abs(last[:, 0])) | (u[:, 0] * last[:, 0] < 0)
        p, change = body.limits, np.abs(u - last) / DT
        most = np.where(slower, p.deceleration_m_s2, p.acceleration_m_s2)
        shares = change[:, 0] / most, change[:, 1] / p.turn_acceleration_rad_s2, change[:, 2:] / body.chain.a_max[3:]
        return max(float(share.max()) for share in shares)


def test_a_mission_goes_through_its_stages_to_its_goal(body: Body) -> None:
    robot = Drive(begun(body))
    robot.to_the_end()
    assert [change.stage for change in robot.mission.log] == ["A", "B", "C", DONE]
    far, turned = pose_apart(body.pose(robot.q), np.array(GOAL))
    assert far < 0.005
    assert math.degrees(turned) < 0.5
    assert robot.sharpest <= 1.0 + 1e-9


def test_the_base_is_locked_in_stage_a_and_the_arm_parked_in_stage_b(body: Body) -> None:
    robot = Drive(begun(body))
    robot.to_the_end()
    u, stages = np.array(robot.commands), np.array(robot.stages)
    np.testing.assert_array_equal(u[stages == "A", :2], 0.0)
    assert np.abs(u[stages == "A", 2:]).max() > 0.5
    assert np.abs(u[stages == "B", 2:]).max() < 0.02  # what is left of the motion before
    assert np.abs(u[stages == "B", 0]).max() > 0.5


def test_the_filter_takes_nothing_from_a_stage_that_keeps_to_its_limits(body: Body) -> None:
    robot, worst = Drive(begun(body)), 0.0
    robot.until("C")
    stage = robot.mission.reach
    asked, passed = stage.wish, stage.let_through
    last: list[Any] = []
    stage.wish = lambda seen: last.append(asked(seen)) or last[-1]
    stage.let_through = passed
    while not robot.mission.ended:
        last.clear()
        robot.period()
        worst = max(worst, float(np.abs(robot.u - last[-1]).max()) if last else 0.0)
    assert robot.mission.stage == DONE
    assert worst < 1e-12


@pytest.mark.parametrize(("stage", "share"), [("A", 0.0), ("B", 0.15), ("B", 0.5), ("B", 0.8), ("C", 0.0)])
def test_a_stop_at_any_moment_brakes_within_the_limits_and_ends_at_rest(body: Body, stage: str, share: float) -> None:
    robot = Drive(begun(body))
    robot.until(stage, share)
    for _ in range(60 if stage in "AC" else 0):  # until the arm moves
        robot.period()
    assert np.abs(robot.u).max() > 0.05
    robot.mission.stop("somebody said so")
    robot.to_the_end()
    assert robot.mission.stage == STOPPED
    np.testing.assert_array_equal(robot.u, 0.0)
    assert robot.sharpest <= 1.0 + 1e-9
    assert "somebody said so" in robot.mission.log[-2].reason


# ---- what stops it -------------------------------------------------------------------------------------------------


def ended_with(robot: Drive) -> str:
    assert robot.mission.stage == STOPPED
    np.testing.assert_array_equal(robot.u, 0.0)
    assert robot.sharpest <= 1.0 + 1e-9
    return next(change.reason for change in robot.mission.log if change.stage == "stopping")


@pytest.mark.parametrize("field", ["q", "qd", "twist"])
def test_a_reading_that_is_no_number_stops_it(body: Body, field: str) -> None:
    robot = Drive(begun(body))
    robot.until("B", 0.3)
    robot.to_the_end(lambda seen: replace(seen, **{field: np.full_like(getattr(seen, field), math.nan)}))
    assert "no number" in ended_with(robot)


def test_odometry_that_is_too_old_stops_it(body: Body) -> None:
    robot = Drive(begun(body))
    robot.until("B", 0.3)
    robot.to_the_end(lambda seen: replace(seen, age_s=0.5))
    assert "0.50 s old" in ended_with(robot)


def test_an_arm_that_does_not_move_runs_out_of_time(body: Body) -> None:
    robot = Drive(begun(body, park=Park(q=PARK, limit_s=3.0)))
    home = robot.q[BASE_JOINTS:].copy()

    def stuck(seen: Seen) -> Seen:
        return replace(seen, q=np.concatenate([seen.q[:BASE_JOINTS], home]))

    robot.to_the_end(stuck)
    assert "stage A was stopped: its time of 3 s is over" in ended_with(robot)


def test_a_base_that_is_slower_than_it_should_be_runs_out_of_time(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, limit_s=2.0, limit_s_m=0.0)))
    robot.to_the_end()
    assert "stage B was stopped: its time of 2 s is over" in ended_with(robot)


def test_a_long_way_may_take_its_time_per_metre(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, limit_s=2.0, limit_s_m=10.0)))
    robot.to_the_end()
    assert robot.mission.stage == DONE
    stand = robot.mission.stand
    assert stand is not None
    assert robot.mission.drive.limit_s == pytest.approx(10.0 * stand.plan.path.length_m)


def test_an_arm_that_cannot_be_parked_in_time_does_not_begin(body: Body) -> None:
    robot = Drive(begun(body, park=Park(q=PARK, limit_s=0.5)))
    robot.to_the_end()
    assert "it cannot begin: the arm needs" in ended_with(robot)
    assert not np.any(robot.commands)


def test_a_locked_base_that_moves_stops_it(body: Body) -> None:
    robot = Drive(begun(body))
    robot.period()

    def pushed(seen: Seen) -> Seen:
        return replace(seen, q=seen.q + 0.02 * np.eye(9)[0])

    robot.to_the_end(pushed)
    assert "the base is locked, and has moved by" in ended_with(robot)


def test_a_base_that_drives_already_does_not_begin(body: Body) -> None:
    robot = Drive(begun(body))
    robot.to_the_end(lambda seen: replace(seen, twist=np.array((0.2, 0.0))) if seen.time_s < 0.1 else seen)
    assert "the base does not stand" in ended_with(robot)


WALL = (2.6, 0.0, 0.2, 4.0)


def test_a_map_that_leaves_no_way_stops_it_before_the_obstacle(body: Body) -> None:
    robot = Drive(begun(body))
    robot.until("B", 0.2)
    robot.mission.see(room(WALL))
    robot.to_the_end()
    why = ended_with(robot)
    assert "something stands in the way" in why
    assert "no other way: There is no way to any of the" in why
    assert robot.mission.planner.free(robot.q[:3])


def test_a_base_takes_another_way_around_what_a_map_shows_in_its_way(body: Body) -> None:
    robot = Drive(begun(body))
    robot.until("B", 0.2)
    before = robot.mission.stand
    assert before is not None
    x, y, _ = before.plan.path.at([0.6 * before.plan.path.length_m])[0, :3]
    grid = room((x - 0.2, y - 0.2, 0.4, 0.4))
    robot.mission.see(grid)
    bare = prepared(grid, Footprint(margin_m=0.0))
    while not robot.mission.ended and robot.time_s < 200.0:
        robot.period()
        assert free_at(bare, *robot.q[:3])
    assert [change.stage for change in robot.mission.log] == ["A", "B", "B", "C", DONE]
    assert "in the way" in robot.mission.log[2].reason
    assert pose_apart(body.pose(robot.q), np.array(GOAL))[0] < 0.005
    assert robot.sharpest <= 1.0 + 1e-9
    stood = [np.abs(u[:2]).max() == 0.0 for u, stage in zip(robot.commands, robot.stages, strict=True) if stage == "B"]
    assert any(stood[100:-100])  # it stood before it went on


def test_other_ways_are_looked_for_as_often_as_allowed_and_no_more(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, detours=2)))
    robot.until("B", 0.1)
    boxes = list[tuple[float, float, float, float]]()
    while not robot.mission.ended and len(boxes) < 9:
        stand = robot.mission.stand
        assert stand is not None
        # whatever way it takes, something small is put on it
        x, y, _ = stand.plan.path.at([0.7 * stand.plan.path.length_m])[0, :3]
        boxes.append((x - 0.1, y - 0.1, 0.2, 0.2))
        seen = robot.mission.detours
        robot.mission.see(room(*boxes))
        while not robot.mission.ended and robot.mission.detours == seen:
            robot.period()
        for _ in range(50):
            robot.period()
    robot.to_the_end()
    assert robot.mission.detours == 2
    assert "and 2 of 2 other ways were tried" in ended_with(robot)
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
    assert "stage B was stopped: it cannot begin: goal" in ended_with(robot)


@pytest.mark.parametrize("off", [(0.05, 0.0, 0.0), (0.0, 0.0, 0.05)])
def test_a_base_beside_its_place_does_not_begin_to_reach(body: Body, off: Any) -> None:
    mission = begun(body)
    stand = mission.prepare(START)
    mission.reach.place = stand.q
    q = np.concatenate([stand.q[:3] + off, PARK])
    assert "from the place to reach from" in mission.reach.enter(Seen(0.0, q, np.zeros(6), np.zeros(2), q[3:], q))
    mission.reach.place = q
    assert mission.reach.enter(Seen(0.0, q, np.zeros(6), np.zeros(2), q[3:], q)) == ""


def test_noise_of_the_measured_place_does_not_stop_a_mission(body: Body) -> None:
    robot, random = Drive(begun(body)), np.random.default_rng(0)

    def noisy(seen: Seen) -> Seen:
        return replace(seen, q=seen.q + random.normal(size=9) * ([0.002] * 3 + [0.0] * 6))

    robot.to_the_end(noisy)
    assert robot.mission.stage == DONE
    assert robot.mission.log[-1].time_s - robot.mission.log[-2].time_s < 8.0
    assert pose_apart(body.pose(robot.q), np.array(GOAL))[0] < 0.005


def test_a_tool_that_does_not_come_near_runs_out_of_time(body: Body) -> None:
    robot = Drive(begun(body, reach=Reach(limit_s=8.0)))
    robot.until("C")
    robot.to_the_end(lambda seen: replace(seen, q=seen.q + 0.02 * np.eye(9)[5]))
    assert "stage C was stopped: its time of 8 s is over" in ended_with(robot)


# ---- at the door ---------------------------------------------------------------------------------------------------


def test_a_goal_out_of_reach_is_refused(body: Body) -> None:
    with pytest.raises(PliantError, match="cannot be reached: there is no place"):
        Mission(body, room(), (*GOAL[:2], 3.0, *GOAL[3:]), SETTINGS, DT)


def test_a_goal_whose_places_are_all_blocked_is_refused(body: Body) -> None:
    with pytest.raises(PliantError, match="would touch an obstacle"):
        begun(body, room((2.9, 0.3, 2.8, 3.4))).prepare(START)


def test_a_goal_behind_a_wall_is_refused(body: Body) -> None:
    with pytest.raises(PliantError, match="no way to any of the"):
        begun(body, room((2.0, 0.0, 0.2, 4.0))).prepare(START)


@pytest.mark.parametrize("start", [(4.5, 2.0, 0.0), (9.0, 1.0, 0.0), (math.nan, 1.0, 0.0)])
def test_a_start_where_the_base_cannot_be_is_refused(body: Body, start: Any) -> None:
    with pytest.raises(PliantError, match="start"):
        begun(body).prepare(start)


@pytest.mark.parametrize("goal", [(math.nan, *GOAL[1:]), GOAL[:3], (*GOAL[:3], 0.0, 0.0, 0.0, 0.0)])
def test_a_goal_that_is_no_pose_is_refused(body: Body, goal: Any) -> None:
    with pytest.raises(PliantError, match="goal is"):
        Mission(body, room(), goal, SETTINGS, DT)


@pytest.mark.parametrize("q", [(1.0,), (9.0,) * 6])
def test_a_park_pose_beyond_the_joints_is_refused(body: Body, q: Any) -> None:
    with pytest.raises(PliantError, match=r"park\.q"):
        begun(body, park=Park(q=q))


def test_a_tool_that_would_take_too_long_is_refused_after_the_rehearsal(body: Body) -> None:
    with pytest.raises(PliantError, match="not at its goal within 1 s"):
        begun(body, reach=Reach(limit_s=1.0)).prepare(START)


def test_the_place_is_the_cheapest_to_drive_to_and_the_arm_reaches_from_it(body: Body) -> None:
    mission = begun(body)
    stand = mission.prepare(START)
    stands = Stands(body, np.array(GOAL), SETTINGS.travel)
    costs = [
        mission.planner.plan(START, place.base).cost_m for place in stands.places if mission.planner.free(place.base)
    ]
    assert len(costs) > 3
    assert stand.plan.cost_m == pytest.approx(min(costs))
    np.testing.assert_allclose(body.pose(stand.q)[:3], GOAL[:3], atol=1e-5)
    np.testing.assert_allclose(stand.plan.path.end[:2], stand.q[:2], atol=1e-6)


def test_what_speaks_against_a_place_is_told_when_it_is_so_of_all(body: Body) -> None:
    mission = begun(body)
    stands = Stands(body, np.array(GOAL), SETTINGS.travel, lambda q: "it is too draughty")
    with pytest.raises(PliantError, match="will do: it is too draughty"):
        stands.nearest(mission.planner, START)
