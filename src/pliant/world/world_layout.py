"""The simulator's records: addresses, settings and state of the world."""

from __future__ import annotations

from pliant.records import MAX_JOINTS, Field, Layout
from pliant.world.realism.effect_layout import DRIVE, ENCODER, FELT, PACKETS, STOP

MAX_SURFACES = 8
MAX_SURFACE_PARAMS = 16
MAX_PUSHES = 32
MAX_FAILURES = 8
DELAY_SLOTS = 256
# More than a sensor takes in its longest delay, one in a tick.
SAMPLES = 128

_J = (MAX_JOINTS,)

SURFACE = Layout(
    "Surface",
    (
        Field("measure_at", "", "address of the kernel of its kind, which fills distance and normal", kind="i8"),
        Field("params", "", "parameters of its kind, as it declares them", (MAX_SURFACE_PARAMS,)),
        Field("pose", "m, -", "pose in the base", (7,)),
        Field("point", "m", "where the tip is, in the frame of the surface", (3,)),
        Field("distance", "m", "distance of the tip's centre, negative inside"),
        Field("normal", "", "direction out of the material there, in the frame of the surface", (3,)),
        Field("stiffness", "N/m", "along the normal"),
        Field("stiffness_change", "N/m", "increase of the stiffness after the change"),
        Field("change", "m", "where the stiffness changes, along x of the surface", (2,)),
        Field("here", "N/m", "stiffness where the tip is"),
        Field("damping", "N s/m", "along the normal"),
        Field("swing", "m", "amplitude of its motion along its z axis"),
        Field("swing_hz", "Hz", "frequency of that motion"),
        Field("swing_at", "s", "when it begins"),
        Field("friction", "", "Coulomb coefficient"),
        Field("stretch", "m", "deflection of the material along the surface (sticking friction)", (3,)),
        Field("touching", "", "1 while in contact", kind="i8"),
        Field("force", "N", "force on the robot in the last step, base axes", (3,)),
        Field("press", "N", "its part along the normal"),
    ),
)

PUSH = Layout(
    "Push",
    (
        Field("start", "s", "begin"),
        Field("end", "s", "end"),
        Field("ramp", "s", "rise and fall"),
        Field("wrench", "N, N m", "at the tool, base axes", (6,)),
    ),
)

FAILURE = Layout(
    "Failure",
    (
        Field("kind", "", "number of the sensor problem (see records.TROUBLES)", kind="i8"),
        Field("start", "s", "begin"),
        Field("end", "s", "end"),
    ),
)

