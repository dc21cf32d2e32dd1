"""What is checked before a task starts, in a paced loop and in a simulation."""

from __future__ import annotations

from pliant.compiling.ahead import Notice, ensure, lines_on_stderr
from pliant.compiling.entry_points import law_groups
from pliant.stability.guard import guard_start
from pliant.task.own_laws import compile_own_laws
from pliant.task.schema import Task, laws_of


def preflight(task: Task, group: str, *, unchecked: bool, progress: Notice | None = None) -> None:
    """Raise if the task is not stable on its declared surfaces, unless `unchecked`; compile what `group` needs.

    That the task fits its arm is checked where the arm is loaded, and the wrench at rest once the robot has been read.
    """
    if not unchecked:
        guard_start(task)
    ensure(group, *law_groups(laws_of(task)), notice=progress or lines_on_stderr())
    compile_own_laws(task.own_laws)
