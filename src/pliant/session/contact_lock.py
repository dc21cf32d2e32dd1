"""What may not change while a contact is active, because the controlled force depends on it."""

from __future__ import annotations

from typing import Any

from pliant.control.laws.contact.contact_states import STATES
from pliant.control.parameters import Parameters
from pliant.errors import RejectedError
from pliant.loop.board import Board


def refuse_at_work(board: Board, what: str, remedy: str, field: str, value: Any = None) -> None:
    """Raise if a contact is active."""
    latest = board.latest()
    if latest is None or not latest.state.busy:
        return
    c = latest.state.contact
    raise RejectedError(
        f"{what} is rejected and nothing has changed: the contact is active ({STATES[int(c.state)]}, "
        f"{float(c.force_n):.1f} N). {remedy}",
        field=field,
        value=value,
    )


def check_change(board: Board, before: Parameters, after: Parameters) -> None:
    """Raise for parameters that would shift the force zero or raise the force limit while a contact is active."""
    stop = "Send `stop` first and let the tool lift off."
    if after.sense.bias != before.sense.bias:
        refuse_at_work(board, "A new force sensor offset", stop, "sense.bias", after.sense.bias)
    limit = after.contact.force_limit_n
    if limit > before.contact.force_limit_n:
        refuse_at_work(board, "A higher contact.force_limit_n", stop, "contact.force_limit_n", limit)
