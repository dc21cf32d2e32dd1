"""Springs that are given to a tool far from its goal, while the loop runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from pliant.errors import RejectedError
from pliant.params.declare import changed
from pliant.session.in_process.fast_run import simulate
from pliant.session.session import Session
from pliant.spatial import quat_to_mat
from pliant.task.schema import load_task

FREE = (0.0,) * 6


@pytest.fixture(scope="module", params=["base", "tool"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """An arm that is led by hand: nothing pulls it to its goal, wherever that is."""
    task = load_task("hand_guiding")
    quiet = task.sim.model_copy(update={"pushes": ()})
    params = changed(task.params, {"admittance.frame": request.param})
    with Session(task.model_copy(update={"sim": quiet, "params": params})) as arm:
        yield arm


@pytest.fixture
def arm(session: Session, until) -> Session:
    """At its goal, free and at rest, whatever the springs of the last test have begun."""
    session.set({"admittance.stiffness": FREE})
    session.wait(0.01)  # now the springs go, and pull until they are gone
    until(lambda: session.state.state.ramp >= 1.0 and abs(session.state.reading.qd).max() < 1e-3)
    _aim(session, session.pose, until)
    return session


def _aim(arm: Session, pose: np.ndarray, until) -> None:
    arm.goal_pose(pose)
    until(lambda: np.allclose(arm.state.goal.pose, pose))


def _away(arm: Session, axis: int, by: float) -> np.ndarray:
    """A pose away from the tool along one axis of the law, or turned about it."""
    pose, turn = arm.pose, np.zeros((3, 3))
    quat_to_mat(pose[3:], turn)
    way = (turn if arm.parameters.admittance.frame == "tool" else np.eye(3))[:, axis % 3]
    if axis < 3:
        pose[:3] += by * way
        return pose
    w, v = np.cos(by / 2), np.sin(by / 2) * way
    pose[3:] = np.r_[w * pose[3] - v @ pose[4:], w * pose[4:] + pose[3] * v + np.cross(v, pose[4:])]
    return pose


@pytest.mark.parametrize(
    ("axis", "by", "said"),
    [
        (1, 0.6, r"(\d\.\d\d) m apart.*0\.5 m \(limits\.pose_error_m\)"),
        (5, 0.7, r"(\d\.\d\d) rad apart.*0\.5 rad \(limits\.pose_error_rad\)"),
    ],
)
def test_a_spring_that_would_stop_the_robot_is_refused_and_one_across_it_is_not(
    arm: Session, until, axis: int, by: float, said: str
) -> None:
    _aim(arm, _away(arm, axis, by), until)
    spring = [0.0] * 6
    spring[axis] = 20.0
    before = arm.board.adopted
    with pytest.raises(RejectedError) as refused:
        arm.set({"admittance.stiffness": spring})
    found = re.search(f"nothing has changed: the goal and the tool are {said}", str(refused.value))
    assert found
    assert float(found[1]) == pytest.approx(by, abs=0.03)  # nothing holds the arm where it was when the goal was set
    assert arm.board.adopted == before
    arm.set({"admittance.stiffness": [20.0 * (i != axis) for i in range(6)], "sense.cutoff_hz": 20.0})
    arm.wait(0.2)
    assert arm.running


def test_where_the_goal_is_at_the_tool_it_is_taken_over(arm: Session, until) -> None:
    _aim(arm, _away(arm, 0, 0.7), until)
    with pytest.raises(RejectedError, match="Move the goal to the tool"):
        arm.set({"admittance.stiffness": 300.0})
    _aim(arm, arm.pose, until)
    arm.set({"admittance.stiffness": 300.0})
    arm.wait(0.2)
    assert arm.running


@pytest.mark.parametrize(
    ("far", "said"),
    [
        ([5.0, 5.0, 5.0], r"\] m is \d.* m from the base, but the ur5e reaches 1\.\d+ m\."),
        ([0.0, 0.0, -0.6], r"the goal and the tool are .* Move the goal in smaller steps\."),
    ],
)
def test_a_goal_that_would_stop_the_robot_at_once_is_rejected_and_changes_nothing(
    arm: Session, far: list[float], said: str
) -> None:
    arm.set({"admittance.stiffness": 150.0})
    before, sent = arm.state.goal.pose.copy(), int(arm.board.header.queue_in)
    with pytest.raises(RejectedError, match=said):
        arm.goal_position(before[:3] + far)
    with pytest.raises(RejectedError, match=said):
        arm.goal_pose([*(before[:3] + far), *before[3:]])
    assert int(arm.board.header.queue_in) == sent
    arm.goal_position(before[:3] + 0.1 * np.sign(far))
    arm.wait(0.2)
    assert arm.running


def test_a_goal_in_millimetres_is_rejected_as_such_and_changes_nothing(arm: Session) -> None:
    before, sent = arm.state.goal.pose.copy(), int(arm.board.header.queue_in)
    with pytest.raises(RejectedError, match=r"but the ur5e reaches .* m\. Positions are in metres\."):
        arm.goal_pose([*(1e3 * before[:3]), *before[3:]])
    assert int(arm.board.header.queue_in) == sent


def test_a_goal_or_a_command_that_the_law_ignores_is_rejected_and_the_next_law_takes_it(arm: Session) -> None:
    place = arm.pose[:3]
    for law in ("hold", "contact"):
        arm.law(law)
        with pytest.raises(RejectedError, match=f"The goal is rejected: the law {law} does not use a goal pose"):
            arm.goal_position(place)
    arm.command("set_start")
    arm.law("admittance")
    arm.goal_position(place)
    with pytest.raises(RejectedError, match="`start` is rejected: the law is admittance, and only contact takes comm"):
        arm.command("start")


def test_an_undo_that_is_refused_can_be_made_later(arm: Session, until) -> None:
    arm.set({"admittance.stiffness": 150.0})
    arm.set({"admittance.stiffness": FREE})
    _aim(arm, _away(arm, 2, -0.6), until)
    with pytest.raises(RejectedError, match="The stiffness is rejected"):
        arm.undo()
    _aim(arm, arm.pose, until)
    arm.undo()
    assert arm.parameters.admittance.stiffness[2][2] == 150.0
    arm.undo()
    _aim(arm, _away(arm, 2, -0.6), until)
    with pytest.raises(RejectedError, match="The stiffness is rejected"):
        arm.redo()
    _aim(arm, arm.pose, until)
    arm.redo()
    assert arm.parameters.admittance.stiffness[2][2] == 150.0


def test_the_hand_of_the_task_leads_the_arm_back_to_where_a_spring_may_be_turned_up() -> None:
    task = load_task("hand_guiding")
    last = simulate(task).records[-1]
    far = np.linalg.norm(last["observed"]["pose"][:3] - last["goal"]["pose"][:3])
    assert far < 0.1 * task.params.limits.pose_error_m
