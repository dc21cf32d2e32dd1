"""Wake up at fixed times, in compiled code: sleeping needs no interpreter."""

from __future__ import annotations

import time

from numba import types

from pliant.kernel import c_function, clock_gettime, kernel
from pliant.records import Field, Layout

_p = types.intp
_nanosleep = c_function("nanosleep", _p, _p, returns=types.int32)

_STEADY, _CIVIL = time.CLOCK_MONOTONIC, time.CLOCK_REALTIME
_SECOND = 1_000_000_000

PACE = Layout(
    "Pace",
    (
        Field("period", "ns", "time from one wake-up to the next", kind="i8"),
        Field("deadline", "ns", "scheduled start of this period", kind="i8"),
        Field("woke", "ns", "actual start of this period", kind="i8"),
        Field("late", "ns", "lateness of the start", kind="i8"),
        Field("busy", "ns", "from the start until the end of the work, in the period before", kind="i8"),
        Field("overruns", "", "periods that were missed", kind="i8"),
        Field("slow", "", "periods in a row whose work took longer than a period", kind="i8"),
        Field("timespec", "s, ns", "scratch for system calls", (2,), "i8"),
    ),
)


@kernel
def _now(pace, clock):
    """Time of a clock [ns]."""
    clock_gettime(clock, pace.timespec.ctypes.data)
    return pace.timespec[0] * _SECOND + pace.timespec[1]


@kernel
def civil_time(pace):
    """Time of day [ns since 1970]."""
    return _now(pace, _CIVIL)


@kernel
def start(pace):
    """The first period begins now."""
    pace.deadline = pace.woke = _now(pace, _STEADY)


@kernel
def wait(pace):
    """Sleep until the next period begins. A missed one is counted and skipped, never made up for in a burst."""
    now = _now(pace, _STEADY)
    pace.busy = now - pace.woke
    pace.slow = pace.slow + 1 if pace.busy > pace.period else 0
    pace.deadline += pace.period
    while now < pace.deadline:  # a signal may wake us early
        left = pace.deadline - now
        pace.timespec[0], pace.timespec[1] = left // _SECOND, left % _SECOND
        _nanosleep(pace.timespec.ctypes.data, 0)
        now = _now(pace, _STEADY)
    pace.woke, pace.late = now, now - pace.deadline
    missed = pace.late // pace.period
    pace.overruns += missed
    pace.deadline += missed * pace.period


@kernel
def start_at(pace):
    """`start` for a one-element record array."""
    start(pace[0])
