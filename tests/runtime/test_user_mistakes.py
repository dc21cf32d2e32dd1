"""What users try first and what is not possible: each attempt is answered with one sentence that says what to do."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pliant
from pliant.errors import PliantError

PUSH = pliant.load_task("push")
TASK: Any = pliant.Task  # arguments that a type checker would reject


def told(attempt: Callable[[], object]) -> str:
    """The sentence with which an attempt is rejected."""
    with pytest.raises(PliantError) as caught:
        attempt()
    return str(caught.value)


TASKS: dict[str, tuple[Callable[[], object], str]] = {
    "a law section beside params": (
        lambda: TASK(**{"admittance": {"stiffness": 5}}),
        "Unknown entry 'admittance'. It belongs under params: params={'admittance': …}.",
    ),
    "a parameter of the law without its section": (
        lambda: TASK(**{"law": "contact", "stiffness_max_n_m": 5}),
        "It belongs under params: params={'contact': {'stiffness_max_n_m': …}}, or use task.replace({'contact.stiff",
    ),
    "a dotted name": (
        lambda: TASK(**{"params": {"admittance.stiffness": 5}}),
        "It belongs under admittance: admittance={'stiffness': …}.",
    ),
    "a value of another section": (
        lambda: TASK(**{"mass_kg": 2}),
        "It belongs under tool: tool={'mass_kg': …}.",
    ),
    "an old section": (lambda: TASK(**{"belief": {}}), "Unknown entry 'belief'. Use 'model_error'."),
    "an old law": (lambda: TASK(law="hybrid"), "Unknown law 'hybrid': it is now called contact."),
    "the force of a push": (
        lambda: pliant.Task.model_validate({"sim": {"pushes": [{"force": [1, 2, 3]}]}}),
        "Unknown entry 'sim.pushes[0].force'. Use wrench: six numbers, force [N], then moment [N m].",
    ),
    "the name of a task": (
        lambda: TASK(*["push"]),
        "To load a task file, or a task that comes with Pliant: pliant.l",
    ),
    "a change in place": (lambda: setattr(PUSH, "rate_hz", 5), "Task is immutable. Use task.replace(rate_hz=5)."),
    "a change in place inside": (lambda: setattr(PUSH.params.limits, "speed_scale", 1), "{'….speed_scale': 1}"),
    "a name as it was given": (
        lambda: PUSH.replace({"admittance.stiffness": math.nan}),
        "admittance.stiffness is nan, but it must be finite.",
    ),
    "a parameter of the law in replace": (
        lambda: PUSH.replace({"stiffness": 5}),
        "Did you mean 'admittance.stiffness'?",
    ),
    "a value given twice": (
        lambda: PUSH.replace({"rate_hz": 250}, rate_hz=500),
        "rate_hz is given twice: 250 and 500. Remove one.",
    ),
}


@pytest.mark.parametrize("what", TASKS)
def test_a_mistake_in_a_task_is_answered_with_what_to_write(what: str) -> None:
    attempt, words = TASKS[what]
    said = told(attempt)
    assert words in said
    assert not said.startswith("params.")


def test_all_mistakes_beside_an_unknown_law_are_listed_too() -> None:
    said = told(lambda: TASK(**{"law": "x", "rate_hz": 5, "foo": 1, "params": {"admittance": {"mass": "h"}}}))
    for words in ("Unknown law 'x'", "rate_hz is 5 Hz", "Unknown entry 'foo'", "params.admittance.mass is 'h'"):
        assert words in said


@pytest.mark.parametrize(
    "use", [lambda s: s.parameters, lambda s: s.set({"admittance.stiffness": 1}), lambda s: s.push([1, 0, 0])]
)
def test_a_session_that_was_not_started_says_how_to_start_it(use: Callable[[Any], object]) -> None:
    said = told(lambda: use(pliant.connect("sim:ur5e")))
    assert said.endswith("it has not been started. Use the session in a with statement, or call start().")


@pytest.fixture(scope="module")
def arm() -> pliant.Simulation:
    return pliant.Simulation(PUSH)


def test_values_of_the_task_are_fixed_while_it_runs(arm: pliant.Simulation) -> None:
    assert "sim.seed cannot be changed while the loop runs." in told(lambda: arm.set({"sim.seed": 5}))
    assert "task.replace({'rate_hz': 250})" in told(lambda: arm.set({"rate_hz": 250}))
    assert "Did you mean 'admittance.stiffness'?" in told(lambda: arm.set({"stiffness": 5}))


def test_a_goal_that_no_step_can_reach_is_rejected_for_its_distance(arm: pliant.Simulation) -> None:
    assert told(lambda: arm.goal_position([3, 0, 0])).startswith(
        "position = [3, 0, 0] m is 3 m from the base, but the ur5e"
    )
    assert "Move the goal in smaller steps." in told(lambda: arm.goal_position([0.9, 0.6, 0.2]))


def test_undo_after_a_reset_and_after_undo_says_what_is_left(arm: pliant.Simulation) -> None:
    arm.reset()
    assert told(arm.undo) == "Nothing to undo: no parameter has been changed."
    arm.set({"admittance.stiffness": 400})
    arm.reset(1)
    assert told(arm.undo) == "Nothing to undo: no parameter has been changed."
    arm.set({"admittance.stiffness": 400})
    start = arm.snapshot()
    arm.undo()
    assert told(arm.undo) == "Nothing left to undo: all changes have been undone."
    assert arm.undos() == {2}
    arm.restore(start)
    arm.set({"admittance.stiffness": 300})
    arm.restore(start)
    assert "admittance.stiffness (now [400, 400, 400] N/m" in told(arm.undo)


def test_a_goal_that_is_not_a_number_is_a_fault_that_names_it() -> None:
    simulation = pliant.Simulation(PUSH)
    simulation.goal.pose[0] = math.nan
    with pytest.raises(pliant.LoopError):
        simulation.step(2000)
    assert simulation.fault == "goal.pose[0] is nan. Write only finite numbers into the goal"


def test_a_run_is_saved_only_as_a_recording(tmp_path: Path) -> None:
    run = pliant.simulate(PUSH.replace(duration_s=0.1))
    assert "x.txt', but it must be a file name ending in .mcap" in told(lambda: run.save(tmp_path / "x.txt"))
    assert not (tmp_path / "x.txt").exists()


def test_a_force_limit_that_was_exceeded_is_reported_with_force_limit_and_time() -> None:
    from pliant.analysis.transitions import failure
    from pliant.control.parameters import parameters_of

    task = PUSH.replace(law="contact", duration_s=3.0)
    run = pliant.simulate(task, unchecked=True)
    words = failure(run.records, parameters_of(type(task.params), run.sets[-1][2][0]))
    assert words.startswith("the force exceeded contact.force_limit_n (")
    force, limit = float(words.split("N): ")[1].split(" N at")[0]), task.params.contact.force_limit_n
    assert limit < force < 3 * limit
