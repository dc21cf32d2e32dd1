"""A session: what is asked of a running loop happens, what cannot be asked is refused and changes nothing."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loop_ends import held

from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters, record_of
from pliant.errors import InputError, LoopError, PliantError, RecordingError, UnknownNameError
from pliant.loop import goal_requests
from pliant.params.declare import changed, validated
from pliant.params.matrix import compact
from pliant.params.packing import from_record
from pliant.record.reader import Recording
from pliant.session.in_process.rerun import replay
from pliant.session.session import Session, connect
from pliant.task.schema import Task

HOME = (0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0)
SOMEWHERE = (0.3, -1.4, 1.7, -1.9, -1.5, 0.2)
FAR = (2.5, -1.4, 1.7, -1.9, -1.5, 0.2)


@pytest.fixture(scope="module")
def shared() -> Iterator[Session]:
    with connect("sim:ur5e", start_q=HOME, tool={"mass_kg": 0.8, "com_m": [0, 0, 0.06], "tcp_m": [0, 0, 0.15]}) as arm:
        yield arm


@pytest.fixture
def arm(shared: Session, until) -> Session:
    """The shared session, at home under the law `hold` with the parameters of its task."""
    shared.push([0, 0, 0])
    shared.resume()
    shared.law("hold")
    shared.goal_wrench(np.zeros(6))
    shared.move_joints(HOME)
    before = shared.task.params
    shared.set({"admittance.stiffness": before.admittance.stiffness, "sense.cutoff_hz": before.sense.cutoff_hz})
    until(lambda: np.abs(shared.q - HOME).max() < 1e-4 and np.abs(shared.state.reading.qd).max() < 1e-3)
    shared.read()
    return shared


def applied(arm: Session, until) -> Any:
    """The newest record, once everything that was asked so far has been heard."""
    until(lambda: arm.board.header.queue_in == arm.board.header.queue_out)
    head = arm.board.head
    until(lambda: arm.board.head > head + 1)
    return arm.state


# ---- motion --------------------------------------------------------------------------------------------------------


def test_move_joints_reaches_the_goal(arm: Session, until) -> None:
    arm.move_joints(SOMEWHERE)
    until(lambda: np.abs(arm.q - SOMEWHERE).max() < 1e-4)
    assert arm.q.shape == (6,)
    assert arm.pose == pytest.approx(arm.arm.pose(SOMEWHERE), abs=1e-3)


def test_goal_pose_is_where_the_tool_goes(arm: Session, until) -> None:
    goal = arm.pose
    goal[:3] += [0.02, -0.03, 0.01]
    arm.law("admittance")
    arm.goal_pose(goal)
    until(lambda: np.abs(arm.pose[:3] - goal[:3]).max() < 5e-4)
    assert abs(arm.pose[3:] @ goal[3:]) == pytest.approx(1.0, abs=1e-5)


def test_another_law_begins_where_the_arm_is(arm: Session, until) -> None:
    """Not with a jump back to where the last law's goal was."""
    arm.move_joints(SOMEWHERE)
    until(lambda: np.abs(arm.q - SOMEWHERE).max() < 1e-4)
    arm.law("admittance")
    assert applied(arm, until).goal.law == LAWS["admittance"].number
    arm.wait(0.3)
    assert np.abs(arm.q - SOMEWHERE).max() < 2e-3
    arm.push([30, 0, 0], for_s=60)
    until(lambda: np.abs(arm.q - SOMEWHERE).max() > 0.05)
    arm.law("hold")
    held = applied(arm, until)
    assert held.goal.law == held.state.law == LAWS["hold"].number
    arm.push([0, 0, 0])
    arm.wait(0.6)
    assert np.abs(arm.state.state.q_cmd - held.goal.q).max() < 1e-3
    assert np.abs(arm.q - SOMEWHERE).max() > 0.04


def test_asking_for_the_law_that_runs_keeps_its_goal(arm: Session, until) -> None:
    arm.move_joints(SOMEWHERE)
    arm.law("hold")
    assert applied(arm, until).goal.q[:6].tolist() == list(SOMEWHERE)


