"""Undo and redo of parameter changes. Only what was changed here is undone; what others have changed since is kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from pliant.control.parameters import Parameters
from pliant.errors import RejectedError
from pliant.params.declare import declared, flat, value_at
from pliant.params.matrix import compact, with_unit

MOST = 100
"""So many changes can be undone: tuning for hours must not fill the memory."""

Place = tuple[str, int | None]
"""An element of a parameter that is a list of numbers, or the whole (None) of any other parameter."""
Change = dict[Place, tuple[Any, Any]]
"""The old and the new value at each place."""


class TunableArm(Protocol):
    """An arm whose parameters can be changed."""

    @property
    def parameters(self) -> Parameters: ...

    def change(self, values: dict[str, Any]) -> tuple[Parameters, Parameters]:
        """Change live parameters; returns the set before and the set after."""
        ...


class _Done(NamedTuple):
    """A change: the names, and the sets before and after. What it changed in them is worked out when it is undone."""

    names: tuple[str, ...]
    before: Parameters
    after: Parameters

    def change(self) -> Change:
        return _difference(self.names, self.before, self.after)


class Changes:
    """The changes that one user has made to the parameters of one arm. One drag of a slider is one change."""

    def __init__(self) -> None:
        self._done: deque[_Done | Change] = deque(maxlen=MOST)
        self._undone: list[Change] = []
        self._drag = 0

    def __len__(self) -> int:
        return len(self._done)

    def set(self, arm: TunableArm, values: dict[str, Any], drag: int = 0) -> None:
        """Change parameters; those of one `drag` (any number but 0) are undone together."""
        self._note(_Done(tuple(values), *arm.change(values)), drag)

    def note(self, arm: TunableArm, names: Iterable[str], act: Callable[[], object]) -> None:
        """Let `act` change the parameters of these names, and note what it changed."""
        before = arm.parameters
        act()
        self._note(_Done(tuple(names), before, arm.parameters), 0)

    def _note(self, done: _Done, drag: int) -> None:
        if not drag and all(value_at(done.before, name) == value_at(done.after, name) for name in done.names):
            return
        noted: _Done | Change = done
        if drag:
            noted = change = done.change()
            last = _as_change(self._done[-1]) if drag == self._drag and self._done else None
            if last is not None and _continues(last, change):
                self._done.pop()
                noted = {place: (was, change.get(place, (was, now))[1]) for place, (was, now) in last.items()}
                noted = {place: (was, now) for place, (was, now) in noted.items() if was != now}
        self._drag = 0  # a hand that is back where it began has changed nothing; what it does next is another change
        if noted:
            self._done.append(noted)
            self._undone.clear()
            self._drag = drag

    def undo(
        self, arm: TunableArm, earlier: Parameters | None = None, *, any_known: bool = False
    ) -> dict[str, tuple[Any, Any]]:
        """Undo the last change, except where someone else has changed the same value since.

        Without a change of one's own, the last change of anyone is undone: the one from the set `earlier`. Returns
        {name: (old, new)}. `any_known` says whether anyone has changed a parameter: it makes the message clearer.
        """
        if not self._done and earlier is not None:
            now = arm.parameters
            self._done.extend([change] if (change := _difference(flat(now), earlier, now)) else ())
        if not self._done:
            if any_known or self._undone:
                raise RejectedError("Nothing left to undo: all changes have been undone.")
            raise RejectedError("Nothing to undo: no parameter has been changed.")
        change = _as_change(self._done[-1])
        back = {place: (now, was) for place, (was, now) in change.items()}
        found = _take_back(arm, self._done, back, "undone")
        self._done.pop()
        self._undone.append(change)
        self._drag = 0
        return found

    def redo(self, arm: TunableArm) -> dict[str, tuple[Any, Any]]:
        """Repeat the last change that was undone, except where someone else has changed the same value since."""
        if not self._undone:
            raise RejectedError("Nothing to redo: no change has been undone.")
        found = _take_back(arm, self._undone, self._undone[-1], "redone")
        self._done.append(self._undone.pop())
        return found


def unwound(sets: Iterable[tuple[int, int, Parameters]]) -> tuple[list[Parameters], set[int]]:
    """The sets that undoing leads back through, oldest first; and the revisions that undid the change before them."""
    stack, undos = list[Parameters](), set[int]()
    for revision, _, known in sets:
        if len(stack) > 1 and known == stack[-2]:  # what it undid is not undone again
            stack.pop()
            undos.add(revision)
        else:
            stack.append(known)
    return stack, undos


def _as_change(done: _Done | Change) -> Change:
    return done.change() if isinstance(done, _Done) else done


def _is_row(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(type(number) in (int, float) for number in value)


def _difference(names: Iterable[str], before: Parameters, after: Parameters) -> Change:
    """What has changed, number by number: the others in a row may be someone else's."""
    found: Change = {}
    for name in names:
        was, now = compact(value_at(before, name)), compact(value_at(after, name))
        if _is_row(was) and _is_row(now):
            found |= {(name, i): pair for i, pair in enumerate(zip(was, now, strict=True)) if pair[0] != pair[1]}
        elif was != now:
            found[name, None] = was, now
    return found


def _continues(last: Change, change: Change) -> bool:
    """Whether a change begins where the last one ended: then no other change came in between."""
    return all(place in last and was == last[place][1] for place, (was, _) in change.items())


def _take_back(arm: TunableArm, kept: Any, change: Change, done: str) -> dict[str, tuple[Any, Any]]:
    """Make the last change of those `kept`, except where it was changed again since; drop it if nothing is left."""
    now, own = arm.parameters, dict[str, Any]()
    for (name, i), (expected, then) in change.items():
        value = compact(value_at(now, name))
        if i is None and value == expected:
            own[name] = then
        elif i is not None and _is_row(value) and value[i] == expected:
            own.setdefault(name, [None] * len(value))[i] = then  # None: as it is
    if not own:
        kept.pop()
        units = {item.name: item.unit for item in declared(type(now))}
        names = list(dict.fromkeys(name for name, _ in change))
        words = ", ".join(f"{name} (now {with_unit(value_at(now, name), units[name])})" for name in names)
        have = "have" if len(names) > 1 else "has"
        raise RejectedError(f"Nothing was {done}: {words} {have} been changed since. Set the value directly.")
    before, after = arm.change(own)
    return {name: (value_at(before, name), value_at(after, name)) for name in own}
