"""Errors that a user can act on: what was wrong, what is allowed, what to do.

Every error of Pliant is a `PliantError`; the command line prints it as one sentence and exits with `exit_code`.
Errors are raised before anything moves. Inside the control loop a fault is a value, never an exception.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import Any, Self

# A longer value, a longer list of names, or of further problems, is shortened.
_MOST_CHARACTERS, _MOST_NAMES, _MOST_OTHERS = 160, 16, 8


def said(value: Any, unit: str = "") -> str:
    """A value as messages show it: numbers without a needless ".0", lists in brackets, with its unit if it has one."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        text = f"[{', '.join(said(item) for item in value)}]"
    elif isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        text = f"{number:g}" if float(f"{number:g}") == number else f"{number:.10g}"
        text += f" {unit}" if unit and math.isfinite(number) else ""
    else:
        text = repr(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def shortened(text: object) -> str:
    """A text as messages show it: without characters that a terminal does not show, and not too long."""
    shown = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(text)[:_MOST_CHARACTERS])
    return shown if len(str(text)) <= _MOST_CHARACTERS else f"{shown[:-1]}…"


def lowered(sentence: str) -> str:
    """A sentence as it goes on after a colon: any other first word than these may be a name, which keeps its case."""
    return sentence[0].lower() + sentence[1:] if sentence.startswith(("Unknown ", "The ")) else sentence


class PliantError(Exception):
    """Base class of all errors that Pliant raises on purpose."""

    exit_code = 2
    """Exit code of a command that ends with this error."""

    def at(self, place: str) -> Self:
        """This error with the place in front, such as a file: ``task.yaml: events[0] does nothing.``"""
        self.args = (f"{place}: {lowered(str(self))}" if place else str(self),)
        return self


class InputError(PliantError):
    """A value that cannot be used. Names the field, the value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str, hint: str = "", *, unit: str = "") -> None:
        self.field, self.value, self.allowed, self.hint = field, value, allowed, hint
        self.unit = unit
        """Unit of the value ("" for none)."""
        super().__init__(f"{field} is {said(value, unit)}, but it must be {allowed}." + (f" {hint}" if hint else ""))

    others: tuple[InputError, ...] = ()
    """Further problems of the same input; the message lists the first ones too."""
    alone = ""
    """The message without the further problems ("": there are none)."""

    def with_others(self, others: Iterable[InputError]) -> Self:
        """This error, with further problems of the same input."""
        self.others = tuple(others)
        if self.others:
            self.alone = str(self)
            rest = len(self.others) - _MOST_OTHERS
            more = f" And {rest} more problem{'s' * (rest > 1)}." if rest > 0 else ""
            self.args = (f"{self} Also wrong: {' '.join(map(str, self.others[:_MOST_OTHERS]))}{more}",)
        return self


class RejectedError(InputError):
    """A request that cannot be carried out, with the reason as a complete sentence."""

    def __init__(self, sentence: str, *, field: str = "", value: object = None) -> None:
        PliantError.__init__(self, sentence)
        self.field, self.value, self.allowed, self.hint, self.unit = field, value, "", "", ""


class UnknownNameError(InputError):
    """An unknown name. Lists the known names and suggests the nearest one.

    `first` is the section whose names are suggested first; `all_names` says where to find a long list of names, `none`
    what to do if there are none, and `hint` what else can be given.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        choices: Iterable[str],
        *,
        first: str = "",
        all_names: str = "",
        none: str = "",
        hint: str = "",
    ) -> None:
        self.kind, self.name, self.choices = kind, name, sorted(choices)
        self.field, self.value, self.allowed, self.hint, self.unit = kind, name, "", hint, ""
        words = did_you_mean(str(name), self.choices, first=first, all_names=all_names) + (f" {hint}" if hint else "")
        PliantError.__init__(
            self, f"Unknown {kind} {said(name)}{f': {none}' if none and not self.choices else f'.{words}'}"
        )


def did_you_mean(name: str, choices: Iterable[str], *, first: str = "", all_names: str = "", within: str = "") -> str:
    """A suggestion, if a name is close, and the known names; a long list is shortened to a section or to sections.

    Names in a section `within` another are suggested with its name: ``tool.mass_kg``.
    """
    known = sorted(choices)
    near = nearest(name, known, first)
    hint = f" Did you mean {(f'{within}.{near}' if within else near)!r}?" if near else ""
    if near and 1 < len(alike := _same_unit(name, near, known)) <= _MOST_NAMES:
        hint = f" Did you mean one of {', '.join(alike)}?"
    if len(known) <= _MOST_NAMES:
        return f"{hint} Known{f' in {within}' if within else ''}: {', '.join(known) or 'none'}."
    more = f" {all_names}" if all_names else ""
    if near and more:
        return f"{hint}{more}"
    section = (near or name).partition(".")[0]
    beside = [choice for choice in known if choice.startswith(f"{section}.")]
    if not 0 < len(beside) <= _MOST_NAMES:
        beside = sorted({f"{start}.…" if rest else start for start, _, rest in (c.partition(".") for c in known)})
    rest = len(beside) - _MOST_NAMES
    return f"{hint} Known: {', '.join(beside[:_MOST_NAMES])}{f' and {rest} more' if rest > 0 else ''}.{more}"


