"""The joint command for ROS 2 controllers: a trajectory of one point, or joint velocities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.ros2.message_types import FLOAT_ARRAY, JOINT_TRAJECTORY
from pliant.ros2.templates import Topic

Array = np.ndarray[Any, Any]
Part = Callable[[Array], Array]
"""Selects the command records in the given records."""


def unchanged(records: Array) -> Array:
    """For records that already are commands."""
    return records


def trajectory_topic(name: str, ahead_s: float, part: Part = unchanged) -> Topic:
    """The commanded positions as a trajectory of one point, to be reached in `ahead_s` from when it arrives.

    It holds no velocity: ROS 2 controllers reject a trajectory that ends while moving, and one that ends at rest is
    safe if no other follows.
    """
    sec, nanosec = divmod(round(ahead_s * 1e9), 10**9)
    point = {"time_from_start": {"sec": sec, "nanosec": nanosec}}
    return Topic(
        name,
        JOINT_TRAJECTORY,
        "",
        lambda records, n: [part(records)["q"][:, :n]],
        lambda joint_names: {"joint_names": joint_names, "points": [point]},
        now=True,
    )


def velocity_topic(name: str, part: Part = unchanged) -> Topic:
    """The commanded joint velocities."""
    return Topic(name, FLOAT_ARRAY, "", lambda records, n: [part(records)["qd"][:, :n]])
