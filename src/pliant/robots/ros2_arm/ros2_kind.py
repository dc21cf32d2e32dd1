"""The kind ``ros2``: arms that another driver connects to ROS 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.robots.interface import Robot
from pliant.robots.robot_kind import RobotKind
from pliant.robots.sim_kind import located_model


class Ros2Kind(RobotKind):
    """``ros2:<model or file>``."""

    name = "ros2"
    help = "an arm that publishes joint states and accepts commands over ROS 2: ros2:ur5e, ros2:<MJCF or URDF file>"
    takes_model, is_on_ros2 = True, True

    def model(self, which: str) -> str:
        """`which` is the model."""
        return which

    def make(self, which: str, task: Any) -> Robot:
        """The driver for Cyclone DDS."""
        from pliant.robots.ros2_arm.ros2_robot import Ros2Robot

        return Ros2Robot(which, task.tool, task.ros2, task.interface)

    def check_installed(self) -> None:
        """Raise if Cyclone DDS is missing."""
        import pliant.ros2.node  # noqa: F401 (raises with the command that installs it)

    def reach(self, which: str, robot: Any, task: Any, say: Callable[[str], object]) -> None:
        """Wait for an arm with these joints, and leave the network again."""
        robot.meet(say)

    def located(self, which: str, folder: Path | None) -> str:
        """The full path of a model file."""
        return located_model(which, folder)
