"""The data that flows through one tick, each declared once: name, shape, unit, meaning.

Every scalar is 8 bytes, so a record's bytes are the same in memory, in shared memory and as a CDR message: a recording
holds exactly what the tick saw. Joint arrays have room for `MAX_JOINTS`; the first `n` count. Frames: B is the arm's
base, T the tool (the point of compliance), S the force sensor, G the goal, C the compliant frame. Six-vectors are
[linear, angular]; a pose is [x, y, z, qw, qx, qy, qz]. A wrench is what the environment does to the robot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_JOINTS = 12

# Command modes: what a robot is asked to do with a command (and which interfaces it can offer).
IDLE, POSITION, VELOCITY, TORQUE = 0, 1, 2, 3
MODES = {"position": POSITION, "velocity": VELOCITY, "torque": TORQUE}

# Why the controller stopped the robot. A fault is latched: it ends with the loop.
FAULT_NUMBER, FAULT_POSE_ERROR, FAULT_COMMAND = 1, 2, 3
# Sensor trouble t becomes the fault FAULT_SENSOR + t once it has lasted longer than sense.hold_s.
FAULT_SENSOR = 10
WRENCH_OK, WRENCH_MISSING, WRENCH_SATURATED, WRENCH_NAN, WRENCH_RANGE, WRENCH_STALE, WRENCH_FROZEN = range(7)
TROUBLES = {
    WRENCH_MISSING: "gave no reading",
    WRENCH_SATURATED: "was saturated",
    WRENCH_NAN: "gave a value that is not a finite number",
    WRENCH_RANGE: "gave a value outside sense.range_n or sense.range_nm",
    WRENCH_STALE: "gave readings older than sense.stale_s",
    WRENCH_FROZEN: "gave the same reading for longer than sense.frozen_s",
}
FAULTS = {
    FAULT_NUMBER: "a joint reading was not a finite number",
    FAULT_COMMAND: "the command came out as no finite number: a goal or a parameter is beyond all measure",
    FAULT_POSE_ERROR: "the virtual spring was stretched beyond limits.pose_error_m or limits.pose_error_rad",
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
    LIMIT_TORQUE_RATE: "change of joint torque",
    LIMIT_REACH: "reach: the goal was brought into it",
    LIMIT_STRETCH: "stretch of the virtual spring",
    LIMIT_EDGE: "braking before the edge of the reach",
}
LIMIT_UNITS = (
    *("rad/s", "rad/s²", "rad/s", "m/rad", "N m", "m/s or rad/s", "m/s² or rad/s²", "m/s or m"),
    *("N m/s", "m", "m or rad", "m/s or rad/s"),
)


@dataclass(frozen=True)
class Field:
    """One field of a record: `kind` is 'f8', 'i8' or another record's dtype."""

    name: str
    unit: str
    help: str
    shape: tuple[int, ...] = ()
    kind: Any = "f8"


@dataclass(frozen=True)
class Layout:
    """A record type: its name, its fields, and the NumPy dtype that kernels compile against."""

    name: str
    fields: tuple[Field, ...]

    @property
    def dtype(self) -> np.dtype[np.void]:
        members = [(f.name, f.kind.dtype if isinstance(f.kind, Layout) else f.kind, f.shape) for f in self.fields]
        return np.dtype((np.record, members))

    def new(self, n: int = 1) -> np.ndarray[Any, Any]:
        """An array of `n` zeroed records. Kernels take the array and use `[0]`: that is the cheap way to pass one."""
        return np.zeros(n, self.dtype)


_J = (MAX_JOINTS,)

READING = Layout(
    "Reading",
    (
        Field("stamp_s", "s", "robot time of the joint state"),
        Field("q", "rad", "joint positions", _J),
        Field("qd", "rad/s", "joint velocities", _J),
        Field("tau", "N m", "joint torques that the drives apply", _J),
        Field("wrench", "N, N m", "raw force sensor, in sensor axes at the sensor's origin", (6,)),
        Field("wrench_stamp_s", "s", "robot time at which the wrench was sampled"),
        Field("wrench_state", "", "what the driver says of the wrench: 0 good, 1 missing, 2 saturated", kind="i8"),
    ),
)

