"""Settings of the realistic world: the size of every effect, each one with a preset per kind of arm.

A value that is not given comes from the preset of the level: that of its group, or else `sim.realism`. The presets and
their sources are in `sizes.yaml`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from pliant.params.declare import Section, param

Level = Literal["ideal", "typical", "harsh"]
GroupLevel = Literal["same", "ideal", "typical", "harsh"]


def _for_all_joints(value: Any) -> Any:
    return (value,) if isinstance(value, int | float) and not isinstance(value, bool) else value


PerJoint = Annotated[tuple[float, ...], BeforeValidator(_for_all_joints)]
"""One number for every joint, or one for all of them; () for the preset."""

_LEVEL = "Preset of this group; same: that of sim.realism."


class Friction(Section):
    """Friction of motors and gears, which the servo does not know. It acts on the motor, before the gear."""

    level: GroupLevel = param("same", help=_LEVEL)
    coulomb_nm: PerJoint = param((), unit="N m", help="Coulomb friction, one number per joint or one for all.")
    viscous_nm_s_rad: PerJoint = param((), unit="N m s/rad", help="Viscous friction, per joint or one for all.")
    static_ratio: float | None = param(None, ge=1, le=3, help="Static friction at standstill over Coulomb friction.")
    stribeck_rad_s: float | None = param(
        None, unit="rad/s", gt=0, le=1, help="Speed over which friction falls from static to Coulomb."
    )
    torque_share: float | None = param(
        None, ge=0, le=1, help="Share of the friction that the robot's own compensation leaves under torque commands."
    )


class Gears(Section):
    """Elastic gears between motor and link. The servo controls the motor; the encoders are on the motor as well."""

    level: GroupLevel = param("same", help=_LEVEL)
    stiffness_nm_rad: PerJoint = param(
        (), unit="N m/rad", help="Stiffness at small deflection, per joint or one for all (0: stiff gears)."
    )
    damping_ratio: float | None = param(None, ge=0, le=1, help="Damping ratio of a joint's link on its gear.")
    hysteresis_rad: float | None = param(
        None, unit="rad", ge=0, le=0.01, help="Width of the hysteresis loop at zero torque (lost motion)."
    )
    ripple_rad: float | None = param(
        None, unit="rad", ge=0, le=1e-3, help="Amplitude of the transmission error that recurs with the motor's turns."
    )
    ripple_per_turn: float | None = param(
        None, ge=1, le=1000, help="Periods of that error per turn of the joint: two per motor turn."
    )
    rotor_kg_m2: PerJoint = param(
        (), unit="kg m^2", help="Inertia of rotor and gear, reflected to the joint, per joint or one for all."
    )


class Encoders(Section):
    """What the robot reports about its joints."""

    level: GroupLevel = param("same", help=_LEVEL)
    noise_rad: float | None = param(None, unit="rad", ge=0, le=0.01, help="Standard deviation of q.")
    step_rad: float | None = param(None, unit="rad", ge=0, le=0.01, help="Quantisation step of q.")
    speed_from: Literal["preset", "rotor", "difference"] = param(
        "preset", help="How q̇ is obtained: from the rotor (exactly 0 at rest), or as the difference of reported q."
    )
    speed_cutoff_hz: float | None = param(
        None, unit="Hz", ge=0, le=500, help="Low-pass on q̇ if it is a difference of q (0: none)."
    )
    speed_noise_rad_s: float | None = param(
        None, unit="rad/s", ge=0, le=0.1, help="Standard deviation of q̇, moving or not."
    )
    torque_noise_nm: float | None = param(None, unit="N m", ge=0, le=10, help="Standard deviation of joint torques.")
    torque_bias_nm: float | None = param(None, unit="N m", ge=0, le=10, help="Largest offset of a joint torque.")


class SensorErrors(Section):
    """Errors of the wrist force sensor. Where only a force is given, the moment is that force times 0.03 m."""

    level: GroupLevel = param("same", help=_LEVEL)
    noise_n: float | None = param(
        None, unit="N", ge=0, le=100, help="White noise on each force, instead of sim.sensor.noise_n."
    )
    noise_nm: float | None = param(
        None, unit="N m", ge=0, le=10, help="White noise on each moment, instead of sim.sensor.noise_nm."
    )
    wander_n: float | None = param(None, unit="N", ge=0, le=100, help="Standard deviation of the slow wander.")
    wander_s: float | None = param(None, unit="s", gt=0, le=1e4, help="Correlation time of that wander.")
    drift_n_min: float | None = param(
        None, unit="N/min", ge=0, le=100, help="Steady drift of the worst axis; z is the worst."
    )
    thermal_n: float | None = param(
        None,
        unit="N",
        ge=0,
        le=100,
        help="Final offset after a step of temperature at the start.",
    )
    thermal_s: float | None = param(None, unit="s", gt=0, le=1e5, help="Time constant of that offset.")
    bandwidth_hz: float | None = param(None, unit="Hz", ge=0, le=2000, help="First-order low-pass (0: none).")
    latency_s: float | None = param(
        None, unit="s", ge=0, le=0.05, help="Age of a reading that its time stamp does not show."
    )
    cross_talk: float | None = param(None, ge=0, le=0.5, help="Largest share of one axis that shows in another one.")
    scale_error: float | None = param(None, ge=0, le=0.5, help="Largest relative error of an axis.")
    pose_zero_n: float | None = param(
        None, unit="N", ge=0, le=100, help="How much the zero changes between poses, at most."
    )
    wrist_step_nm: float | None = param(
        None, unit="N m", ge=0, le=10, help="Moment about z from friction of the last joint, against its motion."
    )
    jump_n: float | None = param(None, unit="N", ge=0, le=100, help="Size of sudden offset jumps.")
    jump_every_s: float | None = param(None, unit="s", gt=0, le=1e5, help="Mean time between jumps, there and back.")


class Packets(Section):
    """The connection between controller and robot."""

    level: GroupLevel = param("same", help=_LEVEL)
    command_delay_s: float | None = param(
        None, unit="s", ge=0, le=0.05, help="Delay of a command in addition to sim.servo.delay_s."
    )
    late_share: float | None = param(None, ge=0, le=1, help="Share of command packets that arrive late.")
    late_s: float | None = param(None, unit="s", ge=0, le=0.1, help="Longest lateness of such a packet.")
    command_loss: float | None = param(None, ge=0, le=1, help="Share of commands that are lost.")
    reading_loss: float | None = param(
        None, ge=0, le=1, help="Share of readings that are lost; the previous one is delivered again."
    )


class ProtectiveStop(Section):
    """The robot's own supervision. It stops the arm, which then ignores commands. 0 switches a limit off."""

    level: GroupLevel = param("same", help=_LEVEL)
    speed_share: float | None = param(
        None, ge=0, le=10, help="Largest speed of a joint, relative to its limit (0: not supervised)."
    )
    deviation_rad: float | None = param(
        None, unit="rad", ge=0, le=10, help="Largest difference between a joint and its reference (0: not supervised)."
    )
    force_n: float | None = param(
        None, unit="N", ge=0, le=1e5, help="Largest external force on the tool, over about 50 ms (0: not supervised)."
    )


class Geometry(Section):
    """How the real arm and tool differ from their description."""

    level: GroupLevel = param("same", help=_LEVEL)
    length_m: float | None = param(
        None, unit="m", ge=0, le=0.05, help="Standard deviation of every length of the arm, per axis."
    )
    angle_rad: float | None = param(
        None, unit="rad", ge=0, le=0.1, help="Standard deviation of the orientation of every joint, zero of q included."
    )
    tool_mass_share: float | None = param(None, ge=0, le=0.9, help="Largest relative error of the tool's mass.")
    tool_com_m: float | None = param(
        None, unit="m", ge=0, le=0.2, help="Largest error of the tool's centre of mass, per axis."
    )


class Effects(Section):
    """The size of every effect of the realistic world. Values you leave out come from the preset of the arm."""

    friction: Friction = Friction()
    gears: Gears = Gears()
    encoders: Encoders = Encoders()
    sensor: SensorErrors = SensorErrors()
    packets: Packets = Packets()
    stop: ProtectiveStop = ProtectiveStop()
    geometry: Geometry = Geometry()
