"""A request from a page: its content, checked against its declaration, and the loop that the page was showing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from pliant.errors import InputError, RejectedError, UnknownNameError
from pliant.mobile.mission.mission_link import MissionLink
from pliant.session.link import Link
from pliant.session.stop_request import Brake
from pliant.session.undo import Changes
from pliant.studio.message_check import checked
from pliant.studio.page_requests import REQUESTS, Asked, Halt
from pliant.studio.stage.stage import Stage

# The longest message that is read [bytes].
MESSAGE_BYTES = 65536

Message = dict[str, Any]
A = TypeVar("A", bound=Asked)


class Request(Generic[A]):
    """A request and its context: for which run of the stage, and after how many stops."""

    def __init__(self, stage: Stage, asked: A, history: Changes) -> None:
        self.stage, self.asked, self.history = stage, asked, history
        self.run = stage.number if asked.run is None else asked.run
        self.stops = stage.stops
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

    # -- its content --

    def onto(self, now: Callable[[Link], Any], given: list[float | None]) -> list[float]:
        """The numbers, where None keeps one as it is `now`, after the loop has executed all earlier commands."""
        if all(number is None for number in given):
            raise RejectedError("All numbers are null, so nothing would change. Give at least one number.")
        numbers = [number for number in given if number is not None]
        if len(numbers) == len(given):
            return numbers
        self.arm.settle()
        return [float(own) if number is None else number for own, number in zip(now(self.arm), given, strict=False)]


def asked_in(message: Message) -> Asked:
    """The declared request that a message makes; raises if it is unknown, or one of its fields is unknown or wrong.

    A stop is recognised whatever else the message contains.
    """
    name = message.get("do")
    kind = REQUESTS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise UnknownNameError("request", str(name)[:50], REQUESTS)
    if kind is Halt:
        return Halt(id=message.get("id"))
    return checked(kind, {field: value for field, value in message.items() if field != "do"})


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
