"""Why a law cannot accept a goal: reasons that are known before anything moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.axes import turn
from pliant.errors import InputError

Array = np.ndarray[Any, Any]

# A goal that moves by less than this in a direction without control has not moved [m].
_SAME_M = 1e-6


def overstretched(parameters: Any, pose: Array, stretch: Array, moved: Array) -> str:
    """A goal that would deflect the springs of the admittance beyond their limit at once."""
    far = too_far(pose, stretch, parameters.admittance, parameters.limits)
    return f"{far}. Move the goal in smaller steps." if far else ""


def uncontrolled(parameters: Any, pose: Array, stretch: Array, moved: Array) -> str:
    """A goal that moves in a direction that the impedance does not control."""
    moved = _in_axes(parameters.impedance.frame, pose, moved)
    axes = zip("xyz", moved[:3], parameters.impedance.axes[:3], strict=True)
    idle = next((name for name, by, controlled in axes if not controlled and abs(by) > _SAME_M), "")
    return f"it moves along {idle}, which impedance.axes does not control. Leave {idle} unchanged." if idle else ""


def _in_axes(frame: str, pose: Array, six: Array) -> Array:
    """A six-vector of the base frame in the axes of a law, for a tool at `pose`."""
    six = six.copy()
    if frame == "tool":
        turn(pose, six, True)
    return six


def too_far(pose: Array, stretch: Array, section: Any, limits: Any) -> str:
    """How far a tool and its goal are apart and what that would do, if it is too far for the springs; "" if not.

    `section` are the parameters of the law with the springs.
    """
    stretch = _in_axes(section.frame, pose, stretch)
    stretch[~pulled(section)] = 0.0
    for far, most, unit, name in (
        (float(np.linalg.norm(stretch[:3])), limits.pose_error_m, "m", "pose_error_m"),
        (float(np.linalg.norm(stretch[3:])), limits.pose_error_rad, "rad", "pose_error_rad"),
    ):
        if far > most:
            return (
                f"the goal and the tool are {far:.2f} {unit} apart, and a spring deflection above {most:g} {unit} "
                f"(limits.{name}) would stop the robot"
            )
    return ""


def pulled(section: Any) -> Array:
    """The directions in which a spring of a law with these parameters pulls."""
    return np.any(section.stiffness, axis=1)


def check_axes(section: Any, n: int) -> None:
    """Raise if an arm with `n` joints cannot control the directions that the impedance controls."""
    if sum(section.axes) > n or not any(section.axes):
        allowed = f"one to {min(6, n)} directions for an arm of {n} joints (x y z, then about x y z)"
        raise InputError("impedance.axes", list(section.axes), allowed)
