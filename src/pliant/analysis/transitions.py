"""The state changes of a law, with time and reason, and why it failed: from the records alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from pliant.control.laws.law import Law
from pliant.control.laws.law_commands import EARLIER, Commands
from pliant.control.laws.registry import LAWS

Array = np.ndarray[Any, Any]

_LEFT = "another law was requested"
_OVER = "the run time is over"


class Transition(NamedTuple):
    """A state change or a rejected command: time [s], state and reason."""

    time_s: float
    state: str
    reason: str


def laws_with_states(records: Array) -> list[Law]:
    """The laws with states that ran in these records."""
    ran, known = set(np.unique(records["state"]["law"]).tolist()), records.dtype.names or ()
    return [law for law in LAWS.values() if law.states and law.number in ran and law.name in known]


def transitions(records: Array, ticks: int = 0) -> list[Transition]:
    """Every state change and every rejected command in these records; empty if no law with states ran.

    A state that the ending command leads to from tick `ticks` on means that the run time is over (0: it is not known).
    While another law runs, the law's record is all zero: its first state, without a reason.
    """
    found = [one for law in laws_with_states(records) for one in _of_law(law, records, ticks)]
    return sorted(found, key=lambda one: one.time_s)


def _of_law(law: Law, records: Array, ticks: int) -> Iterator[Transition]:
    states, commands, time_s = law.states, law.commands, records["time_s"]
    assert states is not None
    state, reason, rejected = law.state_numbers(records)
    # every command that arrived, not every new reason: two equal rejections count as two
    heard = np.diff(records["state"]["commands"], prepend=0) != 0
    ends = -1 if commands is None else commands.numbers.get(commands.ends, -1)
    over = heard & (records["goal"]["command"] == ends) & (records["tick"] >= ticks) & (ticks > 0)
    for i in np.flatnonzero(np.diff(state, prepend=0)):
        ran = records["state"]["law"][i] == law.number
        words = _OVER if over[i] else _words(law, reason[i]) if ran else _LEFT
        yield Transition(float(time_s[i]), states.names[int(state[i])], words)
    if commands is not None:
        for i in np.flatnonzero(heard & (rejected != 0) & (records["state"]["law"] == law.number)):
            words = rejection(law, int(rejected[i]), int(state[i]), _command_read(records[int(i)]))
            yield Transition(float(time_s[i]), "rejected", words)


def _command_read(record: Any) -> int:
    """The number of the command that was read in the tick of this record."""
    goal = record["goal"]
    waiting = int(goal["commands"] - record["state"]["commands"])  # commands behind the one that was read
    earlier = int(goal["earlier"]) >> 8 * (waiting - 1) & 255 if 0 < waiting <= EARLIER else 0
    return earlier or int(goal["command"])


def _words(law: Law, reason: Any) -> str:
    assert law.states is not None
    known = law.states.reasons
    return known[int(reason)] if 0 <= int(reason) < len(known) else f"reason {int(reason)}"


def failure(records: Array, parameters: Any = None) -> str:
    """Why a law with states did not do what it was asked for; "" if it did.

    `parameters` is the last parameter set, or its record, if it is known.
    """
    for law in laws_with_states(records):
        states = law.states
        assert states is not None
        state, reason, rejected = law.state_numbers(records)
        if states.failure is not None:
            found = states.failure(records, None if parameters is None else getattr(parameters, law.section))
        else:
            found = _words(law, reason[-1]) if states.names[int(state[-1])] in states.failed else ""
        if found:
            return found
        denied, begun = np.flatnonzero(rejected), [name not in states.unstarted for name in states.names]
        if len(denied) and states.unstarted and not np.array(begun)[state].any():
            i = int(denied[0])
            return f"it never started: {rejection(law, int(rejected[i]), int(state[i]), _command_read(records[i]))}"
    return ""


def rejection(law: Law, reason: int, state: int, command: int) -> str:
    """Why a law rejected a command in a state, in words."""
    assert law.commands is not None
    assert law.states is not None
    if reason != law.commands.invalid:
        return _words(law, reason)
    return f"`{law.commands.name_of(command)}` is not valid in the state {law.states.names[state]}"


def valid_commands(commands: Commands, state: str, *, halted: bool = False) -> list[str]:
    """The commands that a law accepts in a state, and while the robot is `halted`."""
    return [name for name in commands.valid_in(state) if not (halted and name in commands.moves)]
