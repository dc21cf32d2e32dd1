"""Kernels in files from outside the package: their mistakes in one sentence, with file, line and the nearest name."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from numba.core.errors import NumbaError

from pliant.errors import InputError, RejectedError, did_you_mean, lowered, shortened
from pliant.kernel.dispatch import DISABLED
from pliant.params.declare import Section, validated
from pliant.params.plugin_files import PlacedError

COMPILE_ERRORS = (NumbaError, KeyError)
"""What compiling a kernel raises: Numba raises a KeyError for a field that a record does not have."""


class Argument(NamedTuple):
    """An argument of a kernel, for messages."""

    name: str
    """How the documentation calls it."""
    owner: str = ""
    """Whose fields these are; "" for an argument that is no record."""
    what: str = "field"
    """What they are."""
    fields: tuple[str, ...] = ()
    """Their names."""


class Outside(NamedTuple):
    """A user's function that a kernel of Pliant calls."""

    what: str
    """What it is of, such as "law damper_wall"."""
    function: Any
    arguments: tuple[Argument, ...]


def python_function(function: Any) -> Any:
    """The Python function that a kernel was made from."""
    return getattr(function, "py_func", function)


def check_function(outside: Outside) -> None:
    """Raise unless a user's function is compiled and takes the right number of arguments."""
    function, names = python_function(outside.function), [one.name for one in outside.arguments]
    code = getattr(function, "__code__", None)
    if code is None:
        raise InputError(f"a function of the {outside.what}", repr(function), f"a function of ({', '.join(names)})")
    if function is outside.function and not DISABLED:
        raise PlacedError(f"{_place(code)}: {code.co_name} must be decorated with @pliant.compiled.")
    taken = code.co_varnames[: code.co_argcount]
    if len(taken) != len(names):
        given, needed = ", ".join(taken), ", ".join(names)
        raise PlacedError(f"{_place(code)}: {code.co_name} takes ({given}), but it must take ({needed}).")


def check_defaults(params: type[Section]) -> None:
    """Raise for a default that the bounds of its own parameter do not allow."""
    given = {name: field.default for name, field in params.model_fields.items() if not field.is_required()}
    for name, value in given.items():
        try:
            validated(params, {name: value})
        except InputError as error:
            if error.field.partition("[")[0] == name and error.allowed:
                text = str(InputError(f"the default of {error.field}", error.value, error.allowed, unit=error.unit))
                raise RejectedError(text, field=name, value=value) from None


def class_name(value: Any) -> Any:
    """The name of a class, for messages; any other value unchanged."""
    return value.__name__ if isinstance(value, type) else value


def compile_error(outside: Outside, error: Exception) -> RejectedError:
    """The error for a user's function that cannot be compiled: the place, the reason, and the nearest name."""
    code = python_function(outside.function).__code__
    path, text = Path(code.co_filename), str(error)
    missing = error.args[0] if isinstance(error, KeyError) else _after("Unknown attribute '", text)
    if missing and (sentence := _missing(outside, path, code, str(missing))):
        return PlacedError(sentence, field=outside.what)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    why = next((line for line in lines if not line.startswith(("Failed in", "During:", "File "))), lines[0])
    number = next(
        (n for file, n in re.findall(r'File "([^"]+)", line (\d+)', text) if Path(file).name == path.name), ""
    )
    place = f"{path.name}:{number}" if number else path.name
    why = lowered(shortened(why)).rstrip(".:")
    return PlacedError(f"{place}: the {outside.what} cannot be compiled: {why}.", field=outside.what)


def _after(start: str, text: str) -> str:
    return text.partition(start)[2].partition("'")[0]


def _place(code: Any) -> str:
    """File and line of a function: that of its `def`, not of its decorators."""
    line = code.co_firstlineno
    for number in range(line, line + 10):
        if linecache.getline(code.co_filename, number).lstrip().startswith("def "):
            line = number
            break
    return f"{Path(code.co_filename).name}:{line}"


def _missing(outside: Outside, path: Path, code: Any, name: str) -> str:
    """The sentence about a field that an argument does not have; "" if the source does not show which argument."""
    own = dict(zip(code.co_varnames[: code.co_argcount], outside.arguments, strict=False))
    usual = {one.name: one for one in outside.arguments}
    for function, node in _attributes(path, name):
        argument = (own if function == code.co_name else usual).get(node.value.id)  # type: ignore[attr-defined]
        if argument is not None and argument.owner and name not in argument.fields:
            words = did_you_mean(name, argument.fields)
            return f"{path.name}:{node.lineno}: {argument.owner} has no {argument.what} {name!r}.{words}"
    return ""


def _attributes(path: Path, name: str) -> Iterator[tuple[str, ast.Attribute]]:
    """Every place in a file where a variable's field with this name is used, and the function that it is in."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeError):
        return
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Name):
                    yield function.name, node


def raised_in(function: Any) -> tuple[str, ...]:
    """What the compiled functions in the file of a user's function raise, with their lines."""
    code = python_function(function).__code__
    try:
        tree = ast.parse(Path(code.co_filename).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeError):
        return ()
    compiled = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any("compiled" in ast.unparse(one) for one in node.decorator_list)
    ]
    file = Path(code.co_filename).name
    return tuple(
        f"{ast.unparse(node.exc)} ({file}:{node.lineno})"
        for function_node in compiled
        for node in ast.walk(function_node)
        if isinstance(node, ast.Raise) and node.exc is not None
    )
