"""The torque law in the tick: handed over without a jump, recorded and replayed, changed while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from impede_checks import check_gradual
from numpy.testing import assert_allclose

from pliant.control.parameters import PARAMETERS
from pliant.control.tick_entries import new_work
from pliant.errors import InputError
from pliant.loop.periods import STILL_RAD_S
from pliant.model import Arm
from pliant.record.reader import Recording
from pliant.records import (
    COMMAND,
    FAULTS,
    OBSERVED,
    STATE,
    TORQUE,
    WRENCH_MISSING,
)
from pliant.session.in_process.fast_run import simulate
from pliant.session.in_process.rerun import difference, replay, rerun
from pliant.session.in_process.simulation import Simulation
from pliant.session.session import Session, connect
from pliant.task.schema import Event, ModelError, load_task
from pliant.world.world_config import Failure, Sensor
from pliant_experiments.motion.impedance_pose import random_pushes
from pliant_experiments.scenes.two_link_lab import SILENT, X0, goal_at, lab_task, law, moved, place, push, rest

Array = np.ndarray[Any, Any]

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
    assert np.abs(records["reading"]["qd"][-1]).max() <= STILL_RAD_S
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
    assert run.fault.startswith("the force sensor gave no reading")
    assert 1.0 <= run.records["time_s"][-1] < 1.2


def test_after_a_stop_it_goes_on_from_where_it_stands() -> None:
    simulation = Simulation(lab_task(9.0, events=(goal_at(0.9, 1.0, 0.0),)))
    simulation.runner.perform(0)
    simulation.advance(300)
    simulation.runner.controller.goal[0].stop = 1
    halted = simulation.advance(1000)
    assert np.abs(halted["reading"]["qd"][-1]).max() < 1e-3
    simulation.runner.controller.goal[0].stop = 0
    records = simulation.advance(3000)
    assert_allclose(place(records)[-1], [0.9, 1.0], atol=1e-3)
    check_gradual(records["command"]["tau"][:, :2])


def test_from_hold_to_impedance_nothing_moves_until_something_pushes() -> None:
    task = lab_task(3.0, pushes=(push(0, 10.0, 2.0),), events=(Event(at_s=1.0, law="impedance"),))
    records = simulate(task.model_copy(update={"law": "hold"})).records
    assert np.abs(moved(records)[:1990]).max() < 1e-3
    assert moved(records)[-1, 0] > 30.0


# ---- records, replay, model error ---------------------------------------------------------------------------------


def test_a_recorded_run_replays_bit_for_bit(tmp_path: Any) -> None:
    events = (goal_at(1.1, 0.9, 0.2), Event(at_s=0.5, set={"impedance.stiffness": (400.0, 100.0, 0, 0, 0, 0)}))
    run = simulate(lab_task(1.0, pushes=(push(1, 15.0, 0.3),), events=events, sensor=Sensor()))
    run.save(tmp_path / "run.mcap")
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


def test_a_wrong_model_changes_the_controller_and_not_the_arm() -> None:
    true, wrong = Arm.load("two_link"), Arm.load("two_link", mass_scale=1.2, length_scale=1.1, friction_scale=0.0)
    q = np.array([0.3, -0.9])
    assert_allclose(wrong.pose(q)[:3], 1.1 * true.pose(q)[:3])
    assert_allclose(wrong.mass_matrix(q), 1.2 * 1.1**2 * true.mass_matrix(q), rtol=1e-6)
    assert not wrong.handle["damping"].any()
    heavy = simulate(lab_task(3.0, model_error=ModelError(mass_scale=1.2))).records
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
    fresh = (STATE.new(), COMMAND.new(), OBSERVED.new(), new_work())
    arm = Arm.load("two_link")
    span = (run.records.ctypes.data, out.ctypes.data, out.itemsize, 0, 500)
    rerun(arm.handle, sets, np.zeros(500, np.int64), span, *fresh, TORQUE, 0.001)
    assert difference(run.records, out)[0] == 0.0


# ---- in real time --------------------------------------------------------------------------------------------------


def test_equilibrium_and_forces_are_changed_while_the_lab_runs(shelf: Any, until: Any) -> None:
    task = load_task("lab")
    with Session(task.model_copy(update={"duration_s": 600.0})) as arm:
        arm.wait(0.2)
        arm.goal_position([1.1, 0.9])
        until(lambda: np.linalg.norm(arm.pose[:2] - [1.1, 0.9]) < 2e-3)
        arm.virtual_push([10.0, 0.0, 0.0])
        until(lambda: np.linalg.norm(arm.pose[:2] - [1.14, 0.9]) < 2e-3)
        arm.virtual_push([0.0, 0.0, 0.0])
        arm.push([0.0, 10.0, 0.0], for_s=60.0)
        until(lambda: np.linalg.norm(arm.pose[:2] - [1.1, 0.94]) < 2e-3)
        with pytest.raises(InputError, match=r"it moves along z, which impedance\.axes does not control"):
            arm.goal_position([1.1, 0.9, 0.3])
        with pytest.raises(InputError, match=r"sense\.range_n"):
            arm.virtual_push([1e3, 0.0, 0.0])
        with pytest.raises(InputError, match="finite"):
            arm.virtual_push([np.nan, 0.0, 0.0])
        with pytest.raises(InputError, match="finite"):
            arm.goal_position([np.nan, 0.0])


def test_a_running_loop_refuses_a_law_that_its_interface_does_not_fit(shelf: Any) -> None:
    with connect("sim:ur5e") as arm, pytest.raises(InputError, match="torque"):
        arm.law("impedance")


def test_the_lab_task_starts_at_the_textbook_pose_and_rests_at_force_over_stiffness() -> None:
    task = load_task("lab")
    assert (task.robot, task.law, task.interface, task.rate_hz) == ("sim:two_link", "impedance", "torque", 1000.0)
    events = (Event(at_s=0.5, virtual_push=(10.0, 0.0, 0.0, 0.0, 0.0, 0.0)),)
    records = simulate(task.model_copy(update={"duration_s": 5.0, "events": events})).records
    assert_allclose(place(records)[0], X0, atol=1e-4)
    assert rest(records)[0] == pytest.approx(40.0, abs=0.3)
