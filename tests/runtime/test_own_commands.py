"""A law in one file that takes commands: sessions, events, the terminal, the Studio and the queue work for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.analysis.transitions import failure, transitions
from pliant.bridge.request_order import is_start, is_stop
from pliant.bridge.requests import known_words
from pliant.cli.live import command as command_verb
from pliant.control.laws.registry import LAWS, PLIANTS
from pliant.params.declare import validated
from pliant.record.reader import Recording
from pliant.session.in_process.rerun import replay
from pliant.studio.law_words import laws_in_words

LAW = """
import pliant

IDLE, UP, BACK, DONE = range(4)
LIFT, STOP = 7, 9

class Params(pliant.Section):
    speed_m_s: float = pliant.param(0.05, live=True, gt=0, le=0.1, help="Speed of the lift.")
    height_m: float = pliant.param(0.02, gt=0, le=0.1, help="Height of the lift.")

@pliant.compiled
def step(tick, p, s, dt):
    if tick.command == LIFT:
        s.state, s.from_z = UP, tick.pose[2]
    elif tick.command == STOP:
        s.state = BACK
    rise = tick.pose[2] - s.from_z
    if s.state == UP and rise >= p.height_m:
        s.state, s.reason = DONE, 1
    elif s.state == BACK and rise <= 0.0:
        s.state, s.reason = DONE, 2
    for i in range(6):
        tick.twist[i] = 0.0
    if s.state == UP:
        tick.twist[2] = p.speed_m_s
    elif s.state == BACK:
        tick.twist[2] = -p.speed_m_s

