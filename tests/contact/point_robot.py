"""A point that follows its command with a lag and touches a plane: the smallest robot for the contact law."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from pliant.control.laws.contact import contact_law as contact
from pliant.control.laws.contact.contact_record import CONTACT
from pliant.control.laws.contact.contact_states import COMMANDS
from pliant.control.parameters import Parameters, record_of
from pliant.kernel import record_in
from pliant.params.declare import changed
from pliant.records import GOAL, OBSERVED, STATE

DT = 0.002


class PointRobot:
    """A critically damped lag after a transport of one tick; the force is felt at once and without noise."""

    def __init__(
        self, stiffness: float, lag_s: float = 0.02, gap: float = 0.001, slope: float = 0.0, **values: Any
    ) -> None:
        named = {f"contact.{name}": value for name, value in values.items()}
        parameters = changed(Parameters(), {"contact.lag_s": lag_s + 3 * DT, "contact.noise_n": 0.02, **named})
        self.p = record_of(parameters)[0].contact
        self.s, self.o, self.g = STATE.new()[0], OBSERVED.new()[0], GOAL.new()[0]
        self.work = contact.SCRATCH.new()[0]
        self._look()
        self.s.pose[:] = (0, 0, gap, 0, 1, 0, 0)  # its axis points down
        self.o.pose[:] = self.s.pose
        self.x, self.v, self.stiffness, self.lag = np.array([0, 0, gap]), np.zeros(3), stiffness, lag_s
        self.n = np.array([-math.sin(slope), 0, math.cos(slope)])
        self.sent, self.push, self.height = self.x.copy(), np.zeros(3), 0.0
        self.sign = 1.0  # -1: the sensor is mounted the wrong way round
        self.friction = self.damping = 0.0
        self.pressed: list[float] = []

    def _look(self) -> None:
        """Keep parts of the records: to look them up in every tick takes longer than the law."""
        self.contact: Any = record_in(self.s.memory, CONTACT.dtype)
        self._at, self._going = self.s.pose[:3], self.s.twist[:3]
        self._seen_at, self._seen_going = self.o.pose[:3], self.o.twist[:3]
        self._forces = self.s.wrench[:3], self.s.wrench_lp[:3]

    def __deepcopy__(self, memo: dict[int, Any]) -> PointRobot:
        twin = copy.copy(self)
        vars(twin).update({name: copy.deepcopy(value, memo) for name, value in vars(self).items()})
        twin._look()  # at its own records
        return twin

    def command(self, name: str) -> None:
        self.g.command, self.g.commands = COMMANDS[name], self.g.commands + 1

    def begin(self) -> PointRobot:
        """Set the start and start."""
        for name in ("set_start", "start"):
            self.command(name)
            self.tick()
        return self

    def tick(self, times: int = 1) -> None:
        for _ in range(times):
            n, going = self.n, self._seen_going
            depth, speed = self.height - float(self.x @ n), -float(going @ n)
            press = max(0.0, self.stiffness * depth + self.damping * speed) if depth > 0.0 else 0.0
            self.pressed.append(press)
            force = press * n
            if self.friction:
                along = going + speed * n
                force = force - self.friction * press / max(1e-4, float(np.linalg.norm(along))) * along
            force = self.sign * force + self.push
            for felt in self._forces:
                felt[:] = force
            contact.step(self.p, self.s, self.o, self.g, 1.0, 0.0, self.work, DT)
            target = self.sent
            self._at += DT * self._going
            self.sent = self._at.copy()
            before = self.x
            # x'' = ω² (x_target - x) - 2 ω x' with ω = 2/lag, exactly:  e(t) = (e₀ + (v₀ + ω e₀) t) exp(-ω t)
            omega, off = 2.0 / self.lag, self.x - target
            rise = (self.v + omega * off) * DT
            self.x = target + (off + rise) * math.exp(-omega * DT)
            self.v = (self.v - omega * rise) * math.exp(-omega * DT)
            self._seen_at[:], going[:] = self.x, (self.x - before) / DT

    def until(self, *states: int, within_s: float = 20.0) -> None:
        """Tick until one of these states is entered."""
        for _ in range(round(within_s / DT)):
            if self.contact.state in states:
                return
            self.tick()
        raise AssertionError(f"state {self.contact.state} after {within_s} s, for the reason {self.contact.reason}")
