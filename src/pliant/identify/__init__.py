"""Identification: the tool's weight and the robot's delay, measured with the arm itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.lazy_names import lazy_names

if TYPE_CHECKING:
    from pliant.identify.payload_fit import Payload
    from pliant.identify.payload_motion import identify_payload, payload_settings

HOMES = {
    "Payload": "pliant.identify.payload_fit",
    "payload_settings": "pliant.identify.payload_motion",
    "identify_payload": "pliant.identify.payload_motion",
}
"""The module in which each public name is defined."""

__all__ = [
    "Payload",
    "identify_payload",
    "payload_settings",
]

__getattr__, __dir__ = lazy_names(__name__, HOMES)
