"""Velocity of a base from its poses: three estimators with one interface.

    estimator = CAKalman(BaseVelocity(noise_m=0.002))
    estimate = estimator.update(stamp_s, (x, y, heading))
    estimate.v, estimate.omega, estimate.lateral

Where the velocity is known (a planned trajectory, a velocity command), do not estimate it. `CAKalman` is for measured
poses, `Stencil` for references without noise, `LocalPoly` between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.mobile.base.base_params import BaseVelocity
from pliant.mobile.velocity import kalman, local_poly, stencil
from pliant.mobile.velocity.estimate import ESTIMATE
from pliant.mobile.velocity.samples import HISTORY
from pliant.params.packing import to_record
from pliant.records import Layout

Array = np.ndarray[Any, Any]
Pose = Sequence[float] | np.ndarray[Any, Any]
"""x [m], y [m] and heading [rad]."""


class Estimator(ABC):
    """The common interface: one sample at a time, or many at once."""

    _state: Layout = HISTORY

    def __init__(self, settings: BaseVelocity | None = None) -> None:
        self.settings = settings or BaseVelocity()
        self._parameters = to_record(self.settings)
        self.reset()

    def reset(self) -> None:
        """Reset for a new trajectory."""
        self._memory = self._state.new()
        self._last = ESTIMATE.new()
        self._last[0].sigma[:] = np.nan

    def update(self, stamp_s: float, pose: Pose) -> Any:
        """The estimate after one more pose (x [m], y [m], heading [rad]) with its stamp [s]."""
        return self.run([stamp_s], [pose])[0]

    def run(self, stamps_s: Any, poses: Any) -> Array:
        """The estimates after each of many samples: stamps (n), poses (n, 3)."""
        stamps, samples = _numbers("stamps_s", stamps_s), _numbers("poses", poses)
        if samples.shape != (len(stamps), 3):
            raise InputError("poses", samples.shape, f"of shape ({len(stamps)}, 3): x, y and heading for each stamp")
        if not len(stamps):
            return ESTIMATE.new(0)
        out = ESTIMATE.new(len(stamps))
        out[:1] = self._last
        self._run(stamps, samples, out)
        self._last = out[-1:].copy()
        return out

    @abstractmethod
    def _run(self, stamps: Array, poses: Array, out: Array) -> None:
        """Fill `out`, whose first entry holds the last estimate."""


def _numbers(field: str, values: Any) -> Array:
    try:
        return np.ascontiguousarray(values, float)
    except (TypeError, ValueError):
        raise InputError(field, values, "numbers") from None


class Stencil(Estimator):
    """The derivative through the last 5, 3 or 2 samples: exact for references without noise, noisy for all others."""

    def _run(self, stamps: Array, poses: Array, out: Array) -> None:
        stencil.run(self._parameters, self._memory, stamps, poses, np.zeros(stencil.POINTS), out)


class LocalPoly(Estimator):
    """A polynomial of `degree` through the last `window` samples by least squares."""

    def _run(self, stamps: Array, poses: Array, out: Array) -> None:
        local_poly.run(self._parameters, self._memory, stamps, poses, local_poly.POLY_WORK.new(), out)


class CAKalman(Estimator):
    """A Kalman filter with constant acceleration: the default for measured poses."""

    _state = kalman.KALMAN_STATE

    def _run(self, stamps: Array, poses: Array, out: Array) -> None:
        kalman.run(self._parameters, self._memory, stamps, poses, out)
