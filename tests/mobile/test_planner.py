"""Ways through maps: free of obstacles, drivable, exactly to the goal; and a reason where there is none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pliant.errors import InputError, RejectedError
from pliant.mobile.base.base_params import Footprint, Planner
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.free_space import arc_free, free_at, prepared
from pliant.mobile.planning.grid import UNKNOWN, OccupancyGrid, grid_of
from pliant.mobile.planning.lattice import BLOCKED, run_waves, unmark
from pliant.mobile.planning.planner import HybridAStar, NoPathError, TimeOverError
from pliant.mobile.planning.wave import begin, coarse, distance_to_goal, reaches
from pliant_experiments.rivals.rival_planner import ompl_solves, one_query, uncompiled
from pliant_experiments.scenes.plan_maps import MAPS, queries
from support.needs import needs

BODY = Footprint(margin_m=0.0)


def corridor(gap_m: float) -> OccupancyGrid:
    """10 × 6 m with a wall in the middle that has one gap."""
    cells = np.zeros((60, 100), bool)
    cells[:, 50:52] = True
    half = round(gap_m / 0.2)
    cells[30 - half : 30 + half, 50:52] = False
    return grid_of(cells, 0.1)


def touches(grid: OccupancyGrid, body: Footprint, pose: Any) -> bool:
    """Whether a footprint touches a blocked square or the edge of the map: by points spread over it, the slow way."""
    u, v = np.meshgrid(np.linspace(-body.rear_m, body.front_m, 145), np.linspace(-0.5, 0.5, 121) * body.width_m)
    c, s = math.cos(pose[2]), math.sin(pose[2])
    x, y = pose[0] + c * u - s * v - grid.origin[0], pose[1] + s * u + c * v - grid.origin[1]
    i, j = np.floor(x / grid.resolution_m).astype(int), np.floor(y / grid.resolution_m).astype(int)
    rows, columns = grid.occupancy.shape
    if i.min() < 0 or j.min() < 0 or i.max() >= columns or j.max() >= rows:
        return True
    return bool(grid.blocked()[j, i].any())


def test_the_footprint_touches_what_points_spread_over_it_touch() -> None:
    random = np.random.default_rng(0)
    grid = grid_of(random.uniform(size=(60, 60)) < 0.012, 0.1)
    space, near = prepared(grid, BODY), prepared(grid, Footprint(margin_m=0.01))
    counts = [0, 0]
    for pose in np.column_stack([random.uniform(0, 6, (1500, 2)), random.uniform(-4, 4, 1500)]):
        hit = touches(grid, BODY, pose)
        counts[hit] += 1
        if hit:  # never overlooked
            assert not free_at(space, *pose)
        elif free_at(near, *pose):  # and never imagined, but for what lies between the points
            assert free_at(space, *pose)
        assert free_at(space, *pose) or touches(grid, Footprint(front_m=0.365, rear_m=0.365, width_m=0.61), pose)
    assert min(counts) > 200


def test_an_arc_is_free_exactly_if_all_its_poses_are() -> None:
    random = np.random.default_rng(1)
    grid = grid_of(random.uniform(size=(80, 80)) < 0.006, 0.1)
    space = prepared(grid, Footprint())
    bare = prepared(grid, BODY)
    seen = {True: 0, False: 0}
    for _ in range(600):
        x, y, h = *random.uniform(1, 7, 2), random.uniform(-3, 3)
        k, length = random.choice([-2.0, -1.0, 0.0, 1.0, 2.0]), random.uniform(-2, 2)
        rows = Path((x, y, h), np.array([[k, length]])).samples(0.005)
        free = bool(arc_free(space, x, y, h, k, length))
        seen[free] += 1
        if free:  # the margin covers what happens between two poses that were looked at
            assert all(free_at(bare, *row[:3]) for row in rows)
        else:
            assert not all(free_at(space, *row[:3]) for row in rows)
    assert min(seen.values()) > 50


def test_the_wave_is_never_longer_than_a_way_that_was_found() -> None:
    planner = HybridAStar(MAPS["clutter"](0))
    wave = coarse(planner.space, 2, 1.0)
    for start, goal in queries(planner, 5, 15, roomy=True):
        begin(planner.space, wave, goal[0], goal[1])
        assert reaches(planner.space, wave, start[0], start[1])
        assert (
            distance_to_goal(planner.space, wave, start[0], start[1]) <= planner.plan(start, goal).path.length_m + 1e-9
        )


@pytest.mark.parametrize("name", ["walls", "clutter"])
def test_ways_are_free_drivable_and_end_at_the_goal(name: str) -> None:
    planner = HybridAStar(MAPS[name](2))
    bare = prepared(planner.grid, BODY)
    for start, goal in queries(planner, 2, 20, roomy=True):
        path = planner.plan(start, goal).path
        assert path.start == tuple(start)
        x, y, heading = path.end
        assert math.hypot(x - goal[0], y - goal[1]) < 1e-6
        assert abs(math.remainder(heading - goal[2], math.tau)) < 1e-6
        assert np.abs(path.arcs[:, 0]).max() <= 2.0 + 1e-9
        assert all(free_at(bare, *row[:3]) for row in path.samples(0.02))


def test_shortening_makes_a_way_cheaper_and_never_dearer() -> None:
    grid = MAPS["clutter"](1)
    rough, smooth = HybridAStar(grid, Planner(smooth=False)), HybridAStar(grid)
    costs = [(rough.plan(a, b).cost_m, smooth.plan(a, b).cost_m) for a, b in queries(smooth, 1, 20, roomy=True)]
    assert all(after <= before + 1e-9 for before, after in costs)
    assert np.mean([after for _, after in costs]) < 0.99 * np.mean([before for before, _ in costs])


def test_a_base_backs_out_of_where_it_cannot_turn() -> None:
    cells = np.ones((40, 80), bool)
    cells[16:24, 5:60] = False  # a dead end of 0.8 m, then a room
    cells[5:35, 55:78] = False
    path = HybridAStar(grid_of(cells, 0.1)).plan((1.2, 2.0, math.pi), (6.8, 2.0, math.pi / 2)).path
    assert path.backward_m > 3.0


def test_a_base_between_furniture_gets_out_by_many_short_moves() -> None:
    """A query of the office that wider cells call hopeless, and for which OMPL's RRTConnect has found a way."""
    planner = HybridAStar(MAPS["office"](0))
    start, goal = queries(planner, 0, 23)[22]
    path = planner.plan(start, goal).path
    assert path.end[:2] == pytest.approx(goal[:2], abs=1e-9)
    assert math.remainder(path.end[2] - goal[2], math.tau) == pytest.approx(0.0, abs=1e-9)
    assert all(planner.free(pose) for pose in path.samples(0.05)[:, :3])


