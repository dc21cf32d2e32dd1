"""How parameters are declared.

A `Section` is a pydantic model whose fields are made by `param(...)`. The validation and its messages, the record that
the kernels read, the reference page and the command line's ``--set`` all follow from this declaration.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticKnownError

from pliant import records
from pliant.errors import InputError, RejectedError, UnknownNameError, did_you_mean

_MOST = float(np.finfo(float).max)


class Section(BaseModel):
    """A group of parameters. An unknown name is an error. A section is immutable: a change makes a new set."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _a_flag_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, bool) and cls.model_fields[str(info.field_name)].annotation in (float, int):
            raise PydanticKnownError("float_type")
        return value


Positive = Annotated[float, Field(gt=0)]
Flag6 = tuple[bool, bool, bool, bool, bool, bool]
NotNegative = Annotated[float, Field(ge=0)]
Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]
Matrix = tuple[Six, Six, Six, Six, Six, Six]
SixPositive = tuple[Positive, Positive, Positive, Positive, Positive, Positive]
SixNotNegative = tuple[NotNegative, NotNegative, NotNegative, NotNegative, NotNegative, NotNegative]


def param(default: Any, *, unit: str = "", live: bool = False, help: str, **bounds: Any) -> Any:  # noqa: A002 (the word a reader expects)
    """Declare a parameter: default, unit, whether it may change while the loop runs, one sentence of help, bounds."""
    return Field(default, description=help, json_schema_extra={"unit": unit, "live": live}, **bounds)


@dataclass(frozen=True)
class Declared:
    """One parameter, as the reference page and the command line show it."""

    name: str
    type: str
    default: Any
    unit: str
    bounds: str
    live: bool
    help: str


def declared(section: type[Section], prefix: str = "") -> Iterator[Declared]:
    """Every parameter under `section`, by dotted name."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from declared(kind, f"{prefix}{name}.")
            continue
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        yield Declared(
            name=prefix + name,
            type=_type_name(kind),
            default=field.get_default(call_default_factory=True),
            unit=str(extra.get("unit", "")),
            bounds=_bounds(field.metadata) or _element_bounds(kind),
            live=bool(extra.get("live", False)),
            help=field.description or "",
        )


def _type_name(kind: Any) -> str:
    if typing.get_origin(kind) is tuple:
        parts = typing.get_args(kind)
        if parts[0] is bool:
            return f"{len(parts)} flags"
        if typing.get_origin(parts[0]) is tuple:
            return f"{len(parts)} numbers (a diagonal) or a {len(parts)}×{len(parts)} matrix"
        return "list" if parts[-1] is Ellipsis else f"{len(parts)} numbers"
    if typing.get_origin(kind) is Literal:
        return " or ".join(str(choice) for choice in typing.get_args(kind))
    return {float: "number", int: "whole number", bool: "yes or no", str: "text"}.get(kind, "list")


def _bounds(metadata: list[Any]) -> str:
    signs: dict[type, str] = {Ge: "≥", Gt: ">", Le: "≤", Lt: "<"}
    parts = []
    for item in metadata:
        for kind, sign in signs.items():
            if isinstance(item, kind):
                parts.append(f"{sign} {getattr(item, kind.__name__.lower()):.10g}")
    return " and ".join(parts)


def _element_bounds(kind: Any) -> str:
    if typing.get_origin(kind) is tuple and (args := typing.get_args(kind)):
        inner = args[0]
        if typing.get_origin(inner) is Annotated:
            field = typing.get_args(inner)[1]
            if bounds := _bounds(field.metadata):
                return f"each {bounds}"
    return ""


# ---- the record that kernels read ----------------------------------------------------------------------------------


def layout_of(section: type[Section]) -> records.Layout:
    """The record layout of a section: numbers become f8, whole numbers, flags and choices i8, sections nest."""
    fields = []
    for name, field in section.model_fields.items():
        kind = field.annotation
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        unit, text = str(extra.get("unit", "")), field.description or ""
        if isinstance(kind, type) and issubclass(kind, Section):
            fields.append(records.Field(name, "", text, kind=layout_of(kind)))
        elif typing.get_origin(kind) is tuple:
            fields.append(records.Field(name, unit, text, _shape(kind)))
        else:
            fields.append(records.Field(name, unit, text, kind="f8" if kind is float else "i8"))
    return records.Layout(section.__name__, tuple(fields))


def _shape(kind: Any) -> tuple[int, ...]:
    """Shape of the array that holds a tuple of numbers, or a tuple of such tuples."""
    parts = typing.get_args(kind)
    return (len(parts), *_shape(parts[0])) if typing.get_origin(kind) is tuple else ()


def fill(section: Section, record: Any) -> None:
    """Write the values of `section` into a record of its layout."""
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, Section):
            fill(value, record[name])
        elif typing.get_origin(field.annotation) is Literal:
            record[name] = typing.get_args(field.annotation).index(value)
        else:
            record[name] = value


def to_record(section: Section) -> np.ndarray[Any, Any]:
    """A one-element array that holds `section` as kernels read it."""
    record = layout_of(type(section)).new()
    fill(section, record[0])
    return record


def bounds_arrays(section: type[Section]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Lowest and highest allowed number for every 8-byte value of the section's record, in order.

    This is the loop's own check of a proposed set. It does not need pydantic, and it rejects numbers that are not
    finite. Whole numbers, flags and choices are compared as the floats that their bytes represent: choices must exist,
    the others must be 0 or more. Validation has already checked them.
    """
    low, high = layout_of(section).new(), layout_of(section).new()
    _fill_bounds(section, low[0], high[0])
    return low.view(np.float64).copy(), high.view(np.float64).copy()


