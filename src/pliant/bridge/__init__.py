"""The bridge to ROS 2: a separate process that publishes a loop's telemetry and forwards requests to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.lazy_names import lazy_names

if TYPE_CHECKING:
    from pliant.bridge.starting import bridged

HOMES = {
    "bridged": "pliant.bridge.starting",
}
"""The module in which each public name is defined."""

__all__ = [
    "bridged",
]

__getattr__, __dir__ = lazy_names(__name__, HOMES)
