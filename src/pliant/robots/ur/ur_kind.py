"""The kind ``ur``: Universal Robots arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.robots.interface import Robot
from pliant.robots.robot_kind import RobotKind
from pliant.robots.ur.address import UrAddress


class UrKind(RobotKind):
    """``ur:<host>`` or ``ur:<host>#<model>``."""

    name = "ur"
    help = "a Universal Robots e-Series arm: ur:<host> for a UR5e, ur:<host>#ur10e for another model"

    def model(self, which: str) -> str:
        """The model after the hash."""
        return UrAddress.parse(which).model

    def make(self, which: str, task: Any) -> Robot:
        """The driver for ur_rtde."""
        from pliant.robots.ur.driver import UrRobot

        return UrRobot(UrAddress.parse(which), task)

    def check_installed(self) -> None:
        """Raise if ur_rtde is missing."""
        from pliant.robots.ur.connecting import check_extra

        check_extra()

    def reach(self, which: str, robot: Robot, task: Any, say: Callable[[str], object]) -> None:
        """Raise if no suitable controller answers."""
        from pliant.robots.ur.connecting import must_answer

        must_answer(UrAddress.parse(which), task.interface)

    def crash_words(self, which: str) -> str:
        """ur_rtde may crash when it reconnects."""
        return (
            f"the connection to {UrAddress.parse(which).host} is probably lost, and ur_rtde crashed the loop. Check "
            "the cable and the controller; its watchdog stops the arm"
        )
