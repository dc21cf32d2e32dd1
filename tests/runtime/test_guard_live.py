"""The guard of a running loop: by link, by the command line, by a saved file, by undo; and at the start of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pliant.errors import RejectedError
from pliant.params.declare import changed
from pliant.session.link import Link, attach
from pliant.session.session import Session
from pliant.session.watch_file import FileWatch
from pliant.task.schema import load_task
from support.words import say

NAME = f"guard-test-{os.getpid()}"
SHORT = {"contact.lag_s": 0.005}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(load_task("dome").model_copy(update={"events": ()}), name=NAME) as arm:
        yield arm


@pytest.fixture
def link(session: Session) -> Link:
    return attach(NAME)


def test_an_unstable_set_is_refused_with_the_reason_and_nothing_changes(link: Link) -> None:
    before = link.board.adopted
    with pytest.raises(RejectedError, match=r"contact\.lag_s = 0\.005 is rejected.*set it to the actual total lag"):
        link.set({**SHORT, "contact.target_n": 4.0})
    with pytest.raises(RejectedError, match=r"sense\.cutoff_hz = 1.* rejected.*The largest change accepted now is"):
        link.set({"sense.cutoff_hz": 1.0, "contact.target_n": 4.0})
    assert link.board.adopted == before
    assert link.parameters.contact.target_n == 5.0
    link.set({"contact.lag_s": 0.045})
    link.undo()


def test_the_command_line_says_so_in_one_sentence(link: Link) -> None:
    done = say("set", "contact.lag_s", "0.005", "--loop", NAME)
    assert done.returncode == 2
    assert "is rejected and nothing has changed" in done.stderr
    assert link.parameters.contact.lag_s == 0.05


def test_a_saved_file_cannot_go_round_it(link: Link, tmp_path: Path) -> None:
    path = tmp_path / "dome.yaml"
    text = "robot: sim:ur5e\nlaw: contact\nparams:\n  sense: {cutoff_hz: 11.4}\n  contact: {lag_s: 0.05}\n"
    path.write_text(text)
    watch = FileWatch(path, link)
    path.write_text(text.replace("lag_s: 0.05", "lag_s: 0.005"))
    assert watch.poll().startswith("Not applied: contact.lag_s = 0.005 is rejected")
    assert link.parameters.contact.lag_s == 0.05


def test_a_session_does_not_start_an_unstable_task_unless_it_is_told_to() -> None:
    task = load_task("dome")
    bad = task.model_copy(update={"params": changed(task.params, SHORT), "events": ()})
    with pytest.raises(RejectedError, match="--unchecked"):
        Session(bad).start()
    with Session(bad, name=f"{NAME}-free", unchecked=True) as arm:
        other = attach(arm.name)
        assert other.unchecked
        other.set({"contact.lag_s": 0.004})  # who took the guard off is not asked again


def test_a_run_of_an_unstable_task_is_refused_with_exit_code_2() -> None:
    done = say("run", "dome", "--fast", "--set", "contact.lag_s=0.005")
    assert done.returncode == 2
    assert "The task is rejected: " in done.stderr
    allowed = ("run", "dome", "--fast", "--duration", "0.1", "--unchecked", "--set", "contact.lag_s=0.005")
    assert say(*allowed).returncode == 0
