"""A whole run in one compiled call: the same numbers every time, and the same as those of the paced loop."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from pliant.control.laws.registry import LAWS
from pliant.errors import InputError, UnknownNameError
from pliant.loop.periods import STILL_RAD_S
from pliant.params.declare import validated
from pliant.session.in_process import fast_run
from pliant.session.in_process.fast_run import Run, simulate
from pliant.session.session import Session
from pliant.task.schema import Task

# Everything that can happen in a task, in two seconds: pushes, parameters, laws, goals, a stop.
BUSY = {
    "duration_s": 2.0,
    "law": "admittance",
    "tool": {"mass_kg": 0.8, "com_m": [0, 0, 0.06], "tcp_m": [0, 0, 0.15]},
    "sim": {
        "seed": 11,
        "sensor": {"dropout": 0.05},
        "pushes": [
            {"at_s": 0.1, "for_s": 0.4, "wrench": [25, 0, 0, 0, 0, 0]},
            {"at_s": 0.6, "for_s": 0.3, "wrench": [0, 15, -10, 0, 0, 1]},
        ],
    },
    "events": [
        {"at_s": 1.3, "goal_q": [0.1, -1.5, 1.6, -1.7, -1.5, 0.1]},
        {"at_s": 0.7, "set": {"admittance.stiffness": 500.0, "sense.cutoff_hz": 40.0}},
        {"at_s": 0.3, "goal_offset_m": [0, 0.02, 0]},
        {"at_s": 1.0, "law": "hold"},
        {"at_s": 1.6, "stop": True},
    ],
}


@pytest.fixture(scope="module")
def task() -> Task:
    return validated(Task, BUSY)


@pytest.fixture(scope="module")
def run(task: Task) -> Run:
    return simulate(task)


def untimed(records: np.ndarray[Any, Any]) -> bytes:
    """The bytes of the records without the clock's."""
    records = records.copy()
    records["timing"] = np.zeros_like(records["timing"])
    return records.tobytes()


def test_a_second_run_is_the_same_bit_for_bit(task: Task, run: Run) -> None:
    again = simulate(task)
    assert again.records.tobytes() == run.records.tobytes()
    assert [(r, t, v.tobytes()) for r, t, v in again.sets] == [(r, t, v.tobytes()) for r, t, v in run.sets]


def test_another_seed_is_another_run(task: Task, run: Run) -> None:
    other = simulate(validated(Task, {**BUSY, "sim": {**BUSY["sim"], "seed": 12}}))
    assert other.records["reading"]["wrench"].tobytes() != run.records["reading"]["wrench"].tobytes()


def test_the_paced_loop_gives_the_same_numbers_bit_for_bit(task: Task, run: Run) -> None:
    with Session(task, ticks=task.ticks) as arm:
        arm.join()
        records = arm.read()
    assert arm.lost == 0
    assert (records["timing"]["wall_ns"] > 0).all()
    assert untimed(records) == untimed(run.records)
    for revision, tick, values in run.sets:
        entry = arm.board.parameter_set(revision)
        assert entry is not None
        assert (int(entry.tick), entry["values"].tobytes()) == (tick, values.tobytes())


def test_threads_give_the_same_as_one_after_another() -> None:
    tasks = [validated(Task, {**BUSY, "sim": {**BUSY["sim"], "seed": seed}}) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(simulate, tasks))
    for one, other in zip(tasks, together, strict=True):
        assert simulate(one).records.tobytes() == other.records.tobytes()


def test_how_a_run_is_cut_makes_no_difference(task: Task, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_run, "_CHUNK_S", 0.014)
    assert simulate(task).records.tobytes() == run.records.tobytes()


def test_events_happen_at_their_tick(task: Task, run: Run) -> None:
    records = run.records
    assert records["tick"].tolist() == list(range(task.ticks))

    def first(what: np.ndarray[Any, Any]) -> int:
        return int(records["tick"][what][0])

    goal, start = records["goal"], records["goal"][0]
    assert first(goal["pose"][:, 1] != start["pose"][1]) == round(0.3 * task.rate_hz)
    assert first(records["revision"] == 1) == round(0.7 * task.rate_hz)
    assert first(goal["law"] == LAWS["hold"].number) == round(1.0 * task.rate_hz)
    assert first(goal["q"][:, 0] == 0.1) == round(1.3 * task.rate_hz)
    assert first(goal["stop"] == 1) == round(1.6 * task.rate_hz)
    assert [(revision, tick) for revision, tick, _ in run.sets] == [(0, 0), (1, 350)]
    assert run.sets[1][2]["admittance"]["stiffness"][0].tolist() == np.diag([500.0] * 6).tolist()
    assert not records["state"]["qd_cmd"][-1].any()
    assert run.fault == ""


def test_an_event_after_the_end_does_not_happen() -> None:
    late = {"at_s": 0.2, "law": "admittance"}
    run = simulate(validated(Task, {"duration_s": 0.2, "events": [late]}))
    assert (run.records["goal"]["law"] == LAWS["hold"].number).all()
    assert len(run.records) == 100


def test_a_fault_ends_the_run_when_the_arm_stands(faulting_task: Task) -> None:
    run = simulate(faulting_task)
    assert run.fault.startswith(
        "the force sensor reported saturation for longer than sense.hold_s (0.05 s), while it read up to 40 N"
    )
    assert len(run.records) < faulting_task.ticks
    state = run.records["state"]
    assert state["fault"][-1] != 0
    assert not state["qd_cmd"][-1].any()
    measured = np.abs(run.records["reading"]["qd"]).max(axis=1)
    assert measured[-1] <= STILL_RAD_S < measured[-2]  # not before the arm itself stands, and not later


def test_progress_rises_to_the_end(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_run, "_CHUNK_S", 0.25)
    told: list[float] = []
    simulate(task, told.append)
    assert len(told) >= 8
    assert told == sorted(told)
    assert told[0] == 0.0  # the start is over
    assert told[1] > 0
    assert told[-1] == 1.0


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"goal_q": [0.0, 0.0]}, InputError),
        ({"goal_offset_m": [0.1]}, InputError),
        ({"wrench_goal": [0, 0, 9000.0, 0, 0, 0]}, InputError),
        ({"set": {"admittance.stifness": 1.0}}, UnknownNameError),
        ({"set": {"admittance.stiffness": -1.0}}, InputError),
        ({"set": {"limits.position_margin": 0.1}}, InputError),
    ],
)
def test_a_mistake_in_a_later_event_is_found_before_anything_moves(event: dict[str, Any], error) -> None:
    with pytest.raises(error):
        simulate(validated(Task, {"duration_s": 5.0, "events": [{"at_s": 4.0, **event}]}))


def test_only_a_simulated_robot_runs_as_fast_as_possible() -> None:
    for address in ("ur5e", "sim:", ":ur5e", "real:ur5e"):
        with pytest.raises((InputError, UnknownNameError)):
            simulate(validated(Task, {"robot": address}))
