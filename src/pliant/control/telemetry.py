"""Filling the telemetry record of a tick."""

from __future__ import annotations

from pliant.kernel import kernel


@kernel(separate=True)
def fill(t, number, dt, revision, r, g, o, c, s):
    """Put everything that went into and came out of tick `number` into the telemetry record `t`."""
    t.tick = number
    t.time_s = number * dt
    t.revision = revision
    t.reading = r
    t.goal = g
    t.observed = o
    t.command = c
    t.state = s
