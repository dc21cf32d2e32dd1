"""The record through which a sensor's thread hands its readings to the control loop, and how a tick takes them.

The thread writes under a sequence lock: odd while it writes. The tick copies the sample and checks the number again; if
it changed, the tick keeps the sample that it has. So the loop never waits for the sensor.
"""

from __future__ import annotations

import time

from pliant.kernel import clock_gettime, fence, kernel, load_acquire, put, record_at, store_release
from pliant.records import WRENCH_MISSING, WRENCH_OK, Field, Layout

_SECOND = 1_000_000_000
_STEADY = time.CLOCK_MONOTONIC

WRENCH_SOURCE = Layout(
    "WrenchSource",
    (
        # written by the sensor's thread
        Field("sequence", "", "odd while a sample is written; 0: there is none yet", kind="i8"),
        Field("sampled_ns", "ns", "monotonic time of this computer at which it was sampled", kind="i8"),
        Field("sampled_state", "", "0 good, 1 missing, 2 saturated", kind="i8"),
        Field("sample", "N, N m", "as the sensor gives it", (6,)),
        # settings
        Field("external", "", "1: from the sensor's thread; 0: the wrench that the robot reports", kind="i8"),
        Field("matrix", "", "from the raw wrench to the declared sensor frame: mount times scale", (6, 6)),
        Field("offset", "N, N m", "to subtract, in the declared sensor frame", (6,)),
        # of the tick
        Field("seen", "", "sequence number of the sample in use", kind="i8"),
        Field("raw", "N, N m", "the sample in use", (6,)),
        Field("state", "", "its state", kind="i8"),
        Field("stamp_s", "s", "its robot time"),
        Field("incoming", "N, N m", "scratch: a sample that is being copied", (6,)),
        Field("timespec", "s, ns", "scratch for system calls", (2,), "i8"),
    ),
)
_RECORD = WRENCH_SOURCE.dtype


@kernel
def post(source, sample, sampled_ns, state):
    """Put a sample into the record; called by the sensor's thread alone."""
    x, address = source[0], source.ctypes.data
    number = x.sequence
    store_release(address, number + 1)
    fence()
    put(x.sample, sample)
    x.sampled_ns, x.sampled_state = sampled_ns, state
    store_release(address, number + 2)


@kernel
def take(address, r):
    """Put the newest sample of the source at `address` into a reading, scaled and in the declared sensor frame."""
    x = record_at(address, _RECORD)
    if x.external != 0:
        _receive(x, address, r.stamp_s)
        r.wrench_state, r.wrench_stamp_s = x.state, x.stamp_s
    else:
        put(x.raw, r.wrench)
    for i in range(6):
        r.wrench[i] = -x.offset[i]
        for k in range(6):
            r.wrench[i] += x.matrix[i, k] * x.raw[k]


@kernel
def take_into(address, reading):
    """`take` for a one-element record array."""
    take(address, reading[0])


@kernel
def _receive(x, address, now_s):
    """Copy a sample that is new. Its age on this computer's clock gives its robot time, which never runs backwards."""
    before = load_acquire(address)
    if before == 0:
        x.state, x.stamp_s = WRENCH_MISSING, now_s
        return
    if before == x.seen or before % 2 == 1:
        return
    put(x.incoming, x.sample)
    sampled_ns, state = x.sampled_ns, x.sampled_state
    fence()
    if load_acquire(address) != before:
        return
    x.seen, x.state = before, state
    put(x.raw, x.incoming)
    if state != WRENCH_OK:
        return
    clock_gettime(_STEADY, x.timespec.ctypes.data)
    age = (x.timespec[0] * _SECOND + x.timespec[1] - sampled_ns) * 1e-9
    x.stamp_s = max(x.stamp_s, now_s - max(0.0, age))
