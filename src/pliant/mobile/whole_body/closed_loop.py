"""A mobile manipulator in closed loop: reading, compliance at the tool, whole-body motion, commands, telemetry.

Base and arm respond with known lags. Everything is therefore planned for the time at which a command takes effect: the
target is that of `time_s + ahead_s`, and the base is predicted to that time. The arm is taken at its commanded
position, the base at its measured pose, so that the arm corrects the errors of the base.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pliant.control import telemetry
from pliant.control.laws.admittance import comply
from pliant.control.laws.registry import prepare
from pliant.control.limits.compliant_frame import limit_tool
from pliant.control.parameters import Parameters, record_of
from pliant.control.sense import external_wrench
from pliant.control.telemetry import TELEMETRY
from pliant.control.tick import WORK
from pliant.errors import InputError, UnknownNameError
from pliant.kernel import kernel, put, record_at
from pliant.mobile.base.arc import along_arc
from pliant.mobile.base.drive_model import Odometry, SlipDetector
from pliant.mobile.whole_body.body_params import Slip, WholeBody
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.mobile.whole_body.program import Motion, WholeBodyMotion
from pliant.model.kinematics import forward, jacobian, place
from pliant.records import BASE, COMMAND, FAULT_NUMBER, GOAL, OBSERVED, POSITION, READING, STATE, TICK

_TICK = TICK.dtype

Array = np.ndarray[Any, Any]

LAWS = ("track", "comply")
UNIT = 1e-3
"""How much the norm of a quaternion may differ from one."""


class MobileRobot(Protocol):
    """The interface of a mobile manipulator."""

    def read(self, reading: Any, base: Any) -> None: ...

    def command(self, v: float, omega: float) -> None: ...

    def write(self, command: Any) -> None: ...


@dataclass(frozen=True)
class Lags:
    """Lags of arm and base behind their commands [s]."""

    arm_s: float = 0.0
    """Time constant of the arm [s]."""
    base_s: float = 0.0
    """Time constant of the base [s]."""

    def __post_init__(self) -> None:
        for name in ("arm_s", "base_s"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"lags.{name}", getattr(self, name), "between 0 and 1 s")


@dataclass(frozen=True)
class BodySettings:
    """Settings of a mobile manipulator's loop."""

    law: str = "track"
    """`track` follows the goal, `comply` also yields to forces."""
    params: Parameters = field(default_factory=Parameters)
    """Parameters of the laws and of the sensor processing."""
    whole_body: WholeBody = field(default_factory=WholeBody)
    """How motion is divided between base and arm."""
    slip: Slip = field(default_factory=Slip)
    """Detection of wheel slip."""
    lags: Lags = field(default_factory=Lags)
    """Known lags of the drives, to compensate."""
    dt: float = 0.002
    """Period [s]."""

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise UnknownNameError("mobile manipulator law", self.law, LAWS)


@kernel
def measure_wrench(handle, parameters, state, reading, base, observed, work, q, needed, dt):
    """Pose and velocity of the tool and the wrench on it, in world axes, from measured base and arm.

    A force sensor that the law does not need may fail.
    """
    h, p, s, r, b, o, w = handle[0], parameters[0], state[0], reading[0], base[0], observed[0], work[0]
    forward(h, q)
    jacobian(h)
    put(o.pose, h.X_tool)
    o.scale, o.singular_value = 1.0, math.nan
    c, side = math.cos(q[2]), math.sin(q[2])
    for i in range(6):
        o.twist[i] = (c * h.J[i, 0] + side * h.J[i, 1]) * b.twist[0] + h.J[i, 2] * b.twist[1]
        for k in range(3, h.n):
            o.twist[i] += h.J[i, k] * r.qd[k - 3]
    good = external_wrench.supervise(p.sense, s, r, needed, dt)
    if good:
        external_wrench.external(h, p.sense, r.wrench, w.three, s.wrench)
    if s.started == 0 and (good or not needed):
        s.started, s.ramp, s.set = 1, 1.0, p.gains.number
        s.tank_j = p.admittance.tank_j
        put(s.wrench_lp, s.wrench)
    put(o.wrench, s.wrench)
    external_wrench.low_pass(p.sense, s, s.wrench, dt)


