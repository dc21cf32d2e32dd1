"""What one page has changed, so that it can take it back: its own changes, and none of anyone else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from pliant.errors import RefusedError
from pliant.params.declare import flat
from pliant.runtime.link import Link

# So many changes can be taken back.
MOST = 100

Change = dict[str, tuple[Any, Any]]
"""Parameters by name: what they were, and what they were made."""


class History:
    """The changes of one page to the parameters of one loop. Of the ticks of a slider in one hand, one is kept."""

    def __init__(self) -> None:
        self._done: deque[Change] = deque(maxlen=MOST)
        self._undone: list[Change] = []
        self._drag = 0

    def __len__(self) -> int:
        return len(self._done)

    def set(self, link: Link, values: dict[str, Any], drag: int = 0) -> None:
        """Change parameters; those of one `drag` (any number but 0) are taken back together."""
        self.note(link, values, lambda: link.set(values), drag)

    def note(self, link: Link, names: Iterable[str], act: Callable[[], object], drag: int = 0) -> None:
        """Let `act` change the parameters of these names, and keep what it changed."""
        before = flat(link.parameters)
        act()
        after = flat(link.parameters)
        change = {name: (before[name], after[name]) for name in names}
        goes_on = drag != 0 and drag == self._drag and self._done and self._done[-1].keys() == change.keys()
        if goes_on:
            change = {name: (was, change[name][1]) for name, (was, _) in self._done.pop().items()}
        self._drag = 0  # a hand that is back where it began has changed nothing; what it does next is another change
        if any(was != now for was, now in change.values()):
            self._done.append(change)
            self._undone.clear()
            self._drag = drag

    def undo(self, link: Link) -> None:
        """Take the last change back, save where someone else has changed the same since."""
        if not self._done:
            raise RefusedError("There is nothing to undo: this page has changed no parameter of this loop.")
        _swap(link, self._done, {name: (now, was) for name, (was, now) in self._done[-1].items()}, "taken back")
        self._undone.append(self._done.pop())
        self._drag = 0

    def redo(self, link: Link) -> None:
        """Make the last change that was undone once more, save where someone else has changed the same since."""
        if not self._undone:
            raise RefusedError("There is nothing to redo: it must be preceded by an undo.")
        _swap(link, self._undone, self._undone[-1], "made again")
        self._done.append(self._undone.pop())


def _swap(link: Link, kept: deque[Change] | list[Change], change: Change, done: str) -> None:
    """Make the last change of those `kept` where nobody else has. Where all of it is overtaken, it is forgotten."""
    now = flat(link.parameters)
    own = {name: then for name, (expected, then) in change.items() if now[name] == expected}
    if not own:
        kept.pop()
        raise RefusedError(f"Nothing was {done}: {', '.join(change)} was changed by someone else since.")
    link.set(own)