def test_halt_brakes_and_resume_goes_on(arm: Session, until) -> None:
    share = arm.parameters.limits.speed_scale
    arm.set({"limits.speed_scale": 0.02})  # 40 s: however late the halt comes, it is still under way
    arm.move_joints(FAR)
    until(lambda: np.abs(arm.state.state.qd_cmd).max() > 0.05)
    arm.halt()
    until(lambda: not arm.state.state.qd_cmd.any())
    stopped = arm.state.state.q_cmd.copy()
    assert np.abs(stopped[:6] - FAR).max() > 1e-3
    arm.wait(0.1)
    assert arm.running
    assert arm.state.state.q_cmd.tolist() == stopped.tolist()
    arm.set({"limits.speed_scale": share})
    arm.resume()
    until(lambda: np.abs(arm.q - FAR).max() < 1e-4)
    records = arm.read()
    change = np.abs(np.diff(records["state"]["qd_cmd"], axis=0))[:, :6]
    most = arm.task.params.limits.acceleration_scale * arm.arm.a_max * arm.task.dt
    assert (change <= most * (1 + 1e-9)).all()


def test_a_push_moves_a_compliant_arm_along_the_push_and_a_stiff_one_not(arm: Session, until) -> None:
    start = arm.pose
    arm.push([0, 25, 0], for_s=60)
    until(lambda: arm.wrench[1] > 20)
    assert np.abs(arm.read()["command"]["qd"]).max() < 1e-3
    arm.law("admittance")
    until(lambda: arm.pose[1] - start[1] > 0.05)
    moved = arm.pose[:3] - start[:3]
    assert np.abs(moved[[0, 2]]).max() < 0.1 * moved[1]
    arm.push([0, 0, 0])
    until(lambda: arm.pose[1] - start[1] < 0.01)  # and the spring brings it back


def test_goal_wrench_is_what_the_tool_yields_to(arm: Session, until) -> None:
    arm.law("admittance")
    start = arm.pose
    arm.goal_wrench([0, 0, 10, 0, 0, 0])  # to feel 10 N upward, it has to press down
    until(lambda: arm.pose[2] < start[2] - 0.01)


@pytest.mark.parametrize(
    "ask",
    [
        lambda arm: arm.move_joints([0.0] * 5),
        lambda arm: arm.move_joints([0.0] * 5 + [np.nan]),
        lambda arm: arm.move_joints("home"),
        lambda arm: arm.move_joints([[0.0], 1.0]),
        lambda arm: arm.goal_pose([0.3, 0, 0.3, 1, 1, 0, 0]),
        lambda arm: arm.goal_pose([0.3, 0, 0.3]),
        lambda arm: arm.goal_wrench([np.inf] * 6),
        lambda arm: arm.goal_wrench([0, 0, 9000.0, 0, 0, 0]),
        lambda arm: arm.push([1.0, 2.0]),
        lambda arm: arm.push([1.0, 2.0, 3.0, 4.0]),
        lambda arm: arm.push(20.0),
        lambda arm: arm.push([20, 0, 0], for_s=0),
        lambda arm: arm.push([20, 0, 0], for_s=np.nan),
        lambda arm: arm.law("admitance"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_changes_nothing(arm: Session, until, ask) -> None:
    before, count = arm.state.goal.tobytes(), int(arm.board.header.queue_in)
    with pytest.raises((InputError, UnknownNameError)):
        ask(arm)
    assert int(arm.board.header.queue_in) == count
    assert applied(arm, until).goal.tobytes() == before


# ---- requests at a given tick --------------------------------------------------------------------------------------


def test_a_request_for_a_later_tick_acts_at_that_tick_and_not_before(arm: Session, until) -> None:
    with held(arm) as head:
        tick = head + 100
        arm.board.send(goal_requests.GOAL_Q, at_tick=tick, values=SOMEWHERE)
        arm.board.send(goal_requests.HALT, at_tick=tick - 20)
        arm.board.send(goal_requests.RESUME, at_tick=tick + 20)
    until(lambda: arm.board.head > tick + 30)
    records = arm.read()
    moved = records["tick"][np.any(records["goal"]["q"][:, :6] != HOME, axis=1)]
    stopped = records["tick"][records["goal"]["stop"] == 1]
    assert int(moved[0]) == tick
    assert stopped.tolist() == list(range(tick - 20, tick + 20))


# ---- parameters ----------------------------------------------------------------------------------------------------


def test_a_set_is_adopted_whole_between_two_ticks(arm: Session, until) -> None:
    before = arm.board.adopted
    arm.wait(0.01)
    arm.set({"admittance.stiffness": 432.0, "sense.cutoff_hz": 33.0})
    assert arm.board.adopted == before + 1
    assert compact(arm.parameters.admittance.stiffness) == [432.0] * 6
    assert arm.parameters.sense.cutoff_hz == 33.0
    until(lambda: arm.state.revision == before + 1)
    entry = arm.board.parameter_set(before + 1)
    assert entry is not None
    assert from_record(Parameters, entry["values"]) == arm.parameters
    assert (entry["values"].revision, entry["values"].gains.K1[0, 0]) == (before + 1, 432.0)
    records = arm.read()
    assert records["tick"][records["revision"] == before + 1][0] == entry.tick
    assert set(records["revision"].tolist()) == {before, before + 1}


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"sense.cutoff_hz": 1e6}, InputError),
        ({"sense.cutoff_hz": float("nan")}, InputError),
        ({"sense.cutoff_hz": "fast"}, InputError),
        ({"admittance.stiffness": (1.0, 2.0)}, InputError),
        ({"sense.cut_off": 20.0}, UnknownNameError),
        ({"limits.position_margin": 0.1}, InputError),
        ({"sense.cutoff_hz": 50.0, "admittance.stiffness": -1.0}, InputError),
    ],
    ids=["out of bounds", "not a number", "a word", "too short", "unknown", "not live", "one of two"],
)
def test_a_set_that_is_not_allowed_changes_nothing(arm: Session, until, values, error) -> None:
    before, in_force = arm.board.adopted, arm.parameters
    with pytest.raises(error) as caught:
        arm.set(values)
    assert isinstance(caught.value, PliantError)
    assert (arm.board.adopted, arm.parameters) == (before, in_force)
    assert applied(arm, until).revision == before


