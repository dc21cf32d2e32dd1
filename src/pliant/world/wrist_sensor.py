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
from pliant.sensors.shared_wrench import take
from pliant.world.random_numbers import normals, uniform
from pliant.world.realism.sensor_errors import delayed, feel
from pliant.world.world_layout import SAMPLES

# Times that differ by less are equal [s].
TINY_S = 1e-9


@kernel
def _failure(w):
    """The failure that is scripted for this moment, 0 for none."""
    for k in range(w.n_failures):
        if w.failure[k].start <= w.time < w.failure[k].end:
            return w.failure[k].kind
    return WRENCH_OK


@kernel
def sample(w, r):
    """Take one reading of the sensor: into w.raw, with its time and state in the record `r`."""
    normals(w, w.six)
    lost = uniform(w) < w.dropout
    if not lost:
        true = floats(w.sensordata, 6)
        r.wrench_state = WRENCH_OK
        if w.felt.on != 0:
            feel(w)
        for i in range(6):
            clean = w.felt.six[i] if w.felt.on != 0 else -true[i]
            value = clean + w.bias[i] + w.noise[i] * w.six[i]
            if abs(value) >= w.range[i]:
                value = math.copysign(w.range[i], value)
                r.wrench_state = WRENCH_SATURATED
            if w.step[i] > 0.0:
                value = w.step[i] * np.floor(value / w.step[i] + 0.5)
            w.last_wrench[i] = value
        if w.felt.latency > 0:
            delayed(w, w.last_wrench)
        w.last_stamp = w.time
    else:
        r.wrench_state = WRENCH_MISSING
    failure = _failure(w)
    if failure in (WRENCH_FROZEN, WRENCH_STALE):
        # frozen: the value stays, the clock goes on; stale: the value is late and says so
        put(w.last_wrench, w.raw)
        r.wrench_stamp_s = w.last_stamp if failure == WRENCH_FROZEN else r.wrench_stamp_s
        return
    put(w.raw, w.last_wrench)
    r.wrench_stamp_s = w.last_stamp
    if failure in (WRENCH_MISSING, WRENCH_SATURATED):
        r.wrench_state = failure
    elif failure == WRENCH_NAN:
        w.raw[2] = math.nan
    elif failure == WRENCH_RANGE:
        w.raw[2] = 1e6


@kernel
def deliver(w, r):
    """Put a reading into the record `r`: that of this tick, or that of a sensor with its own rate and delay."""
    if w.sample_s > 0.0 or w.sample_delay > 0.0:
        _keep(w, r)
        # of what has had the time to arrive, the newest; at the start, the first
        while w.delivered + 1 < w.samples:
            if w.sampled_at[(w.delivered + 1) % SAMPLES] + w.sample_delay > w.time + TINY_S:
                break
            w.delivered += 1
        slot = w.delivered % SAMPLES
        put(r.wrench, w.sampled[slot])
        r.wrench_stamp_s, r.wrench_state = w.sampled_at[slot], w.sampled_state[slot]
    else:
        put(r.wrench, w.raw)
    if w.source != 0:
        take(w.source, r)


@kernel
def _keep(w, r):
    """Keep the reading of this tick if a sample is due now."""
    if w.samples == 0 or w.time >= w.next_sample - TINY_S:
        slot = w.samples % SAMPLES
        put(w.sampled[slot], w.raw)
        w.sampled_at[slot], w.sampled_state[slot] = r.wrench_stamp_s, r.wrench_state
        w.samples += 1
        # what a tick missed is not made up for
        w.next_sample = max(w.next_sample, w.time - w.sample_s) + w.sample_s
