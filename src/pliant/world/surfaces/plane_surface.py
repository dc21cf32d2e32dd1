"""A plane: everything below z = 0."""

from __future__ import annotations

from typing import Any

from pliant.kernel import kernel
from pliant.params.declare import Section
from pliant.world.surface_kind import Shape, own_surface

# How much of the infinite plane is drawn: half-sizes [m].
_DRAWN = (0.3, 0.3, 0.01)


class Plane(Section):
    """It fills everything below z = 0."""


@kernel
def distance(p, point, normal):
    """Height above the plane."""
    normal[0], normal[1], normal[2] = 0.0, 0.0, 1.0
    return point[2]


def _shapes(surface: Any) -> tuple[Shape, ...]:
    return (Shape("box", _DRAWN, (0.0, 0.0, -_DRAWN[2])),)


SURFACE = own_surface("plane", Plane, distance, shapes=_shapes)
