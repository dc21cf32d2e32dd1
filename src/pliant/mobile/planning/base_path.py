"""A path for a base: a start pose and a sequence of arcs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.mobile.base.arc import moved
from pliant.mobile.planning.reeds_shepp import WORD, between, checked_poses, checked_radius

Array = np.ndarray[Any, Any]


@kernel
def sample(start, arcs, at, out):
    """Pose, curvature and direction at each (increasing) length in `at` along the arcs."""
    x, y, h = start[0], start[1], start[2]
    i, begun = 0, 0.0
    for k in range(at.shape[0]):
        while i < arcs.shape[0] - 1 and at[k] > begun + abs(arcs[i, 1]):
            x, y, h = moved(x, y, h, arcs[i, 0], arcs[i, 1])
            begun += abs(arcs[i, 1])
            i += 1
        sign = 1.0 if arcs[i, 1] >= 0.0 else -1.0
        px, py, ph = moved(x, y, h, arcs[i, 0], sign * (at[k] - begun))
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4] = px, py, ph, arcs[i, 0], sign


@dataclass(frozen=True)
class Path:
    """A start pose (x, y, heading) and arcs (n, 2): curvature [1/m] and length [m], negative in reverse."""

    start: tuple[float, float, float]
    arcs: Array

    def __post_init__(self) -> None:
        arcs = np.asarray(self.arcs, float)
        if arcs.ndim != 2 or arcs.shape[1] != 2 or not (np.isfinite(arcs).all() and np.isfinite(self.start).all()):
            raise InputError("arcs", arcs.shape, "finite numbers in two columns: curvature and signed length")

    @property
    def length_m(self) -> float:
        """Length of the path, including the parts in reverse."""
        return float(np.abs(self.arcs[:, 1]).sum())

    @property
    def backward_m(self) -> float:
        """Length of the parts in reverse."""
        return float(np.abs(self.arcs[:, 1].clip(max=0.0)).sum())

    @property
    def cusps(self) -> int:
        """Number of changes between forward and reverse."""
        return int((np.diff(np.sign(self.arcs[:, 1])) != 0).sum()) if len(self.arcs) else 0

    @property
    def end(self) -> tuple[float, float, float]:
        """The pose at the end."""
        x, y, h = self.start
        for curvature, length in self.arcs:
            x, y, h = moved(x, y, h, float(curvature), float(length))
        return x, y, h

    def at(self, lengths_m: Any) -> Array:
        """Pose, curvature and direction (n, 5) at increasing lengths along the path."""
        at = np.ascontiguousarray(lengths_m, float)
        out = np.zeros((len(at), 5))
        if not len(self.arcs):
            out[:, :3], out[:, 4] = self.start, 1.0
            return out
        sample(np.array(self.start, float), np.ascontiguousarray(self.arcs, float), at, out)
        return out

    def samples(self, step_m: float = 0.05) -> Array:
        """The path as poses at most `step_m` apart: (n, 5), as from `at`."""
        n = max(1, int(np.ceil(self.length_m / step_m)))
        return self.at(np.linspace(0.0, self.length_m, n + 1))


def reeds_shepp_path(start: Any, goal: Any, radius_m: float) -> Path:
    """The shortest path from pose to pose without obstacles."""
    word = WORD.new()
    between(checked_poses("start", start, 1)[0], checked_poses("goal", goal, 1)[0], checked_radius(radius_m), word[0])
    w = word[0]
    arcs = np.stack([w.turn[: w.n] / radius_m, w.length[: w.n] * radius_m], 1)
    x, y, heading = map(float, start)
    return Path((x, y, heading), arcs[np.abs(arcs[:, 1]) > 1e-9])