@kernel
def compliant_twist(handle, parameters, state, goal, observed, work, q, dt):
    """The velocity `s.twist` that the admittance asks of the tool, within the limits of the compliant frame."""
    h, p, s, g, o, w = handle[0], parameters[0], state[0], goal[0], observed[0], work[0]
    place(h, q)
    put(s.pose, h.X_tool)
    put(w.before, s.twist)
    o.limits = 0
    put(w.before, s.twist)
    comply(h, p, s, g, w, dt)
    limit_tool(p.limits, h, s, w.before, dt, o)


@kernel
def fill_telemetry(at, number, dt, reading, goal, observed, command, state, work, base):
    """One record of telemetry at this address, as of an arm, and what the base did."""
    telemetry.fill(at, number, dt, 0, reading[0], goal[0], observed[0], command[0], state[0], work[0])
    record_at(at, _TICK).base = base[0]


class BodyLoop:
    """Robot, compliance and whole-body motion, one `period` at a time."""

    def __init__(self, robot: MobileRobot, body: Body, settings: BodySettings | None = None) -> None:
        self.robot, self.body, self.settings = robot, body, settings or BodySettings()
        self.motion = WholeBodyMotion(body, self.settings.whole_body, self.settings.dt)
        """Divides motion between base and arm."""
        self.parameters = record_of(self.settings.params)
        """The active parameters, as kernels read them."""
        prepare(self.parameters, None, 1.0, 0, self.settings.dt)
        self.state, self.reading, self.goal, self.command = STATE.new(), READING.new(), GOAL.new(), COMMAND.new()
        self.observed, self.work, self.base = OBSERVED.new(), WORK.new(), BASE.new()
        self.tick, self._v, self._u = 0, np.zeros(2), np.zeros(body.m)
        n = body.arm_joints
        # views: looking up a field takes longer than using it
        self._measured_q, self._pose = self.reading["q"][0, :n], self.base["pose"][0]
        self._wheels, self._rolled, self._apart = (self.base[name][0] for name in ("wheels", "odometry", "apart"))
        self._q_cmd, self._qd_cmd = self.state["q_cmd"][0, :n], self.state["qd_cmd"][0, :n]
        self._twist, self._moved = self.state["twist"][0], self.state["moved"][0]
        self._goal = self.goal["pose"][0], self.goal["twist"][0], self.goal["wrench"][0]
        self._out = self.command["q"][0, :n], self.command["qd"][0, :n], self.base["command"][0]
        robot.read(self.reading, self.base)
        self.q = self._measured()
        """Measured configuration: the pose of the base, then the joints of the arm."""
        self._q_cmd[:], self._goal[0][:] = self.q[BASE_JOINTS:], body.pose(self.q)
        self.command[0].mode = POSITION
        self._odometry, self._slip = Odometry(body.base, self.q[:BASE_JOINTS]), SlipDetector(self.settings.slip)

    @property
    def ahead_s(self) -> float:
        """How far ahead a target must be: the time until a command takes effect [s]."""
        return self.settings.lags.arm_s

    @property
    def time_s(self) -> float:
        """Time since the start [s]."""
        return self.tick * self.settings.dt

    def period(self, target: Any, twist: Any, hold: Any = None, out: Array | None = None) -> Array:
        """Read, move towards the target (X_WT and its twist at `time_s + ahead_s`), write; returns the telemetry.

        `hold` is the wrench [N, N m] in world axes to hold at the tool (law "comply"). `out` receives the
        telemetry: one record, such as a slice of a longer array. A value that is not finite is a fault: base and arm
        brake.
        """
        asked = _asked("target", target, 7), _asked("twist", twist, 6), _asked("hold", 0.0 if hold is None else hold, 6)
        self.look()
        if all(np.isfinite(values).all() for values in asked) and abs(np.linalg.norm(asked[0][3:]) - 1.0) <= UNIT:
            for kept, values in zip(self._goal, asked, strict=True):
                kept[:] = values
        else:
            self.state[0].fault = FAULT_NUMBER
        return self.act(self._move(self.expected()).u, out)

    def look(self) -> None:
        """Read the robot: the first half of a period, for callers that compute the command themselves."""
        self.robot.read(self.reading, self.base)
        self._watch()

    def act(self, u: Array, out: Array | None = None) -> Array:
        """Command u = (v, ω, q̇_arm) for one period: its second half; returns the telemetry."""
        out = TELEMETRY.new() if out is None else out
        self._fill_telemetry(u)
        dt, late = self.settings.dt, max(self.settings.lags.base_s, 1e-9)
        records = self.reading, self.goal, self.observed, self.command, self.state, self.work, self.base
        fill_telemetry(out.ctypes.data, self.tick, dt, *records)
        self.robot.write(self.command)
        self._v += (1.0 - math.exp(-dt / late)) * (u[:2] - self._v)
        self.tick += 1
        return out

    def stop(self) -> Array:
        """Like `period`, but stop as fast as the limits allow."""
        self.goal[0].stop = 1
        return self.period(self._goal[0].copy(), np.zeros(6))

    def _measured(self) -> Array:
        return np.concatenate([self._pose, self._measured_q])

    def _watch(self) -> None:
        """Check odometry, slip, and that all values are finite."""
        q = self._measured()
        if not np.isfinite(q).all():
            self.state[0].fault = FAULT_NUMBER
            return
        self.q = q
        self._rolled[:] = self._odometry.update(*self._wheels)
        report = self._slip.update(self.time_s, self._rolled, self._pose)
        self._apart[:], self.base["slipping"] = (report.apart_m, report.apart_rad), report.slipping
        handle, records = self.body.chain.handle, (self.state, self.reading, self.base, self.observed, self.work)
        measure_wrench(handle, self.parameters, *records, self.q, self.settings.law == "comply", self.settings.dt)

    def expected(self) -> Array:
        """Predicted base and arm at the time when the current command takes effect."""
        lags, command = self.settings.lags, self._u[:2]
        ahead, late = lags.arm_s, max(lags.base_s, 1e-9)
        # ∫ of a first-order lag from the speed now to the one commanded
        way = command * ahead + (self._v - command) * late * (1.0 - math.exp(-ahead / late))
        q = np.concatenate([self.q[:BASE_JOINTS], self._q_cmd])
        along_arc(q, float(way[0]), float(way[1]), 1.0, q)
        return q

    def _move(self, q: Array) -> Motion:
        s, g = self.state[0], self.goal[0]
        if s.fault != 0 or g.stop != 0 or s.started == 0:
            motion = self.motion.halt(q)
        elif self.settings.law == "track":
            motion = self.motion.track(q, *self._goal[:2])
        else:
            handle = self.body.chain.handle
            compliant_twist(
                handle, self.parameters, self.state, self.goal, self.observed, self.work, q, self.settings.dt
            )
            motion = self.motion.toward(q, self._twist)
        # what the limits of base and joints cut from the motion is cut from the virtual mass too
        self._twist[:] = self._moved[:] = motion.twist
        return motion

    def _fill_telemetry(self, u: Array) -> None:
        q, qd, base = self._out
        self._u, self._qd_cmd[:] = u, u[2:]
        self._q_cmd += self.settings.dt * u[2:]
        q[:], qd[:], base[:] = self._q_cmd, self._qd_cmd, u[:2]
        self.robot.command(float(u[0]), float(u[1]))


def _asked(field: str, value: Any, size: int) -> Array:
    """`value` as `size` numbers; a single number sets all."""
    values = np.array(value, float)
    if values.shape not in ((), (size,)):
        raise InputError(field, value, f"{size} numbers")
    return np.broadcast_to(values, (size,))
