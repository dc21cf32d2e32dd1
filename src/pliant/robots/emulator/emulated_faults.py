"""Faults of the emulated controller, and how to request them: one line of words.

protective stop | emergency stop | safeguard stop | safety stop | stop program | mode idle | local control
speed slider 0.5 | silence 0.5 | late 0.02 | hang up | watchdog slow 3 | lockstep 5 | push 10 0 0 0 0 0 1.5
false position 2 1e6 | false speed 2 1e9 | false zeros | false shift 1 | false stamp | clear
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.errors import RejectedError, UnknownNameError

# What the numbers of a fault are, and an example of them.
_NUMBERS = {
    "speed slider": ("the position of the slider, 0 to 1", "0.5"),
    "silence": ("the duration [s]", "0.5"),
    "late": ("the delay [s]", "0.02"),
    "watchdog slow": ("the shortest time until it acts [s]", "3"),
    "lockstep": ("the longest wait for a command [s]", "5"),
    "push": ("the wrench [N, N m] and the duration [s]", "10 0 0 0 0 0 1.5"),
    "false position": ("the joint, 1 to 6, and what it reports [rad]", "2 1e6"),
    "false speed": ("the joint, 1 to 6, and what it reports [rad/s]", "2 1e9"),
    "false shift": ("what is added to all positions [rad]", "1"),
}
# What the last number of a fault is, and its unit: it must not be negative.
_LAST = {
    "speed slider": ("position", ""), "silence": ("duration", "s"), "late": ("delay", "s"),
    "watchdog slow": ("time", "s"), "lockstep": ("wait", "s"), "push": ("duration", "s"),
}  # fmt: skip
# The first number of these is a joint.
_JOINT_FIRST = {"false position", "false speed"}
# How many numbers follow the words.
FAULTS = {
    "protective stop": 0, "emergency stop": 0, "safeguard stop": 0, "safety stop": 0, "stop program": 0, "mode idle": 0,
    "local control": 0, "speed slider": 1, "silence": 1, "late": 1, "hang up": 0, "watchdog slow": 1,
    "lockstep": 1, "push": 7, "false position": 2, "false speed": 2, "false zeros": 0, "false shift": 1,
    "false stamp": 0, "clear": 0,
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
        numbers = tuple(_number(word) for word in words.strip()[len(name) :].split())
        if len(numbers) != FAULTS[name] or not all(map(math.isfinite, numbers)):
            raise _malformed(name, text)
        if name in _JOINT_FIRST and numbers[0] not in range(1, 7):
            raise _rejected(f"The joint in '{text}' is {numbers[0]:g}", "a whole number from 1 to 6", text)
        if numbers and name in _LAST and numbers[-1] < 0.0:
            what, unit = _LAST[name]
            least = f"0 {unit}".strip()
            raise _rejected(f"The {what} in '{text}' is {numbers[-1]:g} {unit}".strip(), f"{least} or more", text)
        return cls(name, numbers, _time(when.strip(), text) if at else None)

    def __str__(self) -> str:
        """In words, with its time."""
        numbers = " ".join(f"{number:g}" for number in self.numbers)
        when = "at once" if self.at_s is None else f"{self.at_s:g} s after the first motion command"
        return f"{self.name} {numbers}".strip() + f", {when}"


def _number(word: str) -> float:
    """The number in a word; NaN if it is not one."""
    try:
        return float(word)
    except ValueError:
        return math.nan


def _time(word: str, text: str) -> float:
    """The time after @ [s]."""
    at_s = _number(word)
    if not math.isfinite(at_s):
        raise _rejected(f"The time after @ is '{word}'", "a number [s], as in 'silence 0.5 @ 3'", text)
    if at_s < 0.0:
        raise _rejected(f"The time after @ is {at_s:g} s", "0 s or more", text)
    return at_s


def _rejected(what: str, allowed: str, text: str) -> RejectedError:
    return RejectedError(f"{what}, but it must be {allowed}.", field="--fault", value=text)


def _malformed(name: str, text: str) -> RejectedError:
    """The error for a fault without the numbers that it needs, with an example."""
    count = {0: "takes no number", 1: "needs one number"}.get(FAULTS[name], f"needs {FAULTS[name]} numbers")
    what, example = _NUMBERS.get(name, ("", ""))
    form = f"{name} {example}".strip()
    said = f"'{name}' {count}{f': {what}' if what else ''}, as in '{form} @ 3'."
    return RejectedError(said, field="--fault", value=text)
