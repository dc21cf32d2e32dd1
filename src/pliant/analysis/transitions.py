"""The state changes of a contact, with time and reason, from the records alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.control.laws.contact.contact_states import (
    COMMANDS,
    DONE,
    DWELL,
    EARLIER,
    EVENTS,
    FAULT,
    GONE,
    LAW,
    LOST,
    NEXT,
    NONE,
    PAUSED,
    READY,
    RETRACT,
    SEEK,
    SENSELESS,
    SLIDE,
    STATES,
    STOP,
    TOO_FAR,
)

_BEGUN = (SEEK, DWELL, SLIDE, RETRACT, PAUSED, DONE)


class Transition(NamedTuple):
    """A state change or a rejected command: time [s], state and reason."""

    time_s: float
    state: str
    reason: str


def transitions(records: np.ndarray[Any, Any], ticks: int = 0) -> list[Transition]:
    """Every state change and every rejected command in these records; empty if the contact law never ran.

    A stop from tick `ticks` on means that the run time is over (0: it is not known). While another law runs, the law's
    record is all zero: idle, without an event.
    """
    contact, time_s = records["contact"], records["time_s"]
    state, rejected = contact["state"], contact["rejected"]
    reason = np.where(contact["reason"] == 0, LAW, contact["reason"])
    changed = np.flatnonzero(np.diff(state, prepend=0))
    # every command that arrived, not every new reason: two equal rejections count as two
    heard = np.diff(records["state"]["commands"], prepend=0) != 0
    denied = np.flatnonzero(heard & (rejected != 0))
    over = (reason == STOP) & (records["tick"] >= ticks) & (ticks > 0)
    found = [
        Transition(float(time_s[i]), STATES[int(state[i])], "the run time is over" if over[i] else _words(reason[i]))
        for i in changed
    ]
    found += [Transition(float(time_s[i]), "rejected", _denied(records, int(i))) for i in denied]
    return sorted(found, key=lambda one: one.time_s)


def _denied(records: np.ndarray[Any, Any], i: int) -> str:
    """Why the command that was read at record `i` was rejected."""
    contact, goal = records["contact"][i], records["goal"][i]
    waiting = int(goal["commands"] - records["state"]["commands"][i])  # commands behind the one that was read
    command = int(goal["earlier"]) >> 8 * (waiting - 1) & 255 if 0 < waiting <= EARLIER else goal["command"]
    return rejection(int(contact["rejected"]), int(contact["state"]), int(command))


def _words(event: Any) -> str:
    return EVENTS.get(int(event), f"event {int(event)}")


def contact_fault(records: np.ndarray[Any, Any], seek_m: float | None = None) -> str:
    """Why the contact failed, or "": a fault or a lost surface without a new start set afterwards, or a rejected start.

    A contact that loses its surface for good lifts off and ends in `done`, but its path is incomplete. `seek_m` is the
    value of contact.seek_m, if it is known.
    """
    if not len(records):
        return ""
    contact = records["contact"]
    faults = np.flatnonzero(contact["state"] == FAULT)
    if len(faults) and not (contact["state"][faults[-1] :] == READY).any():
        reason = int(contact["reason"][faults[-1]])
        if reason == TOO_FAR and seek_m is not None:
            return f"{_words(reason)} ({seek_m:g} m). Start closer, or raise contact.seek_m"
        return _words(reason)
    lost = np.flatnonzero((contact["state"] == RETRACT) & np.isin(contact["reason"], (GONE, LOST)))
    if len(lost) and not (contact["state"][lost[-1] :] == READY).any():
        return _words(contact["reason"][lost[-1]])
    rejected = np.flatnonzero(contact["rejected"])
    if len(rejected) and not np.isin(contact["state"], _BEGUN).any():
        return f"it never started: {_denied(records, int(rejected[0]))}"
    return ""


def rejection(event: int, state: int, command: int) -> str:
    """Why a command was rejected in a state of the contact, in words."""
    if event != SENSELESS:
        return _words(event)
    name = next((name for name, number in COMMANDS.items() if number == command), "the command")
    return f"`{name}` is not valid in the state {STATES[state]}"


def valid_commands(state: int) -> list[str]:
    """The commands that a contact in this state accepts."""
    return [name for name, number in COMMANDS.items() if NEXT[state, number] != NONE]
