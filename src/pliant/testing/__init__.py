"""Conformance checks that any robot driver can run: ``pliant.testing.check_robot("my_driver.py:HOST")``."""

from pliant.testing.check_report import Check, Report
from pliant.testing.robot_checks import check_robot

__all__ = ["Check", "Report", "check_robot"]
