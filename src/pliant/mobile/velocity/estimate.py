"""The result of an estimator: velocity in world and body axes, its source and its uncertainty.

v = vx cos θ + vy sin θ          forward
l = vy cos θ - vx sin θ          sideways: impossible for a differential drive, but always reported
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.records import Field, Layout

# Which formula gave a velocity: the number of points of a stencil, or one of these.
ZERO, POLYNOMIAL, KALMAN = 0, 100, 200
SCHEMES = {ZERO: "zero", 2: "2-point", 3: "3-point", 5: "5-point", POLYNOMIAL: "polynomial", KALMAN: "Kalman"}
"""Names of the formulas."""

# What became of the sample.
VALID, COASTING, RESET, IGNORED, LOST = 1, 2, 3, 4, 5
STATUS = {
    VALID: "valid",
    COASTING: "coasting: the sample was not finite or an outlier, the velocity is a prediction",
    RESET: "reset: the first sample of a trajectory, its velocity is not known yet",
    LOST: "lost: no finite sample for too long, the velocity is unknown and set to zero",
    IGNORED: "ignored: the stamp was not newer than the last one, or not finite",
}
"""What each status means."""

LEAST_DT = 1e-6
"""Samples closer than this [s] count as the same sample."""

ESTIMATE = Layout(
    "BaseEstimate",
    (
        Field("stamp_s", "s", "time of the estimate"),
        Field("pose", "m, m, rad", "x, y and heading (unwrapped) in the world", (3,)),
        Field("velocity", "m/s, m/s, rad/s", "velocity in world axes, and turning speed", (3,)),
        Field("acceleration", "m/s^2, m/s^2, rad/s^2", "acceleration in world axes", (3,)),
        Field("sigma", "m/s, m/s, rad/s", "standard deviation of the velocity (NaN if the formula has none)", (3,)),
        Field("v", "m/s", "forward velocity in the body frame"),
        Field("lateral", "m/s", "sideways velocity in the body frame"),
        Field("omega", "rad/s", "turning speed"),
        Field("scheme", "", "formula used (see SCHEMES)", kind="i8"),
        Field("status", "", "how the sample was used (see STATUS)", kind="i8"),
    ),
)


@kernel
def wrapped(angle):
    """The same angle in [-π, π)."""
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@kernel
def to_body(o):
    """Fill the body-frame velocity of an estimate from its world velocity and heading at the same instant."""
    c, s = math.cos(o.pose[2]), math.sin(o.pose[2])
    o.v = c * o.velocity[0] + s * o.velocity[1]
    o.lateral = c * o.velocity[1] - s * o.velocity[0]
    o.omega = o.velocity[2]
