"""How parameters are declared.

A `Section` is a pydantic model whose fields are made by `param(...)`. The validation and its messages, the record that
the kernels read, the reference page and the command line's ``--set`` all follow from this declaration.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticKnownError

from pliant import records
from pliant.errors import InputError, RejectedError, UnknownNameError, did_you_mean, said

_MOST = float(np.finfo(float).max)


class Section(BaseModel):
    """A group of parameters. An unknown name is an error. A section is immutable: a change makes a new set."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    all_names: ClassVar[str] = "List all: docs/reference/parameters.md."
    """Where to find the names of all parameters, for messages."""

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


def changed(section: Section, values: dict[str, Any], *, live_only: bool = False, law: str = "") -> Any:
    """A new set with the dotted `values` applied, validated as a whole; the old one stays as it is.

    A single number for a list of numbers sets all of them. `live_only` rejects parameters that are not live. For an
    unknown name, those of `law` are suggested first.
    """
    known = {item.name: item for item in declared(type(section))}
    data, fixed = section.model_dump(), {}
    for dotted, value in values.items():
        if dotted not in known:
            raise UnknownNameError("parameter", dotted, known, first=law, all_names=section.all_names)
        if live_only and not known[dotted].live:
            fixed[dotted] = value
        *path, last = dotted.split(".")
        node = data
        for part in path:
            node = node[part]
        number = isinstance(value, Real) and not isinstance(value, bool)
        is_list = isinstance(node[last], tuple) and not isinstance((*node[last], None)[0], tuple)
        node[last] = (value,) * len(node[last]) if is_list and number else value
    late = "It cannot change while the loop runs."
    try:
        made = validated(type(section), data)
    except InputError as error:  # a wrong value first: it would be wrong before the start too
        if not any(error.field == name or error.field.startswith(f"{name}.") for name in fixed):
            raise
        raise InputError(error.field, error.value, error.allowed, late, unit=error.unit) from None
    for dotted, value in fixed.items():
        sentence = f"{dotted} cannot be changed to {said(value)} while the loop runs. Set it before the start."
        raise RejectedError(sentence, field=dotted, value=value)
    return made


def validated(section: type[Section], data: Any, where: str = "") -> Any:
    """Build a section from plain data, or raise one `InputError` with field, value and what is allowed.

    `where` is the file that the data are from.
    """
    try:
        return section.model_validate(data)
    except ValidationError as error:
        raise _readable(section, error, data, where) from None
    except InputError as error:  # of a part that checks itself, such as a tool
        if not where or error.where or not error.allowed:
            raise
        raise InputError(error.field, error.value, error.allowed, error.hint, unit=error.unit, where=where) from None


Place = tuple[int | str, ...]


def _inner(kind: Any) -> Any:
    """A type without its annotations, and without None."""
    parts = [part for part in typing.get_args(kind) if part not in (Ellipsis, type(None))]
    if (parts and typing.get_origin(kind) is Annotated) or type(None) in typing.get_args(kind):
        return _inner(parts[0])
    return kind


def _fields_of(kind: Any) -> dict[str, Any]:
    """The fields of a section or of a plain dataclass, with their types; empty for any other type."""
    if isinstance(kind, type) and issubclass(kind, Section):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return typing.get_type_hints(kind) if isinstance(kind, type) and is_dataclass(kind) else {}


def _kind_at(kind: Any, place: Place) -> Any:
    """The type that is declared at a place of a section; None where nothing is."""
    kind = _inner(kind)
    if not place:
        return kind
    if typing.get_origin(kind) is tuple:
        return _kind_at(typing.get_args(kind)[0], place[1:])
    inside = _fields_of(kind)
    return _kind_at(inside[str(place[0])], place[1:]) if place[0] in inside else None