def test_the_same_question_has_the_same_answer() -> None:
    planner = HybridAStar(MAPS["office"](0))
    (a, b), (c, d) = queries(planner, 7, 2, roomy=True)
    first = planner.plan(a, b).path.arcs
    planner.plan(c, d)
    assert planner.plan(a, b).path.arcs.tolist() == first.tolist()
    assert HybridAStar(MAPS["office"](0)).plan(a, b).path.arcs.tolist() == first.tolist()


def test_start_and_goal_may_be_the_same() -> None:
    assert HybridAStar(corridor(2.0)).plan((2, 3, 0), (2, 3, 0)).path.length_m == 0.0


def test_a_gap_that_is_too_narrow_is_no_way_and_a_wide_one_is() -> None:
    start, goal = (2.0, 3.0, 0.0), (8.0, 3.0, 0.0)
    assert HybridAStar(corridor(1.2)).plan(start, goal).path.length_m == pytest.approx(6.0, abs=0.2)
    with pytest.raises(NoPathError, match="closed or too narrow"):
        HybridAStar(corridor(0.4)).plan(start, goal)


def test_a_search_ends_when_its_time_is_over_and_finds_its_way_when_it_is_not() -> None:
    planner = HybridAStar(MAPS["office"](2))
    start, goal = queries(planner, 2, 159)[158]
    asked: list[int] = []
    with pytest.raises(TimeOverError, match="No path was found from start to goal within the time limit"):
        planner.plan(start, goal, go_on=lambda: bool(asked.append(0)) or len(asked) < 5)
    assert len(asked) == 5
    assert planner.plan(start, goal).expanded > 2000


def test_a_search_that_gives_up_names_the_setting_that_lets_it_go_on() -> None:
    small = HybridAStar(MAPS["office"](0), Planner(expansions=1))
    a, b = next(pair for pair in queries(small, 0, 50) if math.dist(pair[0][:2], pair[1][:2]) > 20)
    with pytest.raises(NoPathError, match=r"at most 1\). Raise the planner's expansions"):
        small.plan(a, b)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ((5.05, 1.0, 0.0), "start .* is not free"),
        ((0.1, 3.0, 0.0), "start .* is not free"),
        ((-4.0, 3.0, 0.0), "start .* is not on the map"),
        ((math.nan, 3.0, 0.0), "start .* three finite numbers"),
        ((2.0, 3.0), "start .* three finite numbers"),
    ],
)
def test_a_start_that_is_none_is_refused_by_name(start: Any, words: str) -> None:
    planner = HybridAStar(corridor(2.0))
    with pytest.raises(InputError, match=words):
        planner.plan(start, (8.0, 3.0, 0.0))
    with pytest.raises(InputError, match=words.replace("start", "goal")):
        planner.plan((8.0, 3.0, 0.0), start)


def test_uncompiled_the_search_finds_the_same_way() -> None:
    quick, slow = one_query("walls", 4, 1, 1), uncompiled("walls", 4, 1)
    assert quick["expanded"] == slow["expanded"]
    assert np.array(slow["arcs"]) == pytest.approx(np.array(quick["arcs"]), abs=1e-9)


@needs("ompl")
def test_ompl_as_we_ask_it_solves_what_has_a_way_and_nothing_else() -> None:
    start, goal = np.array([2.0, 3.0, 0.0]), np.array([8.0, 3.0, 2.0])
    assert ompl_solves(HybridAStar(corridor(2.0)), start, goal, 20.0)
    assert not ompl_solves(HybridAStar(corridor(0.4)), start, goal, 0.3)


