"""The order in which requests are carried out: stops at once, everything else one after the other.

Some requests take time: a tare averages the sensor, and a parameter change is first checked for stability. A stop does
not wait for them. A request that would start the robot and was made before a stop is rejected after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pliant.bridge.requests import answered
from pliant.control.laws.registry import LAWS

STOPS = ("halt", "stop", "pause", "abort", "quit")
"""Words that stop under every law; `is_stop` knows those of the laws, too."""
STARTS = ("start", "resume")
"""Words that start under every law."""

Answer = tuple[bool, str]
"""Whether the request was carried out, and a sentence with the result or the reason."""


def word_of(text: str) -> str:
    """The first word of a command."""
    return (text.split(None, 1) or [""])[0]


def is_stop(word: str) -> bool:
    """Whether a word stops: under every law, or because a law declares that this command protects."""
    return word in STOPS or any(word in law.commands.protects for law in LAWS.values() if law.commands)


def is_start(word: str) -> bool:
    """Whether a word starts the robot: under every law, or because a law declares that this command moves it."""
    return word in STARTS or any(word in law.commands.moves for law in LAWS.values() if law.commands)


class Turns:
    """Carries out requests from any thread."""

    def __init__(self) -> None:
        self._in_turn, self._moves = threading.Lock(), threading.Lock()
        self._stops = 0

    @property
    def stops(self) -> int:
        """The number of stops so far; a request remembers it."""
        return self._stops

    def at_once(self, action: Callable[[Any], str], asked: Any) -> Answer:
        """Carry out a stop."""
        with self._moves:
            self._stops += 1
            return answered(action, asked)

    def in_turn(self, word: str, action: Callable[[Any], str], asked: Any, stops: int) -> Answer:
        """Carry out any other request after the earlier ones; `stops` is the number of stops when it was made."""
        with self._in_turn:
            if not is_start(word):
                return answered(action, asked)
            with self._moves:
                if self._stops > stops:
                    return (
                        False,
                        f"A stop arrived before this {word} was carried out. Send it again if you still want it.",
                    )
                return answered(action, asked)
