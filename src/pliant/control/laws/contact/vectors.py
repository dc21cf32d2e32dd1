"""Three-element vector functions for the contact law."""

from __future__ import annotations

import math

from pliant.kernel import kernel


@kernel
def dot(a, b):
    """The scalar product of the first three numbers of `a` and `b`."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def size(a):
    """The length of the first three numbers of `a`."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel
def distance(a, b):
    """The distance between the points `a` and `b`."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return math.sqrt(x * x + y * y + z * z)
