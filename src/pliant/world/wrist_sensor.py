"""The wrist force sensor: the wrench between flange and tool, with noise, offset, range, quantisation and drop-outs.

MuJoCo's force sensor measures the full interaction between flange and tool: contact, tool weight and tool inertia. Its
sign is "flange on tool"; ours is the opposite, so that an external push on the tool reads as that push.
"""

from __future__ import annotations

import math

import numpy as np

from pliant.kernel import floats, kernel, put
from pliant.records import (
    WRENCH_FROZEN,
    WRENCH_MISSING,
    WRENCH_NAN,
    WRENCH_OK,
    WRENCH_RANGE,
    WRENCH_SATURATED,
    WRENCH_STALE,
)
from pliant.world.random_numbers import normals, uniform


@kernel
def _failure(w):
    """The failure that is scripted for this moment, 0 for none."""
    for k in range(w.n_failures):
        if w.failure[k].start <= w.time < w.failure[k].end:
            return w.failure[k].kind
    return WRENCH_OK


@kernel
def sample(w, r):
    """Take one reading of the sensor into the record `r`."""
    normals(w, w.six)
    lost = uniform(w) < w.dropout
    if not lost:
        true = floats(w.sensordata, 6)
        r.wrench_state = WRENCH_OK
        for i in range(6):
            value = -true[i] + w.bias[i] + w.noise[i] * w.six[i]
            if abs(value) >= w.range[i]:
                value = math.copysign(w.range[i], value)
                r.wrench_state = WRENCH_SATURATED
            if w.step[i] > 0.0:
                value = w.step[i] * np.floor(value / w.step[i] + 0.5)
            w.last_wrench[i] = value
        w.last_stamp = w.time
    else:
        r.wrench_state = WRENCH_MISSING
    failure = _failure(w)
    if failure in (WRENCH_FROZEN, WRENCH_STALE):
        # frozen: the value stays, the clock goes on; stale: the value is late and says so
        put(w.last_wrench, r.wrench)
        r.wrench_stamp_s = w.last_stamp if failure == WRENCH_FROZEN else r.wrench_stamp_s
        return
    put(r.wrench, w.last_wrench)
    r.wrench_stamp_s = w.last_stamp
    if failure in (WRENCH_MISSING, WRENCH_SATURATED):
        r.wrench_state = failure
    elif failure == WRENCH_NAN:
        r.wrench[2] = math.nan
    elif failure == WRENCH_RANGE:
        r.wrench[2] = 1e6
