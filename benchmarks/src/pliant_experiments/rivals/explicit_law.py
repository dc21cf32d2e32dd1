"""For comparison: the explicit admittance law as published for UR arms, with a switch for each of its choices.

    a = M⁻¹ (F - D v - K e),   v⁺ = v + dt a,   Δx = dt v⁺

It runs in the same simulator, receives the same wrench at the tool, and drives the arm by the same position interface.
With default switches it is a sound law that is integrated explicitly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pliant.control.laws.gains import VIRTUAL_STIFFNESS, damping_for
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.params.declare import Six
from pliant.records import COMMAND, POSITION, READING
from pliant.robots.simulated import SimRobot
from pliant.spatial import cross, pose_error, quat_rotate, quat_rotate_inv, quat_to_mat
from pliant.world.world_config import SimConfig

Array = np.ndarray[Any, Any]

# Below this smallest singular value [m/rad] the arm is stretched out: a run of the rival ends there.
_STRETCHED = 0.03


@dataclass(frozen=True)
class Choices:
    """The choices of the published law; the defaults avoid them."""

    early_return: bool = False
    """Inside the deadband, return at once: nothing is computed, and the velocity stays as it was."""
    reanchor_m_s: float = 0.0
    """Below this speed, set the velocity to zero and move the spring's anchor to the current pose; 0: never."""
    spring_sign: float = 1.0
    """1 pulls back to the goal, -1 pushes away from it."""
    damping: Literal["modal", "diagonal", "blend", "ratio"] = "modal"
    """From the modes; from the diagonal only; blended between K = 0 and K = 1; the ratio used as N s/m for K = 0."""
    explicit: bool = True
    """Explicit integration; otherwise implicit."""
    from_measured: bool = False
    """Command the measured joints plus a step; otherwise integrate the command."""
    ramp_s: float = 0.0
    """Time over which changed gains take effect; 0: at once."""
    coefficient: float = 0.2
    """Weight of the new sample in the wrench filter."""
    deadband: float = 1.0
    """Deadband on the norm of the wrench [N and N m together]; applied by early_return, or else subtracted."""
    speed_m_s: float = 0.5
    """Largest speed of the tool."""
    at_base: bool = False
    """Use moments about the base's origin; otherwise about the tool."""


def alike(value: float) -> Six:
    """The same number six times, in the form of a parameter."""
    return value, value, value, value, value, value


def damping_of(kind: str, mass: Array, stiffness: Array, ratio: float) -> Array:
    """The damping matrix [N s/m, N m s/rad] by one of the four rules."""
    if kind == "modal":
        return damping_for(mass, stiffness, np.full(len(mass), ratio))
    m, k = np.diag(mass), np.diag(stiffness)
    sprung, free = 2 * ratio * np.sqrt(m * k), 2 * ratio * np.sqrt(m * VIRTUAL_STIFFNESS)
    if kind == "blend":
        share = np.clip(k, 0.0, 1.0)
        return np.diag((1 - share) * free + share * sprung)
    return np.diag(np.where(k > 0, sprung, ratio)) if kind == "ratio" else np.diag(sprung)


