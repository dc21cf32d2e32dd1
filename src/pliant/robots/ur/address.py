"""The address of a UR: ``ur:HOST`` for a UR5e, ``ur:HOST#MODEL`` for another model."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from pliant.errors import InputError, UnknownNameError
from pliant.model.ur import ur_names

DEFAULT_MODEL = "ur5e"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")


def _is_ipv4(host: str) -> bool:
    try:
        return bool(ipaddress.IPv4Address(host))
    except ValueError:
        return False


@dataclass(frozen=True)
class UrAddress:
    """The controller's host and the model of its arm."""

    host: str
    model: str

    @classmethod
    def parse(cls, text: str) -> UrAddress:
        """Parse ``HOST`` or ``HOST#MODEL``; the ports are always the standard ones."""
        host, mark, model = text.partition("#")
        if not _HOST.fullmatch(host):
            allowed = "ur:<host> or ur:<host>#<model>, where <host> is a name or an IPv4 address without a port"
            raise InputError("robot", f"ur:{text}", allowed, "For example ur:192.168.0.3#ur10e.")
        if re.fullmatch(r"[\d.]+", host) and not _is_ipv4(host):
            raise InputError("robot", f"ur:{text}", "a host name, or an IPv4 address of four numbers from 0 to 255")
        if mark and model not in ur_names():
            raise UnknownNameError("UR model", model, ur_names())
        return cls(host, model or DEFAULT_MODEL)