class _Leaf(typing.NamedTuple):
    """The parameter that a place belongs to: its place, its type, its bounds and its unit."""

    place: Place
    kind: Any
    metadata: list[Any]
    unit: str

    @property
    def is_matrix(self) -> bool:
        return typing.get_origin(self.kind) is tuple and typing.get_origin(typing.get_args(self.kind)[0]) is tuple

    @property
    def single_unit(self) -> str:
        """The unit of one number; "" if the parts of a list have different units."""
        return "" if ", " in self.unit else self.unit


def _leaf(section: type[Section], place: Place) -> _Leaf:
    """The parameter at a place, or that an item of a list at this place belongs to."""
    kind, metadata, unit = section, [], ""
    for at, part in enumerate(place):
        if isinstance(part, int) and _fields_of(_kind_at(kind, (part,))):
            kind = _kind_at(kind, (part,))
            continue
        inside = _fields_of(kind)
        if part not in inside:
            return _Leaf(place[:at], kind, metadata, unit)
        if isinstance(kind, type) and issubclass(kind, Section):
            field = kind.model_fields[str(part)]
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            metadata, unit = list(field.metadata), str(extra.get("unit", ""))
        else:
            metadata, unit = [], _unit_of(str(part))
        kind = _inner(inside[str(part)])
    return _Leaf(place, kind, metadata, unit)


def _unit_of(name: str) -> str:
    """The unit that the name of a field ends with."""
    return next((unit for end, unit in (("_kg_m2", "kg m²"), ("_m", "m"), ("_kg", "kg")) if name.endswith(end)), "")


def _list_words(leaf: _Leaf) -> str:
    """What a list must consist of, in words."""
    parts = typing.get_args(leaf.kind)
    if leaf.is_matrix:
        return MATRIX
    if parts and _fields_of(_inner(parts[0])):
        return "a list of mappings"
    unit = f" [{leaf.unit}]" if leaf.unit else ""
    if not parts or parts[-1] is Ellipsis:
        return "a list of texts" if parts and parts[0] is str else f"a list of numbers{unit}"
    if parts[0] is bool:
        return f"{len(parts)} values, each true or false"
    if leaf.unit == "N, N m" and len(parts) == 6:
        return "6 numbers: force [N], then moment [N m]"
    return f"{len(parts)} numbers{': w, x, y, z' if str(leaf.place[-1]).endswith('_quat') else unit}"


MATRIX = "one number, six numbers (a diagonal) or six rows of six numbers, without units"


def _range_words(metadata: list[Any], unit: str) -> str:
    """Bounds in words, with their unit; "" if there are none."""
    of: dict[type, Any] = {}
    for item in metadata:
        for kind in (Ge, Gt, Le, Lt):
            if isinstance(item, kind):
                of[kind] = said(getattr(item, kind.__name__.lower()))
    end = f" {unit}" if unit else ""
    if Ge in of and Le in of:
        return f"{of[Ge]} to {of[Le]}{end}"
    low = f"at least {of[Ge]}" if Ge in of else f"greater than {of[Gt]}" if Gt in of else ""
    high = f"at most {of[Le]}" if Le in of else f"less than {of[Lt]}" if Lt in of else ""
    return f"{' and '.join(part for part in (low, high) if part)}{end}" if low or high else ""


def _choices(kind: Any) -> str:
    """The choices of a parameter, in words."""
    words = [repr(choice) for choice in typing.get_args(kind) if choice != ""]
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _value_at(data: Any, place: Place) -> Any:
    """The value that was given at a place of plain data."""
    for part in place:
        try:
            data = data[part]
        except (LookupError, TypeError):
            data = getattr(data, str(part), None)
    return data


def _number_words(what: str, bounds: str) -> str:
    join = " " if bounds.startswith(("greater", "less", "at")) else " from "
    return f"{what}{join}{bounds}" if bounds else what


