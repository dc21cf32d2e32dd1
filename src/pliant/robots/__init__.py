"""Robots: each lists the commands it accepts, reads its state into a record and carries out a command record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pliant.errors import InputError, RejectedError
from pliant.robots.interface import Robot
from pliant.robots.own_robot import loaded_kind
from pliant.robots.robot_registry import kind_of
from pliant.robots.supervised import driver_errors


def model_of(address: str) -> str:
    """The built-in model, or the file, of the arm that `address` names."""
    kind, which = kind_of(address)
    return kind.model(which)


def is_simulated(address: str) -> bool:
    """Whether the robot that `address` names is simulated."""
    return kind_of(address)[0].is_simulated


def reach_robot(address: str, task: Any, say: Callable[[str], object]) -> None:
    """Raise if no robot answers at `address`, or not the arm of `task`. Nothing moves. A wait is reported to `say`."""
    robot = open_robot(address, task)  # refuses what the task asks of it, and it cannot do
    kind, which = kind_of(address)
    with driver_errors(address):
        kind.reach(which, robot, task, say)


def open_robot(address: str, task: Any) -> Robot:
    """The robot that `address` names (``kind:which``), set up for `task` but not yet connected."""
    kind, which = loaded_kind(address, task.own_robot)
    with driver_errors(address):
        robot = kind.make(which, task)
    missing = [name for name in ("name", "arm", "interfaces") if not hasattr(robot, name)]
    if not isinstance(robot, Robot) or missing:
        what = f"has no {', '.join(missing)}" if missing else "is not a pliant.Robot"
        raise RejectedError(f"The driver of {address} is incomplete: its robot {what}.", field="robot", value=address)
    if task.interface not in robot.interfaces:
        raise InputError("interface", task.interface, f"one that {address} supports: {', '.join(robot.interfaces)}")
    return robot
