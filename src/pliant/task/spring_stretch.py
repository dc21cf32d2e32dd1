"""A goal or a spring that would stop the robot at once is rejected."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.control.laws.goal_checks import pulled, too_far
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.errors import RejectedError
from pliant.spatial import pose_error

Array = np.ndarray[Any, Any]


def check_stretch(latest: Any, before: Parameters, after: Parameters) -> None:
    """Raise for new springs of the running law that would trip at once at the pose of the newest record.

    A tool that was guided by hand may be far from its goal as long as no spring pulls it back; to the loop, a spring
    that is deflected beyond its limit is a fault.
    """
    moved = [
        law for law in LAWS.values() if law.trips and getattr(after, law.section) is not getattr(before, law.section)
    ]
    if not moved or latest is None:
        return
    law = next((law for law in moved if law.number == latest.state.law), None)
    if law is None:
        return
    now, was = (getattr(parameters, law.section) for parameters in (after, before))
    if not np.any(pulled(now) & ~pulled(was)):
        return
    pose = np.array(latest.state.pose)
    if far := too_far(pose, between(pose, latest.goal.pose), now, after.limits):
        raise RejectedError(
            f"The stiffness is rejected and nothing has changed: {far}. Move the goal to the tool, or the tool back to "
            "the goal, first.",
            field=f"{law.section}.stiffness",
            value=now.stiffness,
        )


def between(pose: Any, goal: Any) -> Array:
    """The way from a goal to a pose [m, rad], in the base frame."""
    way = np.zeros(6)
    pose_error(np.array(pose, float), np.array(goal, float), way)
    return way


def check_takes_goal(law: str) -> None:
    """Raise for a goal pose under a law that does not use one."""
    if not LAWS[law].uses_goal:
        users = " or ".join(name for name in LAWS if LAWS[name].uses_goal)
        raise RejectedError(
            f"The goal is rejected: the law {law} does not use a goal pose. Switch to {users} first.",
            field="goal",
        )


def check_takes_wrench(law: str, what: str) -> None:
    """Raise for a virtual push or a wrench goal (`what`, in words) under a law that ignores it."""
    if not LAWS[law].takes_wrench:
        users = " or ".join(name for name in LAWS if LAWS[name].takes_wrench)
        raise RejectedError(
            f"{what} is rejected: the law {law} ignores it. Switch to {users} first.",
            field="wrench",
        )


def check_goal(law: str, parameters: Parameters, pose: Array, stretch: Array, moved: Array) -> None:
    """Raise for a goal pose that the law does not use, or that would deflect its springs beyond their limit at once.

    `stretch` [m, rad] is the way between the tool, which is at `pose`, and the new goal, `moved` [m, rad] that between
    the present and the new goal, in the base frame.
    """
    check_takes_goal(law)
    check = LAWS[law].check_goal
    if check is not None and (why := check(parameters, pose, stretch, moved)):
        raise RejectedError(f"The goal is rejected: {why}", field="goal")
