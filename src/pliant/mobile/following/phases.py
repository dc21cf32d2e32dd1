"""Phases of every follower: turn before a part, drive, stop at its end, turn at the end of the path."""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.mobile.following.drive_limits import (
    AT_REST_M_S,
    AT_REST_RAD_S,
    DONE,
    LOST,
    STOPPING,
    TURNING,
    halted,
    limited,
    turn_rate,
    unusable,
)
from pliant.mobile.following.track import errors_at, locate
from pliant.mobile.velocity.estimate import wrapped
from pliant.records import Field, Layout

TURN, DRIVE, STOP, ALIGN, END = 0, 1, 2, 3, 4

FOLLOW_STATE = Layout(
    "FollowState",
    (
        Field("part", "", "present part of the track", kind="i8"),
        Field("phase", "", "turn first, drive, stop, turn at the end, end", kind="i8"),
        Field("s", "m", "distance along the part"),
        Field("even", "m", "distance along the part without the noise of single readings, used for stopping"),
    ),
)


@kernel
def is_driving(base, p, s, track, m, dt, o):
    """Whether to drive the part now (or turn to it first), from the odometry `m`.

    Writes the position on the path into `o`; if the part is not to be driven, the command as well.
    """
    bad = unusable(m, p.stale_s)
    if bad != 0:
        halted(base, dt, o, bad)
        return False
    s.s = locate(track, s.part, s.s, m.pose[0], m.pose[1])
    o.cross_m, o.turn_rad = errors_at(track, s.part, s.s, m.pose)
    o.path_m, o.part = track.parts[s.part].before + s.s, s.part
    if abs(o.cross_m) > p.lost_m:
        halted(base, dt, o, LOST)
        return False
    if s.phase == STOP:
        _stop(base, s, track, m, dt, o)
    elif s.phase == ALIGN:
        _align(base, p, s, track, m, dt, o)
    elif s.phase == END:
        halted(base, dt, o, DONE)
    else:
        return True
    return False


@kernel
def _stop(base, s, track, m, dt, o):
    """Rest before the next part, or before the last turn."""
    halted(base, dt, o, STOPPING)
    if abs(m.v) < AT_REST_M_S and abs(m.omega) < AT_REST_RAD_S and o.v == 0.0 and o.omega == 0.0:
        if s.part + 1 < track.parts.shape[0]:
            s.part += 1
            s.s, s.phase = 0.0, TURN
        else:
            s.phase = ALIGN


@kernel
def _align(base, p, s, track, m, dt, o):
    """Turn to the heading at the end."""
    error = wrapped(track.points[track.points.shape[0] - 1].heading - m.pose[2])
    if abs(error) < math.radians(p.goal_deg) and abs(m.omega) < AT_REST_RAD_S:
        s.phase = END
        halted(base, dt, o, DONE)
        return
    limited(base, 0.0, turn_rate(base, 0.5, p.settle_s, error, m.omega), dt, o)
    o.state = TURNING
