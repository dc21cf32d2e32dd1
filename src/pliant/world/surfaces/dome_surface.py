"""A dome: the half ball above z = 0."""

from __future__ import annotations

import math
from typing import Any

from pliant.kernel import kernel
from pliant.params.declare import Section, param
from pliant.world.surface_kind import Shape, own_surface


class Dome(Section):
    """It is the half ball above z = 0; its origin is the centre of the ball."""

    radius_m: float = param(0.045, unit="m", gt=0, help="Radius of the dome.")


@kernel
def distance(p, point, normal):
    """Distance from the half ball above z = 0 (negative inside) and the direction out of it."""
    radius, across = p.radius_m, math.hypot(point[0], point[1])
    if point[2] < 0.0 and across > radius:
        beyond = across - radius
        away = math.hypot(beyond, point[2])
        normal[0], normal[1] = beyond / away * point[0] / across, beyond / away * point[1] / across
        normal[2] = point[2] / away
        return away
    away = math.hypot(across, point[2])
    if away - radius <= -point[2]:
        normal[0], normal[1], normal[2] = 0.0, 0.0, -1.0
        return -point[2]
    for i in range(3):
        normal[i] = point[i] / away
    return away - radius


def _shapes(surface: Any) -> tuple[Shape, ...]:
    return (Shape("sphere", (surface.radius_m, 0.0, 0.0)),)


SURFACE = own_surface("dome", Dome, distance, shapes=_shapes, is_curved=True)
