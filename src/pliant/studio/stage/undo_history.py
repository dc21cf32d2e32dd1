"""The changes of one page, so that it can undo them: its own changes, and no one else's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from pliant.errors import RejectedError
from pliant.session.link import Link
from pliant.studio.shown_parameters import values_of

# So many changes can be taken back.
MOST = 100

Place = tuple[str, int | None]
"""An element of a parameter that is a list of numbers, or the whole (None) of any other parameter."""
Change = dict[Place, tuple[Any, Any]]
"""The old and the new value at each place."""


class History:
    """The changes of one page to the parameters of one loop. One drag of a slider is one change."""

    def __init__(self) -> None:
        self._done: deque[Change] = deque(maxlen=MOST)
        self._undone: list[Change] = []
        self._drag = 0

    def __len__(self) -> int:
        return len(self._done)

    def set(self, link: Link, values: dict[str, Any], drag: int = 0) -> None:
        """Change parameters; those of one `drag` (any number but 0) are undone together."""
        self.note(link, values, lambda: link.set(values), drag)

    def note(self, link: Link, names: Iterable[str], act: Callable[[], object], drag: int = 0) -> None:
        """Let `act` change the parameters of these names, and note what it changed."""
        before = values_of(link.parameters)
        act()
        change = _change(names, before, values_of(link.parameters))
        if drag != 0 and drag == self._drag and self._done and _goes_on(self._done[-1], change):
            last = self._done.pop()
            change = {place: (was, change.get(place, (was, now))[1]) for place, (was, now) in last.items()}
            change = {place: (was, now) for place, (was, now) in change.items() if was != now}
        self._drag = 0  # a hand that is back where it began has changed nothing; what it does next is another change
        if change:
            self._done.append(change)
            self._undone.clear()
            self._drag = drag

    def undo(self, link: Link) -> None:
        """Undo the last change, except where someone else has changed the same value since."""
        if not self._done:
            raise RejectedError("Nothing to undo: this page has changed no parameter of this loop.")
        _swap(link, self._done, {place: (now, was) for place, (was, now) in self._done[-1].items()}, "undone")
        self._undone.append(self._done.pop())
        self._drag = 0

    def redo(self, link: Link) -> None:
        """Repeat the last change that was undone, except where someone else has changed the same value since."""
        if not self._undone:
            raise RejectedError("Nothing to redo: undo a change first.")
        _swap(link, self._undone, self._undone[-1], "redone")
        self._done.append(self._undone.pop())


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(type(number) in (int, float) for number in value)


def _change(names: Iterable[str], before: dict[str, Any], after: dict[str, Any]) -> Change:
    """What is another now, number by number: those beside it in a row may be someone else's."""
    found: Change = {}
    for name in names:
        was, now = before[name], after[name]
        if _is_row(was) and _is_row(now):
            found |= {(name, i): pair for i, pair in enumerate(zip(was, now, strict=True)) if pair[0] != pair[1]}
        elif was != now:
            found[name, None] = was, now
    return found


def _goes_on(last: Change, change: Change) -> bool:
    """Whether a change begins where the last one ended: then nobody else came in between."""
    return all(place in last and was == last[place][1] for place, (was, _) in change.items())


def _at(values: dict[str, Any], place: Place) -> Any:
    name, i = place
    if i is None:
        return values[name]
    return values[name][i] if _is_row(values[name]) else None


def _swap(link: Link, kept: deque[Change] | list[Change], change: Change, done: str) -> None:
    """Make the last change of those `kept` where nobody else has. Where all of it is overtaken, it is forgotten."""
    now, own = values_of(link.parameters), dict[str, Any]()
    for (name, i), (expected, then) in change.items():
        if _at(now, (name, i)) != expected:
            continue
        if i is None:
            own[name] = then
        else:
            own.setdefault(name, [None] * len(now[name]))[i] = then  # None: as it is
    if not own:
        kept.pop()
        names = ", ".join(dict.fromkeys(name for name, _ in change))
        raise RejectedError(f"Nothing was {done}: {names} was changed by someone else since.")
    link.set(own)
