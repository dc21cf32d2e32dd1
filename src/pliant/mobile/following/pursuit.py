"""Regulated pure pursuit: aim at a point ahead on the path, and slow down in curves, near obstacles and at the end.

    κ = 2 y/L²           y: lateral offset of the point, L: its distance

After Macenski et al. 2023. The point is never beyond a change of direction; the arc is checked for collisions.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.mobile.following.drive_limits import BLOCKED, DRIVING, STOPPING, TURNING, halted, limited, turn_rate
from pliant.mobile.following.phases import DRIVE, STOP, TURN, is_driving
from pliant.mobile.following.track import index_at
from pliant.mobile.planning.free_space import arc_free, distance_at

# A turn on the spot ends when this is left [rad].
TURNED = 0.05


@kernel
def step(base, p, follow, s, track, space, m, dt, o):
    """Write the next command into `o`, from the odometry `m`."""
    if is_driving(base, follow, s, track, m, dt, o):
        _pursue(base, p, s, track, space, m, dt, o)


@kernel
def _pursue(base, p, s, track, space, m, dt, o):
    q = track.parts[s.part]
    left = (q.last - q.first) * q.step - s.s
    if left < p.goal_m:
        s.phase = STOP
        halted(base, dt, o, STOPPING)
        return
    far = min(p.lookahead_max_m, max(p.lookahead_min_m, p.lookahead_s * abs(m.v)))
    aim = track.points[index_at(track, s.part, s.s + far)]
    dx, dy = aim.x - m.pose[0], aim.y - m.pose[1]
    c, sn = math.cos(m.pose[2]), math.sin(m.pose[2])
    ahead, side = c * dx + sn * dy, c * dy - sn * dx
    distance = math.hypot(dx, dy)
    # the angle at which the point is seen, in the direction of driving
    angle = math.atan2(q.direction * side, q.direction * ahead) if distance > 1e-6 else 0.0
    turning = s.phase == TURN and o.state == TURNING and abs(angle) > TURNED
    if abs(angle) > math.radians(p.turn_at_deg) or turning:
        s.phase = TURN
        limited(base, 0.0, turn_rate(base, 0.5, 0.3, angle, m.omega), dt, o)
        o.state = TURNING
        return
    s.phase = DRIVE
    curvature = 2.0 * side / max(distance * distance, 1e-6)
    speed = q.direction * _regulated(base, p, space, m.pose, curvature, left, q.direction)
    if not arc_free(space, m.pose[0], m.pose[1], m.pose[2], curvature, speed * p.look_s):
        halted(base, dt, o, BLOCKED)
        return
    limited(base, speed, speed * curvature, dt, o)
    o.state = DRIVING


@kernel
def _regulated(base, p, space, pose, curvature, left, direction):
    """The speed that curve, obstacles and the end allow."""
    speed = min(p.speed_m_s, base.forward_m_s if direction > 0.0 else base.backward_m_s)
    slow = speed
    radius = 1.0 / max(abs(curvature), 1e-6)
    if radius < p.regulated_radius_m:
        slow = speed * radius / p.regulated_radius_m
    room = distance_at(space, pose[0], pose[1]) - space.about[0].inscribed
    if room < p.near_m:
        slow = min(slow, speed * max(0.0, room) / p.near_m)
    speed = max(slow, min(speed, p.regulated_speed_m_s))
    if left < p.approach_m:
        speed = min(speed, max(p.approach_speed_m_s, speed * left / p.approach_m))
    return speed


@kernel
def step_at(base, settings, state, track, space, odometry, dt, out):
    """`step` for callers outside compiled code; `settings` are those of the pursuit and of every follower."""
    step(base[0], settings[0][0], settings[1][0], state[0], track, space, odometry[0], dt, out[0])
