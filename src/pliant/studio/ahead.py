"""What would be said of values that nobody has proposed yet, so that a slider shows its bounds.

These are the checks that a change has to pass anyway (`Link.set`: its bounds, how the arm stands now, and the stability
of `runtime.guard`), asked beforehand and never in the loop. Values that stand are told apart from those whose reserve
is thin: which bear less than `EASY` times the gain of the law.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.errors import PliantError
from pliant.laws import LAWS
from pliant.params.control import Parameters
from pliant.runtime.guard import LEAST_MARGIN, objection, places
from pliant.runtime.link import Link, changed_live

FINE, THIN, REFUSED = range(3)
# From so many times the gain on, the reserve is no longer worth a word.
EASY = 2.0 * LEAST_MARGIN
# Every so many of the values are judged first; between two that differ the border is found by halving.
_STRIDE = 8
_NAMES = {number: name for name, number in LAWS.items()}


@dataclass(frozen=True)
class Verdict:
    """How a value would be judged, and why."""

    level: int
    why: str = ""


def zones(link: Link, name: str, values: list[Any]) -> list[dict[str, Any]]:
    """Runs of values of one parameter, in their order, that are judged alike: first and last, level, and why."""
    parameters, laws = link.parameters, laws_of(link)
    known: dict[int, Verdict] = {}

    def judge(i: int) -> int:
        if i not in known:
            known[i] = _verdict(link, laws, parameters, {name: values[i]})
        return known[i].level

    with _one_at_a_time:  # several pages ask for the same; a second core is better left to the loop
        levels = _levels(judge, len(values))
    runs = [list(run) for _, run in itertools.groupby(range(len(values)), key=levels.__getitem__)]
    return [
        {"first": run[0], "last": run[-1], "level": levels[run[0]], "why": _why(run, levels, known)} for run in runs
    ]


def _why(run: list[int], levels: list[int], known: dict[int, Verdict]) -> str:
    """What was said of the value next to the border of a run, the one that a hand comes to first."""
    judged = [i for i in run if i in known]
    ends_better = run[-1] + 1 < len(levels) and levels[run[-1] + 1] < levels[run[0]]
    return known[judged[-1 if ends_better else 0]].why


_one_at_a_time = threading.Lock()


def _levels(judge: Callable[[int], int], n: int) -> list[int]:
    """The level of each of `n` values, with as few judgements as a coarse grid and halving need."""
    levels = [FINE] * n
    marks = [*range(0, n - 1, _STRIDE), n - 1]
    for low, high in itertools.pairwise(marks):
        _fill(judge, levels, low, high)
    return levels


def _fill(judge: Callable[[int], int], levels: list[int], low: int, high: int) -> None:
    levels[low], levels[high] = judge(low), judge(high)
    if levels[low] == levels[high]:
        levels[low:high] = [levels[low]] * (high - low)
    elif high - low > 1:
        middle = (low + high) // 2
        _fill(judge, levels, low, middle)
        _fill(judge, levels, middle, high)


def is_judged(link: Link) -> bool:
    """Whether the law that runs has a surface declared on which it could be unstable."""
    parameters = link.parameters
    return not link.unchecked and any(True for law in laws_of(link) for _ in places(link.task, parameters, law))


def laws_of(link: Link) -> list[str]:
    """The law that runs, and those that the task's script may bring."""
    latest = link.board.latest()
    running = _NAMES[int(latest.goal.law)] if latest is not None else link.task.law
    return sorted({running, *(event.law for event in link.task.events if event.law)})


def _verdict(link: Link, laws: list[str], now: Parameters, values: dict[str, Any]) -> Verdict:
    try:
        after = changed_live(now, values)
        link.check_now(now, after)
    except PliantError as error:
        return Verdict(REFUSED, str(error))
    if link.unchecked:
        return Verdict(FINE)
    for law in laws:
        found = objection(link.task, after, law)
        was = objection(link.task, now, law) if found is not None else None
        if found is not None and (was is None or found.badness > was.badness):
            return Verdict(REFUSED, f"Refused: {found.words}")
    return next((Verdict(THIN, words) for law in laws if (words := _thin(link, after, law))), Verdict(FINE))


def _thin(link: Link, parameters: Parameters, law: str) -> str:
    """What is to be said of a reserve that is thin; nothing where it is not."""
    for place in places(link.task, parameters, law):
        if not place.bears(EASY):
            return (
                f"Thin: on a surface of {place.stiffness:.3g} N/m the loop bears {place.margin:.2g} times "
                f"its gain; below {LEAST_MARGIN:g} times it is refused."
            )
    return ""
