"""Whole-body motion: base and arm move the tool together, as a quadratic program in u = (v, ω, q̇_arm).

    minimise   |W (J_red u - V)|²                 the tool:     V = V_target - k e
             + w_p |q̇_arm - k_p (q_posture - q)|² the arm keeps its posture
             + w_f |ω - k_f β|²                   the base turns to the tool, which it sees at the bearing β
             + w_u |u|²
    subject to |v ± ω track/2| ≤ wheel, speed, acceleration and joint limits

The low weights decide only what the tool leaves open: two directions of eight. The bounds always allow to stop in time,
so the program always has a solution. Building and solving are separate: `Program` holds the matrices, and DAQP, a dual
active-set method suited to few variables, solves them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import daqp
import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.mobile.base.drive_model import window
from pliant.mobile.whole_body.body_params import WholeBody
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body, reduce
from pliant.model import kinematics
from pliant.records import MAX_JOINTS, Field, Layout
from pliant.spatial import pose_error

Array = np.ndarray[Any, Any]

_M = MAX_JOINTS
WHEELS = 2
SOLVED = 1
"""DAQP's exit code for a solution."""

WEIGHTS = Layout(
    "Weights",
    (
        Field("gain", "1/s", "gain of the tool's position error"),
        Field("most_pull", "m/s", "largest correction speed"),
        Field("rotation", "m/rad", "weight of a rotation relative to a translation"),
        Field("posture", "", "weight"),
        Field("posture_rate", "1/s", ""),
        Field("facing", "", "weight"),
        Field("facing_rate", "1/s", ""),
        Field("effort_base", "", "weight"),
        Field("effort_arm", "", "weight"),
    ),
)

PROGRAM = Layout(
    "Program",
    (
        Field("J", "", "J_red", (6, _M)),
        Field("V", "m/s, rad/s", "desired velocity of the tool", (6,)),
        Field("e", "m, rad", "error of the tool: actual minus target", (6,)),
        Field("target", "m, -", "X_WT of the target, its quaternion of length one", (7,)),
        Field("H", "", "of ½ uᵀ H u + fᵀ u, row by row (m, m)", (_M * _M,)),
        Field("f", "", "", (_M,)),
        Field("low", "", "bounds of u, then of the wheels", (_M + WHEELS,)),
        Field("high", "", "", (_M + WHEELS,)),
    ),
)


@kernel
def _finite(values):
    """Whether all of them are finite: nothing times what is not finite is no number."""
    total = 0.0
    for i in range(values.shape[0]):
        total += 0.0 * values[i]
    return total == 0.0


@kernel
def aim(h, p, q, twist, c):
    """Compute the velocity c.V that brings the tool at q to the target, which moves with `twist`, and the error c.e."""
    kinematics.place(h, q)
    pose_error(h.X_tool, c.target, c.e)
    pull = p.gain * math.sqrt(c.e[0] ** 2 + c.e[1] ** 2 + c.e[2] ** 2)
    turn = p.gain * math.sqrt(c.e[3] ** 2 + c.e[4] ** 2 + c.e[5] ** 2)
    shift = p.gain * min(1.0, p.most_pull / pull if pull > 0.0 else 1.0)
    spin = p.gain * min(1.0, p.most_pull / (p.rotation * turn) if turn > 0.0 else 1.0)
    for i in range(3):
        c.V[i] = twist[i] - shift * c.e[i]
        c.V[3 + i] = twist[3 + i] - spin * c.e[3 + i]


@kernel
def _cost(h, p, q, posture, c):
    """H and f for the velocity c.V at q."""
    kinematics.place(h, q)
    kinematics.jacobian(h)
    reduce(h, q[2], c.J)
    m = h.n - 1
    for i in range(m):
        c.f[i] = 0.0
        for r in range(6):
            weight = 1.0 if r < 3 else p.rotation * p.rotation
            c.f[i] -= weight * c.J[r, i] * c.V[r]
        for k in range(i + 1):
            total = 0.0
            for r in range(6):
                weight = 1.0 if r < 3 else p.rotation * p.rotation
                total += weight * c.J[r, i] * c.J[r, k]
            c.H[i * m + k] = total
            c.H[k * m + i] = total
    # what the low weights ask for
    bearing = math.atan2(h.X_tool[1] - q[1], h.X_tool[0] - q[0]) - q[2]
    bearing = math.atan2(math.sin(bearing), math.cos(bearing))
    for i in range(m):
        weight, rate = p.posture, 0.0
        if i >= 2:
            rate = p.posture_rate * (posture[i - 2] - q[i + 1])
        else:
            weight, rate = (p.facing, p.facing_rate * bearing) if i == 1 else (0.0, 0.0)
        effort = p.effort_base if i < 2 else p.effort_arm
        c.H[i * m + i] += weight * weight + effort * effort
        c.f[i] -= weight * weight * rate


