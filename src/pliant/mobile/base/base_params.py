"""Parameters of a mobile base: drive limits, planner, path followers, and velocity estimation."""

from __future__ import annotations

from typing import Literal

from pliant.params.declare import Section, param


class BaseVelocity(Section):
    """Velocity of a base from sampled poses: properties of the samples, and when a sample is rejected."""

    noise_m: float = param(0.001, unit="m", ge=0, le=1, help="Standard deviation of a sampled position.")
    noise_rad: float = param(0.001, unit="rad", ge=0, le=1, help="Standard deviation of a sampled heading.")
    step_m: float = param(0.0, unit="m", ge=0, le=1, help="Resolution to which positions are rounded (0: not rounded).")
    step_rad: float = param(
        0.0, unit="rad", ge=0, le=1, help="Resolution to which headings are rounded (0: not rounded)."
    )
    stamps: Literal["true", "late"] = param(
        "true",
        help="Meaning of a stamp: the sampling time (true), or the arrival of a periodic sample (late).",
    )
    agility_m2_s5: float = param(
        0.8,
        unit="m²/s⁵",
        gt=0,
        le=1e4,
        help="Agility of the motion: largest acceleration squared × changes of acceleration per second.",
    )
    agility_rad2_s5: float = param(
        3.0,
        unit="rad²/s⁵",
        gt=0,
        le=1e5,
        help="Agility of the heading: largest angular acceleration squared × changes of it per second.",
    )
    gate: float = param(
        5.0,
        ge=2,
        le=20,
        help="Distance from the prediction, in standard deviations, above which a sample is an outlier.",
    )
    most_rejected: int = param(
        3, ge=0, le=20, help="Consecutive outliers after which the next sample is accepted as a new trajectory."
    )
    gap_s: float = param(1.0, unit="s", gt=0, le=60, help="Time without samples after which the estimate restarts.")
    most_speed_m_s: float = param(
        1.5,
        unit="m/s",
        gt=0,
        le=50,
        help="Largest plausible speed (filter: checked at a restart; other estimators: always).",
    )
    most_speed_rad_s: float = param(2.5, unit="rad/s", gt=0, le=50, help="Largest plausible turning speed.")
    most_acceleration_m_s2: float = param(
        5.0, unit="m/s²", gt=0, le=500, help="Acceleration above which a sample counts as a jump (stencil, polynomial)."
    )
    most_acceleration_rad_s2: float = param(
        20.0, unit="rad/s²", gt=0, le=2000, help="Angular acceleration above which a sample counts as a jump."
    )
    degree: int = param(2, ge=1, le=3, help="Degree of the local polynomial.")
    window: int = param(9, ge=3, le=64, help="Number of samples in the local polynomial fit.")


class Footprint(Section):
    """The rectangle that a base covers, around the point between its wheels (the base point)."""

    front_m: float = param(0.36, unit="m", gt=0, le=10, help="Length ahead of the base point.")
    rear_m: float = param(0.36, unit="m", gt=0, le=10, help="Length behind the base point.")
    width_m: float = param(0.60, unit="m", gt=0, le=10, help="Width of the base.")
    margin_m: float = param(0.02, unit="m", ge=0, le=2, help="Clearance on all sides.")
    step_m: float = param(
        0.05, unit="m", gt=0, le=1, help="Distance between the poses of a path that are checked for collision."
    )


class Planner(Section):
    """The path search in a map (Hybrid A*)."""

    footprint: Footprint = Footprint()
    radius_m: float = param(0.5, unit="m", gt=0, le=20, help="Smallest radius of an arc.")
    unknown: Literal["blocked", "free"] = param("blocked", help="How unknown cells of the map are treated.")
    reverse_cost: float = param(1.3, ge=1, le=10, help="Cost of a metre in reverse, relative to a metre forward.")
    cusp_cost_m: float = param(0.5, unit="m", ge=0, le=20, help="Cost of a change between forward and reverse.")
    turn_cost: float = param(
        1.05, ge=1, le=5, help="Cost of a metre on the tightest arc, relative to a straight metre."
    )
    narrow_cost: float = param(2.0, ge=1, le=4, help="Cost of a metre where the base has no room to turn on the spot.")
    greed: float = param(
        1.2,
        ge=1,
        le=5,
        help="Weight of the remaining distance: above 1, the search is faster and the path may be longer.",
    )
    expansions: int = param(
        150_000, ge=1, le=10_000_000, help="Largest number of poses to try before the search gives up."
    )
    smooth: bool = param(True, help="Whether to shorten the path after the search.")