GOAL = Layout(
    "Goal",
    (
        Field("law", "", "which law runs (see laws)", kind="i8"),
        Field("q", "rad", "joint goal of the joint-space laws", _J),
        Field("pose", "m, -", "X_BG: pose of the goal frame in the base", (7,)),
        Field("twist", "m/s, rad/s", "velocity of the goal frame, in base axes", (6,)),
        Field("accel", "m/s^2, rad/s^2", "acceleration of the goal frame, in base axes (torque laws)", (6,)),
        Field("motion_s", "s", "how long the goal still moves by itself; 0: it stays, or is told anew in every tick"),
        Field("wrench", "N, N m", "wrench to be held, in base axes at the tool", (6,)),
        Field("push", "N, N m", "virtual push that the law feels beside the measured wrench, in base axes", (6,)),
        Field("stop", "", "1: come to rest and stay there", kind="i8"),
        Field("pressed", "", "1: the law may take over from a contact that presses, without lifting off", kind="i8"),
        Field("command", "", "last command to the contact law (see contact.states.COMMANDS)", kind="i8"),
        Field("earlier", "", "the commands before it, newest first, that may not have been read yet", (7,), "i8"),
        Field("commands", "", "number of commands given so far; a change means a new command", kind="i8"),
    ),
)

CONTACT = Layout(
    "ContactState",
    (
        Field("state", "", "state of the contact law (see contact.states.STATES)", kind="i8"),
        Field("reason", "", "the event that led into this state (see contact.states.EVENTS)", kind="i8"),
        Field(
            "rejected", "", "why the last command was rejected, 0: it was not (see contact.states.EVENTS)", kind="i8"
        ),
        Field("commands", "", "commands read so far", kind="i8"),
        Field("before", "", "the state that was paused", kind="i8"),
        Field("since_s", "s", "time in this state"),
        Field("approach", "", "direction of approach: the tool's axis at the start, in base axes", (3,)),
        Field("anchor", "m", "where the present search or lift-off began, in base axes", (3,)),
        Field("normal", "", "estimated direction out of the surface, in base axes", (3,)),
        Field("curvature", "1/m", "how fast the normal turns towards the way it slides"),
        Field("doubt", "rad", "how far the slope along the path may be from what was learned"),
        Field("force_n", "N", "force along the normal"),
        Field("steady_n", "N", "the same, low-passed once more for decisions"),
        Field("resting", "N", "the whole force, low-passed since the state began: what a start is judged by", (3,)),
        Field("lift_n", "N", "force with which the lift-off began"),
        Field(
            "lifts",
            "",
            "lift-off: 0 along the normal, 1 along the approach, 2 back from an obstacle",
            kind="i8",
        ),
        Field("back_m", "m", "how far it may go back from an obstacle to the lift-off"),
        Field("out_m", "m", "way out of the surface since the touch, less what the path explains"),
        Field("pulled_s", "s", "how long the force has pulled towards a surface that was not touched yet"),
        Field("settling_s", "s", "time in which the force should have settled, over all touches since it last did"),
        Field("halt", "", "0: not halted, 1: a halt that was not carried out yet, 2: one that was", kind="i8"),
        Field("sunk_m", "m", "way into the surface to which no force corresponds, since the force was last held"),
        Field("target_n", "N", "force asked for at this moment"),
        Field("peak_n", "N", "largest force along the normal since the start"),
        Field("friction", "", "learned coefficient of friction"),
        Field("touching", "", "1 while in contact", kind="i8"),
        Field("lost_s", "s", "how long the force has been below contact.loss_n"),
        Field("losses", "", "contacts lost since the start", kind="i8"),
        Field("touches", "", "touches since the start", kind="i8"),
        Field("stiffness", "N/m", "learned stiffness of the surface"),
        Field("damping", "N s/m", "learned damping of the surface"),
        Field("covariance", "", "of stiffness and damping: kk, kd, dd", (3,)),
        Field("misfit", "N^2", "mean square of what stiffness and damping leave unexplained"),
        Field("bound", "N/m", "stiffness that the gain reckons with: learned, and what it may be more"),
        Field("gain", "m/(N s)", "speed per force error"),
        Field("integral", "m/s", "speed that the integral adds"),
        Field("wanted", "m/s", "speed into the surface before the law's own limit"),
        Field("asked", "m/s", "speed into the surface that the law asked for"),
        Field("damper_n", "N", "force of the law's own damper, positive inward: against the motion, if it damps"),
        Field("following", "", "1 once the motion of the surface is observed", kind="i8"),
        Field("surface_v", "m/s", "speed of the surface along the normal, as observed"),
        Field("surface_a", "m/s^2", "its acceleration, as observed"),
        Field("slow", "", "slow parts of force, depth, speed; of what is left of them; of force less damping", (7,)),
        Field(
            "sums",
            "",
            "means of the quick parts: x, xx; force less damping f, xf, ff; v, vv, xv; force g, xg, vg, gg",
            (12,),
        ),
        Field("seen", "", "depth, speed and force a tick ago, filtered alike", (3,)),
        Field("travelled_m", "m", "way along the path"),
        Field("stuck_s", "s", "how long limits have kept the tool from moving on"),
        Field("way", "m/s", "velocity along the surface that is asked for", (3,)),
        Field("held_s", "s", "how long the force has stayed in its band"),
        Field("lifted", "", "1 when there is nothing more to lift off from", kind="i8"),
    ),
)