class ExplicitLaw:
    """The law alone: wrench and pose in, velocity out (None: no new command)."""

    def __init__(self, mass: Array, stiffness: Array, ratio: float, dt: float, choices: Choices) -> None:
        self.M, self.ratio, self.dt, self.choices = mass, ratio, dt, choices
        self.M_inverse = np.linalg.inv(mass)
        self.v, self.felt, self.anchor = np.zeros(6), np.zeros(6), np.zeros(7)
        self.K = self._from = self._to = stiffness
        self.D, self._ramped = damping_of(choices.damping, mass, stiffness, ratio), math.inf

    def change(self, stiffness: Array) -> None:
        """Change the stiffness, over `ramp_s`."""
        self._from, self._to, self._ramped = self.K, stiffness, 0.0

    def _ramp(self) -> None:
        self._ramped += self.dt
        share = min(1.0, self._ramped / self.choices.ramp_s) if self.choices.ramp_s > 0 else 1.0
        self.K = self._from + share * (self._to - self._from)
        self.D = damping_of(self.choices.damping, self.M, self.K, self.ratio)
        self._ramped = self._ramped if share < 1.0 else math.inf

    def step(self, wrench: Array, pose: Array) -> Array | None:
        """One tick with `wrench` [N, N m] acting on the tool at `pose`."""
        c, dt = self.choices, self.dt
        if math.isfinite(self._ramped):
            self._ramp()
        self.felt = c.coefficient * wrench + (1 - c.coefficient) * self.felt
        size, F = float(np.linalg.norm(self.felt)), self.felt
        if size < c.deadband and c.early_return:
            return None
        if not c.early_return:
            F = self.felt * (max(0.0, size - c.deadband) / size if size > 0 else 0.0)
        e = np.zeros(6)
        pose_error(pose, self.anchor, e)
        K = c.spring_sign * self.K
        if c.explicit:
            v = self.v + dt * self.M_inverse @ (F - self.D @ self.v - K @ e)
        else:
            v = np.linalg.solve(self.M + dt * self.D + dt * dt * K, self.M @ self.v + dt * (F - K @ e))
        v[:3] *= min(1.0, c.speed_m_s / max(float(np.linalg.norm(v[:3])), 1e-12))
        self.v = v
        if float(np.linalg.norm(v)) < c.reanchor_m_s:
            self.v, self.anchor = np.zeros(6), pose.copy()
        return self.v


@dataclass(frozen=True)
class Trace:
    """The signals of a run: time, commanded velocity (NaN: no new command), tool pose and more, one row per tick."""

    time_s: Array
    velocity: Array
    pose: Array
    anchor: Array
    joints: Array
    """Commanded joint positions [rad]; empty without an arm."""

    def moved(self, axis: int = 0) -> Array:
        """Distance of the tool from its start [m]."""
        return self.pose[:, axis] - self.pose[0, axis]

    def joint_speeds(self) -> Array:
        """The largest commanded joint speed in each tick [rad/s]."""
        step = np.diff(self.joints, axis=0, prepend=self.joints[:1])
        return np.abs(step).max(axis=1) / (self.time_s[1] - self.time_s[0])


def run_freely(law: ExplicitLaw, force: Callable[[float], Array], seconds: float) -> Trace:
    """The law on an ideal tool: no arm, no servo, no sensor."""
    pose, rows = np.array([0, 0, 0, 1.0, 0, 0, 0]), []
    law.anchor = pose.copy()
    for i in range(round(seconds / law.dt)):
        twist = law.step(force(i * law.dt), pose)
        if twist is not None:
            pose[:3] += law.dt * twist[:3]
        moved = np.full(6, np.nan) if twist is None else twist
        rows.append((i * law.dt, moved, pose.copy(), law.anchor[:3], ()))
    return Trace(*(np.array(column) for column in zip(*rows, strict=True)))


def wrench_at_tool(arm: Arm, raw: Array, X_tool: Array, X_sensor: Array) -> Array:
    """The external wrench at the tool in the base frame, without the tool weight, as Pliant's law receives it."""
    weight, out = np.zeros(6), np.zeros(6)
    quat_rotate_inv(X_sensor[3:], arm.tool.mass_kg * arm.gravity, weight[:3])
    cross(np.array(arm.tool.com_in_sensor_m), weight[:3], weight[3:])
    quat_rotate(X_sensor[3:], (raw - weight)[:3], out[:3])
    quat_rotate(X_sensor[3:], (raw - weight)[3:], out[3:])
    out[3:] += np.cross(X_sensor[:3] - X_tool[:3], out[:3])
    return out


def matrix_of(quat: Array) -> Array:
    """The rotation matrix of a quaternion (wxyz)."""
    R = np.zeros((3, 3))
    quat_to_mat(quat, R)
    return R


# ---- from a velocity of the tool to joint positions ------------------------------------------------------------------

ToJoints = Callable[[Arm, Array, Array, float], "Array | None"]
"""(arm, joint positions, velocity of the tool, period) → joint positions to send; None ends the run."""


