"""A line that fails: in a loop's own process, because ur_rtde may take its process down with it."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from controller_clock import use_controller_clock

from pliant.control.guard_params import Guard
from pliant.control.parameters import Parameters, Sense
from pliant.errors import LoopError
from pliant.session.session import Session
from pliant.task.schema import Task, load_task
from pliant_experiments.robots.emulator_process import Emulator
from support.waiting import until


def guided(ur: Emulator, stale_s: float, hold_s: float) -> Task:
    """Hand guiding that bears packets as late as this."""
    task = load_task("hand_guiding")
    sense = Sense(stale_s=stale_s, hold_s=hold_s, frozen_s=10.0)
    parameters = Parameters(
        sense=sense, guard=Guard(stale_s=5.0), admittance=task.params.admittance, limits=task.params.limits
    )
    return task.model_copy(update={"robot": ur.robot, "params": parameters, "duration_s": 60.0})


@pytest.fixture(autouse=True)
def patient(ur: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may hold up either end for seconds, and that is not what is tested here."""
    ur.inject("watchdog slow 60")
    use_controller_clock(monkeypatch)


def settle(ur: Emulator) -> None:
    """Wait until the arm stands."""
    until(lambda: max(map(abs, ur.state["qd"])) < 2e-3)


def fail(ur: Emulator, task: Task, fault: str) -> None:
    """Run the task and let the line fail."""
    session = Session(task).start()
    session.wait(0.8)
    while session.running:  # a loop that is held up itself counts less of a silence, and may outlast it
        ur.inject(fault)
        session.wait(3.0)
    session.join()


@pytest.mark.parametrize(
    ("fault", "said", "stale_s", "hold_s"),
    [
        # ur_rtde may crash at that very moment; then its owner says the same
        pytest.param("hang up", r"the connection to 127\S+ is (probably )?lost", 1.0, 0.5, marks=pytest.mark.slow),
        # when the last packet was late itself, it is too old just before that
        pytest.param(
            "silence 2",
            r"has sent nothing for 600 ms|older than sense\.stale_s",
            0.1,
            0.5,
            marks=pytest.mark.slow,
        ),
        pytest.param("late 0.25", r"older than sense\.stale_s", 0.2, 0.5, marks=pytest.mark.slow),
    ],
)
def test_a_line_that_fails_is_told_and_the_arm_stands(
    ur: Emulator, fault: str, said: str, stale_s: float, hold_s: float
) -> None:
    with pytest.raises(LoopError, match=said):
        fail(ur, guided(ur, stale_s, hold_s), fault)
    settle(ur)
    ur.inject("clear")
    with Session(guided(ur, 1.0, 0.5)) as session:  # whatever ur_rtde has left there
        session.wait(0.1)
        session.stop()


@pytest.mark.slow
def test_a_loop_that_its_driver_takes_down_is_told_as_the_lost_line_that_it_is(ur: Emulator) -> None:
    session = Session(guided(ur, 1.0, 0.5)).start()
    session.wait(0.2)
    os.kill(int(session.board.header.loop_pid), signal.SIGSEGV)
    ur.inject("watchdog slow 0")  # from now on as quick as the driver has set it
    words = r"the connection to 127\S+ is probably lost, and ur_rtde .* watchdog stops the arm \(SIGSEGV\)"
    with pytest.raises(LoopError, match=words) as caught:
        session.wait(600.0)
    assert "The last seconds are in" in str(caught.value)
    until(lambda: not ur.state["plays"])
    assert "watchdog" in ur.state["why"]
    settle(ur)


def test_a_push_leads_the_tool_through_the_driver_as_on_the_simulator(ur: Emulator) -> None:
    with Session(guided(ur, 1.0, 0.5)) as session:
        way = np.zeros((0, 3))

        def is_led() -> bool:  # the first push of the task is along +y; what comes later does not count
            nonlocal way
            way = np.concatenate([way, session.read()["observed"]["pose"][:, :3]])
            return bool((way[:, 1] > way[:1, 1] + 0.05).any())

        until(is_led)
        led = way[np.argmax(way[:, 1] > way[:1, 1] + 0.05)] - way[0]
        session.stop()
        until(lambda: not ur.state["plays"])
    assert abs(led[0]) < 0.05
