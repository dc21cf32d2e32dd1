"""Each fault of the emulated controller, and the required final state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.analysis.targets import Figure, within
from pliant.errors import PliantError
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant_experiments.robots.emulator_process import Emulator
from pliant_experiments.robots.ur_runs import PATIENT, STANDS, patient, settled


@dataclass(frozen=True)
class Stated:
    """The injected fault, text that the loop must report, and the required state of the controller afterwards."""

    fault: str
    says: str
    safety: str = "NORMAL"
    refused_until_cleared: str = ""
    """Text with which a new start is rejected before the fault is cleared; "" if it is not rejected."""


FAULTS = (
    Stated("protective stop", "in a protective stop", "PROTECTIVE_STOP", "in a protective stop"),
    Stated("hang up", "connection"),  # ur_rtde may crash at that moment; its owner then reports the reason
    Stated("emergency stop", "in an emergency stop", "ROBOT_EMERGENCY_STOP", "in an emergency stop"),
    Stated("stop program", "the program on the controller"),
    Stated("mode idle", "in mode 'idle'", "NORMAL", "in mode 'idle'"),
    Stated("silence 2.0", "has sent nothing for"),
    Stated("late 0.7", "older than sense.stale_s"),
)
# Options of the emulator, changes of the task, and the required text of the rejection.
REFUSALS: tuple[tuple[str, dict[str, str], dict[str, Any], str], ...] = (
    (
        "torque on version 5.12",
        {"version": "5.12.0"},
        {"interface": "torque", "law": "impedance"},
        "need 5.26 or 10.12",
    ),
    ("local control", {"fault": "local control"}, {}, "in local control"),
    ("a CB3", {"version": "3.15.0"}, {}, "no force sensor"),
)


def fault_figures(faults: tuple[Stated, ...], progress: Callable[[float], None]) -> list[Figure]:
    """One emulator and one fault after the other, each while a push moves the arm; every start follows a fault."""
    figures: list[Figure] = []
    with Emulator(traced=False, task="hand_guiding", **PATIENT) as ur:
        task = patient("hand_guiding").model_copy(update={"robot": ur.robot, "duration_s": 30.0})
        for i, stated in enumerate(faults):
            figures += _figures(ur, task, stated)
            progress((i + 1) / len(faults))
        works = float(_refusal(task) == "")
    figures.append(within("faults: a new start works after the last one is cleared (1 is yes)", works, "", 1.0, 0.0))
    return figures


def _figures(ur: Emulator, task: Task, stated: Stated) -> list[Figure]:
    said = _said(ur, task, stated.fault)
    state, name = settled(ur), f"fault '{stated.fault}'"
    ended = stated.says in said and state["safety"] == stated.safety and max(map(abs, state["qd"])) < STANDS
    figures = [
        within(f"{name}: reported, arm stopped, safety state as expected (1 is yes)", float(ended), "", 1.0, 0.0),
    ]
    if stated.refused_until_cleared:
        refused = float(stated.refused_until_cleared in _refusal(task))
        figures.append(within(f"{name}: a new start is rejected until it is cleared (1 is yes)", refused, "", 1.0, 0.0))
    ur.inject("clear")
    return figures


def _said(ur: Emulator, task: Task, fault: str) -> str:
    """Run the task and inject the fault once the arm moves; returns what the loop reports."""
    try:
        with Session(task) as session:
            session.wait(0.8)
            ur.inject(fault)
            session.wait(10.0)
    except PliantError as error:
        return str(error)
    return "nothing"


def _refusal(task: Task) -> str:
    """Why the task does not start; "" if it does."""
    try:
        with Session(task) as session:
            session.wait(0.2)
    except PliantError as error:
        return str(error)
    return ""


def refusal_figures(refusals: tuple[tuple[str, dict[str, str], dict[str, Any], str], ...]) -> list[Figure]:
    """Starts that must be rejected with a reason."""
    figures = []
    for name, options, change, says in refusals:
        with Emulator("ur5e", traced=False, **options) as ur:
            task = patient("hand_guiding").model_copy(update={"robot": ur.robot, **change})
            figures.append(
                within(f"{name}: rejected with the reason (1 is yes)", float(says in _refusal(task)), "", 1.0, 0.0)
            )
    return figures
