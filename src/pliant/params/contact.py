"""The parameters of the contact law: what to press with, what may be touched, how to get there, where to slide."""

from __future__ import annotations

from typing import Literal

from pliant.errors import InputError
from pliant.params.declare import Section, Three, param


class Contact(Section):
    """Seek a surface along the tool's axis, hold a force on it, slide, lift off."""

    target_n: float = param(5.0, unit="N", live=True, gt=0, le=200, help="Force to hold along the normal.")
    band_n: float = param(0.25, unit="N", live=True, gt=0, le=50, help="How far from it counts as held.")
    peak_n: float = param(
        7.5, unit="N", live=True, gt=0, le=500, help="Force that the first touch of the stiffest surface may reach."
    )
    force_limit_n: float = param(
        20.0, unit="N", live=True, gt=0, le=500, help="Force at which it lifts off and stops, in every state."
    )
    touch_n: float = param(0.5, unit="N", live=True, gt=0, le=20, help="Force along the normal that counts as contact.")
    loss_n: float = param(0.3, unit="N", live=True, gt=0, le=20, help="Force below which contact is being lost.")
    loss_s: float = param(0.05, unit="s", live=True, gt=0, le=1, help="How long before it counts as lost.")
    preload_n: float = param(
        0.5, unit="N", live=True, gt=0, le=50, help="Force at which a start is refused: no more than touch_n."
    )
    noise_n: float = param(0.2, unit="N", live=True, gt=0, le=10, help="Noise of the force sensor, one sample.")
    stiffness_min_n_m: float = param(1e3, unit="N/m", gt=0, le=1e7, help="Softest surface to expect.")
    stiffness_max_n_m: float = param(
        1e5,
        unit="N/m",
        gt=0,
        le=1e7,
        help="Stiffest surface to expect: approach and first gain reckon with it.",
    )
    lag_s: float = param(
        0.05,
        unit="s",
        live=True,
        ge=0.002,
        le=0.5,
        help="Total lag: filter of the wrench, period, transport and the robot's servo.",
    )
    law: Literal["pi", "mass"] = param(
        "pi", live=True, help="PI with back-calculation, or a virtual mass with a damper."
    )
    margin: float = param(
        0.37, live=True, gt=0, le=0.7, help="Gain × stiffness × lag: 0.37 does not overshoot, 1.57 is unstable."
    )
    integral_lags: float = param(12.0, live=True, ge=4, le=1000, help="Time of the integral, in total lags.")
    feed_forward: Literal["none", "surface"] = param(
        "surface",
        live=True,
        help="What is fed forward: the observed motion of the surface, or nothing (then an integral).",
    )
    soft_start_s: float = param(
        0.1, unit="s", live=True, ge=0, le=10, help="Time over which the force rises to its target, from contact on."
    )
    press_m_s: float = param(
        0.03, unit="m/s", live=True, gt=0, le=0.5, help="Largest speed in contact, along the normal."
    )
    approach_m_s: float = param(
        0.02, unit="m/s", live=True, gt=0, le=0.5, help="Largest speed of approach; stiffness and lag allow less."
    )
    free_m_s: float = param(
        0.05, unit="m/s", live=True, gt=0, le=0.5, help="Speed through free space, when height_m says there is some."
    )
    height_m: float = param(
        0.0, unit="m", live=True, ge=0, le=2, help="Way to the surface that is surely free (0: not known)."
    )
    seek_m: float = param(0.1, unit="m", live=True, gt=0, le=2, help="Longest way to look for a surface.")
    acceleration_m_s2: float = param(
        0.2, unit="m/s²", live=True, gt=0, le=10, help="Acceleration of approach and of the path."
    )
    dwell_s: float = param(1.0, unit="s", live=True, ge=0, le=600, help="How long the force must stay in its band.")
    settle_s: float = param(10.0, unit="s", live=True, gt=0, le=600, help="How long it may take until it has.")
    recover_s: float = param(
        0.1, unit="s", live=True, ge=0, le=10, help="How long a lost surface is looked for before the tool lifts off."
    )
    losses_most: float = param(
        10.0, live=True, ge=0, le=1000, help="How often contact may be lost before it is a fault."
    )
    leash_m: float = param(
        0.02,
        unit="m",
        live=True,
        gt=0,
        le=1,
        help="How far the tool may be drawn away from the surface while it feels a force; paused, half as far.",
    )
    path: Literal["none", "straight", "spiral", "raster"] = param("straight", help="Path along the surface.")
    heading: Three = param((1.0, 0.0, 0.0), help="Direction in which the path begins, in base axes.")
    length_m: float = param(
        0.05, unit="m", gt=0, le=10, help="Length of a straight path or a spiral, or of one line of a raster."
    )
    pitch_m: float = param(0.004, unit="m", gt=0, le=1, help="Distance between turns of a spiral or lines of a raster.")
    width_m: float = param(0.016, unit="m", ge=0, le=10, help="Width of a raster: a line at every pitch of it.")
    speed_m_s: float = param(0.01, unit="m/s", live=True, gt=0, le=0.5, help="Speed along the path.")
    slope_deg: float = param(
        20.0,
        unit="deg",
        live=True,
        gt=0,
        le=60,
        help="How far the surface may be tilted from the tool's axis at the start.",
    )
    cone_deg: float = param(
        75.0,
        unit="deg",
        live=True,
        gt=0,
        le=85,
        help="How far the normal may turn from where the tool came from; beyond, something leans on the tool.",
    )
    tilt_deg: float = param(
        30.0,
        unit="deg",
        live=True,
        ge=0,
        le=80,
        help="How far the tool may turn to face the surface.",
    )
    turn_rad_s: float = param(0.5, unit="rad/s", live=True, gt=0, le=3, help="How fast it may turn.")
    retract_m: float = param(0.02, unit="m", live=True, gt=0, le=1, help="How far to lift off.")
    retract_m_s: float = param(0.05, unit="m/s", live=True, gt=0, le=0.5, help="How fast to lift off.")


def check_order(p: Contact) -> None:
    """Raise `InputError` for thresholds that stand the wrong way round: such a contact could never come to its end."""
    for low, high in (
        ("loss_n", "touch_n"),
        ("touch_n", "target_n"),
        ("band_n", "target_n"),
        ("target_n", "force_limit_n"),
        ("peak_n", "force_limit_n"),
        ("stiffness_min_n_m", "stiffness_max_n_m"),
    ):
        if not getattr(p, low) < getattr(p, high):
            raise InputError(f"contact.{low}", getattr(p, low), f"less than contact.{high} ({getattr(p, high):g})")
    if p.preload_n > p.touch_n:  # else an offset of the sensor would be taken for a surface
        raise InputError("contact.preload_n", p.preload_n, f"at most contact.touch_n ({p.touch_n:g})")
    if p.slope_deg > p.cone_deg:
        raise InputError("contact.slope_deg", p.slope_deg, f"at most contact.cone_deg ({p.cone_deg:g})")
    if not any(p.heading):
        raise InputError("contact.heading", p.heading, "a direction, not zero")
