"""Six-vectors from base axes into those of a law, and back."""

from __future__ import annotations

from pliant.kernel import kernel
from pliant.spatial import quat_rotate, quat_rotate_inv


@kernel
def turn(X, six, inward):
    """Turn a six-vector from base axes into those of the pose X, or back."""
    for first in (0, 3):
        part = six[first : first + 3]
        if inward:
            quat_rotate_inv(X[3:7], part, part)
        else:
            quat_rotate(X[3:7], part, part)
