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
    most_speed_m_s: float = param(1.5, unit="m/s", gt=0, le=50, help="Speed that is thought possible at a start.")
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