def test_the_loop_itself_refuses_what_got_past_the_door(arm: Session, until) -> None:
    before = arm.board.adopted
    for place, bad in (((2, 2), -1.0), ((2, 2), float("nan")), ((2, 2), float("inf")), ((0, 1), 0.5)):
        record = record_of(arm.parameters)
        record["admittance"]["mass"][0][place] = bad
        sequence = arm.board.propose(record, before)
        until(lambda sequence=sequence: arm.board.answered >= sequence)
        assert arm.board.answered == sequence + 1
        assert (arm.board.adopted, arm.state.revision) == (before, before)


def test_the_loop_itself_refuses_to_change_what_is_fixed(arm: Session, until) -> None:
    before = arm.board.adopted
    frames = {"admittance.frame": "tool"}
    sequence = arm.board.propose(record_of(changed(arm.parameters, frames)), before)
    until(lambda: arm.board.answered >= sequence)
    assert arm.board.answered == sequence + 1
    assert (arm.board.adopted, arm.parameters.admittance.frame) == (before, "base")


def test_a_proposal_made_from_a_set_that_has_gone_is_refused(arm: Session, until) -> None:
    stale = arm.board.adopted
    arm.set({"sense.cutoff_hz": 25.0})
    sequence = arm.board.propose(record_of(changed(arm.parameters, {"hold.bandwidth_hz": 2.0})), stale)
    until(lambda: arm.board.answered >= sequence)
    assert arm.board.answered == sequence + 1
    assert arm.parameters.hold.bandwidth_hz == 3.0