WORLD = Layout(
    "World",
    (
        # memory of MuJoCo
        Field("model", "", "address of mjModel", kind="i8"),
        Field("data", "", "address of mjData", kind="i8"),
        Field("n", "", "number of joints", kind="i8"),
        Field("qpos", "", "address", kind="i8"),
        Field("qvel", "", "address", kind="i8"),
        Field("qfrc_applied", "", "address", kind="i8"),
        Field("qfrc_bias", "", "address", kind="i8"),
        Field("qfrc_passive", "", "address", kind="i8"),
        Field("sensordata", "", "address", kind="i8"),
        Field("axis_q", "", "address of what the servo controls: the joints, or the motors", kind="i8"),
        Field("axis_qd", "", "address of its speeds", kind="i8"),
        Field("armature", "", "address of the inertia that MuJoCo adds at the joints", kind="i8"),
        Field("sensor_xmat", "", "address of the sensor site's axes", kind="i8"),
        Field("tool_xpos", "", "address of the tool site's position", kind="i8"),
        Field("tool_xipos", "", "address of the tool body's centre of mass", kind="i8"),
        Field("tool_xfrc", "", "address of the wrench applied to the tool body", kind="i8"),
        Field("tool_site", "", "site number", kind="i8"),
        Field("site_type", "", "MuJoCo's number for 'site'", kind="i8"),
        # settings
        Field("source", "", "address of the record that replaces the wrench of a reading; 0: none", kind="i8"),
        Field("h", "s", "physics step"),
        Field("substeps", "", "physics steps per tick", kind="i8"),
        Field("omega", "rad/s", "natural frequency of the command filter"),
        Field("omega_stiff", "rad/s", "natural frequency of the joint loop"),
        Field("delay", "", "transport delay in physics steps", kind="i8"),
        Field("tau_max", "N m", "torque limits", _J),
        Field("tip_radius", "m", "radius of the tool's tip"),
        Field("noise", "N, N m", "standard deviation", (6,)),
        Field("bias", "N, N m", "offset", (6,)),
        Field("step", "N, N m", "quantisation", (6,)),
        Field("range", "N, N m", "saturation", (6,)),
        Field("dropout", "", "probability"),
        Field("sample_s", "s", "time between two samples of the sensor; 0: a sample in every tick"),
        Field("sample_delay", "s", "time from a sample until it is delivered"),
        Field("n_surfaces", "", "surfaces in use", kind="i8"),
        Field("n_pushes", "", "pushes in use", kind="i8"),
        Field("push", "", "scripted pushes", (MAX_PUSHES,), PUSH),
        Field("n_failures", "", "sensor failures in use", kind="i8"),
        Field("failure", "", "scripted failures of the sensor", (MAX_FAILURES,), FAILURE),
        # the realistic world: sizes and state
        Field("drive", "", "motors and gears", kind=DRIVE),
        Field("encoder", "", "errors of joint readings", kind=ENCODER),
        Field("felt", "", "errors of the force sensor", kind=FELT),
        Field("packets", "", "late and lost packets", kind=PACKETS),
        Field("supervised", "", "1: the robot's controller supervises the arm", kind="i8"),
        Field("stop", "", "its limits, and why it has stopped", kind=STOP),
        # state
        Field("time", "s", "simulated time"),
        Field("count", "", "physics steps done", kind="i8"),
        Field("rng", "", "state of the random generator", kind="i8"),
        Field("halted", "", "1: brake and stay", kind="i8"),
        Field("surface", "", "surfaces and their contact state", (MAX_SURFACES,), SURFACE),
        Field("line_mode", "", "delay line: command modes", (DELAY_SLOTS,), "i8"),
        Field("line", "", "delay line: commanded values", (DELAY_SLOTS, MAX_JOINTS)),
        Field("last", "rad, rad/s", "command of the last period", _J),
        Field("last_mode", "", "its mode", kind="i8"),
        Field("target", "rad", "position requested from the servo", _J),
        Field("ref", "rad", "filtered position", _J),
        Field("ref_d", "rad/s", "its velocity", _J),
        Field("live_push", "N, N m", "live push, base axes", (6,)),
        Field("live_until", "s", "when that push ends"),
        Field("last_wrench", "N, N m", "last delivered sensor reading", (6,)),
        Field("last_stamp", "s", "its time"),
        Field("raw", "N, N m", "what the sensor gave in the last tick", (6,)),
        Field("samples", "", "samples taken by a sensor with a rate or a delay", kind="i8"),
        Field("delivered", "", "number of the one that was delivered last", kind="i8"),
        Field("next_sample", "s", "when the next one is taken"),
        Field("sampled", "N, N m", "the last ones", (SAMPLES, 6)),
        Field("sampled_at", "s", "their times", (SAMPLES,)),
        Field("sampled_state", "", "their states", (SAMPLES,), "i8"),
        Field("contact_force", "N", "sum of all surfaces on the tool, base axes", (3,)),
        # scratch
        Field("acc", "", "", _J),
        Field("tau", "N m", "torque applied in the last step", _J),
        Field("velocity", "", "tool velocity as MuJoCo gives it: angular, linear", (6,)),
        Field("point_velocity", "m/s", "velocity of the touching point", (3,)),
        Field("six", "", "", (6,)),
        Field("normal", "", "", (3,)),
    ),
)
