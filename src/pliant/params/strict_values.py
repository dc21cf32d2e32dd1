"""Values that pydantic would convert without a word: a text or a flag that is given for a number."""

from __future__ import annotations

import typing
from dataclasses import fields, is_dataclass
from typing import Annotated, Any

from pydantic_core import PydanticKnownError

from pliant.errors import InputError


def check_strict(name: str, kind: Any, value: Any) -> None:
    """Raise for a text or a flag where a number is declared; what pydantic itself complains about is left to it."""
    kind = _inner(kind)
    if kind in (float, int) and isinstance(value, bool | str):
        raise PydanticKnownError("float_type" if kind is float else "int_type")
    if isinstance(value, list | tuple) and _holds_numbers(kind) and any(map(_converts, value)):
        raise PydanticKnownError("tuple_type")
    if isinstance(value, dict) and is_dataclass(kind):  # a plain dataclass has numbers and lists of numbers only
        for field in fields(kind):
            if isinstance(item := value.get(field.name), bool | str):
                raise InputError(f"{name}.{field.name}", item, "a number")


def _inner(kind: Any) -> Any:
    parts = typing.get_args(kind)
    if typing.get_origin(kind) is Annotated or type(None) in parts:
        return _inner(parts[0])
    return kind


def _holds_numbers(kind: Any) -> bool:
    """Whether a type is a list of numbers."""
    return typing.get_origin(kind) is tuple and _inner(typing.get_args(kind)[0]) in (float, int)


def _converts(value: Any) -> bool:
    """Whether pydantic would take a flag or a text for a number."""
    if not isinstance(value, str):
        return isinstance(value, bool)
    try:
        float(value)
    except ValueError:
        return False
    return True
