"""Parameters of the contact law: force, expected surface, approach, path and lift-off."""

from __future__ import annotations

from typing import Any, Literal

from pliant.errors import InputError, RejectedError, said
from pliant.params.declare import Section, Three, param


class Contact(Section):
    """Seek a surface along the tool's axis, hold a force on it, slide, lift off."""

    target_n: float = param(5.0, unit="N", live=True, gt=0, le=200, help="Force to hold along the normal.")
    band_n: float = param(0.25, unit="N", live=True, gt=0, le=50, help="Deviation from the target that counts as held.")
    peak_n: float = param(
        7.5, unit="N", live=True, gt=0, le=500, help="Largest force allowed at first touch of the stiffest surface."
    )
    force_limit_n: float = param(
        20.0,
        unit="N",
        live=True,
        gt=0,
        le=500,
        help="Force at which the contact lifts off and ends in a fault, in every state.",
    )
    touch_n: float = param(0.5, unit="N", live=True, gt=0, le=20, help="Force along the normal that counts as contact.")
    loss_n: float = param(0.3, unit="N", live=True, gt=0, le=20, help="Force below which contact counts as lost.")
    loss_s: float = param(0.05, unit="s", live=True, gt=0, le=1, help="Time below loss_n after which contact is lost.")
    preload_n: float = param(
        0.5, unit="N", live=True, gt=0, le=50, help="Force above which a start is rejected; at most touch_n."
    )
    noise_n: float = param(
        0.2,
        unit="N",
        live=True,
        gt=0,
        le=10,
        help="Noise of one force sensor sample (standard deviation); a larger one measured while free counts instead.",
    )
    zero_n: float = param(
        0.0,
        unit="N",
        live=True,
        ge=0,
        le=50,
        help="Largest change of the sensor's zero during a contact, by drift and with the pose; not seen as a force "
        "after the lift-off.",
    )
    tare: bool = param(
        True, live=True, help="Take the force at the start as zero; it is at most preload_n, or the start is rejected."
    )
    stiffness_min_n_m: float = param(1e3, unit="N/m", gt=0, le=1e7, help="Softest surface to expect.")
    stiffness_max_n_m: float = param(
        1e5,
        unit="N/m",
        gt=0,
        le=1e7,
        help="Stiffest surface to expect; sets the approach speed and the initial gain.",
    )
    lag_s: float = param(
        0.05,
        unit="s",
        live=True,
        ge=0.002,
        le=0.5,
        help="Total lag: wrench filter, period, transport and the robot's servo.",
    )
    resonance_hz: float = param(
        0.0,
        unit="Hz",
        live=True,
        ge=0,
        le=100,
        help="Lowest natural frequency of the arm on its elastic joints (0: rigid); the force is smoothed accordingly.",
    )
    law: Literal["pi", "mass"] = param(
        "pi", live=True, help="Force law: PI with back-calculation, or a virtual mass with a damper."
    )
    margin: float = param(
        0.37, live=True, gt=0, le=0.7, help="Gain × stiffness × lag: 0.37 does not overshoot, 1.57 is unstable."
    )
    integral_lags: float = param(12.0, live=True, ge=4, le=1000, help="Integral time, in total lags.")
    feed_forward: Literal["none", "surface"] = param(
        "surface",
        live=True,
        help="Feed-forward: the observed motion of the surface, or none (then an integral term acts).",
    )
    soft_start_s: float = param(
        0.1, unit="s", live=True, ge=0, le=10, help="Time over which the force rises to its target after contact."
    )
    press_m_s: float = param(
        0.03, unit="m/s", live=True, gt=0, le=0.5, help="Largest speed along the normal while in contact."
    )
    approach_m_s: float = param(
        0.02, unit="m/s", live=True, gt=0, le=0.5, help="Largest approach speed; stiffness and lag may reduce it."
    )
    free_m_s: float = param(0.05, unit="m/s", live=True, gt=0, le=0.5, help="Speed over the free distance height_m.")
    height_m: float = param(
        0.0, unit="m", live=True, ge=0, le=2, help="Distance to the surface that is known to be free (0: unknown)."
    )
    seek_m: float = param(0.1, unit="m", live=True, gt=0, le=2, help="Largest distance to seek a surface.")
    acceleration_m_s2: float = param(
        0.2, unit="m/s²", live=True, gt=0, le=10, help="Acceleration of approach and of the path."
    )
    dwell_s: float = param(1.0, unit="s", live=True, ge=0, le=600, help="How long the force must stay within band_n.")
    settle_s: float = param(
        10.0,
        unit="s",
        live=True,
        gt=0,
        le=600,
        help="Time limit for the force to settle within band_n; exceeding it is a fault.",
    )
    recover_s: float = param(
        0.1, unit="s", live=True, ge=0, le=10, help="How long to seek a lost surface before the tool lifts off."
    )
    losses_most: float = param(
        10.0, live=True, ge=0, le=1000, help="How often contact may be lost; one more loss is a fault."
    )
    leash_m: float = param(
        0.02,
        unit="m",
        live=True,
        gt=0,
        le=1,
        help="How far the tool may be pulled away from the surface while a force acts on it; half as far while paused.",
    )
    path: Literal["none", "straight", "spiral", "raster"] = param("straight", help="Path along the surface.")
    heading: Three = param((1.0, 0.0, 0.0), help="Initial direction of the path, in the base frame.")
    length_m: float = param(
        0.05, unit="m", gt=0, le=10, help="Length of a straight path or a spiral, or of one raster line."
    )
    pitch_m: float = param(0.004, unit="m", gt=0, le=1, help="Distance between spiral turns or raster lines.")
    width_m: float = param(0.016, unit="m", ge=0, le=10, help="Width of a raster, with one line per pitch_m.")
    speed_m_s: float = param(0.01, unit="m/s", live=True, gt=0, le=0.5, help="Speed along the path.")
    slope_deg: float = param(
        20.0,
        unit="deg",
        live=True,
        gt=0,
        le=60,
        help="Largest angle between the surface normal and the tool's axis at the start.",
    )
    cone_deg: float = param(
        75.0,
        unit="deg",
        live=True,
        gt=0,
        le=85,
        help="Largest angle between the normal and the approach; more means that something pushes the tool sideways.",
    )
    tilt_deg: float = param(
        30.0,
        unit="deg",
        live=True,
        ge=0,
        le=80,
        help="Largest rotation of the tool to face the surface.",
    )
    turn_rad_s: float = param(0.5, unit="rad/s", live=True, gt=0, le=3, help="Largest turning speed of the tool.")
    retract_m: float = param(0.02, unit="m", live=True, gt=0, le=1, help="Lift-off distance.")
    retract_m_s: float = param(0.05, unit="m/s", live=True, gt=0, le=0.5, help="Lift-off speed.")


