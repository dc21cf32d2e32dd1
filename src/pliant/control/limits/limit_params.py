"""Parameters of the limits."""

from __future__ import annotations

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from pliant.params.declare import Section, Three, param


class Limits(Section):
    """Limits that the command never exceeds."""

    speed_scale: float = param(0.5, live=True, gt=0, le=1, help="Fraction of the robot's joint speed limits to use.")
    acceleration_scale: float = param(0.5, gt=0, le=1, help="Fraction of the robot's joint acceleration limits to use.")
    joint_acceleration_rad_s2: float = param(
        0.0,
        unit="rad/s²",
        ge=0,
        le=1000,
        help="Acceleration limit of every revolute joint (0: that of the robot description, or the assumed one). "
        "acceleration_scale is a fraction of it.",
    )
    joint_acceleration_m_s2: float = param(
        0.0,
        unit="m/s²",
        ge=0,
        le=1000,
        help="Acceleration limit of every prismatic joint (0: that of the robot description, or the assumed one).",
    )
    starved_warn_s: float = param(
        1.0,
        unit="s",
        live=True,
        ge=0.05,
        le=60,
        help="Time after which Pliant warns if an acceleration or torque limit cuts the law's command to less than "
        "half and the error does not shrink.",
    )
    starved_fault_s: float = param(
        5.0, unit="s", live=True, ge=0, le=600, help="Time after which the same is a fault (0: never)."
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
        1.5,
        unit="rad/s",
        live=True,
        gt=0,
        le=10,
        help="Largest turning speed of the compliant frame; a torque law brakes above it.",
    )
    linear_acceleration_m_s2: float = param(
        5.0,
        unit="m/s²",
        gt=0,
        le=50,
        help="Largest acceleration that a law commands for the compliant frame (a torque law: for its goal). Braking "
        "for another limit takes precedence.",
    )
    angular_acceleration_rad_s2: float = param(
        20.0,
        unit="rad/s²",
        gt=0,
        le=200,
        help="Largest angular acceleration that a law commands for the compliant frame (a torque law: for its goal).",
    )
    workspace_min_m: Three = param((-10.0, -10.0, -10.0), unit="m", help="Lower corner of the workspace (base frame).")
    workspace_max_m: Three = param((10.0, 10.0, 10.0), unit="m", help="Upper corner of the workspace (base frame).")

    @field_validator("workspace_max_m")
    @classmethod
    def _box_has_an_inside(cls, value: Three, info: ValidationInfo) -> Three:
        low = info.data.get("workspace_min_m")
        if low is not None and not all(a < b for a, b in zip(low, value, strict=True)):
            raise PydanticCustomError("box", "greater than workspace_min_m in x, y and z")
        return value

    pose_error_m: float = param(
        0.5, unit="m", gt=0, le=5, help="Position error of the virtual spring at which the robot stops."
    )
    pose_error_rad: float = param(
        0.5, unit="rad", gt=0, le=3.1, help="Orientation error of the virtual spring at which the robot stops."
    )
    position_margin: float = param(0.02, unit="rad", ge=0, le=0.5, help="Distance to keep from the joint limits.")
    singular_threshold: float = param(
        0.06, gt=0, le=0.5, help="Singular value below which the inverse is damped, to bound the joint speeds."
    )
    singular_damping: float = param(0.05, gt=0, le=1, help="Damping of the inverse at the singularity.")
    torque_rise_s: float = param(
        0.02,
        unit="s",
        gt=0,
        le=1,
        help="Shortest time in which a new request (virtual push, switch, law) may raise a joint torque from zero to "
        "its limit. The response to motion and force is not slowed.",
    )
    torque_rate_nm_s: float = param(
        0.0,
        unit="N m/s",
        ge=0,
        le=1e6,
        help="Largest rate of change of a joint torque, if the drive requires one (0: no limit). It also slows the "
        "response to motion and force, so a stiff spring oscillates.",
    )
    reach_margin_m: float = param(
        0.02,
        unit="m",
        ge=0,
        le=0.5,
        help="Distance that a torque law keeps between its goal and the edge of the reach.",
    )
