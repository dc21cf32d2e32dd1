"""The tick written with NumPy and Pinocchio, to compare speed and numbers.

Same steps, same order: kinematics and Jacobian at the measured joints, wrench at the tool, low-pass, deadband,
admittance, kinematics and Jacobian at the commanded joints, damped inverse, limits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio  # pyright: ignore[reportMissingImports] (an optional package)

from pliant.control.controller import Controller

pin: Any = pinocchio


def _model(arm: Any) -> Any:
    """A Pinocchio model of the same chain, from the joint axes and body frames of the MuJoCo model."""
    source, model, parent = arm.mjmodel, pin.Model(), 0
    placement = pin.SE3.Identity()
    for body in range(1, source.nbody):
        quat = source.body_quat[body]
        placement = placement * pin.SE3(pin.Quaternion(*quat).matrix(), source.body_pos[body])
        if source.body_jntnum[body]:
            joint = source.body_jntadr[body]
            axis = source.jnt_axis[joint]
            parent = model.addJoint(parent, pin.JointModelRevoluteUnaligned(axis), placement, f"joint{joint}")
            placement = pin.SE3.Identity()
    for name in ("tool", "sensor"):
        site = source.site(name)
        where = placement * pin.SE3(pin.Quaternion(*site.quat).matrix(), site.pos)
        model.addFrame(pin.Frame(name, parent, where, pin.FrameType.OP_FRAME))
    return model


class RivalTick:
    """The same controller in NumPy and Pinocchio, starting from the same state."""

    def __init__(self, controller: Controller) -> None:
        self.ours = controller
        self.n, self.dt = controller.arm.n, controller.dt
        self.model = _model(controller.arm)
        self.data = self.model.createData()
        self.frames = self.model.getFrameId("tool"), self.model.getFrameId("sensor")
        self._copy()

    def _copy(self) -> None:
        s, r, g, p, n = self.ours.state[0], self.ours.reading[0], self.ours.goal[0], self.ours.parameters[0], self.n
        self.q_cmd, self.qd_cmd, self.twist = s.q_cmd[:n].copy(), s.qd_cmd[:n].copy(), s.twist.copy()
        self.wrench_lp = s.wrench_lp.copy()
        self.q, self.qd, self.raw = r.q[:n].copy(), r.qd[:n].copy(), r.wrench - p.sense.bias
        self.goal = pin.SE3(pin.Quaternion(*g.pose[3:]).matrix(), g.pose[:3].copy())
        self.M, self.D, self.K = (p.gains[name].copy() for name in ("M1", "D1", "K1"))
        c = 1 - np.cos(2 * np.pi * p.sense.cutoff_hz * self.dt)
        self.gain = np.sqrt(c * c + 2 * c) - c
        self.dead = p.sense.deadband_n, p.sense.deadband_nm
        self.limits = p.limits
        arm = self.ours.arm
        self.v_max, self.a_max, self.q_min, self.q_max = arm.v_max, arm.a_max, arm.q_min, arm.q_max
        self.weight, self.com = arm.tool.mass_kg * arm.gravity, np.array(arm.tool.com_in_sensor_m)

    def _kinematics(self, q: Any) -> tuple[Any, Any, Any]:
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        J = pin.getFrameJacobian(self.model, self.data, self.frames[0], pin.LOCAL_WORLD_ALIGNED)
        return self.data.oMf[self.frames[0]], self.data.oMf[self.frames[1]], J

    def tick(self) -> np.ndarray[Any, Any]:
        """One tick; returns the commanded joints."""
        dt, limits = self.dt, self.limits
        tool, sensor, J = self._kinematics(self.q)
        self.observed_twist = J @ self.qd
        weight = sensor.rotation.T @ self.weight
        force = sensor.rotation @ (self.raw[:3] - weight)
        moment = sensor.rotation @ (self.raw[3:] - np.cross(self.com, weight))
        moment = moment + np.cross(sensor.translation - tool.translation, force)
        self.wrench_lp += self.gain * (np.concatenate([force, moment]) - self.wrench_lp)
        F = np.concatenate([_shrink(self.wrench_lp[:3], self.dead[0]), _shrink(self.wrench_lp[3:], self.dead[1])])
        tool, _, J = self._kinematics(self.q_cmd)
        e = np.concatenate([tool.translation - self.goal.translation, pin.log3(tool.rotation @ self.goal.rotation.T)])
        A = self.M + dt * self.D + dt * dt * self.K
        v = self._limit_tool(np.linalg.solve(A, self.M @ self.twist + dt * (F - self.K @ e)), tool.translation)
        sigma = np.linalg.svd(J, compute_uv=False)[-1]
        A = J @ J.T + 1e-12 * np.eye(6)
        if sigma < limits.singular_threshold:
            A += limits.singular_damping**2 * (1 - (sigma / limits.singular_threshold) ** 2) * np.eye(6)
        qd = self._limit(J.T @ np.linalg.solve(A, v))
        self.qd_cmd = qd
        self.q_cmd = self.q_cmd + dt * qd
        self.twist = J @ qd
        return self.q_cmd

    def _limit_tool(self, v: Any, position: Any) -> Any:
        limits, dt = self.limits, self.dt
        for part, a, top in (
            (slice(0, 3), limits.linear_acceleration_m_s2, limits.linear_speed_m_s),
            (slice(3, 6), limits.angular_acceleration_rad_s2, limits.angular_speed_rad_s),
        ):
            change = v[part] - self.twist[part]
            v[part] = self.twist[part] + change * min(1.0, a * dt / max(np.linalg.norm(change), 1e-12))
            v[part] *= min(1.0, top / max(np.linalg.norm(v[part]), 1e-12))
        up = self._brake(limits.workspace_max_m - position, limits.linear_acceleration_m_s2)
        down = self._brake(position - limits.workspace_min_m, limits.linear_acceleration_m_s2)
        v[:3] = np.clip(v[:3], -down, up)
        return v

    def _limit(self, qd: Any) -> Any:
        limits, dt = self.limits, self.dt
        qd = qd * min(1.0, (limits.speed_scale * self.v_max / np.maximum(np.abs(qd), 1e-12)).min())
        change = qd - self.qd_cmd
        a = limits.acceleration_scale * self.a_max
        qd = self.qd_cmd + min(1.0, (a * dt / np.maximum(np.abs(change), 1e-12)).min()) * change
        up = self._brake(self.q_max - limits.position_margin - self.q_cmd, a)
        down = self._brake(self.q_cmd - self.q_min - limits.position_margin, a)
        return np.clip(qd, -down, up)

    def _brake(self, distance: Any, a: Any) -> Any:
        step = a * self.dt
        return step * (np.sqrt(1 + 2 * np.maximum(distance, 0) / (step * self.dt)) - 1)

    def largest_difference(self, ticks: int) -> float:
        """Run both from the same state; returns the largest difference of a commanded joint [rad]."""
        self._copy()
        kept, worst = self.ours.state.copy(), 0.0
        for _ in range(ticks):
            self.ours.tick()
            gap = np.abs(self.tick() - self.ours.state[0].q_cmd[: self.n]).max()
            worst = max(worst, float(gap))
        self.ours.state[:] = kept
        self._copy()
        return worst


def _shrink(vector: Any, by: float) -> Any:
    size = np.linalg.norm(vector)
    return vector * max(0.0, size - by) / size if size > 0 else vector