# Thresholds, of which the first must be less than the second, and what to do otherwise.
_ORDER = {
    ("loss_n", "touch_n"): "",
    ("touch_n", "target_n"): "",
    ("band_n", "target_n"): "",
    ("target_n", "force_limit_n"): "Lower the target or raise the limit.",
    ("peak_n", "force_limit_n"): "Lower the peak or raise the limit.",
    ("stiffness_min_n_m", "stiffness_max_n_m"): "",
}
# Those of which the first may be as large as the second: a larger preload would be taken for a surface.
_AT_MOST = (("preload_n", "touch_n"), ("slope_deg", "cone_deg"))


def check_order(p: Contact) -> None:
    """Raise `InputError` if two thresholds are in the wrong order, because such a contact could never complete."""
    for (low, high), remedy in _ORDER.items():
        if not getattr(p, low) < getattr(p, high):
            raise _swapped(p, low, high, remedy)
    for low, high in _AT_MOST:
        if getattr(p, low) > getattr(p, high):
            raise _swapped(p, low, high)
    if not any(p.heading):
        raise InputError("contact.heading", p.heading, "a direction (not all zeros)")


def _swapped(p: Contact, low: str, high: str, remedy: str = "") -> RejectedError:
    """The error for a threshold that is too high for another one."""
    extra: Any = Contact.model_fields[low].json_schema_extra
    small, large = (said(getattr(p, name), extra["unit"]) for name in (low, high))
    relation = "exceeds" if getattr(p, low) > getattr(p, high) else "must be less than"
    return RejectedError(
        f"contact.{low} = {small} {relation} contact.{high} = {large}. "
        + (remedy or f"Lower contact.{low} or raise contact.{high}."),
        field=f"contact.{low}",
        value=getattr(p, low),
    )
