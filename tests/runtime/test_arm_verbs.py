"""The calls that a session and a Simulation share: checked alike, and rejected where a law would ignore them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_link import WRONG

import pliant
from pliant.errors import InputError, RejectedError, WaitTimeoutError
from pliant.params.declare import validated
from pliant.session.in_process.simulation import Simulation
from pliant.session.session import connect
from pliant.stability.guard import guard_start
from pliant.task.schema import Task, load_task


@pytest.fixture
def arm() -> Simulation:
    made = Simulation(Task(law="admittance"))
    made.step(5)
    return made


# ---- goals and laws ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", WRONG)
def test_a_simulation_rejects_what_a_session_rejects(arm: Simulation, case: str) -> None:
    call, words = WRONG[case]
    before = arm.snapshot().content["records"]
    with pytest.raises(InputError, match=words):
        call(arm)
    assert [one.tobytes() for one in arm.snapshot().content["records"]] == [one.tobytes() for one in before]


IGNORED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a goal pose": (lambda arm: arm.goal_pose(arm.pose), "The goal is rejected: the law hold does not use a goal pose"),
    "a goal twist": (lambda arm: arm.goal_twist([0.01, 0, 0, 0, 0, 0]), "The goal is rejected: the law hold does not"),
    "a goal acceleration": (lambda arm: arm.goal_accel([0.01, 0, 0, 0, 0, 0]), "The goal is rejected: the law hold"),
    "a wrench goal": (
        lambda arm: arm.goal_wrench([0, 0, 5, 0, 0, 0]),
        r"The wrench goal is rejected: the law hold ignores it\. Switch to admittance or impedance",
    ),
    "a virtual push": (
        lambda arm: arm.virtual_push([5, 0, 0], for_s=0.1),
        "The virtual push is rejected: the law hold ignores it",
    ),
    "a command": (lambda arm: arm.command("start"), "`start` is rejected: the law is hold"),
}


@pytest.mark.parametrize("case", IGNORED)
def test_what_the_law_ignores_is_rejected(arm: Simulation, case: str) -> None:
    call, words = IGNORED[case]
    arm.law("hold")
    goal = arm.goal.tobytes()
    with pytest.raises(RejectedError, match=words):
        call(arm)
    assert arm.goal.tobytes() == goal


@pytest.mark.parametrize(
    ("event", "words"), [({"wrench_goal": [0, 0, 5, 0, 0, 0]}, "wrench goal"), ({"virtual_push": [1] * 6}, "push")]
)
def test_an_event_that_the_law_ignores_is_rejected(event: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=rf"events\[0\]: the .*{words} is rejected: the law hold ignores it"):
        Simulation(validated(Task, {"law": "hold", "events": [{"at_s": 1.0, **event}]}))


def test_a_push_a_goal_and_a_law_move_the_arm(arm: Simulation) -> None:
    home = arm.pose
    arm.push([20, 0, 0], for_s=1)
    assert arm.wait(0.9).observed.pose[0] > home[0] + 0.03
    arm.wait(2)
    arm.goal_position(home[:3] + np.array([0, 0.03, 0]))
    arm.wait(2)
    assert arm.pose[1] == pytest.approx(home[1] + 0.03, abs=2e-3)
    arm.goal_twist([0, 0, 0.05, 0, 0, 0], for_s=0.5)
    arm.wait(0.5)
    assert arm.state.goal.pose[2] == pytest.approx(home[2] + 0.025, abs=1e-3)
    arm.halt()
    arm.wait(0.5)
    assert arm.state.goal.stop
    arm.resume()
    arm.law("hold")
    q = arm.q + 0.05
    arm.move_joints(q)
    arm.wait(2)
    assert arm.q == pytest.approx(q, abs=1e-3)


def test_a_set_is_undone_redone_and_told(arm: Simulation, tmp_path: Path) -> None:
    arm.set({"sense.cutoff_hz": 11.0})
    arm.step(100)
    arm.set({"sense.cutoff_hz": 12.0, "admittance.stiffness": [None, 300.0, *[None] * 4]})
    assert arm.state.revision == 1
    assert arm.step().revision == 2
    assert arm.undo() == {
        "sense.cutoff_hz": (12.0, 11.0),
        "admittance.stiffness": (arm.history()[1][2]["admittance.stiffness"], Task().params.admittance.stiffness),
    }
    arm.redo()
    assert arm.parameters.sense.cutoff_hz == 12.0
    assert [(revision, round(at / arm.task.dt)) for revision, at, _ in arm.history()] == [
        (1, 5), (2, 105), (3, 106), (4, 106),
    ]  # fmt: skip
    with pytest.raises(InputError, match="Nothing to redo"):
        arm.redo()
    file = tmp_path / "mine.yaml"
    file.write_text("law: admittance\n")
    assert arm.save(file)["sense.cutoff_hz"] == 12.0


def test_the_sensor_is_tared(arm: Simulation) -> None:
    bias = (1.0, -2.0, 0.5, 0.1, 0.0, 0.05)
    arm = Simulation(Task().replace({"sim.sensor.bias": bias}))
    assert arm.tare(1.0) == pytest.approx(bias, abs=0.1)
    assert arm.parameters.sense.bias == pytest.approx(bias, abs=0.1)


# ---- contact -------------------------------------------------------------------------------------------------------


def test_a_contact_is_told_in_words(arm: Simulation) -> None:
    assert arm.contact is None
    pressing = Simulation(load_task("plane").replace(events=()))
    first = pressing.contact
    assert first is not None
    assert (first.state, first.touching, first.is_active) == ("idle", False, False)
    pressing.command("start")
    pressing.step()
    rejected = pressing.contact
    assert rejected is not None
    assert rejected.rejected == "the command is not valid in this state"
    pressing.wait(0.5)
    pressing.command("set_start")
    pressing.command("start")
    pressing.wait_until(lambda: (now := pressing.contact) is not None and now.state == "dwell")
    pressing.wait(0.5)
    now = pressing.contact
    assert now is not None
    assert now.touching
    assert now.peak_n >= now.force_n > 1.0
    assert now.target_n == pytest.approx(pressing.parameters.contact.target_n, abs=1.0)
    assert np.linalg.norm(now.normal) == pytest.approx(1.0)
    assert now.reason in ("the tool touched the surface", "the force stayed in its band for contact.dwell_s")
    with pytest.raises(InputError, match="The law hold is rejected and nothing has changed: the contact is active"):
        pressing.law("hold")


# ---- waiting -------------------------------------------------------------------------------------------------------


def test_a_condition_that_does_not_come_true_is_an_error_after_the_time(arm: Simulation) -> None:
    first = arm.tick
    with pytest.raises(WaitTimeoutError, match=r"The condition did not become true within 0\.5 s\."):
        arm.wait_until(lambda: False, timeout_s=0.5)
    assert arm.tick - first == 250
    assert arm.wait_until(lambda: arm.tick == first + 300).tick == first + 299


def test_a_session_waits_until_a_condition_and_ends_after_its_duration() -> None:
    with connect("sim:ur5e", duration_s=1.0) as arm:
        assert arm.wait_until(lambda: arm.state.tick > 20).tick > 20
        assert arm.contact is None
        with pytest.raises(WaitTimeoutError, match=r"within 0\.1 s"):
            arm.wait_until(lambda: False, timeout_s=0.1)
        arm.join()
        assert arm.board.head == 500


@pytest.mark.parametrize("unchecked", ["no", 1, None])
def test_unchecked_is_true_or_false(unchecked: Any) -> None:
    task = Task()
    for ask in (
        lambda: connect("sim:ur5e", unchecked=unchecked),
        lambda: Simulation(task, unchecked=unchecked),
        lambda: pliant.simulate(task, unchecked=unchecked),
    ):
        with pytest.raises(InputError, match=r"unchecked is .*, but it must be True or False"):
            ask()


# ---- preflight -----------------------------------------------------------------------------------------------------


def test_an_unstable_task_is_rejected_by_simulate_as_by_run() -> None:
    task = load_task("dome").replace({"contact.lag_s": 0.005}, events=(), duration_s=0.1)
    with pytest.raises(RejectedError) as said:
        guard_start(task)
    for run in (pliant.simulate, Simulation):
        with pytest.raises(RejectedError) as caught:
            run(task)
        assert str(caught.value) == str(said.value)
    assert len(pliant.simulate(task, unchecked=True).records) == task.ticks


def test_a_set_that_is_not_stable_is_rejected_unless_unchecked() -> None:
    arm, free = (Simulation(load_task("dome"), unchecked=unchecked) for unchecked in (False, True))
    for one in (arm, free):
        one.step(10)
    with pytest.raises(RejectedError, match="is rejected and nothing has changed"):
        arm.set({"contact.lag_s": 0.005})
    free.set({"contact.lag_s": 0.005})