class Base(Section):
    """Limits of a differential drive."""

    track_m: float = param(0.574, unit="m", gt=0, le=5, help="Distance between the wheels.")
    forward_m_s: float = param(1.5, unit="m/s", gt=0, le=10, help="Largest forward speed.")
    backward_m_s: float = param(0.4, unit="m/s", gt=0, le=10, help="Largest reverse speed.")
    turn_rad_s: float = param(2.5, unit="rad/s", gt=0, le=20, help="Largest turning speed.")
    wheel_m_s: float = param(3.3, unit="m/s", gt=0, le=20, help="Largest speed of a wheel over the ground.")
    acceleration_m_s2: float = param(0.8, unit="m/s²", gt=0, le=20, help="Largest acceleration.")
    deceleration_m_s2: float = param(1.8, unit="m/s²", gt=0, le=20, help="Largest deceleration.")
    turn_acceleration_rad_s2: float = param(4.0, unit="rad/s²", gt=0, le=50, help="Largest angular acceleration.")
    lateral_m_s2: float = param(1.0, unit="m/s²", gt=0, le=20, help="Largest lateral acceleration in a curve.")
    delay_s: float = param(
        0.15,
        unit="s",
        ge=0,
        le=2,
        help="Total lag from an odometry reading to the effect of the command that follows it.",
    )


class Follow(Section):
    """Following a path: how closely, and when to stop."""

    stiffness_1_m: float = param(
        4.0, unit="1/m", gt=0, le=50, help="How fast a path error decays per metre driven (at low speed)."
    )
    bandwidth_rad_s: float = param(
        2.5, unit="rad/s", gt=0, le=50, help="How fast a path error decays in time (at high speed)."
    )
    damping_ratio: float = param(0.9, ge=0.3, le=2, help="Damping ratio of the path error.")
    corner_m: float = param(
        0.003,
        unit="m",
        gt=0,
        le=1,
        help="Deviation allowed where the curvature jumps; it sets the speed there.",
    )
    brake_share: float = param(0.5, gt=0, le=1, help="Fraction of the deceleration limit used to plan stops.")
    settle_s: float = param(0.3, unit="s", gt=0, le=5, help="Time constant of the final approach to a stop.")
    creep_m_s: float = param(0.02, unit="m/s", gt=0, le=1, help="Speed over the last millimetres.")
    turn_at_deg: float = param(
        30.0, unit="°", gt=0, le=180, help="Heading error above which the base turns on the spot first."
    )
    goal_deg: float = param(
        0.2, unit="°", gt=0, le=45, help="Heading error at the end that the base corrects by turning."
    )
    lost_m: float = param(0.5, unit="m", gt=0, le=10, help="Distance from the path at which the base stops.")
    stale_s: float = param(0.2, unit="s", gt=0, le=5, help="Age of the odometry at which the base stops.")


class Pursuit(Section):
    """Regulated pure pursuit: aim at a point ahead on the path and regulate the speed."""

    lookahead_s: float = param(1.0, unit="s", gt=0, le=10, help="Look-ahead time.")
    lookahead_min_m: float = param(0.3, unit="m", gt=0, le=10, help="Smallest look-ahead distance.")
    lookahead_max_m: float = param(0.9, unit="m", gt=0, le=20, help="Largest look-ahead distance.")
    speed_m_s: float = param(0.7, unit="m/s", gt=0, le=10, help="Speed on a straight.")
    regulated_radius_m: float = param(0.9, unit="m", gt=0, le=20, help="Curve radius below which the base slows down.")
    regulated_speed_m_s: float = param(0.2, unit="m/s", gt=0, le=10, help="Lowest speed in a curve.")
    near_m: float = param(0.6, unit="m", gt=0, le=10, help="Distance to obstacles below which the base slows down.")
    approach_m: float = param(0.6, unit="m", gt=0, le=10, help="Distance to the end below which the base slows down.")
    approach_speed_m_s: float = param(0.05, unit="m/s", gt=0, le=5, help="Lowest speed near the end.")
    look_s: float = param(1.0, unit="s", gt=0, le=10, help="Time ahead over which the arc is checked for collisions.")
    turn_at_deg: float = param(
        45.0, unit="°", gt=0, le=180, help="Angle to the look-ahead point above which the base turns on the spot first."
    )
    goal_m: float = param(0.01, unit="m", gt=0, le=1, help="Distance to the end that counts as arrived.")
