"""The records of one tick, each field declared once: name, shape, unit, meaning.

Every scalar is 8 bytes, so a record's bytes are the same in memory, in shared memory and as a CDR message: a recording
holds exactly what the tick saw. Joint arrays have room for `MAX_JOINTS`; the first `n` entries are used. Frames: B is
the arm's base, T the tool (the compliance point), S the force sensor, G the goal, C the compliant frame. Six-vectors
are [linear, angular]; a pose is [x, y, z, qw, qx, qy, qz]. A wrench is what the environment does to the robot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

MAX_JOINTS = 12
MAX_OWN_STATE, MAX_OWN_PARAMS = 32, 64
"""How many numbers a law from outside the package may remember, and how many parameters such laws may have in all."""

# Command modes: what a robot is asked to do with a command (and which interfaces it can offer).
IDLE, POSITION, VELOCITY, TORQUE = 0, 1, 2, 3
# What made the last torques (`state.driven`).
BY_JOINTS, BY_LAW = 1, 2
MODES = {"position": POSITION, "velocity": VELOCITY, "torque": TORQUE}

# Why the controller stopped the robot. A fault is latched: it ends with the loop.
FAULT_NUMBER, FAULT_POSE_ERROR, FAULT_COMMAND, FAULT_LAW, FAULT_SLOW = 1, 2, 3, 4, 5
FAULT_STARVED = 6
# Sensor trouble t becomes the fault FAULT_SENSOR + t once it has lasted longer than sense.hold_s.
FAULT_SENSOR = 10
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
    FAULT_STARVED: "a limit cut most of what the law asked for, for longer than limits.starved_fault_s",
    FAULT_POSE_ERROR: "the pose error of the virtual spring exceeded limits.pose_error_m or limits.pose_error_rad",
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


@dataclass(frozen=True)
class Layout:
    """A record type: its name, its fields, and the NumPy dtype that kernels compile against."""

    name: str
    fields: tuple[Field, ...]

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        members = [(f.name, f.kind.dtype if isinstance(f.kind, Layout) else f.kind, f.shape) for f in self.fields]
        return np.dtype((np.record, members))

    def new(self, n: int = 1) -> np.ndarray[Any, Any]:
        """An array of `n` zeroed records. Kernels take the array and use `[0]`: that is the cheapest call."""
        return np.zeros(n, self.dtype)


_J = (MAX_JOINTS,)

READING = Layout(
    "Reading",
    (
        Field("stamp_s", "s", "robot time of the joint state"),
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
        Field("accel", "m/s^2, rad/s^2", "acceleration of the goal frame, in the base frame (torque laws)", (6,)),
        Field("motion_s", "s", "how long the goal keeps moving at its twist; 0: it stays, or is set in every tick"),
        Field("wrench", "N, N m", "wrench to hold, in the base frame at the tool", (6,)),
        Field("push", "N, N m", "virtual push, added to the measured wrench for the law, in the base frame", (6,)),
        Field("stop", "", "1: stop and hold", kind="i8"),
        Field("pressed", "", "1: the law may take over from a pressing contact without lifting off", kind="i8"),
        Field("command", "", "last command to the contact law (see Contact commands)", kind="i8"),
        Field("earlier", "", "earlier commands that may not have been read yet, newest first", (7,), "i8"),
        Field("commands", "", "number of commands sent so far; a change means a new command", kind="i8"),
    ),
)

CONTACT = Layout(
    "ContactState",
    (
        Field("state", "", "state of the contact law (see Contact states)", kind="i8"),
        Field("reason", "", "the event that led into this state (see Contact events)", kind="i8"),
        Field(
            "rejected",
            "",
            "why the last command was rejected; 0: it was accepted (see Contact events)",
            kind="i8",
        ),
        Field("before", "", "the state that was paused", kind="i8"),
        Field("since_s", "s", "time in this state"),
        Field("approach", "", "direction of approach: the tool's axis at the start, in the base frame", (3,)),
        Field("anchor", "m", "where the present seek or lift-off began, in the base frame", (3,)),
        Field("normal", "", "estimated direction out of the surface, in the base frame", (3,)),
        Field("curvature", "1/m", "how fast the normal turns towards the sliding direction"),
        Field("doubt", "rad", "uncertainty of the learned slope along the path"),
        Field("force_n", "N", "force along the normal"),
        Field("steady_n", "N", "force along the normal, low-passed again for decisions"),
        Field("resting", "N", "total force, low-passed since the state began; a start is checked against it", (3,)),
        Field("lift_n", "N", "force at the start of the lift-off"),
        Field(
            "lifts",
            "",
            "direction of the lift-off: 0 along the normal, 1 along the approach, 2 back from an obstacle",
            kind="i8",
        ),
        Field("back_m", "m", "how far the tool may move back from an obstacle to the lift-off"),
        Field("out_m", "m", "motion out of the surface since the touch, minus what the path explains"),
        Field("pulled_s", "s", "how long the force has pulled towards a surface before any touch"),
        Field("settling_s", "s", "time spent settling, over all touches since the force last settled"),
        Field("halt", "", "0: not halted, 1: halt requested, 2: halted", kind="i8"),
        Field("sunk_m", "m", "motion into the surface without a matching force, since the force was last held"),
        Field("target_n", "N", "target force at this moment"),
        Field("peak_n", "N", "largest force along the normal since the start"),
        Field("friction", "", "learned coefficient of friction"),
        Field("touching", "", "1 while in contact", kind="i8"),
        Field("lost_s", "s", "how long the force has been below contact.loss_n"),
        Field("losses", "", "contact losses since the start", kind="i8"),
        Field("touches", "", "touches since the start", kind="i8"),
        Field("stiffness", "N/m", "learned stiffness of the surface"),
        Field("damping", "N s/m", "learned damping of the surface"),
        Field("covariance", "", "covariance of stiffness and damping: kk, kd, dd", (3,)),
        Field("misfit", "N^2", "mean square of the force that stiffness and damping do not explain"),
        Field(
            "bound", "N/m", "upper bound of the stiffness, from which the gain follows: learned value plus uncertainty"
        ),
        Field("gain", "m/(N s)", "speed per force error"),
        Field("integral", "m/s", "speed added by the integral"),
        Field("wanted", "m/s", "speed into the surface before the law's limit"),
        Field("asked", "m/s", "speed into the surface that the law requested"),
        Field("damper_n", "N", "force of the law's damper, positive inward; opposes the motion if it damps"),
        Field("following", "", "1 once the motion of the surface is observed", kind="i8"),
        Field("surface_v", "m/s", "speed of the surface along the normal, as observed"),
        Field("surface_a", "m/s^2", "its acceleration, as observed"),
        Field("slow", "", "slow parts of force, depth, speed; of their remainders; of force minus damping", (7,)),
        Field(
            "sums",
            "",
            "means of the fast parts: x, xx; force minus damping f, xf, ff; v, vv, xv; force g, xg, vg, gg",
            (12,),
        ),
        Field("seen", "", "depth, speed and force one tick ago, equally filtered", (3,)),
        Field("travelled_m", "m", "distance along the path"),
        Field("stuck_s", "s", "how long limits have blocked the tool"),
        Field("way", "m/s", "requested velocity along the surface", (3,)),
        Field("held_s", "s", "how long the force has stayed within contact.band_n"),
        Field("lifted", "", "1 when the lift-off is complete or not needed", kind="i8"),
        Field("model", "m", "tool position that the command and the robot's lag explain, in the base frame", (3,)),
        Field("model_v", "m/s", "its velocity", (3,)),
        Field("model_off", "m", "measured position minus the explained one, low-passed", (3,)),
        Field("tool_v", "m/s", "observed velocity of the tool, in the base frame", (3,)),
        Field("observing", "", "1 once the motion of the tool is observed", kind="i8"),
        Field("zero", "N", "force that was taken as zero at the start, in the base frame", (3,)),
        Field("free", "N", "slow mean of the force while the tool hangs free, in the base frame", (3,)),
        Field("free_n2", "N^2", "variance of the low-passed force about it, per axis"),
        Field("noise_n", "N", "noise of one sample: contact.noise_n, or what was measured before the touch if more"),
        Field("total_n", "N", "size of the force, low-passed"),
        Field("felt_n", "N", "the same without what leans further than friction can"),
        Field("along_n", "N", "force along the believed normal, low-passed"),
        Field("share", "", "share of the force that is normal; the rest is friction"),
        Field("crawl_s", "s", "how long the path has been followed more slowly than it should be"),
        Field("over_s", "s", "how long the total force has been far above the target"),
        Field("leaning_m", "m", "way over which the force has leaned further than friction explains"),
    ),
)

STATE = Layout(
    "State",
    (
        Field("law", "", "law of the last tick (a new law starts from rest at the present pose)", kind="i8"),
        Field("started", "", "0 before the first tick", kind="i8"),
        Field("commands", "", "commands read so far", kind="i8"),
        Field("busy", "", "1: no other law may take over yet, and the loop may not end", kind="i8"),
        Field("finishes", "", "1: after a failure of the force sensor the law finishes first", kind="i8"),
        Field("fault", "", "number of the fault that stopped the robot, or 0 (see Faults)", kind="i8"),
        Field("q_cmd", "rad", "commanded joint positions", _J),
        Field("qd_cmd", "rad/s", "commanded joint velocities", _J),
        Field("pose", "m, -", "X_BC: pose of the compliant frame: the tool at the commanded joints", (7,)),
        Field("twist", "m/s, rad/s", "velocity of the compliant frame (the virtual mass), in the base frame", (6,)),
        Field("moved", "m/s, rad/s", "velocity of the tool by the commanded joints, in the base frame", (6,)),
        Field("goal_twist", "m/s, rad/s", "velocity of the goal one tick ago, in the base frame", (6,)),
        Field("wrench", "N, N m", "last good external wrench at the tool, in the base frame", (6,)),
        Field("wrench_lp", "N, N m", "low-passed external wrench at the tool, in the base frame", (6,)),
        Field("wrench_age_s", "s", "time since the last good wrench"),
        Field(
            "trouble",
            "",
            "problem of the force sensor in this tick, or 0 (see Sensor problems)",
            kind="i8",
        ),
        Field("wrench_last", "N, N m", "previous raw reading, to detect a frozen sensor", (6,)),
        Field("same_s", "s", "how long the raw reading has not changed"),
        Field("set", "", "number of the parameter set that the gains belong to", kind="i8"),
        Field("ramp", "", "progress of a gain change, 0 to 1"),
        Field("tank_j", "J", "energy left for gain changes (-1 before a law with gains has run)"),
        Field("injected_j", "J", "energy that gain changes have taken from the tank so far"),
        Field("tau", "N m", "last commanded joint torques (torque interface)", _J),
        Field("owed", "N m", "part of a new torque request that is still to be ramped in", _J),
        Field("driven", "", "source of the torques: 0 none yet, 1 computed torque, 2 a torque law", kind="i8"),
        Field("asked", "N, N m", "virtual push minus wrench goal, one tick ago", (6,)),
        Field("accel", "m/s^2, rad/s^2", "acceleration of the smoothed goal one tick ago", (6,)),
        Field("revision", "", "number of the parameter set one tick ago", kind="i8"),
        Field("led", "m, -", "pose of the smoothed goal, with which a torque law follows a jump of the goal", (7,)),
        Field("led_twist", "m/s, rad/s", "velocity of the smoothed goal, in the base frame", (6,)),
        Field("load", "N m", "external joint torques, estimated from the motion (simple impedance)", _J),
        Field("contact", "", "state of the contact law", kind=CONTACT),
        Field("weakest", "-", "direction of the smallest singular value, the initial guess of the next tick", (6,)),
        Field(
            "starved_s", "s", "how long a limit has cut most of what the law asks for, while its error did not shrink"
        ),
        Field("starved_by", "", "the limit that did: its place in observed.asked", kind="i8"),
        Field("starved_left", "", "fraction that it has left on average"),
        Field("starved_error", "m", "pose error since then, 0.2 m counted for each rad"),
        Field("own", "", "state of a law from outside the package, as it declares it", (MAX_OWN_STATE,)),
    ),
)

COMMAND = Layout(
    "Command",
    (
        Field("mode", "", "0 idle, 1 position, 2 velocity, 3 torque", kind="i8"),
        Field("q", "rad", "commanded joint positions", _J),
        Field("qd", "rad/s", "commanded joint velocities (feed-forward in position mode)", _J),
        Field("tau", "N m", "commanded joint torques, gravity included", _J),
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

TELEMETRY = Layout(
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
        Field("state", "", "the controller's state after the tick", kind=STATE),
        Field("base", "", "the mobile base under the arm, if any", kind=BASE),
    ),
)
