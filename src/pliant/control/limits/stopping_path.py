"""Keep the stopping path within the joint limits, the workspace and the tool speed limit.

Before a command is sent, braking from it is predicted: all joints lose the same fraction of their speed in every tick,
as much as their accelerations allow. If a joint would pass its limit on that path, or the tool leave the workspace or
become too fast, the command is moved towards braking. So a stopping path within all limits exists for every command
that was sent, and a stop or a fault takes that path.

The path is straight in joint space. The tool's path is expanded at the present pose, with a bound on the remainder:

    x(t) = x + V t + A t²/2 + r(t)       |r| ≤ ρ t³       V = J q̇,  A = J̇ q̇  at constant q̇
    v(t) = V + A t + r'(t)               |r'| ≤ 3 ρ t²
"""

from __future__ import annotations

import math

from pliant.control.limits.braking import rest_span_of, ticks_to_rest
from pliant.control.limits.cuts import POSITION, TOOL_SPEED, WORKSPACE, cut
from pliant.kernel import kernel
from pliant.records import MAX_JOINTS, Field, Layout

SCRATCH = Layout("Inside", (Field("v", "rad/s", "trial joint velocities", (MAX_JOINTS,)),))

_NOTHING = -1
# Rounding [rad, m; relative for speeds].
DUST = 1e-12
_HALVINGS = 12


@kernel
def keep_inside(p, h, s, qd, linear, angular, dt, o, w):
    """Move `qd` [rad/s] towards braking as far as needed, by one factor; tool speed limits are in m/s and rad/s."""
    met, asked, allowed = _meets(p, h, s, qd, linear, angular, dt)
    if met == _NOTHING:
        return
    ticks = ticks_to_rest(p, h, s.qd_cmd, dt)
    brake = 1.0 - 1.0 / ticks if ticks > 1.0 else 0.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        _blend(h, s, qd, brake, middle, w.v)
        if _meets(p, h, s, w.v, linear, angular, dt)[0] == _NOTHING:
            low = middle
        else:
            high = middle
    cut(o, met, asked, allowed)
    _blend(h, s, qd, brake, low, qd)


@kernel
def _blend(h, s, qd, brake, share, out):
    """Velocities `share` of the way from braking (`brake` of the last velocity) to `qd`."""
    for i in range(h.n):
        out[i] = (1.0 - share) * brake * s.qd_cmd[i] + share * qd[i]


@kernel
def tool_speeds(h, qd):
    """Linear and angular speed of the tool [m/s, rad/s]."""
    linear, angular = 0.0, 0.0
    for i in range(3):
        along, about = 0.0, 0.0
        for k in range(h.n):
            along += h.J[i, k] * qd[k]
            about += h.J[3 + i, k] * qd[k]
        linear += along * along
        angular += about * about
    return math.sqrt(linear), math.sqrt(angular)


@kernel
def _meets(p, h, s, v, linear, angular, dt):
    """The limit that stands in the way of this command, the speed towards it, and the one that it leaves room for."""
    t = rest_span_of(p, h, v, dt)
    for i in range(h.n):
        # who stands beyond a stop already (or beyond a face, below) may not go further
        room = h.q_max[i] - s.q_cmd[i] if v[i] > 0.0 else s.q_cmd[i] - h.q_min[i]
        room = max(0.0, room - p.position_margin + DUST)
        if abs(v[i]) * t > room:
            return POSITION, abs(v[i]), room / t
    fast, turning = _sums(h, v)
    if _far(p, h, s, v, fast, turning, linear, angular, t):
        return _NOTHING, 0.0, 0.0
    return _meets_tool(p, h, s, v, turning, linear, angular, t)


@kernel
def _far(p, h, s, v, fast, turning, top_linear, top_angular, t):
    """Whether the tool is so far from every face and from its top speed that there is nothing to work out."""
    turned = turning * t
    if turned > 1.0:
        return False
    # Σ|q̇_k||J_k| grows on the way by no more than exp(angle turned) < 1 + a + a²; |A| ≤ 2 Σ|ω| Σ|J q̇|
    grown = fast * (1.0 + turned * (1.0 + turned))
    linear, angular = tool_speeds(h, v)
    return (
        grown * t < _nearest(p, s)
        and linear + 2.0 * turned * grown < top_linear
        and angular + turned * turning < top_angular
    )


@kernel
def _sums(h, v):
    """Bounds on the tool's speed and turning speed [m/s, rad/s]: every joint as if it moved it the same way."""
    fast, turning = 0.0, 0.0
    for k in range(h.n):
        fast += abs(v[k]) * (abs(h.J[0, k]) + abs(h.J[1, k]) + abs(h.J[2, k]))
        turning += abs(v[k]) * (abs(h.J[3, k]) + abs(h.J[4, k]) + abs(h.J[5, k]))
    return fast, turning