@kernel
def _stopping(room, a, dt):
    """The fastest that still comes to rest within `room` when every period takes a dt from it, to the last bit.

    v dt + (v - a dt) dt + … = room, which are n summands: v = room/(n dt) + a dt (n - 1)/2,  n = ⌈(√(1 + 8 δ) - 1)/2⌉
    """
    delta = max(room, 0.0) / (a * dt * dt)
    n = max(1.0, math.ceil(0.5 * (math.sqrt(1.0 + 8.0 * delta) - 1.0)))
    return a * dt * (delta / n + 0.5 * (n - 1.0))


@kernel
def joint_window(h, j, q, last, dt):
    """Range of the speed of joint j at q one period after it was `last`, from which it can stop in time."""
    v, a = h.v_max[j], h.a_max[j]
    high = min(v, _stopping(h.q_max[j] - q, a, dt))
    low = -min(v, _stopping(q - h.q_min[j], a, dt))
    # where the two cannot both be kept, braking as hard as is allowed is all that can be done
    high = max(min(high, last + a * dt), last - a * dt)
    low = min(max(low, last - a * dt), last + a * dt)
    return min(low, high), high


@kernel
def _bounds(h, L, q, last, dt, c):
    """What u may be, one period after it was `last`."""
    m = h.n - 1
    for i in range(2):
        c.low[i], c.high[i] = window(L, i, last[i], dt)
    for i in range(2, m):
        c.low[i], c.high[i] = joint_window(h, i + 1, q[i + 1], last[i], dt)
    for i in range(m, m + 2):
        c.low[i], c.high[i] = -L.wheel, L.wheel


@kernel
def build(handle, weights, limits, q, posture, last, dt, program):
    """Fill H, f and the bounds for the velocity in the program; every argument but q … dt is a one-element array."""
    _cost(handle[0], weights[0], q, posture, program[0])
    _bounds(handle[0], limits[0], q, last, dt, program[0])


@kernel
def aim_at(handle, weights, q, target, twist, program):
    """`aim` on one-element record arrays; returns False and changes nothing if an input is not finite or not a pose."""
    c = program[0]
    length = math.sqrt(target[3] ** 2 + target[4] ** 2 + target[5] ** 2 + target[6] ** 2)
    if not (_finite(q) and _finite(target) and _finite(twist) and abs(length - 1.0) <= 1e-3):
        return False
    for i in range(7):
        c.target[i] = target[i] if i < 3 else target[i] / length
    aim(handle[0], weights[0], q, twist, c)
    return True


@kernel
def take(program, answer, u, twist):
    """The solver's solution as u, and the resulting twist of the tool; False if it is not finite."""
    c, m = program[0], u.shape[0]
    if not _finite(answer):
        return False
    for i in range(m):  # the solver keeps bounds to a millionth; a limit is a limit
        u[i] = min(max(answer[i], c.low[i]), c.high[i])
    for r in range(6):
        twist[r] = 0.0
        for i in range(m):
            twist[r] += c.J[r, i] * u[i]
    return True


@dataclass(frozen=True)
class Motion:
    """The command to base and arm."""

    u: Array
    """(v [m/s], ω [rad/s], joint speeds [rad/s])."""
    twist: Array
    """The resulting velocity of the tool [m/s, rad/s]."""
    error: Array
    """Pose error of the tool [m, rad], actual minus target (zero for `toward`)."""
    solved: bool
    """False: the solver failed, and everything brakes."""

    @property
    def base(self) -> tuple[float, float]:
        """Forward [m/s] and turning speed [rad/s], as in /cmd_vel for a differential drive."""
        return float(self.u[0]), float(self.u[1])

    @property
    def arm(self) -> Array:
        """Joint speeds [rad/s]."""
        return self.u[2:]


