"""The records of one tick, each field declared once: name, shape, unit, meaning.

Every scalar is 8 bytes, so a record's bytes are the same in memory, in shared memory and as a CDR message: a recording
holds exactly what the tick saw. Joint arrays have room for `MAX_JOINTS`; the first `n` entries are used. Frames: B is
the arm's base, T the tool (the compliance point), S the force sensor, G the goal, C the compliant frame. Six-vectors
are [linear, angular]; a pose is [x, y, z, qw, qx, qy, qz]. A wrench is what the environment does to the robot.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

MAX_JOINTS = 12
MAX_LAW_STATE, MAX_LAW_SCRATCH = 160, 1024
"""How many numbers a law may remember from tick to tick, and how many it may work with within a tick."""
MAX_OWN_PARAMS = 64
"""How many parameters laws from outside the package may have in all."""

# Command modes: what a robot is asked to do with a command (and which interfaces it can offer).
IDLE, POSITION, VELOCITY, TORQUE = 0, 1, 2, 3
# What made the last torques (`state.driven`).
BY_JOINTS, BY_LAW, BY_BRAKE = 1, 2, 3
MODES = {"position": POSITION, "velocity": VELOCITY, "torque": TORQUE}

# Why the controller stopped the robot. A fault is latched: it ends with the loop.
FAULT_NUMBER, FAULT_POSE_ERROR, FAULT_COMMAND, FAULT_LAW, FAULT_SLOW = 1, 2, 3, 4, 5
FAULT_STARVED = 6
# Sensor trouble t becomes the fault FAULT_SENSOR + t once it has lasted longer than sense.hold_s.
FAULT_SENSOR = 10
# Faults of the guard: readings that cannot be true, then motion and commands out of bounds.
FAULT_STAMP, FAULT_RANGE, FAULT_JUMP, FAULT_DISAGREE, FAULT_STALE = 20, 21, 22, 23, 24
FAULT_JOINT_SPEED, FAULT_TOOL_SPEED, FAULT_FORCE, FAULT_WORKSPACE, FAULT_DEVIATION, FAULT_OUTPUT = range(25, 31)
WRENCH_OK, WRENCH_MISSING, WRENCH_SATURATED, WRENCH_NAN, WRENCH_RANGE, WRENCH_STALE, WRENCH_FROZEN = range(7)
TROUBLES = {
    WRENCH_MISSING: "gave no reading",
    WRENCH_SATURATED: "was saturated",
    WRENCH_NAN: "gave a value that is not finite",
    WRENCH_RANGE: "gave a value outside sense.range_n or sense.range_nm",
    WRENCH_STALE: "gave readings older than sense.stale_s",
    WRENCH_FROZEN: "gave the same reading for longer than sense.frozen_s",
}
FAULTS = {
    FAULT_NUMBER: "a joint reading was not finite",
    FAULT_COMMAND: "the command was not finite: a goal or a parameter is far outside its limits",
    FAULT_LAW: "the law raised an error",
    FAULT_SLOW: "the law took longer than a period, many times in a row",
    FAULT_STARVED: "a limit cut most of the law's command for longer than limits.starved_fault_s",
    FAULT_POSE_ERROR: "the pose error of the virtual spring exceeded limits.pose_error_m or limits.pose_error_rad",
    FAULT_STAMP: "the time stamp of a joint reading was not finite, or went backwards",
    FAULT_RANGE: "a joint was reported outside its range",
    FAULT_JUMP: "a joint position jumped",
    FAULT_DISAGREE: "positions and speeds reported for a joint did not agree",
    FAULT_STALE: "no new joint readings arrived for longer than guard.stale_s",
    FAULT_JOINT_SPEED: "a joint was faster than guard.joint_speed_share of its limit",
    FAULT_TOOL_SPEED: "the tool was faster than guard.tool_speed_share of its limit",
    FAULT_FORCE: "the force on the tool exceeded guard.force_n or guard.moment_nm",
    FAULT_WORKSPACE: "the tool left its workspace",
    FAULT_DEVIATION: "a joint did not follow its command",
    FAULT_OUTPUT: "a command was beyond what the robot can do",
    **{FAULT_SENSOR + number: f"the force sensor {words}" for number, words in TROUBLES.items()},
}

# Limits that can act in a tick (bits of `observed.limits`).
# Bit n belongs to entry n of `observed.asked` and `observed.allowed`, which say how much was cut.
LIMIT_SPEED, LIMIT_ACCELERATION, LIMIT_POSITION, LIMIT_SINGULAR, LIMIT_TORQUE = 1, 2, 4, 8, 16
LIMIT_TOOL_SPEED, LIMIT_TOOL_ACCELERATION, LIMIT_WORKSPACE = 32, 64, 128
LIMIT_TORQUE_RATE, LIMIT_REACH, LIMIT_STRETCH, LIMIT_EDGE = 256, 512, 1024, 2048
LIMITS = {
    LIMIT_SPEED: "joint speed",
    LIMIT_ACCELERATION: "joint acceleration",
    LIMIT_POSITION: "joint position",
    LIMIT_SINGULAR: "near a singularity",
    LIMIT_TORQUE: "joint torque",
    LIMIT_TOOL_SPEED: "tool speed",
    LIMIT_TOOL_ACCELERATION: "tool acceleration",
    LIMIT_WORKSPACE: "workspace",
    LIMIT_TORQUE_RATE: "joint torque rate",
    LIMIT_REACH: "reach: the goal was moved into it",
    LIMIT_STRETCH: "stretch of the virtual spring",
    LIMIT_EDGE: "braking before the edge of the reach",
}
LIMIT_UNITS = (
    *("rad/s", "rad/s²", "rad/s", "m/rad", "N m", "m/s or rad/s", "m/s² or rad/s²", "m/s or m"),
    *("N m/s", "m", "m or rad", "m/s or rad/s"),
)


@dataclass(frozen=True)
class Field:
    """One field of a record; `kind` is 'f8', 'i8' or another record's layout."""

    name: str
    """Its name."""
    unit: str
    """Its unit ("" for none)."""
    help: str
    """What it is, in a few words."""
    shape: tuple[int, ...] = ()
    """Shape of an array; () for one number."""
    kind: Any = "f8"
    """'f8', 'i8', or another record's layout."""
    only: tuple[str, ...] = field(default=(), compare=False)
    """Published only on these interfaces of the robot, or for an arm on a mobile "base"; () for always."""


