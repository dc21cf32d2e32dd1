"""Errors that a user can act on: what was wrong, what is allowed, what to do.

Every error of Pliant is a `PliantError`; the command line prints it as one sentence and exits with `exit_code`.
Errors are raised at the door. Inside the control loop a fault is a value, never an exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class PliantError(Exception):
    """Base of all errors that Pliant raises on purpose."""

    exit_code = 2


class InputError(PliantError):
    """A value that cannot be used: names the field, the value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str, hint: str = "") -> None:
        self.field, self.value, self.allowed, self.hint = field, value, allowed, hint
        super().__init__(f"{field} is {value!r}, but it must be {allowed}." + (f" {hint}" if hint else ""))


class RejectedError(InputError):
    """Something that cannot be done as it was asked for, in a sentence of its own."""

    def __init__(self, sentence: str, *, field: str = "", value: object = None) -> None:
        PliantError.__init__(self, sentence)
        self.field, self.value, self.allowed, self.hint = field, value, "", ""


class UnknownNameError(PliantError):
    """A name that nobody registered: lists the names there are and the nearest one."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind, self.name, self.choices = kind, name, sorted(choices)
        super().__init__(f"There is no {kind} {name!r}.{did_you_mean(name, self.choices)}")


# More names than these are told by their sections: nobody reads a hundred.
_MOST_NAMES = 30


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """The nearest of the names there are, and all of them; of very many, those of its section, or the sections."""
    known = sorted(choices)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if len(known) > _MOST_NAMES:
        section = (near[0] if near else name).split(".")[0]
        beside = [choice for choice in known if choice.split(".")[0] == section]
        known = beside or sorted(
            {f"{first}.…" if rest else first for first, _, rest in (c.partition(".") for c in known)}
        )
    return f"{hint} Known: {', '.join(known) or 'none'}."


class ModelError(PliantError):
    """A robot description that cannot be turned into a model."""


class RecordingError(PliantError):
    """A file that is not a usable recording."""

    def __init__(self, path: Path | str, why: str) -> None:
        self.path, self.why = Path(path), why
        super().__init__(f"{path} {why}")


class LoopError(PliantError):
    """The control loop stopped for a reason of its own; `black_box` holds the last seconds of records."""

    exit_code = 3

    def __init__(self, reason: str, black_box: Path | None = None) -> None:
        self.reason, self.black_box = reason, black_box
        kept = f" The last seconds are in {black_box}." if black_box else ""
        super().__init__(f"The control loop stopped: {reason}.{kept}")


class RobotError(PliantError):
    """A robot that cannot be driven any longer, in words that end the sentence "the control loop stopped: …"."""

    exit_code = 3


class ContactError(PliantError):
    """A run came to its end, but its contact ended in a fault."""

    exit_code = 3

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The contact ended in a fault: {reason}.")


class MissionError(PliantError):
    """A mission was stopped before its tool came to its goal."""

    exit_code = 3

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The mission did not reach its goal: {reason}.")
