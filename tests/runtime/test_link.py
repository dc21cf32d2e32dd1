"""Tuning a loop that someone else started: from another process, or by saving a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tuned_loop import BIAS, MINE, NAME, TASK

from pliant.errors import InputError, LoopError, UnknownNameError
from pliant.loop.board import Board
from pliant.loop.board_layout import STOPPED
from pliant.mobile.mission.mission_link import attach_any
from pliant.params.declare import validated
from pliant.params.matrix import compact
from pliant.session import link as link_module
from pliant.session.link import Link, attach
from pliant.session.session import Session, connect
from pliant.session.watch_file import FileWatch
from pliant.task.schema import Task

# ---- from another end ----------------------------------------------------------------------------------------------


def test_an_attached_link_sees_the_same_loop(link: Link, session: Session) -> None:
    assert link.running
    assert link.task == session.task
    assert link.parameters == session.parameters
    assert link.state.tick > 0
    assert np.abs(link.q - session.q).max() < 1e-3


def test_a_change_from_one_end_is_in_force_at_the_other(link: Link, session: Session) -> None:
    link.set({"sense.cutoff_hz": 33.0})
    assert session.parameters.sense.cutoff_hz == 33.0
    session.set({"sense.deadband_n": 2.0})
    assert (link.parameters.sense.cutoff_hz, link.parameters.sense.deadband_n) == (33.0, 2.0)
    ratio = link.parameters.admittance.damping_ratio
    link.set({"admittance.damping_ratio": [1.5, *[None] * 5]})  # neither end has to know what the other one turns
    session.set({"admittance.damping_ratio": [None, 1.7, *[None] * 4]})
    assert link.parameters.admittance.damping_ratio == (1.5, 1.7, *ratio[2:])
    link.set({"admittance.damping_ratio": ratio})


def test_another_process_can_attach_and_change_it(link: Link) -> None:
    code = (
        "from pliant.session.link import attach\n"
        f"link = attach({NAME!r})\n"
        "link.set({'sense.cutoff_hz': 44.0})\n"
        "link.wait(0.05)\n"
        "print(link.state.revision, link.parameters.sense.cutoff_hz)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(link.board.adopted), "44.0"]
    assert link.parameters.sense.cutoff_hz == 44.0


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a push of two numbers": (
        lambda arm: arm.push([1, 2]),
        r"force is \[1, 2\], but it must be 3 numbers \[N\] or 6 numbers \[N, N m\], each within ±10000 N and N m\.",
    ),
    "a push for a word": (
        lambda arm: arm.push([1, 0, 0], for_s="1"),
        r"for_s is '1', but it must be a number, more than",
    ),
    "a pose without orientation": (
        lambda arm: arm.goal_pose([0.3, 0.1, 0.5]),
        r"pose is \[0\.3, 0\.1, 0\.5\], .* 7 numbers: x, y, z \[m\], then a unit quaternion w, x, y, z",
    ),
    "too few joints": (lambda arm: arm.move_joints([0] * 5), r"q has 5 values, but ur5e has 6 joints \[rad\]\."),
    "joints that are no numbers": (
        lambda arm: arm.move_joints("home"),
        r"q is 'home', but it must be 6 numbers \[rad\]",
    ),
    "a set that is no dictionary": (lambda arm: arm.set("x"), r"values is 'x', but it must be a dictionary such as"),
    "a name and a value": (
        lambda arm: arm.set("admittance.stiffness", 400),
        r"set takes a dictionary: set\(\{'admittance\.stiffness': 400\}\)\.",
    ),
    "a name that is no text": (lambda arm: arm.set({3: 3}), r"the name of a parameter is 3, but it must be text"),
    "a wait for a word": (lambda arm: arm.wait("1"), r"seconds is '1', but it must be a number, at least 0 s"),
    "a wait without end": (
        lambda arm: arm.wait(float("nan")),
        r"seconds is nan, but it must be a number, at least 0 s",
    ),
    "a wait back in time": (lambda arm: arm.wait(-1), r"seconds is -1 s, but it must be at least 0 s"),
    "a long tare": (lambda arm: arm.tare(100), r"duration_s is 100 s, but it must be 0\.05 to 5 s"),
    "a wrong value that is not live": (
        lambda arm: arm.set({"admittance.frame": "banana"}),
        r"must be 'base' or 'tool'\. It cannot change while the loop runs",
    ),
    "a law for torques": (
        lambda arm: arm.law("impedance"),
        r"The law impedance needs torque commands, but interface is",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_named_with_what_is_allowed_and_its_unit(link: Link, case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(InputError, match=words):
        call(link)


def test_a_task_and_a_robot_are_not_mixed_up() -> None:
    task: Any = validated(Task, TASK)
    with pytest.raises(InputError, match=r"robot is a Task, .* To run a Task, use pliant\.Session\(task\)\."):
        connect(task)
    name: Any = "push"
    with pytest.raises(InputError, match=r"task is 'push', but Session needs a Task"):
        Session(name)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (3, r"record is 3, but it must be a file name ending in \.mcap"),
        ("", r"The file name of the recording is empty\. Give a file name ending in \.mcap"),
        ("run.txt", r"record is 'run\.txt', but it must be a file name ending in \.mcap"),
    ],
)
def test_what_is_no_file_of_a_recording_is_refused(record: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        connect("sim:ur5e", record=record)


def test_a_name_that_does_not_run_is_refused_with_those_that_do() -> None:
    with pytest.raises(UnknownNameError, match="Unknown loop 'nobody'"):
        attach("nobody")


# ---- undo, redo, history -------------------------------------------------------------------------------------------


def test_undo_takes_changes_back_one_by_one_and_redo_makes_them_again(link: Link) -> None:
    first = link.parameters.sense.cutoff_hz
    link.set({"sense.cutoff_hz": 11.0})
    link.set({"sense.cutoff_hz": 12.0})
    seen = []
    for act in (link.undo, link.undo, link.redo, link.redo):
        act()
        seen.append(link.parameters.sense.cutoff_hz)
    assert seen == [11.0, first, 11.0, 12.0]


def test_a_new_change_forgets_what_was_undone(link: Link) -> None:
    link.set({"sense.cutoff_hz": 11.0})
    link.undo()
    link.set({"sense.cutoff_hz": 13.0})
    with pytest.raises(InputError, match="Nothing to redo"):
        link.redo()
    assert link.parameters.sense.cutoff_hz == 13.0


def test_a_fresh_link_undoes_the_last_change_whoever_made_it(link: Link, session: Session) -> None:
    session.set({"sense.cutoff_hz": 21.0})
    session.set({"sense.cutoff_hz": 22.0})
    attach(NAME).undo()
    assert link.parameters.sense.cutoff_hz == 21.0


def test_history_tells_what_changed_and_when(link: Link) -> None:
    link.set({"sense.cutoff_hz": 31.0, "sense.deadband_n": 1.5})
    link.set({"admittance.stiffness": 321.0})
    (first, when, what), (second, later, stiffness) = link.history()[-2:]
    assert second == first + 1 == link.board.adopted
    assert 0 < when < later
    assert what == {"sense.cutoff_hz": 31.0, "sense.deadband_n": 1.5}
    assert list(stiffness) == ["admittance.stiffness"]
    assert compact(stiffness["admittance.stiffness"]) == [321.0] * 6


def test_a_refused_change_is_no_change_and_cannot_be_undone(link: Link) -> None:
    link.set({"sense.cutoff_hz": 15.0})
    length = len(link.history())
    with pytest.raises(InputError, match=r"sense\.deadband_n"):
        link.set({"sense.cutoff_hz": 16.0, "sense.deadband_n": -1.0})
    assert len(link.history()) == length
    assert link.parameters.sense.cutoff_hz == 15.0
    link.undo()
    assert link.parameters.sense.cutoff_hz == 20.0


# ---- tare ----------------------------------------------------------------------------------------------------------


def test_tare_finds_the_bias_of_the_sensor_and_not_the_weight_of_the_tool(link: Link, until) -> None:
    until(lambda: np.abs(link.state.reading.qd).max() < 1e-3)
    found = link.tare(0.5)
    assert np.abs(found - BIAS)[:3].max() < 0.1
    assert np.abs(found - BIAS)[3:].max() < 0.01
    assert link.parameters.sense.bias == tuple(found.tolist())
    link.wait(0.3)
    records = link.read()[-100:]
    assert np.abs(records["observed"]["wrench"][:, :3].mean(axis=0)).max() < 0.2


def test_a_moving_arm_is_not_tared(link: Link, session: Session, until) -> None:
    home, share = session.q, session.parameters.limits.speed_scale
    session.set({"limits.speed_scale": 0.02})
    before = session.parameters
    session.move_joints(home + np.array([2.0, 0, 0, 0, 0, 0]))  # half a minute: longer than a machine stalls
    until(lambda: np.abs(session.state.reading.qd).max() > 0.05)
    with pytest.raises(InputError, match="while the arm moves"):
        link.tare(0.2)
    assert session.parameters == before
    session.set({"limits.speed_scale": share})
    session.move_joints(home)
    until(lambda: np.abs(session.q - home).max() < 1e-3 and np.abs(session.state.reading.qd).max() < 1e-3)


def test_several_loops_are_listed_with_task_and_robot_and_none_is_a_sentence(
    shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "running", lambda: sorted(path.name[7:] for path in shelf.iterdir()))
    with pytest.raises(InputError, match=r"^No loop is running\. Start one with pliant run"):
        attach()
    for name, robot in (("left", "sim:ur5e"), ("right", "sim:two_link")):
        Board.create(name, {"task": Task(name="job", robot=robot).model_dump(mode="json")}, 8)
    said = r"^2 loops are running: left \(job on sim:ur5e, started .*\) and right \(job on sim:two_link, .*\)\. "
    for find in (attach, attach_any):  # the latter is what `pliant stop` uses: it must not choose one
        with pytest.raises(InputError, match=said):
            find()


# ---- a file that is saved ------------------------------------------------------------------------------------------


def text(**params: str) -> str:
    return "law: hold\nparams:\n" + "".join(f"  {name}: {value}\n" for name, value in params.items())


def test_a_saved_file_is_applied_as_a_whole_or_not_at_all(link: Link, tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(text(sense="{cutoff_hz: 20}"))
    watch = FileWatch(path, link)
    assert watch.poll() == ""
    path.write_text(text(sense="{cutoff_hz: 35, deadband_n: 1.25}"))
    assert watch.poll() == "Applied: sense.cutoff_hz = 35, sense.deadband_n = 1.25."
    assert (link.parameters.sense.cutoff_hz, link.parameters.sense.deadband_n) == (35.0, 1.25)
    assert watch.poll() == ""
    adopted = link.board.adopted
    for bad, said in (
        (text(sense="{cutoff_hz: 36, deadband_n: -1}"), "0 to 50 N"),
        (text(sense="{cutoff_hz: 36, deadband: 1}"), "unknown entry"),
        ("law: [", "valid YAML"),
        (text(limits="{position_margin: 0.1}"), "while the loop runs"),
    ):
        path.write_text(bad)
        assert watch.poll().startswith("Not applied: ")
        assert link.board.adopted == adopted
        path.write_text(bad + "\n")
        assert said in watch.poll()
    path.write_text(text(sense="{cutoff_hz: 37, deadband_n: 1.25}"))
    assert watch.poll() == "Applied: sense.cutoff_hz = 37."
    path.unlink()
    assert watch.poll() == ""
    path.write_text(text(sense="{cutoff_hz: 37, deadband_n: 1.25}") + "# a remark\n")
    assert "no parameter changed" in watch.poll()


def test_a_watched_file_leaves_alone_what_was_set_from_elsewhere(link: Link, tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text(text(sense="{cutoff_hz: 20}"))
    watch = FileWatch(path, link)
    link.set({"sense.deadband_n": 3.0})
    path.write_text(text(sense="{cutoff_hz: 26}"))
    watch.poll()
    assert (link.parameters.sense.cutoff_hz, link.parameters.sense.deadband_n) == (26.0, 3.0)


def test_before_its_first_tick_a_link_says_that_the_loop_is_still_starting() -> None:
    task = validated(Task, TASK)
    board = Board.create(f"{NAME}-early", {"task": task.model_dump(mode="json"), "ticks": -1}, ring_slots=64)
    try:
        early = attach(f"{NAME}-early")
        for ask in (early.halt, lambda: early.state, lambda: early.set({"sense.cutoff_hz": 33.0})):
            with pytest.raises(LoopError, match="still starting"):
                ask()
    finally:
        board.remove()


def test_after_the_end_a_link_says_so() -> None:
    with Session(validated(Task, TASK), name=NAME + "-short") as arm:
        other = attach(NAME + "-short")
        arm.stop()
        with pytest.raises(LoopError, match=r"has ended: a stop was requested\. Start it again with pliant run\."):
            other.set({"sense.cutoff_hz": 11.0})
        assert not other.running


def test_a_loop_that_gave_no_reason_for_its_end_is_named_with_where_to_look() -> None:
    link = Link(Task())
    link.name = "gone"
    board: Any = SimpleNamespace(status=STOPPED, reason="", header=SimpleNamespace(loop_pid=0))
    link.board = board
    with pytest.raises(LoopError, match=r"Loop gone has ended: it did not confirm the request\. See its terminal"):
        link.halt()


# ---- keeping it ----------------------------------------------------------------------------------------------------


def test_what_is_in_force_is_saved_into_a_task_file(link: Link, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    link.set({"sense.cutoff_hz": 17.0})
    assert link.save(file) == {"sense.cutoff_hz": 17.0}
    assert file.read_text() == MINE.replace("20.0", "17.0")


def test_a_watched_file_that_was_saved_from_the_loop_is_not_applied_once_more(link: Link, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    watch = FileWatch(file, link)
    link.set({"sense.cutoff_hz": 18.0})
    link.save(file)
    adopted = link.board.adopted
    assert watch.poll() == "mine.yaml was saved; its values are already in use."
    assert link.board.adopted == adopted
