"""`--set name=value`: control parameters. For any other task field, the error names the place to set it."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from pliant.control.parameters import Parameters
from pliant.errors import RejectedError, UnknownNameError
from pliant.params.declare import changed, declared, parse_assignment
from pliant.task.schema import Task

# Fields of a task that `pliant run` has an option for.
_OPTIONS = {"robot": "--robot", "rate_hz": "--rate", "duration_s": "--duration", "sim.seed": "--seed"}


def assigned(parameters: Parameters, assignments: list[str], law: str = "") -> Parameters:
    """The parameters with these ``name=value`` assignments applied; for an unknown name, those of `law` come first."""
    values = dict(parse_assignment(text) for text in assignments)
    for name, value in values.items():
        must_be_parameter(name, value, type(parameters))
    return changed(parameters, values, law=law)


def must_be_parameter(name: str, value: Any, kind: type[Parameters] = Parameters) -> None:
    """Raise if the name is a task field but not a control parameter; the error names the place to set it."""
    if name in {item.name for item in declared(kind)}:
        return
    bare = name.removeprefix("params.")
    if bare != name:
        raise RejectedError(f"{name}: leave out the prefix params. here. Use {bare}.", field=name, value=value)
    path = name.split(".")
    if path[0] not in Task.model_fields:
        return  # not a task field: setting it reports the known names
    fields, at = _fields(Task), ""
    for part in path:
        if part not in fields:
            raise UnknownNameError("task field", name, [f"{at}{field}" for field in fields])
        fields, at = _fields(fields[part]), f"{at}{part}."
        if not fields:  # a value, or a list: nothing in it can be named
            break
    where = _place(path, at[:-1].split("."), value, whole=not fields)
    raise RejectedError(f"{name} is not a control parameter: {where}.", field=name, value=value)


def _place(path: list[str], known: list[str], value: Any, *, whole: bool) -> str:
    """Where a field belongs; `known` of its path is declared, and `whole` if what is there is no section."""
    if option := _OPTIONS.get(".".join(known)):
        return f"set it with pliant run {option} or in the task file"
    if path != known or not whole:
        return f"set all of {'.'.join(known)} in the task file and restart"
    under = "".join(f"{part}: " for part in path[:-1])
    line = f"{path[-1]}: {_as_yaml(value)}"
    return f"write {line} {f'under {under.strip()} ' if under else ''}in the task file and restart"


def _fields(kind: Any) -> dict[str, Any]:
    """The fields of a section, or of a plain dataclass, with their types; none of what is no section."""
    if type(None) in get_args(kind):
        return _fields(get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return get_type_hints(kind) if is_dataclass(kind) else {}


def _as_yaml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(str(part) for part in value)}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
