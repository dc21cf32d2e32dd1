"""Options of the command line: bounds of numbers, in the unit in which they are typed, and endings of file names."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.errors import RejectedError

_DAY_S = 86400.0

# Help of --loop where a command changes or moves a loop.
LOOP_HELP = "Name of the loop. Without it: the only running loop, if it is simulated and was started in this folder."


@dataclass(frozen=True)
class Range:
    """The bounds of an option; with `above`, the lower one is excluded."""

    option: str
    low: float
    high: float = math.inf
    unit: str = ""
    above: bool = False

    def allows(self, value: float) -> bool:
        """Whether the value is a number within the bounds."""
        return (value > self.low if self.above else value >= self.low) and value <= self.high

    def words(self) -> str:
        """The bounds with their unit, in words."""
        if math.isinf(self.high):
            return self._with_unit(f"{'more than' if self.above else 'at least'} {_plain(self.low)}")
        if self.above:
            return self._with_unit(f"more than {_plain(self.low)} and at most {_plain(self.high)}")
        return self._with_unit(f"{_plain(self.low)} to {_plain(self.high)}")

    def check(self, value: float, hint: str = "") -> None:
        """Raise `RejectedError` unless the value is allowed; the message names the option, value, unit and bounds."""
        if not self.allows(value):
            given = self._with_unit(_plain(value)) if math.isfinite(value) else str(value)
            said = f"{self.option} is {given}, but it must be {self.words()}."
            raise RejectedError(f"{said} {hint}".strip(), field=self.option, value=value)

    def _with_unit(self, words: str) -> str:
        return words + (self.unit if self.unit == "°" else f" {self.unit}" if self.unit else "")


def _plain(number: float) -> str:
    return f"{number:.10g}"


_SEED = Range("--seed", 0, 2**31 - 1)
# By the verb and the name of the parameter of its function.
RANGES: dict[str, dict[str, Range]] = {
    "run": {
        "rate": Range("--rate", 125, 1000, "Hz"),
        "duration": Range("--duration", 0, _DAY_S, "s", above=True),
        "seed": _SEED,
    },
    "push": {"duration": Range("--duration", 0, 60, "s", above=True)},
    "tare": {"duration": Range("--duration", 0.05, 5, "s")},
    "identify": {
        "poses": Range("--poses", 4, 60),
        "bandwidth": Range("--bandwidth", 0.5, 10, "Hz"),
        "duration": Range("--duration", 2, 120, "s"),
    },
    "emulate": {"duration": Range("--duration", 0.1, _DAY_S, "s")},
    "plan": {"timeout": Range("--timeout", 0, _DAY_S, "s", above=True)},
    "studio": {"port": Range("--port", 0, 65535)},
    "experiment": {"seed": _SEED},
    "bench": {"duration": Range("--duration", 0.5, 600, "s")},
}
AMPLITUDE_MM = Range("--amplitude", 0.1, 20, "mm")
AMPLITUDE_DEG = Range("--amplitude", 0.03, 5.7, "°")


PICTURES = (".png", ".svg", ".pdf")


def must_end(option: str, path: Path | None, *endings: str) -> None:
    """Raise `RejectedError` unless the file name that was given with `option` has one of these endings."""
    if path is None or path.suffix.lower() in endings or path.is_dir():  # a folder has a message of its own
        return
    allowed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
    raise RejectedError(f"{option} is '{path}', but it must end in {allowed}.", field=option, value=str(path))


def checked(verb: str, command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, which first checks its numeric options."""
    ranges = RANGES.get(verb, {})

    @functools.wraps(command)
    def check_and_run(*args: Any, **options: Any) -> Any:
        for name, allowed in ranges.items():
            if options.get(name) is not None:
                allowed.check(options[name])
        return command(*args, **options)

    return check_and_run
