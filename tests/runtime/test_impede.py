"""The torque law in the tick: refused where it does not fit, bounded whatever is asked, handed over without a jump."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pliant.errors import InputError
from pliant.experiments.impedance_pose import random_pushes
from pliant.experiments.lab import OPEN, SILENT, X0, goal_at, lab_task, law, moved, place, push, rest
from pliant.experiments.push import TOOL
from pliant.model import Arm
from pliant.params.control import PARAMETERS, Impedance, Limits, Parameters, diagonal
from pliant.params.declare import validated
from pliant.record.reader import Recording
from pliant.records import (
    COMMAND,
    FAULT_COMMAND,
    FAULTS,
    LIMIT_REACH,
    LIMIT_TOOL_SPEED,
    OBSERVED,
    STATE,
    TORQUE,
    WRENCH_MISSING,
)
from pliant.robots.sim.config import Failure, Push, Sensor, Servo, SimConfig
from pliant.runtime.batch import Run, Simulation, simulate
from pliant.runtime.cycle import STANDS
from pliant.runtime.replay import difference, replay, rerun
from pliant.runtime.save import save_run
from pliant.runtime.session import Session, connect
from pliant.runtime.task import Belief, Event, Task, check_fits, find_task
from pliant.runtime.tick import WORK

Array = np.ndarray[Any, Any]
TAU = np.array([200.0, 100.0])


# ---- at the door ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interface", ["position", "velocity"])
def test_the_law_is_refused_on_an_interface_that_is_not_torque_with_the_laws_that_it_has(interface: str) -> None:
    task = validated(Task, {"law": "impedance", "interface": interface})
    with pytest.raises(InputError, match=r"must be torque for the law impedance. By \w+ there are: hold, admittance"):
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


def check_bounded(run: Run, top: float = 5.0) -> None:
    records = run.records
    q, qd, tau = records["reading"]["q"][:, :2], records["reading"]["qd"][:, :2], records["command"]["tau"][:, :2]
    assert run.fault == ""
    assert np.isfinite(q).all()
    assert (np.abs(q) < 2 * np.pi + 0.1).all()
    assert np.abs(qd).max() < 1.4 * top
    assert (np.abs(tau) <= TAU).all()


def check_gradual(tau: Array) -> None:
    """What is asked anew comes over torque_rise_s; what the motion asks for meanwhile is little here."""
    assert (np.abs(np.diff(tau, axis=0)) <= TAU * 0.001 / 0.02 + 0.02 * TAU).all()


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


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_no_run_diverges_whatever_equilibrium_or_force_is_asked_for(data: st.DataObject) -> None:
    far = st.one_of(st.floats(-2.5, 2.5), st.floats(-1e4, 1e4))
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
    check_bounded(simulate(lab_task(2.5, impedance, pushes=hand, events=tuple(events))))


# ---- at rest -------------------------------------------------------------------------------------------------------

SEVEN = f"sim:{Path(__file__).parent.parent / 'data' / 'seven_joints.xml'}"
BENT = (0.2, 0.5, 0.1, 1.2, 0.3, 0.8, 0.0)


@settings(max_examples=25, deadline=None)
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
    run = simulate(lab_task(7.0 + 8.0 * slow, impedance, pushes=hand, events=events, limits=Limits(torque_rise_s=rise)))
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
    run = simulate(lab_task(9.0, pushes=(push(0, 140.0, 0.2, 2.0, 0.2), push(1, 75.0, 0.2, 2.0, 0.2))))
    reach = np.linalg.norm(place(run.records), axis=1)
    assert reach.max() > 1.59
    assert run.fault == ""
    assert np.linalg.norm(moved(run.records)[-1]) < 0.5


def test_a_goal_that_is_no_number_is_a_fault_that_brings_the_arm_to_rest() -> None:
    simulation = Simulation(lab_task(4.0, events=(goal_at(1.1, 0.9, 0.0),)))
    simulation.cell.perform(0)
    simulation.advance(150)
    simulation.cell.controller.goal[0].pose[0] = np.nan
    records = simulation.advance(3000)
    assert records["state"]["fault"][-1] == FAULT_COMMAND
    assert np.isfinite(records["command"]["tau"]).all()
    assert not records["state"]["qd_cmd"][-1].any()


# ---- handing over --------------------------------------------------------------------------------------------------


def in_full_motion(*events: Event, seconds: float = 3.0, **more: Any) -> Array:
    """The tool is on its way to another equilibrium when something happens at 0.4 s."""
    return simulate(lab_task(seconds, law(damping=30.0), events=(goal_at(0.9, 1.0, 0.05), *events), **more)).records


@pytest.mark.parametrize("what", [{"stop": True}, {"law": "hold"}, {"law": "admittance"}])
def test_a_stop_and_a_change_of_law_take_over_without_a_jump(what: dict[str, Any]) -> None:
    records = in_full_motion(Event(at_s=0.4, **what))
    q, qd, tau = (records[a][b][:, :2] for a, b in (("reading", "q"), ("reading", "qd"), ("command", "tau")))
    assert np.abs(qd[400]).max() > 0.2
    assert np.abs(np.diff(qd[390:800], axis=0)).max() < 100.0 * 0.001 * 1.5  # half of the arm's own acceleration
    check_gradual(tau)
    assert np.abs(qd[-1]).max() < 1e-3
    assert np.abs(q[-1] - q[400]).max() < 0.2


def test_a_lost_sensor_stops_the_arm_at_rest() -> None:
    records = in_full_motion(sensor=Sensor(failures=(Failure(kind="missing", at_s=0.4),)))
    assert FAULTS[int(records["state"]["fault"][-1])] == "the force sensor gave no reading"
    assert records["state"]["trouble"][-1] == WRENCH_MISSING
    assert not records["state"]["qd_cmd"][-1].any()
    assert np.abs(records["reading"]["qd"][400]).max() > 0.2
    assert np.abs(records["reading"]["qd"][-1]).max() <= STANDS
    assert len(records) < 1400  # it stands within a second


@pytest.mark.parametrize("kind", ["missing", "nan", "saturated", "stale"])
def test_the_simple_form_goes_on_without_a_force_sensor(kind: Any) -> None:
    lost = Sensor(failures=(Failure(kind=kind, at_s=0.0),))
    hand = (push(0, 10.0, 3.0), push(1, -10.0, 3.0))
    task = lab_task(7.0, law(form="simple"), events=(goal_at(1.1, 0.9, 0.1),), pushes=hand, sensor=lost)
    run = simulate(task)
    assert run.fault == ""
    assert run.records["state"]["trouble"][100:].all()  # a reading is stale only after a while
    assert not run.records["observed"]["wrench"][100:].any()
    assert_allclose(place(run.records)[2990], [1.1, 0.9], atol=2e-4)
    assert_allclose(place(run.records)[-1], [1.14, 0.86], atol=2e-4)


def test_the_simple_form_computes_the_same_whatever_the_sensor_says() -> None:
    runs = [
        simulate(lab_task(2.0, law(form="simple"), pushes=(push(0, 15.0, 0.3),), sensor=sensor)).records
        for sensor in (SILENT, Sensor(noise_n=3.0, noise_nm=1.0, bias=(20.0, -10.0, 5.0, 1.0, 0.0, 0.0)))
    ]
    np.testing.assert_array_equal(runs[0]["command"]["tau"], runs[1]["command"]["tau"])


def test_back_in_the_shaped_form_a_lost_sensor_stops_the_arm() -> None:
    lost = Sensor(failures=(Failure(kind="missing", at_s=0.2),))
    shaped = Event(at_s=1.0, set={"impedance.form": "shaped"})
    run = simulate(lab_task(3.0, law(form="simple"), events=(shaped,), sensor=lost))
    assert run.fault == "the force sensor gave no reading"
    assert 1.0 <= run.records["time_s"][-1] < 1.2


def test_after_a_stop_it_goes_on_from_where_it_stands() -> None:
    simulation = Simulation(lab_task(9.0, events=(goal_at(0.9, 1.0, 0.0),)))
    simulation.cell.perform(0)
    simulation.advance(300)
    simulation.cell.controller.goal[0].stop = 1
    halted = simulation.advance(1000)
    assert np.abs(halted["reading"]["qd"][-1]).max() < 1e-3
    simulation.cell.controller.goal[0].stop = 0
    records = simulation.advance(3000)
    assert_allclose(place(records)[-1], [0.9, 1.0], atol=1e-3)
    check_gradual(records["command"]["tau"][:, :2])


def test_from_hold_to_impedance_nothing_moves_until_something_pushes() -> None:
    task = lab_task(3.0, pushes=(push(0, 10.0, 2.0),), events=(Event(at_s=1.0, law="impedance"),))
    records = simulate(task.model_copy(update={"law": "hold"})).records
    assert np.abs(moved(records)[:1990]).max() < 1e-3
    assert moved(records)[-1, 0] > 30.0


# ---- records, replay, belief ---------------------------------------------------------------------------------------


def test_a_recorded_run_replays_bit_for_bit(tmp_path: Any) -> None:
    events = (goal_at(1.1, 0.9, 0.2), Event(at_s=0.5, set={"impedance.stiffness": (400.0, 100.0, 0, 0, 0, 0)}))
    run = simulate(lab_task(1.0, pushes=(push(1, 15.0, 0.3),), events=events, sensor=Sensor()))
    save_run(run, tmp_path / "run.mcap")
    again = replay(Recording.load(tmp_path / "run.mcap"))
    assert again.ticks == 1000
    assert again.largest == 0.0


def test_the_state_holds_what_the_arm_really_does() -> None:
    records = simulate(lab_task(1.0, pushes=(push(0, 10.0, 0.2),))).records
    state, reading, observed = records["state"], records["reading"], records["observed"]
    np.testing.assert_array_equal(state["q_cmd"][1:], reading["q"][1:])
    np.testing.assert_array_equal(state["pose"][1:], observed["pose"][1:])
    assert (records["command"]["mode"] == TORQUE).all()
    middle = reading["q"][-1, :2] + 0.0005 * reading["qd"][-1, :2]
    J = Arm.load("two_link").jacobian(middle)[:2]
    assert observed["singular_value"][-1] == pytest.approx(np.linalg.svd(J, compute_uv=False)[-1], rel=1e-6)
    assert_allclose(observed["wrench"][-1, :2], [10.0, 0.0], atol=1e-3)


def test_a_wrong_belief_changes_the_controller_and_not_the_arm() -> None:
    true, wrong = Arm.load("two_link"), Arm.load("two_link", mass_scale=1.2, length_scale=1.1, friction_scale=0.0)
    q = np.array([0.3, -0.9])
    assert_allclose(wrong.pose(q)[:3], 1.1 * true.pose(q)[:3])
    assert_allclose(wrong.mass_matrix(q), 1.2 * 1.1**2 * true.mass_matrix(q), rtol=1e-6)
    assert not wrong.handle["damping"].any()
    heavy = simulate(lab_task(3.0, belief=Belief(mass_scale=1.2))).records
    assert moved(heavy)[-1, 1] > 1.0  # it carries more than there is, and rises
    assert np.abs(moved(simulate(lab_task(1.0)).records)).max() < 1e-6


@pytest.mark.parametrize("form", ["shaped", "simple"])
@pytest.mark.parametrize("seed", range(2))
def test_random_pushes_on_a_ur5e_put_in_what_is_stored_or_was_taken(seed: int, form: str) -> None:
    outcome = random_pushes(seed, form)
    assert outcome.put.max() > 0.5
    # what was put in less what is stored: the damper's share only grows
    assert (outcome.put - outcome.stored).min() > -0.02 * outcome.put.max()
    assert outcome.put[-1] - outcome.stored[-1] > 0.5 * outcome.put.max()


def test_replaying_ticks_by_hand_gives_the_same_numbers() -> None:
    run = simulate(lab_task(0.5, pushes=(push(0, 20.0, 0.1),)))
    sets = PARAMETERS.new(1)
    sets[0] = run.sets[0][2][0]
    out = run.records.copy()
    fresh = (STATE.new(), COMMAND.new(), OBSERVED.new(), WORK.new())
    arm = Arm.load("two_link")
    rerun(arm.handle, sets, np.zeros(500, np.int64), run.records, *fresh, TORQUE, 0.001, 0, 500, out)
    assert difference(run.records, out)[0] == 0.0


# ---- in real time --------------------------------------------------------------------------------------------------


def test_equilibrium_and_forces_are_changed_while_the_lab_runs(shelf: Any, until: Any) -> None:
    task = find_task("lab")
    with Session(task.model_copy(update={"duration_s": 600.0})) as arm:
        arm.wait(0.2)
        arm.goal_position([1.1, 0.9])
        until(lambda: np.linalg.norm(arm.pose[:2] - [1.1, 0.9]) < 2e-3)
        arm.virtual_push([10.0, 0.0, 0.0])
        until(lambda: np.linalg.norm(arm.pose[:2] - [1.14, 0.9]) < 2e-3)
        arm.virtual_push([0.0, 0.0, 0.0])
        arm.push([0.0, 10.0, 0.0], for_s=60.0)
        until(lambda: np.linalg.norm(arm.pose[:2] - [1.1, 0.94]) < 2e-3)
        with pytest.raises(InputError, match="within sense"):
            arm.virtual_push([1e3, 0.0, 0.0])
        with pytest.raises(InputError, match="finite"):
            arm.virtual_push([np.nan, 0.0, 0.0])
        with pytest.raises(InputError, match="finite"):
            arm.goal_position([np.nan, 0.0])


def test_a_running_loop_refuses_a_law_that_its_interface_does_not_fit(shelf: Any) -> None:
    with connect("sim:ur5e") as arm, pytest.raises(InputError, match="torque"):
        arm.law("impedance")


def test_the_lab_task_starts_at_the_textbook_pose_and_rests_at_force_over_stiffness() -> None:
    task = find_task("lab")
    assert (task.robot, task.law, task.interface, task.rate_hz) == ("sim:two_link", "impedance", "torque", 1000.0)
    events = (Event(at_s=0.5, virtual_push=(10.0, 0.0, 0.0, 0.0, 0.0, 0.0)),)
    records = simulate(task.model_copy(update={"duration_s": 5.0, "events": events})).records
    assert_allclose(place(records)[0], X0, atol=1e-4)
    assert rest(records)[0] == pytest.approx(40.0, abs=0.3)
