"""Limits of torque laws for any demand: torque, its change, joint acceleration, speed, stops, reach and stretch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.control.laws.impedance.impedance_law import MEMORY
from pliant.control.limits.goal_reach import bring_into_reach, lead_round, limit_stretch
from pliant.control.limits.joint_drive import limit_drive, too_fast
from pliant.control.limits.joint_torque import limit_torque, share_torque
from pliant.control.limits.smoothed_goal import smooth_goal, yield_lead
from pliant.control.parameters import Limits
from pliant.model import Arm
from pliant.params.packing import to_record
from pliant.records import (
    LIMIT_ACCELERATION,
    LIMIT_POSITION,
    LIMIT_REACH,
    LIMIT_SPEED,
    LIMIT_STRETCH,
    LIMIT_TOOL_SPEED,
    LIMIT_TORQUE,
    LIMIT_TORQUE_RATE,
    LIMIT_WORKSPACE,
    LIMITS,
    OBSERVED,
    STATE,
)

Array = np.ndarray[Any, Any]
DT = 0.001


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm.load("two_link")


def limits(**values: Any) -> Any:
    return to_record(Limits(**values))[0]


def twelve(*values: float) -> Array:
    return np.array([*values, *[0.0] * (12 - len(values))])


# ---- torque --------------------------------------------------------------------------------------------------------


def test_torques_never_exceed_what_the_drives_can_give(arm: Arm) -> None:
    random, s = np.random.default_rng(0), STATE.new()[0]
    for _ in range(2000):
        tau = twelve(*(random.normal(size=2) * 10 ** random.uniform(0, 6)))
        assert limit_torque(limits(), arm.handle[0], s, tau, DT, bool(random.random() < 0.3), OBSERVED.new()[0])
        assert (np.abs(tau[:2]) <= arm.tau_max).all()


def test_what_is_asked_anew_comes_no_faster_than_torque_rise_allows(arm: Arm) -> None:
    random, s, p = np.random.default_rng(0), STATE.new()[0], limits(torque_rise_s=0.02)
    before = np.zeros(2)
    for _ in range(50):
        asked = random.uniform(-1, 1, 2) * arm.tau_max
        for tick in range(60):
            tau = twelve(*asked)
            limit_torque(p, arm.handle[0], s, tau, DT, tick == 0, OBSERVED.new()[0])
            assert (np.abs(tau[:2] - before) <= arm.tau_max * DT / 0.02 * (1 + 1e-9)).all()
            before = tau[:2].copy()
        assert_allclose(before, asked, atol=1e-12)


def test_the_answer_to_motion_is_not_slowed_even_while_something_new_is_on_its_way(arm: Arm) -> None:
    s, p, outs = STATE.new()[0], limits(torque_rise_s=0.02), []
    for tick in range(8):
        tau = twelve(40.0 + 60.0 * (tick % 2), 0.0)  # it swings by 60 N m from tick to tick
        limit_torque(p, arm.handle[0], s, tau, DT, tick == 0, OBSERVED.new()[0])
        outs.append(tau[0])
    assert_allclose(np.diff(outs), [70.0, -50.0, 70.0, -60.0, 60.0, -60.0, 60.0])


def test_a_hard_rate_holds_for_whatever_asks_and_is_off_unless_set(arm: Arm) -> None:
    random, s, p = np.random.default_rng(0), STATE.new()[0], limits(torque_rate_nm_s=1000.0)
    before, cuts = np.zeros(2), 0
    for _ in range(500):
        tau, o = twelve(*(random.uniform(-1, 1, 2) * arm.tau_max)), OBSERVED.new()[0]
        limit_torque(p, arm.handle[0], s, tau, DT, bool(random.random() < 0.3), o)
        assert (np.abs(tau[:2] - before) <= 1000.0 * DT * (1 + 1e-9)).all()
        before, cuts = tau[:2].copy(), cuts + bool(o.limits & LIMIT_TORQUE_RATE)
    assert cuts > 400
    tau = twelve(100.0, 0.0)
    limit_torque(limits(), arm.handle[0], STATE.new()[0], tau, DT, False, OBSERVED.new()[0])
    assert tau[0] == 100.0


def test_a_torque_within_its_limits_passes_untouched_and_what_is_cut_is_said(arm: Arm) -> None:
    s, o, tau = STATE.new()[0], OBSERVED.new()[0], twelve(3.0, -2.0)
    limit_torque(limits(), arm.handle[0], s, tau, DT, False, o)
    assert_array_equal(tau[:2], [3.0, -2.0])
    assert o.limits == 0
    limit_torque(limits(torque_rise_s=1e-6), arm.handle[0], s, twelve(900.0, 0.0), DT, True, o)
    assert o.limits == LIMIT_TORQUE
    assert (o.asked[4], o.allowed[4]) == (900.0, 200.0)
    o = OBSERVED.new()[0]
    limit_torque(limits(torque_rise_s=0.02), arm.handle[0], STATE.new()[0], twelve(100.0, 0.0), DT, True, o)
    assert o.limits == LIMIT_TORQUE_RATE
    assert (o.asked[8], o.allowed[8]) == pytest.approx((1e5, 1e4))
    assert len(o.asked) == len(LIMITS)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_torque_that_is_no_number_is_refused_and_the_last_ones_stay(bad: float, arm: Arm) -> None:
    s, tau = STATE.new()[0], twelve(3.0, -2.0)
    assert limit_torque(limits(), arm.handle[0], s, tau, DT, False, OBSERVED.new()[0])
    tau = twelve(50.0, bad)
    assert not limit_torque(limits(), arm.handle[0], s, tau, DT, False, OBSERVED.new()[0])
    assert_array_equal(tau[:2], [3.0, -2.0])
    assert_array_equal(s.tau[:2], [3.0, -2.0])


def test_what_compensates_comes_first_and_what_drives_is_scaled_by_one_factor(arm: Arm) -> None:
    random = np.random.default_rng(1)
    for _ in range(1000):
        base = random.uniform(-0.9, 0.9, 2) * arm.tau_max
        drive = random.normal(size=2) * 10 ** random.uniform(0, 4)
        share = share_torque(arm.handle[0], twelve(*base), twelve(*drive), OBSERVED.new()[0])
        total = base + share * drive
        assert 0.0 < share <= 1.0
        assert (np.abs(total) <= arm.tau_max * (1 + 1e-12)).all()
        if share < 1.0:  # no more than needed
            assert np.abs(np.abs(total) - arm.tau_max).min() < 1e-9


def test_a_joint_that_its_load_overwhelms_does_not_stop_the_others(arm: Arm) -> None:
    assert share_torque(arm.handle[0], twelve(250.0, 0.0), twelve(50.0, 30.0), OBSERVED.new()[0]) == 1.0


# ---- joint accelerations -------------------------------------------------------------------------------------------


def cut(arm: Arm, qdd: Array, q: Array, qd: Array, **values: Any) -> tuple[Array, Any]:
    out, o = twelve(*qdd), OBSERVED.new()[0]
    limit_drive(limits(**values), arm.handle[0], twelve(*q), twelve(*qd), out, DT, o)
    return out[:2], o


def test_accelerations_are_scaled_by_one_factor(arm: Arm) -> None:
    out, o = cut(arm, np.array([400.0, -100.0]), np.zeros(2), np.zeros(2))
    assert_allclose(out, [100.0, -25.0])
    assert o.limits == LIMIT_ACCELERATION
    assert o.scale == pytest.approx(0.25)


def test_a_joint_beyond_its_top_speed_is_braked_and_one_below_is_left_alone(arm: Arm) -> None:
    out, o = cut(arm, np.array([10.0, 10.0]), np.zeros(2), np.array([5.5, 1.0]))
    assert out[0] < 0
    assert out[1] == 10.0
    assert o.limits == LIMIT_SPEED


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_joint_that_is_driven_towards_its_stop_comes_to_rest_before_it(side: float, arm: Arm) -> None:
    q, qd, speeds, acted = np.zeros(2), np.zeros(2), [], 0
    for _ in range(5000):
        out, o = cut(arm, np.array([side * 30.0, 0.0]), q, qd)
        acted |= int(o.limits)
        qd = qd + DT * out
        q = q + DT * qd
        speeds.append(abs(qd[0]))
    assert max(speeds) <= 5.0 * 1.001
    assert side * q[0] < arm.q_max[0]
    assert side * q[0] > arm.q_max[0] - 0.1
    assert speeds[-1] < 1e-3
    assert acted & LIMIT_SPEED
    assert acted & LIMIT_POSITION


# ---- reach and stretch ---------------------------------------------------------------------------------------------


def brought(arm: Arm, x: float, y: float, twist: Any = 0.0, tool: Any = (1.0, 0.5, 0.0), **values: Any) -> Any:
    goal, v, a, o = np.array([x, y, 0.0]), np.zeros(6), np.ones(6), OBSERVED.new()[0]
    v[:2] = twist
    bring_into_reach(limits(**values), arm.handle[0], np.array(tool), goal, v, a, o)
    lead_round(limits(**values), arm.handle[0], np.array(tool), goal, v, a, o)
    return goal, v, a, o


def test_the_reach_of_two_links_is_the_sum_and_the_difference_of_their_lengths(arm: Arm) -> None:
    assert arm.handle["reach_min"][0] == pytest.approx(0.4)
    assert arm.handle["reach_max"][0] == pytest.approx(1.6)
    assert_array_equal(arm.handle["reach_center"][0], 0.0)


@pytest.mark.parametrize("name", ["ur3e", "ur10e"])
def test_no_posture_of_an_arm_leaves_its_reach(name: str) -> None:
    larger, random = Arm.load(name), np.random.default_rng(0)
    center, low, high = (larger.handle[field][0] for field in ("reach_center", "reach_min", "reach_max"))
    far = [np.linalg.norm(larger.pose(random.uniform(-3, 3, 6))[:3] - center) for _ in range(500)]
    assert low <= min(far)
    assert max(far) <= high


@pytest.mark.parametrize(
    ("x", "y", "radius"), [(0.2, 0.1, 0.42), (1.5, 1.5, 1.58), (-3.0, 4.0, 1.58), (1e4, 0.0, 1.58)]
)
def test_a_goal_out_of_reach_is_brought_to_its_edge_in_the_same_direction(
    arm: Arm, x: float, y: float, radius: float
) -> None:
    goal, _, a, o = brought(arm, x, y)
    assert_allclose(goal[:2], radius * np.array([x, y]) / np.hypot(x, y))
    assert o.limits == (LIMIT_REACH if abs(x) < 10 else LIMIT_REACH | LIMIT_WORKSPACE)
    assert not a[:3].any()


def test_a_goal_within_reach_is_left_alone(arm: Arm) -> None:
    goal, v, a, o = brought(arm, 1.1, -0.7, twist=(0.3, 0.2))
    assert_array_equal(goal, [1.1, -0.7, 0.0])
    assert_array_equal(v[:2], [0.3, 0.2])
    assert a.all()
    assert o.limits == 0


def test_a_goal_at_the_very_middle_is_brought_to_the_side_where_the_tool_is(arm: Arm) -> None:
    goal, _, _, _ = brought(arm, 0.0, 0.0, tool=(0.0, 1.2, 0.0))
    assert_allclose(goal, [0.0, 0.42, 0.0], atol=1e-9)


def test_the_velocity_of_a_goal_beyond_the_reach_is_that_of_its_image(arm: Arm) -> None:
    for angle in np.linspace(0, 6, 7):
        here = 2.0 * np.array([np.cos(angle), np.sin(angle)])
        v = np.array([0.3, -0.5])
        step = 1e-6
        tool = (*(0.6 * here), 0.0)
        goal, image, _, _ = brought(arm, *here, twist=v, tool=tool)
        later, _, _, _ = brought(arm, *(here + step * v), tool=tool)
        assert_allclose(image[:2], (later - goal)[:2] / step, atol=1e-5)


def test_a_spring_pulls_no_harder_than_at_its_largest_stretch_and_keeps_its_direction() -> None:
    e, o = np.array([3.0, 0.0, 4.0, 0.1, 0.0, 0.0]), OBSERVED.new()[0]
    limit_stretch(limits(), e, o)
    assert_allclose(e, [0.3, 0.0, 0.4, 0.1, 0.0, 0.0])
    assert o.limits == LIMIT_STRETCH
    assert (o.asked[10], o.allowed[10]) == (5.0, 0.5)


def test_a_way_through_the_hole_is_led_round_it_along_the_tangent(arm: Arm) -> None:
    tool = np.array([1.0, 0.1, 0.0])
    goal, v, _, o = brought(arm, -1.0, 0.1, twist=(0.1, 0.0), tool=tool)
    way = goal - tool
    assert np.linalg.norm(way) == pytest.approx(2.0)
    nearest = tool - (tool @ way) / (way @ way) * way
    assert np.linalg.norm(nearest) == pytest.approx(0.42)
    assert way[1] > 0  # over the top: the goal is above the line from the tool through the shoulder
    assert not v[:3].any()
    assert o.limits == LIMIT_REACH


def test_exactly_opposite_one_way_round_is_chosen(arm: Arm) -> None:
    goal, _, _, _ = brought(arm, -1.0, -0.5, tool=(1.0, 0.5, 0.0))
    assert np.isfinite(goal).all()
    way = goal[:2] - [1.0, 0.5]
    assert abs(1.0 * way[1] - 0.5 * way[0]) > 0.1


@pytest.mark.parametrize("goal", [(1.2, -0.4), (-0.5, 1.0), (0.43, 0.0)])
def test_a_way_that_passes_the_hole_is_left_straight(arm: Arm, goal: tuple[float, float]) -> None:
    out, _, _, o = brought(arm, *goal, tool=(1.0, 0.6, 0.0))
    assert_array_equal(out[:2], goal)
    assert o.limits == 0


def test_led_round_the_hole_a_tool_that_simply_follows_arrives_without_entering_it(arm: Arm) -> None:
    tool, least = np.array([1.1, 0.2, 0.0]), 9.0
    for _ in range(4000):
        goal, _, _, _ = brought(arm, -1.1, -0.25, tool=tool)
        tool = tool + 0.002 * (goal - tool) / max(np.linalg.norm(goal - tool), 0.002)
        least = min(least, float(np.linalg.norm(tool)))
    assert_allclose(tool[:2], [-1.1, -0.25], atol=1e-3)
    assert least > 0.41


BOX = {"workspace_min_m": (0.2, -0.3, -1.0), "workspace_max_m": (1.5, 0.5, 1.0)}


def test_no_goal_is_led_out_of_the_workspace_box(arm: Arm) -> None:
    random, cut_through = np.random.default_rng(2), 0
    for _ in range(3000):
        tool = np.array([*random.uniform(-1.6, 1.6, 2), 0.0])
        goal, _, _, _ = brought(arm, *random.uniform(-2.5, 2.5, 2), tool=tool, **BOX)
        assert (goal >= BOX["workspace_min_m"]).all()
        assert (goal <= BOX["workspace_max_m"]).all()
        cut_through += bool(0.42 - 1e-6 <= np.linalg.norm(goal) <= 1.58 + 1e-6)
    assert cut_through > 2000  # and most are within reach too


# ---- the led goal --------------------------------------------------------------------------------------------------

FREE = np.array([np.inf] * 6)


def led(goal: Array, ticks: int, twist: Any = None, pace: Array = FREE, **values: Any) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of the led goal on its way from the origin to `goal` (or along it)."""
    k, p, rows = MEMORY.new()[0], limits(**values), []
    k.led[3] = 1.0
    for i in range(ticks):
        at = np.zeros(7)
        at[:3], at[3] = goal[i] if goal.ndim > 1 else goal, 1.0
        v, a, gap = np.zeros(6), np.zeros(6), np.zeros(6)
        v[:3] = 0.0 if twist is None else twist[i]
        gap[:3] = at[:3] - k.led[:3]
        smooth_goal(p, k, at, v, a, gap, pace, DT, OBSERVED.new()[0])
        rows.append((at[:3].copy(), v[:3].copy(), a[:3].copy()))
    places, speeds, accels = (np.array(column) for column in zip(*rows, strict=True))
    return places, speeds, accels