def test_changes_from_several_hands_at_once_all_hold(arm: Session) -> None:
    """Each changes its own parameter, many times; none undoes what another has set."""
    names = ["hold.bandwidth_hz", "sense.deadband_n", "sense.cutoff_hz"]
    problems: list[Exception] = []

    def turn(name: str) -> None:
        try:
            for value in (2.0, 3.0, 1.0, 2.5):
                arm.set({name: value})
        except PliantError as error:
            problems.append(error)

    threads = [threading.Thread(target=turn, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    hold, sense = arm.parameters.hold, arm.parameters.sense
    assert (hold.bandwidth_hz, sense.deadband_n, sense.cutoff_hz) == (2.5, 2.5, 2.5)
    arm.set({"hold.bandwidth_hz": 3.0, "sense.deadband_n": 1.0})


# ---- telemetry -----------------------------------------------------------------------------------------------------


def test_read_gives_every_tick_once(arm: Session) -> None:
    parts, lost = [], arm.lost
    for _ in range(10):
        arm.wait(0.02)
        parts.append(arm.read())
    ticks = np.concatenate(parts)["tick"]
    assert len(ticks) >= 100
    assert (np.diff(ticks) == 1).all()
    assert arm.lost == lost


def test_time_is_tick_times_period(arm: Session) -> None:
    arm.wait(0.05)
    records = arm.read()
    assert (records["time_s"] == records["tick"] * arm.task.dt).all()
    assert (np.diff(records["timing"]["wall_ns"]) > 0).all()


def test_the_loop_says_what_it_was_granted(arm: Session) -> None:
    assert set(arm.notes["granted"]) == {"scheduler", "memory", "timer"}
    assert arm.notes["resident_kib"] > 0


# ---- sessions of their own -----------------------------------------------------------------------------------------


def test_a_recorded_session_is_complete_and_runs_again_bit_for_bit(tmp_path: Path, until) -> None:
    path = tmp_path / "deep" / "run.mcap"
    with connect("sim:ur5e", law="admittance", record=str(path), rate_hz=250) as arm:
        arm.push([20, -10, 5], for_s=0.3)
        for value in (150.0, 300.0, 450.0):
            arm.wait(0.1)
            arm.set({"admittance.stiffness": value})
        arm.law("hold")
        arm.move_joints(SOMEWHERE)
        arm.wait(0.3)
    recording = Recording.load(path)
    assert recording.complete
    assert recording.lost == 0
    assert recording.records["tick"].tolist() == list(range(arm.board.head))
    assert [item.revision for item in recording.parameters] == [0, 1, 2, 3]
    assert [item.values["admittance"]["stiffness"][0, 0] for item in recording.parameters] == [
        200.0,
        150.0,
        300.0,
        450.0,
    ]
    for item in recording.parameters:
        first = recording.records[recording.records["revision"] == item.revision][0]
        assert first["time_s"] == item.time_s
    again = replay(recording)
    assert (again.ticks, again.largest, again.where, again.gaps) == (arm.board.head, 0.0, "", 0)


def test_changes_by_hand_and_by_script_do_not_undo_each_other(until) -> None:
    task = validated(
        Task,
        {
            "events": [
                {"at_s": 0.5, "set": {"admittance.stiffness": 600.0}},
                {"at_s": 1.0, "set": {"sense.deadband_n": 3.0}},
            ]
        },
    )
    with Session(task) as arm:
        arm.set({"sense.cutoff_hz": 11.0})
        until(lambda: arm.parameters.admittance.stiffness[0][0] == 600.0)
        assert arm.parameters.sense.cutoff_hz == 11.0
        arm.set({"hold.bandwidth_hz": 2.0})
        until(lambda: arm.parameters.sense.deadband_n == 3.0)
        expected = {"admittance.stiffness": 600.0, "sense.cutoff_hz": 11.0, "sense.deadband_n": 3.0}
        assert arm.parameters == changed(Parameters(), {**expected, "hold.bandwidth_hz": 2.0})


def test_what_is_asked_after_the_end_is_an_error() -> None:
    task = validated(Task, {"duration_s": 0.1})
    with Session(task, ticks=task.ticks) as arm:
        arm.join()
        for ask in (arm.halt, lambda: arm.set({"sense.cutoff_hz": 11.0}), lambda: arm.move_joints(HOME)):
            with pytest.raises(LoopError, match="task is complete"):
                ask()
        assert arm.wait(1.0).tick == 49
        assert len(arm.read()) == 50


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"law": "hold", "speed": 3}, InputError),
        ({"law": "springy"}, InputError),
        ({"rate_hz": 2000}, InputError),
        ({"robot": "sim:ur99e"}, PliantError),
    ],
)
def test_connect_refuses_before_it_starts_anything(keywords: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        connect(**keywords)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("task.mcap", RecordingError, "is not a recording"),
        ("task.yaml", InputError, r"must be a file name ending in \.mcap"),
    ],
)
def test_a_recording_is_not_written_over_another_kind_of_file(
    tmp_path: Path, name: str, error: type[Exception], words: str
) -> None:
    task = tmp_path / name
    task.write_text("law: hold\n")
    with pytest.raises(error, match=words):
        Session(Task(), record=str(task)).start()
    assert task.read_text() == "law: hold\n"