STATE = Layout(
    "State",
    (
        Field(
            "law", "", "the law that ran last (a change starts the new one from rest at the present pose)", kind="i8"
        ),
        Field("started", "", "0 before the first tick", kind="i8"),
        Field("fault", "", "0 or the number of the fault that stopped the robot (see FAULTS)", kind="i8"),
        Field("q_cmd", "rad", "commanded joint positions", _J),
        Field("qd_cmd", "rad/s", "commanded joint velocities", _J),
        Field("pose", "m, -", "X_BC: pose of the compliant frame: the tool at the commanded joints", (7,)),
        Field("twist", "m/s, rad/s", "velocity of the compliant frame (the virtual mass), in base axes", (6,)),
        Field("moved", "m/s, rad/s", "velocity that the commanded joints really give the tool, in base axes", (6,)),
        Field("goal_twist", "m/s, rad/s", "velocity of the goal a tick ago, in base axes", (6,)),
        Field("wrench", "N, N m", "last good external wrench at the tool, in base axes", (6,)),
        Field("wrench_lp", "N, N m", "low-passed external wrench at the tool, in base axes", (6,)),
        Field("wrench_age_s", "s", "time since the last good wrench"),
        Field("trouble", "", "what is wrong with the force sensor in this tick (see TROUBLES)", kind="i8"),
        Field("wrench_last", "N, N m", "the raw reading before, to notice one that never changes", (6,)),
        Field("same_s", "s", "how long the raw reading has not changed"),
        Field("set", "", "number of the parameter set that the gains came with", kind="i8"),
        Field("ramp", "", "how far changed gains have come into force, 0 to 1"),
        Field("tank_j", "J", "energy left for changes of gains"),
        Field("injected_j", "J", "energy that changes of gains have taken from the tank so far"),
        Field("tau", "N m", "joint torques commanded last (torque interface)", _J),
        Field("owed", "N m", "part of them that lags behind what was asked anew", _J),
        Field("driven", "", "what made them: 0 nothing yet, 1 computed torque, 2 a torque law", kind="i8"),
        Field("asked", "N, N m", "virtual push less wrench goal a tick ago", (6,)),
        Field("accel", "m/s^2, rad/s^2", "acceleration of the led goal a tick ago", (6,)),
        Field("revision", "", "number of the parameter set a tick ago", kind="i8"),
        Field("led", "m, -", "pose of the led goal: a torque law goes after a jump of the goal with it", (7,)),
        Field("led_twist", "m/s, rad/s", "its velocity, in base axes", (6,)),
        Field("load", "N m", "joint torques from outside, as the motion shows them (simple impedance)", _J),
        Field("contact", "", "state of the contact law", kind=CONTACT),
        Field("weakest", "-", "direction of the smallest singular value, kept as the next tick's first guess", (6,)),
    ),
)

