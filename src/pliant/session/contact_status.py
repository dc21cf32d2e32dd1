"""The contact law as a program sees it: its state in words, and what may not change while a contact is active."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.control.laws.contact.contact_states import EVENTS, STATES
from pliant.control.parameters import Parameters
from pliant.errors import RejectedError


@dataclass(frozen=True)
class ContactStatus:
    """The state of a contact at one tick."""

    state: str
    """idle, ready, seek, dwell, slide, retract, paused, done or fault."""
    reason: str
    """Why it is in this state, in words."""
    rejected: str
    """Why the last command was rejected, in words ("" if it was accepted)."""
    since_s: float
    """Time in this state [s]."""
    touching: bool
    """Whether the tool is in contact."""
    force_n: float
    """Force along the surface normal [N]."""
    target_n: float
    """Target force at this moment [N]."""
    peak_n: float
    """Largest force along the normal since the start [N]."""
    normal: np.ndarray[Any, Any]
    """Estimated direction out of the surface, in the base frame."""
    stiffness_n_m: float
    """Learned stiffness of the surface [N/m]."""
    friction: float
    """Learned coefficient of friction."""
    losses: int
    """Contact losses since the start."""
    travelled_m: float
    """Distance along the path [m]."""
    is_active: bool
    """Whether the tool may be in contact: until it has lifted off, no other law takes over."""


def status_of(record: Any) -> ContactStatus:
    """The status in a telemetry record."""
    c = record.contact
    return ContactStatus(
        state=STATES[int(c.state)],
        reason=EVENTS[int(c.reason)],
        rejected=EVENTS[int(c.rejected)] if c.rejected else "",
        since_s=float(c.since_s),
        touching=bool(c.touching),
        force_n=float(c.force_n),
        target_n=float(c.target_n),
        peak_n=float(c.peak_n),
        normal=c.normal.copy(),
        stiffness_n_m=float(c.stiffness),
        friction=float(c.friction),
        losses=int(c.losses),
        travelled_m=float(c.travelled_m),
        is_active=bool(record.state.busy),
    )


def refuse_during_contact(latest: Any, what: str, remedy: str, field: str, value: Any = None) -> None:
    """Raise if a contact is active in the newest record (None: there is no record yet)."""
    if latest is None or not latest.state.busy:
        return
    c = latest.contact
    raise RejectedError(
        f"{what} is rejected and nothing has changed: the contact is active ({STATES[int(c.state)]}, "
        f"{float(c.force_n):.1f} N). {remedy}",
        field=field,
        value=value,
    )


def check_change(latest: Any, before: Parameters, after: Parameters) -> None:
    """Raise for parameters that would shift the force zero or raise the force limit while a contact is active."""
    stop = "Send `stop` first and let the tool lift off."
    if after.sense.bias != before.sense.bias:
        refuse_during_contact(latest, "A new force sensor offset", stop, "sense.bias", after.sense.bias)
    limit = after.contact.force_limit_n
    if limit > before.contact.force_limit_n:
        refuse_during_contact(latest, "A higher contact.force_limit_n", stop, "contact.force_limit_n", limit)
