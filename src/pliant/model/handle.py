"""The record through which kernels access an arm: MuJoCo's addresses, limits, tool, and space for results.

The addresses are valid only in the process that built the arm, so a handle is never stored, sent or shared.
"""

from __future__ import annotations

from pliant.model.chain import LINK
from pliant.records import MAX_JOINTS, Field, Layout

_J = (MAX_JOINTS,)


def _address(name: str, of: str) -> Field:
    return Field(name, "", f"address of {of}", kind="i8")


def _index(name: str, of: str) -> Field:
    return Field(name, "", of, kind="i8")


HANDLE = Layout(
    "Handle",
    (
        _address("model", "the mjModel"),
        _address("data", "the mjData of this handle"),
        _address("qpos", "the joint positions (n)"),
        _address("qvel", "the joint velocities (n)"),
        _address("qacc", "the joint accelerations (n)"),
        _index("n", "number of joints"),
        _index("tool_body", "body that carries the tool's mass"),
        Field("slides", "", "1 for a prismatic joint, 0 for a revolute joint", _J, "i8"),
        Field("link", "", "fixed displacements to the joints, each from the joint before", _J, LINK),
        Field("tool_link", "", "fixed displacement from the last joint to the tool", kind=LINK),
        Field("sensor_link", "", "fixed displacement from the last joint to the force sensor", kind=LINK),
        Field("q_min", "rad", "lower joint limits", _J),
        Field("q_max", "rad", "upper joint limits", _J),
        Field("v_max", "rad/s", "joint speed limits", _J),
        Field("a_max", "rad/s^2", "joint acceleration limits", _J),
        Field("tau_max", "N m", "joint torque limits", _J),
        Field("damping", "N m s/rad", "viscous friction of the joints, not part of bias", _J),
        Field("friction", "N m", "dry friction of the joints, not part of bias", _J),
        Field("reach_center", "m", "centre of the shell that contains every reachable tool position", (3,)),
        Field("reach_min", "m", "inner radius of that shell"),
        Field("reach_max", "m", "outer radius of that shell"),
        Field("gravity", "m/s^2", "acceleration of gravity in the base frame", (3,)),
        Field("tool_mass", "kg", "mass beyond the force sensor"),
        Field("tool_com", "m", "centre of that mass, in the sensor frame from the sensor's origin", (3,)),
        Field("anchor", "m", "a point on each joint's axis, in the base frame (set by place)", (MAX_JOINTS, 3)),
        Field("axis", "-", "direction of each joint's axis, in the base frame (set by place)", (MAX_JOINTS, 3)),
        Field("last", "m, -", "pose of the frame of the last joint (set by place)", (7,)),
        Field("X_tool", "m, -", "X_BT: pose of the tool (set by forward)", (7,)),
        Field("X_sensor", "m, -", "X_BS: pose of the force sensor (set by forward)", (7,)),
        Field("J", "m, -", "Jacobian at the tool, rows [linear; angular], base frame (set by jacobian)", (6, *_J)),
        Field("Jdot_qd", "m/s^2, rad/s^2", "tool acceleration at zero qdd, in the base frame (set by dynamics)", (6,)),
        Field("M", "kg m^2", "joint mass matrix, rotor inertia included (set by dynamics)", (*_J, *_J)),
        Field("bias", "N m", "Coriolis, centrifugal and gravity torques, no friction (set by dynamics)", _J),
        Field("jacp", "", "scratch: (3, n) row by row", (3 * MAX_JOINTS,)),
        Field("jacr", "", "scratch: (3, n) row by row", (3 * MAX_JOINTS,)),
        Field("dense", "", "scratch: (n, n) row by row", (MAX_JOINTS * MAX_JOINTS,)),
    ),
)
