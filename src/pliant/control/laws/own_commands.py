"""Commands of a law of your own: its declarations are checked, and it gets one valid command at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pliant.control.laws.law_commands import MOST_COMMANDS, Commands, States, next_command
from pliant.errors import InputError, RejectedError, UnknownNameError
from pliant.kernel import kernel
from pliant.records import Field

Array = np.ndarray[Any, Any]

INVALID = "the command is not valid in this state"
_REJECTED = Field("rejected", "", "why the last command was rejected; 0: it was accepted", kind="i8")


class CommandTable(NamedTuple):
    """What the kernels need of a law's commands, by the numbers of states and commands."""

    valid: Array
    """Whether a state accepts a command."""
    active: Array
    """Whether the law has to end in a state before another law may take over."""
    ends: int
    """The command that ends what the law does; 0 for none."""
    invalid: int
    """The reason of a rejection."""


@kernel
def read_command(s, g, memory, valid, ends, invalid):
    """The command that the law gets in this tick, 0 for none; a command that is not valid in its state is rejected.

    If another law was requested while this one is active, it gets the command that ends it.
    """
    state = memory.state
    if not 0 <= state < len(valid):
        raise ValueError("the state is not one of the declared states")
    command = next_command(s, g)
    if command != 0:
        memory.rejected = 0 if command < valid.shape[1] and valid[state, command] else invalid
        return command if memory.rejected == 0 else 0
    leaving = s.busy != 0 and g.law != s.law and g.pressed == 0
    return ends if leaving and ends > 0 and valid[state, ends] else 0


def declared(
    name: str, commands: Commands | None, states: States | None, fields: tuple[Field, ...]
) -> tuple[Commands | None, States | None, tuple[Field, ...], CommandTable | None]:
    """The commands, states and state fields of a law, checked and completed; and the table for its kernels."""
    if states is not None:
        states = _states_of(name, states, fields, commands is not None)
    if commands is None:
        return None, states, fields, None
    if states is None:
        raise RejectedError(f"The law {name} declares commands but no states. Add states=pliant.States(...).")
    _check_commands(name, commands, states)
    commands = replace(commands, invalid=len(states.reasons) - 1)
    return commands, states, (*fields, _REJECTED), _table(commands, states)


def _states_of(name: str, states: States, fields: tuple[Field, ...], with_commands: bool) -> States:
    kinds = {field.name: field.kind for field in fields}
    if kinds.get("state") != "i8" and (with_commands or states.now is None):
        needed = 'a field named "state" of kind "i8", with the number of the state'
        raise InputError(f"state of {name}", sorted(kinds), needed)
    if "rejected" in kinds and with_commands:
        raise InputError(f"state of {name}", sorted(kinds), 'without a field "rejected", which Pliant adds')
    for kind, known in (("active", states.active), ("failed", states.failed), ("unstarted", states.unstarted)):
        _must_know(f"state in states.{kind} of {name}", known, states.names)
    return replace(states, reasons=(*(states.reasons or ("",)), *((INVALID,) if with_commands else ())))


def _check_commands(name: str, commands: Commands, states: States) -> None:
    numbers = list(commands.numbers.values())
    if not numbers or len(set(numbers)) < len(numbers) or not all(0 < one <= MOST_COMMANDS for one in numbers):
        raise InputError(f"numbers of the commands of {name}", numbers, f"different, from 1 to {MOST_COMMANDS}")
    _must_know(f"state in commands.valid of {name}", commands.valid, states.names)
    for state, accepted in commands.valid.items():
        _must_know(f"command in commands.valid[{state!r}] of {name}", accepted, commands.numbers)
    named = (commands.starts, commands.ends, *commands.protects, *commands.moves)
    _must_know(f"command of {name}", filter(None, named), commands.numbers)
    if states.active and not any(commands.ends in commands.valid.get(state, ()) for state in states.active):
        raise RejectedError(
            f"The law {name} declares active states, so it needs a command that ends them: set commands.ends to one "
            "that is valid in them."
        )


def _must_know(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = tuple(known)
    for name in names:
        if name not in known:
            raise UnknownNameError(what, name, known)


def _table(commands: Commands, states: States) -> CommandTable:
    valid = np.zeros((len(states.names), 1 + max(commands.numbers.values())), bool)
    for state, accepted in commands.valid.items():
        valid[states.names.index(state), [commands.numbers[name] for name in accepted]] = True
    active = np.array([name in states.active for name in states.names])
    return CommandTable(valid, active, commands.numbers.get(commands.ends, 0), commands.invalid)