def _readable(section: type[Section], error: ValidationError, data: Any, where: str) -> InputError:
    """The first complaint of pydantic, in the words of a person."""
    errors = error.errors(include_url=False)
    first, place = errors[0], errors[0]["loc"]
    leaf = _leaf(section, place)
    more = len({_leaf(section, one["loc"]).place if one["type"] not in _UNKNOWN else one["loc"] for one in errors}) - 1
    hint = f"({more} more problem{'s' if more > 1 else ''} in {where or 'the values given'}.)" if more else ""
    field = ".".join(str(part) for part in place) or "the value"
    kind, context = first["type"], first.get("ctx", {})
    if kind in _UNKNOWN:
        return _unknown(section, place, first["input"], hint, where)
    if kind == "missing" and len(leaf.place) == len(place):
        sentence = f"the entry {field} is missing. {hint}".strip()
        return RejectedError(f"{where}: {sentence}" if where else f"{sentence[0].upper()}{sentence[1:]}", field=field)
    if kind == "invalid_key":
        sentence = f"The name of the entry {field} must be text. {hint}".strip()
        return RejectedError(f"{f'{where}: ' if where else ''}{sentence}", field=field)
    if kind == "value_error":
        problem = context.get("error")
        if isinstance(problem, InputError) and problem.allowed:
            return InputError(field, problem.value, problem.allowed, hint, unit=problem.unit, where=where)
        sentence = f"{field}: {problem or first['msg']}".rstrip(".")
        return RejectedError(f"{f'{where}: ' if where else ''}{sentence}. {hint}".strip(), field=field)
    value, unit = first["input"], leaf.single_unit
    if leaf.is_matrix:
        field, value = ".".join(map(str, leaf.place)), _value_at(data, leaf.place)
        allowed = "finite" if kind == "finite_number" else first["msg"] if kind == "matrix" else MATRIX
    elif kind in ("missing", "tuple_type", "too_long"):
        field, value = ".".join(map(str, leaf.place)), _value_at(data, leaf.place)
        if kind == "too_long" and _fields_of(_kind_at(section, (*leaf.place, 0))):
            sentence = f"{field} has {len(value)} entries, but at most {context['max_length']} are allowed. {hint}"
            return RejectedError(f"{f'{where}: ' if where else ''}{sentence}".strip(), field=field, value=value)
        allowed = _list_words(leaf)
    elif kind in ("model_type", "dataclass_type", "dict_type"):
        known = ", ".join(_fields_of(_kind_at(section, place)))
        allowed = f"a mapping of names to values{f' ({known})' if known else ''}"
    elif kind in _WORDS:
        allowed = _WORDS[kind]
    elif kind == "literal_error":
        allowed = _choices(leaf.kind)
    else:
        metadata = list(leaf.metadata)
        if typing.get_origin(leaf.kind) is tuple and typing.get_origin(typing.get_args(leaf.kind)[0]) is Annotated:
            metadata += typing.get_args(typing.get_args(leaf.kind)[0])[1].metadata
        bounds = _range_words(metadata, unit)
        allowed = _NUMBERS.get(kind, "")
        if allowed:
            allowed = _number_words(allowed, bounds)
        elif kind in _BOUNDS and bounds:
            allowed = bounds
        else:
            allowed = first["msg"][0].lower() + first["msg"][1:]
    return InputError(field, value, allowed, hint, unit=unit, where=where)


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
_NUMBERS = {
    "finite_number": "a finite number",
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
}
_WORDS = {
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    "string_type": "text",
    "string_pattern_mismatch": "a name of letters, digits and _, with / between its parts",
}


def _unknown(section: type[Section], place: Place, value: Any, hint: str, where: str) -> InputError:
    """An entry that is not declared, with the name that was probably meant."""
    known = list(_fields_of(_kind_at(section, place[:-1])))
    words = did_you_mean(str(place[-1]), known, all_names=section.all_names) if known else ""
    field = ".".join(map(str, place))
    sentence = f"unknown entry {field!r}.{words} {hint}".strip()
    start = f"{where}: {sentence}" if where else f"{sentence[0].upper()}{sentence[1:]}"
    return RejectedError(start, field=field, value=value)


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
