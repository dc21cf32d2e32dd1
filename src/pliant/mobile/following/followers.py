"""Path followers: from odometry to the command (v, ω) of a differential drive.

    follower = PathFollower(plan.path)
    command = follower.update((x, y, heading), v, omega, age_s=0.0, dt=0.02)
    base.command(command.v, command.omega)

`PathFollower` follows the path within millimetres. `RegulatedPurePursuit` is the well-known method, and slows down near
obstacles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.mobile.base.base_params import Base, Follow, Footprint, Pursuit
from pliant.mobile.following import close, pursuit
from pliant.mobile.following.drive_limits import DONE, ODOMETRY, TWIST
from pliant.mobile.following.phases import FOLLOW_STATE
from pliant.mobile.following.track import track_of
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.free_space import Space, prepared
from pliant.mobile.planning.grid import grid_of
from pliant.params.packing import to_record

Pose = Sequence[float] | np.ndarray[Any, Any]
"""x [m], y [m] and heading [rad]."""


class Follower(ABC):
    """The common interface: a path, a state and `update`."""

    def __init__(self, path: Path, base: Base | None = None, settings: Follow | None = None) -> None:
        self.path, self.base, self.settings = path, base or Base(), settings or Follow()
        self.track = track_of(path, self.base, self.settings)
        self._base, self._settings = to_record(self.base), to_record(self.settings)
        self._state, self._odometry, self._twist = FOLLOW_STATE.new(), ODOMETRY.new(), TWIST.new()

    @property
    def done(self) -> bool:
        """Whether the base has stopped at the end."""
        return bool(self._twist[0].state == DONE)

    def update(self, pose: Pose, v: float, omega: float, *, age_s: float = 0.0, dt: float = 0.02) -> Any:
        """The next command (see `TWIST`) from odometry: pose (x, y, heading), speeds, and their age."""
        if not (0.0 < dt <= 1.0):
            raise InputError("dt", dt, "a period of at most 1 s")
        if np.shape(pose) != (3,):
            raise InputError("pose", list(pose), "three numbers: x, y and heading")
        self._odometry[0] = (pose, v, omega, age_s)
        self._step(float(dt))
        return self._twist[0]

    @abstractmethod
    def _step(self, dt: float) -> None:
        """Fill `self._twist`."""


class PathFollower(Follower):
    """Feed-forward of the path's curvature and speed, feedback of errors: the default."""

    def _step(self, dt: float) -> None:
        close.step_at(self._base, self._settings, self._state, self.track, self._odometry, dt, self._twist)


class RegulatedPurePursuit(Follower):
    """Aims at a point ahead; with a `space` it slows down near obstacles and stops before them."""

    def __init__(
        self,
        path: Path,
        base: Base | None = None,
        settings: Follow | None = None,
        pursuit: Pursuit | None = None,
        space: Space | None = None,
    ) -> None:
        super().__init__(path, base, settings)
        self.pursuit = pursuit or Pursuit()
        """Settings of the pursuit."""
        self.space = space or _open_space(path)
        """Where the footprint fits; open space if no map is given."""
        self._pursuit = to_record(self.pursuit)

    def _step(self, dt: float) -> None:
        pursuit.step_at(
            self._base, (self._pursuit, self._settings), self._state, self.track, self.space, self._odometry, dt,
            self._twist,
        )  # fmt: skip


def _open_space(path: Path) -> Space:
    """A space around a path without obstacles."""
    rows, around = path.samples(0.1), 5.0
    low, high = rows[:, :2].min(0) - around, rows[:, :2].max(0) + around
    n = np.ceil((high - low) / 0.25).astype(int)
    return prepared(grid_of(np.zeros((n[1], n[0]), bool), 0.25, (float(low[0]), float(low[1]))), Footprint())
