"""The plant between a commanded speed and the measured force: transport, servo, arm, tool, sensor filter.

There is one model. The margins, the first touch, the guard of a start and of every live change, and `pliant check` all
use it, for the contact law and for the admittance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.control.parameters import Parameters
from pliant.task.schema import Task, arm_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Plant:
    """The plant between a commanded speed and the measured force, along one direction."""

    omega: float
    """Natural frequency of the servo's critically damped filter [rad/s]."""
    transport: int
    """Transport delay in periods, one of them interpolated."""
    joint_omega: float
    """Natural frequency with which the joints resist a push [rad/s]."""
    mass: float
    """Mass that the arm presents at the tool along this direction [kg]."""
    tool: float
    """Mass that the force sensor carries [kg]."""
    cutoff_hz: float
    """Cut-off of the wrench's low-pass."""
    dt: float
    """Period [s]."""

    @property
    def lag_s(self) -> float:
        """Filter, period, transport and servo together [s]."""
        return 1.0 / (2.0 * math.pi * self.cutoff_hz) + self.dt + self.transport * self.dt + 2.0 / self.omega

    def with_lag(self, lag_s: float) -> Plant:
        """The same plant with a slower servo, so that the total lag is `lag_s` [s], which must be longer."""
        return replace(self, omega=2.0 / (2.0 / self.omega + lag_s - self.lag_s))


def plant_of(task: Task, *, stiffness: float = 0.0) -> Plant:
    """The loop of a task along the tool's axis, free or on a surface of this `stiffness` [N/m]."""
    return plants_of(task)(stiffness)


def plants_of(task: Task, parameters: Parameters | None = None, axis: Array | None = None) -> Callable[[float], Plant]:
    """The loop of a task as a function of the surface stiffness [N/m]; a pressing tip sticks to the surface.

    It combines the robot's response, the arm at the start along `axis` (default: the tool axis), the filter and the
    rate; `parameters` replace those of the task.
    """
    arm, servo, answer, own = arm_of(task), task.sim.servo, task.response, (parameters or task.params).hold
    q = np.array(task.start_q or arm.q_home, float)
    J = arm.jacobian(q)[:3]
    axis = tool_axis(arm.pose(q)) if axis is None else axis
    by_torque = task.interface == "torque"  # then the tick itself is the servo, and the robot adds none
    hold = 2.0 * math.pi * (own.drive_hz if by_torque else servo.stiffness_hz)
    mobility = J @ np.linalg.solve(arm.mass_matrix(q), J.T)
    delay, lag = (0.0, 2.0 * own.damping_ratio / hold) if by_torque else (servo.delay_s, 2.0 / servo.omega)
    if answer.is_known:
        delay, lag = answer.delay_s, answer.servo_s
    delay += answer.force_s  # wherever in the loop it waits
    transport = max(1, round(delay / task.dt))
    free = Plant(
        omega=2.0 / max(lag + delay - transport * task.dt if transport > 1 else lag, 0.5 * task.dt),
        transport=transport,
        joint_omega=hold,
        mass=1.0,
        tool=arm.tool.mass_kg,
        cutoff_hz=(parameters or task.params).sense.cutoff_hz,
        dt=task.dt,
    )

    def pressing(stiffness: float) -> Plant:
        return replace(free, mass=1.0 / max(_mobility(mobility, axis, stiffness / hold**2), 1e-9))

    return pressing


def _mobility(L: Array, axis: Array, held: float) -> float:
    """How easily [1/kg] the tip is pushed along `axis`, when the surface holds it sideways as it holds it back.

    The inverse inertia L at the tip is not diagonal: pushed one way, it goes another too. With x_t = L_tn f + L_tt h
    and h = -k x_t, over the stiffness of the arm:  L_nn - L_nt (1/k + L_tt)⁻¹ L_tn.  `held` is k over ω² [kg].
    """
    across = np.linalg.svd(axis[None, :])[2][1:]
    n, t = float(axis @ L @ axis), across @ L @ axis
    if held <= 0.0:
        return n
    return n - float(t @ np.linalg.solve(across @ L @ across.T + np.eye(len(across)) / held, t))


def tool_axis(pose: Array) -> Array:
    """The tool's z axis in the base frame."""
    w, x, y, z = pose[3:]
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
