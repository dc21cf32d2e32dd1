"""Noise of the joint readings: positions and speeds that jitter more than an encoder in good order."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case
from pliant.analysis.doctor.finding import Finding
from pliant.analysis.targets import reported

Array = np.ndarray[Any, Any]

# More than these is a finding [rad, rad/s]. A UR5e has 1 to 2·10⁻⁵ rad and no noise of its speed at rest, a Panda 3 to
# 5 mrad/s; a tool 0.8 m away then jitters by 0.1 mm, and a surface of 10⁵ N/m feels that as 10 N.
MOST_RAD, MOST_RAD_S = 1.2e-4, 0.012
# Noise is always there, motion is not: the quietest windows [s] count, this share of them.
WINDOW_S, QUIET = 0.2, 0.25


def encoder_noise(case: Case) -> Finding:
    """Noise of joint positions and speeds, from their changes between ticks."""
    reading = case.records["reading"]
    position, speed = (_noise(case, reading[name][:, : case.n]) for name in ("q", "qd"))
    figures = (
        reported("noise of the joint positions", 1e3 * position.max(), "mrad"),
        reported("noise of the joint speeds", 1e3 * speed.max(), "mrad/s"),
    )
    noisy = [
        (int(np.argmax(values)), 1e3 * float(values.max()), 1e3 * most, what, unit)
        for values, most, what, unit in (
            (position, MOST_RAD, "position", "mrad"),
            (speed, MOST_RAD_S, "speed", "mrad/s"),
        )
        if values.max() > most
    ]
    if not noisy:
        return Finding("encoder noise", "fine", figures)
    said = " and ".join(
        f"the {what} of joint {joint + 1} has a noise of {value:.2g} {unit} (usual: below {most:g} {unit})"
        for joint, value, most, what, unit in noisy
    )
    cause = f"{said[0].upper()}{said[1:]}. The law sees a motion of the tool that is not there."
    remedy = "Check the encoder, its cable and its shield, and how the driver computes speeds."
    return Finding("encoder noise", "warning", figures, cause, remedy)


def _noise(case: Case, values: Array) -> Array:
    """Standard deviation of the noise of each joint, from second differences in the quietest windows."""
    steps = np.diff(np.nan_to_num(values), 2, axis=0)
    chunk = max(2, round(WINDOW_S / case.dt))
    count = len(steps) // chunk
    if count == 0:
        return np.zeros(max(1, values.shape[1]))
    # the second difference of white noise has the variance 6 σ²
    squares = np.square(steps[: count * chunk]).reshape(count, chunk, -1).mean(axis=1) / 6.0
    return np.sqrt(np.quantile(squares, QUIET, axis=0))
