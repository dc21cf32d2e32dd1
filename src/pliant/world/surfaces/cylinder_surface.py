"""A cylinder that lies along its x axis, such as a pipe."""

from __future__ import annotations

import math
from typing import Any

from pliant.kernel import kernel
from pliant.params.declare import Section, param
from pliant.world.surface_kind import Shape, own_surface


class Cylinder(Section):
    """It lies along its x axis; its origin is its centre, so its top is at z = radius_m."""

    radius_m: float = param(0.05, unit="m", gt=0, help="Radius of the cylinder.")
    half_length_m: float = param(0.15, unit="m", gt=0, help="Half the length of the cylinder, along its x axis.")


@kernel
def distance(p, point, normal):
    """Distance from the cylinder (negative inside) and the direction out of it."""
    across = math.hypot(point[1], point[2])
    beyond, past = across - p.radius_m, abs(point[0]) - p.half_length_m
    # on the axis every direction across it is as near as any other: take z
    y, z = (point[1] / across, point[2] / across) if across > 0.0 else (0.0, 1.0)
    x = math.copysign(1.0, point[0])
    if beyond > 0.0 and past > 0.0:  # nearest to the edge of an end
        away = math.hypot(beyond, past)
        normal[0], normal[1], normal[2] = past / away * x, beyond / away * y, beyond / away * z
        return away
    if past > beyond:
        normal[0], normal[1], normal[2] = x, 0.0, 0.0
        return past
    normal[0], normal[1], normal[2] = 0.0, y, z
    return beyond


def _shapes(surface: Any) -> tuple[Shape, ...]:
    return (Shape("cylinder", (surface.radius_m, surface.half_length_m), rpy_deg=(0.0, 90.0, 0.0)),)


SURFACE = own_surface(
    "cylinder",
    Cylinder,
    distance,
    shapes=_shapes,
    pressed_along=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    is_curved=True,
)
