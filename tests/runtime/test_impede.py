"""The torque law in the tick: refused where it does not fit, bounded whatever is asked, handed over without a jump."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from impede_checks import TAU, check_gradual
from numpy.testing import assert_allclose

from pliant.control.parameters import Impedance, Limits, Parameters, diagonal
from pliant.errors import InputError
from pliant.model import Arm
from pliant.params.declare import validated
from pliant.records import (
    FAULT_COMMAND,
    FAULT_JOINT_SPEED,
    FAULT_TOOL_SPEED,
    LIMIT_REACH,
    LIMIT_TOOL_SPEED,
)
from pliant.session.in_process.fast_run import Run, simulate
from pliant.session.in_process.simulation import Simulation
from pliant.task.schema import Event, Task, check_fits
from pliant.world.world_config import Push, Servo, SimConfig
from pliant_experiments.scenes.probe_tool import TOOL
from pliant_experiments.scenes.two_link_lab import OPEN, SILENT, goal_at, lab_task, law, moved, place, push
from support.properties import examples

Array = np.ndarray[Any, Any]


# ---- at the door ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", ["position", "velocity"])
def test_the_law_is_refused_on_an_interface_that_is_not_torque_with_the_laws_that_it_has(interface: str) -> None:
    task = validated(Task, {"law": "impedance", "interface": interface})
    with pytest.raises(
        InputError,
        match=r"The law impedance needs torque commands, but interface is '\w+'\. Set interface: torque, or ",
    ):
        simulate(task)
    later = validated(Task, {"interface": interface, "events": [{"at_s": 1, "law": "impedance"}]})
    with pytest.raises(InputError, match="torque"):
        check_fits(later, Arm.load("ur5e"))


def test_more_directions_than_joints_are_refused() -> None:
    task = validated(Task, {"robot": "sim:two_link", "law": "impedance", "interface": "torque"})
    with pytest.raises(InputError, match=r"impedance.axes .* one to 2 directions for an arm of 2 joints"):
        simulate(task)


@pytest.mark.parametrize("field", ["mass", "stiffness", "damping"])
def test_numbers_that_are_none_are_refused(field: str) -> None:
    with pytest.raises(InputError, match="finite"):
        validated(Task, {"params": {"impedance": {field: [float("nan")] * 6}}})


# ---- bounded -------------------------------------------------------------------------------------------------------


def check_bounded(run: Run, top: float = 5.0, *, may_trip: bool = False) -> None:
    """Speeds and torques are bounded; the guard may have stopped a tool that a real push made far too fast."""
    records = run.records
    q, qd, tau = records["reading"]["q"][:, :2], records["reading"]["qd"][:, :2], records["command"]["tau"][:, :2]
    assert run.fault == "" or (may_trip and records["state"]["fault"][-1] in (FAULT_TOOL_SPEED, FAULT_JOINT_SPEED))
    assert np.isfinite(q).all()
    assert (np.abs(q) < 2 * np.pi + 0.1).all()
    assert np.abs(qd).max() < 1.4 * top
    assert (np.abs(tau) <= TAU).all()


@pytest.mark.parametrize(("x", "y"), [(0.2, 0.1), (1.5, 1.5)])
def test_an_equilibrium_out_of_reach_is_approached_to_the_edge_and_torques_stay_within_limits(
    x: float, y: float
) -> None:
    run = simulate(lab_task(6.0, events=(goal_at(x, y, 0.1),)))
    check_bounded(run)
    check_gradual(run.records["command"]["tau"][:, :2])
    radius = 0.42 if x < 1 else 1.58
    assert_allclose(place(run.records)[-1], radius * np.array([x, y]) / np.hypot(x, y), atol=1e-3)
    assert run.records["observed"]["limits"][-1] & LIMIT_REACH


@pytest.mark.parametrize("far", [25.0, -300.0, 1e4])
def test_an_equilibrium_so_far_that_its_unit_must_be_wrong_is_rejected(far: float) -> None:
    for x, y in ((far, 0.0), (0.0, far), (far, -far)):
        with pytest.raises(
            InputError, match=r"goal_offset_m = .* the two_link reaches 1\.6 m\. Positions are in metres"
        ):
            lab_task(2.5, events=(goal_at(x, y, 0.1),))


@examples(25)
@given(data=st.data())
def test_no_run_diverges_whatever_equilibrium_or_force_is_asked_for(data: st.DataObject) -> None:
    far = st.one_of(st.floats(-2.5, 2.5), st.floats(-10.0, 10.0))  # as far as a goal is accepted
    force = st.one_of(st.just(0.0), st.floats(-60.0, 60.0), st.floats(-500.0, 500.0))
    events = []
    for i in range(3):
        goal = goal_at(data.draw(far), data.draw(far), 0.1 + 0.7 * i)
        felt = (data.draw(force), data.draw(force), data.draw(force), 0.0, 0.0, 0.0)
        events.append(Event(at_s=goal.at_s, goal_offset_m=goal.goal_offset_m, virtual_push=felt))
    hand = tuple(push(axis, data.draw(st.floats(-80.0, 80.0)), 0.4, 1.0) for axis in (0, 1))
    form = data.draw(st.sampled_from(["shaped", "simple"]))
    mass, stiffness = data.draw(st.floats(0.5, 50.0)), data.draw(st.floats(0.0, 1000.0))
    impedance = law(mass, data.draw(st.floats(20.0, 200.0)), stiffness, form=form)
    check_bounded(simulate(lab_task(2.5, impedance, pushes=hand, events=tuple(events))), may_trip=True)


# ---- at rest -------------------------------------------------------------------------------------------------------

SEVEN = f"sim:{Path(__file__).parent.parent / 'data' / 'seven_joints.xml'}"
BENT = (0.2, 0.5, 0.1, 1.2, 0.3, 0.8, 0.0)


@examples(25)
@given(data=st.data())
def test_every_set_of_gains_brings_two_links_to_rest_after_any_jump_and_push(data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(["shaped", "simple"]))
    mass, ratio = data.draw(st.floats(0.5, 30.0)), data.draw(st.floats(0.5, 2.0))
    stiffness = 10.0 ** data.draw(st.floats(2.5, 4.3))
    rise = data.draw(st.sampled_from([0.005, 0.02, 0.2]))
    impedance = law(mass, 2 * ratio * np.sqrt(mass * stiffness), stiffness, form=form)
    angle, far = data.draw(st.floats(-1.5, 1.5)), data.draw(st.floats(0.6, 1.5))
    fx, fy = (data.draw(st.floats(-300.0, 300.0)) for _ in range(2))
    events = (
        goal_at(far * np.cos(angle), far * np.sin(angle), 0.1),
        Event(at_s=0.8, virtual_push=(fx, fy, 0.0, 0.0, 0.0, 0.0)),
        Event(at_s=1.3, virtual_push=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    )
    hand = tuple(push(axis, data.draw(st.floats(-60.0, 60.0)), 0.4, 1.0) for axis in (0, 1))
    slow = (ratio + np.sqrt(max(0.0, ratio**2 - 1))) * np.sqrt(mass / stiffness)
    if form == "simple":  # there the arm's own mass swings, up to about 12 kg
        slow = max(slow, 12.0 / (ratio * np.sqrt(mass * stiffness)))
    # pushes like these move the arm faster than by default
    limits = Limits(torque_rise_s=rise, linear_speed_m_s=3.0, angular_speed_rad_s=6.0)
    task = lab_task(7.0 + 8.0 * slow, impedance, pushes=hand, events=events, limits=limits)
    run = simulate(task.replace({"guard.tool_speed_share": 3.0, "guard.tool_turn_share": 10.0}))
    assume("guard." not in run.fault)  # it stops the fastest jumps of the lightest tools
    assert run.fault == ""
    assert np.abs(run.records["reading"]["qd"][-200:, :2]).max() < 5e-3


LARGER = [
    ("sim:ur5e", "shaped", 0.004),
    ("sim:ur5e", "simple", 0.0),
    ("seven", "shaped", 0.004),
    ("seven", "simple", 0.0),
]


@pytest.mark.parametrize("stiffness", [200.0, 2e3, 2e4])
@pytest.mark.parametrize(("robot", "form", "delay_s"), LARGER)
def test_larger_arms_come_to_rest_at_the_goal_with_springs_up_to_20_kn_per_metre(
    robot: str, form: str, delay_s: float, stiffness: float
) -> None:
    start: dict[str, Any] = {"robot": robot, "tool": TOOL} if robot != "seven" else {"robot": SEVEN, "start_q": BENT}
    section = Impedance.model_validate({"form": form, "stiffness": diagonal(stiffness, stiffness / 10)})
    jump = (0.1, -0.15, -0.2)
    task = Task(
        law="impedance", interface="torque", duration_s=12.0, events=(Event(at_s=0.1, goal_offset_m=jump),),
        params=Parameters(sense=OPEN, impedance=section), **start,
        sim=SimConfig(
            servo=Servo(delay_s=delay_s), sensor=SILENT,
            pushes=(Push(at_s=2.5, for_s=0.5, wrench=(40.0, -30.0, 20.0, 0.0, 0.0, 0.0)),),
        ),
    )  # fmt: skip
    records = simulate(task).records
    assert np.abs(records["reading"]["qd"][-100:]).max() < 2e-3
    pose = records["observed"]["pose"][:, :3]
    assert_allclose(pose[-1] - pose[0], jump, atol=1e-4)


# ---- the tool's speed ----------------------------------------------------------------------------------------------

# What the tool's speed may exceed its limit by while it is bent. The simple form knows a push by its motion only.
MARGIN = {"shaped": 1.05, "simple": 1.1}
QUICK = {
    "a goal that jumps": {"events": (goal_at(0.9, 1.2, 0.1),)},
    "a virtual push": {"events": (Event(at_s=0.1, virtual_push=(-80.0, 0.0, 0.0, 0.0, 0.0, 0.0)),)},
    "a hand": {"pushes": (push(0, -80.0, 0.1, 1.0, 0.05),)},
}


@pytest.mark.parametrize("form", ["shaped", "simple"])
@pytest.mark.parametrize("what", QUICK)
def test_the_tool_keeps_to_its_speed_limit(what: str, form: str) -> None:
    soft = law(damping=20.0, stiffness=50.0, form=form)
    free, kept = (
        simulate(lab_task(1.5, soft, limits=Limits(linear_speed_m_s=top), **QUICK[what])).records for top in (3.0, 0.25)
    )
    speed = lambda records: np.linalg.norm(records["observed"]["twist"][:, :2], axis=1).max()  # noqa: E731
    assert speed(free) > 0.45
    assert 0.2 < speed(kept) < 0.25 * MARGIN[form]
    assert np.bitwise_or.reduce(kept["observed"]["limits"]) & LIMIT_TOOL_SPEED


def test_the_tool_keeps_to_its_turning_speed_limit() -> None:
    moment = Event(at_s=0.1, virtual_push=(0.0, 0.0, 0.0, 0.0, 0.0, 6.0))
    section = Impedance(stiffness=diagonal(200.0, 1.0), damping_ratio=(0.3, 0.3, 0.3, 0.3, 0.3, 0.3))
    tops = []
    for top in (10.0, 0.5):
        task = Task(
            law="impedance", interface="torque", tool=TOOL, duration_s=1.0, events=(moment,),
            params=Parameters(sense=OPEN, impedance=section, limits=Limits(angular_speed_rad_s=top)),
        )  # fmt: skip
        tops.append(np.linalg.norm(simulate(task).records["observed"]["twist"][:, 3:], axis=1).max())
    assert tops[0] > 0.8
    assert tops[1] < 0.5 * MARGIN["shaped"]


def test_from_a_stretched_arm_it_comes_back() -> None:
    """Pulled out to its full length by a real force, it returns when the force ends."""
    pulls = push(0, 140.0, 0.2, 2.0, 0.2), push(1, 75.0, 0.2, 2.0, 0.2)
    # near its full length the arm cannot resist such a pull, and follows at several metres per second
    run = simulate(lab_task(9.0, pushes=pulls, limits=Limits(linear_speed_m_s=3.0)))
    reach = np.linalg.norm(place(run.records), axis=1)
    assert reach.max() > 1.59
    assert run.fault == ""
    assert np.linalg.norm(moved(run.records)[-1]) < 0.5


def test_a_goal_that_is_no_number_is_a_fault_that_brings_the_arm_to_rest() -> None:
    simulation = Simulation(lab_task(4.0, events=(goal_at(1.1, 0.9, 0.0),)))
    simulation.runner.perform(0)
    simulation.advance(150)
    simulation.runner.controller.goal[0].pose[0] = np.nan
    records = simulation.advance(3000)
    assert records["state"]["fault"][-1] == FAULT_COMMAND
    assert np.isfinite(records["command"]["tau"]).all()
    assert not records["state"]["qd_cmd"][-1].any()
