"""Values that were tuned while running are kept in the task file, comments and all, or nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pliant.control.parameters import Parameters
from pliant.errors import InputError
from pliant.params.declare import changed
from pliant.task.schema import Task, load_task
from pliant.task.task_file import keep_parameters, own_task, write_values

TASK = """\
# Mine.
robot: sim:ur5e   # the small one
law: admittance
params:
  sense: {cutoff_hz: 30}   # quiet enough
  admittance:
    stiffness: [300, 300, 300, 20, 20, 20]   # soft
events:
  - {at_s: 1.0, set: {admittance.stiffness: [600, 600, 600, 40, 40, 40], sense.deadband_n: 2.0}}
"""
ROS = "controller:\n  ros__parameters:\n    admittance: {mass: [5, 5, 5, 1, 1, 1]}\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(TASK)
    return file


def keep(path: Path, values: dict[str, Any], time_s: float = 0.5) -> dict[str, Any]:
    task = load_task(path)
    return keep_parameters(path, changed(task.params, values), task, time_s)


def test_only_what_differs_is_written_and_comments_stay(path: Path) -> None:
    assert keep(path, {"sense.cutoff_hz": 15.0, "admittance.damping_ratio": 0.8}) == {
        "sense.cutoff_hz": 15.0,
        "admittance.damping_ratio": (0.8,) * 6,
    }
    expected = TASK.replace("cutoff_hz: 30", "cutoff_hz: 15.0").replace(
        "# soft\n", "# soft\n    damping_ratio: [0.8, 0.8, 0.8, 0.8, 0.8, 0.8]\n"
    )
    assert path.read_text() == expected


def test_the_file_then_says_what_was_in_force(path: Path) -> None:
    full = [[8.0 if i == j else 0.5 for j in range(6)] for i in range(6)]
    now = changed(load_task(path).params, {"admittance.mass": full, "admittance.axes": [True] * 5 + [False]})
    keep_parameters(path, now, load_task(path), 0.0)
    assert load_task(path).params == now
    assert keep_parameters(path, now, load_task(path), 0.0) == {}


def test_a_matrix_that_is_diagonal_is_written_as_six_numbers(path: Path) -> None:
    assert keep(path, {"admittance.stiffness": 400.0}) == {"admittance.stiffness": [400.0] * 6}
    assert "stiffness: [400.0, 400.0, 400.0, 400.0, 400.0, 400.0]   # soft\n" in path.read_text()


def test_what_an_event_has_set_is_not_written(path: Path) -> None:
    scripted = {"admittance.stiffness": (600, 600, 600, 40, 40, 40), "sense.deadband_n": 2.0}
    assert keep(path, scripted, time_s=2.0) == {}
    assert path.read_text() == TASK
    assert keep(path, {**scripted, "sense.deadband_n": 3.0}, time_s=2.0) == {"sense.deadband_n": 3.0}


def test_what_an_event_will_set_later_is_written(path: Path) -> None:
    assert keep(path, {"sense.deadband_n": 2.0}, time_s=0.5) == {"sense.deadband_n": 2.0}


def test_another_arms_file_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match="a task for sim:ur10e; this one is for sim:ur5e"):
        keep_parameters(path, Parameters(), Task(robot="sim:ur10e"), 0.0)
    assert path.read_text() == TASK


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (ROS, "ROS 2 parameter file"),
        ("- 1\n- 2\n", "a YAML mapping"),
        ("robot: sim:ur5e\nlaws: hold\n", "unknown entry"),
        ("robot: [\n", "valid YAML"),
    ],
)
def test_a_file_that_is_no_task_is_refused_and_stays_as_it_is(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=why):
        keep_parameters(path, Parameters(), Task(), 0.0)
    assert path.read_text() == text


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.yaml does not exist\. Copy a task to that file first"):
        own_task(tmp_path / "gone.yaml")
    with pytest.raises(
        InputError, match=r"'push' comes with Pliant and cannot be changed\. Copy .*push\.yaml and use your copy"
    ):
        own_task("push")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"tool.mass_kg": -1.0}, "0 to 1000 kg"),
        ({"params.sense.cutoff_hz": 1e6}, "0.1 to 400 Hz"),
        ({"params.sense.cut": 1.0}, "unknown entry"),
    ],
)
def test_values_that_would_make_no_valid_task_are_not_written(path: Path, values: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        write_values(path, values)
    assert path.read_text() == TASK
