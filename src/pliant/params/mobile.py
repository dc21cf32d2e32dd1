"""The parameters of a mobile base: how fast it may go, and how its velocity is estimated."""

from __future__ import annotations

from typing import Literal

from pliant.params.declare import Section, param


class BaseVelocity(Section):
    """Velocity of a base from sampled poses: what is known of the samples, and what is not believed."""

    noise_m: float = param(0.001, unit="m", ge=0, le=1, help="Standard deviation of a sampled position.")
    noise_rad: float = param(0.001, unit="rad", ge=0, le=1, help="Standard deviation of a sampled heading.")
    step_m: float = param(0.0, unit="m", ge=0, le=1, help="Step to which positions are rounded (0: none).")
    step_rad: float = param(0.0, unit="rad", ge=0, le=1, help="Step to which headings are rounded (0: none).")
    stamps: Literal["true", "late"] = param(
        "true",
        help="Whether a stamp says when its pose was sampled, or poses come regularly and their stamps are taken late.",
    )
    agility_m2_s5: float = param(
        0.8,
        unit="m²/s⁵",
        gt=0,
        le=1e4,
        help="How lively the motion is: greatest acceleration squared × changes of acceleration per second.",
    )
    agility_rad2_s5: float = param(3.0, unit="rad²/s⁵", gt=0, le=1e5, help="The same for the heading.")
    gate: float = param(
        5.0, ge=2, le=20, help="Distance from the prediction, in standard deviations, at which a sample is an outlier."
    )
    most_rejected: int = param(
        3, ge=0, le=20, help="Outliers in a row after which the next sample is believed: a new trajectory has begun."
    )
    gap_s: float = param(1.0, unit="s", gt=0, le=60, help="Time without samples after which everything starts anew.")
    most_speed_m_s: float = param(
        1.5, unit="m/s", gt=0, le=50, help="Speed that is thought possible (filter: at a start; others: always)."
    )
    most_speed_rad_s: float = param(2.5, unit="rad/s", gt=0, le=50, help="The same for the heading.")
    most_acceleration_m_s2: float = param(
        5.0, unit="m/s²", gt=0, le=500, help="Acceleration beyond which a reference has jumped (stencil, polynomial)."
    )
    most_acceleration_rad_s2: float = param(20.0, unit="rad/s²", gt=0, le=2000, help="The same for the heading.")
    degree: int = param(2, ge=1, le=3, help="Degree of the local polynomial.")
    window: int = param(9, ge=3, le=64, help="Samples that the local polynomial is fitted to.")


class Footprint(Section):
    """The rectangle that a base covers, around the point between its wheels."""

    front_m: float = param(0.36, unit="m", gt=0, le=10, help="How far it reaches ahead of the base point.")
    rear_m: float = param(0.36, unit="m", gt=0, le=10, help="How far it reaches behind the base point.")
    width_m: float = param(0.60, unit="m", gt=0, le=10, help="Its width.")
    margin_m: float = param(0.02, unit="m", ge=0, le=2, help="Room that is kept around it on all sides.")
    step_m: float = param(0.05, unit="m", gt=0, le=1, help="Distance between the poses that are looked at on a path.")


class Planner(Section):
    """The search for a way through a map (Hybrid A*)."""

    footprint: Footprint = Footprint()
    radius_m: float = param(0.5, unit="m", gt=0, le=20, help="Smallest radius of an arc.")
    unknown: Literal["blocked", "free"] = param("blocked", help="What cells are that the map does not know.")
    reverse_cost: float = param(1.3, ge=1, le=10, help="What a metre backwards costs, beside a metre forwards.")
    cusp_cost_m: float = param(0.5, unit="m", ge=0, le=20, help="What a change of direction costs.")
    turn_cost: float = param(1.05, ge=1, le=5, help="What a metre on the tightest arc costs, beside a straight one.")
    narrow_cost: float = param(
        2.0, ge=1, le=4, help="What a metre costs where the base has no room to turn on the spot."
    )
    greed: float = param(1.2, ge=1, le=5, help="Weight of the distance still to go: above 1 faster, and less short.")
    expansions: int = param(150_000, ge=1, le=10_000_000, help="Poses that are tried before the search gives up.")
    smooth: bool = param(True, help="Whether the way found is shortened afterwards.")


