"""In which order requests are carried out: what stops the robot at once, everything else one after the other.

Some requests take a while: taring listens to the sensor, and a change of parameters is checked for its stability first.
A stop waits for none of them. What would start the robot, and was asked for before a stop, is refused after it: whoever
has stopped the robot wants it to stand.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pliant.bridge.requests import answered

STOPS = ("halt", "stop", "pause", "abort", "quit")
STARTS = ("start", "resume")

Answer = tuple[bool, str]
"""Whether it was done, and the sentence that says so or says why not."""


def word_of(text: str) -> str:
    """The word that says what a command is about."""
    return (text.split(None, 1) or [""])[0]


class Turns:
    """Carries requests out, from whatever thread they come."""

    def __init__(self) -> None:
        self._in_turn, self._moves = threading.Lock(), threading.Lock()
        self._stops = 0

    @property
    def stops(self) -> int:
        """How many stops there have been; who asks for something keeps the number."""
        return self._stops

    def at_once(self, action: Callable[[Any], str], asked: Any) -> Answer:
        """Carry out a stop."""
        with self._moves:
            self._stops += 1
            return answered(action, asked)

    def in_turn(self, word: str, action: Callable[[Any], str], asked: Any, stops: int) -> Answer:
        """Carry out anything else, when what was asked before is done; `stops` is their number when it was asked."""
        with self._in_turn:
            if word not in STARTS:
                return answered(action, asked)
            with self._moves:
                if self._stops > stops:
                    return False, f"A stop came after this {word} and before its turn: say it again if it is meant."
                return answered(action, asked)
