"""What may not be changed while a contact is at work, because the force that is held stands on it."""

from __future__ import annotations

from typing import Any

from pliant.contact.states import STATES, is_at_work
from pliant.errors import RejectedError
from pliant.laws import LAWS
from pliant.params.control import Parameters
from pliant.runtime.board import Board


def refuse_at_work(board: Board, what: str, remedy: str, field: str, value: Any = None) -> None:
    """Raise if the contact law is at work."""
    latest = board.latest()
    if latest is None or latest.state.law != LAWS["contact"] or not is_at_work(latest.state.contact):
        return
    c = latest.state.contact
    raise RejectedError(
        f"{what} is refused, and nothing has changed: the contact is at work ({STATES[int(c.state)]}, "
        f"{float(c.force_n):.1f} N). {remedy}",
        field=field,
        value=value,
    )


def check_change(board: Board, before: Parameters, after: Parameters) -> None:
    """Raise for a set that would move the zero of the force, or the limit on it, while a contact is at work."""
    stop = "Send `stop` first and let the tool lift off."
    if after.sense.bias != before.sense.bias:
        refuse_at_work(board, "A new offset of the force sensor", stop, "sense.bias", after.sense.bias)
    limit = after.contact.force_limit_n
    if limit > before.contact.force_limit_n:
        refuse_at_work(board, "A higher contact.force_limit_n", stop, "contact.force_limit_n", limit)
