"""A line that fails: in a loop's own process, because ur_rtde may take its process down with it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from pliant.errors import LoopError
from pliant.experiments.emulated import Emulator
from pliant.params.control import Parameters, Sense
from pliant.runtime.session import Session
from pliant.runtime.task import Task, find_task


def guided(ur: Emulator, stale_s: float, hold_s: float) -> Task:
    """Hand guiding that bears packets as late as this: the machine of the tests may be busy."""
    task = find_task("hand_guiding")
    sense = Sense(stale_s=stale_s, hold_s=hold_s, frozen_s=10.0)
    parameters = Parameters(sense=sense, admittance=task.params.admittance, limits=task.params.limits)
    return task.model_copy(update={"robot": ur.robot, "params": parameters, "duration_s": 60.0})


def settled(ur: Emulator) -> bool:
    """Whether the arm comes to rest within a time."""
    deadline = time.monotonic() + 20.0
    while max(map(abs, ur.state["qd"])) > 2e-3 and time.monotonic() < deadline:
        time.sleep(0.02)
    return time.monotonic() < deadline


@pytest.mark.parametrize(
    ("fault", "said", "stale_s", "hold_s"),
    [
        # ur_rtde may crash at that very moment; then its owner says the same
        ("hang up", r"the connection to 127\S+ is lost", 1.0, 0.5),
        ("silence 2", "has sent nothing for 600 ms", 0.1, 0.5),
        ("late 0.4", r"readings older than sense\.stale_s", 0.2, 0.5),
    ],
)
def test_a_line_that_fails_is_told_and_the_arm_stands(
    ur: Emulator, fault: str, said: str, stale_s: float, hold_s: float
) -> None:
    session = Session(guided(ur, stale_s, hold_s)).start()
    session.wait(0.8)
    ur.inject(fault)
    with pytest.raises(LoopError, match=said):
        session.wait(30.0)
    assert settled(ur)


def test_a_loop_that_its_driver_takes_down_is_told_as_the_lost_line_that_it_is(ur: Emulator) -> None:
    session = Session(guided(ur, 1.0, 0.5)).start()
    session.wait(0.2)
    os.kill(int(session.board.header.loop_pid), signal.SIGSEGV)
    words = r"the connection to 127\S+ is lost, and ur_rtde took the process .* watchdog stops the arm \(SIGSEGV\)"
    with pytest.raises(LoopError, match=words) as caught:
        session.wait(30.0)
    assert "The last seconds are in" in str(caught.value)
    assert settled(ur)


def test_a_push_leads_the_tool_through_the_driver_as_on_the_simulator(ur: Emulator) -> None:
    with Session(guided(ur, 1.0, 0.5)) as session:
        before = session.pose
        until(lambda: session.pose[1] > before[1] + 0.05)  # the first push of the task is along +y
        led = session.pose - before
        session.stop()
        assert not ur.state["plays"]
    assert abs(led[0]) < 0.05


def until(condition: Callable[[], Any], within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
