"""What is rejected while a law is active: until it has ended, the tool may be in contact."""

from __future__ import annotations

from typing import Any

from pliant.control.laws.registry import LAWS, law_of
from pliant.control.parameters import Parameters
from pliant.errors import RejectedError


def refuse_while_active(latest: Any, what: str, field: str, value: Any = None) -> None:
    """Raise if a law is active in the newest record (None: there is no record yet)."""
    if latest is None or not latest.state.busy:
        return
    law = law_of(latest.state.law)
    status, states, commands = law.status_of(latest), law.states, law.commands
    if status is None or states is None or commands is None:
        return
    figure = f", {states.figure(latest)}" if states.figure else ""
    raise RejectedError(
        f"{what} is rejected and nothing has changed: the {law.subject} is active ({status.state}{figure}). "
        f"{commands.remedy()}",
        field=field,
        value=value,
    )


def check_change(latest: Any, before: Parameters, after: Parameters) -> None:
    """Raise for parameters that would shift the force zero, or raise a fixed limit of the law, while it is active."""
    if after.sense.bias != before.sense.bias:
        refuse_while_active(latest, "A new force sensor offset", "sense.bias", after.sense.bias)
    for law in LAWS.values():
        for name in law.fixed_when_active:
            value = getattr(getattr(after, law.section), name)
            if value > getattr(getattr(before, law.section), name):
                field = f"{law.section}.{name}"
                refuse_while_active(latest, f"A higher {field}", field, value)
