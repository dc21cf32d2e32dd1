"""Faults of the emulated controller, and how to request them: one line of words.

protective stop | emergency stop | safeguard stop | safety stop | stop program | mode idle | local control
speed slider 0.5 | silence 0.5 | late 0.02 | hang up | watchdog slow 3 | lockstep 5 | push 10 0 0 0 0 0 1.5 | clear
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.errors import InputError, RejectedError, UnknownNameError

# What the numbers of a fault are, and an example of them.
_NUMBERS = {
    "speed slider": ("the position of the slider, 0 to 1", "0.5"),
    "silence": ("the duration [s]", "0.5"),
    "late": ("the delay [s]", "0.02"),
    "watchdog slow": ("the shortest time until it acts [s]", "3"),
    "lockstep": ("the longest wait for a command [s]", "5"),
    "push": ("the wrench [N, N m] and the duration [s]", "10 0 0 0 0 0 1.5"),
}
# How many numbers follow the words.
FAULTS = {
    "protective stop": 0, "emergency stop": 0, "safeguard stop": 0, "safety stop": 0, "stop program": 0, "mode idle": 0,
    "local control": 0, "speed slider": 1, "silence": 1, "late": 1, "hang up": 0, "watchdog slow": 1,
    "lockstep": 1, "push": 7, "clear": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """One fault, injected `at_s` after the first motion command (None: now)."""

    name: str
    numbers: tuple[float, ...] = ()
    at_s: float | None = None

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Parse ``silence 0.5`` or, for a later time, ``silence 0.5 @ 3``."""
        words, at, when = text.partition("@")
        name = next((name for name in FAULTS if f"{words.strip()} ".startswith(f"{name} ")), None)
        if name is None:
            raise UnknownNameError("fault", words.strip(), FAULTS)
        given = words.strip()[len(name) :].split()
        try:
            numbers, at_s = tuple(float(word) for word in given), float(when) if at else None
        except ValueError:
            raise _malformed(name, text) from None
        if len(numbers) != FAULTS[name]:
            raise _malformed(name, text)
        times = (*(numbers[-1:] if name == "push" else numbers), *(() if at_s is None else (at_s,)))
        if not all(map(math.isfinite, (*numbers, *times))) or any(value < 0.0 for value in times):
            raise InputError("fault", text, "finite numbers, and times that are not negative")
        return cls(name, numbers, at_s)


def _malformed(name: str, text: str) -> RejectedError:
    """The error for a fault without the numbers that it needs, with an example."""
    count = {0: "takes no number", 1: "needs one number"}.get(FAULTS[name], f"needs {FAULTS[name]} numbers")
    what, example = _NUMBERS.get(name, ("", ""))
    form = f"{name} {example}".strip()
    said = f"'{name}' {count}{f': {what}' if what else ''}, as in '{form} @ 3'."
    return RejectedError(said, field="fault", value=text)
