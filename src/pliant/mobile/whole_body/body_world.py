"""Building the simulated mobile manipulator: a planar base, or one on wheels, with an arm on it."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from pliant.errors import InputError
from pliant.mobile.whole_body.body_config import BodySimConfig
from pliant.mobile.whole_body.body_period import CARRIER, MOST_DOFS
from pliant.mobile.whole_body.mobile_arm import Chassis, caster_at, mobile_design, mount
from pliant.model.arm import Arm
from pliant.model.tool import SENSOR, Tool, attach
from pliant.world.build_world import World
from pliant.world.display_scene import dressed
from pliant.world.world_config import SimConfig

FLOOR, WHEELS, CASTERS = "floor", ("left_wheel", "right_wheel"), ("front_caster", "rear_caster")
WHEEL_KG, CASTER_KG = 2.5, 1.5
# Share of the weight on the driven wheels. The springs of the casters ensure it: with four rigid supports it would be
# arbitrary.
ON_WHEELS = 0.6
CASTER_N_M, CASTER_N_S_M = 1e6, 2e3
# The floor: stiff enough that a base of 80 kg sinks in by a tenth of a millimetre.
SOLREF = (0.004, 1.0)
SOLIMP = (0.95, 0.99, 0.0005, 0.5, 2.0)


def planar_spec(base: Chassis, arm: str, *, visual: bool = False) -> mujoco.MjSpec:
    """A base on two slide joints and a hinge: it cannot tip, lift or roll."""
    return mobile_design(base, arm, visual=visual).spec


def body_scene_model(base: Chassis, arm: str, tool: Tool, config: SimConfig) -> mujoco.MjModel:
    """A model for drawing only; its joints are x, y and heading of the base, then those of the arm."""
    return dressed(planar_spec(base, arm, visual=True), tool, config)


def wheeled_spec(base: Chassis, arm: str, friction: float, *, visual: bool = False) -> mujoco.MjSpec:
    """A base on two driven wheels and two casters, supported by contact alone.

    The wheels are flat ellipsoids, which touch the floor in one point; a cylinder touches along a line, and its grip
    depends on where MuJoCo puts the points. Casters have no friction at all (condim 1 with priority, or the floor's
    friction would apply). The elliptic cone and a high impratio prevent sideways creep of the wheels.
    """
    spec = mujoco.MjSpec()
    spec.modelname = f"wheeled_{arm}"
    spec.compiler.degree = False
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    contact = {"solref": SOLREF, "solimp": SOLIMP}
    spec.worldbody.add_geom(
        name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=(50, 50, 0.1), friction=(friction, 0.0, 0.0), **contact
    )
    body = mount(spec, base, arm, base.mass_kg - 2 * (WHEEL_KG + CASTER_KG), visual=visual)
    body.add_freejoint(name="floating")
    for name, side in zip(WHEELS, (1, -1), strict=True):
        _wheel(body, name, base, side * 0.5 * base.track_m, {"friction": (friction, 0.0, 0.0), **contact})
    for name, side in zip(CASTERS, (1, -1), strict=True):
        _caster(body, name, base, side * caster_at(base), contact)
    return spec


def _wheel(body: mujoco.MjsBody, name: str, base: Chassis, y: float, contact: dict[str, Any]) -> None:
    r = base.wheel_radius_m
    across, about = WHEEL_KG * r * r / 4, WHEEL_KG * r * r / 2
    wheel = body.add_body(
        name=name, pos=(0, y, r), mass=WHEEL_KG, inertia=(across, about, across), explicitinertial=True
    )
    wheel.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 1, 0))
    wheel.add_geom(type=mujoco.mjtGeom.mjGEOM_ELLIPSOID, size=(r, 0.015, r), condim=3, mass=0, **contact)


def _caster(body: mujoco.MjsBody, name: str, base: Chassis, x: float, contact: dict[str, Any]) -> None:
    """A ball without friction on a stiff spring, which `body_model` loads once the weight is known."""
    r = 0.5 * base.wheel_radius_m
    inertia = (0.4 * CASTER_KG * r * r,) * 3
    caster = body.add_body(name=name, pos=(x, 0, r), mass=CASTER_KG, inertia=inertia, explicitinertial=True)
    caster.add_joint(
        name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=(0, 0, -1), stiffness=CASTER_N_M, damping=CASTER_N_S_M
    )
    caster.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(r, 0, 0), condim=1, priority=1, mass=0, **contact)


def body_model(base: Chassis, arm: str, tool: Tool, config: BodySimConfig, step_s: float) -> mujoco.MjModel:
    """The physics of base, arm and tool, with the force sensor."""
    wheels = config.wheels
    spec = wheeled_spec(base, arm, config.drive.friction) if wheels else planar_spec(base, arm)
    attach(spec, tool, visual=False)
    for kind, label in ((mujoco.mjtSensor.mjSENS_FORCE, "force"), (mujoco.mjtSensor.mjSENS_TORQUE, "torque")):
        spec.add_sensor(name=label, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=SENSOR)
    model = spec.compile()
    model.opt.timestep = step_s
    if wheels:
        for name in CASTERS:
            load = 0.5 * (1.0 - ON_WHEELS) * 9.81 * float(model.body_mass.sum())
            model.qpos_spring[model.joint(name).qposadr[0]] = load / CASTER_N_M
    else:
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    return model


class BodyWorld(World):
    """One simulated mobile manipulator; `record` holds the arm's part, `carrier` the base's."""

    def __init__(self, arm: Arm, base: Chassis, tool: Tool, config: BodySimConfig, dt: float, q: Any) -> None:
        substeps = max(1, math.ceil(dt / config.substep_s - 1e-9))
        model = body_model(base, arm.name, tool, config, dt / substeps)
        if model.nv > MOST_DOFS:
            raise InputError(
                "arm", arm.name, f"an arm with at most {MOST_DOFS - 8} joints, to be mounted on a mobile base"
            )
        self._base, self._wheeled, self._stand = base, config.wheels, q[:3]
        self._begin(model, arm, tool, config, dt, q[3:], "position")
        self.carrier = CARRIER.new()
        self._drives(self.carrier[0], config)

    def _place(self, w: Any, q: Any) -> None:
        x, y, heading = self._stand
        if self._wheeled:
            self.data.qpos[:7] = x, y, 0.0, math.cos(0.5 * heading), 0.0, 0.0, math.sin(0.5 * heading)
        else:
            self.data.qpos[:3] = x, y, heading
        super()._place(w, q)

    def _drives(self, b: Any, config: BodySimConfig) -> None:
        """What the drives of the base can do, given the grip of a floor under wheels that carry their share."""
        m, d, base, drive = self.model, self.data, self._base, config.drive
        b.wheeled, b.nv, b.arm = config.wheels, m.nv, self._dof.start
        for field in ("qpos", "qvel", "qfrc_applied"):
            b[field] = getattr(d, field).ctypes.data
        b.half_track, b.radius, b.lag = 0.5 * base.track_m, base.wheel_radius_m, drive.lag_s
        omega = 2.0 * math.pi * drive.stiffness_hz
        b.k_p, b.k_i = 2.0 * omega, omega * omega
        mass, r = float(m.body_mass.sum()), base.wheel_radius_m
        if config.wheels:
            for i, name in enumerate(WHEELS):
                b.wheel_at[i], b.wheel_dof[i] = m.joint(name).qposadr[0], m.joint(name).dofadr[0]
            b.inertia[:2], b.most[:2] = 0.5 * mass * r * r, drive.torque_nm
            return
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        grip = ON_WHEELS * drive.friction * mass * 9.81
        pull = min(grip, 2.0 * drive.torque_nm / r)
        b.inertia[:] = mass, mass, M[2, 2]
        b.most[:] = pull, grip, pull * b.half_track
