"""An arm as the controller sees it: MuJoCo model without shapes, limits, tool, and the handle for kernels."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError, ModelError, RejectedError, said
from pliant.model import kinematics
from pliant.model.catalogue import design
from pliant.model.design import FLANGE, Design
from pliant.model.handle import HANDLE
from pliant.model.links import fill_links
from pliant.model.reach import apply_model_errors, reach_of
from pliant.model.tool import SENSOR, TOOL, Tool, attach

Floats = NDArray[np.float64]

UNLIMITED = 1e4
"""Limit [rad, m] of a joint without limits: finite, so that it can be used in computations and stored."""

# A goal so many times farther away than the arm reaches is in another unit.
_FAR_OUTSIDE = 10.0


@dataclass(frozen=True, eq=False)
class Arm:
    """A compiled arm with its tool. One thread uses one Arm: the handle points into its own MuJoCo data.

    Joint arrays have n entries: rad, rad/s, rad/s^2, N m (m, m/s, m/s^2, N for a prismatic joint).
    """

    name: str
    """Name of the robot description."""
    n: int
    """Number of joints."""
    joint_names: tuple[str, ...]
    """Names of the joints, from the base to the tool."""
    q_min: Floats
    """Lower ends of the joint ranges."""
    q_max: Floats
    """Upper ends of the joint ranges."""
    v_max: Floats
    """Largest joint speeds."""
    a_max: Floats
    """Largest joint accelerations."""
    tau_max: Floats
    """Largest joint torques."""
    q_home: Floats
    """Home pose."""
    gravity: Floats
    """Acceleration of gravity in the base frame [m/s^2]."""
    tool: Tool
    """The tool at the flange."""
    payload_kg: float
    """Largest mass of the tool that the maker allows [kg]; infinite if the robot description does not give it."""
    assumed: tuple[str, ...]
    """What was assumed and chosen where the robot description is incomplete, one sentence each."""
    flange: str
    """Name of the site or link that carries the tool."""
    mjmodel: mujoco.MjModel
    """The MuJoCo model that was compiled."""
    mjdata: mujoco.MjData
    """MuJoCo data of this Arm: the workspace of its methods."""
    handle: NDArray[np.void]
    """One `HANDLE` record, valid as long as this Arm exists."""

    @classmethod
    def load(
        cls,
        name_or_path: str | Path,
        tool: Tool | None = None,
        *,
        gravity: Sequence[float] | None = None,
        mount_rpy_deg: Sequence[float] | None = None,
        flange: str | None = None,
        mass_scale: float = 1.0,
        length_scale: float = 1.0,
        friction_scale: float = 1.0,
        acceleration: tuple[float, float] = (0.0, 0.0),
    ) -> Arm:
        """Load a built-in arm ("ur5e", "two_link", …) or the arm in an MJCF or URDF file.

        `gravity` [m/s^2] is given in the base frame. Alternatively, `mount_rpy_deg` gives the rotation of the base from
        upright (about the fixed axes x, y, z in this order). Without either, the gravity of the description is used.
        `flange` names the site or body of a file that carries the tool. The three scales introduce a deliberate model
        error: they multiply the masses, lengths and joint friction of the arm. `acceleration` sets the limit of all
        revolute [rad/s^2] and prismatic [m/s^2] joints; 0 keeps that of the description.
        """
        plan = design(name_or_path, flange=flange)
        scales = mass_scale, length_scale, friction_scale
        return cls.of(
            plan, tool, gravity=gravity, mount_rpy_deg=mount_rpy_deg, scales=scales, acceleration=acceleration
        )

    @classmethod
    def of(
        cls,
        plan: Design,
        tool: Tool | None = None,
        *,
        gravity: Sequence[float] | None = None,
        mount_rpy_deg: Sequence[float] | None = None,
        scales: tuple[float, float, float] = (1.0, 1.0, 1.0),
        acceleration: tuple[float, float] = (0.0, 0.0),
    ) -> Arm:
        """The arm of a design. The tool is mounted on the design, which cannot be used again. See also `load`."""
        tool = Tool() if tool is None else tool
        if not isinstance(tool, Tool):
            raise InputError("tool", tool, "a pliant.Tool", "Example: pliant.Tool(mass_kg=1).")
        attach(plan.spec, tool, visual=False)
        wrong = scales != (1.0, 1.0, 1.0)
        # every site and every rigid body less is time saved in every tick; but a wrong arm may carry a right tool
        plan.spec.delete(plan.spec.site(FLANGE))
        plan.spec.compiler.fusestatic = not wrong
        try:
            model = plan.spec.compile()
        except ValueError as error:
            raise ModelError(f"The arm {plan.name!r} cannot be built: {str(error).splitlines()[0]}.") from None
        model.opt.gravity[:] = _gravity(model, gravity, mount_rpy_deg)
        if wrong:
            apply_model_errors(model, mujoco.MjData(model), *scales, model.body(TOOL).id)
        return cls.from_model(plan, tool, model, acceleration)

    @classmethod
    def from_model(
        cls, plan: Design, tool: Tool, model: mujoco.MjModel, acceleration: tuple[float, float] = (0.0, 0.0)
    ) -> Arm:
        """The arm of an already compiled model, tool included; `plan` adds what a MuJoCo model cannot hold."""
        limited = model.jnt_limited.astype(bool)
        declared = np.where(model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE, acceleration[1], acceleration[0])
        note = (plan.acceleration_note,) if plan.acceleration_note and not declared.all() else ()
        arm = cls(
            name=plan.name,
            n=model.nv,
            joint_names=tuple(model.joint(j).name for j in range(model.njnt)),
            q_min=np.where(limited, model.jnt_range[:, 0], -UNLIMITED),
            q_max=np.where(limited, model.jnt_range[:, 1], UNLIMITED),
            v_max=np.array(plan.v_max),
            a_max=np.where(declared > 0.0, declared, plan.a_max),
            tau_max=model.jnt_actfrcrange[:, 1].copy(),
            q_home=np.zeros(model.nv),
            gravity=model.opt.gravity.copy(),
            tool=tool,
            payload_kg=plan.payload_kg,
            assumed=(*plan.assumed, *note),
            flange=plan.flange,
            mjmodel=model,
            mjdata=mujoco.MjData(model),
            handle=HANDLE.new(),
        )
        arm.q_home[:] = _search_home(arm) if plan.q_home is None else plan.q_home
        _fill(arm)
        for array in (arm.q_min, arm.q_max, arm.v_max, arm.a_max, arm.tau_max, arm.q_home, arm.gravity):
            array.setflags(write=False)
        return arm

    def pose(self, q: ArrayLike) -> Floats:
        """X_BT: pose of the tool in the base, [x, y, z, qw, qx, qy, qz], at joint positions q."""
        kinematics.forward_at(self.handle, self._joints("q", q))
        return self.handle["X_tool"][0].copy()

    def sensor_pose(self, q: ArrayLike) -> Floats:
        """X_BS: pose of the force sensor in the base, [x, y, z, qw, qx, qy, qz], at joint positions q."""
        kinematics.forward_at(self.handle, self._joints("q", q))
        return self.handle["X_sensor"][0].copy()

    def tool_weight(self, q: ArrayLike) -> Floats:
        """The wrench [N, N m] that the tool's weight puts on the sensor at joint positions q, in the sensor frame."""
        inverse, force = np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(inverse, self.sensor_pose(q)[3:])
        mujoco.mju_rotVecQuat(force, self.tool.mass_kg * self.gravity, inverse)
        return np.concatenate([force, np.cross(self.tool.com_in_sensor_m, force)])

    def jacobian(self, q: ArrayLike) -> Floats:
        """The (6, n) Jacobian of the tool point, rows [linear; angular] in the base frame."""
        kinematics.jacobian_at(self.handle, self._joints("q", q))
        return self.handle["J"][0, :, : self.n].copy()

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """The (n, n) joint mass matrix [kg m^2], rotor inertia included."""
        kinematics.dynamics_at(self.handle, self._joints("q", q), np.zeros(self.n))
        return self.handle["M"][0, : self.n, : self.n].copy()

    def bias(self, q: ArrayLike, qd: ArrayLike) -> Floats:
        """Coriolis, centrifugal and gravity torques [N m]; friction is not part of it."""
        kinematics.dynamics_at(self.handle, self._joints("q", q), self._joints("qd", qd))
        return self.handle["bias"][0, : self.n].copy()

    def jdot_qd(self, q: ArrayLike, qd: ArrayLike) -> Floats:
        """The tool's acceleration [m/s^2, rad/s^2] in the base frame at zero joint acceleration."""
        kinematics.dynamics_at(self.handle, self._joints("q", q), self._joints("qd", qd))
        return self.handle["Jdot_qd"][0].copy()

    @property
    def notes(self) -> tuple[str, ...]:
        """`assumed` as whole sentences, to be printed."""
        return tuple(f"{sentence[0].upper()}{sentence[1:]}." for sentence in self.assumed)

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each joint: rad, or m for a prismatic joint."""
        return tuple("m" if slides else "rad" for slides in self.handle[0].slides[: self.n])

    def within(self, field: str, values: ArrayLike) -> Floats:
        """`values` as joint positions within the ranges of the joints, or an error that names `field`."""
        return check_joints(field, values, self.name, self.joint_names, self.q_min, self.q_max, self.units)

    def check_distance(
        self, field: str, metres: ArrayLike, times: float = _FAR_OUTSIDE, where: str = "from the base"
    ) -> None:
        """Raise `RejectedError` for a goal [m] farther than so many times the reach: by default, its unit is wrong."""
        far, reach = float(np.linalg.norm(metres)), float(self.handle[0].reach_max)
        if far > times * reach:
            raise RejectedError(
                f"{field} = {said(np.asarray(metres))} m is {far:.4g} m {where}, but the {self.name} reaches "
                f"{reach:.3g} m. Positions are in metres.",
                field=field,
                value=metres,
            )

    def check_payload(self) -> None:
        """Raise `RejectedError` if the tool is heavier than the payload of the arm."""
        mass = self.tool.mass_kg
        if mass > self.payload_kg:
            raise RejectedError(
                f"tool.mass_kg = {said(mass, 'kg')} exceeds the payload of the {self.name}, {self.payload_kg:g} kg. "
                "Correct the mass, or use a larger arm.",
                field="tool.mass_kg",
                value=mass,
            )

    def _joints(self, field: str, values: ArrayLike) -> Floats:
        try:
            array = np.ascontiguousarray(values, float)
        except (TypeError, ValueError):
            array = np.zeros((0, 0))
        if array.shape != (self.n,) or not np.isfinite(array).all():
            raise InputError(field, values, f"{self.n} finite numbers, one per joint of {self.name}")
        return array


def check_joints(
    field: str, values: ArrayLike, arm: str, names: Sequence[str], low: Floats, high: Floats, units: Sequence[str]
) -> Floats:
    """`values` as joint positions within their ranges; raises an `InputError` that names the joint at fault."""
    try:
        q = np.array(values, float)
    except (TypeError, ValueError):
        raise InputError(field, values, f"{len(names)} numbers, one per joint of {arm}") from None
    if q.shape != low.shape:
        raise RejectedError(
            f"{field} has {q.size} values, but {arm} has {len(names)} joints.", field=field, value=values
        )
    for i, name in enumerate(names):
        if not low[i] <= q[i] <= high[i]:
            allowed = f"{low[i]:.4g} to {high[i]:.4g} {units[i]}"
            hint = " Angles are in rad." if units[i] == "rad" else ""
            raise RejectedError(
                f"{field}[{i}] is {said(q[i], units[i])}, but {name} allows {allowed}.{hint}", field=field, value=values
            )
    return q


def _gravity(model: mujoco.MjModel, gravity: Sequence[float] | None, rpy_deg: Sequence[float] | None) -> Floats:
    if gravity is not None and rpy_deg is not None:
        raise InputError("gravity", gravity, "omitted when mount_rpy_deg is given")
    for field, value in (("gravity", gravity), ("mount_rpy_deg", rpy_deg)):
        if value is not None and (np.shape(value) != (3,) or not np.isfinite(value).all()):
            raise InputError(field, value, "3 finite numbers")
    if gravity is not None:
        return np.array(gravity, float)
    if rpy_deg is None:
        return model.opt.gravity.copy()
    quat, inverse, result = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_euler2Quat(quat, np.radians(rpy_deg), "XYZ")
    mujoco.mju_negQuat(inverse, quat)
    mujoco.mju_rotVecQuat(result, model.opt.gravity, inverse)
    return result


def _search_home(arm: Arm) -> Floats:
    """The best conditioned of 200 poses around the middle of the joint ranges (the same ones every time)."""
    low, high = np.maximum(arm.q_min, -math.pi), np.minimum(arm.q_max, math.pi)
    middle, reach = (low + high) / 2, np.minimum(0.4 * (high - low), 1.0)
    random, J = np.random.default_rng(0), np.zeros((6, arm.n))
    best, best_q = -1.0, middle
    for q in middle + reach * random.uniform(-1, 1, (200, arm.n)):
        arm.mjdata.qpos[:] = q
        mujoco.mj_kinematics(arm.mjmodel, arm.mjdata)
        mujoco.mj_comPos(arm.mjmodel, arm.mjdata)
        mujoco.mj_jacSite(arm.mjmodel, arm.mjdata, J[:3], J[3:], arm.mjmodel.site(TOOL).id)
        smallest = float(np.linalg.svd(J, compute_uv=False).min())
        if smallest > best:
            best, best_q = smallest, q
    return best_q


def _fill(arm: Arm) -> None:
    """Write addresses, limits and tool into the handle."""
    h, model, data, n = arm.handle[0], arm.mjmodel, arm.mjdata, arm.n
    h.model, h.data, h.n = model._address, data._address, n
    for field in ("qpos", "qvel", "qacc"):
        h[field] = getattr(data, field).ctypes.data
    sites = model.site(TOOL).id, model.site(SENSOR).id
    h.tool_body = model.site(TOOL).bodyid[0]
    for field in ("q_min", "q_max", "v_max", "a_max", "tau_max"):
        h[field][:n] = getattr(arm, field)
    h.slides[:n] = model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
    h.damping[:n], h.friction[:n] = model.dof_damping, model.dof_frictionloss
    h.gravity[:] = arm.gravity
    h.reach_center[:], h.reach_min, h.reach_max = reach_of(model, data, sites[0])
    fill_links(h, model, data, sites, arm.name)
    h.tool_mass, h.tool_com[:] = arm.tool.mass_kg, arm.tool.com_in_sensor_m
