"""Tuning a running loop from another terminal: `pliant set` and `pliant tare`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from tuned_loop import BIAS, CLI, MINE, NAME, TASK, pliant_set

from pliant.control.parameters import Parameters
from pliant.errors import InputError
from pliant.params.declare import changed, flat, validated
from pliant.params.matrix import compact
from pliant.session.idle_parameters import without_effect
from pliant.session.link import Link, attach
from pliant.session.session import Session
from pliant.task.schema import Task
from support.words import say


def test_pliant_set_takes_the_form_of_the_option_too(link: Link) -> None:
    done = pliant_set("sense.cutoff_hz=55")
    assert done.returncode == 0, done.stderr
    assert link.parameters.sense.cutoff_hz == 55.0


def test_pliant_set_changes_a_running_loop(link: Link) -> None:
    done = pliant_set("admittance.stiffness", "456")
    assert done.returncode == 0, done.stderr
    changed, idle = " ".join(done.stdout.split()).split(" Note: ")
    assert changed == f"{link.title}: admittance.stiffness = [456, 456, 456] N/m, [456, 456, 456] N m/rad"
    assert idle == "admittance.stiffness has no effect until the law admittance runs; hold is running."
    assert compact(link.parameters.admittance.stiffness) == [456.0] * 6


def test_a_session_returns_what_has_no_effect_for_now(link: Link) -> None:
    assert link.set({"sense.cutoff_hz": 21.0, "hold.bandwidth_hz": 2.5}) == []
    assert link.set({"contact.target_n": 11.0}) == [
        "contact.target_n has no effect until the law contact runs; hold is running."
    ]
    assert link.set({"joint_loop.frequency_hz": 7.0}) == [
        "joint_loop.frequency_hz has no effect: interface is position, and only torque commands use it."
    ]
    link.set({"sense.cutoff_hz": 20.0})


def test_a_damping_that_is_not_selected_has_no_effect() -> None:
    by_ratio, by_value = Parameters(), changed(Parameters(), {"admittance.damping_by": "value"})
    names = ("admittance.damping", "admittance.damping_ratio", "admittance.mass", "impedance.damping")
    idle = without_effect(names[:3], by_ratio, "admittance", "position")
    assert idle == [
        "admittance.damping has no effect while admittance.damping_by is ratio. Set admittance.damping_by to value."
    ]
    assert [text.split()[0] for text in without_effect(names, by_value, "admittance", "position")] == [
        *("admittance.damping_ratio", "impedance.damping"),
    ]
    assert without_effect(["joint_loop.frequency_hz"], by_ratio, "admittance", "torque") == []


def test_pliant_set_shows_what_is_in_force(link: Link) -> None:
    assert pliant_set("sense.cutoff_hz").stdout == "sense.cutoff_hz = 20 Hz\n"
    everything = pliant_set().stdout.splitlines()
    assert len(everything) >= len(flat(link.parameters))


def test_pliant_set_takes_negative_numbers(link: Link) -> None:
    done = pliant_set("sense.bias", "-1,2,-3,0.1,-0.2,0.3")
    assert done.returncode == 0, done.stderr
    assert link.parameters.sense.bias == (-1.0, 2.0, -3.0, 0.1, -0.2, 0.3)


def test_pliant_set_takes_negative_numbers_after_two_dashes_as_well(link: Link) -> None:
    done = subprocess.run(
        [*CLI, "set", "--loop", NAME, "sense.bias", "--", "-4,0,0,0,0,-0.5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert link.parameters.sense.bias == (-4.0, 0.0, 0.0, 0.0, 0.0, -0.5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sense.cutoff_hz", "5000"), "0.1 to 400 Hz"),
        (("sense.cutof_hz", "50"), "Did you mean 'sense.cutoff_hz'"),
        (("sense.deadband_n", "-4"), "0 to 50 N"),
        (("limits.position_margin", "0.1"), "while the loop runs"),
        (("admittance.mass", "1,1,1,1,1,0"), "greater than 0"),
    ],
)
def test_pliant_set_refuses_with_one_sentence_and_changes_nothing(
    link: Link, words: tuple[str, str], said: str
) -> None:
    before = link.board.adopted
    done = pliant_set(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert link.board.adopted == before


@pytest.mark.slow
def test_pliant_set_takes_a_change_back_and_shows_the_history(link: Link) -> None:
    pliant_set("sense.cutoff_hz", "77")
    assert link.parameters.sense.cutoff_hz == 77.0
    assert "sense.cutoff_hz = 77" in pliant_set("--history").stdout.splitlines()[-1]
    done = pliant_set("--undo")
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stdout.split()) == f"{link.title}: undone: sense.cutoff_hz is 20 again (was 77)."
    assert link.parameters.sense.cutoff_hz == 20.0


def test_pliant_set_undo_takes_no_value(link: Link) -> None:
    before = link.board.adopted
    done = pliant_set("--undo", "sense.cutoff_hz", "50")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--undo takes no parameter" in done.stderr
    assert link.board.adopted == before


def test_a_loop_without_changes_has_nothing_to_undo_and_says_so() -> None:
    with Session(validated(Task, TASK), name=NAME + "-fresh"):
        fresh = attach(NAME + "-fresh")
        with pytest.raises(InputError, match="Nothing to undo"):
            fresh.undo()
        done = say("set", "--undo", "--loop", fresh.name)
        assert done.returncode == 2
        assert done.stderr == "pliant: Nothing to undo: no parameter has been changed.\n"
        fresh.set({"sense.cutoff_hz": 15.0})
        assert fresh.undo() == {"sense.cutoff_hz": (15.0, 20.0)}


def test_a_change_names_its_loop(link: Link) -> None:
    said = " ".join(pliant_set("sense.cutoff_hz", "50").stdout.split())
    assert said == f"Loop {NAME} ({link.task.name} on {link.task.robot}): sense.cutoff_hz = 50 Hz"


def test_the_command_line_tares(link: Link, until) -> None:
    until(lambda: np.abs(link.state.reading.qd).max() < 1e-3)
    done = say("tare", "--loop", NAME)
    assert done.returncode == 0, done.stderr
    assert f"{link.title}: the sensor's offset is" in " ".join(done.stdout.split())
    assert link.parameters.sense.bias == pytest.approx(BIAS, abs=0.1)


def test_the_command_line_saves_it_too_and_says_what(link: Link, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE)
    done = pliant_set("sense.cutoff_hz", "16", "--save", str(file))
    assert done.returncode == 0, done.stderr
    assert "sense.cutoff_hz = 16" in done.stdout
    assert "cutoff_hz: 16.0}   # quiet" in file.read_text()
    assert "already contains the current values" in " ".join(pliant_set("--save", str(file)).stdout.split())


def test_saving_into_another_arms_file_is_refused_in_one_sentence(link: Link, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(MINE.replace("ur5e", "ur10e"))
    done = pliant_set("--save", str(file))
    assert done.returncode == 2
    assert "a task for sim:ur5e; this one is for sim:ur10e" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "ur10e" in file.read_text()
