"""A request from a page: its fields, checked as they are read, and the loop that the page was showing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError, RejectedError
from pliant.mobile.mission.mission_link import MissionLink
from pliant.session.link import Link
from pliant.session.stop_request import Brake
from pliant.session.undo import Changes
from pliant.studio.stage.settled import settle
from pliant.studio.stage.stage import Stage

# The longest message that is read [bytes].
MESSAGE_BYTES = 65536

Message = dict[str, Any]


class Request:
    """A request and its context: for which run of the stage, and after how many stops."""

    def __init__(self, stage: Stage, message: Message, history: Changes) -> None:
        self.stage, self.message, self.history = stage, message, history
        run = message.get("run", stage.number)
        if type(run) is not int:
            raise InputError("run", str(run)[:40], "the number of the run that the page shows")
        self.run, self.stops = run, stage.stops
        self.arrived_ns, self.arrived_s = time.time_ns(), time.monotonic()
        self.brakes: list[Brake] = []
        """The loops that were sent a stop when this arrived."""

    # -- what it is for --

    @property
    def arm(self) -> Link:
        """The arm's loop that the page was showing; raises if another one is shown now, or none."""
        return self.stage.arm(self.run)

    @property
    def mission(self) -> MissionLink:
        """The mission that the page was showing; raises if another one is shown now, or none."""
        return self.stage.mission(self.run)

    def check_run(self) -> None:
        """Raise if another loop is shown now than at the time of the request."""
        self.stage.check_run(self.run)

    @property
    def is_stopped(self) -> bool:
        """Whether a stop has arrived since."""
        return self.stage.stops != self.stops

    def check_stops(self) -> None:
        """Raise if a stop has arrived since: a request from before a stop must not move a robot after it."""
        if self.is_stopped:
            raise RejectedError("A stop came first, so this was not done. Repeat it if you still want it.")

    # -- what it says --

    def text(self, field: str, default: str | None = None) -> str:
        value = self.message.get(field, default)
        if not isinstance(value, str) or len(value) > 500:
            raise InputError(field, value, "text of at most 500 characters")
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
        """The same, where null keeps a number as it is `now`, after the loop has executed all earlier commands."""
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
        """A whole number, 0 if it is missing."""
        value = self.message.get(field, 0)
        if type(value) is not int:
            raise InputError(field, str(value)[:40], "a whole number")
        return value

    def flag(self, field: str) -> bool:
        """True or false, false if it is missing."""
        value = self.message.get(field, False)
        if type(value) is not bool:
            raise InputError(field, str(value)[:40], "true or false")
        return value

    def values(self) -> dict[str, Any]:
        values = self.message.get("values")
        if not isinstance(values, dict) or not values:
            raise InputError("values", values, "a JSON object of parameter names and values")
        return values


def understood(text: str | None) -> Message:
    """A parsed message: a JSON object with an id for its answer."""
    if text is None or len(text) > MESSAGE_BYTES:
        raise InputError("message", "…", f"JSON text of at most {MESSAGE_BYTES} bytes")
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
    raise ValueError(f"{word} is not valid JSON")
