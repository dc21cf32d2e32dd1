"""The results of the checks for values that were not requested yet, so that a slider shows its limits.

These are the checks that every change has to pass (`Link.set`: its bounds, the current state of the arm, and the
stability check of `stability.guard`), run in advance and never in the loop. Values that pass with little reserve, that
is with less than `EASY` times the gain, are marked.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.control.laws.registry import law_of
from pliant.control.parameters import Parameters
from pliant.errors import PliantError
from pliant.session.arm_verbs import changed_live
from pliant.session.link import Link
from pliant.stability.guard import objection
from pliant.stability.worst_case import LEAST_MARGIN, places
from pliant.studio.page_messages import Zone

FINE, THIN, REJECTED = range(3)
# Above this gain margin, the reserve is not mentioned.
EASY = 2.0 * LEAST_MARGIN
# One in this many values is judged first; between two with different results, the boundary is found by bisection.
_STRIDE = 8


@dataclass(frozen=True)
class Verdict:
    """The result for one value, and the reason."""

    level: int
    why: str = ""


def zones(link: Link, name: str, values: list[Any]) -> list[Zone]:
    """Ranges of values of one parameter with the same result: first and last, level, and reason."""
    parameters, laws = link.parameters, laws_of(link)
    known: dict[int, Verdict] = {}

    def judge(i: int) -> int:
        if i not in known:
            known[i] = _verdict(link, laws, parameters, {name: values[i]})
        return known[i].level

    with _one_at_a_time:  # several pages request the same; a second core is better left to the loop
        levels = _levels(judge, len(values))
    runs = [list(run) for _, run in itertools.groupby(range(len(values)), key=levels.__getitem__)]
    return [
        {"first": run[0], "last": run[-1], "level": levels[run[0]], "why": _why(run, levels, known)} for run in runs
    ]


def _why(run: list[int], levels: list[int], known: dict[int, Verdict]) -> str:
    """The reason for the value at the edge of a range, the one that a slider reaches first."""
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
    """Whether a surface is declared on which the running law could become unstable."""
    parameters = link.parameters
    return not link.unchecked and any(True for law in laws_of(link) for _ in places(link.task, parameters, law))


def laws_of(link: Link) -> list[str]:
    """The running law, and those that the task's script may switch to."""
    latest = link.board.latest()
    running = law_of(latest.goal.law).name if latest is not None else link.task.law
    return sorted({running, *(event.law for event in link.task.events if event.law)})


def _verdict(link: Link, laws: list[str], now: Parameters, values: dict[str, Any]) -> Verdict:
    try:
        after = changed_live(now, values)
        link.check_now(now, after)
    except PliantError as error:
        return Verdict(REJECTED, str(error))
    if link.unchecked:
        return Verdict(FINE)
    for law in laws:
        found = objection(link.task, after, law)
        was = objection(link.task, now, law) if found is not None else None
        if found is not None and (was is None or found.badness > was.badness):
            return Verdict(REJECTED, f"Rejected: {found.words}")
    return next((Verdict(THIN, words) for law in laws if (words := _thin(link, after, law))), Verdict(FINE))


def _thin(link: Link, parameters: Parameters, law: str) -> str:
    """The note about a small gain margin; empty if it is large enough."""
    for place in places(link.task, parameters, law):
        if not place.bears(EASY):
            return (
                f"Little reserve: on a surface of {place.stiffness:.3g} N/m the gain margin is {place.margin:.2g}; "
                f"below {LEAST_MARGIN:g} the value is rejected."
            )
    return ""
