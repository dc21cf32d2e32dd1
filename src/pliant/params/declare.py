"""How parameters are declared.

A `Section` is a pydantic model whose fields are made by `param(...)`. The validation and its messages, the record that
the kernels read, the reference page and the command line's ``--set`` all follow from this declaration.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from pliant import records
from pliant.errors import InputError, RejectedError, UnknownNameError, said
from pliant.params.strict_values import check_strict
from pliant.params.validation_errors import number_bounds, readable

_MOST = float(np.finfo(float).max)


class Section(BaseModel):
    """A group of parameters. An unknown name is an error. A section is immutable: a change makes a new set."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
    """Unknown names, changes in place, and numbers that are not finite are errors."""

    all_names: ClassVar[str] = "To list all, see docs/reference/parameters.md."
    """Where to find the names of all parameters, for messages."""

    derived: ClassVar[tuple[str, ...]] = ()
    """Fields that follow from others, or that Pliant fills in: messages do not offer them."""

    also_called: ClassVar[dict[str, str]] = {}
    """Names that users may try, or that older versions had, and what to use instead: messages offer that."""

    def __setattr__(self, name: str, value: Any) -> None:
        """A section is immutable; the error shows how to make a changed copy."""
        if name not in type(self).model_fields:
            super().__setattr__(name, value)
            return
        copy = (
            f"Use task.replace({name}={said(value)})."
            if hasattr(self, "replace")
            else (f"Make a changed task: task.replace({{'….{name}': {said(value)}}}).")
        )
        sentence = f"{name} cannot be changed in place: {type(self).__name__} is immutable. {copy}"
        raise RejectedError(sentence, field=name, value=value)

    @field_validator("*", mode="before")
    @classmethod
    def _text_and_flags_are_no_numbers(cls, value: Any, info: ValidationInfo) -> Any:
        name = str(info.field_name)
        check_strict(name, cls.model_fields[name].annotation, value)
        return value


Positive = Annotated[float, Field(gt=0)]
Flag6 = tuple[bool, bool, bool, bool, bool, bool]
NotNegative = Annotated[float, Field(ge=0)]
Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]
Matrix = tuple[Six, Six, Six, Six, Six, Six]
SixPositive = tuple[Positive, Positive, Positive, Positive, Positive, Positive]


def param(
    default: Any,
    *,
    unit: str = "",
    live: bool = False,
    help: str,  # noqa: A002 (the word a reader expects)
    scale: Literal["", "linear", "log"] = "",
    **bounds: Any,
) -> Any:
    """Declare a parameter: default, unit, whether it may change while the loop runs, one sentence of help, bounds.

    The default `...` makes it required. `scale` is that of its slider in the Studio: linear, log, or chosen from the
    bounds.
    """
    extra = {"unit": unit, "live": live, **({"scale": scale} if scale else {})}
    return Field(default, description=help, json_schema_extra=extra, **bounds)


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
    required: bool = False
    """Whether it must be given: it has no default."""
    scale: str = ""
    """Scale of its slider: linear, log, or "" to choose it from the bounds."""


@cache
def declared(section: type[Section]) -> tuple[Declared, ...]:
    """Every parameter under `section`, by dotted name."""
    return tuple(_declared(section, ""))


@cache
def _by_name(section: type[Section]) -> dict[str, Declared]:
    return {item.name: item for item in declared(section)}


