"""Matrices as parameters: six numbers are a diagonal, six rows are a full symmetric matrix."""

from __future__ import annotations

from functools import lru_cache
from numbers import Real
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from pliant.errors import said
from pliant.params.declare import Matrix, Section, value_at
from pliant.params.validation_errors import MATRIX


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def expanded(value: Any) -> Any:
    """One number or six numbers become a diagonal matrix; anything else is left to the type check."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if _is_number(value):
        value = (value,) * 6
    if isinstance(value, list | tuple) and len(value) == 6 and all(_is_number(v) for v in value):
        return tuple(tuple(v if i == j else 0.0 for j in range(6)) for i, v in enumerate(value))
    if isinstance(value, list | tuple) and len(value) != 6:
        raise PydanticCustomError("matrix", MATRIX)
    return value


@lru_cache(maxsize=512)
def _spectrum(value: Matrix) -> tuple[float, float]:
    """Smallest and largest eigenvalue; raises if the matrix is not symmetric."""
    M = np.array(value)
    if not np.abs(M - M.T).max() <= 1e-9 * max(1.0, float(np.abs(M).max())):
        row, column = divmod(int(np.abs(M - M.T).argmax()), len(M))
        raise PydanticCustomError(
            "asymmetric",
            "is not symmetric: row {row}, column {column} is {one}, but row {column}, column {row} is {other}",
            {
                "row": int(row) + 1,
                "column": int(column) + 1,
                "one": said(M[row, column]),
                "other": said(M.T[row, column]),
            },
        )
    values = np.linalg.eigvalsh(M)
    return float(values[0]), float(values[-1])


def _positive(value: Matrix) -> Matrix:
    low, high = _spectrum(value)
    if not low > 1e-6 * max(high, 1e-3):
        words = (
            "positive definite: every mass must be greater than 0, and greater than one millionth of the largest mass"
        )
        raise PydanticCustomError("matrix", words)
    return value


def _not_negative(value: Matrix) -> Matrix:
    low, high = _spectrum(value)
    if low < -1e-9 * max(high, 1.0):
        raise PydanticCustomError("matrix", "positive semidefinite: no direction may have a negative value")
    return value


# No number is larger: kg and kg m², N/m and N m/rad, N s/m and N m s/rad.
_Mass = Annotated[float, Field(ge=-1e4, le=1e4)]
_Gain = Annotated[float, Field(ge=-1e6, le=1e6)]
_Masses = tuple[_Mass, _Mass, _Mass, _Mass, _Mass, _Mass]
_Gains = tuple[_Gain, _Gain, _Gain, _Gain, _Gain, _Gain]

MassMatrix = Annotated[
    tuple[_Masses, _Masses, _Masses, _Masses, _Masses, _Masses], BeforeValidator(expanded), AfterValidator(_positive)
]
"""Mass [kg] and inertia [kg m²]: positive definite."""
GainMatrix = Annotated[
    tuple[_Gains, _Gains, _Gains, _Gains, _Gains, _Gains], BeforeValidator(expanded), AfterValidator(_not_negative)
]
"""Stiffness [N/m, N m/rad] or damping [N s/m, N m s/rad]: positive semidefinite."""


def compact(value: Any) -> Any:
    """A diagonal matrix as its six diagonal numbers, for display and saving; anything else unchanged."""
    if isinstance(value, list | tuple) and len(value) == 6 and all(isinstance(row, list | tuple) for row in value):
        M = np.array(value)
        if np.array_equal(M, np.diag(np.diag(M))):
            return np.diag(M).tolist()
    return value


def filled(now: Section, values: dict[str, Any]) -> dict[str, Any]:
    """The dotted `values`, with None in a list of numbers replaced by the present number.

    A full matrix has no such numbers. A None in it stays, and the check of the matrix rejects it.
    """
    return {name: _filled(now, name, value) for name, value in values.items()}


def _filled(section: Section, name: str, value: Any) -> Any:
    if not isinstance(value, list | tuple) or None not in value:
        return value
    now = compact(value_at(section, name))
    if not isinstance(now, list | tuple) or not all(map(_is_number, now)) or len(value) != len(now):
        return value
    return [old if new is None else new for old, new in zip(now, value, strict=True)]


def with_unit(value: Any, unit: str) -> str:
    """A value as it is printed, with its unit: of six numbers, each half has one of its own."""
    units, parts = unit.split(", "), compact(value)
    if len(units) > 1 and isinstance(parts, list | tuple) and len(parts) == 3 * len(units):
        return ", ".join(f"{shown(parts[3 * i : 3 * i + 3])} {each}" for i, each in enumerate(units))
    return f"{shown(value)} {unit}".rstrip()


def shown(value: Any) -> str:
    """A value as it is printed everywhere: up to six digits, lists in brackets, a diagonal matrix as its diagonal."""
    value = compact(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, Real):
        return f"{float(value):.6g}"
    if isinstance(value, list | tuple | np.ndarray):
        return f"[{', '.join(shown(item) for item in value)}]"
    return str(value)
