"""Options of a single experiment, declared as a module-level `OPTIONS`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.errors import InputError, RejectedError, UnknownNameError


@dataclass(frozen=True)
class Option:
    """``--name VALUE``. `run` receives it as a keyword: a value, or with `many` a tuple of all given values."""

    name: str
    """Its name on the command line, with hyphens."""
    help: str
    """One sentence."""
    choices: tuple[str, ...] = ()
    """The allowed values; empty for a path or a number."""
    many: bool = False
    """Whether it may be given more than once."""
    number: tuple[int, int] | None = None
    """The bounds of a whole number; None for a name or a path."""
    text: bool = False
    """Whether any text is allowed, which the experiment checks itself."""

    @property
    def keyword(self) -> str:
        """Its name as a keyword of `run`."""
        return self.name.replace("-", "_")

    def value(self, text: str) -> str | Path | int:
        """The value of `text`; an unknown value raises an error that lists the allowed ones."""
        if self.number is not None:
            low, high = self.number
            if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
                raise InputError(f"--{self.name}", text, f"a whole number from {low} to {high}")
            return int(text)
        if self.choices and text not in self.choices:
            raise UnknownNameError(self.name, text, self.choices)
        return text if self.choices or self.text else Path(text)


def parse(experiment: str, declared: Sequence[Option], words: Sequence[str]) -> dict[str, Any]:
    """The keywords for `run` from command-line arguments, such as ``--rival saturated --rival=sign``."""
    by_name = {f"--{option.name}": option for option in declared}
    found: dict[str, Any] = {}
    rest = list(words)
    while rest:
        name, given, text = rest.pop(0).partition("=")
        option = by_name.get(name)
        if option is None:
            known = ", ".join([*sorted(by_name), "--json", "--plot"])
            said = f"Unknown option {name} for the experiment {experiment}. It accepts {known} and --seed."
            raise RejectedError(said, field=name)
        if not given:
            if not rest or rest[0].startswith("--"):
                raise RejectedError(f"--{option.name} needs a value. {option.help}", field=name)
            text = rest.pop(0)
        value = option.value(text)
        if option.many:
            found[option.keyword] = (*found.get(option.keyword, ()), value)
        elif option.keyword in found:
            raise RejectedError(f"--{option.name} can be given only once.", field=name, value=text)
        else:
            found[option.keyword] = value
    return found
