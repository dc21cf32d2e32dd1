"""A law: everything that the rest of Pliant needs to know about it, in one object.

The tick calls the kernels of a law by their addresses, so it is compiled once for all laws. Each kernel takes the
records of a tick: (handle, parameters, state, reading, goal, command, observed, work, dt).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pliant.control.laws.law_commands import Commands, LawStatus, States
from pliant.control.laws.law_panel import Panel
from pliant.control.laws.stability_model import StabilityModel
from pliant.kernel import address_of, kernel
from pliant.params.declare import Section
from pliant.records import Field, Layout

MAX_LAWS = 16
"""One more than the largest number of a law."""

# What a law commands.
JOINT_VELOCITY, TOOL_VELOCITY, JOINT_TORQUE = 0, 1, 2
OUTPUTS = {"joint velocity": JOINT_VELOCITY, "tool velocity": TOOL_VELOCITY, "joint torque": JOINT_TORQUE}

LAW_CALL = Layout(
    "LawCall",
    (
        Field("step", "", "address of `step`; 0: there is no such law", kind="i8"),
        Field("begin", "", "address of `begin`", kind="i8"),
        Field("end", "", "address of `end`", kind="i8"),
        Field("fail", "", "address of `fail`", kind="i8"),
        Field("output", "", "what it commands: 0 joint velocities, 1 a tool velocity, 2 joint torques", kind="i8"),
        Field("takes_commands", "", "1: it reads commands", kind="i8"),
        Field("handles_halt", "", "1: it keeps running while halted, and notices by itself what blocks it", kind="i8"),
        Field("params_at", "", "where the parameters of a law from outside begin, in 8-byte values", kind="i8"),
        Field("record_at", "", "where its own record begins in telemetry, in 8-byte values", kind="i8"),
        Field("words", "", "size of its state in 8-byte values", kind="i8"),
    ),
)
"""How the tick calls a law."""


@kernel(separate=True)
def nothing(h, p, s, r, g, c, o, w, dt):
    """The hook of a law that has nothing to do there."""


@dataclass(frozen=True)
class Law:
    """A control law. Its kernels have no side effects beyond the records that they are given."""

    name: str
    """Its name in tasks, and of its section of the parameters."""
    number: int
    """Its number in records, below `MAX_LAWS`."""
    step: Any
    """Computes what `output` says: `work.qd`, `state.twist`, or the whole `command`."""
    output: int
    """What it commands: 0 joint velocities, 1 a tool velocity, 2 joint torques."""
    section: str
    """Its section of the parameters."""
    former_names: tuple[str, ...] = ()
    """What older versions called it, for messages."""
    begin: Any = nothing
    """Called when the law starts, at rest at the present pose."""
    end: Any = nothing
    """Called when another law starts after it."""
    fail: Any = nothing
    """Called in every tick after a fault that is not the force sensor's."""
    commands: Commands | None = None
    """The commands that it takes (`goal.command`), if it takes any."""
    states: States | None = None
    """Its states, if it has any."""
    handles_halt: bool = False
    """Whether it keeps running while the robot is halted, and notices by itself when limits block it."""
    check_params: Callable[[Any], None] | None = None
    """Raises for a section of its parameters whose values do not fit together."""
    fixed_when_active: tuple[str, ...] = ()
    """Its parameters that may not be raised while it is active."""
    resting_n: str = ""
    """Its parameter with the largest resting force [N] with which it may start; "": the deadband, and a margin."""
    feels: bool = True
    """Whether it responds to the wrench at the tool."""
    uses_goal: bool = False
    """Whether it moves the tool to the goal pose."""
    takes_wrench: bool = False
    """Whether it responds to a virtual push and to a wrench goal."""
    trips: bool = False
    """Whether a spring that is stretched beyond limits.pose_error_m or limits.pose_error_rad is a fault."""
    check_goal: Callable[[Any, Any, Any, Any], str] | None = None
    """Why a goal cannot be accepted, from (parameters, tool pose, stretch, motion of the goal); "" if it can."""
    least_joints: int = 1
    """How many joints an arm needs for it."""
    check_arm: Callable[[Any, int], None] | None = None
    """Raises if its section of the parameters does not suit an arm with this many joints."""
    needs_wrench: Callable[[Any], bool] = lambda section: True
    """Whether it needs a force sensor, from its section of the parameter record (torque laws only may do without)."""
    matrices: tuple[str, Callable[[Any, float], tuple[Any, Any, Any]]] | None = None
    """Where its M, D and K go in the parameter record, and how they follow from its section and the period."""
    params: type[Section] | None = None
    """Parameters of a law from outside the package (see `own_law`); None for Pliant's laws."""
    state: Layout | None = None
    """The state it keeps from tick to tick: zero when it starts, and published with every tick in which it runs."""
    scratch: Layout | None = None
    """Its intermediate values within a tick, in `work.scratch`."""
    preflight: Callable[[Any], None] | None = None
    """Raises before the start if the law cannot carry out a task."""
    stability: StabilityModel | None = None
    """How it responds to a surface, so that unstable parameters are rejected; None: it is not checked."""
    panel: Panel | None = None
    """What the Studio shows of it; None: a slider for every live number among its parameters."""

    @property
    def takes_commands(self) -> bool:
        """Whether it reads commands."""
        return self.commands is not None

    @property
    def is_own(self) -> bool:
        """Whether it is a user's law, from outside the package."""
        return self.params is not None

    @property
    def is_torque(self) -> bool:
        """Whether it commands joint torques, and so needs the torque interface."""
        return self.output == JOINT_TORQUE

    @property
    def subject(self) -> str:
        """What its states are of, in words: "contact", or "law NAME"."""
        return (self.states.subject if self.states else "") or f"law {self.name}"

    def state_numbers(self, records: Any) -> tuple[Any, Any, Any]:
        """The numbers of its state, the reason for it and the last rejection, in a telemetry record or in many."""
        if self.states is not None and self.states.now is not None:
            state, reason, rejected = self.states.now(records)
            return state, reason, rejected
        own = records[self.name]
        none = 0 * own["state"]
        return own["state"], *(own[name] if name in own.dtype.names else none for name in ("reason", "rejected"))

    def status_of(self, record: Any) -> LawStatus | None:
        """Its status in a telemetry record of a tick in which it ran; None if it has no states."""
        if self.states is None:
            return None
        state, reason, rejected = (int(one) for one in self.state_numbers(record))
        reasons = self.states.reasons
        words = LawStatus(
            state=self.states.names[state],
            reason=reasons[reason],
            rejected=reasons[rejected] if rejected else "",
            is_active=bool(record["state"]["busy"]),
        )
        return words if self.states.read is None else self.states.read(record, words)

    def kernels(self) -> tuple[Any, ...]:
        """The kernels that the tick calls."""
        return self.step, self.begin, self.end, self.fail

    def connect(self, call: Any, types: tuple[Any, ...], params_at: int = 0, record_at: int = 0) -> None:
        """Fill the record through which the tick calls this law; `types` are those of the arguments.

        `params_at` is where its parameters begin in `parameters.own`, for a law from outside the package; `record_at`
        is where its own record begins in telemetry, in 8-byte values.
        """
        names = ("step", "begin", "end", "fail")
        for name, function in zip(names, self.kernels(), strict=True):
            call[name] = address_of(function, *types)
        call["output"], call["takes_commands"], call["params_at"] = self.output, self.takes_commands, params_at
        call["handles_halt"] = self.handles_halt
        call["record_at"], call["words"] = record_at, 0 if self.state is None else self.state.dtype.itemsize // 8
