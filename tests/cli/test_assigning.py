"""`--set` takes control parameters; what a task has besides is refused with the place where it belongs."""

from __future__ import annotations

import pytest

import pliant
from pliant.cli.assigning import assigned, must_be_parameter
from pliant.cli.running.run_task import unused
from pliant.control.parameters import Parameters
from pliant.errors import PliantError, UnknownNameError


def refusal(name: str, value: object = 1) -> str:
    with pytest.raises(PliantError) as refused:
        must_be_parameter(name, value)
    return str(refused.value)


def test_control_parameters_are_set() -> None:
    changed = assigned(Parameters(), ["sense.deadband_n=2", "hold.bandwidth_hz=4"])
    assert (changed.sense.deadband_n, changed.hold.bandwidth_hz) == (2.0, 4.0)


@pytest.mark.parametrize(
    ("name", "value", "where"),
    [
        ("ros2.node", "left", "write node: left under ros2: in the task file"),
        ("ros2.command", False, "write command: false under ros2: in the task file"),
        ("tool.mass_kg", 0.8, "write mass_kg: 0.8 under tool: in the task file"),
        ("sim.servo.delay_s", 0.01, "write delay_s: 0.01 under sim: servo: in the task file"),
        ("start_q", (0, 1.5), "write start_q: [0, 1.5] in the task file"),
        ("law", "hold", "write law: hold in the task file"),
        ("tool", 2, "set all of tool in the task file"),
        ("events.0.at_s", 2, "set all of events in the task file"),
        ("robot.x", 2, "set it with pliant run --robot"),
        ("rate_hz", 250, "set it with pliant run --rate"),
        ("sim.seed", 3, "set it with pliant run --seed"),
    ],
)
def test_a_field_that_is_no_control_parameter_is_refused_with_its_place(name: str, value: object, where: str) -> None:
    assert refusal(name, value).startswith(f"{name} is not a control parameter")
    assert where in refusal(name, value)


def test_a_parameter_with_its_section_of_the_file_and_a_field_that_is_misspelt_are_named() -> None:
    assert refusal("params.sense.bias") == "params.sense.bias: leave out the prefix params. here. Use sense.bias."
    assert "Did you mean 'ros2.node'?" in refusal("ros2.nod")


def test_what_no_task_has_is_told_with_the_parameters_there_are() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'admittance\.stiffness'"):
        assigned(Parameters(), ["admittance.stifness=1"])


def test_a_value_that_no_law_of_the_task_uses_is_noted() -> None:
    task, given = pliant.load_task("push"), ["contact.target_n=5", "admittance.mass=20"]
    assert unused(task, given) == [
        "Note: contact.target_n has no effect until the law contact runs; admittance is running."
    ]
    later = task.replace({"events": [{"at_s": 1.0, "law": "contact"}]})
    assert unused(later, given) == []
