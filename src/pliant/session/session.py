"""A session: a control loop in its own process, and your connection to it.

    with pliant.connect("sim:ur5e", law="admittance") as arm:
        arm.push([20, 0, 0], for_s=1)
        print(arm.wait(1.5).observed.pose)

Nothing in this process can disturb the loop, be it garbage collection, a busy thread or a breakpoint. When this process
ends, the robot stops.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pliant.compiling.ahead import Notice
from pliant.control.laws.registry import DEFAULT, law_of
from pliant.control.published import Published
from pliant.errors import RejectedError
from pliant.loop.board_layout import checked_name
from pliant.loop.processes import LOOP
from pliant.loop.saving import recording_path
from pliant.session.input_checks import flag, must_be_task
from pliant.session.link import Link
from pliant.session.preflight import compile_task, preflight
from pliant.session.started_loop import Started, next_name
from pliant.task.bundled_files import find_bundled
from pliant.task.schema import Task, located


class Session(Started[Task], Link):
    """A running loop. Use it as a context manager; leaving the context stops the robot."""

    def __init__(
        self,
        task: Task,
        *,
        record: Path | str | None = None,
        ticks: int = 0,
        name: str | None = None,
        unchecked: bool = False,
        progress: Notice | None = None,
    ) -> None:
        must_be_task(task, "Session")
        super().__init__(located(task))
        self.name = next_name() if name is None else checked_name(name)
        """Name of the loop, by which other processes find it."""
        self.unchecked = flag("unchecked", unchecked)
        """Whether the task and its changes are accepted without the stability check."""
        self._record = None if record is None else recording_path(record)
        self._progress = progress
        self._most_ticks = ticks or -1

    def start(self) -> Self:
        """Start the loop process (and the recorder, if a file was named); returns when it runs.

        A task that is not stable on its declared surfaces is rejected, unless the session is `unchecked`.
        """
        preflight(self.task, unchecked=self.unchecked)
        compile_task(self.task, "loop", self._progress)
        config = {"task": self.task.model_dump(mode="json"), "ticks": self._most_ticks, "unchecked": self.unchecked}
        published = Published.of(self.arm.n, self.task.interface, type(self.task.params))
        return self._launch(LOOP, config, published)

    def _patience_s(self) -> float:
        """How long an active law may take to end, such as to lift the tool off [s]: the loop does not end before."""
        latest = self.board.latest()
        law = None if latest is None or not latest.state.busy else law_of(latest.state.law)
        if law is None or law.commands is None:
            return 0.0
        return law.commands.end_s(getattr(self.parameters, law.section))


def connect(robot: str = "sim:ur5e", law: str = DEFAULT, **task: Any) -> Session:
    """A session with a robot: ``connect("sim:ur5e", law="admittance", rate_hz=500, record="run.mcap")``.

    Further keywords are the fields of a `Task`; `record` is the file of a recording, `name` names the loop. `unchecked`
    allows a task that is not stable on its declared surfaces. With `duration_s` the loop ends by itself after that
    time; otherwise it runs until the session ends.
    """
    from pliant.params.declare import validated

    if isinstance(robot, Task):
        raise RejectedError(
            "robot is a Task, but it must be text such as 'sim:ur5e'. To run a Task, use pliant.Session(task).",
            field="robot",
        )
    if isinstance(robot, str) and find_bundled("task", robot) is not None:
        sentence = f"{robot} is a task, not a robot. Use pliant.Session(pliant.load_task({robot!r}))."
        raise RejectedError(sentence, field="robot", value=robot)
    session = {key: task.pop(key) for key in ("record", "name", "unchecked") if key in task}
    named = {"name": Path(law).stem} if isinstance(law, str) and law else {}
    wanted = validated(Task, {"robot": robot, "law": law, **named, **task})
    return Session(wanted, ticks=wanted.ticks if "duration_s" in task else 0, **session)
