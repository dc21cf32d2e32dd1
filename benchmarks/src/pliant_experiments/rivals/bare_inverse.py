"""The explicit impedance law with a bare inverse, in closed form for the two-link arm, in the simulator.

This is the textbook form, without damping near singularities, reach or limits, written from the arm's equations of
motion. Its drives deliver any torque. It serves as a comparison and as an independent check of Pliant's law.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pliant.model.tool import Tool
from pliant.model.two_link import DAMPING as FRICTION
from pliant.model.two_link import GRAVITY, LENGTH
from pliant.model.two_link import MASS as MASSES
from pliant.records import COMMAND, READING, TORQUE
from pliant.robots.simulated import SimRobot
from pliant.world.world_config import SimConfig
from pliant_experiments.scenes.two_link_lab import DAMPING, DT, MASS, STIFFNESS, X0, Goal, lab_task

Array = np.ndarray[Any, Any]
L1, L2 = LENGTH
# Joint speed [rad/s] from which an arm has run away.
RUNAWAY = 100.0


def tool_at(q: Array) -> Array:
    """x and y of the tool [m]."""
    return np.array([L1 * np.cos(q[0]) + L2 * np.cos(q.sum()), L1 * np.sin(q[0]) + L2 * np.sin(q.sum())])


def jacobian(q: Array) -> Array:
    """∂(x, y)/∂q."""
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array([[-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12]])


def jacobian_rate(q: Array, qd: Array) -> Array:
    """J̇: every entry differentiated."""
    s1, c1, s12, c12, w = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum()), qd.sum()
    return np.array(
        [[-L1 * c1 * qd[0] - L2 * c12 * w, -L2 * c12 * w], [-L1 * s1 * qd[0] - L2 * s12 * w, -L2 * s12 * w]]
    )


def short_jacobian_rate(q: Array, qd: Array) -> Array:
    """J̇ with each column differentiated by its own joint only: a common mistake that loses the mixed terms."""
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array(
        [
            [-(L1 * c1 + L2 * c12) * qd[0], -L2 * c12 * qd[1]],
            [-(L1 * s1 + L2 * s12) * qd[0], -L2 * s12 * qd[1]],
        ]
    )


def mass_matrix(q: Array) -> Array:
    """Joint mass matrix [kg m²] from the Lagrangian."""
    m1, m2 = MASSES
    c2 = np.cos(q[1])
    m12 = m2 * (L1 * L2 * c2 + L2**2)
    return np.array([[m1 * L1**2 + m2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), m12], [m12, m2 * L2**2]])


def other_torques(q: Array, qd: Array) -> Array:
    """Coriolis, centrifugal, gravity and friction torques [N m]."""
    m1, m2 = MASSES
    h = m2 * L1 * L2 * np.sin(q[1])
    coriolis = np.array([-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2])
    g1, g12 = GRAVITY * np.cos(q[0]), GRAVITY * np.cos(q.sum())
    return coriolis + np.array([(m1 + m2) * L1 * g1 + m2 * L2 * g12, m2 * L2 * g12]) + FRICTION * qd


@dataclass(frozen=True)
class BareLaw:
    """M, B and K, the same in x and y, and what the law leaves out."""

    mass: float = MASS
    damping: float = DAMPING
    stiffness: float = STIFFNESS
    rate: Literal["right", "short", "none"] = "right"
    cancel_force: bool = True

    def torque(self, q: Array, qd: Array, goal: tuple[Array, Array, Array], f: Array) -> Array:
        """τ = M(q) J⁻¹ (ẍ - J̇ q̇) + C q̇ + g + friction - Jᵀ f."""
        J = jacobian(q)
        a = goal[2] + (f - self.damping * (J @ qd - goal[1]) - self.stiffness * (tool_at(q) - goal[0])) / self.mass
        if self.rate != "none":
            a = a - (jacobian_rate if self.rate == "right" else short_jacobian_rate)(q, qd) @ qd
        tau = mass_matrix(q) @ np.linalg.solve(J, a) + other_torques(q, qd)
        return tau - J.T @ f if self.cancel_force else tau


@dataclass(frozen=True)
class Trace:
    """The signals of a run, one row per tick."""

    time_s: Array
    q: Array
    qd: Array
    tau: Array
    ran_away_s: float
    """Time at which a joint exceeded the allowed speed and the run ended (NaN: never)."""

    @property
    def place(self) -> Array:
        """x and y of the tool [m]."""
        return np.array([tool_at(q) for q in self.q])


def still(x: float, y: float) -> Goal:
    """A fixed equilibrium."""
    return lambda t: (np.array([x, y]), np.zeros(2), np.zeros(2))


def run_bare(
    law: BareLaw,
    seconds: float,
    goal: Goal | None = None,
    sim: SimConfig | None = None,
    tau_max: Any = 1e12,
    runaway: float = RUNAWAY,
) -> Trace:
    """The law on the simulated arm at 1 kHz, with the sensor's force and ideal drives.

    With `tau_max` [N m], torques are clamped in the last step. The run ends at `runaway` [rad/s].
    """
    robot = SimRobot("two_link", Tool(), sim or lab_task(seconds).sim, DT, (), "torque")
    robot.world.record[0].tau_max[:] = 1e12
    reading, command, rows, ran_away = READING.new(), COMMAND.new(), [], np.nan
    command[0].mode = TORQUE
    goal = goal or still(X0[0], X0[1])
    for i in range(round(seconds / DT)):
        robot.read(reading)
        q, qd = reading[0].q[:2].copy(), reading[0].qd[:2].copy()
        angle = q.sum()  # the sensor's axes turn with the last link
        R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        try:
            tau = law.torque(q, qd, goal(i * DT), R @ reading[0].wrench[:2])
        except np.linalg.LinAlgError:
            tau = np.full(2, np.inf)
        if not (np.abs(qd).max() < runaway and np.isfinite(tau).all()):
            ran_away = i * DT
            break
        tau = np.clip(tau, -np.array(tau_max), tau_max)
        command[0].tau[:2] = tau
        rows.append((i * DT, q, qd, tau))
        robot.write(command)
    times, q, qd, tau = (np.array(column) for column in zip(*rows, strict=True))
    return Trace(times, q, qd, tau, ran_away)
