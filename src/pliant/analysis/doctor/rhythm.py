"""Whether a signal is periodic: its autocorrelation and its spectrum must agree.

Noise has no second peak in its autocorrelation. A step or a slow drift has no line in the spectrum. Ringing that
decays is smaller at the end than at the start. A signal that passes all three tests is periodic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Windows [s], and how often a rhythm must come round in one. Slower than 5/6 Hz is taken for a wanted motion.
WINDOWS_S, ROUNDS = (1.0, 2.0, 3.0, 6.0), 5.0
# Highest frequency that is looked for [Hz].
HIGHEST_HZ = 60.0
# What the autocorrelation must come back to after one period and after two.
SAME = 0.5
# Share of the power that must lie at the frequency and its first harmonics.
PURE, HARMONICS = 0.6, 5
# What the last third of a window must have of the first one's amplitude.
LASTING = 0.6


@dataclass(frozen=True)
class Rhythm:
    """An oscillation: frequency, amplitude (in the signal's unit), similarity of consecutive periods, purity."""

    frequency_hz: float
    amplitude: float
    sameness: float
    purity: float


def rhythm(values: Array, dt: float) -> Rhythm | None:
    """The oscillation in a window of samples, or None. A straight line through the window is removed first."""
    n = len(values)
    steps = np.arange(n) - 0.5 * (n - 1)
    y = values - values.mean()
    y = y - steps * (steps @ y) / (steps @ steps)
    variance = float(np.mean(y * y))
    if n < 20 or not variance > 0.0 or not _lasts(y):
        return None
    period = _period(y, dt, n * dt / ROUNDS)
    if period is None:
        return None
    ticks, same = period
    pure = _purity(y, 1.0 / (ticks * dt), dt)
    if same < SAME or pure < PURE:
        return None
    # a sine of amplitude A has the variance A²/2
    return Rhythm(1.0 / (ticks * dt), float(np.sqrt(2.0 * variance * pure)), same, pure)


def _lasts(y: Array) -> bool:
    third = len(y) // 3
    first, last = y[:third].std(), y[-third:].std()
    return bool(last >= LASTING * first)


def _period(y: Array, dt: float, longest_s: float) -> tuple[float, float] | None:
    """Period in ticks, and the least autocorrelation after one and two of them."""
    n = len(y)
    spectrum = np.fft.rfft(y, 2 * n)
    r = np.fft.irfft(np.abs(spectrum) ** 2)[:n]
    r = r / (r[0] * (1.0 - np.arange(n) / n))
    below = np.flatnonzero(r < 0.0)
    longest, shortest = int(longest_s / dt), max(2, int(1.0 / (HIGHEST_HZ * dt)))
    begin = max(shortest, int(below[0])) if len(below) else n
    if begin >= longest:
        return None
    top = r[begin : longest + 1].max()
    # the first peak that is nearly the highest: twice the period is one of its multiples
    inner = np.arange(max(1, begin), min(longest, n - 2) + 1)
    peaks = inner[(r[inner] >= r[inner - 1]) & (r[inner] >= r[inner + 1]) & (r[inner] >= 0.85 * top)]
    if not len(peaks):
        return None
    p = int(peaks[0])
    again = r[int(1.8 * p) : int(2.2 * p) + 1].max(initial=-1.0)
    return float(p), float(min(r[p], again))


def _purity(y: Array, frequency_hz: float, dt: float) -> float:
    """Share of the power that lies within a bin and a half of the frequency and its harmonics."""
    n = len(y)
    power = np.abs(np.fft.rfft(y * np.hanning(n))) ** 2
    bins = np.arange(len(power))
    base = frequency_hz * n * dt
    near = np.zeros(len(power), bool)
    for k in range(1, HARMONICS + 1):
        near |= np.abs(bins - k * base) <= 1.5 + 0.02 * k * base
    return float(power[near].sum() / power.sum())


def windows(active: Array, dt: float, seconds: float) -> list[tuple[int, int]]:
    """Windows of this length, overlapping by half, within the spans in which `active` is true."""
    size = round(seconds / dt)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False])).astype(np.int8))).reshape(-1, 2)
    found = []
    for begin, end in edges.tolist():
        if end - begin >= size:
            starts = [*range(begin, end - size + 1, max(1, size // 2)), end - size]
            found += [(start, start + size) for start in dict.fromkeys(starts)]
    return found
