"""The parameters of the tick: sensing, the laws, the limits."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

import numpy as np
from pydantic import Field as Bounds
from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from pliant.params.contact import Contact
from pliant.params.declare import Flag6, Matrix, Section, Six, Three, fill, layout_of, param
from pliant.params.matrix import NotNegativeMatrix, PositiveMatrix
from pliant.records import Field, Layout

Ratio = Annotated[float, Bounds(ge=0.05, le=5)]


def diagonal(*values: float) -> Matrix:
    """A diagonal matrix as a parameter takes it: six numbers, or two (for x y z, and for the turns about them)."""
    six = values if len(values) == 6 else (values[0],) * 3 + (values[1],) * 3
    return cast(Matrix, tuple(tuple(v if i == j else 0.0 for j in range(6)) for i, v in enumerate(six)))


class Sense(Section):
    """From the raw sensor to the external wrench at the tool."""

    cutoff_hz: float = param(
        20.0, unit="Hz", live=True, ge=0.1, le=400, help="Cut-off of the low-pass on the external wrench."
    )
    deadband_n: float = param(
        1.0, unit="N", live=True, ge=0, le=50, help="Force below which a law feels nothing (subtracted, so no jump)."
    )
    deadband_nm: float = param(
        0.1, unit="N m", live=True, ge=0, le=5, help="Moment below which a law feels nothing (subtracted, so no jump)."
    )
    bias: Six = param(
        (0.0,) * 6, unit="N, N m", live=True, help="Offset of the sensor, in its own axes; subtracted first."
    )
    range_n: float = param(500.0, unit="N", gt=0, help="A force beyond this is no reading.")
    range_nm: float = param(50.0, unit="N m", gt=0, help="A moment beyond this is no reading.")
    stale_s: float = param(0.01, unit="s", live=True, gt=0, le=1, help="Age at which a reading counts as stale.")
    frozen_s: float = param(
        0.05,
        unit="s",
        live=True,
        ge=0,
        le=10,
        help="Time after which readings that never change count as frozen (0: never; a real sensor has noise).",
    )
    hold_s: float = param(
        0.02, unit="s", live=True, ge=0, le=0.5, help="How long the last good wrench is held when the sensor fails."
    )


class Hold(Section):
    """Joint-space hold and moves to a joint goal."""

    bandwidth_hz: float = param(
        3.0, unit="Hz", live=True, gt=0, le=20, help="How fast the joints close in on their goal."
    )
    drive_hz: float = param(
        8.0,
        unit="Hz",
        live=True,
        gt=0,
        le=12,
        help="Stiffness of the joint loop on the torque interface, all laws.",
    )
    damping_ratio: float = param(1.0, live=True, ge=0.5, le=1.5, help="Damping ratio of that loop.")


class Admittance(Section):
    """A virtual mass with a spring and a damper at the tool; the robot follows it.

    Mass, stiffness and damping are six numbers (a diagonal: x y z, then about x y z) or a full symmetric matrix.
    """

    frame: Literal["base", "tool"] = param("base", help="Axes in which mass, damping, stiffness and axes are given.")
    mass: PositiveMatrix = param(diagonal(8.0, 0.5), unit="kg, kg m²", live=True, help="Virtual mass and inertia.")
    stiffness: NotNegativeMatrix = param(
        diagonal(200.0, 20.0),
        unit="N/m, N m/rad",
        live=True,
        help="Virtual spring towards the goal pose; 0 lets go of that direction.",
    )
    damping_by: Literal["ratio", "value"] = param(
        "ratio", live=True, help="Whether damping comes from damping_ratio or is given by damping."
    )
    damping_ratio: tuple[Ratio, Ratio, Ratio, Ratio, Ratio, Ratio] = param(
        (1.0,) * 6, live=True, help="Damping ratio of every mode: 1 returns without overshoot."
    )
    damping: NotNegativeMatrix = param(
        diagonal(80.0, 6.0), unit="N s/m, N m s/rad", live=True, help="Virtual damping, when damping_by is value."
    )
    axes: Flag6 = param((True,) * 6, live=True, help="Directions that give way; the others are held at the goal.")
    ramp_s: float = param(
        0.5, unit="s", live=True, ge=0.01, le=10, help="Time over which changed gains come into force."
    )
    tank_j: float = param(
        0.05,
        unit="J",
        ge=0,
        le=10,
        help="Energy that changes of gains may inject before as much was dissipated.",
    )


class Impedance(Section):
    """A spring, a damper and a virtual mass at the tool, made by joint torques (the torque interface only).

    Mass, stiffness and damping are six numbers (a diagonal: x y z, then about x y z) or a full symmetric matrix.
    """

    form: Literal["shaped", "simple"] = param(
        "shaped",
        live=True,
        help="Whether the tool moves like the virtual mass (shaped) or keeps the arm's own inertia (simple).",
    )
    frame: Literal["base", "tool"] = param("base", help="Axes in which mass, damping, stiffness and axes are given.")
    axes: Flag6 = param(
        (True,) * 6, help="Directions that are controlled, at most one per joint; the others are left to the posture."
    )
    mass: PositiveMatrix = param(diagonal(8.0, 0.5), unit="kg, kg m²", live=True, help="Virtual mass and inertia.")
    stiffness: NotNegativeMatrix = param(
        diagonal(200.0, 20.0), unit="N/m, N m/rad", live=True, help="Virtual spring towards the goal pose."
    )
    damping_by: Literal["ratio", "value"] = param(
        "ratio", live=True, help="Whether damping comes from damping_ratio or is given by damping."
    )
    damping_ratio: tuple[Ratio, Ratio, Ratio, Ratio, Ratio, Ratio] = param(
        (1.0,) * 6, live=True, help="Damping ratio of every mode of mass and spring."
    )
    damping: NotNegativeMatrix = param(
        diagonal(80.0, 6.0), unit="N s/m, N m s/rad", live=True, help="Virtual damping, when damping_by is value."
    )
    use_jdot: bool = param(True, live=True, help="Whether the acceleration J̇ q̇ that a moving arm has is considered.")
    cancel_coriolis: bool = param(True, live=True, help="Whether Coriolis and centrifugal torques are compensated.")
    cancel_gravity: bool = param(True, live=True, help="Whether the arm's weight is compensated.")
    cancel_friction: bool = param(True, live=True, help="Whether viscous joint friction is compensated.")
    cancel_force: bool = param(
        True,
        live=True,
        help="Whether the measured push is taken off the joints (-Jᵀ f, shaped form): else it counts twice.",
    )
    posture_stiffness: float = param(
        10.0,
        unit="1/s²",
        live=True,
        ge=0,
        le=400,
        help="Pull of the joints towards the posture (the joint goal), where it does not disturb the tool.",
    )
    posture_damping: float = param(
        6.0, unit="1/s", live=True, ge=0, le=100, help="Damping of joint motion that does not move the tool."
    )
    ramp_s: float = param(
        0.5, unit="s", live=True, ge=0.01, le=10, help="Time over which changed gains come into force."
    )
    tank_j: float = param(
        0.05, unit="J", ge=0, le=10, help="Energy that changes of gains may inject before as much was dissipated."
    )


class Limits(Section):
    """What the command may never exceed."""

    speed_scale: float = param(
        0.5, live=True, gt=0, le=1, help="Share of the robot's own joint speed limits that may be used."
    )
    acceleration_scale: float = param(
        0.5, gt=0, le=1, help="Share of the robot's own joint acceleration limits that may be used."
    )
    linear_speed_m_s: float = param(
        0.5,
        unit="m/s",
        live=True,
        gt=0,
        le=3,
        help="Largest speed of the compliant frame; a torque law brakes above it.",
    )
    angular_speed_rad_s: float = param(
        1.5, unit="rad/s", live=True, gt=0, le=10, help="Largest turning speed of the compliant frame, likewise."
    )
    linear_acceleration_m_s2: float = param(
        5.0,
        unit="m/s²",
        gt=0,
        le=50,
        help="Largest acceleration that a law asks of the compliant frame (a torque law: of its goal); braking for "
        "another limit goes before it.",
    )
    angular_acceleration_rad_s2: float = param(
        20.0, unit="rad/s²", gt=0, le=200, help="Largest angular acceleration that a law asks of it, likewise."
    )
    workspace_min_m: Three = param(
        (-10.0, -10.0, -10.0), unit="m", help="Lower corner of the box that the tool may not leave, in base axes."
    )
    workspace_max_m: Three = param((10.0, 10.0, 10.0), unit="m", help="Upper corner of that box.")

    @field_validator("workspace_max_m")
    @classmethod
    def _box_has_an_inside(cls, value: Three, info: ValidationInfo) -> Three:
        low = info.data.get("workspace_min_m")
        if low is not None and not all(a < b for a, b in zip(low, value, strict=True)):
            raise PydanticCustomError("box", "must be greater than workspace_min_m in x, y and z")
        return value

    pose_error_m: float = param(
        0.5, unit="m", gt=0, le=5, help="Stretch of the virtual spring at which the robot is stopped."
    )
    pose_error_rad: float = param(
        0.5, unit="rad", gt=0, le=3.1, help="Twist of the virtual spring at which the robot is stopped."
    )
    position_margin: float = param(0.02, unit="rad", ge=0, le=0.5, help="Distance kept from the joint stops.")
    singular_threshold: float = param(
        0.06, gt=0, le=0.5, help="Singular value below which the inverse is damped so that joint speeds stay bounded."
    )
    singular_damping: float = param(0.05, gt=0, le=1, help="Damping of the inverse at the singularity itself.")
    torque_rise_s: float = param(
        0.02,
        unit="s",
        gt=0,
        le=1,
        help="Shortest time in which what is asked anew (a push, a switch, a law) may take a joint torque from "
        "nothing to its limit; the answer to motion and force is never slowed.",
    )
    torque_rate_nm_s: float = param(
        0.0,
        unit="N m/s",
        ge=0,
        le=1e6,
        help="Fastest change of any joint torque, for a drive that takes no faster one (0: none). It slows the answer "
        "to motion and force too, and a stiff spring behind it swings.",
    )
    reach_margin_m: float = param(
        0.02, unit="m", ge=0, le=0.5, help="Distance from the edges of the reach at which a torque law keeps its goal."
    )


class Parameters(Section):
    """The whole set that one tick reads."""

    sense: Sense = Sense()
    hold: Hold = Hold()
    admittance: Admittance = Admittance()
    impedance: Impedance = Impedance()
    contact: Contact = Contact()
    limits: Limits = Limits()


_MATRIX = (6, 6)

GAINS = Layout(
    "Gains",
    (
        Field("number", "", "number of the set that brought this change", kind="i8"),
        Field("M0", "kg, kg m^2", "mass at the start of the change", _MATRIX),
        Field("D0", "N s/m, N m s/rad", "damping at the start of the change", _MATRIX),
        Field("K0", "N/m, N m/rad", "stiffness at the start of the change", _MATRIX),
        Field("M1", "kg, kg m^2", "mass at its end", _MATRIX),
        Field("D1", "N s/m, N m s/rad", "damping at its end", _MATRIX),
        Field("K1", "N/m, N m/rad", "stiffness at its end", _MATRIX),
        Field("free", "", "1 where nothing pulls an axis back", (6,), "i8"),
        Field("dt", "s", "period for which the next three are worked out"),
        Field("of_v", "", "(M + dt D + dt^2 K)^-1 M, at the end of the change", _MATRIX),
        Field("of_F", "1/kg, 1/(kg m^2), s", "dt (M + dt D + dt^2 K)^-1", _MATRIX),
        Field("of_e", "1/s", "dt (M + dt D + dt^2 K)^-1 K", _MATRIX),
    ),
)
"""What the law computes with, worked out from the parameters when they come into force (see laws.gains)."""

PARAMETERS = Layout(
    "Parameters",
    (
        *layout_of(Parameters).fields,
        Field("revision", "", "number of the set", kind="i8"),
        Field("gains", "", "matrices of the admittance", kind=GAINS),
        Field("impedance_gains", "", "matrices of the impedance", kind=GAINS),
    ),
)


def record_of(parameters: Parameters) -> np.ndarray[Any, Any]:
    """A one-element array with the declared values in place; the gains are worked out when it comes into force."""
    record = PARAMETERS.new()
    fill(parameters, record[0])
    return record
