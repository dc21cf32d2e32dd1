"""A Simulation: the same bytes however it is stepped, back in time, and from another seed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import InputError, LoopError, RejectedError
from pliant.params.declare import validated
from pliant.session.in_process.compiled_steps import TRUTH
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Task, load_task

OWN = Path(__file__).parents[2] / "examples" / "12_your_own_law.py"

NOISY: dict[str, Any] = {
    "duration_s": 0.6,
    "sim": {
        "seed": 3,
        "sensor": {"noise_n": 0.3, "noise_nm": 0.02, "dropout": 0.02},
        "pushes": [{"at_s": 0.1, "for_s": 0.2, "wrench": [8, 5, -6, 0.3, 0, 0]}],
    },
}
TASKS: dict[str, dict[str, Any]] = {
    "hold": {**NOISY, "law": "hold", "events": [{"at_s": 0.2, "goal_q": [0.1, -1.4, 1.6, -1.8, -1.5, 0.1]}]},
    "admittance": {
        **NOISY,
        "law": "admittance",
        "events": [{"at_s": 0.3, "set": {"admittance.stiffness": 500}}, {"at_s": 0.4, "goal_offset_m": [0, 0.02, 0]}],
    },
    "impedance": {**NOISY, "law": "impedance", "interface": "torque"},
    "own": {**NOISY, "law": str(OWN)},
}


def task_of(name: str) -> Task:
    """A task of a law, with sensor noise; of the contact law, one that touches its surface."""
    if name == "contact":
        return load_task("dome").replace(duration_s=4.0)
    return validated(Task, TASKS[name])


LAWS = ["hold", "admittance", "impedance", "own", "contact"]


@pytest.fixture(params=LAWS)
def task(request: pytest.FixtureRequest) -> Task:
    return task_of(request.param)


# ---- the same bytes ------------------------------------------------------------------------------------------------


def test_steps_one_by_one_many_at_once_and_a_whole_run_give_the_same_bytes(task: Task) -> None:
    whole = pliant.simulate(task).records
    one, many = Simulation(task), Simulation(task)
    for record in whole:
        assert one.step().tobytes() == record.tobytes()
    for first in range(0, task.ticks, 50):
        many.step(50)
        assert many.state.tobytes() == whole[min(first + 49, task.ticks - 1)].tobytes()
    assert one.tick == many.tick == task.ticks


def test_restored_it_goes_on_with_the_same_bytes(task: Task) -> None:
    arm = Simulation(task)
    arm.step(round(0.7 * task.ticks))
    then, state = arm.snapshot(), arm.state.tobytes()
    after = arm.advance(100)
    arm.step(57)
    arm.restore(then)
    assert (arm.tick, arm.state.tobytes()) == (then.tick, state)
    assert arm.advance(100).tobytes() == after.tobytes()


def test_a_snapshot_of_a_contact_is_taken_while_it_presses() -> None:
    arm = Simulation(task_of("contact"))
    arm.step(round(0.7 * arm.task.ticks))
    assert arm.contact is not None
    assert arm.contact.touching
    assert np.linalg.norm(arm.true_force) > 1.0


def test_a_snapshot_goes_through_a_pickle_into_another_simulation() -> None:
    task = task_of("contact")
    one, other = Simulation(task), Simulation(task)
    one.step(1200)
    then = pickle.loads(pickle.dumps(one.snapshot()))
    one.law("contact")
    other.restore(then)
    assert other.advance(200).tobytes() == one.advance(200).tobytes()


def test_reset_begins_again_as_a_new_simulation_with_that_seed() -> None:
    task = task_of("admittance")
    arm = Simulation(task)
    arm.set({"sense.cutoff_hz": 33.0})
    arm.virtual_push([5, 0, 0], for_s=1)
    arm.step(170)
    for seed in (11, None):
        first = arm.reset(seed)
        assert (first.tick, arm.tick, arm.parameters) == (-1, 0, task.params)
        wanted = task if seed is None else task.replace({"sim.seed": seed})
        assert arm.task == wanted
        assert arm.advance(200).tobytes() == pliant.simulate(wanted).records[:200].tobytes()


def test_a_snapshot_of_another_task_and_anything_else_are_rejected() -> None:
    arm = Simulation(task_of("hold"))
    with pytest.raises(RejectedError, match=r"another task .*Restore it in a simulation of that task"):
        arm.restore(Simulation(task_of("admittance")).snapshot())
    wrong: Any = 3
    with pytest.raises(InputError, match="snapshot is 3, but it must be a Snapshot"):
        arm.restore(wrong)


def test_what_is_scheduled_is_part_of_a_snapshot() -> None:
    arm = Simulation(task_of("admittance"))
    arm.virtual_push([3, 0, 0], for_s=0.1)
    then = arm.snapshot()
    seen = []
    for _ in range(2):
        arm.restore(then)
        arm.step(50)
        assert arm.state.goal.push[0] == 3.0
        arm.step(1)
        assert not arm.state.goal.push.any()
        seen.append(arm.advance(200).tobytes())  # with the events of the task
    assert arm.parameters.admittance.stiffness[0][0] == 500.0
    assert seen[0] == seen[1]


# ---- what is seen --------------------------------------------------------------------------------------------------


def test_records_are_views_that_the_next_step_changes() -> None:
    arm = Simulation(task_of("hold"))
    state, q = arm.state, arm.state.reading.q
    before = q.copy()
    assert arm.step(200) is state is arm.state
    assert not np.array_equal(q, before)
    arm.goal.q[:6] = before[:6]
    arm.step(1)
    assert np.array_equal(arm.state.goal.q, before)


def test_before_the_first_step_the_arm_is_shown_where_it_starts() -> None:
    arm = Simulation(task_of("admittance"))
    assert arm.state.tick == -1
    assert np.array_equal(arm.q, arm.arm.q_home)
    assert np.array_equal(arm.pose, arm.arm.pose(arm.arm.q_home))


def test_the_true_force_is_that_of_every_tick() -> None:
    arm = Simulation(task_of("contact"))
    truth = np.zeros((1500, TRUTH))
    arm.advance(1500, truth)
    assert np.array_equal(arm.true_force, truth[-1, :3])
    assert arm.true_normal_force == truth[-1, 3] > 0.0
    assert not truth[:100, :7].any()
    assert np.linalg.norm(truth[-1, 4:7]) == pytest.approx(1.0)
    measured = arm.contact
    assert measured is not None
    assert measured.force_n == pytest.approx(truth[-1, 3], abs=1.0)
    with pytest.raises(InputError, match=r"truth .* float64 of shape \(10, 10\)"):
        arm.advance(10, np.zeros((10, 3)))


# ---- the end -------------------------------------------------------------------------------------------------------


def test_a_fault_ends_it_when_the_arm_has_stopped_and_a_reset_begins_again(faulting_task: Task) -> None:
    whole, arm = pliant.simulate(faulting_task), Simulation(faulting_task)
    with pytest.raises(LoopError, match=r"^The simulation stopped: the force sensor reported saturation"):
        arm.step(faulting_task.ticks)
    assert (arm.tick, arm.fault, arm.running) == (len(whole.records), whole.fault, False)
    for ask in (arm.step, lambda: arm.wait(1), lambda: arm.set({"sense.cutoff_hz": 9}), arm.halt):
        with pytest.raises(LoopError, match="The simulation stopped"):
            ask()
    assert arm.tick == len(whole.records)
    assert len(arm.advance(10)) == 0
    arm.reset()
    assert (arm.fault, arm.running) == ("", True)
    seen = [arm.step().tobytes() for _ in range(len(whole.records) - 1)]
    assert seen == [record.tobytes() for record in whole.records[:-1]]
    with pytest.raises(LoopError):
        arm.step()


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
def test_steps_are_a_whole_number(n: Any) -> None:
    arm = Simulation(task_of("hold"))
    with pytest.raises(InputError, match=r"n is .*, but it must be a whole number, at least 1"):
        arm.step(n)


def test_only_tasks_of_simulated_robots_are_taken() -> None:
    name: Any = "push"
    with pytest.raises(InputError, match=r"task is 'push', but Simulation needs a Task\. Use pliant\.load_task"):
        Simulation(name)
    with pytest.raises(InputError, match=r"needs a simulated robot, but robot is 'ur:10\.0\.0\.7'\. Use robot='sim:"):
        Simulation(Task(robot="ur:10.0.0.7"))