_NUMPYS: Any = np.record  # its annotations do not allow a subclass


class Record(_NUMPYS):
    """A record whose fields are attributes: like NumPy's own, but a field is found five times as fast."""

    __slots__ = ()
    __getattribute__ = np.void.__getattribute__
    __getitem__ = np.void.__getitem__  # a record within this one has the class that its layout gives it

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except ValueError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self[name] = value
        except ValueError as error:
            if name in (self.dtype.names or ()):
                raise  # the value is wrong
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from error


@dataclass(frozen=True)
class Layout:
    """A record type: its name, its fields, and the NumPy dtype that kernels compile against."""

    name: str
    fields: tuple[Field, ...]

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        members = [(f.name, f.kind.dtype if isinstance(f.kind, Layout) else f.kind, f.shape) for f in self.fields]
        return np.dtype((Record, members))

    def new(self, n: int = 1) -> np.ndarray[Any, Any]:
        """An array of `n` zeroed records. Kernels take the array and use `[0]`: that is the cheapest call."""
        return np.zeros(n, self.dtype)


def copied(records: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an array of records, as bytes: NumPy copies field by field, which takes ten times as long."""
    return records.view(np.uint8).copy().view(records.dtype)


class PerJoint(tuple[int, ...]):
    """The shape of an array with an entry for each joint: room for `MAX_JOINTS`, of which the arm's are published."""


_J = JOINTS = PerJoint((MAX_JOINTS,))
_TORQUE = ("torque",)
# On the position interface, an arm's command is `state.q_cmd` and `state.qd_cmd`.
_NOT_POSITION = ("velocity", "torque", "base")

READING = Layout(
    "Reading",
    (
        Field("stamp_s", "s", "robot time of the joint state"),
        Field("age_s", "s", "how much earlier than stamp_s the joints were sampled, where a robot reports it"),
        Field("q", "rad", "joint positions", _J),
        Field("qd", "rad/s", "joint velocities", _J),
        Field("tau", "N m", "joint torques that the drives apply", _J),
        Field("wrench", "N, N m", "raw force sensor, in the sensor frame at the sensor's origin", (6,)),
        Field("wrench_stamp_s", "s", "robot time at which the wrench was sampled"),
        Field(
            "wrench_state",
            "",
            "state of the wrench as the driver reports it: 0 good, 1 missing, 2 saturated",
            kind="i8",
        ),
    ),
)

GOAL = Layout(
    "Goal",
    (
        Field("law", "", "which law runs (see Laws)", kind="i8"),
        Field("q", "rad", "joint goal of the joint-space laws", _J),
        Field("pose", "m, -", "X_BG: pose of the goal frame in the base", (7,)),
        Field("twist", "m/s, rad/s", "velocity of the goal frame, in the base frame", (6,)),
        Field(
            "accel",
            "m/s^2, rad/s^2",
            "acceleration of the goal frame, in the base frame (torque laws)",
            (6,),
            only=_TORQUE,
        ),
        Field("motion_s", "s", "how long the goal keeps moving at its twist; 0: it stays, or is set in every tick"),
        Field("wrench", "N, N m", "wrench to hold, in the base frame at the tool", (6,)),
        Field("push", "N, N m", "virtual push, added to the measured wrench for the law, in the base frame", (6,)),
        Field("stop", "", "1: stop and hold", kind="i8"),
        Field("pressed", "", "1: the law may take over from a pressing contact without lifting off", kind="i8"),
        Field("command", "", "last command to the contact law (see Contact commands)", kind="i8"),
        Field("earlier", "", "up to 7 earlier commands, a byte each, newest lowest (0: none)", kind="i8"),
        Field("commands", "", "number of commands sent so far; a change means a new command", kind="i8"),
    ),
)

GUARD_STATE = Layout(
    "GuardState",
    (
        Field("fault", "", "first fault that the guard found, or 0 (see Faults)", kind="i8"),
        Field("place", "", "joint, axis or kind of the fault, counted from 0", kind="i8"),
        Field("value", "", "value that was out of bounds"),
        Field("limit", "", "its bound"),
        Field("seen", "", "1 after the first reading", kind="i8"),
        Field("fresh", "", "1: the reading of this tick is a new one", kind="i8"),
        Field("at_s", "s", "robot time of the last new reading"),
        Field("stale_s", "s", "time since then, in periods"),
        Field("q", "rad", "joints of the last new reading", JOINTS),
        Field("qd", "rad/s", "their velocities", JOINTS),
        Field("rate", "rad/s", "their velocities by the change since the reading before", JOINTS),
        Field("drift", "rad", "recent difference between positions and integrated speeds", JOINTS),
        Field("top", "m/s, rad/s", "tool speed limits in force: a lowered one takes effect slowly", (2,)),
        Field("inside", "", "1 once the tool was inside the workspace", kind="i8"),
        Field("pressed_s", "s", "how long the force on the tool has been too large"),
        Field("lead", "", "recent largest commanded joint speed, as a share of the limit"),
        Field("away_s", "s", "how long a joint has been away from its command"),
        Field("slowest", "", "smallest joint speed since a fault began to brake, as a share of the limit"),
        Field("sent", "rad", "last commanded joint positions", JOINTS),
    ),
)
"""What the guard remembers. It is not published: all of it follows from the last second."""

SHARED_STATE = Layout(
    "State",
    (
        Field("law", "", "law of the last tick (a new law starts from rest at the present pose)", kind="i8"),
        Field("started", "", "0 before the first tick", kind="i8"),
        Field("commands", "", "commands read so far", kind="i8"),
        Field("busy", "", "1: no other law may take over yet, and the loop may not end", kind="i8"),
        Field("finishes", "", "1: after a failure of the force sensor the law finishes first", kind="i8"),
        Field("fault", "", "number of the fault that stopped the robot, or 0 (see Faults)", kind="i8"),
        Field("blind", "", "1: a joint reading could not be true, so none is used any more", kind="i8"),
        Field("q_cmd", "rad", "commanded joint positions", _J),
        Field("qd_cmd", "rad/s", "commanded joint velocities", _J),
        Field("pose", "m, -", "X_BC: pose of the compliant frame: the tool at the commanded joints", (7,)),
        Field("twist", "m/s, rad/s", "velocity of the compliant frame (the virtual mass), in the base frame", (6,)),
        Field("moved", "m/s, rad/s", "velocity of the tool by the commanded joints, in the base frame", (6,)),
        Field("goal_twist", "m/s, rad/s", "velocity of the goal one tick ago, in the base frame", (6,)),
        Field("wrench_lp", "N, N m", "low-passed external wrench at the tool, in the base frame", (6,)),
        Field("wrench_age_s", "s", "time since the last good wrench"),
        Field(
            "trouble",
            "",
            "problem of the force sensor in this tick, or 0 (see Sensor problems)",
            kind="i8",
        ),
        Field("same_s", "s", "how long the raw reading has not changed"),
        Field("set", "", "number of the parameter set that the gains belong to", kind="i8"),
        Field("ramp", "", "progress of a gain change, 0 to 1"),
        Field("tank_j", "J", "energy left for gain changes (-1 before a law with gains has run)"),
        Field("injected_j", "J", "energy that gain changes have taken from the tank so far"),
        Field("tau", "N m", "last commanded joint torques (torque interface)", _J, only=_TORQUE),
        Field("owed", "N m", "part of a new torque request that is still to be ramped in", _J, only=_TORQUE),
        Field(
            "driven",
            "",
            "source of the torques: 0 none yet, 1 computed torque, 2 a torque law, 3 braking after a fault",
            kind="i8",
            only=_TORQUE,
        ),
        Field("weakest", "-", "direction of the smallest singular value, the initial guess of the next tick", (6,)),
        Field("starved_s", "s", "how long a limit has cut most of the law's command, while the error did not shrink"),
        Field("starved_by", "", "the limit that did: its place in observed.asked", kind="i8"),
        Field("starved_left", "", "fraction that it has left on average"),
        Field("starved_error", "m", "pose error since then, 0.2 m counted for each rad"),
    ),
)
"""What the controller remembers whatever law runs, as it is published."""

STATE = Layout(
    "ControllerState",
    (
        *SHARED_STATE.fields,
        # in telemetry, these are observed.wrench and reading.wrench
        Field("wrench", "N, N m", "last good external wrench at the tool, in the base frame", (6,)),
        Field("wrench_last", "N, N m", "previous raw reading, to detect a frozen sensor", (6,)),
        Field("guard", "", "what the guard remembers", kind=GUARD_STATE),
        Field("memory", "", "state of the running law, as it declares it", (MAX_LAW_STATE,)),
    ),
)
"""All that the controller remembers. The memory is zero when a law starts; `record_in` makes the law's record of it."""

COMMAND = Layout(
    "Command",
    (
        Field("mode", "", "0 idle, 1 position, 2 velocity, 3 torque", kind="i8"),
        Field("q", "rad", "commanded joint positions", _J, only=_NOT_POSITION),
        Field("qd", "rad/s", "commanded joint velocities (feed-forward in position mode)", _J, only=_NOT_POSITION),
        Field("tau", "N m", "commanded joint torques, gravity included", _J, only=_TORQUE),
    ),
)

OBSERVED = Layout(
    "Observed",
    (
        Field("pose", "m, -", "X_BT: pose of the tool in the base, from the measured joints", (7,)),
        Field("twist", "m/s, rad/s", "velocity of the tool, in the base frame", (6,)),
        Field(
            "wrench", "N, N m", "external wrench at the tool, in the base frame, without offset and tool weight", (6,)
        ),
        Field(
            "singular_value",
            "m/rad, -",
            "smallest singular value of J in the controlled directions (NaN if the law computes none; a torque law "
            "looks half a period ahead)",
        ),
        Field("scale", "", "fraction of the requested joint velocity that the limits allowed"),
        Field("limits", "", "bits of the limits that acted in this tick (see Limits)", kind="i8"),
        Field("asked", "", "requested value, for each limit that acted", (len(LIMITS),)),
        Field("allowed", "", "allowed value, for each limit that acted", (len(LIMITS),)),
    ),
)

TIMING = Layout(
    "Timing",
    (
        Field("wall_ns", "ns", "wall clock at the tick (0 in a --fast run)", kind="i8"),
        Field("late_s", "s", "how late the loop woke up"),
        Field("busy_s", "s", "duration of the previous read, tick and write together"),
        Field("overruns", "", "periods missed since the start", kind="i8"),
    ),
)

BASE = Layout(
    "Base",
    (
        Field("present", "", "1: the arm is on a mobile base; 0: it is not, and all fields are zero", kind="i8"),
        Field("pose", "m, rad", "X_WM: x, y and heading of the base in the world, as measured", (3,)),
        Field("wheels", "rad", "angles of the left and right wheel", (2,)),
        Field("twist", "m/s, rad/s", "forward and turning speed from the wheels", (2,)),
        Field("odometry", "m, rad", "x, y and heading from the wheels alone", (3,)),
        Field("apart", "m, rad", "difference between odometry and pose that built up within slip.window_s", (2,)),
        Field("slipping", "", "1: that difference exceeds the slip limits", kind="i8"),
        Field("command", "m/s, rad/s", "commanded forward and turning speed", (2,)),
    ),
)

TICK = Layout(
    "Telemetry",
    (
        Field("tick", "", "number of the tick", kind="i8"),
        Field("time_s", "s", "time since the start of the loop"),
        Field("revision", "", "number of the active parameter set", kind="i8"),
        Field("timing", "", "when the tick ran", kind=TIMING),
        Field("reading", "", "what the robot reported", kind=READING),
        Field("goal", "", "what was requested", kind=GOAL),
        Field("observed", "", "what the tick computed from it", kind=OBSERVED),
        Field("command", "", "what was sent to the robot", kind=COMMAND),
        Field("state", "", "the controller's state after the tick", kind=SHARED_STATE),
        Field("base", "", "the mobile base under the arm, if any", kind=BASE, only=("base",)),
    ),
)
