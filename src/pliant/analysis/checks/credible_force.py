"""The smallest force that a task's sensor shows credibly: its error is at most half of it.

White noise is filtered away. What remains is the zero of the sensor: its data sheet's accuracy if it is not tared; if
it is tared just before the touch, its drift since then and the change of its zero with the pose. Of drift and pose, we
know figures for one UR5e; for the other arms they are scaled by the accuracy of their sensors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pliant.control.parameters import Parameters
from pliant.control.sense.external_wrench import smoothing
from pliant.model.ur import ur_names
from pliant.robots import is_simulated
from pliant.task.schema import Task, arm_model

# The error of a credible force is at most this share of it.
_SHARE = 0.5
# Accuracy of the force reading in the data sheets [N].
_ACCURACY_N = {"ur3e": 3.5, "ur5e": 4.0, "ur10e": 5.5, "ur16e": 5.5}
# Measured on a UR5e: zero error over poses [N], drift when warm [N/s], error of the scale.
_POSE_N, _DRIFT_N_S, _SCALE = 1.5, 0.15 / 60.0, 0.05
# Of noise, this many standard deviations.
_SIGMAS = 3.0


@dataclass(frozen=True)
class Credible:
    """What is known of a force sensor, as forces [N]."""

    noise_n: float
    """Standard deviation of the filtered noise."""
    accuracy_n: float
    """Accuracy in the data sheet; NaN if the sensor is not known."""
    untared_n: float
    """Smallest credible force of a sensor that is not tared; NaN if it is not known."""
    tared_n: float
    """Smallest credible force of a sensor that is tared just before the touch."""


def credible(task: Task, parameters: Parameters) -> Credible:
    """The smallest credible forces of the task's sensor."""
    noise = _filtered_noise_n(task, parameters)
    least = _SIGMAS * noise / _SHARE
    accuracy = math.nan
    if task.sensor.kind == "robot" and (model := arm_model(task)) in ur_names():
        accuracy = _ACCURACY_N.get(model, math.nan)
    if math.isnan(accuracy):
        return Credible(noise, accuracy, math.nan, least)
    untared = (accuracy + _SIGMAS * noise) / _SHARE
    if is_simulated(task.robot):  # its sensor has only the errors that the task gives it
        return Credible(noise, accuracy, untared, least)
    zero = _POSE_N * accuracy / _ACCURACY_N["ur5e"] + _DRIFT_N_S * task.duration_s
    return Credible(noise, accuracy, untared, (zero + _SIGMAS * noise) / (_SHARE - _SCALE))


def _filtered_noise_n(task: Task, parameters: Parameters) -> float:
    """Noise of the force after the low-pass: the declared one, or that of the simulated sensor if it is larger."""
    noise = parameters.contact.noise_n
    if is_simulated(task.robot) and task.sensor.kind == "robot":
        noise = max(noise, task.sim.sensor.noise_n)
    alpha = float(smoothing(parameters.sense.cutoff_hz, task.dt))
    return noise * math.sqrt(alpha / (2.0 - alpha))
