"""The lag of a robot, from a recording of its command and its motion.

    y(t) = g m(t - τ) + c        m: the command through 1/(1 + s T/2)²        lag = τ + T

The command is assumed to be interpolated between its samples, as servos do. τ and T are found by least squares on the
whole recording; offset and gain are linear. The residual is not white, so the covariance counts only independent
samples. A result is rejected when the recording holds too little information or the model does not fit.

In contact, force against motion, f = k y + d ẏ + m ÿ + c: the force lags the motion by -d/k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.signal import cont2discrete, correlate, lfilter

from pliant.errors import PliantError

Array = np.ndarray[Any, Any]

# The 95 % interval in standard deviations on either side.
CONFIDENT = 1.96
# A lag whose interval is wider than this [s] and than this share of it is rejected.
MOST_DOUBT_S, MOST_DOUBT = 0.002, 0.05
# Required share of the command in the motion, and the largest residual as a share of the motion.
GAIN_OFF, MOST_LEFT = 0.1, 0.1
# A motion smaller than this many times the residual is not usable.
LEAST_MOTION = 5.0
LONGEST_S = 0.5
_LEAST_SERVO_S = 1e-4
_LEAST_SAMPLES = 100


class DelayError(PliantError):
    """A lag that is not reliable; the message gives the reason and what to do."""


@dataclass(frozen=True)
class Delay:
    """How a robot follows its command."""

    lag_s: float
    """Total lag from command to motion: transport and servo."""
    lag_std_s: float
    delay_s: float
    """Transport delay: the time before anything moves."""
    servo_s: float
    """Servo lag: 2/ω of a critically damped filter."""
    split_std_s: float
    """Standard deviation of delay and servo lag taken alone: one can compensate for the other."""
    gain: float
    """Fraction of the commanded motion that was carried out."""
    left: float
    """RMS of the residual, as a fraction of the RMS of the motion."""
    condition: float
    """Condition number of delay and servo lag: large when only their sum is known."""
    samples: int

    @property
    def interval_s(self) -> tuple[float, float]:
        """95 % confidence interval of the lag."""
        return self.lag_s - CONFIDENT * self.lag_std_s, self.lag_s + CONFIDENT * self.lag_std_s


@dataclass(frozen=True)
class ForceDelay:
    """How the force follows the motion while the tool is in contact."""

    lag_s: float
    """Lag of the force behind the motion; damping of the surface reduces it."""
    lag_std_s: float
    stiffness_n_m: float
    left: float
    """RMS of the residual, as a fraction of the change of force."""


def answer(command: Array, dt: float, delay_s: float, servo_s: float) -> Array:
    """The motion of a robot with this delay and servo for a command that was constant before its first sample."""
    t = np.arange(len(command)) * dt
    late = np.interp(t - delay_s, t, command, left=command[0])
    pole = 2.0 / max(servo_s, _LEAST_SERVO_S)
    # 1/(1 + s T/2)², exact for a command that is straight between its samples
    system: Any = cont2discrete(([pole**2], [1.0, 2.0 * pole, pole**2]), dt, method="foh")
    return command[0] + np.asarray(lfilter(np.ravel(system[0]), system[1], late - command[0]))


def identify(command: Array, motion: Array, dt: float) -> Delay:
    """Fit delay and servo to `motion` under `command`, both along one direction and in the same unit."""
    u, y = np.asarray(command, float), np.asarray(motion, float)
    _check_samples(u, y)

    def left(x: Array) -> Array:
        model = answer(u, dt, x[0], x[1])
        gain, offset = _straight(model, y)
        return y - gain * model - offset

    best, first = None, max(2 * dt, _first_guess(u, y, dt))
    for share in (0.2, 0.8):  # delay and servo lag trade off against each other: start from either side
        start = (share * first, max((1 - share) * first, 2 * _LEAST_SERVO_S))
        bounds = ((0.0, _LEAST_SERVO_S), (LONGEST_S, LONGEST_S))
        found = least_squares(left, np.clip(start, *bounds), bounds=bounds, x_scale=dt, diff_step=1e-3)
        best = found if best is None or found.cost < best.cost else best
    assert best is not None
    return _delay(u, y, dt, best.x)


def _check_samples(u: Array, y: Array) -> None:
    if len(u) < _LEAST_SAMPLES:
        raise DelayError(f"{len(u)} samples are too few to find a lag: at least {_LEAST_SAMPLES} are needed.")
    if not (np.isfinite(u).all() and np.isfinite(y).all()):
        raise DelayError("A reading is not finite, so the lag cannot be computed. Check the sensor and measure again.")
    if np.ptp(u) == 0.0:
        raise DelayError("The command does not move the robot, so its lag cannot be measured. Raise the amplitude.")


def _first_guess(u: Array, y: Array, dt: float) -> float:
    """The shift [s] at which command and motion agree best."""
    a, b = np.diff(u), np.diff(y)
    most = min(len(a) - 1, round(LONGEST_S / dt))
    return float(np.argmax(correlate(b, a)[len(a) - 1 :][:most])) * dt


def _straight(model: Array, y: Array) -> tuple[float, float]:
    """Gain and offset with which the model fits best."""
    about, mean = model - model.mean(), float(y.mean())
    gain = float(about @ (y - mean)) / max(float(about @ about), 1e-300)
    return gain, mean - gain * float(model.mean())


def _delay(u: Array, y: Array, dt: float, x: Array) -> Delay:
    """The result, with its uncertainty."""
    model, step = answer(u, dt, *x), 0.05 * dt
    gain, offset = _straight(model, y)
    left = y - gain * model - offset
    # how the motion changes with delay and servo
    later = (answer(u, dt, x[0] + step, x[1]) - answer(u, dt, max(0.0, x[0] - step), x[1])) / (
        x[0] + step - max(0.0, x[0] - step)
    )
    slower = (answer(u, dt, x[0], x[1] + step) - model) / step
    J = np.column_stack([gain * later, gain * slower, model, np.ones(len(y))])
    covariance = np.linalg.pinv(J.T @ J) * (left @ left) / max(1, len(y) - 4) * _repeats(left)
    both = J[:, :2] / np.maximum(np.linalg.norm(J[:, :2], axis=0), 1e-300)
    return Delay(
        lag_s=float(x[0] + x[1]),
        lag_std_s=float(np.sqrt(max(0.0, covariance[:2, :2].sum()))),
        delay_s=float(x[0]),
        servo_s=float(x[1]),
        split_std_s=float(np.sqrt(max(covariance[0, 0], covariance[1, 1]))),
        gain=float(gain),
        left=float(np.sqrt(np.mean(left**2)) / max(np.std(gain * model), 1e-300)),
        condition=float(np.linalg.cond(both)),
        samples=len(y),
    )


def _repeats(left: Array) -> float:
    """How many samples count as one independent sample: 1 + 2 Σ ρ_k up to the first k without correlation."""
    power, total = float(left @ left), 1.0
    for k in range(1, len(left) // 4):
        rho = float(left[k:] @ left[:-k]) / power if power > 0.0 else 0.0
        if rho < 0.05:
            break
        total += 2.0 * rho
    return total


def check(found: Delay, amplitude: float) -> None:
    """Raise `DelayError` if the model does not fit or the lag is too uncertain; `amplitude` as commanded."""
    lag, std = found.lag_s * 1e3, found.lag_std_s * 1e3
    if found.left * LEAST_MOTION > 1.0:
        raise DelayError(
            f"The motion does not follow the command: the residual is {found.left:.0%} of it. Raise the amplitude (now "
            f"{amplitude:g}), or check what else moves the arm."
        )
    if abs(found.gain - 1.0) > GAIN_OFF:
        raise DelayError(
            f"The robot carried out only {found.gain:.0%} of the commanded motion. Check for a limit, a joint stop or "
            "an obstacle."
        )
    if found.left > MOST_LEFT:
        raise DelayError(
            f"The response does not fit a delay plus a servo: the residual is {found.left:.0%} of the motion (at "
            f"most {MOST_LEFT:.0%}). Lower the amplitude or the bandwidth."
        )
    if CONFIDENT * found.lag_std_s > max(MOST_DOUBT_S, MOST_DOUBT * found.lag_s):
        raise DelayError(
            f"The lag is too uncertain: {lag:.1f} ms ± {CONFIDENT * std:.1f} ms. Raise the amplitude, the bandwidth or "
            "the duration."
        )


def identify_force(motion: Array, speed: Array, force: Array, dt: float) -> ForceDelay:
    """The lag of the `force` [N] out of a surface behind the `motion` [m] (and its `speed` [m/s]) into it."""
    # the tool's inertia is in the force too
    A = np.column_stack([motion, speed, np.gradient(speed, dt), np.ones(len(motion))])
    x = np.linalg.lstsq(A, force, rcond=None)[0]
    left = force - A @ x
    covariance = np.linalg.pinv(A.T @ A) * (left @ left) / max(1, len(force) - 4) * _repeats(left)
    lag = -float(x[1] / x[0])
    # δ(d/k) = (δd - (d/k) δk)/k
    c = np.array([lag, 1.0]) / x[0]
    return ForceDelay(
        lag_s=lag,
        lag_std_s=float(np.sqrt(max(0.0, c @ covariance[:2, :2] @ c))),
        stiffness_n_m=float(x[0]),
        left=float(np.sqrt(np.mean(left**2)) / max(np.std(A @ x), 1e-300)),
    )


def check_force(found: ForceDelay) -> None:
    """Raise `DelayError` if the force does not follow the motion as it would on a surface."""
    if found.stiffness_n_m <= 0.0 or found.left > 1.0:
        raise DelayError(
            f"The force does not follow the motion (the residual is {found.left:.0%} of it). The tool must stay in "
            "contact with a surface."
        )
    if CONFIDENT * found.lag_std_s > max(MOST_DOUBT_S, MOST_DOUBT * abs(found.lag_s)):
        raise DelayError(
            f"The lag of the force is too uncertain: {found.lag_s * 1e3:.1f} ms ± "
            f"{CONFIDENT * found.lag_std_s * 1e3:.1f} ms. Press harder or longer."
        )
