"""Entry points of the controller: what is compiled for a tick."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numba
import numpy as np

from pliant.compiling.entry_points import Entry
from pliant.control.axes import turn
from pliant.control.laws import gains
from pliant.control.laws.law import Law
from pliant.control.laws.registry import LAWS, PLIANTS
from pliant.control.parameters import PARAMETERS, Parameters, own_section_at
from pliant.control.published import pack_all, unpack_all
from pliant.control.telemetry import fill, telemetry_of
from pliant.control.tick import WORK, step, tick
from pliant.model.handle import HANDLE
from pliant.model.kinematics import dynamics_at, forward_at, jacobian_at
from pliant.records import COMMAND, GOAL, OBSERVED, READING, STATE
from pliant.spatial import pose_error


def record_types() -> dict[str, Any]:
    """The Numba types of the records of a tick, by the letters that the kernels use."""
    layouts = {
        "h": HANDLE,
        "p": PARAMETERS,
        "s": STATE,
        "r": READING,
        "g": GOAL,
        "c": COMMAND,
        "o": OBSERVED,
        "w": WORK,
    }
    return {name: numba.typeof(layout.new()) for name, layout in layouts.items()}


def law_types() -> tuple[Any, ...]:
    """The Numba types of the arguments of a law's kernels."""
    of = record_types()
    return *(of[name].dtype for name in "hpsrgcow"), numba.float64


def new_work(laws: Iterable[str] | None = None, kind: type[Parameters] = Parameters) -> Any:
    """The scratch of a controller, through which its tick calls the laws (Pliant's by default); loads their code.

    `kind` is that of the controller's parameter sets.
    """
    work = WORK.new()
    for name in PLIANTS if laws is None else laws:
        connect_law(work, LAWS[name], kind)
    return work


def connect_law(work: Any, law: Law, kind: type[Parameters] = Parameters) -> None:
    """Let a controller with this scratch use a law, if it cannot yet."""
    call = work[0]["laws"][law.number]
    if not call["step"]:
        params_at = own_section_at(kind, law.section) if law.is_own else 0
        fields: Any = telemetry_of(kind).dtype.fields
        law.connect(call, law_types(), params_at, fields[law.name][1] // 8 if law.state is not None else 0)


def hold_law() -> Iterator[Entry]:
    """The law hold."""
    yield from _kernels("hold")


def admittance_law() -> Iterator[Entry]:
    """The admittance law."""
    yield from _kernels("admittance")


def impedance_law() -> Iterator[Entry]:
    """The impedance law."""
    yield from _kernels("impedance")


def contact_law() -> Iterator[Entry]:
    """The contact law."""
    yield from _kernels("contact")


def _kernels(name: str) -> Iterator[Entry]:
    for function in dict.fromkeys(LAWS[name].kernels()):
        yield function, *law_types()


def tick_and_step() -> Iterator[Entry]:
    """The tick."""
    of = record_types()
    yield step, *(of[name].dtype for name in "hpsrgcow"), 0, 0.0
    yield tick, *(of[name] for name in "hpsrgcow"), 0, 0.0


def telemetry() -> Iterator[Entry]:
    """Filling the telemetry, and what is published of it."""
    of = {name: array.dtype for name, array in record_types().items()}
    yield fill, 0, 0, 0.0, 0, *(of[name] for name in "rgocsw")
    yield pack_all, 0, 0, 0, 0, 0, 0
    yield unpack_all, 0, 0, 0, 0, 0, 0


def kinematics() -> Iterator[Entry]:
    """Kinematics of an arm, and poses."""
    handle, q = record_types()["h"], np.zeros(1)
    yield pose_error, q, q, q
    yield turn, q, q, True
    yield forward_at, handle, q
    yield jacobian_at, handle, q
    yield dynamics_at, handle, q, q


def new_gains() -> Iterator[Entry]:
    """What follows from a parameter set when it is adopted."""
    matrix = np.zeros((6, 6))
    yield gains.keep_change, 0, 0
    yield gains.begin_change, 0, 0, 0.0, 0, matrix, matrix, matrix, 0.0
    yield gains.damping_into, matrix, matrix, matrix[0], 0.0, 0.0, np.zeros((3, 6, 6)), matrix
