"""Arguments of the calls that a user makes: checked before anything is sent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError, RejectedError, said
from pliant.params.declare import value_at
from pliant.task.schema import Task

# A coordinate beyond this is a mistake [m, rad, N, N m].
SANE = 1e4


def number(field: str, value: Any, low: float, high: float, unit: str, *, least: str = "") -> float:
    """`value` as a number within bounds; otherwise an `InputError`. `least` words a lower bound that is not allowed."""
    try:
        found = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not (low <= found <= high and math.isfinite(found)) or (least and found == low):
        bounds = least or (f"{low:g} to {high:g} {unit}" if math.isfinite(high) else f"at least {low:g} {unit}")
        raise InputError(field, value, bounds if math.isfinite(found) else f"a number, {bounds}", unit=unit)
    return found


def numbers(field: str, values: ArrayLike, *sizes: int, allowed: str = "") -> np.ndarray[Any, Any]:
    """`values` as an array of one of these sizes; an error shows `allowed`."""
    try:
        array = np.array(values, float)
    except (ValueError, TypeError):
        array = np.zeros(0)
    words = allowed or f"{' or '.join(map(str, sizes))} numbers"
    if array.ndim != 1 or len(array) not in sizes:
        raise InputError(field, values, words)
    if not np.abs(array).max() <= SANE:
        what, _, each = words.partition(", each ")
        unit = each.partition(f"±{SANE:g}")[2]
        raise InputError(field, values, f"{what}, each finite and within ±{SANE:g}{unit}")
    return array


def duration(for_s: float) -> float:
    """A time for which something is asked [s]."""
    return number("for_s", for_s, 0.0, 60.0, "s", least="more than 0 and at most 60 s")


def must_be_task(task: Any, what: str) -> None:
    """Raise unless `what` is given a task; for a name, the error shows how to load the task."""
    if not isinstance(task, Task):
        hint = f"Use pliant.load_task({task!r})." if isinstance(task, str) else "Use pliant.Task or pliant.load_task."
        raise RejectedError(f"task is {said(task)}, but {what} needs a Task. {hint}", field="task", value=task)


def must_be_live(task: Task, name: str, value: Any) -> None:
    """Raise for a value of the task that is no parameter: it is fixed while the loop runs."""
    if value_at(task.params, name) is None and value_at(task, name) is not None and not name.startswith("params."):
        remedy = f"Set it in the task: task.replace({{{name!r}: {said(value)}}})."
        if name == "sim.seed":
            remedy = f"{remedy} A Simulation takes another seed with reset({said(value)})."
        sentence = f"{name} cannot be changed while the loop runs. {remedy}"
        raise RejectedError(sentence, field=name, value=value)


def function(field: str, value: Any) -> Any:
    """`value` if it can be called without arguments; otherwise an `InputError`."""
    if not callable(value):
        raise InputError(field, value, "a function, such as lambda: arm.contact.touching")
    return value


def flag(field: str, value: Any) -> bool:
    """`value` if it is True or False; otherwise an `InputError`: any other value would count as one of them."""
    if not isinstance(value, bool):
        raise InputError(field, value, "True or False")
    return value


def whole(field: str, value: Any, low: int) -> int:
    """`value` as a whole number; otherwise an `InputError`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InputError(field, value, f"a whole number, at least {low}")
    return int(value)
