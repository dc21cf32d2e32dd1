"""The parameters of the tick: sensing, the laws, the limits."""

from __future__ import annotations

from pliant.params.declare import Section, Six, SixNotNegative, SixPositive, layout_of, param


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
    hold_s: float = param(
        0.02, unit="s", live=True, ge=0, le=0.5, help="How long the last good wrench is held when the sensor fails."
    )


class Hold(Section):
    """Joint-space hold and moves to a joint goal."""

    bandwidth_hz: float = param(
        3.0, unit="Hz", live=True, gt=0, le=20, help="How fast the joints close in on their goal."
    )
    damping_ratio: float = param(
        1.0, live=True, ge=0.3, le=3, help="Damping of the joint-space spring (torque interface)."
    )


class Admittance(Section):
    """A virtual mass with a spring and a damper at the tool; the robot follows it."""

    mass: SixPositive = param(
        (8.0, 8.0, 8.0, 0.5, 0.5, 0.5), unit="kg, kg m²", live=True, help="Virtual mass and inertia, per base axis."
    )
    damping: SixNotNegative = param(
        (80.0, 80.0, 80.0, 5.0, 5.0, 5.0),
        unit="N s/m, N m s/rad",
        live=True,
        help="Virtual damping, per base axis.",
    )
    stiffness: SixNotNegative = param(
        (200.0, 200.0, 200.0, 20.0, 20.0, 20.0),
        unit="N/m, N m/rad",
        live=True,
        help="Virtual spring towards the goal pose, per base axis; 0 lets go of that axis.",
    )


class Limits(Section):
    """What the command may never exceed."""

    speed_scale: float = param(
        0.5, live=True, gt=0, le=1, help="Share of the robot's own joint speed limits that may be used."
    )
    acceleration_scale: float = param(
        0.5, gt=0, le=1, help="Share of the robot's own joint acceleration limits that may be used."
    )
    position_margin: float = param(0.02, unit="rad", ge=0, le=0.5, help="Distance kept from the joint stops.")
    singular_threshold: float = param(
        0.06, gt=0, le=0.5, help="Singular value below which the inverse is damped so that joint speeds stay bounded."
    )
    singular_damping: float = param(0.05, gt=0, le=1, help="Damping of the inverse at the singularity itself.")


class Parameters(Section):
    """The whole set that one tick reads."""

    sense: Sense = Sense()
    hold: Hold = Hold()
    admittance: Admittance = Admittance()
    limits: Limits = Limits()


PARAMETERS = layout_of(Parameters)
