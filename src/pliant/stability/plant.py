"""The plant between a commanded speed and the measured force: transport, servo, arm, tool, sensor filter.

There is one model. The margins, the first touch, the guard of a start and of every live change, and `pliant check` all
use it, for the contact law and for the admittance.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from pliant.control.parameters import Parameters
from pliant.model.arm import Arm
from pliant.stability.body import ElasticArm
from pliant.task.schema import Task, arm_of
from pliant.world.realism.presets import sizes_for
from pliant.world.realism.specimen import drive_constants, has_drives, rotors_of

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
    sensor_s: float = 0.0
    """Time constant of the sensor's own low-pass [s]."""
    late: int = 0
    """Age of a reading in periods, which its time stamp does not show."""
    arm: ElasticArm | None = None
    """The arm, if its gears yield."""

    @property
    def lag_s(self) -> float:
        """Filter, period, transport and servo together, and the sensor's own lag [s]."""
        waits = (1 + self.transport + self.late) * self.dt
        return 1.0 / (2.0 * math.pi * self.cutoff_hz) + waits + 2.0 / self.omega + self.sensor_s

    def with_lag(self, lag_s: float) -> Plant:
        """The same plant with a slower servo, so that the total lag is `lag_s` [s], which must be longer."""
        return replace(self, omega=2.0 / (2.0 / self.omega + lag_s - self.lag_s))


# The task that this thread judged last, and its arm: one thread uses one `Arm`.
_latest = threading.local()


def built_arm(task: Task) -> Arm:
    """The arm of a task. Building it takes a millisecond, and every live change is judged for the same task."""
    if getattr(_latest, "task", None) is not task:
        _latest.arm, _latest.task = arm_of(task), task
    return _latest.arm


def plant_of(task: Task, *, stiffness: float = 0.0) -> Plant:
    """The loop of a task along the tool's axis, free or on a surface of this `stiffness` [N/m]."""
    return plants_of(task)(stiffness)


def plants_of(task: Task, parameters: Parameters | None = None, axis: Array | None = None) -> Callable[[float], Plant]:
    """The loop of a task as a function of the surface stiffness [N/m]; a pressing tip sticks to the surface.

    It combines the robot's response, the arm at the start along `axis` (default: the tool axis), the filter, the rate
    and what realism adds: gears, delays. `parameters` replace those of the task.
    """
    arm, servo, answer = built_arm(task), task.sim.servo, task.response
    own = (parameters or task.params).joint_loop
    q = np.array(task.start_q or arm.q_home, float)
    J = arm.jacobian(q)[:3]
    axis = tool_axis(arm.pose(q)) if axis is None else axis
    by_torque = task.interface == "torque"  # then the tick itself is the servo, and the robot adds none
    hold = 2.0 * math.pi * (own.frequency_hz if by_torque else servo.stiffness_hz)
    mobility = J @ np.linalg.solve(arm.mass_matrix(q), J.T)
    effects: Any = sizes_for(arm, task.sim.effects, task.sim.realism)
    delay, lag = (0.0, 2.0 * own.damping_ratio / hold) if by_torque else (servo.delay_s, 2.0 / servo.omega)
    delay += effects.packets.command_delay_s
    low_pass, latency = effects.sensor.bandwidth_hz, effects.sensor.latency_s
    if answer.is_known:  # what was measured contains all of it
        delay, lag, low_pass, latency = answer.delay_s, answer.servo_s, 0.0, 0.0
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
        sensor_s=1.0 / (2.0 * math.pi * low_pass) if low_pass > 0.0 else 0.0,
        late=round(latency / task.dt),
        arm=None if by_torque or not has_drives(effects) else _elastic(arm, q, axis, effects, hold),
    )

    def pressing(stiffness: float) -> Plant:
        return replace(free, mass=1.0 / max(_mobility(mobility, axis, stiffness / hold**2), 1e-9))

    return pressing


def _elastic(arm: Arm, q: Array, axis: Array, effects: Any, hold: float) -> ElasticArm:
    """Motors, gears and links for a motion along `axis` from the joint positions `q`."""
    J, armature = arm.jacobian(q), arm.mjmodel.dof_armature
    links, rotors = arm.mass_matrix(q) - np.diag(armature), rotors_of(armature, effects.gears)
    sensor, lever = arm.sensor_pose(q), np.zeros(3)
    mujoco.mju_rotVecQuat(lever, np.array(arm.tool.com_in_sensor_m), sensor[3:])
    lever += sensor[:3] - arm.pose(q)[:3]
    across = np.linalg.svd(axis[None, :])[2][1:]
    return ElasticArm(
        links,
        rotors,
        **drive_constants(np.diag(links), rotors, effects.gears, hold),
        along=np.linalg.lstsq(J, np.concatenate([axis, np.zeros(3)]), rcond=None)[0],
        tip=np.vstack([axis, across]) @ J[:3],
        load=axis @ J[:3] + np.cross(lever, axis) @ J[3:],
        dry=np.array(effects.friction.coulomb_nm),
    )


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
