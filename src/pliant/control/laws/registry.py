"""The laws by name, and what follows from their list: records through which the tick calls them, derived gains."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from pliant.control.laws import admittance, hold
from pliant.control.laws.contact import contact_hooks
from pliant.control.laws.gains import begin_change, keep_change
from pliant.control.laws.impedance import torques
from pliant.control.laws.law import MAX_LAWS, Law
from pliant.errors import InputError, RejectedError
from pliant.records import TICK

Array = np.ndarray[Any, Any]

LAWS: dict[str, Law] = {law.name: law for law in (hold.LAW, admittance.LAW, torques.LAW, contact_hooks.LAW)}
"""Every law that can run: Pliant's own, and those that were registered."""

PLIANTS = tuple(LAWS)
"""The names of Pliant's own laws."""

DEFAULT = hold.LAW.name
"""The law of a task that names none: it needs no sensor and keeps the arm where it is."""

# Names in parameter sets and in telemetry records.
_TAKEN = ("sense", "joint_loop", "limits", *(field.name for field in TICK.fields))

_MATTER = ("mass", "stiffness", "damping_by", "damping_ratio", "damping", "axes")


def register(law: Law, number: int = 0) -> Law:
    """Add a law from outside the package, or replace one of the same name; returns it with its number.

    Processes that share records must agree on `number`; 0 takes the number it has, or the next one.
    """
    taken = (*PLIANTS, *_TAKEN)
    if law.name in taken:
        raise InputError("the name of the law", law.name, f"another one than {', '.join(taken)}")
    known = LAWS.get(law.name)
    free = (n for n in range(1, MAX_LAWS) if all(n != other.number for other in LAWS.values()))
    number = number or (known.number if known is not None else next(free, 0))
    owner = next((other.name for other in LAWS.values() if other.number == number and other.name != law.name), "")
    if not 0 < number < MAX_LAWS or owner:
        most = MAX_LAWS - 1 - len(PLIANTS)
        raise RejectedError(
            f"The law {law.name} cannot be added: this process has loaded {len(LAWS) - len(PLIANTS)} laws from outside "
            f"Pliant, and at most {most} are possible. Start a new process.",
            field="law",
            value=law.name,
        )
    LAWS[law.name] = replace(law, number=number)
    return LAWS[law.name]


def law_of(number: Any) -> Law:
    """The law with this number in a record."""
    return next(law for law in LAWS.values() if law.number == int(number))


def known_commands() -> tuple[str, ...]:
    """The commands of all laws."""
    return tuple(dict.fromkeys(name for law in LAWS.values() if law.commands for name in law.commands.numbers))


def check_sections(parameters: Any, before: Any = None) -> None:
    """Raise for values that do not fit together in the section of a law; sections as in the set `before` are known."""
    for law in LAWS.values():
        section = getattr(parameters, law.section, None)
        if law.check_params is not None and section is not getattr(before, law.section, None):
            law.check_params(section)


def prepare(parameters: Array, previous: Array | None, ramp: float, revision: int, dt: float) -> bool:
    """Fill what a parameter record derives from its values; it follows `previous`, whose change is at `ramp`.

    `dt` [s] is the period. Returns whether any matrices were recomputed, which only happens when their inputs change.
    """
    parameters["revision"] = revision  # a field of the array: that of its record takes ten times as long
    to, of = parameters.ctypes.data, 0 if previous is None else previous.ctypes.data
    anew, without_wrench = False, parameters["without_wrench"][0]
    for law in LAWS.values():
        if law.is_torque:
            without_wrench[law.number] = not law.needs_wrench(parameters[law.section][0])
        if law.matrices is None:
            continue
        at = _places(parameters.dtype, law.section, law.matrices[0])[1]
        if previous is not None and not has_new_matrices(law, parameters, previous):
            keep_change(to + at, of + at)  # a change under way goes on undisturbed
        else:
            matrices = law.matrices[1](parameters[law.section][0], dt)
            begin_change(to + at, of and of + at, ramp, revision, *matrices, dt)
            anew = True
    return anew


def has_new_matrices(law: Law, parameters: Array, previous: Array) -> bool:
    """Whether anything that the matrices of a law depend on differs between two parameter records."""
    if law.matrices is None:
        return False
    inputs, _ = _places(parameters.dtype, law.section, law.matrices[0])
    new, old = parameters.view(np.uint8).data, previous.view(np.uint8).data
    return any(new[part] != old[part] for part in inputs)


@cache
def _places(record: Any, section: str, gains: str) -> tuple[tuple[slice, ...], int]:
    """The bytes of a record that the matrices of a section depend on, and where its gains are."""
    kind, first = record.fields[section][:2]
    members = [(first + kind.fields[name][1], kind.fields[name][0].itemsize) for name in _MATTER]
    return tuple(slice(start, start + size) for start, size in members), record.fields[gains][1]


def progress_of(state: Array, parameters: Array) -> float:
    """How far the running law's change of gains has progressed, 0 to 1; from one-element record arrays."""
    law = law_of(state["law"][0]) if state["started"][0] else None
    if law is None or law.matrices is None:
        return 1.0
    return float(state["ramp"][0]) if state["set"][0] == parameters[law.matrices[0]]["number"][0] else 0.0
