"""Is a set of parameters stable on the declared surfaces?

The same check for `pliant check`, for a start, and for every change while a loop runs. It runs in the process that
asks, never in the loop. `stability.worst_case` lists the surfaces and what is assumed about them. A set is rejected if
the gain margin is below `LEAST_MARGIN`, or if the first touch of the stiffest surface would exceed the force limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.laws.law import Law
from pliant.control.laws.registry import LAWS
from pliant.control.laws.stability_model import StabilityModel
from pliant.control.parameters import Parameters
from pliant.errors import PliantError, RejectedError
from pliant.params.declare import changed, flat
from pliant.params.matrix import shown
from pliant.stability.plant import plants_of
from pliant.stability.worst_case import LEAST_MARGIN, Place, declared_lag, places, stiffnesses
from pliant.task.schema import Task

# Steps of the search for how far a change may go.
_STEPS = 12


@dataclass(frozen=True)
class Objection:
    """Why a set is rejected: in words, how bad it is (1 is the limit), and what to do about it."""

    badness: float
    words: str
    remedy: str


def objection(task: Task, parameters: Parameters, law: str) -> Objection | None:
    """The worst objection to a set; None if it is stable and the first touch stays within the force limit."""
    judged = LAWS.get(law)
    if judged is None or (model := judged.stability) is None:
        return None
    remedy = _lag_words(task, parameters, judged) + model.remedy
    found = [
        Objection(place.badness, _unstable(model, judged.name, place), remedy)
        for place in places(task, parameters, law)
        if not place.stands
    ]
    if model.first_touch is not None:
        stiffest, lag_s = max(stiffnesses(task, parameters, judged)), plants_of(task, parameters)(0.0).lag_s
        if (hit := model.first_touch(parameters, stiffest, lag_s)) is not None:
            found.append(Objection(*hit, remedy))
    return max(found, key=lambda one: one.badness) if found else None


def _unstable(model: StabilityModel, law: str, place: Place) -> str:
    return (
        f"on a surface of {place.stiffness:.3g} N/m, the {model.title or f'law {law}'} has a gain margin of "
        f"{place.margin:.2g}, and it must be at least {LEAST_MARGIN:g}."
    )


def _lag_words(task: Task, parameters: Parameters, law: Law) -> str:
    """What to do about a declared lag that is less than the lag of the model; "" if it is not."""
    if law.stability is None or not law.stability.lag:
        return ""
    lag_s, actual_s = declared_lag(law, parameters), plants_of(task, parameters)(0.0).lag_s
    if lag_s >= actual_s:
        return ""
    name = f"{law.section}.{law.stability.lag}"
    return f"{name} = {lag_s:g} s is too small; set it to the actual total lag, {actual_s:.3g} s. "


def stages(task: Task) -> list[tuple[str, Parameters, str]]:
    """Law and parameters at the start and after each change by the task's events, and when it happens, in words."""
    parameters, law = task.params, task.law
    found = [(law, parameters, "")]
    for event in sorted(task.events, key=lambda event: event.at_s):
        if event.set or event.law:
            parameters, law = changed(parameters, event.set), event.law or law
            found.append((law, parameters, f" from {event.at_s:g} s on"))
    return found


def guard_start(task: Task) -> None:
    """Raise `RejectedError` if the task's parameters, or those that its events set, are not stable enough."""
    for law, parameters, when in stages(task):
        found = objection(task, parameters, law)
        if found is not None:
            raise RejectedError(
                f"The task is rejected{when}: {found.words} {found.remedy} To run it anyway: --unchecked "
                "(in Python: unchecked=True).",
                field="law",
            )


def guard_change(task: Task, law: str, before: Parameters, after: Parameters) -> None:
    """Raise `RejectedError` for a change after which `law` is not stable enough; the error shows how far it may go.

    A change that improves a bad set is accepted.
    """
    now = _different(before, after)
    names = [name for name in now if _matters(task, name, law)]
    if not names or (found := objection(task, after, law)) is None:
        return
    was = objection(task, before, law)
    if was is not None and found.badness <= was.badness:
        return
    what = ", ".join(f"{name} = {shown(now[name])}" for name in names)
    judged, model = LAWS[law], LAWS[law].stability
    assert model is not None  # a law without one has no objection
    by_lag = f"{judged.section}.{model.lag}" in names
    hint = f" {words}".rstrip() if by_lag and (words := _lag_words(task, after, judged)) else ""
    hint = hint or (_how_far(task, law, before, after, names) if was is None else "")
    remedy = f" {found.remedy}" if model.is_advice and not hint else ""
    raise RejectedError(
        f"{what} is rejected and nothing has changed: {found.words}{remedy}{hint}",
        field=names[0],
        value=now[names[0]],
    )


def guard_law(task: Task, law: str, parameters: Parameters) -> None:
    """Raise `RejectedError` for a change to a law that is not stable enough with the current parameters."""
    found = objection(task, parameters, law)
    if found is not None:
        sentence = f"The law {law} is rejected and nothing has changed: {found.words} {found.remedy}"
        raise RejectedError(sentence, field="law", value=law)


def _different(before: Parameters, after: Parameters) -> dict[str, Any]:
    """The values after a change that differ; sections that are the same object are not looked at."""
    found: dict[str, Any] = {}
    for name, section in after.__dict__.items():
        if section is not (was := before.__dict__[name]):
            then = flat(was, f"{name}.")
            found |= {one: value for one, value in flat(section, f"{name}.").items() if value != then[one]}
    return found


def _matters(task: Task, name: str, law: str) -> bool:
    drives = task.interface == "torque" and name.startswith("joint_loop.")  # then that loop is the robot's servo
    return name.startswith(f"{LAWS[law].section}.") or name == "sense.cutoff_hz" or drives


def _how_far(task: Task, law: str, before: Parameters, after: Parameters, names: list[str]) -> str:
    """How far the same change may go, where it is one of numbers."""
    then, now = flat(before), flat(after)
    if not all(_is_number(now[name]) for name in names):
        return ""

    def part(share: float) -> dict[str, Any]:
        return {name: _between(then[name], now[name], share) for name in names}

    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        try:
            stands = objection(task, changed(before, part(middle)), law) is None
        except PliantError:
            return ""
        low, high = (middle, high) if stands else (low, middle)
    words = ", ".join(f"{name} = {shown(value)}" for name, value in part(low).items())
    if len(names) > 1 or not isinstance(now[names[0]], float):
        return f" The largest change accepted now is {words}."
    return f" The {'lowest' if now[names[0]] < then[names[0]] else 'highest'} value accepted now is {words}."


def _is_number(value: Any) -> bool:
    first = np.ravel(np.asarray(value, dtype=object))[0]
    return isinstance(first, float)


def _between(then: Any, now: Any, share: float) -> Any:
    mixed = (1.0 - share) * np.asarray(then, float) + share * np.asarray(now, float)
    if mixed.ndim == 0:
        return float(f"{float(mixed):.4g}")
    return tuple(tuple(row) for row in mixed.tolist()) if mixed.ndim == 2 else tuple(mixed.tolist())
