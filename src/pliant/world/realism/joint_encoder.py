"""What the robot reports about its joints: noise and steps of q, how q̇ is obtained, noise and offset of τ."""

from __future__ import annotations

import math

import numpy as np

from pliant.kernel import floats, kernel
from pliant.world.random_numbers import normals


@kernel
def report(w, r):
    """Fill the joints of the reading `r`."""
    q, qd = floats(w.axis_q, w.n), floats(w.axis_qd, w.n)
    for i in range(w.n):
        r.q[i] = q[i]
        r.qd[i] = qd[i]
        r.tau[i] = w.tau[i]
    if w.encoder.on != 0:
        _with_errors(w, r)


@kernel
def _with_errors(w, r):
    e, d = w.encoder, w.drive
    if e.noise > 0.0:
        normals(w, e.draws)
    for i in range(w.n):
        # the same transmission error, a quarter of a period apart, is in the encoder of the motor
        turn = d.per_turn * r.q[i] + d.phase[i]
        r.qd[i] *= 1.0 - d.per_turn * d.ripple * math.sin(turn)
        r.q[i] += d.ripple * math.cos(turn)
        if e.noise > 0.0:
            r.q[i] += e.noise * e.draws[i]
        if e.step > 0.0:
            r.q[i] = e.step * np.floor(r.q[i] / e.step + 0.5)
    if e.difference != 0:
        _differentiate(w, r)
    if e.speed_noise > 0.0:
        normals(w, e.draws)
        for i in range(w.n):
            r.qd[i] += e.speed_noise * e.draws[i]
    if e.torque_noise > 0.0:
        normals(w, e.draws)
    for i in range(w.n):
        r.tau[i] += e.torque_bias[i]
        if e.torque_noise > 0.0:
            r.tau[i] += e.torque_noise * e.draws[i]


@kernel
def _differentiate(w, r):
    """q̇ as the difference of reported q, low-passed."""
    e = w.encoder
    past = w.time - e.at
    for i in range(w.n):
        if e.reads == 0:
            e.qd[i] = 0.0
        elif past > 0.0:
            e.qd[i] += e.smoothing * ((r.q[i] - e.q[i]) / past - e.qd[i])
        e.q[i] = r.q[i]
        r.qd[i] = e.qd[i]
    e.at = w.time
    e.reads += 1
