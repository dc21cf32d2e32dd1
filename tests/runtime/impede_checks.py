"""What torques must be like."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
TAU = np.array([200.0, 100.0])


def check_gradual(tau: Array) -> None:
    """What is asked anew comes over torque_rise_s; what the motion asks for meanwhile is little here."""
    assert (np.abs(np.diff(tau, axis=0)) <= TAU * 0.001 / 0.02 + 0.02 * TAU).all()
