"""Laws from outside the package: a file, named in a task (``law: my_law.py``), or an entry point of a package.

A law file runs with the rights of the process that loads it, like any Python module. So it is loaded only by the task
that names it, never from a recording.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from numba.core.errors import NumbaError

from pliant.control.laws.law import Law
from pliant.control.laws.registry import LAWS, PLIANTS, register
from pliant.control.parameters import Parameters, parameters_with
from pliant.control.tick_entries import law_types
from pliant.errors import InputError, RejectedError, UnknownNameError
from pliant.kernel import address_of
from pliant.params.declare import Section, param, validated

GROUP = "pliant.laws"
"""The entry-point group of packages that bring laws."""

_OBJECT = "LAW"


class OwnLaw(Section):
    """A law from outside the package, as a task names it."""

    name: str = param(..., min_length=1, help="Name of the law, and of its section of the parameters.")
    file: str = param("", help='Its file; "" for a law from an installed package.')
    digest: str = param("", help="SHA-256 of the file; a file that has changed since is rejected.")
    number: int = param(0, ge=0, help="Number in records (0: the next one).")


def is_file(reference: str) -> bool:
    """Whether a law is named by its file."""
    return reference.endswith(".py")


def find_law(reference: str, folder: Path | None = None) -> OwnLaw | None:
    """Load the law that a task names; None for one of Pliant's. A file is sought in `folder`, then where we are."""
    if reference in PLIANTS:
        return None
    if is_file(reference):
        return load(OwnLaw(name=_OBJECT, file=reference), folder)
    known = {point.name: point for point in entry_points(group=GROUP)}
    if reference not in known:
        raise UnknownNameError("law", reference, (*LAWS, *known), all_names="A law of your own is a file: my_law.py.")
    return load(OwnLaw(name=reference))


def load(wanted: OwnLaw, folder: Path | None = None) -> OwnLaw:
    """Load a law and register it under its number; returns its full description."""
    if not wanted.file:
        point = next((one for one in entry_points(group=GROUP) if one.name == wanted.name), None)
        if point is None:
            raise UnknownNameError("law", wanted.name, LAWS)
        law = _checked(point.load(), f"{point.value} of the entry point {wanted.name}")
        return OwnLaw(name=law.name, number=register(law, wanted.number).number)
    path = _found(wanted.file, folder)
    source = path.read_bytes()
    digest = hashlib.sha256(source).hexdigest()
    if wanted.digest and wanted.digest != digest:
        raise RejectedError(f"{path} has changed since the run began or was recorded.", field="law", value=str(path))
    law = _from_file(path, digest)
    return OwnLaw(name=law.name, file=str(path), digest=digest, number=register(law, wanted.number).number)


def compile_own_laws(laws: tuple[OwnLaw, ...]) -> None:
    """Compile the laws that a task brings, so that their mistakes are found before anything moves."""
    for law in laws:
        _compile(LAWS[law.name])


def _compile(law: Law) -> None:
    try:
        for function in law.kernels():
            address_of(function, *law_types())
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        where = next((line for line in lines if line.startswith("File ")), "")
        why = next((line for line in lines if not line.startswith(("Failed in", "During:", "File "))), lines[0])
        raise RejectedError(
            f"The law {law.name} cannot be compiled: {why} {where}".rstrip(), field="law", value=law.name
        ) from None


def parameters_kind(laws: tuple[OwnLaw, ...]) -> type[Parameters]:
    """The kind of parameter set that a task with these laws has."""
    sections = ((one.name, LAWS[one.name].params) for one in laws)
    return parameters_with(tuple((name, params) for name, params in sections if params is not None))


def with_own_laws(data: dict[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The content of a task in which every law is named, and those from outside Pliant are loaded and listed."""
    if not names_own_laws(data):
        return data
    laws: dict[str, OwnLaw] = {}
    for given in data.get("own_laws") or ():
        law = load(given if isinstance(given, OwnLaw) else validated(OwnLaw, given), folder)
        laws[law.name] = law

    def named(reference: Any) -> Any:
        if not isinstance(reference, str) or not reference or reference in laws:
            return reference
        law = find_law(reference, folder)
        if law is not None:
            laws[law.name] = law
        return reference if law is None else law.name

    data = {**data, "law": named(data.get("law", "hold"))}
    if isinstance(data.get("events"), list | tuple):
        data["events"] = [_with_law(event, named(_law_of(event))) for event in data["events"]]
    return {**data, "own_laws": tuple(laws.values())}


def names_own_laws(data: dict[str, Any]) -> bool:
    """Whether the content of a task names a law that is not one of Pliant's."""
    events = data.get("events")
    named = [data.get("law", "hold"), *(map(_law_of, events) if isinstance(events, list | tuple) else ())]
    return bool(data.get("own_laws")) or any(isinstance(law, str) and law not in ("", *PLIANTS) for law in named)


def _law_of(event: Any) -> Any:
    """The law that an event changes to, of an event as an object or as plain data."""
    return event.get("law", "") if isinstance(event, dict) else getattr(event, "law", "")


def _with_law(event: Any, law: Any) -> Any:
    if law == _law_of(event):
        return event
    return {**event, "law": law} if isinstance(event, dict) else event.model_copy(update={"law": law})


def _found(file: str, folder: Path | None) -> Path:
    places = [Path(file)] if Path(file).is_absolute() else [*([folder / file] if folder else []), Path(file)]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise InputError("law", file, "an existing Python file with a law, or the name of a law", _names())
    return path.resolve()


def _names() -> str:
    return f"Laws: {', '.join(LAWS)}."


def _from_file(path: Path, digest: str) -> Law:
    """The object LAW of a file; the same content is run once."""
    name = f"pliant_law_{path.stem}_{digest[:12]}"
    module = sys.modules.get(name)
    if module is None:
        described = importlib.util.spec_from_file_location(name, path)
        if described is None or described.loader is None:
            raise InputError("law", str(path), "a Python file (.py)")
        module = importlib.util.module_from_spec(described)
        sys.modules[name] = module
        try:
            described.loader.exec_module(module)
        except Exception as error:
            del sys.modules[name]
            place = getattr(error, "lineno", None) or _line(error, path)
            where = f"{path.name}:{place}" if place else path.name
            raise RejectedError(
                f"{where}: the law cannot be loaded: {type(error).__name__}: {error}.", field="law", value=str(path)
            ) from None
    return _checked(getattr(module, _OBJECT, None), path.name)


def _line(error: Exception, path: Path) -> int:
    """The last line of `path` that led to the error."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _checked(found: Any, where: str) -> Law:
    if not isinstance(found, Law) or not found.is_own:
        raise RejectedError(
            f"{where} contains no law: it must define {_OBJECT} = pliant.own_law(...).", field="law", value=where
        )
    return found
