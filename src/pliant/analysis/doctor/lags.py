"""Lags: the robot behind its command, the force behind the motion, and both together.

The robot is modelled as a delay and two equal lags, like a servo. The best candidate of a grid leaves the smallest
residual in most of the run. The lag of the force shows where the tool touches and presses:

    f = k max(0, x(t - δ) - c)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import lfilter

from pliant.analysis.doctor.case import Case, smooth
from pliant.records import POSITION

Array = np.ndarray[Any, Any]

# Grid: delays up to so long, and time constants of the two lags [s].
LONGEST_S, LAGS_S = 0.15, (0.0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.0125, 0.015, 0.02, 0.025, 0.03, 0.04)
# Windows in which a fit is judged [s], and the share of the motion that a bad one leaves.
WINDOW_S, BAD = 0.2, 0.1
# Longer runs are judged by so many ticks.
MOST_TICKS = 30_000
# Slower than this nothing moves: in rad/s for positions and velocities; for torques, N m per second.
MOVES = 2e-3
# Without a commanded motion, joints this far from their command were pushed there [rad].
PUSHED = 0.02
# Of the motion this share must be explained before a delay is believed.
EXPLAINED = 0.8
# The force behind the motion: windows [s], how far it is looked for [s], excitation over noise, share to be explained.
TOUCH_S, FORCE_S, LOUD, TOGETHER = 0.3, 0.1, 4.0, 0.8
# A delay is possible as long as the squares that it leaves, over the noise's, are no more than this above the least.
POSSIBLE = 9.0
# A force behind the motion is counted if it is known to this [s].
SURE_S = 0.01
# A tool that moves along the surface by less than this in a window stays where it is [m].
STAYS_M = 5e-4


@dataclass(frozen=True)
class Follows:
    """How the robot follows: lag of delay and servo, its uncertainty, the share of the motion that it explains."""

    lag_s: float
    doubt_s: float
    explained: float
    model: Array
    """The command after that delay and servo (ticks × joints)."""
    moved: float
    """Mean measured joint speed relative to the commanded one."""

    @property
    def known(self) -> bool:
        return self.explained >= EXPLAINED


def _through(values: Array, tau_s: float, dt: float) -> Array:
    """Through two equal first-order lags, at rest at the first value."""
    if tau_s <= 0.0:
        return values
    a = math.exp(-dt / tau_s)
    moved = values - values[0]
    for _ in range(2):
        moved = lfilter([1.0 - a], [1.0, -a], moved, axis=0)
    return moved + values[0]


def _late(values: Array, ticks: int) -> Array:
    return values if ticks == 0 else np.concatenate((np.repeat(values[:1], ticks, axis=0), values[:-ticks]))


def _filled(values: Array) -> Array:
    """Without NaN: what is no number is as it was before."""
    if np.isfinite(values).all():
        return values
    out = values.copy()
    for column in out.T:
        known = np.isfinite(column)
        if known.any():
            at = np.maximum.accumulate(np.where(known, np.arange(len(column)), -1))
            column[:] = np.where(at >= 0, column[np.maximum(at, 0)], column[known][0])
        else:
            column[:] = 0.0
    return out


def rates(case: Case) -> tuple[Array, Array, Array]:
    """Commanded values, and the rates of command and measurement, lightly smoothed (ticks × joints)."""
    told, done = _filled(case.commanded), _filled(case.measured)
    if case.mode != POSITION:
        return told, told, done
    want, got = (smooth(np.gradient(values, case.dt, axis=0), 3) for values in (told, done))
    return told, want, got


def _busiest(want: Array, got: Array) -> tuple[Array, Array]:
    """The `MOST_TICKS` of a long run with the most commanded motion: enough to find the delay."""
    if len(want) <= MOST_TICKS:
        return want, got
    total = np.concatenate(([0.0], np.cumsum(np.sum(want**2, axis=1))))
    begin = int(np.argmax(total[MOST_TICKS:] - total[:-MOST_TICKS]))
    return want[begin : begin + MOST_TICKS], got[begin : begin + MOST_TICKS]


def _squares(values: Array, chunk: int) -> Array:
    """Mean square in each window of `chunk` ticks, over all joints."""
    rows = len(values) // chunk
    return (values[: rows * chunk] ** 2).reshape(rows, chunk * values.shape[1]).mean(axis=1)


def _grid(want: Array, got: Array, chunk: int, dt: float) -> tuple[list[tuple[int, float]], Array]:
    """Delays [ticks] and time constants [s], and what each pair of them leaves in every window."""
    keys, left = [], []
    for tau in LAGS_S:
        slow = _through(want, tau, dt)
        for ticks in range(round((LONGEST_S - 2 * tau) / dt)):
            keys.append((ticks, tau))
            left.append(_squares(got - _late(slow, ticks), chunk))
    return keys, np.array(left)


def follows(case: Case) -> Follows | None:
    """How the robot follows its commands, or None if no motion was commanded.

    A window in which it does not follow at all counts no more than one in which it follows badly. A window of constant
    speed does not count, because every delay fits it.
    """
    told, want, got = rates(case)
    want, got = _busiest(want, got)
    dt, chunk = case.dt, max(2, round(WINDOW_S / case.dt))
    asked, done = _squares(want, chunk), _squares(got, chunk)
    moving = asked > MOVES**2
    if np.count_nonzero(moving) < 2:
        return None
    keys, left = _grid(want, got, chunk, dt)
    asked, done, left = asked[moving], done[moving], left[:, moving]
    off = left / (BAD**2 * asked)
    best = int(np.argmin(np.sum(off / (1.0 + off), axis=1)))
    ticks, tau = keys[best]
    kept = np.argsort(off[best])[: max(2, len(asked) // 2)]
    explained = 1.0 - float(left[best, kept].sum() / np.maximum(asked, done)[kept].sum())
    scores = left[:, off[best] <= max(1.0, float(np.median(off[best])))].sum(axis=1)
    near = [key[0] * dt + 2 * key[1] for key, score in zip(keys, scores, strict=True) if score <= 1.1 * scores[best]]
    doubt = 0.5 * (max(near) - min(near)) + 0.5 * dt
    model, moved = _late(_through(told, tau, dt), ticks), math.sqrt(done.sum() / asked.sum())
    return Follows(ticks * dt + 2 * tau, doubt, explained, model, moved)


def why_unknown(case: Case) -> str:
    """Why `follows` is None, in a sentence."""
    told, want, _ = rates(case)
    much = "Too little" if np.abs(want).max() > MOVES else "No"
    when = " before the fault" if case.fault or case.records["state"]["fault"].any() else ""
    away = np.abs(_filled(case.measured) - told).max() if case.mode == POSITION else 0.0
    return f"{much} motion was commanded{when}{'; a push moved the arm' if away > PUSHED else ''}."


@dataclass(frozen=True)
class Touch:
    """What pressing shows: the lag of the force [s], its uncertainty [s], and the stiffness [N/m]."""

    behind_s: float
    doubt_s: float
    stiffness: float
    windows: int

    @property
    def known(self) -> bool:
        """Whether the delay is known well enough to be used."""
        return self.doubt_s <= SURE_S


def noise_n(case: Case) -> float:
    """Noise of one sample of the force along the normal, from its changes between ticks [N]."""
    steps = np.diff(case.pressed[case.active], 2)
    steps = steps[np.isfinite(steps)]
    # the second difference of white noise has the variance 6 σ²
    return float(1.4826 * np.median(np.abs(steps)) / math.sqrt(6.0)) if len(steps) else math.nan


def touch(case: Case, firm_n: float) -> Touch | None:
    """Delay and stiffness from the windows in which the tool presses with more than `firm_n` and moves enough."""
    most, noise = round(FORCE_S / case.dt), max(noise_n(case), 1e-3)
    depth, force = np.cumsum(np.nan_to_num(case.into)) * case.dt, np.nan_to_num(case.pressed)
    curve, slopes, bests = np.zeros(most), [], []
    for begin, end in _loud_windows(case, force, firm_n, noise, most):
        f = force[begin:end]
        fits = [hinge(f, depth[begin - late : end - late], firm_n) for late in range(most)]
        left = np.array([fit[0] for fit in fits])
        best = int(np.argmin(left))
        if left[best] > (1.0 - TOGETHER) * float(np.sum((f - f.mean()) ** 2)):
            continue
        curve += left / max(noise**2, left[best] / len(f))
        slopes.append([fit[1] for fit in fits])
        bests.append(best)
    if not slopes:
        return None
    best = int(np.argmin(curve))
    possible = np.flatnonzero(curve <= curve[best] + POSSIBLE)
    spread = 1.4826 * float(np.median(np.abs(np.array(bests) - best)))  # windows that do not agree leave a doubt
    doubt = max(best - possible[0], possible[-1] - best, 1, spread) * case.dt
    return Touch(best * case.dt, float(doubt), float(np.median([row[best] for row in slopes])), len(slopes))


def _loud_windows(case: Case, force: Array, firm_n: float, noise: float, most: int) -> list[tuple[int, int]]:
    """Windows at work, from shortly before a touch on, in which the force is firm and changes by more than noise.

    The tool must not slide: where it does, the shape of the surface makes force as well as its own motion does.
    """
    size = round(TOUCH_S / case.dt)
    smoothed, raw = smooth(force, 3), case.records["reading"]["wrench"]
    fresh = np.concatenate(([True], np.any(raw[1:] != raw[:-1], axis=1)))
    along = case.records["observed"]["twist"][:, :3] + case.into[:, None] * case.contact["normal"]
    slid = np.cumsum(np.linalg.norm(np.nan_to_num(along), axis=1)) * case.dt
    firm, ready = smoothed > firm_n, case.active & fresh
    found, i = [], most + size
    while i < len(force):
        if not (firm[i] and case.active[i]):
            i += 1
            continue
        begin = i - size // 3
        end = min(begin + size, len(force))
        whole = bool(ready[begin:end].all()) and end - begin > size // 2 and slid[end - 1] - slid[begin] < STAYS_M
        if whole and smoothed[begin:end].std() > LOUD * noise:
            found.append((begin, end))
        i = end
    return found


def hinge(f: Array, x: Array, firm_n: float) -> tuple[float, float]:
    """Residual squares of f = k max(0, x - c), and k [N/m]; k and c by regression over the samples beyond c."""
    inside = f > firm_n
    k, c = math.nan, math.nan
    for _ in range(4):
        if np.count_nonzero(inside) < 5:
            break
        dx, df = x[inside] - x[inside].mean(), f[inside] - f[inside].mean()
        xx = float(dx @ dx)
        slope = float(dx @ df) / xx if xx > 0.0 else 0.0
        if slope <= 0.0:
            break
        k, c = slope, float(x[inside].mean() - f[inside].mean() / slope)
        inside = x > c
    if not k > 0.0:
        return float(f @ f), math.nan
    off = f - k * np.maximum(0.0, x - c)
    return float(off @ off), k
