"""A rival that works like the force mode of a robot controller: one axis follows its force error at a limited speed.

    v = g (F_d - F)       along the compliant axis, within ± the speed limit; the others follow their positions

What happens inside a real force mode is not published. `g` belongs to the gain 1; it was chosen once, so that the force
settles as slowly as on a real arm, and is the same in every run.
"""

from __future__ import annotations

import mujoco
import numpy as np

from pliant.model.arm import Arm, Floats

SPEED_PER_N = 1.5e-4
"""Speed per force error at the gain 1 [m/(N s)]."""
APPROACH_M_S2 = 0.5
"""Acceleration of the approach: the inertia of the tool must not look like a contact."""


class ForceMode:
    """Presses along -z of the base; `rest` is the sensor's reading without contact, less the weight of the tool."""

    def __init__(self, arm: Arm, q: Floats, rest: Floats, target_n: float, gain: float, contact_m_s: float) -> None:
        self.arm, self.q, self._rest = arm, q.copy(), rest
        self.target_n, self.gain, self.contact_m_s = target_n, gain, contact_m_s
        self.touched = False
        self._at, self._along, self._approach = arm.pose(q), np.zeros(3), 0.0

    def force(self, q: Floats, raw: Floats) -> float:
        """The force on the tool along z of the base."""
        felt, out = (raw - self._rest - self.arm.tool_weight(q))[:3].copy(), np.zeros(3)
        mujoco.mju_rotVecQuat(out, felt, self.arm.sensor_pose(q)[3:])
        return float(out[2])

    def step(self, q: Floats, raw: Floats, along: Floats, dt: float) -> Floats:
        """One period of `dt` [s]: `along` is the velocity [m/s] of the path in the base frame."""
        force = self.force(q, raw)
        self.touched = self.touched or force > max(0.5 * self.target_n, self.arm.tool.mass_kg * APPROACH_M_S2 + 5.0)
        self._approach = min(self.contact_m_s, self._approach + dt * APPROACH_M_S2)
        speed = self.gain * SPEED_PER_N * (self.target_n - force) if self.touched else self._approach
        twist, pose = np.zeros(6), self.arm.pose(self.q)
        self._along += dt * along
        twist[:3] = along + 5.0 * (self._at[:3] + self._along - pose[:3])
        twist[2] = -max(-self.contact_m_s, min(self.contact_m_s, speed))
        turn, inverse, off = np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_negQuat(inverse, pose[3:])
        mujoco.mju_mulQuat(turn, self._at[3:], inverse)
        mujoco.mju_quat2Vel(off, turn, 1.0)
        twist[3:] = 5.0 * off
        self.q += dt * np.linalg.lstsq(self.arm.jacobian(self.q), twist, rcond=None)[0]
        return self.q
