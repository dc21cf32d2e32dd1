"""What an estimator says of the base: velocity in world and body axes, how it was found, and how far to trust it.

v = vx cos θ + vy sin θ          forward
l = vy cos θ - vx sin θ          sideways: what a differential drive cannot do, told and never dropped
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.records import Field, Layout

# Which formula gave a velocity: the number of points of a stencil, or one of these.
ZERO, POLYNOMIAL, KALMAN = 0, 100, 200
SCHEMES = {ZERO: "zero", 2: "2-point", 3: "3-point", 5: "5-point", POLYNOMIAL: "polynomial", KALMAN: "Kalman"}

# What became of the sample.
VALID, COASTING, RESET, IGNORED, LOST = 1, 2, 3, 4, 5
STATUS = {
    VALID: "valid",
    COASTING: "coasting: the sample was no number or an outlier, the velocity is a prediction",
    RESET: "reset: the first sample of a trajectory, nothing is known of its velocity yet",
    LOST: "lost: no sample was a number for too long, the velocity is not known and said to be zero",
    IGNORED: "ignored: the stamp was that of the sample before, older, or no number",
}

LEAST_DT = 1e-6
"""Samples closer than this [s] are one and the same."""

ESTIMATE = Layout(
    "BaseEstimate",
    (
        Field("stamp_s", "s", "time for which this holds"),
        Field("pose", "m, m, rad", "x, y and heading (unwrapped) in the world", (3,)),
        Field("velocity", "m/s, m/s, rad/s", "velocity in world axes, and turning speed", (3,)),
        Field("acceleration", "m/s^2, m/s^2, rad/s^2", "acceleration in world axes", (3,)),
        Field("sigma", "m/s, m/s, rad/s", "standard deviation of the velocity (NaN where a formula knows none)", (3,)),
        Field("v", "m/s", "forward velocity in the body frame"),
        Field("lateral", "m/s", "sideways velocity in the body frame"),
        Field("omega", "rad/s", "turning speed"),
        Field("scheme", "", "which formula gave it (see SCHEMES)", kind="i8"),
        Field("status", "", "what became of the sample (see STATUS)", kind="i8"),
    ),
)


@kernel
def wrapped(angle):
    """The same angle in [-π, π)."""
    return angle - 2.0 * math.pi * math.floor((angle + math.pi) / (2.0 * math.pi))


@kernel
def to_body(o):
    """Fill the body frame of an estimate from its world velocity and its heading, both of the same instant."""
    c, s = math.cos(o.pose[2]), math.sin(o.pose[2])
    o.v = c * o.velocity[0] + s * o.velocity[1]
    o.lateral = c * o.velocity[1] - s * o.velocity[0]
    o.omega = o.velocity[2]
