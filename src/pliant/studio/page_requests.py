"""The requests of a page to the Studio and their answers, declared once (see `page_messages`).

A field without a default is required, and an unknown field is an error. `answer` is the type of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict

from pliant.studio.page_messages import (
    ExperimentResult,
    InForce,
    PlannedPath,
    Recorded,
    RecordingFile,
    Size,
    Text,
    Value,
    Values,
    WhatIfRun,
    Zone,
)

MOST_VALUES = 65
"""At most this many values of a parameter are judged in advance: a slider has no finer steps."""


# ---- answers -------------------------------------------------------------------------------------------------------


class Done(TypedDict):
    """The request was carried out; there is nothing else to report."""


class Refusal(TypedDict):
    """Why a request was rejected. `idle`: no loop is running that a stop could stop."""

    ok: Literal[False]
    error: str
    idle: NotRequired[bool]


class Halted(TypedDict):
    """When a stop arrived [ns since 1970], and whether the loop has confirmed it."""

    arrived_ns: int
    heard: bool


class Kept(TypedDict):
    """The letter of the kept values."""

    kept: str


class Saved(TypedDict):
    """The task file, and the parameters that were written to it."""

    path: str
    saved: list[str]


class RecordingStarted(TypedDict):
    """The file that is being recorded."""

    recording: str


class RecordingSaved(TypedDict):
    """The file that was recorded."""

    recorded: str


class Recordings(TypedDict):
    """The recordings in the output folder, newest first."""

    recordings: list[RecordingFile]


class Opened(TypedDict):
    """The recording."""

    recording: Recorded


class Simulated(TypedDict):
    """The run with other parameters."""

    what_if: WhatIfRun


class ExperimentDone(TypedDict):
    """The result of the experiment."""

    experiment: ExperimentResult


class Judged(TypedDict):
    """Results for the values; `judged`: a surface is declared, so the stability check applies."""

    judged: bool
    zones: list[Zone]


class Differing(TypedDict):
    """Values in force, and those of the other set."""

    now: Values
    then: Values


class Planned(TypedDict):
    """The path."""

    plan: PlannedPath


class Cancelled(TypedDict):
    """Whether there was anything to cancel."""

    cancelled: bool


# ---- requests ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request. Its answer carries its `id`; `run` is the number of the loop that the page showed."""

    do: ClassVar[str]
    answer: ClassVar[Any] = Done
    id: int | None = None
    run: int | None = None


@dataclass(frozen=True, kw_only=True)
class Halt(Asked):
    """Stop the loop that is shown. It is carried out whatever else the message contains."""

    do = "halt"
    answer = Halted


@dataclass(frozen=True, kw_only=True)
class Push(Asked):
    """Push a simulated arm [N] for a moment."""

    do = "push"
    force: Annotated[list[float], Size(3, 3)]


@dataclass(frozen=True, kw_only=True)
class Start(Asked):
    """End the loop and start a task; `robot` "" is the one of the task."""

    do = "start"
    task: Text
    robot: Text = ""
    record: bool = False


@dataclass(frozen=True, kw_only=True)
class Resume(Asked):
    """Resume after a stop."""

    do = "resume"


@dataclass(frozen=True, kw_only=True)
class Command(Asked):
    """Send commands to the law, in this order."""

    do = "command"
    commands: Annotated[list[Text], Size(1, 8)]


@dataclass(frozen=True, kw_only=True)
class Goal(Asked):
    """Move the goal [m]; null keeps a coordinate."""

    do = "goal"
    position: Annotated[list[float | None], Size(2, 3)]


@dataclass(frozen=True, kw_only=True)
class VirtualPush(Asked):
    """A virtual push [N], added to the measured force; null keeps a component."""

    do = "virtual_push"
    force: Annotated[list[float | None], Size(3, 3)]


@dataclass(frozen=True, kw_only=True)
class Tare(Asked):
    """Zero the force sensor."""

    do = "tare"
    answer = InForce


@dataclass(frozen=True, kw_only=True)
class Set(Asked):
    """Change parameters; the changes of one `drag` (any number but 0) are undone together."""

    do = "set"
    answer = InForce
    values: Annotated[Values, Size(1, 1000)]
    drag: int = 0


@dataclass(frozen=True, kw_only=True)
class Keep(Asked):
    """Keep the values in force to compare with later."""

    do = "keep"
    answer = Kept


@dataclass(frozen=True, kw_only=True)
class Preset(Asked):
    """Take over the live parameters of a kept set or of a task."""

    do = "preset"
    answer = InForce
    preset: Text


@dataclass(frozen=True, kw_only=True)
class Undo(Asked):
    """Undo the last change of this page."""

    do = "undo"
    answer = InForce


@dataclass(frozen=True, kw_only=True)
class Redo(Asked):
    """Repeat the change that was undone last."""

    do = "redo"
    answer = InForce


@dataclass(frozen=True, kw_only=True)
class Save(Asked):
    """Save the values in force to a task file; without a path, to the file that the loop was started from."""

    do = "save"
    answer = Saved
    path: Text | None = None


@dataclass(frozen=True, kw_only=True)
class Record(Asked):
    """Record the loop."""

    do = "record"
    answer = RecordingStarted


@dataclass(frozen=True, kw_only=True)
class StopRecording(Asked):
    """End the recording."""

    do = "stop_recording"
    answer = RecordingSaved


@dataclass(frozen=True, kw_only=True)
class ListRecordings(Asked):
    """The recordings in the output folder."""

    do = "recordings"
    answer = Recordings


@dataclass(frozen=True, kw_only=True)
class Open(Asked):
    """Open a recording."""

    do = "open"
    answer = Opened
    name: Text


@dataclass(frozen=True, kw_only=True)
class WhatIf(Asked):
    """Simulate a recording with the parameters in force."""

    do = "what_if"
    answer = Simulated
    name: Text


@dataclass(frozen=True, kw_only=True)
class RunExperiment(Asked):
    """Run a named experiment."""

    do = "experiment"
    answer = ExperimentDone
    name: Text


@dataclass(frozen=True, kw_only=True)
class Ahead(Asked):
    """The results of the checks for values of a parameter."""

    do = "ahead"
    answer = Judged
    parameter: Text
    values: Annotated[list[Value], Size(2, MOST_VALUES)]


@dataclass(frozen=True, kw_only=True)
class Compare(Asked):
    """The live parameters in which a kept set or a task differs from what is in force."""

    do = "compare"
    answer = Differing
    preset: Text


@dataclass(frozen=True, kw_only=True)
class Plan(Asked):
    """Plan a path for a mobile base through a map."""

    do = "plan"
    answer = Planned
    map: Text
    start: Text
    goal: Text


@dataclass(frozen=True, kw_only=True)
class Cancel(Asked):
    """Cancel the work in progress, or the opening of a recording."""

    do = "cancel"
    answer = Cancelled
    what: Literal["work", "open"] = "work"


@dataclass(frozen=True, kw_only=True)
class Begin(Asked):
    """Begin the mission."""

    do = "begin"


@dataclass(frozen=True, kw_only=True)
class Aim(Asked):
    """Give the mission another goal of its tool [m]."""

    do = "aim"
    position: Annotated[list[float], Size(2, 3)]


REQUESTS: dict[str, type[Asked]] = {kind.do: kind for kind in Asked.__subclasses__()}
"""Every request by its name."""
