"""A contact that is halted, left for another law, or whose loop ends, in the whole cell: no tool is left pressed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pliant.analysis.transitions import failure, transitions, valid_commands
from pliant.control.laws.contact.contact_states import (
    ABORT,
    COMMANDS,
    DONE,
    DWELL,
    FAULT,
    IDLE,
    LAW,
    PAUSED,
    PULLED,
    RETRACT,
    SENSOR,
    SLIDE,
)
from pliant.control.laws.registry import LAWS
from pliant.errors import RejectedError
from pliant.loop import goal_requests
from pliant.params.declare import changed
from pliant.records import GOAL
from pliant.session.in_process.fast_run import Run, simulate
from pliant.session.session import Session
from pliant.task.schema import Event, Task, load_task
from pliant.world.surface_kind import Surface
from pliant.world.world_config import Failure, Push
from support.law_numbers import CONTACT, HOLD

LONG = {"contact.dwell_s": 60.0, "contact.settle_s": 60.0}


def pressing(
    *events: Event, seconds: float = 7.0, sensor: Any = None, pushes: tuple[Push, ...] = (), **surface: Any
) -> Task:
    """The plane, pressed on for as long as it runs, flat and as the test wants it."""
    task = load_task("plane")
    given = {**task.sim.surfaces[0].model_dump(), "rpy_deg": (0.0, 0.0, 0.0), "stiffness_n_m": 2e4, **surface}
    flat = Surface.model_validate(given)
    more = {"pushes": pushes, **({"sensor": sensor} if sensor else {})}
    sim = task.sim.model_copy(update={"surfaces": (flat,), **more})
    params = changed(task.params, LONG)
    return task.model_copy(
        update={"sim": sim, "params": params, "events": (*task.events, *events), "duration_s": seconds}
    )


def contact(run: Run) -> Any:
    return run.records["contact"]


def force(run: Run) -> Any:
    return np.linalg.norm(run.records["observed"]["wrench"][:, :3], axis=1)


def test_a_halted_contact_keeps_the_force_on_a_surface_that_moves() -> None:
    run = simulate(pressing(Event(at_s=4.0, stop=True), swing_m=0.005, swing_hz=0.2, swing_at_s=4.5, seconds=10.0))
    assert contact(run)["state"][-1] == PAUSED
    late = force(run)[run.records["time_s"] > 4.0]
    assert late.max() < run.task.params.contact.force_limit_n
    assert late[-100:].mean() == pytest.approx(run.task.params.contact.target_n, abs=2.0)


def test_a_halted_contact_that_is_drawn_up_does_not_rise_with_the_hand_without_end() -> None:
    hand = Push(at_s=5.0, for_s=8.0, wrench=(0.0, 0.0, 10.0, 0.0, 0.0, 0.0))
    run = simulate(pressing(Event(at_s=4.0, stop=True), pushes=(hand,), seconds=10.0))
    assert (contact(run)["state"][-1], contact(run)["reason"][-1]) == (FAULT, PULLED)
    height = run.records["observed"]["pose"][:, 2]
    rise = height.max() - height[int(4.9 * run.task.rate_hz)]
    c = run.task.params.contact
    assert rise < 0.5 * c.leash_m + 1.1 * c.retract_m


def test_a_hand_that_leans_on_the_sliding_tool_does_not_turn_its_normal() -> None:
    hand = Push(at_s=5.0, for_s=2.0, wrench=(8.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    task = pressing(pushes=(hand,), seconds=7.5)
    run = simulate(task.model_copy(update={"params": changed(task.params, {"contact.dwell_s": 0.5})}))
    assert contact(run)["state"][-1] == SLIDE
    out = contact(run)["normal"][contact(run)["state"] == SLIDE, 2]
    assert np.degrees(np.arccos(out.min())) < 15.0


def test_a_lift_off_that_is_halted_stands_still() -> None:
    task = pressing(Event(at_s=4.0, command="stop"), Event(at_s=4.2, stop=True), seconds=6.0)
    run = simulate(task.model_copy(update={"params": changed(task.params, {"contact.retract_m": 0.1})}))
    assert contact(run)["state"][-1] == PAUSED
    height = run.records["observed"]["pose"][:, 2]
    assert height[-1] - height[int(4.2 * run.task.rate_hz)] < 0.01


@pytest.mark.parametrize(
    ("law", "events"),
    [
        ("contact", (Event(at_s=0.0, command="set_start"), Event(at_s=0.2, command="start"))),
        ("hold", (Event(at_s=0.1, law="contact", command="set_start"), Event(at_s=0.2, command="start"))),
        ("contact", (Event(at_s=0.1, command="set_start"), Event(at_s=0.1, command="start"))),
    ],
    ids=["first tick", "with the law", "both in one tick"],
)
def test_no_order_is_swallowed_by_the_tick_it_comes_in(law: str, events: tuple[Event, ...]) -> None:
    run = simulate(load_task("plane").model_copy(update={"law": law, "events": events, "duration_s": 0.4}))
    assert [one.state for one in transitions(run.records)] == ["ready", "seek"]


def test_a_command_to_another_law_is_rejected() -> None:
    events = (Event(at_s=0.1, command="set_start"), Event(at_s=0.2, law="contact"))
    with pytest.raises(RejectedError, match=r"events\[0\]: `set_start` is rejected: the law is hold"):
        simulate(load_task("plane").model_copy(update={"law": "hold", "events": events, "duration_s": 0.4}))


def test_a_sensor_that_fails_while_halted_lifts_the_tool_off_and_ends_the_run() -> None:
    sensor = load_task("plane").sim.sensor.model_copy(update={"failures": (Failure(kind="missing", at_s=5.0),)})
    run = simulate(pressing(Event(at_s=4.0, stop=True), sensor=sensor, seconds=9.0))
    assert "gave no reading" in run.fault
    assert (contact(run)["state"][-1], contact(run)["reason"][-1]) == (FAULT, SENSOR)
    assert run.records["time_s"][-1] < 7.0
    pressed = run.records["observed"]["pose"][np.argmax(contact(run)["state"] == PAUSED), 2]
    assert run.records["observed"]["pose"][-1, 2] - pressed > 0.015


def test_another_law_takes_over_only_after_the_tool_has_lifted_off_and_stays_there() -> None:
    run = simulate(pressing(Event(at_s=4.0, law="hold"), seconds=8.0))
    law, state = run.records["state"]["law"], contact(run)["state"]
    asked = int(4.0 * run.task.rate_hz)
    assert (state[asked], contact(run)["reason"][asked]) == (RETRACT, LAW)
    took_over = int(np.argmax(law == HOLD))
    assert state[took_over - 1] == DONE
    assert (law[asked:took_over] == CONTACT).all()
    height = run.records["observed"]["pose"][:, 2]
    assert height[-1] - height[asked - 1] > 0.015
    assert [one.reason for one in transitions(run.records)][-1] == "another law was requested"
    assert failure(run.records) == ""


def test_the_log_tells_a_stop_from_the_end_of_the_run_and_names_a_rejected_command() -> None:
    run = simulate(pressing(Event(at_s=1.0, command="resume"), seconds=3.0), lift_off=True)
    found = transitions(run.records, run.task.ticks)
    assert [one.reason for one in found if one.state == "rejected"] == ["`resume` is not valid in the state seek"]
    assert [one.reason for one in found if one.state == "retract"] == ["the run time is over"]
    assert [one.reason for one in transitions(run.records) if one.state == "retract"] == ["`stop` was received"]


def test_the_commands_that_are_valid_in_a_state_are_known() -> None:
    commands = LAWS["contact"].commands
    assert commands is not None
    assert valid_commands(commands, "fault") == valid_commands(commands, "done") == ["set_start"]
    assert valid_commands(commands, "paused") == ["resume", "stop", "abort"]
    assert valid_commands(commands, "paused", halted=True) == ["stop", "abort"]


def test_a_surface_that_was_not_found_is_told_with_the_distance() -> None:
    task = pressing(seconds=4.0)
    params = changed(task.params, {"contact.seek_m": 0.002})
    run = simulate(task.model_copy(update={"params": params}))
    said = "no surface was found within contact.seek_m (0.002 m). Start closer, or raise contact.seek_m"
    assert failure(run.records, params) == said


@pytest.mark.parametrize(
    ("waiting", "later", "kept"),
    [("abort", "resume", "abort"), ("abort", "stop", "abort"), ("stop", "start", "stop"), ("stop", "abort", "abort")],
)
def test_a_stop_or_an_abort_that_was_not_heard_is_not_replaced_by_a_later_command(
    waiting: str, later: str, kept: str
) -> None:
    goal = GOAL.new()
    law = LAWS["contact"]
    for command in (waiting, later):
        goal_requests.apply(goal_requests.command(command, law), goal[0], None, 6, law, heard=0)
    assert goal[0].command == COMMANDS[kept]
    heard = int(goal[0].commands)
    goal_requests.apply(goal_requests.command("set_start", law), goal[0], None, 6, law, heard=heard)
    assert goal[0].command == COMMANDS["set_start"]


def test_two_orders_of_one_tick_end_in_the_abort() -> None:
    events = (Event(at_s=4.0, command="abort"), Event(at_s=4.0, command="resume"))
    run = simulate(pressing(*events, seconds=6.0))
    assert (contact(run)["state"][-1], contact(run)["reason"][-1]) == (FAULT, ABORT)
    assert failure(run.records) == "`abort` was received"


def test_every_command_of_one_tick_is_heard_in_its_order_and_a_stop_replaces_those_that_wait() -> None:
    names = ("set_start", "start", "pause", "resume")
    events = tuple(Event(at_s=0.1, command=name) for name in names)
    run = simulate(load_task("plane").model_copy(update={"events": events, "duration_s": 0.3}))
    assert [one.state for one in transitions(run.records)] == ["ready", "seek", "paused", "seek"]
    events += (Event(at_s=0.1, command="stop"),)
    run = simulate(load_task("plane").model_copy(update={"events": events, "duration_s": 0.3}))
    assert [one.state for one in transitions(run.records)] == ["rejected"]


def test_the_same_refusal_twice_is_told_twice() -> None:
    events = (Event(at_s=0.1, command="resume"), Event(at_s=0.2, command="resume"))
    run = simulate(load_task("plane").model_copy(update={"events": events, "duration_s": 0.3}))
    assert [one.state for one in transitions(run.records)] == ["rejected", "rejected"]


def test_a_simulated_run_that_is_asked_to_lifts_off_before_it_ends() -> None:
    task = pressing(seconds=4.0)
    assert contact(simulate(task))["state"][-1] == DWELL
    run = simulate(task, lift_off=True)
    assert contact(run)["state"][-1] == DONE
    assert force(run)[-1] < 1.0
    halted = simulate(pressing(Event(at_s=3.5, stop=True), seconds=4.0), lift_off=True)
    assert contact(halted)["state"][-1] == DONE
    np.testing.assert_array_equal(run.records["time_s"], np.arange(len(run.records)) * task.dt)


def test_a_surface_that_is_lost_for_good_is_told_as_a_failure() -> None:
    task = pressing(kind="box", half_size_m=(0.05, 0.005, 0.05), seconds=14.0)
    surface = task.sim.surfaces[0]
    x, y, z = surface.position_m
    sim = task.sim.model_copy(update={"surfaces": (surface.model_copy(update={"position_m": (x, y, z - 0.05)}),)})
    short = changed(task.params, {"contact.dwell_s": 0.5})
    run = simulate(task.model_copy(update={"sim": sim, "params": short}))
    assert contact(run)["state"][-1] == DONE
    assert failure(run.records) == "contact was lost and not found again within contact.recover_s"


def test_a_slide_on_a_surface_that_moves_is_completed_with_the_force_held() -> None:
    # from 25 mm on: friction, by which motion is told from a slope, is learned over the first 10 mm
    task = pressing(swing_m=0.005, swing_hz=0.2, swing_at_s=7.0, seconds=20.0)
    wanted = {"contact.dwell_s": 0.5, "contact.path": "straight", "contact.length_m": 0.05}
    run = simulate(task.model_copy(update={"params": changed(task.params, wanted)}))
    assert failure(run.records) == ""
    assert contact(run)["state"][-1] == DONE
    assert contact(run)["travelled_m"].max() == pytest.approx(0.05, abs=1e-4)
    assert force(run).max() < 2.0 * task.params.contact.target_n


def test_a_loop_that_is_asked_to_end_while_it_presses_refuses_other_laws_and_lifts_off_first(until: Any) -> None:
    with Session(pressing(seconds=60.0)) as arm:
        until(lambda: arm.state.contact.state == DWELL and arm.state.contact.held_s > 0.1)
        with pytest.raises(RejectedError, match=r"The law hold is rejected.*the contact is active \(dwell"):
            arm.law("hold")
        with pytest.raises(RejectedError, match=r"Taring is rejected.*the contact is active \(dwell"):
            arm.tare(0.1)
        with pytest.raises(RejectedError, match=r"A new force sensor offset is rejected"):
            arm.set({"sense.bias": (0.0, 0.0, 5.0, 0.0, 0.0, 0.0)})
        with pytest.raises(RejectedError, match=r"higher contact.force_limit_n is rejected"):
            arm.set({"contact.force_limit_n": 200.0})
        pressed = float(arm.pose[2])
    records = arm.read()
    last = records[-1]
    assert last["contact"]["state"] == DONE
    assert last["observed"]["pose"][2] - pressed > 0.015


def test_a_sensor_with_an_offset_is_not_started_with_and_the_run_says_why() -> None:
    sensor = load_task("plane").sim.sensor.model_copy(update={"bias": (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)})
    run = simulate(pressing(sensor=sensor, seconds=2.0))
    assert not contact(run)["state"].any()
    assert np.ptp(run.records["command"]["q"], axis=0).max() < 1e-9
    first = transitions(run.records)[0]
    assert (first.state, first.reason) == ("rejected", "the sensor read more than contact.preload_n at the start")
    assert failure(run.records).startswith("it never started: the sensor read more")


def test_a_fault_that_another_law_covers_up_is_still_told() -> None:
    run = simulate(pressing(Event(at_s=4.0, command="abort"), Event(at_s=6.0, law="hold"), seconds=8.0))
    assert contact(run)["state"][-1] == IDLE
    assert failure(run.records) == "`abort` was received"
