"""Robots: each lists the commands it accepts, reads its state into a record and carries out a command record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.errors import InputError, UnknownNameError, nearest
from pliant.model.catalogue import available_models
from pliant.robots.interface import Robot
from pliant.robots.simulated import SimRobot
from pliant.robots.ur.address import UrAddress

KINDS = {
    "sim": "a simulated arm: sim:ur3e, sim:ur5e, sim:ur10e, sim:ur16e, sim:two_link, sim:<MJCF or URDF file>",
    "ur": "a Universal Robots e-Series arm: ur:<host> for a UR5e, ur:<host>#ur10e for another model",
    "ros2": "an arm that publishes joint states and accepts commands over ROS 2: ros2:ur5e, ros2:<MJCF or URDF file>",
}


def parse_address(address: str) -> tuple[str, str]:
    """Split ``kind:which``; an unknown kind raises an error that lists the known ones."""
    kind, colon, which = address.partition(":")
    if not colon or not which:
        near = "" if colon else nearest(kind, available_models())
        hint = f"Did you mean sim:{near}? " if near else ""
        raise InputError("robot", address, "kind:name", f"{hint}Allowed: {'; '.join(KINDS.values())}.")
    if kind not in KINDS:
        raise UnknownNameError("kind of robot", kind, KINDS)
    return kind, which


def model_of(address: str) -> str:
    """The built-in model, or the file, of the arm that `address` names."""
    kind, which = parse_address(address)
    return UrAddress.parse(which).model if kind == "ur" else which


def is_simulated(address: str) -> bool:
    """Whether the robot that `address` names is simulated."""
    return parse_address(address)[0] == "sim"


def crash_words(address: str) -> str:
    """The likely reason if a loop with this robot crashes; "" if it is not known."""
    kind, which = parse_address(address)
    if kind != "ur":
        return ""
    host = UrAddress.parse(which).host
    return (
        f"the connection to {host} is probably lost, and ur_rtde crashed the loop. Check the cable and the controller; "
        "its watchdog stops the arm"
    )


def check_installed(address: str) -> None:
    """Raise if a package that the driver of this robot needs is not installed."""
    kind, _ = parse_address(address)
    if kind == "ur":
        from pliant.robots.ur.driver import check_extra

        check_extra()
    elif kind == "ros2":
        import pliant.ros2.node  # noqa: F401 (says so itself)


def reach_robot(address: str, task: Any, say: Callable[[str], object]) -> None:
    """Raise if no robot answers at `address`, or not the arm of `task`. Nothing moves. A wait is reported to `say`."""
    kind, which = parse_address(address)
    robot: Any = open_robot(address, task)  # refuses what the task asks of it, and it cannot do
    if kind == "ur":
        from pliant.robots.ur.connecting import must_answer

        must_answer(UrAddress.parse(which), task.interface)
    elif kind == "ros2":
        robot.meet(say)


def open_robot(address: str, task: Any) -> Robot:
    """The robot that `address` names (``kind:which``), set up for `task` but not yet moving."""
    kind, which = parse_address(address)
    robot: Robot
    if kind == "ur":
        from pliant.robots.ur.driver import UrRobot

        robot = UrRobot(UrAddress.parse(which), task)
    elif kind == "ros2":
        from pliant.robots.ros2_arm.ros2_robot import Ros2Robot  # its packages are an extra

        robot = Ros2Robot(which, task.tool, task.ros2, task.interface)
    else:
        robot = SimRobot(which, task.tool, task.sim, task.dt, task.start_q, task.interface)
    if task.interface not in robot.interfaces:
        raise InputError("interface", task.interface, f"one that {address} supports: {', '.join(robot.interfaces)}")
    return robot