def _declared(section: type[Section], prefix: str) -> Iterator[Declared]:
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from _declared(kind, f"{prefix}{name}.")
            continue
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        yield Declared(
            name=prefix + name,
            type=_type_name(kind),
            default=None if field.is_required() else field.get_default(call_default_factory=True),
            unit=str(extra.get("unit", "")),
            bounds=_bounds(field.metadata) or _element_bounds(kind),
            required=field.is_required(),
            live=bool(extra.get("live", False)),
            help=field.description or "",
            scale=str(extra.get("scale", "")),
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
    bounds = _bounds(number_bounds(kind, []))
    return f"each {bounds}" if bounds else ""


# ---- the record that kernels read ----------------------------------------------------------------------------------


@cache
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
            fields.append(records.Field(name, unit, text, shape_of(kind)))
        else:
            fields.append(records.Field(name, unit, text, kind="f8" if kind is float else "i8"))
    return records.Layout(section.__name__, tuple(fields))


def shape_of(kind: Any) -> tuple[int, ...]:
    """Shape of the array that holds a tuple of numbers, or a tuple of such tuples."""
    parts = typing.get_args(kind)
    return (len(parts), *shape_of(parts[0])) if typing.get_origin(kind) is tuple else ()


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
    least, most = -_MOST, _MOST
    for item in number_bounds(field.annotation, field.metadata):
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


class _Branch(dict[str, Any]):
    """Changes of a section, by name; those of a section within it are a branch again."""


def changed(section: Section, values: dict[str, Any], *, live_only: bool = False, law: str = "") -> Any:
    """A new set with the dotted `values` applied and validated; the old one stays as it is.

    A single number for a list of numbers sets all of them. `live_only` rejects parameters that are not live. For an
    unknown name, those of `law` are suggested first.
    """
    known = _by_name(type(section))
    fixed: dict[str, Any] = {}
    spread: set[str] = set()
    tree = _Branch()
    for dotted, value in values.items():
        if dotted not in known:
            raise UnknownNameError("parameter", dotted, known, first=law, all_names=section.all_names)
        if live_only and not known[dotted].live:
            fixed[dotted] = value
        *path, last = dotted.split(".")
        node, branch = section, tree
        for part in path:
            node, branch = getattr(node, part), branch.setdefault(part, _Branch())
        now = getattr(node, last)
        number = isinstance(value, Real) and not isinstance(value, bool)
        is_list = isinstance(now, tuple) and not isinstance((*now, None)[0], tuple)
        branch[last] = (value,) * len(now) if is_list and number else value
        if is_list and number:
            spread.add(dotted)
    try:
        made = _rebuilt(section, tree)
    except ValidationError:
        made = _validated_as_a_whole(section, tree, fixed, spread)
    for dotted, value in fixed.items():
        sentence = f"{dotted} cannot be changed to {said(value)} while the loop runs. Set it before the start."
        raise RejectedError(sentence, field=dotted, value=value)
    return made


def _rebuilt(section: Section, tree: _Branch) -> Any:
    """The section with these changes; what has not changed is not validated again."""
    inner = {name: _rebuilt(getattr(section, name), it) for name, it in tree.items() if isinstance(it, _Branch)}
    if len(inner) == len(tree):
        return section.model_copy(update=inner)
    return type(section).model_validate({**section.__dict__, **tree, **inner})


def _validated_as_a_whole(section: Section, tree: _Branch, fixed: dict[str, Any], spread: set[str]) -> Any:
    """Validate a set with a wrong value, for an error with its full name."""
    data = _overlaid(section.model_dump(), tree)
    try:
        return validated(type(section), data)
    except InputError as error:  # a wrong value first: it would be wrong before the start too
        name = error.field.partition("[")[0]
        if re.match(r"\d+ numbers", error.allowed) and not spread:
            error.allowed = f"one number for all of them, or {error.allowed}"
        elif not error.allowed or (name not in fixed and name not in spread):
            raise
        hint = "It cannot change while the loop runs." if name in fixed else error.hint
        field = name if name in spread else error.field
        found = InputError(field, error.value, error.allowed, hint, unit=error.unit)
        raise found.with_others(error.others) from None


def _overlaid(data: dict[str, Any], tree: _Branch) -> dict[str, Any]:
    return data | {name: _overlaid(data[name], it) if isinstance(it, _Branch) else it for name, it in tree.items()}


def value_at(section: Section, dotted: str) -> Any:
    """The value of a parameter, by its dotted name; None for an unknown name."""
    value: Any = section
    for part in dotted.split("."):
        value = getattr(value, part, None)
    return value


def validated(section: type[Section], data: Any, where: str = "") -> Any:
    """Build a section from plain data, or raise one `InputError` with field, value and what is allowed.

    `where` is the file that the data are from.
    """
    try:
        return section.model_validate(data)
    except ValidationError as error:
        raise readable(section, error, data, where) from None
    except InputError as error:  # of a part that checks itself, such as a tool
        raise error.at(where) from None


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
