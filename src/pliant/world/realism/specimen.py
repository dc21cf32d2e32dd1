"""One specimen of an arm with its sensor: the constants that differ from robot to robot, drawn from the seed.

The true geometry, tool and zero of the sensor are drawn when a simulation begins; they stay as long as it runs.
"""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from pliant.errors import InputError
from pliant.model.arm import Arm
from pliant.model.tool import SENSOR, TOOL
from pliant.world.realism.effect_layout import LATENCY_SLOTS
from pliant.world.realism.effects_config import Effects
from pliant.world.realism.sensor_errors import LEVER_M

Array = np.ndarray[Any, Any]

# A gear that is declared stiff: natural frequency of motor and link on it [rad/s], and its damping ratio.
STIFF_GEAR = 2.0 * math.pi * 100.0
STIFF_RATIO = 0.5
# Share of the stiffness that yields, where a gear has a hysteresis.
YIELDING = 0.2
# What thermal offset and drift do on x and y, where z is 1.
ACROSS = 0.3
_FORCES = np.array([1.0, 1.0, 1.0, LEVER_M, LEVER_M, LEVER_M])
_WORST_Z = _FORCES * np.array([ACROSS, ACROSS, 1.0, ACROSS, ACROSS, 1.0])
_NOMINAL = ("body_pos", "body_quat", "body_ipos", "body_mass", "body_inertia")


def drive_constants(link: Array, rotor: Array, gears: Any, servo: float) -> dict[str, Array]:
    """Gear stiffness and damping, and the gains k_p and k_d of each motor's servo with the frequency `servo` [rad/s].

    `link` is the inertia that each gear carries, `rotor` that of the motor [kg m²]. A gear of stiffness 0 is stiff.
    """
    declared = np.array(gears.stiffness_nm_rad)
    stiff = declared == 0.0
    stiffness = np.where(stiff, (link + rotor) * STIFF_GEAR**2, declared)
    damping = 2.0 * np.where(stiff, STIFF_RATIO, gears.damping_ratio) * np.sqrt(stiffness * link)
    inertia = link + rotor
    return {"stiffness": stiffness, "damping": damping, "k_p": inertia * servo**2, "k_d": 2.0 * inertia * servo}


def rotors_of(armature: Array, gears: Any) -> Array:
    """Inertia of each rotor [kg m²]: the declared one, or else that of the arm's description (`armature`)."""
    rotor = np.array(gears.rotor_kg_m2)
    return np.where(rotor > 0.0, rotor, np.maximum(armature, 1e-3))


def resonance_hz(arm: Arm, q: Array, effects: Effects) -> float:
    """Lowest natural frequency [Hz] of an arm with these effects at the joint positions `q`; 0 if it is rigid."""
    gears: Any = effects.gears
    if not all(gears.stiffness_nm_rad):
        return 0.0
    links = arm.mass_matrix(q) - np.diag(arm.mjmodel.dof_armature)
    # M q'' = -K q
    return float(np.sqrt(np.linalg.eigvals(np.linalg.solve(links, np.diag(gears.stiffness_nm_rad))).real.min())) / (
        2.0 * math.pi
    )


def has_drives(effects: Any) -> bool:
    """Whether motors and gears are simulated by themselves."""
    f, g = effects.friction, effects.gears
    sizes = (*f.coulomb_nm, *f.viscous_nm_s_rad, *g.stiffness_nm_rad, g.hysteresis_rad, g.ripple_rad)
    return any(size for size in sizes)