def live_places(section: type[Section]) -> np.ndarray[Any, Any]:
    """For every 8-byte value of the section's record, in order, whether it may change while a loop runs."""
    marks = layout_of(section).new()
    for item in declared(section):
        *path, last = item.name.split(".")
        entry = marks[0]
        for part in path:
            entry = entry[part]
        entry[last] = item.live
    return marks.view(np.int64) != 0


def limits_of(section: type[Section], prefix: str = "") -> dict[str, tuple[float | None, float | None]]:
    """Lowest and highest allowed number of every parameter by dotted name; None where it has no bound."""
    found: dict[str, tuple[float | None, float | None]] = {}
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            found.update(limits_of(field.annotation, f"{prefix}{name}."))
        else:
            least, most = _numeric_limits(field)
            found[prefix + name] = (least if least > -_MOST else None, most if most < _MOST else None)
    return found


def _numeric_limits(field: FieldInfo) -> tuple[float, float]:
    """Lowest and highest admissible number of a parameter, or of each of its numbers."""
    kind, metadata = field.annotation, list(field.metadata)
    if typing.get_origin(kind) is tuple and typing.get_origin(typing.get_args(kind)[0]) is Annotated:
        metadata += typing.get_args(typing.get_args(kind)[0])[1].metadata
    least, most = -_MOST, _MOST
    for item in metadata:
        its: Any = item  # bounds may be anything that can be compared; ours are numbers
        if isinstance(item, Ge):
            least = its.ge
        elif isinstance(item, Gt):
            least = np.nextafter(its.gt, np.inf)
        elif isinstance(item, Le):
            most = its.le
        elif isinstance(item, Lt):
            most = np.nextafter(its.lt, -np.inf)
    return float(least), float(most)


def _fill_bounds(section: type[Section], low: Any, high: Any) -> None:
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            _fill_bounds(kind, low[name], high[name])
            continue
        least, most = _numeric_limits(field)
        if typing.get_origin(kind) is tuple or kind is float:
            low[name], high[name] = least, most
        elif typing.get_origin(kind) is Literal:  # small whole numbers keep their order when seen as floats
            low[name], high[name] = 0, len(typing.get_args(kind)) - 1
        elif kind is bool:
            low[name], high[name] = 0, 1
        else:
            low[name], high[name] = np.array([-np.inf, np.inf]).view(np.int64)


def from_record(section: type[Section], record: Any) -> Any:
    """The section with the values of a record: the inverse of `fill`."""
    data: dict[str, Any] = {}
    for name, field in section.model_fields.items():
        kind, value = field.annotation, record[name]
        if isinstance(kind, type) and issubclass(kind, Section):
            data[name] = from_record(kind, value)
        elif typing.get_origin(kind) is Literal:
            data[name] = typing.get_args(kind)[int(value)]
        elif kind is bool or (typing.get_origin(kind) is tuple and typing.get_args(kind)[0] is bool):
            data[name] = np.asarray(value).astype(bool).tolist()
        else:
            data[name] = np.asarray(value).tolist()
    return section.model_validate(data)


def flat(section: Section, prefix: str = "") -> dict[str, Any]:
    """Every value under `section`, by dotted name."""
    values: dict[str, Any] = {}
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, Section):
            values.update(flat(value, f"{prefix}{name}."))
        else:
            values[prefix + name] = value
    return values


# ---- changing a value ----------------------------------------------------------------------------------------------


def changed(section: Section, values: dict[str, Any], *, live_only: bool = False) -> Any:
    """A new set with the dotted `values` applied, validated as a whole; the old one stays as it is.

    A single number for a list of numbers sets all of them. `live_only` rejects parameters that are not live.
    """
    known = {item.name: item for item in declared(type(section))}
    data = section.model_dump()
    for dotted, value in values.items():
        if dotted not in known:
            raise UnknownNameError("parameter", dotted, known)
        if live_only and not known[dotted].live:
            sentence = f"{dotted} cannot be changed to {value!r} while the loop runs. Set it before the start."
            raise RejectedError(sentence, field=dotted, value=value)
        *path, last = dotted.split(".")
        node = data
        for part in path:
            node = node[part]
        number = isinstance(value, Real) and not isinstance(value, bool)
        node[last] = (value,) * len(node[last]) if isinstance(node[last], tuple) and number else value
    return validated(type(section), data)


def validated(section: type[Section], data: Any, where: str = "") -> Any:
    """Build a section from plain data, or raise one `InputError` with field, value and what is allowed."""
    try:
        return section.model_validate(data)
    except ValidationError as error:
        raise _readable(section, error, where) from None


