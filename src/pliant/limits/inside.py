"""Inside the joint stops and the workspace box, whatever comes next: the way to rest must lie inside.

Before a command is given, the arm is thought to brake from it: all joints lose the same share of their speed in every
tick, as much as their accelerations allow. If on that way a joint would pass its stop, or the tool a face of the box,
or if the tool is too fast, the command is moved towards braking now. So from every command that was given there is a
way to rest inside, and it is the way that a stop or a fault takes.

The way is straight in the joints. The tool's way is expanded at the present pose, with a bound on what is left out:

    x(t) = x + V t + A t²/2 + r(t)       |r| ≤ ρ t³       V = J q̇,  A = J̇ q̇  at constant q̇
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.limits.braking import rest_span
from pliant.limits.report import POSITION, TOOL_SPEED, WORKSPACE, cut

_NOTHING = -1
# Rounding [rad, m; relative for speeds].
DUST = 1e-12
_HALVINGS = 12


@kernel
def keep_inside(p, h, s, qd, dt, o):
    """Move `qd` [rad/s] towards braking as far as it takes, all joints alike."""
    ticks = 0.0
    for i in range(h.n):
        ticks = max(ticks, abs(s.qd_cmd[i]) / (p.acceleration_scale * h.a_max[i] * dt))
    brake = 1.0 - 1.0 / ticks if ticks > 1.0 else 0.0
    met, asked, allowed = _meets(p, h, s, qd, brake, 1.0, dt)
    if met == _NOTHING:
        return
    cut(o, met, asked, allowed)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _meets(p, h, s, qd, brake, middle, dt)[0] == _NOTHING:
            low = middle
        else:
            high = middle
    for i in range(h.n):
        qd[i] = _blend(s, qd, brake, low, i)


@kernel
def _blend(s, qd, brake, share, i):
    """Velocity of joint `i`, `share` of the way from braking (`brake` of the last velocity) to `qd`."""
    return (1.0 - share) * brake * s.qd_cmd[i] + share * qd[i]


@kernel
def tool_speeds(h, s, qd, brake, share):
    """Linear and angular speed of the tool [m/s, rad/s]."""
    linear, angular = 0.0, 0.0
    for i in range(3):
        along, about = 0.0, 0.0
        for k in range(h.n):
            v = _blend(s, qd, brake, share, k)
            along += h.J[i, k] * v
            about += h.J[3 + i, k] * v
        linear += along * along
        angular += about * about
    return math.sqrt(linear), math.sqrt(angular)


@kernel
def _meets(p, h, s, qd, brake, share, dt):
    """The limit that stands in the way of this command, the speed towards it, and the one that it leaves room for."""
    ticks = 0.0
    for i in range(h.n):
        ticks = max(ticks, abs(_blend(s, qd, brake, share, i)) / (p.acceleration_scale * h.a_max[i] * dt))
    t = rest_span(ticks, dt)
    for i in range(h.n):
        v = _blend(s, qd, brake, share, i)
        # who stands beyond a stop already (or beyond a face, below) may not go further
        room = h.q_max[i] - s.q_cmd[i] if v > 0.0 else s.q_cmd[i] - h.q_min[i]
        room = max(0.0, room - p.position_margin + DUST)
        if abs(v) * t > room:
            return POSITION, abs(v), room / t
    way, room = _way_out(p, h, s, qd, brake, share, t)
    if way > room:
        return WORKSPACE, way / t, room / t
    linear, angular = tool_speeds(h, s, qd, brake, share)
    if linear > p.linear_speed_m_s or angular > p.angular_speed_rad_s:
        # too fast, but not if braking leaves it as fast
        least_linear, least_angular = tool_speeds(h, s, qd, brake, 0.0)
        if linear > max(p.linear_speed_m_s, least_linear) * (1.0 + DUST):
            return TOOL_SPEED, linear, max(p.linear_speed_m_s, least_linear)
        if angular > max(p.angular_speed_rad_s, least_angular) * (1.0 + DUST):
            return TOOL_SPEED, angular, max(p.angular_speed_rad_s, least_angular)
    return _NOTHING, 0.0, 0.0


@kernel
def _way_out(p, h, s, qd, brake, share, t):
    """How far [m] the tool goes towards a face of the box within `t` [s], and the room there; of one that it passes."""
    # no |J_k| grows on the way by more than exp(angle turned): far from every face there is nothing to work out
    way, turn = 0.0, 0.0
    for k in range(h.n):
        v = t * abs(_blend(s, qd, brake, share, k))
        way += v * (abs(h.J[0, k]) + abs(h.J[1, k]) + abs(h.J[2, k]))
        turn += v * (abs(h.J[3, k]) + abs(h.J[4, k]) + abs(h.J[5, k]))
    room = math.inf
    for k in range(3):
        room = min(room, p.workspace_max_m[k] - s.pose[k], s.pose[k] - p.workspace_min_m[k])
    if turn < 1.0 and 3.0 * way < room:
        return 0.0, room
    V, A = _expand(h, s, qd, brake, share)
    rho = _third(h, s, qd, brake, share) * math.exp(turn) / 6.0
    for k in range(3):
        for side in (1.0, -1.0):
            face = p.workspace_max_m[k] if side > 0.0 else p.workspace_min_m[k]
            room = max(0.0, side * (face - s.pose[k]) + DUST)
            way = _farthest(side * V[k], side * A[k], rho, t)
            if way > room:
                return way, room
    return 0.0, 0.0


@kernel
def _expand(h, s, qd, brake, share):
    """Velocity V and acceleration A of the tool at constant joint velocities."""
    vx = vy = vz = ax = ay = az = wx = wy = wz = 0.0
    for k in range(h.n):
        v = _blend(s, qd, brake, share, k)
        jx, jy, jz = v * h.J[0, k], v * h.J[1, k], v * h.J[2, k]
        zx, zy, zz = v * h.J[3, k], v * h.J[4, k], v * h.J[5, k]
        # A = Σ_k (2 ω_before_k + z_k q̇_k) × J_k q̇_k
        ux, uy, uz = 2.0 * wx + zx, 2.0 * wy + zy, 2.0 * wz + zz
        ax += uy * jz - uz * jy
        ay += uz * jx - ux * jz
        az += ux * jy - uy * jx
        vx, vy, vz = vx + jx, vy + jy, vz + jz
        wx, wy, wz = wx + zx, wy + zy, wz + zz
    return (vx, vy, vz), (ax, ay, az)


@kernel
def _third(h, s, qd, brake, share):
    """Bound on the third derivative of the tool's position: Σ |q̇_i q̇_j q̇_k| |J_max(i,j,k)|."""
    total, turn = 0.0, 0.0
    for k in range(h.n):
        v = abs(_blend(s, qd, brake, share, k))
        arm = math.sqrt(h.J[0, k] ** 2 + h.J[1, k] ** 2 + h.J[2, k] ** 2)
        spin = v * math.sqrt(h.J[3, k] ** 2 + h.J[4, k] ** 2 + h.J[5, k] ** 2)
        total += arm * v * (3.0 * turn * (turn + spin) + spin * spin)
        turn += spin
    return total


@kernel
def _farthest(V, A, rho, t):
    """The largest of V τ + A τ²/2 + ρ τ³ for τ from 0 to t."""
    end = t * (V + t * (0.5 * A + t * rho))
    if V > 0.0 and A < 0.0 and 12.0 * rho * V < A * A:
        top = 2.0 * V / (math.sqrt(A * A - 12.0 * rho * V) - A)
        if top < t:
            end = max(end, top * (V + top * (0.5 * A + top * rho)))
    return end
