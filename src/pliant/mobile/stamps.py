"""Regular times from stamps that were taken late: a line through the last stamps over their counted numbers.

    t_k ≈ t_0 + k h                  least squares over a sliding window

Right for values that are sampled regularly and stamped whenever the message was handled. Wrong for samples that are
themselves late and stamped truly: those have the right times already.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.records import Field, Layout

WINDOW, LEAST = 64, 5
# Share of a period by which a stamp is thought to be late until there are enough of them to tell.
GUESS = 0.1

STAMPS = Layout(
    "Stamps",
    (
        Field("n", "", "stamps in the window", kind="i8"),
        Field("head", "", "where the next one goes", kind="i8"),
        Field("number", "", "counted number of each", (WINDOW,)),
        Field("stamp", "s", "each as it came", (WINDOW,)),
        Field("period_s", "s", "slope of the line"),
        Field("regular_s", "s", "the line at the newest"),
        Field("sigma_s", "s", "standard deviation of the line at the newest"),
    ),
)


@kernel
def clear(s):
    """Forget all stamps."""
    s.n, s.head, s.period_s, s.sigma_s = 0, 0, 0.0, 0.0


@kernel
def regular(s, t):
    """The time that the stamp t [s] should have had; `s.sigma_s` is how well that is known."""
    number = 0.0
    if s.n > 0:
        newest = s.number[(s.head - 1) % WINDOW]
        # a sample that was lost counts too
        passed = round((t - s.regular_s) / s.period_s) if s.n >= LEAST and s.period_s > 0.0 else 1
        number = newest + max(1, passed)
    s.number[s.head], s.stamp[s.head] = number, t
    s.head = (s.head + 1) % WINDOW
    s.n = min(s.n + 1, WINDOW)
    if s.n < LEAST:
        s.sigma_s = GUESS * (t - s.regular_s) if s.n > 1 else 0.0
        s.regular_s = t
        return t
    _fit(s, number, t)
    return s.regular_s


@kernel
def _fit(s, number, t):
    """The line through the window, from sums relative to the newest stamp (absolute times would lose digits)."""
    n = float(s.n)
    k_mean, t_mean = 0.0, 0.0
    for i in range(s.n):
        k_mean += (s.number[i] - number) / n
        t_mean += (s.stamp[i] - t) / n
    kk, kt, tt = 0.0, 0.0, 0.0
    for i in range(s.n):
        k, u = s.number[i] - number - k_mean, s.stamp[i] - t - t_mean
        kk, kt, tt = kk + k * k, kt + k * u, tt + u * u
    s.period_s = kt / kk
    s.regular_s = t + t_mean - s.period_s * k_mean
    # variance of a line at a place: σ² (1/n + (k - k̄)²/Σ(k - k̄)²)
    spread = max(0.0, tt - s.period_s * kt) / max(1.0, n - 2.0)
    s.sigma_s = math.sqrt(spread * (1.0 / n + k_mean * k_mean / kk))
