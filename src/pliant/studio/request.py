"""A request of a page: its words, checked as they are read, and the loop that the page was looking at."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError, RejectedError
from pliant.runtime.link import Link
from pliant.runtime.mission_link import MissionLink
from pliant.studio.brake import Brake
from pliant.studio.history import History
from pliant.studio.settle import settle
from pliant.studio.stage import Stage

# The longest message that is read [bytes].
MESSAGE_BYTES = 65536

Message = dict[str, Any]


class Request:
    """What a page asks for, and when: for which run of the stage, and after how many stops."""

    def __init__(self, stage: Stage, message: Message, history: History) -> None:
        self.stage, self.message, self.history = stage, message, history
        run = message.get("run", stage.number)
        if type(run) is not int:
            raise InputError("run", str(run)[:40], "the number of the run that the page shows")
        self.run, self.stops = run, stage.stops
        self.arrived_ns, self.arrived_s = time.time_ns(), time.monotonic()
        self.brakes: list[Brake] = []
        """Loops that were told to stop when this arrived."""

    # -- what it is for --

    @property
    def arm(self) -> Link:
        """The loop of an arm that the page was looking at; raises when another is shown by now, or none."""
        return self.stage.arm(self.run)

    @property
    def mission(self) -> MissionLink:
        """The mission that the page was looking at; raises when another is shown by now, or none."""
        return self.stage.mission(self.run)

    def check_run(self) -> None:
        """Raise if another loop is shown by now than when this was asked for."""
        self.stage.check_run(self.run)

    @property
    def is_stopped(self) -> bool:
        """Whether a stop has come since."""
        return self.stage.stops != self.stops

    def check_stops(self) -> None:
        """Raise if a stop has come since: what was asked for before it must not move a robot after it."""
        if self.is_stopped:
            raise RejectedError("A stop came before this was done, so it was not done. Ask again if you still want it.")

    # -- what it says --

    def text(self, field: str, default: str | None = None) -> str:
        value = self.message.get(field, default)
        if not isinstance(value, str) or len(value) > 500:
            raise InputError(field, value, "a text")
        return value

    def numbers(self, field: str, *sizes: int) -> list[float]:
        value = self.message.get(field)
        numbers = [float(v) for v in value if type(v) in (int, float)] if isinstance(value, list) else []
        if (
            not isinstance(value, list)
            or len(numbers) != len(value)
            or len(value) not in sizes
            or not np.isfinite(numbers).all()
        ):
            raise InputError(field, value, f"{' or '.join(map(str, sizes))} finite numbers")
        return numbers

    def numbers_onto(self, now: Callable[[Link], Any], field: str, *sizes: int) -> list[float]:
        """The same, where null leaves a number as it is `now`, when the loop has obeyed all that was asked before."""
        value = self.message.get(field)
        if not isinstance(value, list) or None not in value or all(each is None for each in value):
            return self.numbers(field, *sizes)
        given = [0.0 if each is None else each for each in value]
        self.message = {**self.message, field: given}
        numbers = self.numbers(field, *sizes)
        settle(self.arm)
        return [
            own if each is None else number for own, each, number in zip(now(self.arm), value, numbers, strict=False)
        ]

    def count(self, field: str) -> int:
        """A whole number, 0 where there is none."""
        value = self.message.get(field, 0)
        if type(value) is not int:
            raise InputError(field, str(value)[:40], "a whole number")
        return value

    def values(self) -> dict[str, Any]:
        values = self.message.get("values")
        if not isinstance(values, dict) or not values:
            raise InputError("values", values, "parameters by name")
        return values


def understood(text: str | None) -> Message:
    """A message as it was sent: a JSON object, with a number by which its answer is known."""
    if text is None or len(text) > MESSAGE_BYTES:
        raise InputError("message", "…", f"a JSON text of at most {MESSAGE_BYTES} bytes")
    try:
        message = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InputError("message", text[:40], "a JSON object") from None
    if not isinstance(message, dict):
        raise InputError("message", text[:40], "a JSON object")
    number = message.get("id")
    if number is not None and (type(number) is not int or not 0 <= number < 2**53):
        raise InputError("id", str(number)[:40], "a whole number")
    return message


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