def test_a_goal_that_jumps_is_led_within_speed_and_acceleration_and_arrives(arm: Arm) -> None:
    goal = np.array([0.6, -0.3, 0.2])
    places, speeds, accels = led(goal, 2500)
    assert np.linalg.norm(speeds, axis=1).max() <= 0.5 * (1 + 1e-9)
    assert np.linalg.norm(accels, axis=1).max() <= 5.0 * 1.02
    assert_allclose(places[-1], goal, atol=1e-12)
    assert not speeds[-1].any()
    assert (places @ goal).max() <= goal @ goal * (1 + 1e-9)  # it does not overshoot
    assert_allclose(np.diff(places, axis=0), DT * speeds[1:], atol=1e-5)


def test_a_goal_that_is_led_goes_no_faster_than_the_joints_can_follow(arm: Arm) -> None:
    pace = np.array([0.1, 0.4, np.inf, np.inf, np.inf, np.inf])
    _, speeds, accels = led(np.array([0.3, 0.0, 0.0]), 5000, pace=pace)
    assert speeds.max() == pytest.approx(0.1)
    assert np.abs(accels).max() <= 0.4 * 1.02 or np.abs(accels[np.abs(accels) > 0.41]).max() <= 5.05


def test_a_goal_that_tells_its_motion_is_not_touched(arm: Arm) -> None:
    t = np.arange(3000) * DT
    way = 0.1 * np.column_stack([1 - np.cos(t), t - np.sin(t), 0 * t])
    speed = 0.1 * np.column_stack([np.sin(t), 1 - np.cos(t), 0 * t])
    places, speeds, _ = led(way, 3000, speed)
    assert_array_equal(places, way)
    assert_array_equal(speeds, speed)


