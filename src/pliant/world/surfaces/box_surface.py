"""A box around its origin, with sharp edges."""

from __future__ import annotations

import math
from typing import Any

from pliant.kernel import fill, kernel
from pliant.params.declare import NotNegative, Section, param
from pliant.world.surface_kind import Shape, own_surface


class Box(Section):
    """It has half-sizes along its axes; its origin is its centre."""

    half_size_m: tuple[NotNegative, NotNegative, NotNegative] = param(
        (0.1, 0.1, 0.05), unit="m", help="Half-sizes of the box."
    )


@kernel
def distance(p, point, normal):
    """Distance from a box (negative inside) and the direction out of it."""
    half, outside = p.half_size_m, 0.0
    for i in range(3):
        beyond = max(abs(point[i]) - half[i], 0.0)
        normal[i] = math.copysign(beyond, point[i])
        outside += beyond * beyond
    if outside > 0.0:
        outside = math.sqrt(outside)
        for i in range(3):
            normal[i] /= outside
        return outside
    nearest = 0
    for i in range(1, 3):
        if half[i] - abs(point[i]) < half[nearest] - abs(point[nearest]):
            nearest = i
    fill(normal, 0.0)
    normal[nearest] = math.copysign(1.0, point[nearest])
    return abs(point[nearest]) - half[nearest]


def _shapes(surface: Any) -> tuple[Shape, ...]:
    return (Shape("box", surface.half_size_m),)


SURFACE = own_surface(
    "box", Box, distance, shapes=_shapes, pressed_along=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
)
