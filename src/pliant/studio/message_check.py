"""Checks data against a declared message. The first thing that is wrong is reported in one sentence."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from functools import lru_cache
from typing import Any, TypeVar

from pliant.errors import InputError, UnknownNameError, said
from pliant.studio.page_messages import Plain, Size

T = TypeVar("T")

_SCALARS: dict[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "text"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a finite number"),
    type(None): ((type(None),), "null"),
}


def checked(kind: type[T], data: dict[str, Any]) -> T:
    """The declared object that these fields make; raises if one is unknown, missing or wrong."""
    try:
        check(kind, data, "message")
    except RecursionError:
        raise InputError("message", "…", "a JSON object with fewer lists in lists") from None
    return kind(**data)


def check(kind: Any, value: Any, field: str) -> None:
    """Raise `InputError` unless a value fits a declared type; `field` is what the message calls it."""
    if dataclasses.is_dataclass(kind) or typing.is_typeddict(kind):
        _check_fields(kind, value, field)
    elif not _fits(kind, value):
        raise InputError(field, _short(value), _allowed(kind))


def _check_fields(kind: Any, value: Any, field: str) -> None:
    if dataclasses.is_dataclass(value) and type(value) is kind:  # a part that is declared as it is
        value = {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if not isinstance(value, dict):
        raise InputError(field, _short(value), "a JSON object")
    hints = _fields_of(kind)
    for name in value:
        if name not in hints:
            raise UnknownNameError("field", str(name)[:50], hints)
    for name, (hint, is_optional) in hints.items():
        if name in value:
            _check_deep(hint, value[name], name)
        elif not is_optional:
            raise InputError(name, None, _allowed(hint))


def _check_deep(kind: Any, value: Any, field: str) -> None:
    """Check the content of lists and dictionaries separately, so that the message names the field."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is list and isinstance(value, list) and _is_message(parts[0]):
        for item in value:
            check(parts[0], item, field)
    elif origin is dict and isinstance(value, dict) and _is_message(parts[1]):
        for item in value.values():
            check(parts[1], item, field)
    else:
        check(kind, value, field)


def _is_message(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)


@lru_cache
def _fields_of(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Every field with its type, and whether it may be left out."""
    declared = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    defaults = {item.name for item in declared if item.default is not dataclasses.MISSING}
    found: dict[str, tuple[Any, bool]] = {}
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        origin = typing.get_origin(hint)
        if origin is typing.NotRequired:
            found[name] = typing.get_args(hint)[0], True
        elif origin is not typing.ClassVar:
            found[name] = hint, name in defaults
    return found


def _fits(kind: Any, value: Any) -> bool:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _fits_marked(parts, value)
    if origin is typing.Literal:
        return isinstance(value, str | bool) and value in parts
    if origin in (typing.Union, types.UnionType):
        return any(_fits(part, value) for part in parts)
    if origin is list or (origin is tuple and parts[-1] is Ellipsis):
        return isinstance(value, list | tuple) and all(_fits(parts[0], item) for item in value)
    if origin is tuple:
        return isinstance(value, list | tuple) and len(value) == len(parts) and all(map(_fits, parts, value))
    if origin is dict:
        return isinstance(value, dict) and all(_fits(parts[0], k) and _fits(parts[1], v) for k, v in value.items())
    if _is_message(kind):
        try:
            _check_fields(kind, value, "")
        except InputError:
            return False
        return True
    return type(value) in _SCALARS[kind][0] and _is_finite(value)


def _fits_marked(parts: tuple[Any, ...], value: Any) -> bool:
    kind, mark = parts[:2]
    if isinstance(mark, Plain):
        return _is_plain(value)
    if isinstance(mark, Size):
        return _fits(kind, value) and mark.least <= len(value) <= mark.most
    return _fits(kind, value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return value is None or (isinstance(value, str | bool | int | float) and _is_finite(value))


def _is_finite(value: Any) -> bool:
    """Whether a number is usable: finite, and not a whole number too large for a float."""
    if not isinstance(value, int | float):
        return True
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _allowed(kind: Any) -> str:
    """What a field may be, in words."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _allowed_marked(*parts[:2])
    if origin is typing.Literal:
        return " or ".join(str(part) for part in parts)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_allowed(part) for part in parts)
    if origin in (list, tuple):
        return f"a list of {_plural(parts[0])}"
    if origin is dict:
        return "a JSON object of parameter names and values"
    return "a JSON object" if _is_message(kind) else _SCALARS[kind][1]


def _allowed_marked(kind: Any, mark: Any) -> str:
    if isinstance(mark, Plain):
        return "a number, a flag, a text or a list of these"
    if not isinstance(mark, Size):
        return _allowed(kind)
    if typing.get_origin(kind) is dict:
        return _allowed(kind)
    if kind is str:
        return f"text of at most {mark.most} characters"
    between = " or " if mark.most == mark.least + 1 else " to "
    count = str(mark.most) if mark.least == mark.most else f"{mark.least}{between}{mark.most}"
    return f"a list of {count} {_plural(typing.get_args(kind)[0])}"


def _plural(kind: Any) -> str:
    if type(None) in typing.get_args(kind):
        return "finite numbers, or null to keep one"
    inner = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    return {float: "finite numbers", str: "texts"}.get(inner, "values")


def _short(value: Any) -> Any:
    """A value that a message can show; a number with hundreds of digits or a very deep list cannot be."""
    try:
        said(value)
    except (OverflowError, RecursionError):
        return "…"
    return value