class Specimen:
    """Draws the constants of one robot, and writes them with the sizes of all effects into model and record."""

    def __init__(self, model: mujoco.MjModel, arm: Arm, dofs: slice, effects: Effects, *, own_tool: bool) -> None:
        self._model, self._arm, self._dofs = model, arm, dofs
        self._own_tool = own_tool
        self._effects: Any = effects  # every size is filled in, none is None
        self._nominal = {name: getattr(model, name).copy() for name in _NOMINAL}
        self._armature = model.dof_armature[dofs].copy()
        self._first = int(model.joint(arm.joint_names[0]).bodyid[0])

    def begin(self, w: Any, data: mujoco.MjData, seed: int) -> None:
        """Draw everything anew, and write it into `w`."""
        # a generator per group: one that is switched off does not change the others
        geometry, encoders, felt, drives = (np.random.default_rng((seed, group)) for group in range(4))
        self._geometry(data, geometry)
        self._encoders(w, encoders)
        self._packets(w)
        self._felt(w, felt)
        tool = self._model.body(TOOL).id
        w.felt.weight[:] = (self._model.body_mass[tool] - self._nominal["body_mass"][tool]) * self._arm.gravity
        if has_drives(self._effects):
            self._drives(w, drives)

    # -- geometry --

    def _geometry(self, data: mujoco.MjData, random: np.random.Generator) -> None:
        """Lengths, axes and zeros of the arm; mass and centre of the tool, unless the task gives the true tool."""
        m, g = self._model, self._effects.geometry
        for name, value in self._nominal.items():
            getattr(m, name)[:] = value
        if not (g.length_m or g.angle_rad or g.tool_mass_share or g.tool_com_m):
            return
        turned = np.zeros(4)
        for name in self._arm.joint_names:
            body = int(m.joint(name).bodyid[0])
            length, angle = random.normal(size=3) * g.length_m, random.normal(size=3) * g.angle_rad
            if body != self._first:  # where the base stands is no error of the arm
                m.body_pos[body] += length
            small = np.concatenate([[1.0], 0.5 * angle])
            mujoco.mju_mulQuat(turned, m.body_quat[body].copy(), small / np.linalg.norm(small))
            m.body_quat[body] = turned
        share, off = g.tool_mass_share * random.uniform(-1, 1), g.tool_com_m * random.uniform(-1, 1, 3)
        tool = m.body(TOOL).id
        if not self._own_tool and m.body_mass[tool] > 0.0:
            m.body_mass[tool] *= 1.0 + share
            m.body_inertia[tool] *= 1.0 + share
            m.body_ipos[tool] += off
        mujoco.mj_setConst(m, data)

    # -- motors and gears --

    def _drives(self, w: Any, random: np.random.Generator) -> None:
        d, n, f, g = w.drive, self._arm.n, self._effects.friction, self._effects.gears
        d.on = 1
        d.rotor[:n] = rotors_of(self._armature, g)
        d.yielding = YIELDING if g.hysteresis_rad else 0.0
        d.ripple, d.per_turn = g.ripple_rad, g.ripple_per_turn
        d.phase[:n] = random.uniform(0.0, 2.0 * math.pi, n)
        d.coulomb[:n], d.viscous[:n] = f.coulomb_nm, f.viscous_nm_s_rad
        d.static_ratio, d.stribeck, d.torque_share = f.static_ratio, f.stribeck_rad_s, f.torque_share
        w.axis_q, w.axis_qd = d["motor"].ctypes.data, d["speed"].ctypes.data

    def place(self, w: Any, data: mujoco.MjData) -> None:
        """Give every drive gains and damping for the link that it carries, and load its gear; the arm is at rest."""
        m, d, n = self._model, w.drive, self._arm.n
        if not d.on:
            return
        m.dof_armature[self._dofs] = 0.0
        mujoco.mj_forward(m, data)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, data, M)
        link = np.diag(M)[self._dofs]
        rotor, h = d.rotor[:n], float(w.h)
        for name, values in drive_constants(link, rotor, self._effects.gears, float(w.omega_stiff)).items():
            d[name][:n] = values
        d.implicit[:n] = 0.25 * h * d.stiffness[:n] + 0.5 * d.damping[:n]
        # of a motor that turns, as in gear_motor.brace
        m.dof_armature[self._dofs] = h * d.implicit[:n] * rotor / (rotor + h * d.implicit[:n])
        d.yield_nm[:n] = 0.5 * (1.0 - d.yielding) * d.stiffness[:n] * (self._effects.gears.hysteresis_rad or 0.0)
        d.wind[:n] = self._load(data) / ((1.0 - d.yielding) * d.stiffness[:n])
        d.motor[:n] = data.qpos[self._joints(data)] + d.wind[:n]
        for _ in range(4):  # the transmission error at the angle that it leads to
            error = d.ripple * np.sin(d.per_turn * d.motor[:n] + d.phase[:n])
            d.motor[:n] = data.qpos[self._joints(data)] + d.wind[:n] - error

    def _load(self, data: mujoco.MjData) -> Array:
        """Torques that carry the arm."""
        return data.qfrc_bias[self._dofs] - data.qfrc_passive[self._dofs]

    def _joints(self, data: mujoco.MjData) -> slice:
        first = int(self._model.joint(self._arm.joint_names[0]).qposadr[0])
        return slice(first, first + self._arm.n)

    # -- readings --

    def _encoders(self, w: Any, random: np.random.Generator) -> None:
        e, sizes, n, dt = w.encoder, self._effects.encoders, self._arm.n, float(w.h) * int(w.substeps)
        e.noise, e.step, e.speed_noise = sizes.noise_rad, sizes.step_rad, sizes.speed_noise_rad_s
        e.difference, e.torque_noise = int(sizes.speed_from == "difference"), sizes.torque_noise_nm
        e.torque_bias[:n] = sizes.torque_bias_nm * random.uniform(-1.0, 1.0, n)
        cutoff = sizes.speed_cutoff_hz
        e.smoothing = 1.0 - math.exp(-2.0 * math.pi * cutoff * dt) if cutoff else 1.0
        has_errors = (e.noise, e.step, e.speed_noise, e.difference, e.torque_noise, sizes.torque_bias_nm)
        e.on = int(any(has_errors) or bool(self._effects.gears.ripple_rad))
        w.drive.ripple, w.drive.per_turn = self._effects.gears.ripple_rad, self._effects.gears.ripple_per_turn

    def _felt(self, w: Any, random: np.random.Generator) -> None:
        f, s = w.felt, self._effects.sensor
        h, ticks = float(w.h), float(w.h) * int(w.substeps)
        if s.noise_n is not None:
            w.noise[:3] = s.noise_n
        if s.noise_nm is not None:
            w.noise[3:] = s.noise_nm
        f.wander[:], f.wander_s, f.thermal_s = s.wander_n * _FORCES, s.wander_s, s.thermal_s
        side = random.choice((-1.0, 1.0), (3, 6))
        f.drift[:] = side[0] * _WORST_Z * s.drift_n_min / 60.0
        f.thermal[:] = side[1] * _WORST_Z * s.thermal_n
        f.jump[:], f.jump_share = side[2] * _WORST_Z * s.jump_n, ticks / s.jump_every_s if s.jump_n else 0.0
        f.smoothing = 1.0 - math.exp(-2.0 * math.pi * s.bandwidth_hz * h) if s.bandwidth_hz else 1.0
        f.latency = round(s.latency_s / ticks)
        if f.latency >= LATENCY_SLOTS:
            most = (LATENCY_SLOTS - 1) * ticks
            raise InputError("sim.effects.sensor.latency_s", s.latency_s, f"at most {most:g} s at this rate")
        f.matrix[:] = _cross_talk(random, s.cross_talk, s.scale_error)
        f.pose_zero[:] = _pose_zero(random, s.pose_zero_n)
        f.wrist_step = s.wrist_step_nm
        gravity = self._arm.gravity
        f.down[:] = gravity / max(float(np.linalg.norm(gravity)), 1e-12)
        sizes = (s.wander_n, s.drift_n_min, s.thermal_n, s.bandwidth_hz, f.latency, s.cross_talk, s.scale_error)
        f.on = int(any(sizes) or any((s.pose_zero_n, s.wrist_step_nm, s.jump_n)))

    def zero_sensor(self, w: Any, data: mujoco.MjData) -> None:
        """Zero the sensor in the present pose, as a robot does when it starts."""
        f = w.felt
        if f.on:
            down = data.site_xmat[self._model.site(SENSOR).id].reshape(3, 3).T @ f.down
            f.zero[:] = f.pose_zero @ np.concatenate([down, down * np.roll(down, -1)])
            f.low[:] = -data.sensordata[:6]

    # -- the line and the robot's supervision --

    def _packets(self, w: Any) -> None:
        p, s, n = w.packets, self._effects.packets, self._arm.n
        p.late_share, p.late = s.late_share, round(s.late_s / float(w.h))
        p.command_loss, p.reading_loss = s.command_loss, s.reading_loss
        stop = self._effects.stop
        w.stop.speed[:n] = stop.speed_share * self._arm.v_max
        w.stop.deviation, w.stop.force = stop.deviation_rad, stop.force_n
        w.supervised = int(bool(stop.speed_share or stop.deviation_rad or stop.force_n))


def _cross_talk(random: np.random.Generator, share: float, scale: float) -> Array:
    """What each axis shows of each axis; forces and moments are compared over a lever of `LEVER_M`."""
    matrix = share * random.uniform(-1.0, 1.0, (6, 6)) * _FORCES[:, None] / _FORCES[None, :]
    np.fill_diagonal(matrix, 1.0 + scale * random.uniform(-1.0, 1.0, 6))
    return matrix


def _pose_zero(random: np.random.Generator, size: float) -> Array:
    """Coefficients of the zero: between two poses no axis changes by more than `size`."""
    matrix = random.normal(size=(6, 6))
    # directions differ by 2 at most, products by 1, and there are three of these
    matrix[:, :3] *= 0.3 / np.linalg.norm(matrix[:, :3], axis=1, keepdims=True)
    matrix[:, 3:] *= 0.4 / np.abs(matrix[:, 3:]).sum(axis=1, keepdims=True)
    return size * matrix * _FORCES[:, None]
