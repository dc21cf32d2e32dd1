"""Following a path closely: feed-forward of its curvature and speed, feedback of errors.

    ω = v κ - σ² v e_y sinc(e_θ) - 2 ζ σ |v| e_θ          σ = min(stiffness, bandwidth/|v|)

An error decays like a damped spring along the path, forward and in reverse, and at standstill the base does not turn.
Curvature and speed are taken where the base will be when the command takes effect (Samson's law, with a preview).
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.mobile.following.drive_limits import (
    AT_REST_M_S,
    AT_REST_RAD_S,
    DRIVING,
    STOPPING,
    TURNING,
    halted,
    limited,
    turn_rate,
)
from pliant.mobile.following.phases import DRIVE, STOP, TURN, is_driving
from pliant.mobile.following.track import index_at, mean_curvature
from pliant.mobile.velocity.estimate import wrapped

EVEN = 0.15
"""Weight of a reading in the distance used for stopping; the rest is the previous distance plus speed."""


@kernel
def step(base, p, s, track, m, dt, o):
    """Write the next command into `o`, from the odometry `m`."""
    if not is_driving(base, p, s, track, m, dt, o):
        return
    if s.phase == TURN:
        _turn_first(base, p, s, track, m, dt, o)
    else:
        gone = s.even + max(0.0, track.parts[s.part].direction * m.v) * dt
        s.even = gone + EVEN * (s.s - gone)
        _drive(base, p, s, track, m.v, dt, o)


@kernel
def _turn_first(base, p, s, track, m, dt, o):
    """At the beginning of a part, a heading that is far off is turned away before driving."""
    error = wrapped(track.points[index_at(track, s.part, s.s)].heading - m.pose[2])
    if abs(m.v) < AT_REST_M_S and abs(error) < math.radians(p.turn_at_deg) and o.state != TURNING:
        s.phase, s.even = DRIVE, s.s
        _drive(base, p, s, track, m.v, dt, o)
        return
    if o.state == TURNING and abs(error) < math.radians(p.goal_deg) and abs(m.omega) < AT_REST_RAD_S:
        s.phase, s.even = DRIVE, s.s
    limited(base, 0.0, turn_rate(base, 0.5, p.settle_s, error, m.omega), dt, o)
    o.state = TURNING


@kernel
def _drive(base, p, s, track, v, dt, o):
    """Along the part: feed-forward from ahead, feedback from here."""
    q = track.parts[s.part]
    length = (q.last - q.first) * q.step
    sign, speed = q.direction, max(0.0, q.direction * v)
    ahead = s.s + speed * base.delay_s
    left = length - s.even - speed * base.delay_s
    if left <= 0.0:
        s.phase = STOP
        halted(base, dt, o, STOPPING)
        return
    top = min(track.points[index_at(track, s.part, ahead)].speed, left / p.settle_s)
    # a little at least: at the first point of a part that is short the speed allowed may be nothing
    wish = sign * max(top, p.creep_m_s)
    limit = o.v + sign * base.acceleration_m_s2 * dt  # what the ramp up lets through, so that ω fits the v that comes
    u = sign * min(abs(wish), max(p.creep_m_s, sign * limit))
    # the turn begins half a ramp early where the curvature jumps
    near = 0.2 * abs(u)
    here = track.points[index_at(track, s.part, ahead - near)].curvature
    there = track.points[index_at(track, s.part, ahead + near)].curvature
    ramp = min(0.4, abs(u * (there - here)) / base.turn_acceleration_rad_s2)
    kappa = mean_curvature(track, s.part, ahead, 0.5 * ramp * abs(u))
    sigma = min(p.stiffness_1_m, p.bandwidth_rad_s / max(abs(u), 1e-3))
    e = o.turn_rad
    sinc = math.sin(e) / e if abs(e) > 1e-6 else 1.0
    turn = u * kappa - sigma * sigma * u * o.cross_m * sinc - 2.0 * p.damping_ratio * sigma * abs(u) * e
    limited(base, u, turn, dt, o)
    o.state = DRIVING


@kernel
def step_at(base, settings, state, track, odometry, dt, out):
    """`step` for callers outside compiled code."""
    step(base[0], settings[0], state[0], track, odometry[0], dt, out[0])
