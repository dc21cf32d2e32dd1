"""A contact in the whole cell: commands from a task, a failing sensor, a halt, bad thresholds rejected at the door."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from pliant.control.laws.contact.contact_record import contact_of
from pliant.control.laws.contact.contact_states import DONE, DWELL, FAULT, RETRACT, ROBOT, SEEK, SENSOR, SLIDE, STUCK
from pliant.errors import InputError
from pliant.params.declare import changed, validated
from pliant.session.in_process.fast_run import Run, simulate
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Event, Task, arm_of, check_fits, load_task
from pliant.world.world_config import Failure

Array = np.ndarray[Any, Any]


def dome(**more: Any) -> Task:
    return load_task("dome").model_copy(update=more)


def states(run: Run) -> Array:
    return run.records["contact"]["state"]


def test_the_task_goes_through_its_states_in_order() -> None:
    seen = states(simulate(dome()))
    command = [int(seen[0]), *(int(b) for a, b in pairwise(seen) if a != b)]
    assert command[-5:] == [SEEK, DWELL, SLIDE, RETRACT, DONE]


def test_a_sensor_that_fails_in_contact_lifts_the_tool_off_before_the_loop_ends() -> None:
    task = dome()
    sensor = task.sim.sensor.model_copy(update={"failures": (Failure(kind="frozen", at_s=4.0),)})
    run = simulate(task.model_copy(update={"sim": task.sim.model_copy(update={"sensor": sensor})}))
    assert "same reading" in run.fault
    last = run.records[-1]["contact"]
    assert (last["state"], last["reason"]) == (FAULT, SENSOR)
    at = int(np.argmax(states(run) == FAULT))
    pose = run.records["state"]["pose"]
    assert pose[-1, 2] - pose[at, 2] > 0.018
    assert run.records[-1]["time_s"] < 5.5


def test_stop_lifts_off_and_a_second_start_needs_a_new_one() -> None:
    events = (*load_task("dome").events, Event(at_s=5.0, command="stop"), Event(at_s=8.0, command="start"))
    run = simulate(dome(events=events, duration_s=9.0))
    assert states(run)[-1] == DONE
    assert run.records[-1]["contact"]["rejected"] > 0


@pytest.mark.parametrize(
    ("name", "value"), [("loss_n", 0.6), ("touch_n", 6.0), ("force_limit_n", 4.0), ("stiffness_max_n_m", 500.0)]
)
def test_thresholds_that_stand_the_wrong_way_round_are_refused(name: str, value: float) -> None:
    task = dome(params=changed(load_task("dome").params, {f"contact.{name}": value}))
    with pytest.raises(InputError, match=r"contact\.\w+ = .* (exceeds|must be less than) contact\."):
        check_fits(task, arm_of(task))


def test_an_unknown_order_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="set_start"):
        validated(Task, {"events": [{"at_s": 1.0, "command": "go"}]})


def test_a_joint_reading_that_is_no_number_ends_the_contact_as_a_fault_of_the_robot() -> None:
    simulation = Simulation(dome())
    for tick in sorted(simulation.runner.script):
        simulation.advance(tick - simulation.tick)
        simulation.runner.perform(tick)
    simulation.advance(1500)
    controller = simulation.runner.controller
    assert contact_of(controller.state[0]).state == DWELL
    controller.reading[0].q[2] = np.nan
    controller.tick()
    c = contact_of(controller.state[0])
    assert (c.state, c.reason, c.lifted) == (FAULT, ROBOT, 1)
    assert not controller.state[0].qd_cmd.any() or controller.fault


def test_a_surface_behind_the_workspace_is_not_sought_for_ever() -> None:
    task = load_task("dome")
    low = (-10.0, -10.0, 0.3369)  # the tip starts a millimetre above, the dome is three below
    run = simulate(dome(params=changed(task.params, {"limits.workspace_min_m": low})))
    last = run.records[-1]["contact"]
    assert (last["state"], last["reason"]) == (FAULT, STUCK)
    assert run.records["observed"]["pose"][:, 2].min() > 0.3365
