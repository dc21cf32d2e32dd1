"""What a law that takes commands declares: its commands, its states, and how they read.

Outside a law, nothing knows its commands or states by name. `pliant command`, `arm.command`, the events of a task, the
Studio's buttons, the ROS 2 bridge and the queue of a loop all follow from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pliant.kernel import kernel

MOST_COMMANDS = 255
"""The largest number of a command: the goal keeps earlier commands in a byte each."""
EARLIER = 7
"""So many commands before the last one are kept for the law to read."""


@dataclass(frozen=True)
class Commands:
    """The commands that a law takes, and what they mean to the rooms around it."""

    numbers: Mapping[str, int]
    """The number of each command in records, 1 to 255."""
    valid: Mapping[str, tuple[str, ...]]
    """The commands that each state accepts."""
    starts: str = ""
    """The command that begins to move the arm: before it is sent by a task's event, the resting wrench is checked."""
    ends: str = ""
    """The command that ends what the law does. It is sent before the loop ends, and asked for before another law."""
    end_s: Callable[[Any], float] = lambda section: 0.0
    """How long ending takes at most [s], from the law's section of the parameters."""
    protects: tuple[str, ...] = ()
    """Commands that protect, weakest first. Each replaces unread weaker ones, and a later weaker one is ignored."""
    moves: tuple[str, ...] = ()
    """Commands that are rejected while the robot is halted."""
    end_first: str = ""
    """What to do about a law that is still active, in one sentence; "" says to send `ends` and wait."""
    invalid: int = 0
    """The reason of a rejection that means: not valid in this state."""
    halted: int = -1
    """The reason of a rejection that means: not while the robot is halted."""

    def name_of(self, number: int) -> str:
        """The command with this number."""
        return next((name for name, known in self.numbers.items() if known == number), "the command")

    def valid_in(self, state: str) -> tuple[str, ...]:
        """The commands that a state accepts, in the order of their declaration."""
        accepted = self.valid.get(state, ())
        return tuple(name for name in self.numbers if name in accepted)

    def remedy(self) -> str:
        """What to do before something that is rejected while the law is active."""
        return self.end_first or f"Send `{self.ends}` first and wait until it has ended."

    def rank(self, number: int) -> int:
        """How strongly a command protects: 0 for the others."""
        return 1 + self.protects.index(name) if (name := self.name_of(number)) in self.protects else 0


@dataclass(frozen=True)
class LawStatus:
    """The state of the running law at one tick."""

    state: str
    """The state, by its declared name."""
    reason: str
    """Why it is in this state, in words ("" if the law declares none)."""
    rejected: str
    """Why the last command was rejected, in words ("" if it was accepted)."""
    is_active: bool
    """Whether it has to end before another law may take over."""


@dataclass(frozen=True)
class States:
    """The states of a law: their names, why it is in one, and what a person or a program reads of it."""

    names: tuple[str, ...]
    """The states by their numbers."""
    reasons: tuple[str, ...] = ("",)
    """Reasons by their numbers; 0 is for none."""
    now: Callable[[Any], tuple[Any, Any, Any]] | None = None
    """From a telemetry record, or from many: the numbers of the state, of the reason for it, and of the reason why a
    command was rejected. None: the fields `state`, `reason` and `rejected` of the law's own state."""
    active: tuple[str, ...] = ()
    """States in which the law has to end before another law may take over and before the loop ends."""
    failed: tuple[str, ...] = ()
    """States that are a failure."""
    unstarted: tuple[str, ...] = ()
    """States in which nothing was started yet: a run that never leaves them although it sends commands has failed."""
    subject: str = ""
    """What is in the state, in words, such as "contact"; "" is for the law."""
    figure: Callable[[Any], str] | None = None
    """From a telemetry record: the figure that matters most, in words."""
    read: Callable[[Any, LawStatus], LawStatus] | None = None
    """From a telemetry record and its status: the same status with more of the law's own fields."""
    failure: Callable[[Any, Any], str] | None = None
    """From the telemetry of a run and the law's section of its last parameters (or None): why the law did not do what
    it was asked for, "" if it did. None: it failed if it ended in a failed state."""


@kernel
def waiting(s, g):
    """How many commands wait behind the next one; those replaced by a stop or an abort (0) are skipped."""
    left = min(g.commands - s.commands - 1, EARLIER)
    while left > 0 and earlier_command(g, left) == 0:
        left -= 1
    return left


@kernel
def earlier_command(g, back):
    """The command that was sent `back` commands before the last one; 0 if it is not known any more."""
    return (g.earlier >> (8 * (back - 1))) & 255


@kernel
def next_command(s, g):
    """The oldest command that was not read yet, which now counts as read; 0 if there is none."""
    if g.commands == s.commands:
        return 0
    behind = waiting(s, g)
    s.commands = g.commands - behind
    return earlier_command(g, behind) if behind > 0 else g.command
