"""A controller with an ideal robot and a hand, and small helpers: what the tests of the tick share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pliant.control.controller import Controller
from pliant.control.laws.registry import prepare
from pliant.control.parameters import Parameters, record_of
from pliant.model import Arm, Tool, kinematics
from pliant.params.declare import changed
from pliant.params.packing import from_record
from pliant.records import (
    MODES,
)
from pliant.spatial import cross, quat_to_mat

Array = np.ndarray[Any, Any]
DT = 0.002
TOOL = Tool(mass_kg=0.8, com_m=(0.01, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
INTERFACES = tuple(MODES)


class Cell:
    """A controller with a robot that goes exactly where it is told, and a hand that pushes its tool."""

    def __init__(self, interface: str = "position", law: str = "admittance", tool: Tool = TOOL, **values: Any) -> None:
        self.arm = Arm.load("ur5e", tool)
        # this sensor has no noise, so readings that do not change are no sign of a failure
        values = {"sense.frozen_s": 0.0, **{name.replace("__", "."): value for name, value in values.items()}}
        parameters = record_of(changed(Parameters(), values))
        prepare(parameters, None, 1.0, 0, DT)
        self.controller = Controller(self.arm, parameters, interface, DT)
        self.reading.q[:6] = self.arm.q_home
        self.controller.begin(law)
        self.push, self.com = np.zeros(6), np.array(self.arm.tool.com_in_sensor_m)
        self.accelerations: list[Array] = []

    def adopt(self, **values: Any) -> None:
        """Change parameters while it runs, as the loop does."""
        before, state = self.controller.parameters[0], self.state
        now = changed(from_record(Parameters, before), {name.replace("__", "."): v for name, v in values.items()})
        parameters = record_of(now)
        ramp = float(state.ramp) if state.set == before.gains.number else 0.0
        prepare(parameters, np.array([before]), ramp, int(before.revision) + 1, DT)
        self.controller.parameters[:] = parameters

    @property
    def reading(self) -> Any:
        return self.controller.reading[0]

    @property
    def state(self) -> Any:
        return self.controller.state[0]

    @property
    def goal(self) -> Any:
        return self.controller.goal[0]

    @property
    def command(self) -> Any:
        return self.controller.command[0]

    @property
    def observed(self) -> Any:
        return self.controller.observed[0]

    def place(self, q: Array, qd: Array) -> None:
        """Report these joints in the next tick, as if it were the first reading: no arm could have moved there."""
        self.reading.q[:6], self.reading.qd[:6] = q, qd
        self.state.guard.seen = 0

    def felt(self) -> Array:
        """What the sensor shows for the push (base axes, at the tool) and the weight of the tool."""
        kinematics.forward_at(self.arm.handle, self.reading.q)
        X_T, X_S = self.arm.handle["X_tool"][0], self.arm.handle["X_sensor"][0]
        out, R = np.zeros(6), np.zeros((3, 3))
        quat_to_mat(X_S[3:], R)
        weight = self.arm.tool.mass_kg * self.arm.gravity
        out[:3] = R.T @ (self.push[:3] + weight)
        out[3:] = R.T @ (self.push[3:] + crossed(X_T[:3] - X_S[:3], self.push[:3])) + crossed(self.com, R.T @ weight)
        return out

    def tick(self, times: int = 1, *, follow: bool = True, sense: bool = True) -> None:
        """Tick; `follow` takes over the command as the new reading, `sense` gives the sensor a fresh sample."""
        for _ in range(times):
            if sense:
                self.reading.wrench[:] = self.felt()
            before = self.state.qd_cmd.copy()
            self.reading.stamp_s += DT
            self.reading.wrench_stamp_s = self.reading.stamp_s
            self.controller.tick()
            self.accelerations.append((self.state.qd_cmd - before)[:6] / DT)
            if follow and self.state.started:
                self.reading.q[:], self.reading.qd[:] = self.state.q_cmd, self.state.qd_cmd

    @property
    def hardest(self) -> float:
        """Largest joint acceleration commanded so far, as a share of the limit."""
        top = self.controller.parameters[0].limits.acceleration_scale * self.arm.a_max
        return float(np.abs(self.accelerations / top).max())


def crossed(a: Array, b: Array) -> Array:
    out = np.zeros(3)
    cross(a, b, out)
    return out


def finite(cell: Cell) -> bool:
    return all(np.isfinite(cell.command[name]).all() for name in ("q", "qd", "tau"))


def twist_between(a: Array, b: Array) -> Array:
    turn = Rotation.from_quat(b[3:], scalar_first=True) * Rotation.from_quat(a[3:], scalar_first=True).inv()
    return np.concatenate([b[:3] - a[:3], turn.as_rotvec()]) / DT


def moving(interface: str = "position", **values: Any) -> Cell:
    """A cell in the middle of a motion."""
    cell = Cell(interface, **values)
    cell.push[:] = (15.0, -10.0, 5.0, 0.5, 0.3, -0.4)
    cell.tick(150)
    assert np.abs(cell.state.qd_cmd[:6]).min() > 1e-4
    return cell