COMMAND = Layout(
    "Command",
    (
        Field("mode", "", "0 idle, 1 position, 2 velocity, 3 torque", kind="i8"),
        Field("q", "rad", "joint positions asked for", _J),
        Field("qd", "rad/s", "joint velocities asked for (feed-forward in position mode)", _J),
        Field("tau", "N m", "joint torques asked for, gravity included", _J),
    ),
)

OBSERVED = Layout(
    "Observed",
    (
        Field("pose", "m, -", "X_BT: pose of the tool in the base, from the measured joints", (7,)),
        Field("twist", "m/s, rad/s", "velocity of the tool, in base axes", (6,)),
        Field("wrench", "N, N m", "external wrench at the tool in base axes: bias and tool weight removed", (6,)),
        Field(
            "singular_value",
            "m/rad, -",
            "smallest singular value of J in the directions that the law controls (NaN in a law without one; a "
            "torque law looks half a period ahead)",
        ),
        Field("scale", "", "share of the asked joint velocity that the limits let through"),
        Field("limits", "", "bits of the limits that acted in this tick (see LIMITS)", kind="i8"),
        Field("asked", "", "what was asked of each limit that acted", (len(LIMITS),)),
        Field("allowed", "", "what each limit that acted let through", (len(LIMITS),)),
    ),
)

TIMING = Layout(
    "Timing",
    (
        Field("wall_ns", "ns", "wall clock at the tick (0 in a run without pacing)", kind="i8"),
        Field("late_s", "s", "how late the loop woke up"),
        Field("busy_s", "s", "duration of the previous read, tick and write together"),
        Field("overruns", "", "periods missed since the start", kind="i8"),
    ),
)

BASE = Layout(
    "Base",
    (
        Field("present", "", "1: the arm rides on a mobile base; 0: it does not, and all of this is zero", kind="i8"),
        Field("pose", "m, rad", "X_WM: x, y and heading of the base in the world, as measured", (3,)),
        Field("wheels", "rad", "angles of the left and the right wheel", (2,)),
        Field("twist", "m/s, rad/s", "forward and turning speed by the wheels", (2,)),
        Field("odometry", "m, rad", "x, y and heading by the wheels alone", (3,)),
        Field("apart", "m, rad", "how far odometry and pose have parted within slip.window_s", (2,)),
        Field("slipping", "", "1: that is more than can be put down to anything but slip", kind="i8"),
        Field("command", "m/s, rad/s", "forward and turning speed that the base was told", (2,)),
    ),
)

TELEMETRY = Layout(
    "Telemetry",
    (
        Field("tick", "", "number of the tick", kind="i8"),
        Field("time_s", "s", "time since the start of the loop"),
        Field("revision", "", "number of the parameter set in force", kind="i8"),
        Field("timing", "", "when the tick ran", kind=TIMING),
        Field("reading", "", "what the robot said", kind=READING),
        Field("goal", "", "what was asked for", kind=GOAL),
        Field("observed", "", "what the tick made of it", kind=OBSERVED),
        Field("command", "", "what the robot was told", kind=COMMAND),
        Field("state", "", "the controller's state after the tick", kind=STATE),
        Field("base", "", "the mobile base that the arm rides on, if it does", kind=BASE),
    ),
)
