"""Nonsense that is given from Python: rejected where it enters, with one sentence of Pliant's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

import pliant
from pliant.errors import InputError, RejectedError
from pliant.loop.board import Board
from pliant.loop.boards import board_files
from pliant.session import link as link_module
from pliant.session.link import attach
from pliant.task.schema import Task

NONSENSE: dict[str, tuple[Callable[[], object], str]] = {
    "too few joints": (lambda: Task(start_q=(1, 2)), "start_q has 2 values, but ur5e has 6 joints"),
    "degrees": (lambda: Task(start_q=(0, 0, 0, 0, 0, 90)), r"start_q\[5\] is 90 rad.*Angles are in rad"),
    "an event's unknown parameter": (
        lambda: Task.model_validate({"events": [{"at_s": 1, "set": {"foo": 1}}]}),
        r"events\[0\]\.set: unknown parameter 'foo'",
    ),
    "millimetres": (
        lambda: Task.model_validate({"events": [{"at_s": 1, "goal_offset_m": [0, 0, 500]}]}),
        r"goal_offset_m = \[0, 0, 500\] m is 500 m from the start, but.*in metres",
    ),
    "an empty event": (lambda: Task.model_validate({"events": [{"at_s": 1}]}), r"events\[0\] does nothing"),
    "an empty range": (
        lambda: Task().replace({"contact.stiffness_min_n_m": 1e6, "contact.stiffness_max_n_m": 1e3}),
        r"contact\.stiffness_min_n_m = .* exceeds",
    ),
    "text for a number": (
        lambda: Task.model_validate({"duration_s": "3"}),
        "duration_s is '3', but it must be a num",
    ),
    "text for a parameter": (lambda: Task().replace({"contact.target_n": "5"}), r"target_n is '5'.* a number"),
    "text in a list": (lambda: Task.model_validate({"start_q": ["0", "1"]}), r"a list of numbers \[rad\]"),
    "text for a mass": (lambda: Task.model_validate({"tool": {"mass_kg": "1"}}), r"tool\.mass_kg is '1'.* a number"),
    "no mapping": (lambda: Task().replace(5), "changes is 5, but it must be a mapping"),  # pyright: ignore[reportArgumentType]
    "no tool": (lambda: pliant.Arm.load("ur5e", "tool"), r"tool is 'tool'.* a pliant\.Tool"),  # pyright: ignore[reportArgumentType]
    "a misspelt field": (lambda: pliant.Tool(weight=1), "Unknown tool field 'weight'"),  # pyright: ignore[reportCallIssue]
    "no number": (lambda: pliant.Arm.load("ur5e").pose([math.nan] * 6), "6 finite numbers"),
    "no arm": (lambda: pliant.Arm.load(5), "the arm is 5, but it must be the name"),  # pyright: ignore[reportArgumentType]
    "a task as a robot": (lambda: pliant.connect("dome"), r"dome is a task, not a robot\. Use pliant\.Session"),
    "no host": (lambda: pliant.connect("ur:"), r"robot is 'ur:': the host is missing, as in ur:192\.168\.0\.10"),
    "a host alone": (lambda: pliant.connect("10.0.0.2"), r"Did you mean ur:10\.0\.0\.2\?"),
    "no model": (lambda: pliant.connect("sim"), r"Did you mean sim:ur5e\?"),
    "no address": (lambda: pliant.connect("ur:999.1.1.1"), "four numbers from 0 to 255"),
    "no name": (lambda: pliant.connect(name="a b/c"), "name is 'a b/c', but it must be 1 to 80 letters"),
    "a number as a loop": (lambda: attach(5), "name is 5, but it must be text"),  # pyright: ignore[reportArgumentType]
    "a real robot": (lambda: pliant.Simulation(Task(robot="ur:127.0.0.1")), "A simulation needs a simulated robot"),
    "a task's name": (lambda: pliant.Session("dome"), r"Use pliant\.load_task\('dome'\)"),  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_rejected_where_it_enters(name: str) -> None:
    act, words = NONSENSE[name]
    with pytest.raises(InputError, match=words):
        act()


def test_unknown_entries_are_listed_once_with_what_was_meant() -> None:
    with pytest.raises(InputError) as caught:
        Task.model_validate({"lawn": "hold", "robt": 2, "foo": 3, "bar": 4, "rate_hz": 5})
    text = str(caught.value)
    assert text.startswith(
        "Unknown entries: 'lawn' (did you mean 'law'?), 'robt' (did you mean 'robot'?), 'foo' and 1 more."
    )
    assert text.count("Known: ") == 1
    assert not any(derived in text for derived in ("own_laws", "own_robot", "digest"))
    assert "Also wrong: rate_hz is 5 Hz" in text


@pytest.mark.parametrize(
    ("robot", "folder", "why"),
    [
        ("ur:10.0.0.2", "", r"drives a real robot: mine \(grind on ur:10\.0\.0\.2, started at 10:00:00 in "),
        ("sim:ur5e", "/cell", r"was started in another folder, .*: mine \(grind on .*, started at 10:00:00 in /cell\)"),
        ("sim:ur5e", "", ""),
    ],
)
def test_a_loop_that_is_real_or_of_another_folder_must_be_named_unless_it_is_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, robot: str, folder: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(board_files, "board_folder", lambda: tmp_path)
    task = Task(name="grind", robot=robot).model_dump(mode="json")
    made = Board.create("mine", {"task": task, "started": "10:00:00", "folder": folder or str(Path.cwd())}, 8)
    monkeypatch.setattr(link_module, "running", lambda: ["mine"])
    assert link_module.board_of(None, may_be_real=True).path == made.path
    assert link_module.board_of("mine").path == made.path
    if why:
        with pytest.raises(RejectedError, match=rf"^The only running loop {why}.*To use it, name it: --loop mine\."):
            link_module.board_of(None)
    else:
        assert link_module.board_of(None).path == made.path
    made.remove()
