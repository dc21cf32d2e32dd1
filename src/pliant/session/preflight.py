"""What is done before a task starts, in a paced loop and in a simulation."""

from __future__ import annotations

from pliant.compiling.ahead import Notice, ensure, lines_on_stderr
from pliant.compiling.entry_points import law_groups
from pliant.stability.guard import guard_start
from pliant.task.own_laws import compile_own_laws
from pliant.task.schema import Task, laws_of


def preflight(task: Task, *, unchecked: bool) -> None:
    """Raise if a task that fits its arm is not stable on its declared surfaces, unless `unchecked`.

    The wrench at rest is checked later, once a real robot has been read.
    """
    if not unchecked:
        guard_start(task)


def compile_task(task: Task, group: str, progress: Notice | None = None) -> None:
    """Make sure that the code of a task is compiled: that of `group`, of its laws, and of those from outside Pliant."""
    ensure(group, *law_groups(laws_of(task)), notice=progress or lines_on_stderr())
    compile_own_laws(task.own_laws)
