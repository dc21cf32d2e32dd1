"""The five-point formula with the mean step, for comparison in the base-velocity experiment.

    h = (t_newest - t_oldest)/(n - 1)       the same weights whatever the stamps are
    v = (25 f_0 - 48 f_1 + 36 f_2 - 16 f_3 + 3 f_4)/(12 h)      5 samples; with 3 or 4 three points, with 2 two

A mean step below 1e-6 s or above 1 s, or a result that is not finite, gives zero velocity. The heading is unwrapped.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.kernel import kernel
from pliant.mobile.velocity.estimate import wrapped

ROOM = 5


@kernel
def _velocity(t, f, n):
    """The formula for n samples f at times t, the newest first."""
    if n < 2:
        return 0.0
    h = (t[0] - t[n - 1]) / (n - 1)
    if not (1e-6 <= h <= 1.0):
        return 0.0
    if n >= 5:
        v = (25.0 * f[0] - 48.0 * f[1] + 36.0 * f[2] - 16.0 * f[3] + 3.0 * f[4]) / (12.0 * h)
    elif n >= 3:
        v = (3.0 * f[0] - 4.0 * f[1] + f[2]) / (2.0 * h)
    else:
        v = (f[0] - f[1]) / h
    return v if math.isfinite(v) else 0.0


@kernel
def _run(stamps, poses, t, f, out):
    n = 0
    for i in range(stamps.shape[0]):
        n = min(n + 1, ROOM)
        for k in range(n - 1, 0, -1):
            t[k] = t[k - 1]
            for axis in range(3):
                f[axis, k] = f[axis, k - 1]
        t[0] = stamps[i]
        for axis in range(3):
            f[axis, 0] = poses[i, axis]
        for k in range(1, n):  # unwrapped backwards from the newest
            f[2, k] = f[2, k - 1] + wrapped(f[2, k] - f[2, k - 1])
        for axis in range(3):
            out[i, axis] = _velocity(t, f[axis], n)


def mean_step_velocity(stamps: Any, poses: Any) -> np.ndarray[Any, Any]:
    """Velocities (n, 3) after each of the samples."""
    out = np.zeros((len(stamps), 3))
    _run(np.ascontiguousarray(stamps), np.ascontiguousarray(poses), np.zeros(ROOM), np.zeros((3, ROOM)), out)
    return out
