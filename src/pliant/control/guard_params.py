"""Parameters of the guard: what a reading must be like to be believed, and how fast, far and hard the arm may go."""

from __future__ import annotations

from pliant.params.declare import Section, param


class Guard(Section):
    """Supervision of what the robot reports and does, whatever the law commands. A violation stops the robot."""

    range_margin_rad: float = param(
        0.1, unit="rad", ge=0, le=1, help="How far outside its range a joint may be reported (m for a prismatic joint)."
    )
    jump_rad: float = param(
        0.02,
        unit="rad",
        ge=0.001,
        le=0.5,
        help="How far a joint may be from where its reported speed led since the last reading (m for a prismatic one).",
    )
    disagreement_rad: float = param(
        0.06,
        unit="rad",
        ge=0.001,
        le=1,
        help="How far positions and reported speeds of a joint may drift apart within about 0.3 s (m for a prismatic "
        "joint).",
    )
    stale_s: float = param(
        0.1, unit="s", ge=0.002, le=5, help="Age of the joint readings at which the robot stops: no new one arrived."
    )
    joint_speed_share: float = param(
        1.2, ge=1, le=2, help="Measured joint speed at which the robot stops, as a share of the joint's speed limit."
    )
    tool_speed_share: float = param(
        2.0,
        ge=1.05,
        le=3,
        help="Measured speed of the tool point at which the robot stops, as a share of limits.linear_speed_m_s.",
    )
    tool_turn_share: float = param(
        4.0,
        ge=1.05,
        le=10,
        help="Measured turning speed of the tool at which the robot stops, as a share of limits.angular_speed_rad_s. "
        "No law limits it in directions that it does not control.",
    )
    workspace_margin_m: float = param(
        0.05,
        unit="m",
        ge=0,
        le=1,
        help="How far the measured tool may leave the workspace, once it was inside, before the robot stops.",
    )
    force_n: float = param(
        500.0, unit="N", gt=0, le=5000, help="External force on the tool at which the robot stops, after sense.hold_s."
    )
    moment_nm: float = param(
        200.0,
        unit="N m",
        gt=0,
        le=2000,
        help="External moment at the tool at which the robot stops, after sense.hold_s.",
    )
    deviation_rad: float = param(
        0.15,
        unit="rad",
        ge=0.01,
        le=1,
        help="How far a joint may be from its command, beyond its lag, before the robot stops (m for a prismatic "
        "joint).",
    )