# How alike a name must be to be suggested, from 0 to 1. Another number is another thing: ur20 is not a misspelt ur10e.
_CLOSE, _VERY_CLOSE = 0.6, 0.8


def nearest(name: str, choices: Iterable[str], first: str = "") -> str:
    """The known name that was probably meant; "" if none is close. Names of the section `first` come first."""
    last = name.rpartition(".")[2]
    close = [choice for choice in choices if _is_close(name, last, choice)]
    return max(close, key=lambda one: (bool(first) and one.startswith(f"{first}."), _likeness(name, one)), default="")


def _same_unit(name: str, near: str, choices: Iterable[str]) -> list[str]:
    """The names in the section of `name` with the same unit, if `near` is only one of several guesses.

    With contact.force_n, a user may mean the force to hold or the force limit.
    """
    section, _, last = name.rpartition(".")
    if not section or "_" not in last or _likeness(last, near.rpartition(".")[2]) >= _VERY_CLOSE:
        return []
    return [one for one in choices if one.startswith(f"{section}.") and one.endswith(f"_{last.rpartition('_')[2]}")]


def _is_close(name: str, last: str, choice: str) -> bool:
    """Whether a name may be meant by another one: as a whole and in its last part."""
    section, _, end = choice.rpartition(".")
    if (mine := _digits(name)) and (other := _digits(choice)) and mine != other:
        return False
    if "." in choice and "." not in name:  # without a section, the name itself must be very close
        return _likeness(name, end) >= _VERY_CLOSE
    if last != end and _likeness(name.rpartition(".")[0], section) < _CLOSE:  # another section has other parameters
        return False
    return _likeness(name, choice) >= _CLOSE and _likeness(last, end) >= _CLOSE


def _digits(name: str) -> str:
    return "".join(character for character in name if character.isdigit())


def _likeness(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b).ratio()


class ModelError(PliantError):
    """A robot description from which no model can be built."""


class RecordingError(PliantError):
    """A file that is not a usable recording."""

    def __init__(self, path: Path | str, why: str) -> None:
        self.path, self.why = Path(path), why
        super().__init__(f"{path} {why}")


class UnwritableError(RecordingError, InputError):
    """A file that cannot be written, with the reason and what to do."""

    def __init__(self, path: Path | str, error: OSError) -> None:
        self.field, self.value, self.allowed, self.hint, self.unit = "the file", str(path), "", "", ""
        self.path = Path(path)
        self.why, remedy = unwritable(self.path, error), "Choose another file."
        if isinstance(error, IsADirectoryError):
            remedy = "Give a file name."
        PliantError.__init__(self, f"Cannot write {path}: {self.why}. {remedy}")


def unwritable(path: Path, error: OSError) -> str:
    """Why a file cannot be written, in words; `error` is that of the file, or of making its folder."""
    if isinstance(error, IsADirectoryError):
        return "it is a folder"
    if path.parent.exists() and not path.parent.is_dir():
        return f"{path.parent} is a file, not a folder"
    if error.filename is not None and Path(error.filename) != path:
        return f"the folder {path.parent} cannot be created"
    if isinstance(error, FileNotFoundError | NotADirectoryError | FileExistsError):
        return "no file can be created in this folder" if path.parent.is_dir() else "the folder does not exist"
    if isinstance(error, PermissionError):
        return "the file or its folder is not writable"
    return (error.strerror or str(error)).lower()


class LoopError(PliantError):
    """The control loop stopped or does not respond; `black_box` is the recording of its last seconds, if there is one.

    `headline` begins the message; the reason follows.
    """

    exit_code = 3
    """Exit code of a command that ends with this error."""

    def __init__(
        self, reason: str, black_box: Path | None = None, *, headline: str = "The control loop stopped"
    ) -> None:
        self.reason, self.black_box = reason, black_box
        kept = f" The last seconds are in {black_box}. Diagnose them: pliant doctor {black_box}" if black_box else ""
        super().__init__(f"{headline}: {reason}.{kept}")


class WaitTimeoutError(PliantError, TimeoutError):
    """A condition that did not become true in time."""

    exit_code = 3
    """Exit code of a command that ends with this error."""


class RobotError(PliantError):
    """A robot that can no longer be driven. Its text completes the sentence "The control loop stopped: …"."""

    exit_code = 3


class LawError(PliantError):
    """The run finished, but its law, such as a contact, ended in a fault or never started."""

    exit_code = 3

    def __init__(self, subject: str, reason: str) -> None:
        self.reason = reason
        never = reason.startswith("it never started")
        super().__init__(
            f"The {subject}{reason.removeprefix('it')}." if never else f"The {subject} ended in a fault: {reason}."
        )


class MissionError(PliantError):
    """A mission stopped before its tool reached the goal."""

    exit_code = 3

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The mission did not reach its goal: {reason}.")
