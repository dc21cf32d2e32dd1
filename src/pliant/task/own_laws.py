"""Laws from outside the package: a file, named in a task (``law: my_law.py``), or an entry point of a package.

A law file runs with the rights of the process that loads it, like any Python module. So it is loaded only by the task
that names it, never from a recording.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pliant.control.laws.law import Law
from pliant.control.laws.registry import DEFAULT, LAWS, PLIANTS, register
from pliant.control.parameters import Parameters, parameters_with
from pliant.control.tick_entries import law_types
from pliant.errors import InputError, RejectedError
from pliant.kernel import address_of
from pliant.params.declare import Section, param, validated
from pliant.params.plugin_files import is_file, load_object
from pliant.params.plugin_kernels import COMPILE_ERRORS, compile_error

GROUP = "pliant.laws"
"""The entry-point group of packages that bring laws."""

_OBJECT = "LAW"


class OwnLaw(Section):
    """A law that is not part of Pliant, as named in a task."""

    name: str = param(..., min_length=1, help="Name of the law, and of its section of the parameters.")
    file: str = param("", help='Its file; "" for a law from an installed package.')
    digest: str = param("", help="SHA-256 of the file; a file that has changed since is rejected.")
    number: int = param(0, ge=0, help="Number in records (0: the next one).")


def find_law(reference: str, folder: Path | None = None) -> OwnLaw | None:
    """Load the law that a task names; None for one of Pliant's. A file is sought in `folder`, then in the working
    folder.
    """
    if reference in PLIANTS:
        return None
    if renamed := next((law.name for law in LAWS.values() if reference in law.former_names), ""):
        raise RejectedError(f"Unknown law {reference!r}: it is now called {renamed}.", field="law", value=reference)
    return load(OwnLaw(name=_OBJECT, file=reference) if is_file(reference) else OwnLaw(name=reference), folder)


def load(wanted: OwnLaw, folder: Path | None = None) -> OwnLaw:
    """Load a law and register it under its number; returns its full description."""
    reference = wanted.file or wanted.name
    found, file, digest, where = load_object(
        reference, folder, _OBJECT, GROUP, "law", digest=wanted.digest, known=LAWS, field="law"
    )
    law = _checked(found, where)
    return OwnLaw(name=law.name, file=file, digest=digest, number=register(law, wanted.number).number)


def compile_own_laws(laws: tuple[OwnLaw, ...]) -> None:
    """Compile the laws that a task brings, so that their mistakes are found before anything moves."""
    for law in laws:
        _compile(LAWS[law.name])


def _compile(law: Law) -> None:
    for function in law.kernels():
        try:
            address_of(function, *law_types())
        except COMPILE_ERRORS as error:
            if (outside := getattr(function, "outside", None)) is None:
                raise
            raise compile_error(outside, error) from None


def parameters_kind(laws: tuple[OwnLaw, ...]) -> type[Parameters]:
    """The kind of parameter set that a task with these laws has."""
    sections = ((one.name, LAWS[one.name].params) for one in laws)
    return parameters_with(tuple((name, params) for name, params in sections if params is not None))


def with_own_laws(data: dict[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The content of a task in which every law is named, and those from outside Pliant are loaded and listed."""
    if not names_own_laws(data):
        return data
    laws: dict[str, OwnLaw] = {}
    listed = data.get("own_laws") or ()
    if not isinstance(listed, list | tuple):
        raise InputError("own_laws", listed, "a list of mappings")
    for given in listed:
        law = load(given if isinstance(given, OwnLaw) else validated(OwnLaw, given), folder)
        laws[law.name] = law

    def named(reference: Any) -> Any:
        if not isinstance(reference, str) or not reference or reference in laws:
            return reference
        law = find_law(reference, folder)
        if law is not None:
            laws[law.name] = law
        return reference if law is None else law.name

    data = {**data, "law": named(data.get("law", DEFAULT))}
    if isinstance(data.get("events"), list | tuple):
        data["events"] = [_with_law(event, named(_law_of(event))) for event in data["events"]]
    return {**data, "own_laws": tuple(laws.values())}


def names_own_laws(data: dict[str, Any]) -> bool:
    """Whether the content of a task names a law that is not one of Pliant's."""
    events = data.get("events")
    named = [data.get("law", DEFAULT), *(map(_law_of, events) if isinstance(events, list | tuple) else ())]
    return bool(data.get("own_laws")) or any(isinstance(law, str) and law not in ("", *PLIANTS) for law in named)


def _law_of(event: Any) -> Any:
    """The law that an event changes to, of an event as an object or as plain data."""
    return event.get("law", "") if isinstance(event, dict) else getattr(event, "law", "")


def _with_law(event: Any, law: Any) -> Any:
    if law == _law_of(event):
        return event
    return {**event, "law": law} if isinstance(event, dict) else event.model_copy(update={"law": law})


def _checked(found: Any, where: str) -> Law:
    if not isinstance(found, Law) or not found.is_own:
        raise RejectedError(
            f"{where} contains no law: it must define {_OBJECT} = pliant.own_law(...).", field="law", value=where
        )
    return found
