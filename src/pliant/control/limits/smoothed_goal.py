"""The led goal: it follows a jump of the goal within the tool's speed and acceleration limits.

A jump of the goal stretches the spring at once, and a stiff spring then demands more than the arm can deliver. So the
jump is smoothed before the law, not in the torques after it: a limit on the law's torques would delay its feedback, and
delayed feedback oscillates. A goal whose motion is given and stays within the limits is not changed.
"""

from __future__ import annotations

import math

from pliant.control.limits.braking import braking_speed
from pliant.control.limits.cuts import TOOL_ACCELERATION, TOOL_SPEED, cut
from pliant.kernel import kernel, put
from pliant.spatial import pose_error, pose_integrate

# Share of the acceleration with which the led goal comes to rest; the rest is left for a goal that speeds up itself.
_SHARE = 0.5
# How much more than the limits a goal that is told its motion may need in a tick: its numbers are rounded.
_ROUND = 1.01
# Time in which the led goal gives way to a tool that cannot follow at all [s]: well above a robot's delay.
_YIELD = 0.1


@kernel
def _length(x, y, z):
    return math.sqrt(x * x + y * y + z * z)


@kernel
def arrives(p, k, gap, twist, first, dt):
    """Whether the led goal can meet the goal in this tick, in position and velocity, within speed and acceleration.

    For translation (`first` 0) or rotation (3).
    """
    top = _ROUND * (p.linear_speed_m_s if first == 0 else p.angular_speed_rad_s)
    most = _ROUND * dt * (p.linear_acceleration_m_s2 if first == 0 else p.angular_acceleration_rad_s2)
    v, speed, jump, change = k.led_twist, 0.0, 0.0, 0.0
    for i in range(first, first + 3):
        speed += (gap[i] / dt) ** 2
        jump += (gap[i] / dt - v[i]) ** 2
        change += (twist[i] - v[i]) ** 2
    return speed <= top * top and max(jump, change) <= most * most


@kernel
def _follow(gap, twist, v, first, top, most, dt, o):
    """The velocity `v` [m/s or rad/s], a tick further, of a goal that goes after one `gap` away with `twist`."""
    x, y, z = gap[first], gap[first + 1], gap[first + 2]
    far = max(_length(x, y, z), 1e-12)
    closing = braking_speed(far, _SHARE * most, dt) / far
    wx, wy, wz = twist[first] + closing * x, twist[first + 1] + closing * y, twist[first + 2] + closing * z
    speed = _length(wx, wy, wz)
    if speed > top:
        cut(o, TOOL_SPEED, far / dt, top)
        wx, wy, wz = wx * top / speed, wy * top / speed, wz * top / speed
    wx, wy, wz = wx - v[first], wy - v[first + 1], wz - v[first + 2]
    change = _length(wx, wy, wz)
    share = 1.0
    if change > most * dt:
        cut(o, TOOL_ACCELERATION, change / dt, most)
        share = most * dt / change
    v[first] += share * wx
    v[first + 1] += share * wy
    v[first + 2] += share * wz


@kernel
def smooth_goal(p, k, goal, twist, accel, gap, pace, dt, o):
    """Replace the goal, its velocity and its acceleration by those of the led goal, advanced by dt [s].

    The led goal is `k.led` with `k.led_twist`, which the law remembers; `gap` (6) is the distance from it to the goal.
    `pace` holds the speed and the acceleration that the joints can follow in that direction, for translation and
    rotation.
    """
    there, turned = False, False
    for first in (0, 3):
        if arrives(p, k, gap, twist, first, dt):
            there, turned = there or first == 0, turned or first == 3
            for i in range(first, first + 3):
                k.led_twist[i] = twist[i]
        else:
            top = min(pace[first], p.linear_speed_m_s if first == 0 else p.angular_speed_rad_s)
            most = min(pace[first + 1], p.linear_acceleration_m_s2 if first == 0 else p.angular_acceleration_rad_s2)
            for i in range(first, first + 3):
                accel[i] = -k.led_twist[i] / dt
            _follow(gap, twist, k.led_twist, first, top, most, dt, o)
            for i in range(first, first + 3):
                accel[i] += k.led_twist[i] / dt
    pose_integrate(k.led, k.led_twist, dt, k.led)
    if there:
        put(k.led[0:3], goal[0:3])
    if turned:
        put(k.led[3:7], goal[3:7])
    put(goal[0:7], k.led)
    put(twist, k.led_twist)


@kernel
def yield_lead(k, tool, twist, shift, turns, gap, dt):
    """Move the led goal back towards a tool that gets only the fractions `shift` and `turns` of its spring force.

    This prevents windup: a spring that was stretched beyond what the joints can deliver does not snap back.
    """
    if shift == 1.0 and turns == 1.0:
        return
    pose_error(k.led, tool, gap)
    for i in range(6):
        kept = 1.0 - (1.0 - (shift if i < 3 else turns)) * min(1.0, dt / _YIELD)
        gap[i] *= kept
        k.led_twist[i] = twist[i] + kept * (k.led_twist[i] - twist[i])
    pose_integrate(tool, gap, 1.0, k.led)
