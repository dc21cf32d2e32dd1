"""Errors of the force sensor beyond white noise: bandwidth, cross-talk and scale, drifting zero, latency."""

from __future__ import annotations

import math

from pliant.kernel import floats, kernel, put
from pliant.world.random_numbers import normals, uniform
from pliant.world.realism.effect_layout import LATENCY_SLOTS

# Moments get the errors of forces times this length [m], where no size is given for them.
LEVER_M = 0.03
# Slower than this the last joint shows no direction [rad/s].
TURNS = 1e-3


@kernel
def low_pass(w):
    """After every physics step: the wrench within the sensor's bandwidth."""
    f, true = w.felt, floats(w.sensordata, 6)
    for i in range(6):
        f.low[i] += f.smoothing * (-true[i] - f.low[i])


@kernel
def pose_terms(w):
    """Direction of gravity in the sensor: its components, and their products."""
    f, R = w.felt, floats(w.sensor_xmat, 9)
    t = f.terms
    for i in range(3):
        t[i] = R[i] * f.down[0] + R[3 + i] * f.down[1] + R[6 + i] * f.down[2]
    for i in range(3):
        t[3 + i] = t[i] * t[(i + 1) % 3]


@kernel
def feel(w):
    """The wrench as the sensor feels it now, before offset, noise, range and steps: in w.felt.six."""
    f = w.felt
    dt = w.h * w.substeps
    _wander(w, dt)
    if f.jump_share > 0.0 and uniform(w) < f.jump_share:
        f.jumped = 1 - f.jumped
    heated = 1.0 - math.exp(-w.time / f.thermal_s)
    pose_terms(w)
    for i in range(6):
        off = w.time * f.drift[i] + heated * f.thermal[i] + f.jumped * f.jump[i] - f.zero[i] - f.low[i]
        for k in range(6):
            off += f.matrix[i, k] * f.low[k] + f.pose_zero[i, k] * f.terms[k]
        f.off[i] = off
        f.six[i] = f.low[i] + off + f.now[i]
    speed = floats(w.axis_qd, w.n)[w.n - 1]
    if abs(speed) > TURNS:
        f.side = math.copysign(1.0, speed)
    f.six[5] -= f.side * f.wrist_step


@kernel
def _wander(w, dt):
    """One step of a Gauss–Markov process per axis; it starts from zero, as after a tare."""
    f = w.felt
    if f.wander[0] > 0.0 or f.wander[3] > 0.0:
        normals(w, f.six)
        keep = math.exp(-dt / f.wander_s)
        fresh = math.sqrt(1.0 - keep * keep)
        for i in range(6):
            f.now[i] = keep * f.now[i] + fresh * f.wander[i] * f.six[i]


@kernel
def delayed(w, values):
    """Replace a reading by the one that is `latency` ticks old."""
    f = w.felt
    put(f.ring[f.taken % LATENCY_SLOTS], values)
    put(values, f.ring[max(0, f.taken - f.latency) % LATENCY_SLOTS])
    f.taken += 1
