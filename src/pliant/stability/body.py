"""Servo, arm and surface as one linear system, from the commanded position to depth and force along one direction.

    s''  = ω² (u - s) - 2 ω s'                                    what the servo makes of the command u
    rigid joints      x'' = s'' + 2 ω_s (s' - x') + ω_s² (s - x) - f/m
    elastic gears     J θ'' = (M + J) b s'' + k_d (b s' - θ') + k_p (b s - θ) - τ       τ = K (θ - q) + D (θ' - q')
                      M q'' = τ - J_tᵀ (k J_t q + d J_t q'),      b: the joints for a unit along the direction
    reading           f_m = f + m_t a_t,  through the sensor's own low-pass

M is the mass matrix of the links, J the rotors, θ the motors, q the links, k and d stiffness and damping of the
surface. A pressing tip sticks to the surface, so it is held sideways as well. Friction of the joints is left out: it
only takes energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import expm

if TYPE_CHECKING:
    from pliant.stability.plant import Plant

Array = np.ndarray[Any, Any]

SUBSTEPS = 4


@dataclass(frozen=True, eq=False)
class ElasticArm:
    """Motors, gears and links of an arm in one pose; arrays of one number per joint where nothing else is said."""

    links: Array
    """Mass matrix of the links [kg m²]."""
    rotors: Array
    stiffness: Array
    damping: Array
    k_p: Array
    """Stiffness of the servo of each motor [N m/rad]."""
    k_d: Array
    along: Array
    """Joint speeds for a tool that moves along the direction at 1 m/s."""
    tip: Array
    """Jacobian of the tip: along the direction, and along two across it (3 × n)."""
    load: Array
    """Jacobian of the tool's centre of mass, along the direction."""
    dry: Array
    """Dry friction of each motor [N m]."""

    @property
    def dead_band_m(self) -> float:
        """How far the tip may stop from where the servos want it, along the direction: friction holds the motors."""
        return float(np.linalg.norm(self.tip[0] * self.dry / self.k_p))


@dataclass(frozen=True, eq=False)
class Body:
    """The linear system, discrete: one substep z⁺ = Φ z + Γ u, and one period with an interpolated command."""

    step: Array
    """Φ of a substep."""
    push: Array
    """Γ of a substep."""
    over: Array
    """Φ of a period."""
    before: Array
    """Weight of the last command in a period."""
    now: Array
    """Weight of this command."""
    depth: Array
    """Row: depth of the tip."""
    speed: Array
    """Row: its speed."""
    seen: Array
    """Row: depth as the robot measures it, at its motors."""
    felt: Array
    """Row: force as the sensor measures it."""
    feed: float
    """Weight of the command in that force."""
    moving: Array
    """State at 1 m/s, with the tip at the surface."""
    resting: Array
    """State at rest with the tip at 1 m."""


@lru_cache(maxsize=128)
def body_of(plant: Plant, stiffness: float, damping: float) -> Body:
    """The system on a surface of this stiffness [N/m] and damping [N s/m]; both 0: free."""
    A, B, rows, moving, resting = (_rigid if plant.arm is None else _elastic)(plant, stiffness, damping)
    depth, speed, seen, lifted = rows
    felt = stiffness * depth + damping * speed + plant.tool * (lifted @ A)
    feed = float(plant.tool * (lifted @ B))
    if plant.sensor_s > 0.0:  # a state more: what the sensor shows
        size = len(A)
        A = np.block([[A, np.zeros((size, 1))], [felt[None, :] / plant.sensor_s, -np.ones((1, 1)) / plant.sensor_s]])
        B = np.append(B, feed / plant.sensor_s)
        depth, speed, seen = (np.append(row, 0.0) for row in (depth, speed, seen))
        moving, resting = np.append(moving, 0.0), np.append(resting, 0.0)
        felt, feed = np.eye(size + 1)[size], 0.0
    step, push = _discrete(A, B, plant.dt / SUBSTEPS)
    over, before, now = np.eye(len(A)), np.zeros(len(A)), np.zeros(len(A))
    for j in range(SUBSTEPS):
        share = j / SUBSTEPS
        over, before, now = step @ over, step @ before + (1.0 - share) * push, step @ now + share * push
    return Body(step, push, over, before, now, depth, speed, seen, felt, feed, moving, resting)


def apparent_stiffness(plant: Plant, stiffness: float) -> float:
    """The force [N] of a surface of this stiffness [N/m] per metre of depth at the motors: gears yield too."""
    body = body_of(plant, stiffness, 0.0)
    rest = np.linalg.solve(np.eye(len(body.over)) - body.over, body.before + body.now)
    return float((body.felt @ rest + body.feed) / (body.seen @ rest))


def _discrete(A: Array, B: Array, h: float) -> tuple[Array, Array]:
    """Φ and Γ over `h` seconds with a constant command."""
    size = len(A)
    whole = np.zeros((size + 1, size + 1))
    whole[:size, :size], whole[:size, size] = A * h, B * h
    found = expm(whole)
    return found[:size, :size], found[:size, size]


Rows = tuple[Array, Array, Array, Array]


def _rigid(plant: Plant, stiffness: float, damping: float) -> tuple[Array, Array, Rows, Array, Array]:
    """z = (s, s', x, x'), the command's weight, the rows of depth, speed, measured depth and speed of the load."""
    s, s_d, x, v = np.eye(4)
    acc = -(plant.omega**2) * s - 2.0 * plant.omega * s_d
    hold = 2.0 * plant.joint_omega * (s_d - v) + plant.joint_omega**2 * (s - x)
    A = np.array([s_d, acc, v, acc + hold - (stiffness * x + damping * v) / plant.mass])
    B = plant.omega**2 * np.array([0.0, 1.0, 0.0, 1.0])
    return A, B, (x, v, x, v), s_d + v, s + x


def _elastic(plant: Plant, stiffness: float, damping: float) -> tuple[Array, Array, Rows, Array, Array]:
    """z = (s, s', θ, θ', q, q')."""
    arm = plant.arm
    assert arm is not None
    n = len(arm.rotors)
    unit = np.eye(2 + 4 * n)
    s, s_d = unit[0], unit[1]
    motor, turn, q, qd = (unit[2 + i * n : 2 + (i + 1) * n] for i in range(4))
    acc = -(plant.omega**2) * s - 2.0 * plant.omega * s_d
    gear = arm.stiffness[:, None] * (motor - q) + arm.damping[:, None] * (turn - qd)
    ahead = arm.links @ arm.along + arm.rotors * arm.along
    servo = arm.k_d[:, None] * (np.outer(arm.along, s_d) - turn) + arm.k_p[:, None] * (np.outer(arm.along, s) - motor)
    motors = (np.outer(ahead, acc) + servo - gear) / arm.rotors[:, None]
    pressed = arm.tip.T @ (stiffness * (arm.tip @ q) + damping * (arm.tip @ qd))
    links = np.linalg.solve(arm.links, gear - pressed)
    A = np.vstack([s_d, acc, turn, motors, qd, links])
    B = np.zeros(len(A))
    B[1] = plant.omega**2
    B[2 + n : 2 + 2 * n] = plant.omega**2 * ahead / arm.rotors
    rows = (arm.tip[0] @ q, arm.tip[0] @ qd, arm.tip[0] @ motor, arm.load @ qd)
    moving, resting = s_d + arm.along @ (turn + qd), s + arm.along @ (motor + q)
    return A, B, rows, moving, resting
