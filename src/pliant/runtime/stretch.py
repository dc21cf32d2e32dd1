"""A spring that would be overstretched at once is rejected, instead of stopping the robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import RejectedError
from pliant.laws import LAWS
from pliant.params.control import Parameters
from pliant.runtime.axes import turn
from pliant.runtime.board import Board
from pliant.spatial import pose_error


def check_stretch(board: Board, before: Parameters, after: Parameters) -> None:
    """Raise for new springs of the admittance that would trip at once at the current pose.

    A tool that was guided by hand may be far from its goal as long as no spring pulls it back; to the loop, a spring
    that is deflected beyond its limit is a fault.
    """
    latest, pulled = board.latest(), _pulled(after)
    if latest is None or latest.state.law != LAWS["admittance"] or not np.any(pulled & ~_pulled(before)):
        return
    if far := _too_far(latest.state.pose, latest.goal.pose, after):
        raise RejectedError(
            f"The stiffness is rejected and nothing has changed: the tool is {far}. Move the goal to the tool, or the "
            "tool back to the goal, first.",
            field="admittance.stiffness",
            value=after.admittance.stiffness,
        )


def check_goal(board: Board, parameters: Parameters, goal: Any) -> None:
    """Raise for a goal pose that would deflect the springs of the admittance beyond their limit at once."""
    latest = board.latest()
    if latest is None or latest.state.law != LAWS["admittance"]:
        return
    if far := _too_far(latest.state.pose, goal, parameters):
        raise RejectedError(
            f"The goal is rejected and nothing has changed: the tool is {far}. Move the goal in smaller steps."
        )


def _too_far(pose: Any, goal: Any, parameters: Parameters) -> str:
    """How far a tool is from its goal and what that would do, if it is too far for the springs; "" if not."""
    pose, stretch = np.array(pose), np.zeros(6)
    pose_error(pose, np.array(goal, float), stretch)
    if parameters.admittance.frame == "tool":
        turn(pose, stretch, True)
    stretch[~_pulled(parameters)] = 0.0
    limits = parameters.limits
    for far, most, unit, name in (
        (float(np.linalg.norm(stretch[:3])), limits.pose_error_m, "m", "pose_error_m"),
        (float(np.linalg.norm(stretch[3:])), limits.pose_error_rad, "rad", "pose_error_rad"),
    ):
        if far > most:
            return (
                f"{far:.2f} {unit} from its goal, and a spring deflection above {most:g} {unit} (limits.{name}) stops "
                "the robot"
            )
    return ""


def _pulled(parameters: Parameters) -> np.ndarray[Any, Any]:
    """The directions in which a spring pulls."""
    return np.any(parameters.admittance.stiffness, axis=1)
