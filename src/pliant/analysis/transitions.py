"""What a contact went through: every change of its state with time and reason, from the telemetry alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.contact.states import (
    DONE,
    DWELL,
    EVENTS,
    FAULT,
    GONE,
    LOST,
    PAUSED,
    READY,
    RETRACT,
    SEEK,
    SLIDE,
    STATES,
)

_BEGUN = (SEEK, DWELL, SLIDE, RETRACT, PAUSED, DONE)


class Transition(NamedTuple):
    """A state that was entered, or an order that was refused: when [s], which, and why."""

    time_s: float
    state: str
    reason: str


def transitions(records: np.ndarray[Any, Any]) -> list[Transition]:
    """Every change of the contact's state in these records, and every order refused; none where it never ran."""
    contact, time_s = records["state"]["contact"], records["time_s"]
    state, reason, refused = contact["state"], contact["reason"], contact["rejected"]
    changed = np.flatnonzero(np.diff(state, prepend=0))
    # every order that was heard, not every new reason: the same refusal twice is two
    heard = np.diff(contact["commands"], prepend=0) != 0
    denied = np.flatnonzero(heard & (refused != 0))
    found = [Transition(float(time_s[i]), STATES[int(state[i])], _words(reason[i])) for i in changed]
    found += [Transition(float(time_s[i]), "rejected", _words(refused[i])) for i in denied]
    return sorted(found, key=lambda one: one.time_s)


def _words(event: Any) -> str:
    return EVENTS.get(int(event), f"event {int(event)}")


def contact_fault(records: np.ndarray[Any, Any]) -> str:
    """Why the contact failed, "" if it did not: a fault or a lost surface that nobody set a new start after, or none.

    A contact whose surface was lost for good lifts off and is done, but its path is not.
    """
    if not len(records):
        return ""
    contact = records["state"]["contact"]
    faults = np.flatnonzero(contact["state"] == FAULT)
    if len(faults) and not (contact["state"][faults[-1] :] == READY).any():
        return _words(contact["reason"][faults[-1]])
    lost = np.flatnonzero((contact["state"] == RETRACT) & np.isin(contact["reason"], (GONE, LOST)))
    if len(lost) and not (contact["state"][lost[-1] :] == READY).any():
        return _words(contact["reason"][lost[-1]])
    refused = np.flatnonzero(contact["rejected"])
    if len(refused) and not np.isin(contact["state"], _BEGUN).any():
        return f"it never began: {_words(contact['refused'][refused[0]])}"
    return ""