@pytest.mark.parametrize("pose", [(2.0, 3.0, 0.3), (2.0, 3.0, 0.3 + 2 * math.pi)])
def test_a_whole_turn_makes_no_difference(pose: Any) -> None:
    assert HybridAStar(corridor(2.0)).plan((8, 3, 0), pose).path.length_m == pytest.approx(
        HybridAStar(corridor(2.0)).plan((8, 3, 0), (2.0, 3.0, 0.3)).path.length_m
    )


def test_a_course_spares_a_search_of_all_rooms_before_gaps_that_are_too_tight_to_turn_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planner = HybridAStar(MAPS["office"](2))
    start, goal = queries(planner, 2, 159)[158]
    guided = planner.plan(start, goal)
    wave = coarse(planner.space, 2, 1.0)
    begin(planner.space, wave, goal[0], goal[1])
    assert reaches(planner.space, wave, start[0], start[1])
    # a disc would come through where a base does not
    assert distance_to_goal(planner.space, wave, start[0], start[1]) < 0.5 * guided.path.length_m
    monkeypatch.setattr("pliant.mobile.planning.planner.HARD", 10**9)
    assert guided.expanded < 0.2 * planner.plan(start, goal).expanded


def test_waves_from_both_ends_meet_on_a_course_that_a_search_can_keep_to() -> None:
    planner = HybridAStar(MAPS["office"](1))
    there, back = planner.lattices
    solved = 0
    for start, goal in queries(planner, 1, 12, roomy=True):
        try:
            plan = planner.plan(start, goal)
        except NoPathError:
            continue
        solved += 1
        beside = np.ones(planner.waves[0].steps.shape, bool)
        met = run_waves(planner.space, there, back, goal, start)
        assert met >= 0
        for part in (there, back):
            unmark(part, met, 2, beside)
        corner, side = planner.space.about[0], there.about[0].side
        for x, y, _ in (start, goal):  # it leads from one to the other
            assert not beside[int((y - corner.y) / side), int((x - corner.x) / side)]
        length = 0.1 * min(int(there.about[0].least), int(back.about[0].least)) * float(side)
        assert length > 0.6 * math.dist(start[:2], goal[:2])
        assert length < 3.0 * plan.cost_m + 10.0
    assert solved > 8


def test_no_step_of_a_wave_leads_around_the_edge_of_the_map() -> None:
    planner = HybridAStar(OccupancyGrid(np.zeros((40, 50)), 0.1), Planner(radius_m=3.0))
    lat = planner.lattices[0]
    w = lat.about[0]
    price = lat.price.reshape(int(w.rows), int(w.columns), -1)
    reached = np.argwhere(price != BLOCKED)
    assert len(reached)
    for row, column, heading in reached:
        for jump in lat.jumps[heading]:
            to = (row * w.columns + column) * price.shape[2] + heading + jump
            assert 0 <= to < lat.price.size
            cell = to // price.shape[2]
            assert max(abs(cell // w.columns - row), abs(cell % w.columns - column)) <= w.margin


def test_a_course_of_one_query_is_forgotten_in_the_next() -> None:
    planner = HybridAStar(MAPS["office"](2))
    asked = queries(planner, 2, 160)
    first = planner.plan(*asked[3]).path.arcs
    planner.plan(*asked[158])  # a hard one
    assert planner.plan(*asked[3]).path.arcs.tolist() == first.tolist()


def test_shortening_does_not_make_more_and_more_arcs_of_rounding() -> None:
    planner = HybridAStar(MAPS["office"](3))
    start, goal = queries(planner, 3, 80)[79]
    planner._spare[:] = math.nan
    path = planner.plan(start, goal).path
    assert len(path.arcs) < 40
    assert np.isfinite(planner._spare[:, 0]).sum() < 10 * path.length_m  # at no time were there many


def test_a_place_in_unknown_cells_is_refused_as_that_and_let_through_where_that_is_allowed() -> None:
    cells = np.zeros((40, 40), np.int8)
    cells[:, 20:] = UNKNOWN
    grid = OccupancyGrid(cells, 0.1, (0.0, 0.0))
    with pytest.raises(
        RejectedError, match=r"goal .* unknown cells of the map \(the planner's unknown=free allows them"
    ):
        HybridAStar(grid).check((1.0, 2.0, 0.0), (3.0, 2.0, 0.0))
    HybridAStar(grid, Planner(unknown="free")).check((1.0, 2.0, 0.0), (3.0, 2.0, 0.0))


@pytest.mark.parametrize("pose", [(1.0, 2.0, math.nan), (math.inf, 2.0, 0.0), (1.0, 2.0)])
def test_whether_what_is_no_pose_is_free_is_not_answered(pose: Any) -> None:
    with pytest.raises(RejectedError, match="three finite numbers"):
        HybridAStar(OccupancyGrid(np.zeros((40, 40), np.int8), 0.1, (0.0, 0.0))).free(pose)
