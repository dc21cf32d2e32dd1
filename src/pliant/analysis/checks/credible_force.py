"""What a task's sensor shows: its noise, the force error that its static errors add, and the smallest credible force.

A force is credible if the error is at most half of it. White noise is filtered away. What remains are static errors:
the accuracy of the data sheet if the sensor is not tared; if it is tared just before the touch, what changes later:

    zero       with the pose, at most in proportion to the turn of the tool, up to its size between any two poses
    drift      with time, until the contact ends; thermal drift likewise
    wander     the slow part of the noise, of which a mean over seconds knows nothing
    scale      a share of the force

They are independent of each other, so their squares add. A simulated sensor has the errors of `sim.realism`; of real
sensors we know figures for one UR5e, and for the other arms they are scaled by the accuracy of their sensors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pliant.control.parameters import Parameters
from pliant.control.sense.external_wrench import smoothing
from pliant.model.ur import ur_names
from pliant.robots import is_simulated
from pliant.task.schema import Task, arm_model, arm_of
from pliant.world.realism.presets import sizes_for

# The error of a credible force is at most this share of it.
_SHARE = 0.5
# Accuracy of the force reading in the data sheets [N].
_ACCURACY_N = {"ur3e": 3.5, "ur5e": 4.0, "ur10e": 5.5, "ur16e": 5.5}
# Measured on a UR5e: zero error over poses [N], drift when warm [N/s], error of the scale.
_POSE_N, _DRIFT_N_S, _SCALE = 1.5, 0.15 / 60.0, 0.05
# Of noise, this many standard deviations; of slow noise, the difference of two samples.
_SIGMAS, _TWO = 3.0, math.sqrt(2.0)
# A change of the zero of this size needs a turn of the tool by so much [rad].
_TURN = 1.0


@dataclass(frozen=True)
class StaticErrors:
    """Sizes of the errors of a sensor that no filter removes, tared just before the touch."""

    zero_n: float = 0.0
    """Change of the zero over the contact: with the pose, with time [N]."""
    wander_n: float = 0.0
    """Standard deviation of the slow noise [N]."""
    scale: float = 0.0
    """Share of the force."""

    def at(self, force_n: float) -> float:
        """The error that they add to a force [N]."""
        return math.sqrt(self.zero_n**2 + (_TWO * self.wander_n) ** 2 + (self.scale * force_n) ** 2)


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
    static: StaticErrors = StaticErrors()
    """Its static errors, if it is tared just before the touch."""


def credible(task: Task, parameters: Parameters) -> Credible:
    """The smallest credible forces of the task's sensor, and its static errors."""
    noise = _filtered_noise_n(task, parameters)
    accuracy = math.nan
    if task.sensor.kind == "robot" and (model := arm_model(task)) in ur_names():
        accuracy = _ACCURACY_N.get(model, math.nan)
    untared = (accuracy + _SIGMAS * noise) / _SHARE
    static = static_errors(task, parameters, accuracy)
    slow = math.hypot(static.zero_n, _TWO * static.wander_n)
    return Credible(noise, accuracy, untared, (slow + _SIGMAS * noise) / (_SHARE - static.scale), static)


def static_errors(task: Task, parameters: Parameters, accuracy_n: float) -> StaticErrors:
    """The static errors of the task's sensor over its contact; none are known of a sensor of another kind."""
    seconds, turned = _contact_s(task, parameters), _turned(task, parameters)
    if task.sensor.kind == "robot" and is_simulated(task.robot):
        s: Any = sizes_for(arm_of(task), task.sim.effects, task.sim.realism).sensor
        heated = s.thermal_n * (1.0 - math.exp(-seconds / s.thermal_s)) if s.thermal_n else 0.0
        zero = math.hypot(s.pose_zero_n * turned, s.drift_n_min / 60.0 * seconds + heated, s.jump_n)
        return StaticErrors(zero, s.wander_n, math.hypot(s.scale_error, s.cross_talk))
    if math.isnan(accuracy_n):
        return StaticErrors()
    zero = math.hypot(_POSE_N * accuracy_n / _ACCURACY_N["ur5e"] * turned, _DRIFT_N_S * seconds)
    return StaticErrors(zero, 0.0, _SCALE)


def _contact_s(task: Task, parameters: Parameters) -> float:
    """How long a contact may last after the sensor is tared [s]: the whole task, or its path and its dwell."""
    if not _has_contact(task):
        return task.duration_s
    p = parameters.contact
    seconds = p.settle_s + p.dwell_s + p.length_m / p.speed_m_s
    return min(task.duration_s, seconds) if p.path == "straight" else task.duration_s


def _turned(task: Task, parameters: Parameters) -> float:
    """How far the tool may turn after the sensor is tared, as a share of a turn that changes the zero by its size."""
    p = parameters.contact
    return min(1.0, math.radians(min(p.tilt_deg, p.cone_deg)) / _TURN) if _has_contact(task) else 1.0


def _has_contact(task: Task) -> bool:
    return "contact" in {task.law, *(event.law for event in task.events)}


def _filtered_noise_n(task: Task, parameters: Parameters) -> float:
    """Noise of the force after the low-pass: the declared one, or that of the simulated sensor if it is larger."""
    noise = parameters.contact.noise_n
    if is_simulated(task.robot) and task.sensor.kind == "robot":
        effects: Any = sizes_for(arm_of(task), task.sim.effects, task.sim.realism)
        noise = max(noise, task.sim.sensor.noise_n if effects.sensor.noise_n is None else effects.sensor.noise_n)
    alpha = float(smoothing(parameters.sense.cutoff_hz, task.dt))
    return noise * math.sqrt(alpha / (2.0 - alpha))