def exactly(arm: Arm, q: Array, twist: Array, dt: float) -> Array | None:
    """The plain inverse, as long as the arm is not stretched out."""
    J = arm.jacobian(q)
    if np.linalg.svd(J, compute_uv=False)[-1] < _STRETCHED:
        return None
    return q + dt * np.linalg.solve(J, twist)


def least_squares(J: Array, twist: Array, cut: float) -> Array:
    """Joint velocities by the pseudoinverse: singular values below `cut` are dropped, others are not damped."""
    U, sigma, Wt = np.linalg.svd(J)
    inverse = np.where(sigma > cut, 1.0 / np.maximum(sigma, cut), 0.0)
    return Wt.T @ (inverse * (U.T @ twist))


def by_least_squares(cut: float) -> ToJoints:
    """The pseudoinverse, also near singularities."""
    return lambda arm, q, twist, dt: q + dt * least_squares(arm.jacobian(q), twist, cut)


def clamped_to_stops(margin: float) -> ToJoints:
    """Each joint is slowed down separately, and its position is clamped in the last step."""

    def joints(arm: Arm, q: Array, twist: Array, dt: float) -> Array | None:
        step = np.clip(np.linalg.solve(arm.jacobian(q), twist), -arm.v_max, arm.v_max) * dt
        return np.clip(q + step, arm.q_min + margin, arm.q_max - margin)

    return joints


class ClampedToFace:
    """The virtual mass moves freely; the command is clamped in the last step, at a face across x."""

    def __init__(self, face_m: float) -> None:
        self.face_m, self.mass_m = face_m, []  # where the mass was in each tick, from the start along x

    def __call__(self, arm: Arm, q: Array, twist: Array, dt: float) -> Array | None:
        x = float(arm.pose(q)[0])
        if not self.mass_m:
            self._from, self._at = x, x
        self._at += dt * twist[0]
        self.mass_m.append(self._at - self._from)
        sent = twist.copy()
        sent[0] = (min(self._at, self._from + self.face_m) - x) / dt
        return q + dt * np.linalg.solve(arm.jacobian(q), sent)


def run_in_simulator(
    law: ExplicitLaw,
    sim: SimConfig,
    tool: Tool,
    seconds: float,
    *,
    start_q: tuple[float, ...] = (),
    changes: Mapping[int, Callable[[ExplicitLaw], None]] | None = None,
    to_joints: ToJoints = exactly,
    deaf_from_s: float = np.inf,
) -> Trace:
    """The law on a simulated UR5e; `changes` are applied at their ticks.

    From `deaf_from_s` on the force sensor fails and its reading counts as zero.
    """
    robot = SimRobot("ur5e", tool, sim, law.dt, start_q)
    arm, reading, command, rows = robot.arm, READING.new(), COMMAND.new(), []
    command[0].mode = POSITION
    q_cmd = np.array(start_q or arm.q_home)
    law.anchor = arm.pose(q_cmd)
    for i in range(round(seconds / law.dt)):
        robot.read(reading)
        seen = q = reading[0].q[: arm.n].copy()
        pose = measured = arm.pose(q)
        wrench = wrench_at_tool(arm, reading[0].wrench, pose, arm.handle[0].X_sensor.copy())
        if i * law.dt >= deaf_from_s:
            wrench[:] = 0.0
        if law.choices.at_base:
            wrench[3:] += np.cross(pose[:3], wrench[:3])
        if not law.choices.from_measured:
            seen, pose = q_cmd, arm.pose(q_cmd)
        if changes and i in changes:
            changes[i](law)
        twist = law.step(wrench, pose)
        if twist is not None:
            sent = to_joints(arm, seen, twist, law.dt)
            if sent is None:
                break
            q_cmd = sent
        command[0].q[: arm.n] = q_cmd
        robot.write(command)
        moved = np.full(6, np.nan) if twist is None else twist
        rows.append((i * law.dt, moved, measured, law.anchor[:3].copy(), q_cmd))
    return Trace(*(np.array(column) for column in zip(*rows, strict=True)))
