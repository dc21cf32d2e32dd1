"""The kind ``sim``: arms that Pliant simulates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pliant.params.outside_files import is_regular
from pliant.robots.interface import Robot
from pliant.robots.robot_kind import RobotKind
from pliant.robots.simulated import SimRobot


class SimKind(RobotKind):
    """``sim:<model or file>``."""

    name = "sim"
    help = "a simulated arm: sim:ur3e, sim:ur5e, sim:ur10e, sim:ur16e, sim:two_link, sim:<MJCF or URDF file>"
    is_simulated, moves_hardware, takes_model = True, False, True

    def model(self, which: str) -> str:
        """`which` is the model."""
        return which

    def make(self, which: str, task: Any) -> Robot:
        """A simulated robot in the task's world."""
        return SimRobot(which, task.tool, task.sim, task.dt, task.start_q, task.interface)

    def located(self, which: str, folder: Path | None) -> str:
        """The full path of a model file."""
        return located_model(which, folder)


def located_model(which: str, folder: Path | None) -> str:
    """A model with the full path of its file, if it is one: ``arm.urdf`` or ``arm.urdf#flange``."""
    file, mark, flange = which.partition("#")
    if not (Path(file).suffix or "/" in file) or Path(file).is_absolute():
        return which
    found = next((path for path in (*([folder / file] if folder else []), Path(file)) if is_regular(path)), None)
    return which if found is None else f"{found.resolve()}{mark}{flange}"
