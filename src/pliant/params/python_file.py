"""Python files that a task names: a law or a robot driver of the user's own.

Such a file runs with the rights of the process that loads it, like any Python module. So it is loaded only by the task
that names it, never from a recording, and its digest is recorded: a file that has changed since is rejected.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from pliant.errors import InputError, RejectedError


def is_python_file(name: str) -> bool:
    """Whether a name in a task is that of a Python file."""
    return name.endswith(".py")


def find_python_file(field: str, file: str, folder: Path | None, allowed: str, hint: str = "") -> Path:
    """The full path of a file that is named in `folder` or where we are; `field` is what names it."""
    places = [Path(file)] if Path(file).is_absolute() else [*([folder / file] if folder else []), Path(file)]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise InputError(field, file, allowed, hint)
    return path.resolve()


def load_python_file(field: str, path: Path, digest: str = "", what: str = "") -> tuple[ModuleType, str]:
    """The module in a file, and the SHA-256 of the file, which must be `digest` if that is given.

    The same content is run once. `what` the file contains appears in messages; the default is `field`.
    """
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest and digest != found:
        raise RejectedError(f"{path} has changed since the run began or was recorded.", field=field, value=str(path))
    name = f"pliant_{field}_{path.stem}_{found[:12]}"
    if name in sys.modules and sys.modules[name].__file__ == str(path):
        return sys.modules[name], found
    described = importlib.util.spec_from_file_location(name, path)
    if described is None or described.loader is None:
        raise InputError(field, str(path), "a Python file (.py)")
    module = importlib.util.module_from_spec(described)
    sys.modules[name] = module
    try:
        described.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        line = getattr(error, "lineno", None) or _line(error, path)
        where = f"{path.name}:{line}" if line else path.name
        raise RejectedError(
            f"{where}: the {what or field} cannot be loaded: {type(error).__name__}: {error}.",
            field=field,
            value=str(path),
        ) from None
    return module, found


def _line(error: Exception, path: Path) -> int:
    """The last line of `path` that led to the error."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