@kernel
def _nearest(p, s):
    """Distance to the nearest face of the box [m]; negative outside."""
    room = math.inf
    for k in range(3):
        room = min(room, p.workspace_max_m[k] - s.pose[k], s.pose[k] - p.workspace_min_m[k])
    return room


@kernel
def _meets_tool(p, h, s, v, turning, linear, angular, t):
    """Like `_meets`, for the box and the speed of the tool, worked out."""
    V, A, W, B = _expand(h, v)
    third, turn_third = _third(h, v)
    rho = third * math.exp(turning * t) / 6.0
    for k in range(3):
        for side in (1.0, -1.0):
            face = p.workspace_max_m[k] if side > 0.0 else p.workspace_min_m[k]
            room = max(0.0, side * (face - s.pose[k]) + DUST)
            way = _farthest(side * V[k], side * A[k], rho, t)
            if way > room:
                return WORKSPACE, way / t, room / t
    for top, U, C, r in ((linear, V, A, rho), (angular, W, B, turn_third / 6.0)):
        speed = _fastest(U, C, r, t)
        if speed > top * (1.0 + DUST):
            return TOOL_SPEED, speed, top
    return _NOTHING, 0.0, 0.0


@kernel
def _expand(h, qd):
    """Velocity V, acceleration A, turning velocity W and its change B of the tool at constant joint velocities."""
    vx = vy = vz = ax = ay = az = wx = wy = wz = bx = by = bz = 0.0
    for k in range(h.n):
        v = qd[k]
        jx, jy, jz = v * h.J[0, k], v * h.J[1, k], v * h.J[2, k]
        zx, zy, zz = v * h.J[3, k], v * h.J[4, k], v * h.J[5, k]
        # B = Σ_k ω_before_k × z_k q̇_k,  A = Σ_k (2 ω_before_k + z_k q̇_k) × J_k q̇_k
        bx += wy * zz - wz * zy
        by += wz * zx - wx * zz
        bz += wx * zy - wy * zx
        ux, uy, uz = 2.0 * wx + zx, 2.0 * wy + zy, 2.0 * wz + zz
        ax += uy * jz - uz * jy
        ay += uz * jx - ux * jz
        az += ux * jy - uy * jx
        vx, vy, vz = vx + jx, vy + jy, vz + jz
        wx, wy, wz = wx + zx, wy + zy, wz + zz
    return (vx, vy, vz), (ax, ay, az), (wx, wy, wz), (bx, by, bz)


@kernel
def _third(h, qd):
    """Bounds on the third derivative of the tool's position, Σ |q̇_i q̇_j q̇_k| |J_max(i,j,k)|, and of its turning."""
    total, turns, turn = 0.0, 0.0, 0.0
    for k in range(h.n):
        v = abs(qd[k])
        arm = math.sqrt(h.J[0, k] ** 2 + h.J[1, k] ** 2 + h.J[2, k] ** 2)
        spin = v * math.sqrt(h.J[3, k] ** 2 + h.J[4, k] ** 2 + h.J[5, k] ** 2)
        total += arm * v * (3.0 * turn * (turn + spin) + spin * spin)
        turns += 2.0 * spin * turn * turn  # z'' = ω' × z + ω × (ω × z)
        turn += spin
    return total, turns


@kernel
def _farthest(V, A, rho, t):
    """The largest of V τ + A τ²/2 + ρ τ³ for τ from 0 to t."""
    end = t * (V + t * (0.5 * A + t * rho))
    if V > 0.0 and A < 0.0 and 12.0 * rho * V < A * A:
        top = 2.0 * V / (math.sqrt(A * A - 12.0 * rho * V) - A)
        if top < t:
            end = max(end, top * (V + top * (0.5 * A + top * rho)))
    return end


@kernel
def _fastest(V, A, rho, t):
    """A bound on the speed [m/s or rad/s] on the way to rest.

    After the part y of the way no more than √(1 - y) ≤ 1 - y/2 of the joints' speed is left, while the tool's speed at
    unbraked joints has grown from v to v + β y at most: the largest of (1 - y/2)(v + β y), and v itself for β ≤ v/2.
    """
    v = math.sqrt(V[0] ** 2 + V[1] ** 2 + V[2] ** 2)
    a = math.sqrt(A[0] ** 2 + A[1] ** 2 + A[2] ** 2)
    grows = a * t
    if v > 0.0:
        # |V + A τ| ≤ v + (V·A/v) τ + a² τ²/(2 v)
        grows = min(grows, t * max(0.0, (V[0] * A[0] + V[1] * A[1] + V[2] * A[2]) / v) + 0.5 * grows * grows / v)
    beta = grows + 3.0 * rho * t * t
    return v if beta <= 0.5 * v else (2.0 * beta + v) ** 2 / (8.0 * beta)