LAW = pliant.own_law(
    "lift", Params, step,
    state=(
        pliant.Field("state", "", "state of the lift", kind="i8"),
        pliant.Field("reason", "", "why it is in this state", kind="i8"),
        pliant.Field("from_z", "m", "height at which the lift began"),
    ),
    commands=pliant.Commands(
        {"lift": LIFT, "stop": STOP},
        valid={"idle": ("lift",), "up": ("stop",), "done": ("lift",)},
        starts="lift", ends="stop", protects=("stop",), moves=("lift",),
        end_s=lambda p: 2.0 * float(p.height_m / p.speed_m_s) + 1.0,
    ),
    states=pliant.States(
        ("idle", "up", "back", "done"),
        ("", "the tool is up", "the tool is back"),
        active=("up", "back"), unstarted=("idle",),
    ),
    panel=pliant.Panel(buttons=(pliant.Button("lift", "Lift", "Lift the tool", ("lift",)),)),
)
"""


@pytest.fixture(autouse=True)
def only_pliants_laws() -> Iterator[None]:
    yield
    for name in [name for name in LAWS if name not in PLIANTS]:
        del LAWS[name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lift.py"
    path.write_text(LAW)
    return path


def task_of(file: Path, **more: Any) -> pliant.Task:
    return validated(pliant.Task, {"law": str(file), "duration_s": 1.5, **more})


def test_events_command_it_and_the_log_names_states_reasons_and_rejections(file: Path, tmp_path: Path) -> None:
    events = [{"at_s": at_s, "command": name} for at_s, name in ((0.1, "stop"), (0.2, "lift"), (0.3, "lift"))]
    run = pliant.simulate(task_of(file, events=events))
    assert [(one.state, one.reason) for one in transitions(run.records)] == [
        ("rejected", "`stop` is not valid in the state idle"),
        ("up", ""),
        ("rejected", "`lift` is not valid in the state up"),
        ("done", "the tool is up"),
    ]
    z = run.records["state"]["pose"][:, 2]
    assert z[-1] - z[0] == pytest.approx(0.02, abs=1e-3)
    run.save(tmp_path / "run.mcap")
    assert replay(Recording.load(tmp_path / "run.mcap")).largest == 0.0


def test_a_run_that_only_rejects_its_commands_has_failed(file: Path) -> None:
    run = pliant.simulate(task_of(file, events=[{"at_s": 0.1, "command": "stop"}], duration_s=0.3))
    assert failure(run.records) == "it never started: `stop` is not valid in the state idle"


def test_an_unknown_command_is_rejected_with_those_that_there_are(file: Path) -> None:
    with pytest.raises(pliant.InputError, match=r"events\[0\]\.command"):
        task_of(file, events=[{"at_s": 0.1, "command": "jump"}])
    arm = pliant.Simulation(task_of(file))
    with pytest.raises(pliant.InputError, match=r"Unknown command of the law lift 'pause'.*lift, stop"):
        arm.command("pause")


def test_another_law_and_the_end_of_the_run_wait_until_it_has_ended(file: Path) -> None:
    arm = pliant.Simulation(task_of(file))
    first = arm.pose[2]
    arm.command("lift")
    arm.wait(0.2)
    assert arm.status is not None
    assert (arm.status.state, arm.status.is_active, arm.contact) == ("up", True, None)
    sentence = r"The law hold is rejected.*the law lift is active \(up\)\. Send `stop` first"
    with pytest.raises(pliant.PliantError, match=sentence):
        arm.law("hold")
    arm.command("stop")
    arm.wait(0.5)
    assert (arm.status.state, arm.status.reason) == ("done", "the tool is back")
    assert arm.pose[2] == pytest.approx(first, abs=2e-3)
    late = [{"at_s": 0.2, "command": "lift"}, {"at_s": 0.4, "law": "hold"}]
    records = pliant.simulate(task_of(file, events=late)).records
    assert [one.state for one in transitions(records)] == ["up", "back", "done", "idle"]
    assert records["state"]["law"][-1] == LAWS["hold"].number
    cut = pliant.simulate(task_of(file, events=late[:1], duration_s=0.4), lift_off=True)
    assert cut.records["state"]["busy"][-1] == 0
    assert cut.records["lift"]["state"][-1] == 3


def test_it_does_not_run_while_the_robot_is_halted(file: Path) -> None:
    arm = pliant.Simulation(task_of(file))
    arm.command("lift")
    arm.wait(0.2)
    arm.halt()
    arm.wait(0.5)
    held = arm.wait(0.2).state.pose[2]
    assert arm.wait(0.2).state.pose[2] == held
    arm.resume()
    arm.wait(0.5)
    assert arm.status is not None
    assert arm.status.state == "done"


def test_it_is_commanded_from_another_terminal(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pliant.Session(task_of(file, duration_s=60.0), name="lifted") as arm:
        arm.wait(0.1)
        assert command_verb.command(["stop"], loop="lifted") == 2
        said = " ".join(capsys.readouterr().out.split())
        assert "`stop` rejected: the law lift is idle. Valid now: lift." in said
        assert command_verb.command(["lift"], loop="lifted") == 0
        arm.wait_until(lambda: arm.status is not None and arm.status.state == "done")
        assert command_verb.command(None, loop="lifted") == 0
        assert "done, because the tool is up." in " ".join(capsys.readouterr().out.split())


def test_the_page_and_the_bridge_know_its_commands_and_states(file: Path) -> None:
    task = task_of(file)
    words = laws_in_words(type(task.params))[str(LAWS["lift"].number)]
    assert [button.commands for button in words["buttons"]] == [("lift",)]
    assert words["states"] == ["idle", "up", "back", "done"]
    assert words["reasons"][-1] == "the command is not valid in this state"
    assert "lift" in known_words()
    assert is_start("lift")
    assert is_stop("stop")
    assert not is_stop("lift")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('valid={"idle": ("lift",), ', 'valid={"idel": ("lift",), ', "idel"),
        ('ends="stop", protects', 'ends="end", protects', "'end'"),
        ("LIFT, STOP = 7, 9", "LIFT, STOP = 7, 7", "different"),
        ("LIFT, STOP = 7, 9", "LIFT, STOP = 7, 256", "255"),
        ('"up": ("stop",), ', "", "needs a command that ends them"),
        ('Field("state", "", "state of the lift", kind="i8")', 'Field("state", "", "state of the lift")', '"state"'),
    ],
)
def test_a_declaration_that_does_not_fit_is_rejected(file: Path, old: str, new: str, sentence: str) -> None:
    assert old in LAW
    file.write_text(LAW.replace(old, new))
    with pytest.raises(pliant.PliantError, match=sentence):
        task_of(file)


def test_a_state_that_is_not_declared_is_a_fault(file: Path) -> None:
    file.write_text(LAW.replace("s.state, s.from_z = UP,", "s.state, s.from_z = 17,"))
    run = pliant.simulate(task_of(file, events=[{"at_s": 0.1, "command": "lift"}]))
    assert run.fault.startswith("the law lift ")
    assert "set a state that is not declared" in run.fault
    assert np.abs(run.records[-1]["reading"]["qd"]).max() < 2e-3