class WholeBodyMotion:
    """Converts a tool target into (v, ω, q̇_arm), once per period; it remembers only its last command."""

    def __init__(self, body: Body, params: WholeBody | None = None, dt: float = 0.002) -> None:
        if not (math.isfinite(dt) and 1e-4 <= dt <= 0.1):
            raise InputError("dt", dt, "a period between 0.0001 and 0.1 s")
        self.body, self.params, self.dt = body, params or WholeBody(), dt
        self.posture = body.q_home[BASE_JOINTS:]
        self.u = np.zeros(body.m)
        """The last command; set it to the robot's present motion at a handover."""
        self.program = PROGRAM.new()
        self._weights = WEIGHTS.new()
        p = self.params
        self._weights[0] = (
            *(p.gain_1_s, p.most_pull_m_s, p.rotation_m_rad, p.posture, p.posture_1_s),
            *(p.facing, p.facing_1_s, p.effort_base, p.effort_arm),
        )
        # the rims: v + ω track/2 and v - ω track/2
        self._rims = np.zeros((WHEELS, body.m))
        self._rims[:, 0], self._rims[:, 1] = 1.0, (0.5 * body.base.track_m, -0.5 * body.base.track_m)
        m, c = body.m, self.program[0]
        self._H = c.H[: m * m].reshape(m, m)
        self._f, self._J, self._V, self._e = c.f[:m], c.J[:, :m], c.V, c.e
        self._low, self._high = c.low[: m + WHEELS], c.high[: m + WHEELS]
        self._sense = np.zeros(m + WHEELS, np.int32)
        self._shapes = [(body.n,), (7,), (6,)]

    @property
    def posture(self) -> Array:
        """Joint positions that the arm prefers [rad]."""
        return self._posture

    @posture.setter
    def posture(self, value: Any) -> None:
        self._posture = self.body.posture("posture", value)

    def track(self, q: Any, target: Any, twist: Any) -> Motion:
        """Follow a `target` (X_WT) that moves with `twist` [m/s, rad/s] in world axes, from the joints q."""
        arguments = [np.asarray(value, float) for value in (q, target, twist)]
        shapes = [value.shape for value in arguments]
        good = shapes == self._shapes and aim_at(self.body.chain.handle, self._weights, *arguments, self.program)
        return self._solve(arguments[0]) if good else self._refuse(q, target, twist)

    def toward(self, q: Any, velocity: Any) -> Motion:
        """Move the tool at this velocity [m/s, rad/s], in world axes, as a compliance law requests."""
        q, velocity = self.body.joints("q", q), _numbers("velocity", velocity, 6)
        self._V[:], self._e[:] = velocity, 0.0
        return self._solve(q)

    def halt(self, q: Any) -> Motion:
        """Stop as fast as the limits allow."""
        self._V[:], self._e[:] = 0.0, 0.0
        self._build(self.body.joints("q", q))
        return self._brake()

    def _build(self, q: Array) -> None:
        handle, limits = self.body.chain.handle, self.body.limits_record
        build(handle, self._weights, limits, q, self.posture, self.u, self.dt, self.program)

    def _brake(self) -> Motion:
        m = self.body.m
        self.u = np.clip(0.0, self._low[:m], self._high[:m])
        return Motion(self.u.copy(), self._J @ self.u, self._e.copy(), False)

    def _solve(self, q: Array) -> Motion:
        self._build(q)
        answer, _, flag, _ = daqp.solve(self._H, self._f, self._rims, self._high, self._low, self._sense)
        u, twist = np.empty(self.body.m), np.empty(6)
        if flag != SOLVED or not take(self.program, answer, u, twist):
            return self._brake()
        self.u = u
        return Motion(u.copy(), twist, self._e.copy(), True)

    def _refuse(self, q: Any, target: Any, twist: Any) -> NoReturn:
        """Say which of them cannot be used."""
        self.body.joints("q", q)
        _numbers("target", target, 7)
        _numbers("twist", twist, 6)
        raise InputError("target", target, "a pose whose quaternion (w, x, y, z) has length one")


def _numbers(field: str, value: Any, size: int) -> Array:
    array = np.array(value, float)
    if array.shape != (size,) or not np.isfinite(array).all():
        raise InputError(field, value, f"{size} finite numbers")
    return array