def _kind_at(kind: Any, place: tuple[int | str, ...]) -> Any:
    """The type that is declared at a place of a section; None where nothing is."""
    inner = [part for part in typing.get_args(kind) if part not in (Ellipsis, type(None))]
    if (inner and typing.get_origin(kind) is Annotated) or type(None) in typing.get_args(kind):
        return _kind_at(inner[0], place)
    if not place:
        return kind
    if typing.get_origin(kind) is tuple:
        return _kind_at(inner[0], place[1:])
    if isinstance(kind, type) and issubclass(kind, Section) and place[0] in kind.model_fields:
        return _kind_at(kind.model_fields[str(place[0])].annotation, place[1:])
    return None


def _names_at(section: type[Section], place: tuple[int | str, ...]) -> list[str]:
    """The names that are declared at a place of a section: those of a section or a plain dataclass."""
    kind = _kind_at(section, place)
    if isinstance(kind, type) and issubclass(kind, Section):
        return list(kind.model_fields)
    return [field.name for field in fields(kind)] if isinstance(kind, type) and is_dataclass(kind) else []


def _list_at(section: type[Section], place: tuple[int | str, ...]) -> str:
    """What a list at a place of a section consists of, in words."""
    parts = typing.get_args(_kind_at(section, place))
    if _names_at(section, (*place, 0)):
        return "a list of mappings"
    if not parts or parts[-1] is Ellipsis:
        return "a list of numbers"
    return f"a list of {len(parts)} flags" if parts[0] is bool else f"a list of {len(parts)} numbers"


def _unknown(section: type[Section], place: tuple[int | str, ...], field: str, value: Any, hint: str) -> InputError:
    known = _names_at(section, place[:-1])
    words = did_you_mean(str(place[-1]), known) if known else ""
    return RejectedError(f"{field}: unknown parameter.{words} {hint}".strip(), field=field, value=value)


def _readable(section: type[Section], error: ValidationError, where: str) -> InputError:
    """The first complaint of pydantic, in the words of a person."""
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    field = f"{where}.{name}".strip(".") if name else where or "the value"
    context: dict[str, Any] = first.get("ctx", {})
    kind = first["type"]
    words = {
        "greater_than": lambda: f"greater than {context['gt']:g}",
        "greater_than_equal": lambda: f"at least {context['ge']:g}",
        "less_than": lambda: f"less than {context['lt']:g}",
        "less_than_equal": lambda: f"at most {context['le']:g}",
        "finite_number": lambda: "a finite number",
        "literal_error": lambda: f"one of {context['expected']}",
        "float_type": lambda: "a number",
        "float_parsing": lambda: "a number",
        "int_type": lambda: "a whole number",
        "int_parsing": lambda: "a whole number",
        "int_from_float": lambda: "a whole number",
        "bool_parsing": lambda: "true or false",
        "bool_type": lambda: "true or false",
        "string_type": lambda: "text",
        "string_pattern_mismatch": lambda: "a name of letters, digits and _, with / between its parts",
        "invalid_key": lambda: "a name made of letters",
        "tuple_type": lambda: _list_at(section, first["loc"]),
        "too_long": lambda: f"a list of {context['max_length']} values",
    }
    more = len(error.errors()) - 1
    hint = f"({more} more problem{'s' if more > 1 else ''} in the same set.)" if more else ""
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return _unknown(section, first["loc"], field, first["input"], hint)
    if kind == "missing" and isinstance(first["loc"][-1], int):
        return InputError(field.rpartition(".")[0], first["input"], _list_at(section, first["loc"][:-1]), hint)
    if kind == "missing":
        return InputError(field, None, "given", hint)
    if kind in ("model_type", "dataclass_type", "dict_type"):
        known = ", ".join(_names_at(section, first["loc"]))
        return InputError(field, first["input"], f"a mapping of names to values{f' ({known})' if known else ''}", hint)
    if kind == "value_error":
        return RejectedError(f"{field}: {context.get('error', first['msg'])}. {hint}".strip(), field=field)
    allowed = words.get(kind, lambda: first["msg"][0].lower() + first["msg"][1:])()
    return InputError(field, first["input"], allowed, hint)


def parse_assignment(text: str) -> tuple[str, Any]:
    """Split ``name=value`` from a command line; the value is a number, a list ``1,2,3``, a flag or a word."""
    name, equals, raw = text.partition("=")
    if not equals or not name or not raw:
        raise InputError("--set", text, "of the form name=value, for example admittance.stiffness=200")
    return name.strip(), parse_value(raw.strip())


def parse_value(raw: str) -> Any:
    """A value as written on a command line: a number, numbers with commas, a flag or a word."""
    if "," in raw:
        return tuple(parse_value(part.strip()) for part in raw.strip("[]() ").split(","))
    if raw.lower() in ("true", "yes", "on", "false", "no", "off"):
        return raw.lower() in ("true", "yes", "on")
    for convert in (int, float):
        try:
            return convert(raw)
        except ValueError:
            continue
    return raw
