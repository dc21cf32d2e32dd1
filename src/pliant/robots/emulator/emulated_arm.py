"""The arm behind the emulated controller: Pliant's simulated arm with the functions that a UR controller adds.

Servo lag, force sensor, surfaces and pushes are those of `sim:…`. The controller adds payload and tool point, with
which it converts the sensor reading to `actual_TCP_force`, the ramp of `speedJ`, and gravity compensation of torques.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import COMMAND, IDLE, POSITION, READING, TORQUE, VELOCITY
from pliant.robots.simulated import SimRobot
from pliant.robots.ur.wrench_sign import cross
from pliant.world.world_config import SimConfig

Array = np.ndarray[Any, Any]

DT = 0.002
# A controller stops protectively above this share of a joint's top speed, at this distance of a joint from its
# reference [rad], and where a new target is farther than this from the last one [rad]. The real figures are not
# published.
_TOO_FAST, _AWAY, _STEP = 1.1, 0.1, 0.1


class EmulatedArm:
    """A simulated arm driven by a controller, in periods of 2 ms."""

    def __init__(self, model: str, tool: Tool, config: SimConfig, start_q: Any = ()) -> None:
        # one period of the declared delay is already caused by the connection: see docs/universal-robots.md
        servo = config.servo.model_copy(update={"delay_s": max(DT, config.servo.delay_s - DT)})
        self._sim = SimRobot(model, tool, config.model_copy(update={"servo": servo}), DT, start_q)
        self._bare = Arm.load(model)
        self._R_FS = _matrix(np.array(self._sim.arm.tool.sensor_quat))
        self._reading, self._command = READING.new(), COMMAND.new()
        self.n = self._sim.arm.n
        self.mass, self.com, self.tcp = 0.0, np.zeros(3), np.zeros(6)
        self._zero, self._speed, self._ramp = np.zeros(6), np.zeros(self.n), 0.0
        self._bad = ""
        self._pushes = [(float(p.start), float(p.end)) for p in self.world.push[: self.world.n_pushes]]
        self.hold_pushes()
        self.read()

    @property
    def world(self) -> Any:
        """The record of the simulated world."""
        return self._sim.world.record[0]

    @property
    def time_s(self) -> float:
        """Simulated time [s]."""
        return float(self.world.time)

    # -- commands --

    def idle(self) -> None:
        """No command: the arm stays at the last commanded position."""
        self._command[0].mode = IDLE

    def servo(self, q: Any) -> None:
        """Move towards these joint positions [rad]; a jump is not carried out, but kept for `trouble`."""
        target = np.asarray(q, float)
        last = self._command[0].q[: self.n] if self._command[0].mode == POSITION else self.q
        away = np.abs(target - last)
        if not away.max() <= _STEP:
            joint = int(away.argmax())
            self._bad = f"the target of joint {joint + 1} jumped by {away[joint]:.3g} rad, more than {_STEP:g} rad"
            return
        self._command[0].mode = POSITION
        self._command[0].q[: self.n] = target

    def speed(self, qd: Any, acceleration: float) -> None:
        """Joint speeds, reached by a ramp of this acceleration [rad/s²] of the leading joint."""
        if self._command[0].mode != VELOCITY:
            self._command[0].qd[:] = 0.0
        self._command[0].mode = VELOCITY
        self._speed[:], self._ramp = qd, acceleration
        if not np.isfinite([*self._speed, acceleration]).all():
            self._bad = "a commanded speed was not finite"
            self.idle()

    def torque(self, tau: Any) -> None:
        """Joint torques in addition to those that hold the arm and the payload set in the controller."""
        if not np.isfinite(tau).all():
            self._bad = "a commanded torque was not finite"
            return
        self._command[0].mode = TORQUE
        self._command[0].tau[: self.n] = np.asarray(tau) + self._weight()

    def end_torque(self) -> None:
        """End torque control when no new torque arrives: the arm holds its present position."""
        if self._command[0].mode == TORQUE:
            self.idle()

    def brake(self, halted: bool) -> None:
        """Stop and hold, or become ready again."""
        self.world.halted = int(halted)

    def trouble(self) -> str:
        """Why the controller must stop the arm protectively now; "" if it need not."""
        words, self._bad = self._bad, ""
        if self.world.stop.reason:  # sim.effects.stop has acted
            words = self._sim.fault.partition(": ")[2]
            self.world.stop.reason = 0
        if words or self.world.halted:
            return words
        arm, reference = self._sim.arm, self.world.ref[: self.n]
        speed, away = np.abs(self.qd) / (_TOO_FAST * arm.v_max), np.abs(reference - self.q)
        outside = np.maximum(arm.q_min - self.q, self.q - arm.q_max)
        if not speed.max() <= 1.0:
            joint = int(speed.argmax())
            return f"joint {joint + 1} moved at {self.qd[joint]:.3g} rad/s; its limit is {arm.v_max[joint]:.3g} rad/s"
        if not away.max() <= _AWAY:
            joint = int(away.argmax())
            return f"joint {joint + 1} was {away[joint]:.3g} rad from its reference, more than {_AWAY:g} rad"
        if not outside.max() <= 0.0:
            joint = int(outside.argmax())
            return f"joint {joint + 1} was at {self.q[joint]:.4g} rad, outside its range"
        return ""

    def zero_force(self) -> None:
        """Zero the sensor at its present reading, in flange axes."""
        self._zero += self._at_flange()

    # -- pushes of a task: their times count from the first motion --

    def hold_pushes(self) -> None:
        """Keep the pushes of the task back until `begin_pushes`."""
        for slot, _ in zip(self.world.push, self._pushes, strict=False):
            slot.start = slot.end = np.inf

    def begin_pushes(self) -> None:
        """Let the pushes of the task come at their times from now on."""
        for slot, (start, end) in zip(self.world.push, self._pushes, strict=False):
            slot.start, slot.end = self.time_s + start, self.time_s + end

    def push(self, wrench: Any, for_s: float) -> None:
        """Push the arm at its tool."""
        self._sim.push(wrench, for_s)

    # -- a period --

    def advance(self) -> None:
        """Carry out the command for one period."""
        c = self._command[0]
        if c.mode == VELOCITY:
            change = self._speed - c.qd[: self.n]
            most = float(np.abs(change).max())
            c.qd[: self.n] += change * min(1.0, self._ramp * DT / most if most > 0.0 else 1.0)
        self._sim.write(self._command)

    def read(self) -> None:
        """Take a reading of joints and sensor."""
        self._sim.read(self._reading)
        r = self._reading[0]
        self.q, self.qd, self.tau = r.q[: self.n].copy(), r.qd[: self.n].copy(), r.tau[: self.n].copy()
        self.raw = r.wrench.copy()
        self._flange = self._bare.pose(self.q)
        self._R = _matrix(self._flange[3:])

    @property
    def target_q(self) -> Array:
        """Commanded joint positions [rad]."""
        return self.world.target[: self.n].copy()

    @property
    def press_n(self) -> float:
        """The true force along the normals of the touched surfaces."""
        return float(sum(surface.press for surface in self.world.surface[: self.world.n_surfaces]))

    @property
    def pushed_n(self) -> Array:
        """The present force of the task's pushes on the tool, in the base frame, without their ramps."""
        t, pushes = self.time_s, self.world.push[: len(self._pushes)]
        return sum((push.wrench[:3] for push in pushes if push.start <= t < push.end), np.zeros(3))

    @property
    def is_steady(self) -> bool:
        """Whether the arm has stopped."""
        return bool(np.abs(self.qd).max() < 1e-3)

    def tcp_pose(self) -> tuple[float, ...]:
        """Position and rotation vector of the tool point set in the controller."""
        turn, whole, rotvec = np.zeros(4), np.zeros(4), np.zeros(3)
        angle = float(np.linalg.norm(self.tcp[3:]))
        mujoco.mju_axisAngle2Quat(turn, self.tcp[3:] / angle if angle > 0.0 else np.array([1.0, 0.0, 0.0]), angle)
        mujoco.mju_mulQuat(whole, self._flange[3:], turn)
        mujoco.mju_quat2Vel(rotvec, whole, 1.0)
        return (*(self._flange[:3] + self._R @ self.tcp[:3]).tolist(), *rotvec.tolist())

    def tcp_speed(self) -> tuple[float, ...]:
        """Velocity of the tool point [m/s, rad/s]."""
        twist = self._bare.jacobian(self.q) @ self.qd
        twist[:3] += cross(twist[3:], self._R @ self.tcp[:3])
        return tuple(twist.tolist())

    def tcp_force(self) -> tuple[float, ...]:
        """The external wrench at the tool point, in the base frame, without the payload's weight."""
        at_flange = self._at_flange() - self._zero
        f, turn = self._R @ at_flange[:3], self._R @ at_flange[3:]
        # from the flange to the tool point: τ_T = τ_F + (p_F - p_T) × f
        turn = turn - cross(self._R @ self.tcp[:3], f)
        return (*f.tolist(), *turn.tolist())

    def _at_flange(self) -> Array:
        """The wrench at the flange, in its axes, without the weight of the payload that the controller was given."""
        tool = self._sim.arm.tool
        f, turn = self._R_FS @ self.raw[:3], self._R_FS @ self.raw[3:]
        turn = turn + cross(tool.sensor_m, f)
        weight = self._R.T @ (self.mass * self._bare.gravity)
        return np.concatenate([f - weight, turn - cross(self.com, weight)])

    def _weight(self) -> Array:
        """Joint torques that carry the arm and the payload that the controller was given."""
        J, bias = self._bare.jacobian(self.q), self._bare.bias(self.q, np.zeros(self.n))
        force = self.mass * self._bare.gravity
        moment = cross(self._R @ self.com, force)
        return bias - J[:3].T @ force - J[3:].T @ moment


def _matrix(quat: Array) -> Array:
    """The rotation matrix of a quaternion (wxyz)."""
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, quat)
    return R.reshape(3, 3)
