"""A controller that reports nonsense while an arm is driven by torque: the loop ends, and the arm hardly moves."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from pliant.control.parameters import Parameters, Sense
from pliant.errors import LoopError
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant_experiments.robots.emulator_process import Emulator
from support.waiting import until

# a busy machine may hold packets back, and that is not what is tested here
PATIENT = Parameters(sense=Sense(stale_s=1.0, hold_s=0.5, frozen_s=10.0))


@pytest.fixture(scope="module")
def emulator(ur_rtde: None) -> Iterator[Emulator]:
    with Emulator() as running:
        running.inject("watchdog slow 60")
        yield running


def run_until_fault(ur: Emulator, fault: str) -> tuple[str, float]:
    """Why the loop ended after this fault, and the fastest joint speed of the true arm from then on [rad/s]."""
    task = Task(robot=ur.robot, law="hold", interface="torque", duration_s=60.0, params=PATIENT)
    fastest, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.is_set():
            fastest[0] = max(fastest[0], float(np.abs(ur.state["qd"]).max()))

    thread = threading.Thread(target=watch)
    session = Session(task).start()
    until(lambda: session.board.head > 100)
    thread.start()
    ur.inject(fault)
    try:
        session.join()
    except LoopError as error:
        return str(error), fastest[0]
    finally:
        ended.set()
        thread.join()
    return "", fastest[0]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("false speed 2 1e9", "position of joint 2 jumped"),
        ("false zeros", "jumped by"),
        ("false position 3 1e6", "joint 3 was reported at 1e+06 rad, outside its range"),
        ("false shift 1", "jumped by 1 rad"),
        ("false stamp", "time stamp"),
    ],
)
def test_nonsense_never_becomes_a_torque(ur: Emulator, fault: str, words: str) -> None:
    began = time.monotonic()
    why, fastest = run_until_fault(ur, fault)
    assert words in why
    assert time.monotonic() - began < 60.0
    assert fastest < 0.1
    assert np.abs(ur.state["qd"]).max() < 0.02
