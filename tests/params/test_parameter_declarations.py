"""Declared parameters: the record that kernels read, bounds, changes, and what a user is told about a mistake."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, ValidationError

from pliant.control.parameters import Parameters, changed_record, diagonal, record_of
from pliant.errors import InputError, UnknownNameError
from pliant.params.declare import (
    NotNegative,
    Section,
    bounds_arrays,
    changed,
    declared,
    layout_of,
    limits_of,
    param,
    parse_assignment,
    validated,
)
from pliant.params.packing import to_record
from pliant.params.validation_errors import MATRIX
from support.properties import examples

Above = Annotated[float, Field(gt=1.0, lt=3.0)]


class Inner(Section):
    closed: float = param(2.0, unit="m", live=True, ge=1, le=3, help="Both ends belong to it.")
    open: float = param(2.0, unit="m", gt=1, lt=3, help="Neither end belongs to it.")


class Outer(Section):
    free: float = param(0.5, help="Any finite number.")
    pair: tuple[Above, Above] = param((2.0, 2.5), help="Bounds on each element.")
    count: int = param(3, ge=0, le=5, help="A whole number.")
    choice: Literal["red", "green", "blue"] = param("green", help="A choice.")
    flag: bool = param(True, help="A flag.")
    inner: Inner = Inner()


LEAST, MOST = np.nextafter(1.0, 2.0), np.nextafter(3.0, 2.0)


def passes(record: np.ndarray[Any, Any], section: type[Section]) -> bool:
    """The check that the loop makes."""
    low, high = bounds_arrays(section)
    values = record.view(np.float64)
    return bool(np.all((values >= low) & (values <= high)))


# ---- the record ----------------------------------------------------------------------------------------------------


def test_layout_follows_the_declaration() -> None:
    dtype = layout_of(Outer).dtype
    assert dtype.names == ("free", "pair", "count", "choice", "flag", "inner")
    kinds = [dtype[name].base.str for name in ("free", "pair", "count", "choice", "flag")]
    assert kinds == ["<f8", "<f8", "<i8", "<i8", "<i8"]
    assert dtype["pair"].shape == (2,)
    assert dtype["inner"].names == ("closed", "open")


def test_layout_keeps_unit_and_help() -> None:
    fields = {field.name: field for field in layout_of(Inner).fields}
    assert (fields["closed"].unit, fields["closed"].help) == ("m", "Both ends belong to it.")


@pytest.mark.parametrize("section", [Outer, Parameters])
def test_every_value_of_a_record_has_eight_bytes(section: type[Section]) -> None:
    def values(layout: Any) -> int:
        nested = (values(field.kind) if hasattr(field.kind, "fields") else 1 for field in layout.fields)
        return sum(n * math.prod(field.shape) for n, field in zip(nested, layout.fields, strict=True))

    layout = layout_of(section)
    assert layout.dtype.itemsize == 8 * values(layout)


def test_record_holds_the_values_of_the_section() -> None:
    record = to_record(Outer(free=7.5, pair=(1.5, 2.5), count=4, choice="blue", flag=False))[0]
    assert record.free == 7.5
    assert record.pair.tolist() == [1.5, 2.5]
    assert (record.count, record.choice, record.flag) == (4, 2, 0)
    assert (record.inner.closed, record.inner.open) == (2.0, 2.0)


def test_a_record_made_from_the_one_before_is_that_of_the_whole_set() -> None:
    before = changed(Parameters(), {"sense.cutoff_hz": 12.0})
    after = changed(before, {"admittance.mass": 4.0, "impedance.form": "simple"})
    record = record_of(before)
    assert changed_record(before, record, after).tobytes() == record_of(after).tobytes() != record.tobytes()
    assert record.tobytes() == record_of(before).tobytes()


# ---- the loop's own check ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "admissible"),
    [
        (("inner", "closed"), 1.0, True),
        (("inner", "closed"), np.nextafter(1.0, 0.0), False),
        (("inner", "closed"), 3.0, True),
        (("inner", "closed"), np.nextafter(3.0, 4.0), False),
        (("inner", "open"), 1.0, False),
        (("inner", "open"), LEAST, True),
        (("inner", "open"), 3.0, False),
        (("inner", "open"), MOST, True),
        (("pair",), (1.0, 2.0), False),
        (("pair",), (2.0, 3.0), False),
        (("pair",), (LEAST, MOST), True),
        (("free",), -1e300, True),
        (("count",), 0, True),
        (("choice",), 2, True),
        (("choice",), 3, False),
        (("choice",), -1, False),
        (("flag",), 0, True),
    ],
)
def test_each_bound_includes_its_end_or_not_as_declared(field: tuple[str, ...], value: Any, admissible: bool) -> None:
    record = to_record(Outer())
    *path, last = field
    node = record[0]
    for part in path:
        node = node[part]
    node[last] = value
    assert passes(record, Outer) is admissible


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_fails_in_every_place(bad: float) -> None:
    assert passes(to_record(Parameters()), Parameters)
    values = len(to_record(Parameters()).view(np.float64))
    for place in range(values):
        record = to_record(Parameters())
        record.view(np.float64)[place] = bad
        assert not passes(record, Parameters), place


@given(st.data())
@examples(200)
def test_the_loop_accepts_what_the_door_accepts_and_nothing_else(data: st.DataObject) -> None:
    bounded = [item for item in declared(Parameters) if item.type == "number"]
    item = data.draw(st.sampled_from(bounded))
    value = data.draw(
        st.one_of(st.floats(-2, 2), st.floats(), st.sampled_from([0.0, 0.1, 0.5, 1.0, 20.0, 50.0, 400.0]))
    )
    section, name = item.name.split(".")
    record = to_record(Parameters())
    record[0][section][name] = value
    try:
        changed(Parameters(), {item.name: value})
    except InputError:
        assert not passes(record, Parameters)
    else:
        assert passes(record, Parameters)


# ---- sections ------------------------------------------------------------------------------------------------------


def test_a_section_is_closed() -> None:
    with pytest.raises(ValidationError):
        Outer.model_validate({"fre": 1.0})


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "nan", "inf"])
def test_a_section_refuses_numbers_that_are_not_finite(bad: Any) -> None:
    for data in ({"free": bad}, {"pair": (2.0, bad)}, {"inner": {"closed": bad}}):
        with pytest.raises(ValidationError):
            Outer.model_validate(data)


def test_a_section_cannot_be_edited_in_place() -> None:
    with pytest.raises(InputError, match=r"free cannot be changed in place: Outer is immutable\."):
        Outer().free = 1.0  # pyright: ignore[reportAttributeAccessIssue]


# ---- changes -------------------------------------------------------------------------------------------------------


def test_a_change_makes_a_new_set_and_leaves_the_old_one() -> None:
    old = Parameters()
    new = changed(old, {"sense.cutoff_hz": 50.0, "admittance.damping_ratio": (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)})
    assert old == Parameters()
    assert (new.sense.cutoff_hz, new.admittance.damping_ratio) == (50.0, (0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    assert new.hold == old.hold


@pytest.mark.parametrize("value", [3, 3.0, np.float64(3.0), np.int64(3)])
def test_one_number_for_a_list_sets_all_of_it(value: Any) -> None:
    new = changed(Parameters(), {"admittance.mass": value, "admittance.damping_ratio": value})
    assert new.admittance.damping_ratio == (3.0,) * 6
    assert new.admittance.mass == diagonal(3.0, 3.0)


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match=r"'sense\.cutof_hz'.*Did you mean 'sense\.cutoff_hz'\?"):
        changed(Parameters(), {"sense.cutof_hz": 10.0})


@pytest.mark.parametrize("name", ["sense", "sense.", ".cutoff_hz", "", "sense.cutoff_hz.x", "sense.__class__"])
def test_a_name_that_is_no_leaf_is_refused(name: str) -> None:
    with pytest.raises(UnknownNameError):
        changed(Parameters(), {name: 1.0})


def test_one_bad_value_refuses_the_whole_change() -> None:
    old = Parameters()
    with pytest.raises(InputError):
        changed(old, {"sense.cutoff_hz": 50.0, "admittance.mass": -1.0})
    assert old == Parameters()


def test_live_only_refuses_what_is_fixed_while_the_loop_runs() -> None:
    assert changed(Parameters(), {"limits.acceleration_scale": 0.2}).limits.acceleration_scale == 0.2
    with pytest.raises(InputError, match=r"limits\.acceleration_scale cannot be changed to 0\.2 while the loop runs"):
        changed(Parameters(), {"limits.acceleration_scale": 0.2}, live_only=True)
    assert changed(Parameters(), {"limits.speed_scale": 0.2}, live_only=True).limits.speed_scale == 0.2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"sense.cutoff_hz": 1000.0}, ("sense.cutoff_hz is 1000 Hz, but it must be 0.1 to 400 Hz.",)),
        ({"sense.deadband_n": -1.0}, ("sense.deadband_n is -1 N, but it must be 0 to 50 N.",)),
        ({"limits.speed_scale": 0.0}, ("limits.speed_scale is 0, but it must be greater than 0 and at most 1.",)),
        ({"admittance.mass": (1, 1, 0, 1, 1, 1)}, ("admittance.mass", "[1, 1, 0, 1, 1, 1]", "greater than 0")),
        ({"admittance.mass": (1, 1)}, ("admittance.mass", "[1, 1]", MATRIX)),
        ({"admittance.mass": [1] * 7}, ("admittance.mass", MATRIX)),
        (
            {"admittance.damping_ratio": (1, 1)},
            ("admittance.damping_ratio is [1, 1], but it must be one number for all of them, or 6 numbers.",),
        ),
        ({"admittance.damping_ratio": [1] * 7}, ("admittance.damping_ratio", "6 numbers")),
        (
            {"admittance.damping_ratio": (1, 1, 0, 1, 1, 1)},
            ("admittance.damping_ratio[2] is 0, but", "be 0.05 to 5."),
        ),
        ({"admittance.damping_ratio": 0}, ("admittance.damping_ratio is 0, but it must be 0.05 to 5.",)),
        ({"sense.bias": (0, 0, 0, 0, 1e5, 0)}, ("sense.bias[4] is 100000 N m, but", "-10000 to 10000 N m.")),
        (
            {"admittance.mass": 1e12},
            ("admittance.mass is 1e+12, but", "at most 10000 kg (translation) and 10000 kg m² (rotation)."),
        ),
        (
            {"impedance.stiffness": (1e12, 1, 1, 1, 1, 1)},
            ("impedance.stiffness is", "at most 1e+06 N/m (translation) and 1e+06 N m/rad (rotation)."),
        ),
        ({"admittance.damping": 1e12}, ("at most 1e+06 N s/m (translation) and 1e+06 N m s/rad (rotation).",)),
        ({"admittance.frame": "world"}, ("admittance.frame", "'world'", "'base' or 'tool'")),
        ({"admittance.axes": "x"}, ("admittance.axes", "'x'", "6 values, each true or false")),
        ({"admittance.damping_ratio": "x"}, ("admittance.damping_ratio", "'x'", "6 numbers")),
        ({"admittance.axes": (True,) * 5}, ("admittance.axes", "6 values, each true or false")),
        ({"admittance.mass": "heavy"}, ("admittance.mass", "'heavy'", MATRIX)),
        ({"sense.hold_s": "soon"}, ("sense.hold_s is 'soon', but it must be a number from 0 to 0.5 s.",)),
        ({"sense.hold_s": math.nan}, ("sense.hold_s is nan, but it must be a finite number from 0 to 0.5 s.",)),
        ({"sense.hold_s": None}, ("sense.hold_s", "None", "a number")),
        ({"sense.hold_s": True}, ("sense.hold_s", "True", "a number")),
        ({"admittance.mass": True}, ("admittance.mass", "True", "number")),
        ({"admittance.stiffness": math.nan}, ("admittance.stiffness is nan, but it must be finite.",)),
        (
            {"sense.bias": (1, 2, 3)},
            ("sense.bias is [1, 2, 3]", "6 numbers: force [N], then moment [N m]."),
        ),
        (
            {"limits.workspace_max_m": (1, 2)},
            ("_max_m is [1, 2], but it must be one number for all of them, or 3 numbers [m].",),
        ),
    ],
)
def test_a_refusal_names_field_value_and_what_is_allowed(values: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        changed(Parameters(), values)
    for word in words:
        assert word in str(caught.value)
    assert "Also wrong" not in str(caught.value)


def test_a_value_that_is_wrong_and_not_live_is_refused_as_wrong_first() -> None:
    said = r"admittance\.frame is 'banana', but it must be 'base' or 'tool'\. It cannot change while the loop runs\."
    with pytest.raises(InputError, match=said):
        changed(Parameters(), {"admittance.frame": "banana"}, live_only=True)


def test_names_of_the_law_that_runs_are_suggested_first() -> None:
    for law in ("admittance", "impedance"):
        with pytest.raises(
            UnknownNameError,
            match=rf"Did you mean '{law}\.stiffness'\? To list all: run `pliant set` while a loop runs",
        ):
            changed(Parameters(), {"stifness": 1.0}, law=law)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"choice": "black"}, ("choice", "'black'", "must be 'red', 'green' or 'blue'")),
        ({"count": 2.5}, ("count", "2.5", "a whole number")),
        ({"count": "two"}, ("count", "'two'", "a whole number")),
        ({"flag": "perhaps"}, ("flag", "'perhaps'", "true or false")),
        ({"inner": {"open": 3.0}}, ("inner.open is 3", "less than 3")),
        ({"inner": {"opne": 3.0}}, ("unknown entry 'inner.opne'", "Did you mean 'inner.open'?")),
        ({"inner": 3.0}, ("inner is 3, ", "a mapping of names to values")),
        ({"free": "x", "count": -1}, ("free is 'x'", "Also wrong: count is -1, but it must be")),
    ],
)
def test_plain_data_is_refused_with_the_place_of_the_mistake(data: Any, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        validated(Outer, data, "task.yaml")
    assert str(caught.value).startswith("task.yaml: ")
    for word in words:
        assert word in str(caught.value)


def test_a_missing_entry_is_named() -> None:
    class Needs(Section):
        size: NotNegative

    with pytest.raises(InputError, match=r"size is missing[.:]"):
        validated(Needs, {})


# ---- the command line ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("sense.cutoff_hz=12.5", "sense.cutoff_hz", 12.5),
        ("sim.seed=7", "sim.seed", 7),
        ("a = 1e-3 ", "a", 1e-3),
        ("a=1,2,3.5", "a", (1, 2, 3.5)),
        ("a=[1, 2]", "a", (1, 2)),
        ("a=(1,-2)", "a", (1, -2)),
        ("a=yes", "a", True),
        ("a=Off", "a", False),
        ("robot=sim:ur5e", "robot", "sim:ur5e"),
        ("name=a=b", "name", "a=b"),
    ],
)
def test_assignments_are_split_into_name_and_value(text: str, name: str, value: Any) -> None:
    found_name, found = parse_assignment(text)
    assert (found_name, found) == (name, value)
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["", "a", "a=", "=1", "="])
def test_what_is_no_assignment_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"name=value, for example"):
        parse_assignment(text)


def test_nan_on_the_command_line_does_not_get_in() -> None:
    with pytest.raises(InputError, match="a finite number"):
        changed(Parameters(), dict([parse_assignment("sense.cutoff_hz=nan")]))


def test_a_choice_is_described_by_its_values() -> None:
    assert {item.name: item.type for item in declared(Outer)}["choice"] == "red or green or blue"


def test_every_live_number_has_bounds_and_the_loop_knows_them() -> None:
    limits = limits_of(Parameters)
    numbers = [item.name for item in declared(Parameters) if item.live and "number" in item.type]
    assert [name for name in numbers if None in limits[name]] == []
    most = layout_of(Parameters).new()
    most.view(np.float64)[:] = bounds_arrays(Parameters)[1]
    assert (most[0].admittance.mass == 1e4).all()
    assert (most[0].impedance.stiffness == 1e6).all()
