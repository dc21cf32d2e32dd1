"""A differential drive without dynamics: it follows its command with delay and lag, and reports a noisy pose."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np

from pliant.kernel import kernel
from pliant.mobile.base.arc import after
from pliant.params.declare import Section, param

Array = np.ndarray[Any, Any]


class KinematicConfig(Section):
    """Delays and lags from command to motion, and delay and noise of the odometry."""

    delay_s: float = param(0.04, unit="s", ge=0, le=1, help="Delay until a command reaches the drives.")
    lag_s: float = param(0.08, unit="s", gt=0, le=2, help="Time constant of the speed.")
    turn_lag_s: float = param(0.08, unit="s", gt=0, le=2, help="Time constant of the turning speed.")
    age_s: float = param(0.02, unit="s", ge=0, le=1, help="Age of the odometry when it arrives.")
    noise_m: float = param(0.002, unit="m", ge=0, le=1, help="Standard deviation of a measured position.")
    noise_rad: float = param(0.002, unit="rad", ge=0, le=1, help="Standard deviation of a measured heading.")
    noise_m_s: float = param(0.005, unit="m/s", ge=0, le=1, help="Standard deviation of a measured speed.")
    noise_rad_s: float = param(0.005, unit="rad/s", ge=0, le=1, help="Standard deviation of a measured turning speed.")


SUBSTEP_S = 0.002


@kernel
def _advance(state, v, omega, lag, turn_lag, dt, n):
    """n steps of dt: speeds follow with a lag, the pose on exact arcs."""
    for _ in range(n):
        state[3] += (v - state[3]) * (1.0 - math.exp(-dt / lag))
        state[4] += (omega - state[4]) * (1.0 - math.exp(-dt / turn_lag))
        state[0], state[1], state[2] = after(state[0], state[1], state[2], state[3] * dt, state[4] * dt)


class KinematicBase:
    """A base that starts at rest at a pose; all randomness follows from the seed."""

    def __init__(self, pose: Any, config: KinematicConfig | None = None, seed: int = 0) -> None:
        self.config = config or KinematicConfig()
        """Delays, lags and noise."""
        self._random = np.random.default_rng(seed)
        self._state = np.array([*pose, 0.0, 0.0], float)
        waits, ages = (round(time / SUBSTEP_S) for time in (self.config.delay_s, self.config.age_s))
        self._waiting = deque([(0.0, 0.0)] * (waits + 1), maxlen=waits + 1)
        self._seen = deque([self._state.copy()] * (ages + 1), maxlen=ages + 1)
        self._asked = (0.0, 0.0)

    @property
    def pose(self) -> Array:
        """True pose."""
        return self._state[:3].copy()

    @property
    def speeds(self) -> tuple[float, float]:
        """True speed and turning speed."""
        return float(self._state[3]), float(self._state[4])

    def command(self, v: float, omega: float) -> None:
        """Set speed [m/s] and turning speed [rad/s]."""
        self._asked = (float(v), float(omega))

    def advance(self, dt: float) -> None:
        """Advance time."""
        for _ in range(max(1, round(dt / SUBSTEP_S))):
            self._waiting.append(self._asked)
            v, omega = self._waiting[0]
            _advance(self._state, v, omega, self.config.lag_s, self.config.turn_lag_s, SUBSTEP_S, 1)
            self._seen.append(self._state.copy())

    def odometry(self) -> tuple[Array, float, float, float]:
        """Pose, speed, turning speed as measured, and their age [s]."""
        c, noise = self.config, self._random.normal(size=5)
        seen = self._seen[0] + noise * (c.noise_m, c.noise_m, c.noise_rad, c.noise_m_s, c.noise_rad_s)
        return seen[:3], float(seen[3]), float(seen[4]), c.age_s
