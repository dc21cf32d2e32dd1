"""Tasks for the commands that work with an arm only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.errors import RejectedError

if TYPE_CHECKING:
    from pliant.task.schema import Task


def load_arm_task(name: str, verb: str) -> Task:
    """The task `name`; a mission is rejected, because `pliant VERB` does not support it."""
    from pliant.task.schema import is_mission, load_task

    if is_mission(name):
        raise RejectedError(
            f"{name} is a mission; pliant {verb} does not support missions. To simulate it: pliant run {name}.",
            field="task",
            value=name,
        )
    return load_task(name)
