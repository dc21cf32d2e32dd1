"""What the Studio sends to its pages, declared once.

The server builds and checks its messages by these declarations, and the page's TypeScript types are generated from them
(see studio/message_types.py). That happens before anything is installed, so only the standard library may be imported
here, or modules that need nothing else.

Requests and their answers are declared in `page_requests`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict

from pliant.control.laws.law_panel import Button, Slider, Switch


@dataclass(frozen=True)
class Size:
    """How many characters a text, or how many items a list may have."""

    least: int
    most: int


class Plain:
    """Marks a value of a parameter: numbers, flags, texts, null, and lists of these."""


Value: TypeAlias = Annotated[Any, Plain()]
"""A value of a parameter. In a request, null in a list keeps the number that is in force."""
Values: TypeAlias = dict[str, Value]
"""Parameters by their dotted names."""
Text: TypeAlias = Annotated[str, Size(0, 500)]
Rows: TypeAlias = list[list[float | None]]
"""Rows of numbers; null where there was none."""


# ---- a binary frame ------------------------------------------------------------------------------------------------

U4: TypeAlias = Annotated[int, "I"]
F8: TypeAlias = Annotated[float, "d"]
FRAME = 1
"""The kind of a frame."""


@dataclass(frozen=True)
class FrameHeader:
    """The beginning of a frame (little-endian). The head, the poses and the samples follow, all of them f4."""

    kind: U4
    """Always `FRAME`."""
    first: U4
    """Running number of the first sample, so that a page can detect a lost frame."""
    samples: U4
    bodies: U4
    time_s: F8


HeadField: TypeAlias = Literal[
    "goal", "tool", "force", "arrow", "push", "law", "stopped", "limits", "trouble", "states", "ramp", "tank", "asked",
    "allowed", "base",
]  # fmt: skip
"""Numbers of the newest record; where they are in the head follows from the declaration of that record."""


# ---- what a page receives first ------------------------------------------------------------------------------------


class Shape(TypedDict):
    """A shape on a body: sizes [m], pose in the body, colour; corners and triangles of a mesh."""

    body: int
    kind: Literal["sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"]
    size: list[float]
    pos: list[float]
    quat: list[float]
    rgba: list[float]
    vertices: NotRequired[list[float]]
    faces: NotRequired[list[int]]


class Declared(TypedDict):
    """A parameter."""

    name: str
    type: str
    unit: str
    live: bool
    help: str
    low: float | None
    high: float | None
    default: Value
    scale: str


class Quantity(TypedDict):
    """A name and its unit."""

    name: str
    unit: str


class Channel(Quantity):
    """A line that can be plotted; `law` is the law that it belongs to, "" for all, and the rest is as in `Line`."""

    plot: str
    key: str
    dashed: bool
    band: str
    follows: str
    law: str


class LawWords(TypedDict):
    """A law as the page shows it; `ramps`: its gains change gradually, paid for by an energy tank."""

    name: str
    ramps: bool
    sliders: list[Slider]
    switches: list[Switch]
    buttons: list[Button]
    states: list[str]
    reasons: list[str]
    moves_goal: bool
    pushes: bool
    drags_push: bool
    no_push: str
    no_goal: str
    no_virtual_push: str


class MapWords(TypedDict):
    """A map as a picture (white is free, grey unknown, black blocked), and its left, right, bottom and top [m]."""

    name: str
    picture: str
    extent: tuple[float, float, float, float]


class MissionWords(TypedDict):
    """What does not change in a mission: its stages in order and what happens in each; how far the base reaches behind,
    ahead and to each side [m]; the map."""

    stages: dict[str, str]
    footprint: tuple[float, float, float]
    map: MapWords


class MissionLog(TypedDict):
    """The state of a mission. `log`: time [s], stage and reason of every change. `stand`: x, y [m] and heading [rad] of
    the base at the end. `way`: x, y, heading along the path, and 1 or -1 for ahead or back. `figures`: length, length
    driven backwards [m], changes of direction."""

    stage: str
    moving: bool
    seeking: bool
    log: list[tuple[float, str, str]]
    goal: list[float]
    stand: list[float] | None
    path: list[list[float]]
    figures: list[float]


class InForce(TypedDict):
    """The current values, and the change that set them: of two such messages the later one counts."""

    values: Values
    revision: int


class ParametersMessage(InForce):
    """Parameters have changed."""

    type: Literal["parameters"]


class MissionMessage(MissionLog):
    """A mission has changed."""

    type: Literal["mission"]


class LoopWords(TypedDict):
    """A loop. `law`: the one that its task starts with, "" in a mission. `up`: against gravity, in the base frame."""

    name: str
    task: str
    law: str
    source: str
    robot: str
    rate_hz: float
    shapes: list[Shape]
    bodies: int
    up: list[float]
    pushable: bool
    mission: MissionWords | None
    now: ParametersMessage | MissionMessage


class ExperimentWords(TypedDict):
    """A named experiment."""

    name: str
    summary: str


class Hello(TypedDict):
    """Everything a page needs before it can read frames. `head`: first place and count of each field of the head.
    `laws`: by their numbers in a frame. `presets`: tasks whose parameters can be compared with those in force.
    `no_experiments`: why there are no experiments, "" if there are."""

    type: Literal["hello"]
    number: int
    channels: list[Channel]
    head: dict[HeadField, tuple[int, int]]
    limits: list[Quantity]
    troubles: dict[str, str]
    laws: dict[str, LawWords]
    parameters: list[Declared]
    tasks: list[str]
    presets: list[str]
    experiments: list[ExperimentWords]
    no_experiments: str
    robots: list[str]
    loop: LoopWords | None


class Busy(TypedDict):
    """Work in progress in parallel with the loop, "" for none: an experiment, plan or what-if; opening a recording."""

    work: str
    open: str


class Status(TypedDict):
    """The state of the loop: starting, running, fault, ended or none. `black_box`: the file with the last seconds
    before a fault. `mishap`: what went wrong with a recording or at the start. `kept`: letters of kept parameter sets.
    """

    type: Literal["status"]
    status: str
    reason: str
    black_box: str
    recording: str
    mishap: str
    kept: list[str]
    busy: Busy


# ---- recordings and experiments ------------------------------------------------------------------------------------


class RecordingFile(TypedDict):
    """A recording in the output folder."""

    name: str
    bytes: int


class Finding(TypedDict):
    """A finding of the doctor in a recording."""

    name: str
    severity: str
    cause: str
    remedy: str


class Moments(TypedDict):
    """Channels at evenly spaced times, as columns; the first is the time. `every`: ticks from one to the next."""

    columns: Rows
    channels: list[Channel]
    every: int


class Recorded(Moments):
    """A recording: shapes, poses and channels at evenly spaced times. `findings`: null where no law can be examined."""

    name: str
    task: str
    robot: str
    law: str
    fault: str
    shapes: list[Shape]
    bodies: int
    up: list[float]
    poses: Rows
    goal: Rows
    tool: Rows
    force: Rows
    arrow: Rows
    push: Rows
    base: Rows
    mission: MissionWords | None
    mission_log: MissionLog | None
    findings: list[Finding] | None


class WhatIfRun(Moments):
    """A recorded run, simulated with other parameters; `from_rest`: it starts at rest in the middle of the run."""

    name: str
    fault: str
    from_rest: bool


class Figure(TypedDict):
    """A figure of an experiment and its target."""

    name: str
    value: float | None
    unit: str
    target: str | None
    met: bool | None


class ExperimentResult(TypedDict):
    """The figures of an experiment, and the file of its picture."""

    name: str
    passed: bool
    figures: list[Figure]
    picture: str


class PlannedPath(TypedDict):
    """A path through a map."""

    length_m: float
    backward_m: float
    cusps: int
    expanded: int
    picture: str


class Zone(TypedDict):
    """Values with the same result, from the first to the last; level 0 is fine, 1 has little reserve, 2 is rejected."""

    first: int
    last: int
    level: int
    why: str


MESSAGES = (Hello, Status, ParametersMessage, MissionMessage)
"""What the Studio sends without being asked."""
