"""How a UR is named: ``ur:HOST``, or ``ur:HOST#MODEL`` for another arm than a UR5e."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pliant.errors import InputError, UnknownNameError
from pliant.model.ur import ur_names

DEFAULT_MODEL = "ur5e"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")


@dataclass(frozen=True)
class UrAddress:
    """Where the controller is, and which arm hangs on it."""

    host: str
    model: str

    @classmethod
    def parse(cls, text: str) -> UrAddress:
        """Read ``HOST`` or ``HOST#MODEL``; the ports are always the maker's."""
        host, mark, model = text.partition("#")
        if not _HOST.fullmatch(host):
            allowed = "ur:<host> or ur:<host>#<model>, with a name or an IPv4 address and no port"
            raise InputError("robot", f"ur:{text}", allowed, "For instance ur:192.168.0.3#ur10e.")
        if mark and model not in ur_names():
            raise UnknownNameError("UR model", model, ur_names())
        return cls(host, model or DEFAULT_MODEL)
