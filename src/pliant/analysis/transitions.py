"""What a contact went through: every change of its state with time and reason, from the telemetry alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pliant.contact.states import EVENTS, FAULT, STATES


class Transition(NamedTuple):
    """A state that was entered: when [s], which, and why."""

    time_s: float
    state: str
    reason: str


def transitions(records: np.ndarray[Any, Any]) -> list[Transition]:
    """Every change of the contact's state in these telemetry records; none where the law never ran."""
    contact = records["state"]["contact"]
    changed = np.flatnonzero(np.diff(contact["state"], prepend=0))
    return [
        Transition(
            float(records["time_s"][i]),
            STATES[int(contact["state"][i])],
            EVENTS.get(int(contact["reason"][i]), f"event {int(contact['reason'][i])}"),
        )
        for i in changed
    ]


def contact_fault(records: np.ndarray[Any, Any]) -> str:
    """Why the contact ended in a fault, "" if it did not."""
    if not len(records) or records["state"]["contact"]["state"][-1] != FAULT:
        return ""
    return EVENTS[int(records["state"]["contact"]["reason"][-1])]
