"""The records of the realistic world: sizes, constants of one specimen, and state."""

from __future__ import annotations

from pliant.records import MAX_JOINTS, Field, Layout

LATENCY_SLOTS = 64

_J = (MAX_JOINTS,)

DRIVE = Layout(
    "Drive",
    (
        Field("on", "", "1: motors and links turn on their own, with a gear between them", kind="i8"),
        Field("rotor", "kg m^2", "inertia of rotor and gear at the joint", _J),
        Field("stiffness", "N m/rad", "of the gear at small deflection", _J),
        Field("damping", "N m s/rad", "of the gear", _J),
        Field("implicit", "N m s/rad", "torque of the gear per change of its speed in a step", _J),
        Field("yielding", "", "share of the stiffness that yields, which makes the hysteresis"),
        Field("yield_nm", "N m", "torque at which that share yields", _J),
        Field("ripple", "rad", "amplitude of the transmission error"),
        Field("per_turn", "", "its periods per turn of the joint"),
        Field("phase", "rad", "its phase", _J),
        Field("k_p", "N m/rad", "position gain of the motor's servo", _J),
        Field("k_d", "N m s/rad", "its speed gain", _J),
        Field("coulomb", "N m", "Coulomb friction", _J),
        Field("viscous", "N m s/rad", "viscous friction", _J),
        Field("static_ratio", "", "static over Coulomb friction"),
        Field("stribeck", "rad/s", "speed over which friction falls"),
        Field("torque_share", "", "share of the friction that is left under torque commands"),
        Field("motor", "rad", "angle of the motor at the joint", _J),
        Field("speed", "rad/s", "its speed", _J),
        Field("change", "rad/s", "change of that speed in this step, without the link's part", _J),
        Field("before", "rad/s", "speed of the link before this step", _J),
        Field("held", "", "1: friction holds the motor in this step", _J, "i8"),
        Field("friction", "N m", "friction in this step", _J),
        Field("torque", "N m", "torque of the gear on the link in this step", _J),
        Field("slip", "N m", "torque of the part of the gear that yields", _J),
        Field("wind", "rad", "deflection of the gear", _J),
    ),
)

ENCODER = Layout(
    "Encoder",
    (
        Field("on", "", "1: readings have errors", kind="i8"),
        Field("noise", "rad", "standard deviation of q"),
        Field("step", "rad", "quantisation of q"),
        Field("difference", "", "1: q̇ is the difference of reported q", kind="i8"),
        Field("smoothing", "", "share of a new difference in q̇"),
        Field("speed_noise", "rad/s", "standard deviation of q̇"),
        Field("torque_noise", "N m", "standard deviation of τ"),
        Field("torque_bias", "N m", "offset of τ", _J),
        Field("reads", "", "readings so far", kind="i8"),
        Field("q", "rad", "last reported q", _J),
        Field("qd", "rad/s", "last reported q̇, if it is a difference", _J),
        Field("at", "s", "its time"),
        Field("draws", "", "random numbers", _J),
    ),
)

FELT = Layout(
    "Felt",
    (
        Field("on", "", "1: the sensor has errors", kind="i8"),
        Field("matrix", "", "what each axis shows of each axis", (6, 6)),
        Field("wander", "N, N m", "standard deviation of the wander", (6,)),
        Field("wander_s", "s", "its correlation time"),
        Field("drift", "N/s, N m/s", "steady drift", (6,)),
        Field("thermal", "N, N m", "offset after a step of temperature", (6,)),
        Field("thermal_s", "s", "its time constant"),
        Field("smoothing", "", "share of a new value in the low-pass, per physics step; 1: no low-pass"),
        Field("latency", "", "age of a reading in ticks", kind="i8"),
        Field("pose_zero", "N, N m", "zero by the direction of gravity: its components, then their products", (6, 6)),
        Field("wrist_step", "N m", "moment about z from friction of the last joint"),
        Field("jump", "N, N m", "sudden offset", (6,)),
        Field("jump_share", "", "probability of a jump in one tick"),
        Field("down", "", "direction of gravity in the world", (3,)),
        Field("zero", "N, N m", "pose-dependent zero at the start", (6,)),
        Field("low", "N, N m", "low-passed wrench", (6,)),
        Field("now", "N, N m", "present wander", (6,)),
        Field("jumped", "", "1 after a jump, 0 after the jump back", kind="i8"),
        Field("side", "", "direction of the last motion of the last joint"),
        Field("ring", "N, N m", "latest readings", (LATENCY_SLOTS, 6)),
        Field("taken", "", "readings taken so far", kind="i8"),
        Field("off", "N, N m", "error of a reading without noise and wander: scale, cross-talk, zero", (6,)),
        Field("weight", "N", "weight of the tool beyond that of the nominal tool, in the world", (3,)),
        Field("six", "", "scratch", (6,)),
        Field("terms", "", "scratch", (6,)),
    ),
)

PACKETS = Layout(
    "Packets",
    (
        Field("late_share", "", "share of commands that are late"),
        Field("late", "", "longest lateness in physics steps", kind="i8"),
        Field("command_loss", "", "share of commands that are lost"),
        Field("reading_loss", "", "share of readings that are lost"),
        Field("waiting", "", "physics steps until a command gets through", kind="i8"),
        Field("tau", "N m", "last torque that got through", _J),
        Field("lost", "", "commands and readings lost so far", (2,), "i8"),
    ),
)

STOP = Layout(
    "Stop",
    (
        Field("speed", "rad/s", "largest joint speeds; 0: not supervised", _J),
        Field("deviation", "rad", "largest deviation from the reference; 0: not supervised"),
        Field("force", "N", "largest external force; 0: not supervised"),
        Field("pressed", "N", "external force as the controller notices it"),
        Field("reason", "", "why the robot has stopped: 1 speed, 2 deviation, 3 force; 0: it has not", kind="i8"),
        Field("value", "", "what exceeded the limit: rad/s, rad or N"),
        Field("joint", "", "number of the joint that exceeded it, from 0; for a force 0", kind="i8"),
    ),
)
