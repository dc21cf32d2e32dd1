"""Errors that a user can act on: what was wrong, what is allowed, what to do.

Every error of Pliant is a `PliantError`; the command line prints it as one sentence and exits with `exit_code`.
Errors are raised before anything moves. Inside the control loop a fault is a value, never an exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class PliantError(Exception):
    """Base class of all errors that Pliant raises on purpose."""

    exit_code = 2


class InputError(PliantError):
    """A value that cannot be used. Names the field, the value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str, hint: str = "") -> None:
        self.field, self.value, self.allowed, self.hint = field, value, allowed, hint
        super().__init__(f"{field} is {value!r}, but it must be {allowed}." + (f" {hint}" if hint else ""))


class RejectedError(InputError):
    """A request that cannot be carried out, with the reason as a complete sentence."""

    def __init__(self, sentence: str, *, field: str = "", value: object = None) -> None:
        PliantError.__init__(self, sentence)
        self.field, self.value, self.allowed, self.hint = field, value, "", ""


class UnknownNameError(PliantError):
    """An unknown name. Lists the known names and suggests the nearest one."""

    def __init__(self, kind: str, name: str, choices: Iterable[str]) -> None:
        self.kind, self.name, self.choices = kind, name, sorted(choices)
        super().__init__(f"Unknown {kind} {name!r}.{did_you_mean(name, self.choices)}")


# A longer list of names is shortened to sections.
_MOST_NAMES = 30


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A suggestion and the list of known names; a long list is shortened to the name's section, or to the sections."""
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
    """A robot description from which no model can be built."""


class RecordingError(PliantError):
    """A file that is not a usable recording."""

    def __init__(self, path: Path | str, why: str) -> None:
        self.path, self.why = Path(path), why
        super().__init__(f"{path} {why}")


class LoopError(PliantError):
    """The control loop stopped or does not respond; `black_box` is the recording of its last seconds, if there is one.

    `headline` begins the message; the reason follows.
    """

    exit_code = 3

    def __init__(
        self, reason: str, black_box: Path | None = None, *, headline: str = "The control loop stopped"
    ) -> None:
        self.reason, self.black_box = reason, black_box
        kept = f" The last seconds are in {black_box}." if black_box else ""
        super().__init__(f"{headline}: {reason}.{kept}")


class RobotError(PliantError):
    """A robot that can no longer be driven. Its text completes the sentence "The control loop stopped: …"."""

    exit_code = 3


class ContactError(PliantError):
    """The run finished, but its contact ended in a fault or never started."""

    exit_code = 3

    def __init__(self, reason: str) -> None:
        self.reason = reason
        never = reason.startswith("it never started")
        super().__init__(
            f"The contact{reason.removeprefix('it')}." if never else f"The contact ended in a fault: {reason}."
        )


class MissionError(PliantError):
    """A mission stopped before its tool reached the goal."""

    exit_code = 3

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The mission did not reach its goal: {reason}.")
