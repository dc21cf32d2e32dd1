"""Conformance checks that any robot driver can run: ``pliant.testing.check_robot("my_driver.py:HOST")``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.lazy_names import lazy_names

if TYPE_CHECKING:
    from pliant.testing.check_report import Check, Report
    from pliant.testing.robot_checks import check_robot

HOMES = {
    "Check": "pliant.testing.check_report",
    "Report": "pliant.testing.check_report",
    "check_robot": "pliant.testing.robot_checks",
}
"""The module in which each public name is defined."""

__all__ = [
    "Check",
    "Report",
    "check_robot",
]

__getattr__, __dir__ = lazy_names(__name__, HOMES)
