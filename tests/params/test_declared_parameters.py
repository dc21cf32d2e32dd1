"""The parameters that Pliant declares: help, units, names, bounds."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import Field

from pliant.control.parameters import Parameters
from pliant.errors import InputError
from pliant.params.declare import (
    Section,
    SixPositive,
    declared,
    param,
    validated,
)
from pliant.task.schema import Task
from pliant.world.world_config import SimConfig

Above = Annotated[float, Field(gt=1.0, lt=3.0)]


# Shares, ratios, probabilities, counts and words: the only parameters without a unit.
PURE_NUMBERS = {"damping_ratio", "speed_scale", "acceleration_scale", "dropout", "friction", "seed"}
PURE_NUMBERS |= {"margin", "integral_lags", "losses_most", "heading"}
PURE_NUMBERS |= {"joint_speed_share", "tool_speed_share", "tool_turn_share"}
# m/rad for some directions and 1 for others: no unit would be true.
MIXED = {"singular_threshold", "singular_damping"}


@pytest.mark.parametrize("section", [Parameters, SimConfig, Task])
def test_every_parameter_has_a_sentence_of_help(section: type[Section]) -> None:
    for item in declared(section):
        if item.name in ("tool", "surfaces", "pushes", "events", "sim.surfaces", "sim.pushes", "sensor.failures",
                         "sim.sensor.failures"):  # fmt: skip
            continue
        assert item.help.endswith("."), item.name
        assert item.help[0].isupper(), item.name


@pytest.mark.parametrize("section", [Parameters, SimConfig])
def test_every_physical_number_has_a_unit(section: type[Section]) -> None:
    for item in declared(section):
        number = "number" in item.type
        last = item.name.split(".")[-1]
        assert not number or bool(item.unit) != (last in PURE_NUMBERS | MIXED), item.name


def test_a_scalar_name_ends_in_its_unit() -> None:
    endings = {
        "_hz": "Hz", "_n": "N", "_nm": "N m", "_s": "s", "_m": "m", "_n_m": "N/m", "_n_s_m": "N s/m", "_j": "J",
        "_m_s": "m/s", "_rad_s": "rad/s", "_nm_s": "N m/s", "_m_s2": "m/s²", "_rad_s2": "rad/s²", "_rad": "rad",
        "_deg": "deg", "_nm_s_rad": "N m s/rad", "_nm_rad": "N m/rad",
    }  # fmt: skip
    for section in (Parameters, SimConfig):
        for item in declared(section):
            last = item.name.split(".")[-1]
            fitting = [end for end in endings if last.endswith(end)]
            if fitting:
                assert item.unit == endings[max(fitting, key=len)], item.name


def test_defaults_are_within_their_own_bounds() -> None:
    for section in (Parameters, SimConfig, Task):
        assert section.model_validate(section().model_dump()) == section()


def test_bounds_are_told_in_words() -> None:
    told = {item.name: item.bounds for item in declared(Parameters)}
    assert told["sense.cutoff_hz"] == "≥ 0.1 and ≤ 400"
    assert told["admittance.damping_ratio"] == "each ≥ 0.05 and ≤ 5"
    assert {item.name: item.type for item in declared(Parameters)}[
        "admittance.mass"
    ] == "6 numbers (a diagonal) or a 6×6 matrix"


def test_masses_are_positive_whatever_the_axis() -> None:
    class Masses(Section):
        mass: SixPositive = param((1.0,) * 6, help="Six masses.")

    for axis in range(6):
        mass = [1.0] * 6
        mass[axis] = 0.0
        with pytest.raises(InputError, match=rf"mass\[{axis}\] is 0, but it must be greater than 0"):
            validated(Masses, {"mass": mass})
