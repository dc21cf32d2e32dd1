"""The status of the running law: `arm.status`, and `arm.contact` with all that the contact law knows of the surface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pliant.control.laws.contact.contact_view import ContactStatus
from pliant.control.laws.law_commands import LawStatus
from pliant.control.laws.registry import law_of


class StatusVerbs(ABC):
    """What a program reads of the law that runs."""

    @property
    @abstractmethod
    def state(self) -> Any:
        """The newest telemetry record: `.reading`, `.observed`, `.command`, `.goal`, `.state`, `.timing`."""

    @property
    def status(self) -> LawStatus | None:
        """The state of the law that runs, in words, with its reason; None for a law without states."""
        record = self.state
        return law_of(record.state.law).status_of(record) if record.state.law else None

    @property
    def contact(self) -> ContactStatus | None:
        """The contact: its state in words, force, target, normal, and more. None while another law runs."""
        status = self.status
        return status if isinstance(status, ContactStatus) else None
