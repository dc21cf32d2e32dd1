"""A mission as pure logic, on a robot that does exactly what it is told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from obedient import DT, GOAL, SETTINGS, START, Drive, begun, room

from pliant.errors import PliantError
from pliant.mobile.base.base_params import Pursuit
from pliant.mobile.following.followers import RegulatedPurePursuit
from pliant.mobile.mission.mission_params import Park, Reach, Travel
from pliant.mobile.mission.stage_machine import DONE, STOPPED, Mission
from pliant.mobile.mission.stages import pose_apart
from pliant.mobile.planning.base_poses import ReachPoses
from pliant.mobile.planning.planner import HybridAStar, NoPathError, Plan
from pliant.mobile.whole_body.kinematic_body import Body


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
    asked, passed = stage.requested, stage.use_filtered
    last: list[Any] = []
    stage.requested = lambda seen: last.append(asked(seen)) or last[-1]
    stage.use_filtered = passed
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


# ---- at the door ---------------------------------------------------------------------------------------------------


def test_a_goal_out_of_reach_is_refused(body: Body) -> None:
    with pytest.raises(PliantError, match=r"cannot be reached\. No base pose was found"):
        Mission(body, room(), (*GOAL[:2], 3.0, *GOAL[3:]), SETTINGS, DT)


def test_a_goal_whose_places_are_all_blocked_is_refused(body: Body) -> None:
    with pytest.raises(PliantError, match="would touch an obstacle"):
        begun(body, room((2.9, 0.3, 2.8, 3.4))).prepare(START)


def test_a_goal_behind_a_wall_is_refused(body: Body) -> None:
    with pytest.raises(PliantError, match="No path exists to any of the"):
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
    reach_pose = mission.prepare(START)
    stands = ReachPoses(body, np.array(GOAL), SETTINGS.travel)
    costs = [
        mission.planner.plan(START, place.base).cost_m for place in stands.places if mission.planner.free(place.base)
    ]
    assert len(costs) > 3
    assert reach_pose.plan.cost_m == pytest.approx(min(costs))
    np.testing.assert_allclose(body.pose(reach_pose.q)[:3], GOAL[:3], atol=1e-5)
    np.testing.assert_allclose(reach_pose.plan.path.end[:2], reach_pose.q[:2], atol=1e-6)


def test_what_speaks_against_a_place_is_told_when_it_is_so_of_all(body: Body) -> None:
    mission = begun(body)
    stands = ReachPoses(body, np.array(GOAL), SETTINGS.travel, lambda q: "it is too draughty")
    with pytest.raises(PliantError, match="is suitable: it is too draughty"):
        stands.nearest(mission.planner, START)


def test_a_place_that_cannot_be_the_cheapest_is_not_planned_to(body: Body) -> None:
    mission = begun(body)
    asked = list[Any]()

    class Counting(HybridAStar):
        def plan(self, start: Any, goal: Any, go_on: Any = lambda: True) -> Plan:
            asked.append(goal)
            return super().plan(start, goal, go_on)

    stands = ReachPoses(body, np.array(GOAL), SETTINGS.travel)
    planner = Counting(mission.grid, mission.settings.planner)
    reach_pose = stands.nearest(planner, START)
    assert reach_pose.plan.cost_m == pytest.approx(mission.prepare(START).plan.cost_m)
    assert 0 < len(asked) < sum(planner.free(place.base) for place in stands.places)


def test_when_the_time_is_over_the_best_way_found_by_then_is_taken(body: Body) -> None:
    mission, left = begun(body), [40]

    def go_on() -> bool:
        left[0] -= 1
        return left[0] > 0

    stands = ReachPoses(body, np.array(GOAL), SETTINGS.travel)
    assert stands.nearest(mission.planner, START, go_on).plan.path.length_m > 1.0
    with pytest.raises(NoPathError, match="within the time limit"):
        stands.nearest(mission.planner, START, lambda: False)


def test_pure_pursuit_brings_the_base_to_its_place_too(body: Body) -> None:
    robot = Drive(begun(body, travel=Travel(candidates=60, follower="pursuit"), pursuit=Pursuit(goal_m=0.005)))
    robot.to_the_end()
    assert isinstance(robot.mission.drive.follower, RegulatedPurePursuit)
    assert robot.mission.stage == DONE, robot.mission.log
    assert robot.sharpest <= 1.0 + 1e-9


# ---- a way that is looked for beside the periods -------------------------------------------------------------------


class Beside:
    """Looks for a way as long as it is not told to be ready."""

    def __init__(self, mission: Mission) -> None:
        self.mission, self.ready, self.asked = mission, False, list[Any]()
        mission.seek = self.seek

    def seek(self, place: Any) -> Any:
        self.asked.append(place)
        return lambda: self.mission.prepare(place) if self.ready else None


def waiting(body: Body) -> tuple[Drive, Beside]:
    """A robot whose base was shoved while its arm was parked, and that waits for its way."""
    robot = Drive(begun(body))
    robot.mission.prepare(START)
    beside = Beside(robot.mission)
    robot.period()
    robot.q[0] += 0.007
    robot.until("B")
    for _ in range(round(40.0 / DT)):  # longer than it may drive
        robot.period()
    return robot, beside


def test_a_base_waits_while_its_way_is_looked_for_beside_the_periods_and_takes_it_then(body: Body) -> None:
    robot, beside = waiting(body)
    assert robot.mission.stage == "B"
    assert len(beside.asked) == 1
    np.testing.assert_allclose(beside.asked[0], robot.q[:3], atol=1e-3)
    np.testing.assert_array_equal(np.array(robot.commands)[:, :2], 0.0)
    beside.ready = True
    robot.to_the_end()
    assert robot.mission.stage == DONE
    assert robot.sharpest <= 1.0 + 1e-9


def test_a_stop_is_heard_while_a_way_is_looked_for(body: Body) -> None:
    robot, _ = waiting(body)
    robot.mission.stop("somebody said so")
    robot.period()
    assert "somebody said so" in robot.mission.log[-1].reason
    robot.to_the_end()
    assert robot.mission.stage == STOPPED


def test_a_way_that_is_looked_for_and_not_found_stops_it_with_the_reason(body: Body) -> None:
    robot, beside = waiting(body)
    robot.mission.see(room((3.0, 0.0, 0.3, 4.0)))
    beside.ready = True
    robot.to_the_end()
    assert robot.mission.stage == STOPPED
    assert "No path exists" in robot.mission.log[-2].reason


def test_a_base_that_stands_where_its_way_begins_looks_for_none(body: Body) -> None:
    robot = Drive(begun(body))
    robot.mission.prepare(START)
    beside = Beside(robot.mission)
    robot.to_the_end()
    assert robot.mission.stage == DONE
    assert not beside.asked
