"""Objects from outside the package: from a Python file that a task names, or from an entry point of a package.

Laws, robots, surfaces and sensors are found this way. A file runs with the rights of the process that loads it, like
any Python module. So it is loaded only by the task that names it. Its digest is recorded with the task: a file that has
changed since then is rejected.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple

from pliant.errors import InputError, PliantError, RejectedError, UnknownNameError, said, shortened
from pliant.params.outside_files import is_regular


class Loaded(NamedTuple):
    """An object from outside the package, and where it is from."""

    found: Any
    file: str
    """Full path of its file; "" if it is from an entry point."""
    digest: str
    """SHA-256 of the file."""
    where: str
    """Its file or entry point, for messages."""


class PlacedError(RejectedError):
    """A mistake in a file from outside the package; its sentence begins with file and line."""


def is_file(reference: str) -> bool:
    """Whether an object is named by its file."""
    return reference.endswith(".py")


def entry_names(group: str) -> tuple[str, ...]:
    """The names that installed packages offer in an entry-point group."""
    return tuple(point.name for point in entry_points(group=group))


def load_object(
    reference: str,
    folder: Path | None,
    object_name: str,
    group: str,
    kind_word: str,
    *,
    digest: str = "",
    known: Iterable[str] = (),
    field: str = "kind",
) -> Loaded:
    """The object `object_name` of the file `reference`, or what the entry point `reference` of `group` names.

    A file is sought in `folder`, then in the working folder. `kind_word` names the object in messages (law, surface),
    and `known` are the names that need no loading; `field` is where the reference was given. A file whose digest is not
    `digest` is rejected; "" accepts any.
    """
    if not is_file(reference):
        point = _entry_point(reference, group, kind_word, known)
        return Loaded(point.load(), "", "", f"{point.value} of the entry point {reference}")
    path = found_file(reference, folder)
    if path is None:
        remedy = f"Give an existing Python file, or one of {', '.join((*known, *entry_names(group)))}."
        raise no_such_file(field, reference, reference, folder, remedy)
    module, now = load_file(path, kind_word, digest)
    return Loaded(getattr(module, object_name, None), str(path), now, path.name)


def load_file(path: Path, kind_word: str, digest: str = "") -> tuple[Any, str]:
    """The module in a file, and the SHA-256 of the file, which must be `digest` if that is given."""
    now = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest and digest != now:
        sentence = f"{path} has changed since the run began or was recorded."
        raise RejectedError(sentence, field=kind_word, value=str(path))
    return _module(path, f"pliant_{kind_word}_{path.stem}_{now[:12]}", kind_word), now


def no_such_file(field: str, value: str, name: str, folder: Path | None, remedy: str) -> RejectedError:
    """The error for a `value` that names a Python file `name` that does not exist in `folder`, nor in this folder."""
    where = " or ".join(dict.fromkeys(str(place) for place in (folder, Path.cwd()) if place))
    why = "there is no such file" if Path(name).is_absolute() else f"it does not exist in {where}"
    if name != value:
        why = f"{shortened(name)}: {why}"
    return RejectedError(f"{field} is {said(value)}, but {why}. {remedy}", field=field, value=value)


def found_file(reference: str, folder: Path | None = None) -> Path | None:
    """The full path of a file that is sought in `folder`, then in the working folder; None if it does not exist."""
    places = (folder / reference, Path(reference)) if folder else (Path(reference),)
    return next((place.resolve() for place in places if is_regular(place)), None)


def _entry_point(name: str, group: str, kind_word: str, known: Iterable[str]) -> EntryPoint:
    points = {point.name: point for point in entry_points(group=group)}
    if name not in points:
        own = f"A {kind_word} of your own is a file: my_{kind_word.replace(' ', '_')}.py."
        raise UnknownNameError(kind_word, name, (*known, *points), hint=own)
    return points[name]


def _module(path: Path, name: str, kind_word: str) -> Any:
    """The module of a file; the same content at the same place is run once."""
    if name in sys.modules and sys.modules[name].__file__ == str(path):
        return sys.modules[name]
    described = importlib.util.spec_from_file_location(name, path)
    if described is None or described.loader is None:
        raise InputError(kind_word, str(path), "a Python file (.py)")
    module = sys.modules[name] = importlib.util.module_from_spec(described)
    try:
        described.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        if isinstance(error, PlacedError):
            raise
        line = getattr(error, "lineno", None) or _line(error, path)
        where = f"{path.name}:{line}" if line else path.name
        if isinstance(error, PliantError):
            raise error.at(where) from None
        why = f"{type(error).__name__}: {error}".rstrip(". ")
        sentence = f"{where}: the {kind_word} cannot be loaded: {why}."
        raise RejectedError(sentence, field=kind_word, value=str(path)) from None
    return module


def _line(error: Exception, path: Path) -> int:
    """The last line of `path` that led to the error."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