class Base(Section):
    """What a differential drive can do."""

    track_m: float = param(0.574, unit="m", gt=0, le=5, help="Distance between the wheels.")
    forward_m_s: float = param(1.5, unit="m/s", gt=0, le=10, help="Largest speed forwards.")
    backward_m_s: float = param(0.4, unit="m/s", gt=0, le=10, help="Largest speed backwards.")
    turn_rad_s: float = param(2.5, unit="rad/s", gt=0, le=20, help="Largest turning speed.")
    wheel_m_s: float = param(3.3, unit="m/s", gt=0, le=20, help="Largest speed of a wheel on the ground.")
    acceleration_m_s2: float = param(0.8, unit="m/s²", gt=0, le=20, help="Largest acceleration.")
    deceleration_m_s2: float = param(1.8, unit="m/s²", gt=0, le=20, help="Largest deceleration.")
    turn_acceleration_rad_s2: float = param(4.0, unit="rad/s²", gt=0, le=50, help="Largest angular acceleration.")
    lateral_m_s2: float = param(1.0, unit="m/s²", gt=0, le=20, help="Largest acceleration sideways in a curve.")
    delay_s: float = param(
        0.15,
        unit="s",
        ge=0,
        le=2,
        help="Time from an odometry reading until a command shows: delays and lags together.",
    )


class Follow(Section):
    """Following a path: how closely, and when to stop."""

    stiffness_1_m: float = param(
        4.0, unit="1/m", gt=0, le=50, help="How quickly an error dies out along the path (slow driving)."
    )
    bandwidth_rad_s: float = param(2.5, unit="rad/s", gt=0, le=50, help="The same in time, which rules at speed.")
    damping_ratio: float = param(0.9, ge=0.3, le=2, help="Damping ratio of that.")
    corner_m: float = param(
        0.003,
        unit="m",
        gt=0,
        le=1,
        help="Deviation allowed where the curvature jumps; the speed there follows from it.",
    )
    brake_share: float = param(0.5, gt=0, le=1, help="Share of the deceleration that stops are planned with.")
    settle_s: float = param(0.3, unit="s", gt=0, le=5, help="Time constant of the last approach to a stop.")
    creep_m_s: float = param(0.02, unit="m/s", gt=0, le=1, help="Speed of the last millimetres.")
    turn_at_deg: float = param(30.0, unit="°", gt=0, le=180, help="Heading error at which it turns on the spot first.")
    goal_deg: float = param(0.2, unit="°", gt=0, le=45, help="Heading error at the end that is turned away.")
    lost_m: float = param(0.5, unit="m", gt=0, le=10, help="Distance from the path at which it stops.")
    stale_s: float = param(0.2, unit="s", gt=0, le=5, help="Age at which odometry counts as stale, and it stops.")


class Pursuit(Section):
    """Regulated pure pursuit: a point ahead is aimed at, and the speed regulated."""

    lookahead_s: float = param(1.0, unit="s", gt=0, le=10, help="How far ahead it aims, in time.")
    lookahead_min_m: float = param(0.3, unit="m", gt=0, le=10, help="At least so far ahead.")
    lookahead_max_m: float = param(0.9, unit="m", gt=0, le=20, help="At most so far ahead.")
    speed_m_s: float = param(0.7, unit="m/s", gt=0, le=10, help="Speed on a straight.")
    regulated_radius_m: float = param(0.9, unit="m", gt=0, le=20, help="Radius below which curves are driven slower.")
    regulated_speed_m_s: float = param(0.2, unit="m/s", gt=0, le=10, help="Least speed to which that leads.")
    near_m: float = param(0.6, unit="m", gt=0, le=10, help="Distance to obstacles below which it drives slower.")
    approach_m: float = param(0.6, unit="m", gt=0, le=10, help="Distance to the end from which on it slows down.")
    approach_speed_m_s: float = param(0.05, unit="m/s", gt=0, le=5, help="Least speed of that.")
    look_s: float = param(1.0, unit="s", gt=0, le=10, help="Time ahead in which the arc is checked for collisions.")
    turn_at_deg: float = param(45.0, unit="°", gt=0, le=180, help="Angle to the point ahead at which it turns first.")
    goal_m: float = param(0.01, unit="m", gt=0, le=1, help="Distance to the end that counts as there.")
