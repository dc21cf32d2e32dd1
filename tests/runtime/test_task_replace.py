"""A changed copy of a task, and all problems of a wrong one at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pliant
from pliant.errors import InputError, UnknownNameError
from pliant.task.schema import Task, load_task


def test_values_are_replaced_by_dotted_names_and_by_keywords() -> None:
    task = load_task("plane")
    other = task.replace({"contact.target_n": 10, "sim.seed": 3, "sim.surfaces.0.stiffness_n_m": 5e4}, rate_hz=250)
    assert other.params.contact.target_n == 10.0
    assert (other.sim.seed, other.sim.surfaces[0].stiffness_n_m, other.rate_hz) == (3, 5e4, 250.0)
    assert task == load_task("plane")
    back = other.replace(
        {
            "params.contact.target_n": task.params.contact.target_n,
            "sim.seed": task.sim.seed,
            "sim.surfaces": task.sim.surfaces,
            "rate_hz": task.rate_hz,
        }
    )
    assert back == task


def test_one_number_sets_a_whole_row_and_parts_may_be_objects() -> None:
    task = Task().replace({"admittance.damping_ratio": 0.7, "admittance.stiffness": 50}, tool=pliant.Tool(mass_kg=1.0))
    assert task.params.admittance.damping_ratio == (0.7,) * 6
    assert task.params.admittance.stiffness[5][5] == 50.0
    assert task.tool.mass_kg == 1.0
    assert task.replace({"tool.mass_kg": 0.5}).tool.mass_kg == 0.5


@pytest.mark.parametrize("name", ["contact.target", "sim.sed", "sim.surfaces.0.kind", "nothing", "tool.mass"])
def test_an_unknown_name_is_rejected(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"Unknown name '{name}'"):
        Task().replace({name: 1})


def test_a_wrong_value_is_rejected_with_its_bounds() -> None:
    with pytest.raises(InputError, match=r"rate_hz is 5 Hz, but it must be 125 to 1000 Hz"):
        Task().replace(rate_hz=5)
    wrong: Any = {3: 1}
    with pytest.raises(InputError, match="the name of a value is 3, but it must be text"):
        Task().replace(wrong)


@pytest.mark.parametrize("make", [lambda data: Task(**data), Task.model_validate])
def test_all_problems_of_a_task_are_listed(make: Any) -> None:
    wrong = {"rate_hz": 5, "duration_s": -1, "sim": {"sed": 3}, "params": {"sense": {"cutoff_hz": "x"}}}
    with pytest.raises(InputError) as caught:
        make(wrong)
    text = str(caught.value)
    for words in (
        "Unknown entry 'sim.sed'",
        "rate_hz is 5 Hz, but it must be 125 to 1000 Hz.",
        "duration_s is -1 s, but it must be greater than 0",
        "params.sense.cutoff_hz is 'x', but it must be a number from 0.1 to 400 Hz.",
    ):
        assert words in text
    assert len(caught.value.others) == 3


def test_a_task_is_loaded_by_its_name_and_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("robot: sim:ur10e\nlaw: admittance\n")
    assert pliant.load_task("push").name == "push"
    assert pliant.load_task(file).robot == pliant.load_task(str(file)).robot == "sim:ur10e"
