"""The errors of a validation in words: field, value, what is allowed, and the unit, from the declarations."""

from __future__ import annotations

import typing
from dataclasses import is_dataclass
from typing import Annotated, Any

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError

from pliant.errors import InputError, PliantError, RejectedError, did_you_mean, lowered, nearest, said

Place = tuple[int | str, ...]


def _inner(kind: Any) -> Any:
    """A type without its annotations, and without None."""
    parts = [part for part in typing.get_args(kind) if part not in (Ellipsis, type(None))]
    if (parts and typing.get_origin(kind) is Annotated) or type(None) in typing.get_args(kind):
        return _inner(parts[0])
    return kind


def _fields_of(kind: Any) -> dict[str, Any]:
    """The fields of a section or of a plain dataclass, with their types; empty for any other type."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return typing.get_type_hints(kind) if isinstance(kind, type) and is_dataclass(kind) else {}


def _of_kind(kind: Any, value: Any) -> Any:
    """The class of a section with this content: its `kind` may decide which fields it has (see `kinds`)."""
    choose = getattr(kind, "class_for", None)
    try:
        return kind if choose is None else choose(value)
    except PliantError:
        return kind


def _kind_at(kind: Any, place: Place, data: Any) -> Any:
    """The type that is declared at a place of a section with the content `data`; None where nothing is."""
    kind = _of_kind(_inner(kind), data)
    if not place:
        return kind
    value = _value_at(data, place[:1])
    if typing.get_origin(kind) is tuple:
        return _kind_at(typing.get_args(kind)[0], place[1:], value)
    inside = _fields_of(kind)
    return _kind_at(inside[str(place[0])], place[1:], value) if place[0] in inside else None


class _Leaf(typing.NamedTuple):
    """The parameter that a place belongs to: its place, its type, its bounds and its unit."""

    place: Place
    kind: Any
    metadata: list[Any]
    unit: str

    @property
    def is_matrix(self) -> bool:
        return typing.get_origin(self.kind) is tuple and typing.get_origin(typing.get_args(self.kind)[0]) is tuple

    def unit_at(self, place: Place) -> str:
        """The unit of the number at a place; "" for a list whose parts have different units."""
        units, index = self.unit.split(", "), place[len(self.place) :]
        if len(units) > 1 and len(index) == 1 and isinstance(index[0], int):
            return units[index[0] * len(units) // len(typing.get_args(self.kind))]
        return self.unit if len(units) == 1 else ""


def _leaf(section: type[BaseModel], place: Place, data: Any) -> _Leaf:
    """The parameter at a place, or that an item of a list at this place belongs to."""
    kind: Any = _of_kind(section, data)
    metadata: list[Any] = []
    unit = ""
    for at, part in enumerate(place):
        within, data = data, _value_at(data, (part,))
        if isinstance(part, int) and _fields_of(_kind_at(kind, (part,), within)):
            kind = _kind_at(kind, (part,), within)
            continue
        inside = _fields_of(kind)
        if part not in inside:
            return _Leaf(place[:at], kind, metadata, unit)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            field = kind.model_fields[str(part)]
            extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
            metadata, unit = list(field.metadata), str(extra.get("unit", ""))
        else:
            metadata, unit = [], _unit_of(str(part))
        kind = _of_kind(_inner(inside[str(part)]), data)
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
        return "a list of strings" if parts and parts[0] is str else f"a list of numbers{unit}"
    if parts[0] is bool:
        return f"{len(parts)} values, each true or false"
    if leaf.unit == "N, N m" and len(parts) == 6:
        return "6 numbers: force [N], then moment [N m]"
    return f"{len(parts)} numbers{': w, x, y, z' if str(leaf.place[-1]).endswith('_quat') else unit}"


MATRIX = "one number, six numbers (the diagonal) or six rows of six numbers"

# Of more unknown entries than this, only the first ones are named.
_MOST_UNKNOWN = 3


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


def readable(section: type[BaseModel], error: ValidationError, data: Any, where: str) -> InputError:
    """All complaints of pydantic about `data`, in the words of a person; `where` is the file, if there is one."""
    errors: dict[tuple[bool, Place], list[Any]] = {}
    for one in _in_order(error.errors(include_url=False)):  # one complaint about each place
        errors.setdefault((one["type"] in _UNKNOWN, _place(section, one, data)), []).append(one)
    first, *others = (
        _unknown(section, ones, data) if unknown else _complaint(section, ones[0], data)
        for (unknown, _), ones in errors.items()
    )
    return first.with_others(others).at(where)


def _unknown(section: type[BaseModel], errors: list[Any], data: Any) -> InputError:
    """The complaint about unknown entries of one section: each with the name that was probably meant."""
    place = errors[0]["loc"][:-1]
    where, kind = _dotted(place), _kind_at(section, place, data)
    names, known = [str(one["loc"][-1]) for one in errors], _known(kind)
    places = [f"{where}.{name}" if where else name for name in names]
    if len(names) == 1:
        more = getattr(section, "all_names", "")
        if instead := _instead(kind, names[0], data if not place else None):
            return RejectedError(f"Unknown entry {places[0]!r}. {instead}", field=places[0], value=errors[0]["input"])
        words = did_you_mean(names[0], known, all_names=more, within=where) if known else ""
        return RejectedError(f"Unknown entry {places[0]!r}.{words}", field=places[0], value=errors[0]["input"])
    shown = names[:_MOST_UNKNOWN]
    meant = [f" (did you mean {near!r}?)" if (near := nearest(name, known)) else "" for name in shown]
    listed = [f"{place!r}{words}" for place, words in zip(places, meant, strict=False)]
    if (rest := len(names) - _MOST_UNKNOWN) > 0:
        listed = [*listed, f"{rest} more"]
    end = f"{', '.join(listed[:-1])} and {listed[-1]}"
    sentence = f"Unknown entries: {end}. Known{f' in {where}' if where else ''}: {', '.join(known) or 'none'}."
    return RejectedError(sentence, field=places[0], value=errors[0]["input"])


def _instead(kind: Any, name: str, data: Any) -> str:
    """What to write for an unknown entry that has another name, or that belongs elsewhere; "" if none is known.

    `data` is the content of the whole section, or None for a section within it.
    """
    if other := getattr(kind, "also_called", {}).get(name):
        return f"Use {other}." if " " in other else f"Use {other!r}."
    law = data.get("law") if isinstance(data, dict) else None
    ends = [path for path in _paths(kind) if f".{path}".endswith(f".{name}") and (path != name or "." in name)]
    if not ends or (nearest(name, _known(kind)) and "." not in name):
        return ""
    path = min(ends, key=lambda one: (f".{law}." not in f".{one}.", one.count("."), one)).split(".")
    nested = "…"
    for part in reversed(path[1:]):
        nested = f"{{{part!r}: {nested}}}"
    dotted = ".".join(path[1:] if path[0] == "params" else path)
    copy = f", or use task.replace({{'{dotted}': …}})" if hasattr(kind, "replace") and len(path) > 2 else ""
    return f"It belongs under {path[0]}: {path[0]}={nested}{copy}."


def _paths(kind: Any, start: str = "") -> list[str]:
    """The dotted names of all sections and values of a section, without those in lists."""
    found = list[str]()
    for name, inner in _fields_of(kind).items():
        if name not in getattr(kind, "derived", ()):
            found += [f"{start}{name}", *_paths(_inner(inner), f"{start}{name}.")]
    return found


def _known(kind: Any) -> list[str]:
    """The entries of a section that a user may give."""
    return [name for name in _fields_of(kind) if name not in getattr(kind, "derived", ())]


def _complaint(section: type[BaseModel], one: Any, data: Any) -> InputError:
    leaf = _leaf(section, one["loc"], data)
    if sentence := _sentence(section, one, leaf, data):
        return RejectedError(sentence, field=_dotted(one["loc"]), value=one["input"])
    problem = one.get("ctx", {}).get("error")
    if isinstance(problem, InputError):
        return InputError(_dotted(one["loc"]), problem.value, problem.allowed, unit=problem.unit)
    field, value = _dotted(one["loc"]) or "the value", one["input"]
    if leaf.is_matrix or one["type"] in _LISTS:
        field, value = _dotted(leaf.place), _value_at(data, leaf.place)
    return InputError(field, value, _allowed(section, one, leaf, data), unit=leaf.unit_at(one["loc"]))


def _in_order(errors: list[Any]) -> list[Any]:
    """The complaints, unknown entries first: a misspelt name explains why the right one is missing beside it."""
    unknown = [one for one in errors if one["type"] in _UNKNOWN]
    beside = {one["loc"][:-1] for one in unknown}
    explained = [one for one in errors if one["type"] == "missing" and one["loc"][:-1] in beside]
    return [*unknown, *(one for one in errors if one not in unknown and one not in explained)]


def _place(section: type[BaseModel], problem: Any, data: Any) -> Place:
    """Where a complaint belongs: to a parameter as a whole, or to the section that has an unknown entry."""
    return problem["loc"][:-1] if problem["type"] in _UNKNOWN else _leaf(section, problem["loc"], data).place


def _dotted(place: Place) -> str:
    """A place as messages show it: ``events[0].at_s``."""
    return "".join(f"[{p}]" if at and isinstance(p, int) else f".{p}" for at, p in enumerate(place)).removeprefix(".")


def _sentence(section: type[BaseModel], first: Any, leaf: _Leaf, data: Any) -> str:
    """The complaint as a sentence of its own, if it is not about a value and what is allowed; "" otherwise."""
    kind, place, context = first["type"], first["loc"], first.get("ctx", {})
    if kind == "missing" and len(leaf.place) == len(place):
        text = getattr(
            getattr(_kind_at(section, place[:-1], data), "model_fields", {}).get(place[-1]), "description", ""
        )
        return f"{_dotted(place)} is missing{f': {text}' if text else '.'}"
    if kind == "invalid_key":
        return f"The name of the entry {_dotted(place)} must be text."
    if kind == "too_long" and _fields_of(_kind_at(section, (*leaf.place, 0), data)):
        many = len(_value_at(data, leaf.place))
        return f"{_dotted(place)} has {many} entries, but at most {context['max_length']} are allowed."
    if kind == "asymmetric":
        return f"{_dotted(leaf.place)} {first['msg']}."
    problem = context.get("error")
    if kind == "value_error" and not (isinstance(problem, InputError) and problem.allowed):
        words = lowered(str(problem or first["msg"])).rstrip(".")
        return f"{_dotted(place)}{'.' if words.startswith('kind is ') else ': '}{words}."
    return ""


def _allowed(section: type[BaseModel], first: Any, leaf: _Leaf, data: Any) -> str:
    """What is allowed instead of the value that was complained about."""
    kind, message = first["type"], first["msg"]
    if leaf.is_matrix and kind not in _BOUNDS:
        return "finite" if kind == "finite_number" else message if kind == "matrix" else MATRIX
    if kind in _LISTS:
        return _list_words(leaf)
    if kind in ("model_type", "dataclass_type", "dict_type"):
        known = ", ".join(_known(_kind_at(section, first["loc"], data)))
        return f"a mapping of names to values{f' ({known})' if known else ''}"
    if kind == "literal_error":
        return _choices(leaf.kind)
    if leaf.is_matrix:
        return _matrix_words(number_bounds(leaf.kind, leaf.metadata), leaf.unit)
    bounds = _range_words(number_bounds(leaf.kind, leaf.metadata), leaf.unit_at(first["loc"]))
    if kind in _NUMBERS:
        return _number_words(_NUMBERS[kind], bounds)
    if kind in _BOUNDS and bounds:
        return bounds
    return _WORDS.get(kind) or message[0].lower() + message[1:]


def number_bounds(kind: Any, metadata: list[Any]) -> list[Any]:
    """The bounds of a parameter of this type, or of each of its numbers, whether it is a list or a matrix."""
    while typing.get_origin(kind) is tuple:
        kind = typing.get_args(kind)[0]
    return [*metadata, *(typing.get_args(kind)[1].metadata if typing.get_origin(kind) is Annotated else ())]


def _matrix_words(bounds: list[Any], unit: str) -> str:
    """The largest number of a matrix in words; its rows for translation and for rotation have different units."""
    most = next(said(item.le) for item in bounds if isinstance(item, Le))
    shift, turn = unit.split(", ")
    return f"at most {most} {shift} (translation) and {most} {turn} (rotation)"


_LISTS = ("missing", "tuple_type", "too_long")
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
    "string_too_short": "at least one character long",
    "string_pattern_mismatch": "a name of letters, digits and _, with / between its parts",
}
