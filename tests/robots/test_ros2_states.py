"""What an arm over ROS 2 says of itself: joints by their names, and what cannot be believed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pliant.model.arm import Arm
from pliant.robots.ros2_arm import joint_states
from pliant.robots.ros2_arm.joint_states import Forces, JointStates
from pliant.ros2 import message_types

ARM = Arm.load("ur5e")
NAMES, Q = list("abcdef"), [1, 2, 3, 1, 2, 3]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock by which messages arrive: it advances only when a test sets `now_s`."""
    clock = SimpleNamespace(now_s=50.0)
    times = SimpleNamespace(monotonic=lambda: clock.now_s, time=lambda: 1000.0 + clock.now_s)
    monkeypatch.setattr(joint_states, "time", times)
    return clock


def state(names: list[str], q: Any, qd: Any = (), sec: int = 1, effort: Any = ()) -> Any:
    fields = {"header": {"stamp": {"sec": sec}}, "name": names}
    return message_types.build(message_types.JOINT_STATE, fields, [np.array(run, float) for run in (q, qd, effort)])


def force(values: Any = (1, 2, 3, 4, 5, 6), sec: int = 0) -> Any:
    return message_types.build(
        message_types.WRENCH_STAMPED, {"header": {"stamp": {"sec": sec}}}, [np.array(values, float)]
    )


def heard(q: Any = Q, qd: Any = (), gap_s: float = 0.1) -> JointStates:
    """Joint states that are known already."""
    joints = JointStates(ARM, NAMES, gap_s)
    assert joints.take(state(NAMES, q, qd), 7)
    return joints


def test_joints_are_known_by_their_names_in_any_order_and_among_others() -> None:
    joints = JointStates(ARM, NAMES, 0.1)
    assert joints.take(state(["gripper", *"fdceab"], [9, 6, 1, 3, 5, 1, 2], [90, 6, 4, 3, 5, 1, 2]))
    assert joints.q.tolist() == [1, 2, 3, 1, 5, 6]
    assert joints.qd.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_message_without_all_joints_or_all_numbers_is_not_for_us() -> None:
    joints = JointStates(ARM, NAMES, 0.1)
    assert not joints.take(state(["a", "b"], [1, 2]))
    assert not joints.take(state(NAMES, [1, 2]))
    assert not joints.is_known
    assert joints.fault == ""


def test_a_publisher_that_repeats_itself_or_tells_of_the_past_counts_as_silent(clock: SimpleNamespace) -> None:
    joints = heard()
    joints.take(state(NAMES, Q, sec=9), 7)
    before = joints.heard_s
    clock.now_s += 0.01
    for sec in (9, 8):
        joints.take(state(NAMES, np.array(Q) + 0.01, sec=sec), 7)
    assert joints.q.tolist() == Q
    assert joints.heard_s == before
    joints.take(state(NAMES, Q, sec=10), 7)
    assert joints.heard_s == clock.now_s


@pytest.mark.parametrize("left_out", [(), [np.nan] * 6])
def test_velocities_that_are_not_sent_are_worked_out(left_out: Any) -> None:
    joints = heard(gap_s=5.0)
    joints.take(state(NAMES, [1.5, 2, 2, 1, 2, 3], left_out, sec=3), 7)
    assert joints.fault == ""
    assert joints.qd.tolist() == [0.25, 0, -0.5, 0, 0, 0]


def test_a_second_publisher_of_the_same_joints_is_not_believed_and_one_of_others_is_no_matter() -> None:
    joints = heard()
    assert not joints.take(state(["gripper"], [0.2], sec=2), 8)
    assert joints.fault == ""
    assert not joints.take(state(NAMES, Q, sec=2), 8)
    assert "more than one publisher reports the arm's joints" in joints.fault


@pytest.mark.parametrize(
    ("q", "qd", "says"),
    [
        ([1, np.nan, 3, 1, 2, 3], (), "b reports position nan and speed 0: not finite"),
        ([1e300] * 6, (), r"a reports position 1e\+300, outside its range of -6.28 to 6.28"),
        ([1, 2, 3.3, 1, 2, 3], (), "c reports position 3.3, outside its range of -3.14 to 3.14"),
        (Q, [0, 0, np.inf, 0, 0, 0], "c reports position 3 and speed inf"),
        (Q, [0, np.nan, 0, 0, 0, 0], "b reports position 2 and speed nan"),
        (Q, [0, 0, 0, -1e9, 0, 0], r"d reports a speed of -1e\+09 per second; its limit is 3.14"),
    ],
)
def test_a_state_that_no_arm_is_in_is_a_fault_and_is_not_taken_over(q: Any, qd: Any, says: str) -> None:
    for joints in (JointStates(ARM, NAMES, 0.1), heard()):
        before = joints.q.copy()
        assert not joints.take(state(NAMES, q, qd, sec=2), 7)
        with pytest.raises(ValueError, match=says):
            raise ValueError(joints.fault)
        assert joints.q.tolist() == before.tolist()
        assert not joints.take(state(NAMES, Q, sec=3), 7)  # what was a fault stays one


def test_a_joint_that_jumps_is_a_fault_whatever_its_stamp_says() -> None:
    joints = heard(gap_s=0.1)
    assert not joints.take(state(NAMES, np.array(Q) - [0, 1, 0, 0, 0, 0], sec=1000), 7)
    assert "b jumped from 2 to 1 within 100 ms" in joints.fault


def test_after_a_pause_a_joint_may_be_as_far_as_it_can_have_moved(clock: SimpleNamespace) -> None:
    joints = heard(gap_s=0.1)
    clock.now_s += 1.0
    assert joints.take(state(NAMES, np.array(Q) - [0, 1, 0, 0, 0, 0], sec=2), 7)


def test_torques_that_are_no_numbers_are_none() -> None:
    joints = JointStates(ARM, NAMES, 0.1)
    assert joints.take(state(NAMES, Q, [0] * 6, effort=[1, np.nan, np.inf, 4, 5, 6]))
    assert joints.tau.tolist() == [1, 0, 0, 4, 5, 6]


# ---- the wrench ----------------------------------------------------------------------------------------------------


def test_a_wrench_with_a_stamp_ahead_of_the_joints_is_a_fault() -> None:
    forces = Forces(1.0, ahead_s=0.5)
    forces.take(force(sec=100), 7, 99.6)
    assert forces.fault == ""
    assert forces.stamp_s == 100.0
    forces.take(force(sec=200), 7, 100.0)
    assert "stamped 100 s ahead of the joint states" in forces.fault
    assert forces.stamp_s == 100.0


def test_a_second_publisher_of_the_wrench_is_a_fault() -> None:
    forces = Forces(-1.0, ahead_s=0.5)
    forces.take(force(), 7, 1.0)
    forces.take(force([9] * 6), 8, 1.0)
    assert "more than one publisher reports the wrench" in forces.fault
    assert forces.wrench.tolist() == [-1, -2, -3, -4, -5, -6]


def test_a_wrench_that_has_stopped_coming_is_old_whatever_its_stamp_says(clock: SimpleNamespace) -> None:
    forces = Forces(1.0, ahead_s=0.5)
    forces.take(force(sec=100), 7, 99.9)
    assert forces.made_s(100.0, late_s=0.1) == 100.0
    clock.now_s += 2.0
    assert forces.made_s(100.2, late_s=0.1) == pytest.approx(98.2)


def test_a_wrench_without_a_stamp_was_made_when_it_came() -> None:
    forces = Forces(1.0, ahead_s=0.5)
    forces.take(force(), 7, 12.5)
    assert forces.stamp_s == 12.5
