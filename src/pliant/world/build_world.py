"""Building the simulation: MuJoCo model of arm and tool, force sensor, and the record that the kernels step."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from pliant.errors import InputError
from pliant.model.arm import Arm
from pliant.model.catalogue import design
from pliant.model.tool import SENSOR, TOOL, Tool, attach
from pliant.records import (
    MODES,
    POSITION,
    WRENCH_FROZEN,
    WRENCH_MISSING,
    WRENCH_NAN,
    WRENCH_RANGE,
    WRENCH_SATURATED,
    WRENCH_STALE,
)
from pliant.world.realism.presets import sizes_for
from pliant.world.realism.specimen import Specimen
from pliant.world.surface_kind import Surface, check_kernel, connect
from pliant.world.world_config import SimConfig
from pliant.world.world_layout import DELAY_SLOTS, WORLD

_FAILURES = {
    "missing": WRENCH_MISSING,
    "saturated": WRENCH_SATURATED,
    "nan": WRENCH_NAN,
    "range": WRENCH_RANGE,
    "stale": WRENCH_STALE,
    "frozen": WRENCH_FROZEN,
}


def quaternion(rpy_deg: tuple[float, float, float]) -> np.ndarray[Any, Any]:
    """Roll, pitch, yaw about the fixed axes x, y, z as a quaternion (wxyz)."""
    quat = np.zeros(4)
    mujoco.mju_euler2Quat(quat, np.radians(rpy_deg), "XYZ")
    return quat


def build_model(name: str, tool: Tool, step_s: float, gravity: Any) -> mujoco.MjModel:
    """The physics of the arm: joints, inertias and a force sensor, without shapes and MuJoCo contacts."""
    spec = design(name).spec
    attach(spec, tool, visual=False)
    for kind, label in ((mujoco.mjtSensor.mjSENS_FORCE, "force"), (mujoco.mjtSensor.mjSENS_TORQUE, "torque")):
        spec.add_sensor(name=label, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=SENSOR)
    model = spec.compile()
    model.opt.timestep = step_s
    model.opt.gravity[:] = gravity
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    # a simulation that has blown up must be seen: by itself MuJoCo would go on from its zero pose
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    return model


class World:
    """One simulation; `record` is what the compiled functions work on."""

    def __init__(
        self, arm: Arm, source: str, tool: Tool, config: SimConfig, dt: float, start_q: Any, interface: str
    ) -> None:
        substeps = max(1, math.ceil(dt / config.substep_s - 1e-9))
        self._begin(build_model(source, tool, dt / substeps, arm.gravity), arm, tool, config, dt, start_q, interface)

    def _begin(
        self, model: mujoco.MjModel, arm: Arm, tool: Tool, config: SimConfig, dt: float, start_q: Any, interface: str
    ) -> None:
        self._interface, self.model, self.data = interface, model, mujoco.MjData(model)
        # in a larger model the arm's joints come after those of what carries it
        first = model.joint(arm.joint_names[0])
        n = arm.n
        self._at, self._dof = slice(first.qposadr[0], first.qposadr[0] + n), slice(first.dofadr[0], first.dofadr[0] + n)
        self.record = WORLD.new()
        w = self.record[0]
        w.h, w.substeps, w.n = model.opt.timestep, round(dt / model.opt.timestep), n
        self._bind(w)
        self._start_q, self._seed = start_q, config.seed
        effects = sizes_for(arm, config.effects, config.realism)
        self._configure(w, arm, tool, config, effects.packets.command_delay_s or 0.0)
        self._specimen = Specimen(self.model, arm, self._dof, effects, own_tool=config.tool is not None)
        self._begin_run(w)

    @property
    def differs(self) -> bool:
        """Whether the first joint reading depends on the seed."""
        return bool(self.record[0].drive.on or self.record[0].encoder.on)

    def _begin_run(self, w: Any) -> None:
        self._specimen.begin(w, self.data, self._seed)
        self._place(w, self._start_q)

    def restart(self, seed: int, fresh: Any) -> None:
        """Begin again with another seed, as a new world would; `fresh` is its record before the first tick."""
        w = self.record[0]
        mujoco.mj_resetData(self.model, self.data)
        self.record.view(np.uint8)[:] = fresh.view(np.uint8)
        w.rng, self._seed = seed, seed
        self._begin_run(w)

    def _bind(self, w: Any) -> None:
        """Addresses of MuJoCo's memory; valid as long as this object lives."""
        m, d = self.model, self.data
        w.model, w.data = m._address, d._address
        w.qpos, w.sensordata = d.qpos[self._at].ctypes.data, d.sensordata.ctypes.data
        w.axis_q, w.axis_qd = w.qpos, d.qvel[self._dof].ctypes.data
        w.armature = m.dof_armature[self._dof].ctypes.data
        w.sensor_xmat = d.site_xmat[m.site(SENSOR).id].ctypes.data
        for field in ("qvel", "qfrc_applied", "qfrc_bias", "qfrc_passive"):
            w[field] = getattr(d, field)[self._dof].ctypes.data
        site, body = m.site(TOOL).id, m.body(TOOL).id
        w.tool_xpos = d.site_xpos[site].ctypes.data
        w.tool_xipos = d.xipos[body].ctypes.data
        w.tool_xfrc = d.xfrc_applied[body].ctypes.data
        w.tool_site, w.site_type = site, int(mujoco.mjtObj.mjOBJ_SITE)

    def _configure(self, w: Any, arm: Arm, tool: Tool, config: SimConfig, more_delay_s: float) -> None:
        servo, sensor = config.servo, config.sensor
        w.omega, w.omega_stiff = servo.omega, 2 * math.pi * servo.stiffness_hz
        w.delay = round((servo.delay_s + more_delay_s) / w.h)
        if w.delay >= DELAY_SLOTS:
            most = (DELAY_SLOTS - 1) * w.h
            raise InputError("sim.servo.delay_s", servo.delay_s, f"at most {most:g} s with physics steps of {w.h:g} s")
        w.tau_max[: arm.n] = arm.tau_max
        w.tip_radius = tool.tip_radius_m
        w.noise[:3], w.noise[3:] = sensor.noise_n, sensor.noise_nm
        w.step[:3], w.step[3:] = sensor.step_n, sensor.step_nm
        w.range[:3], w.range[3:] = sensor.range_n, sensor.range_nm
        w.bias[:], w.dropout, w.rng = sensor.bias, sensor.dropout, config.seed
        w.n_surfaces, w.n_pushes = len(config.surfaces), len(config.pushes)
        for slot, surface in zip(w.surface, config.surfaces, strict=False):
            fill_surface(slot, surface)
        w.n_failures = len(sensor.failures)
        for slot, failure in zip(w.failure, sensor.failures, strict=False):
            slot.kind = _FAILURES[failure.kind]
            slot.start, slot.end = failure.at_s, failure.at_s + failure.for_s
        for slot, push in zip(w.push, config.pushes, strict=False):
            slot.start, slot.end, slot.ramp = push.at_s, push.at_s + push.for_s, push.ramp_s
            slot.wrench[:] = push.wrench

    def _place(self, w: Any, q: Any) -> None:
        """At rest at the joint positions `q`, carried by the drives, with a first sensor reading."""
        self.data.qpos[self._at] = q
        self._specimen.place(w, self.data)
        mujoco.mj_forward(self.model, self.data)
        n = int(w.n)
        if w.drive.on:
            q = w.drive.motor[:n].copy()
        w.target[:n], w.ref[:n] = q, q
        w.last_mode = MODES[self._interface]
        if w.last_mode == POSITION:
            w.last[:n] = q
        w.tau[:n] = self.data.qfrc_bias[self._dof]
        self.data.qfrc_applied[self._dof] = self.data.qfrc_bias[self._dof]
        mujoco.mj_forward(self.model, self.data)
        self._specimen.zero_sensor(w, self.data)
        w.last_wrench[:] = -self.data.sensordata[:6]


def fill_surface(slot: Any, surface: Surface) -> None:
    """Write a declared surface into its record; a kind from outside the package is tried first."""
    if surface.file or surface.kind not in Surface.kinds.builtin:
        check_kernel(surface)
    connect(slot, surface)
    slot.pose[:3], slot.pose[3:] = surface.position_m, quaternion(surface.rpy_deg)
    slot.stiffness, slot.damping, slot.friction = surface.stiffness_n_m, surface.damping_n_s_m, surface.friction
    slot.change[:] = surface.change_m
    if surface.stiffness_end_n_m > 0.0:
        slot.stiffness_change = surface.stiffness_end_n_m - surface.stiffness_n_m
    slot.swing, slot.swing_hz, slot.swing_at = surface.swing_m, surface.swing_hz, surface.swing_at_s