def test_a_led_goal_gives_way_to_a_tool_that_cannot_follow(arm: Arm) -> None:
    k, tool = MEMORY.new()[0], np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    k.led[:] = (1.4, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    yield_lead(k, tool, np.zeros(6), 1.0, 1.0, np.zeros(6), DT)
    assert k.led[0] == 1.4
    for _ in range(1000):
        yield_lead(k, tool, np.zeros(6), 0.1, 1.0, np.zeros(6), DT)
    assert k.led[0] == pytest.approx(1.0, abs=1e-3)


def test_a_tool_below_its_top_speed_is_left_alone_and_one_above_is_braked(arm: Arm) -> None:
    o, still, push = OBSERVED.new()[0], np.zeros(6), np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert too_fast(still, push, 0, 0.5, o) == 0.0
    assert too_fast(np.array([0.3, 0.0, 0.0, 9.0, 0.0, 0.0]), push, 0, 0.5, o) == 0.0
    assert o.limits == 0
    v = np.array([0.6, 0.0, 0.0, 0.0, 0.0, 0.0])
    more = too_fast(v, push, 0, 0.5, o)
    assert (push - more * v)[0] == pytest.approx((0.5 - 0.6) / 0.02)
    assert o.limits == LIMIT_TOOL_SPEED
