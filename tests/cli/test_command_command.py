"""A contact from two terminals: one runs it, the other gives the commands."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import pytest
from terminals import pliant, running, until

from pliant.cli.live.command import _sentence
from pliant.control.laws.contact.contact_states import EVENTS, HALTED, PAUSED, SEEK, SENSELESS, STATES
from pliant.control.laws.registry import LAWS
from pliant.session import link as runtime_link
from pliant.session.link import Link
from pliant.task.schema import MISSION, load_task
from support.words import Said, say


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Link]:
    """A probe above a plane that nobody has told to start."""
    file = tmp_path_factory.mktemp("command") / "waiting.yaml"
    text = Path(str(resources.files("pliant") / "tasks" / "plane.yaml")).read_text()
    file.write_text(text.partition("\nevents:")[0] + "\n")
    assert load_task(str(file)).events == ()
    with running(file, "--duration", 600) as link:
        yield link


def command(link: Link, *words: str) -> Said:
    return pliant(link.name, "command", *words)


def state(link: Link) -> str:
    return STATES[int(link.state.contact.state)]


def test_a_stopped_robot_continues_with_stop_resume_and_not_with_the_rejected_command() -> None:
    said = _sentence(LAWS["contact"], "resume", HALTED, PAUSED, halted=True)
    assert said == "`resume` rejected: the robot was stopped. To let it continue: pliant stop --resume"
    assert _sentence(LAWS["contact"], "start", SENSELESS, PAUSED, halted=True).endswith("Valid now: stop, abort.")


def test_a_contact_is_started_and_stopped_from_another_terminal(link: Link) -> None:
    early = command(link, "start")
    assert early.returncode == 2
    assert "`start` rejected: the contact is idle. Valid now: set_start." in early.stdout
    assert state(link) == "idle"
    first = link.board.head
    begun = command(link, "set_start", "start")
    assert begun.returncode == 0, begun.stdout + begun.stderr
    assert "`set_start` accepted." in begun.stdout
    assert "`start` accepted." in begun.stdout
    contact = link.board.read(first)[0]["contact"]  # it may have gone on since
    seeking = contact[contact["state"] == SEEK]
    assert len(seeking)
    assert EVENTS[int(seeking["reason"][0])] == "`start` was received"
    until(lambda: state(link) in ("dwell", "slide"))
    assert command(link, "stop").returncode == 0
    until(lambda: state(link) == "done")
    assert "done, because the tool has lifted off" in command(link).stdout


def test_the_robot_is_stopped_and_continues_from_another_terminal(link: Link) -> None:
    stopped = pliant(link.name, "stop")
    assert stopped.returncode == 0, stopped.stderr
    assert f"Loop {link.name} (waiting on sim:ur5e): stop confirmed." in " ".join(stopped.stdout.split())
    assert link.state.goal.stop
    assert "the robot may move again" in " ".join(pliant(link.name, "stop", "--resume").stdout.split())
    until(lambda: not link.state.goal.stop)
    again = pliant(link.name, "stop", "--resume")
    assert again.returncode == 0
    assert "the robot was not stopped; nothing has changed." in " ".join(again.stdout.split())


@pytest.mark.slow
def test_a_loop_that_hangs_does_not_seem_to_be_stopped(link: Link) -> None:
    os.kill(int(link.board.header.loop_pid), signal.SIGSTOP)
    try:
        silent = pliant(link.name, "stop")
    finally:
        os.kill(int(link.board.header.loop_pid), signal.SIGCONT)
    assert silent.returncode == 3
    assert "did not confirm the stop" in silent.stderr
    until(lambda: link.state.goal.stop)
    assert pliant(link.name, "stop", "--resume").returncode == 0
    until(lambda: not link.state.goal.stop)


def test_a_word_that_is_no_order_gives_none_of_them(link: Link) -> None:
    given = int(link.state.goal.commands)
    wrong = command(link, "set_start", "go")
    assert wrong.returncode == 2
    assert "Unknown command 'go'. Known: abort, pause, resume, set_start, start, stop" in wrong.stderr
    assert int(link.state.goal.commands) == given


def test_a_goal_that_the_contact_law_ignores_is_rejected(link: Link) -> None:
    before = link.state.goal.pose.copy()
    done = say("goal", "0.5", "0.1", "0.5", "--loop", link.name)
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "The goal is rejected: the law contact does not use a goal pose. Switch to admittance or impedance" in said
    assert (link.state.goal.pose == before).all()


def test_the_arm_of_a_mission_is_not_pushed(monkeypatch: pytest.MonkeyPatch) -> None:
    board = SimpleNamespace(config={MISSION: {}}, path=Path("loop-fetch"))
    monkeypatch.setattr(runtime_link, "board_of", lambda name: board)
    monkeypatch.setattr(runtime_link, "name_of", lambda board: "fetch")
    done = say("push", "10", "0")
    assert done.returncode == 2
    assert "Loop fetch is a mission. The arm of a mission cannot be pushed." in done.stderr
