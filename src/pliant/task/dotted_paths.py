"""Values of a task by dotted names: ``sim.seed``, ``contact.target_n``, ``sim.surfaces.0.stiffness_n_m``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

from pliant.errors import InputError, RejectedError, UnknownNameError, said
from pliant.params.declare import Section, validated

_PARAMETERS = "params"
_DERIVED = ("own_robot", "own_laws", "notes")  # they follow from other values


def merged(changes: Mapping[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    """The changes that were given as a mapping, and those that were given as keywords."""
    if changes is not None and not isinstance(changes, Mapping):
        raise InputError("changes", changes, "a mapping of names to values, such as {'sim.seed': 3}")
    for name in (changes or {}).keys() & more.keys():
        sentence = f"{name} is given twice: {said((changes or {})[name])} and {said(more[name])}. Remove one."
        raise RejectedError(sentence, field=name, value=more[name])
    return {**(changes or {}), **more}


def replaced(task: Section, changes: dict[str, Any], kind: type[Section]) -> Any:
    """The task as `kind`, with these values by dotted names; validated as a whole."""
    data = _plain(task.model_dump())
    for name, value in changes.items():
        if not isinstance(name, str):
            raise InputError("the name of a value", name, "text, such as 'sim.seed'")
        path = name.split(".")
        if path[0] not in data and path[0] in data[_PARAMETERS]:
            path = [_PARAMETERS, *path]
        _put(data, path, value, name)
    try:
        return validated(kind, data)
    except InputError as error:
        if not any(name.startswith(_PARAMETERS) for name in changes):  # names as they were given
            error.args = (str(error).replace(f"{_PARAMETERS}.", ""),)
            error.field = error.field.removeprefix(f"{_PARAMETERS}.")
        raise


def _plain(data: Any) -> Any:
    """The same data with lists for tuples, so that one entry can be replaced."""
    if isinstance(data, dict):
        return {name: _plain(value) for name, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, list | tuple) else data


def _put(data: dict[str, Any], path: list[str], value: Any, name: str) -> None:
    node: Any = data
    *inner, last = path
    for part in inner:
        node = node[_key(node, part, name, data)]
    key = _key(node, last, name, data)
    now = node[key]
    number = isinstance(value, Real) and not isinstance(value, bool)
    is_row = isinstance(now, list) and len(now) > 0 and all(isinstance(one, Real) for one in now)
    node[key] = [value] * len(now) if is_row and number else value


def _key(node: Any, part: str, name: str, data: dict[str, Any]) -> Any:
    """The key of a part of a path, as the node has it; raises for an unknown name."""
    if isinstance(node, dict) and part in node:
        return part
    if isinstance(node, list) and part.isdigit() and int(part) < len(node):
        return int(part)
    known = [one for one in _names(data) if not one.startswith(_DERIVED)]
    raise UnknownNameError("name", name, known, first=str(data.get("law", "")), all_names=Section.all_names)


def _names(data: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """The dotted names of all values; those of parameters without `params`."""
    for name, value in data.items():
        inner = "" if not prefix and name == _PARAMETERS else f"{prefix}{name}."
        if isinstance(value, dict) and value:
            yield from _names(value, inner or "")
        else:
            yield f"{prefix}{name}"
