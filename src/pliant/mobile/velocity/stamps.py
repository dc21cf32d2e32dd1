"""Regular times from late stamps: a line fitted to the last stamps over their sample numbers.

    t_k ≈ t_0 + k h                  least squares over a sliding window

Use it for values that are sampled regularly and stamped when the message is handled. Do not use it for samples that are
themselves late but stamped correctly. Stamps that stay away from the line mean that the source has changed its rate:
the line restarts with them.
"""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.records import Field, Layout

WINDOW, LEAST = 256, 5
# Share of a period by which a stamp is thought to be late until there are enough of them to tell, and what is then
# thought of the step between two.
GUESS, GUESS_STEP = 0.1, 0.2
# A line through fewer stamps than this may lie off by so much that a sample would seem lost: steps tell better.
FEW = 20
# A stamp is odd that lies so many times farther from the line than is usual, and outweighs so many that are not.
ODD, WEIGHT = 2.5, 3
# So many samples in a row, before each of which some seem to be lost, come more slowly in truth.
SLOW = 8

STAMPS = Layout(
    "Stamps",
    (
        Field("n", "", "stamps in the window", kind="i8"),
        Field("head", "", "where the next one goes", kind="i8"),
        Field("newest", "", "sample number of the newest"),
        Field("number", "", "that of each", (WINDOW,)),
        Field("stamp", "s", "each as received", (WINDOW,)),
        Field("period_s", "s", "slope of the line"),
        Field("regular_s", "s", "the line at the newest"),
        Field("step_s", "s", "time from the stamp before to the newest"),
        Field("sigma_s", "s", "its standard deviation as long as there is no line"),
        Field("slack", "", "standard deviation of the period, as a share of it"),
        Field("usual_s", "s", "typical distance of stamps from the line"),
        Field("off_s", "s", "how far the newest lies from it, if that is odd, or 0"),
        Field("odd", "", "WEIGHT for every odd stamp, less 1 for every other", kind="i8"),
        Field("slow", "", "stamps in a row before which some seem to be lost", kind="i8"),
        Field("anew", "", "1: the line restarted with the newest", kind="i8"),
    ),
)


@kernel
def clear(s):
    """Forget all stamps."""
    s.n, s.head, s.odd, s.slow, s.anew = 0, 0, 0, 0, 0
    s.period_s, s.step_s, s.sigma_s, s.slack, s.usual_s, s.off_s = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@kernel
def regular(s, t):
    """The corrected time of the stamp t [s]; `s` holds the step to it and its uncertainty."""
    fitted = s.n >= LEAST and s.period_s > 0.0
    # a sample that was lost counts too
    since = s.regular_s if s.n >= FEW else s.stamp[(s.head - 1) % WINDOW]
    passed = max(1.0, round((t - since) / s.period_s)) if fitted else 1.0
    s.newest = s.newest + passed if s.n > 0 else 0.0
    s.number[s.head], s.stamp[s.head] = s.newest, t
    s.head = (s.head + 1) % WINDOW
    s.n = min(s.n + 1, WINDOW)
    s.anew, s.off_s, s.sigma_s = 0, 0.0, 0.0
    if fitted:
        _look(s, t, passed)
    if s.n < LEAST:
        s.step_s = t - s.regular_s if s.n > 1 else 0.0
        s.sigma_s = GUESS_STEP * s.step_s
        s.regular_s = t
    elif s.off_s != 0.0 and s.anew == 0:
        s.step_s = passed * s.period_s
        s.regular_s += s.step_s
    else:
        _fit(s, t)
        s.step_s = s.period_s if s.anew == 1 else passed * s.period_s
    return s.regular_s


@kernel
def _look(s, t, passed):
    """Whether a stamp is odd; when too many are, or too many seem lost, only the last stay, counted one by one."""
    off = t - s.regular_s - passed * s.period_s
    # few stamps say little of what is usual
    if abs(off) > ODD * max(s.usual_s, 2.0 * GUESS * s.period_s * math.sqrt(LEAST / s.n)):
        s.off_s = off
        s.odd += WEIGHT
    else:
        s.odd = max(0, s.odd - 1)
    s.slow = s.slow + 1 if passed > 1.0 else 0
    if s.odd < WEIGHT * LEAST and s.slow < SLOW:
        return
    s.off_s, s.anew, s.odd, s.slow, s.n = off, 1, 0, 0, LEAST
    for i in range(LEAST):
        s.number[(s.head - 1 - i) % WINDOW] = s.newest - i


@kernel
def _fit(s, t):
    """The line through the window, from sums relative to the newest stamp (absolute times would lose digits)."""
    n = float(s.n)
    k_mean, t_mean = 0.0, 0.0
    for i in range(s.n):
        at = (s.head - 1 - i) % WINDOW
        k_mean += (s.number[at] - s.newest) / n
        t_mean += (s.stamp[at] - t) / n
    kk, kt, tt = 0.0, 0.0, 0.0
    for i in range(s.n):
        at = (s.head - 1 - i) % WINDOW
        k, u = s.number[at] - s.newest - k_mean, s.stamp[at] - t - t_mean
        kk, kt, tt = kk + k * k, kt + k * u, tt + u * u
    s.period_s = kt / kk
    s.regular_s = t + t_mean - s.period_s * k_mean
    spread = max(0.0, tt - s.period_s * kt) / max(1.0, n - 2.0)
    # variance of the slope: σ²/Σ(k - k̄)²
    s.slack = math.sqrt(spread / kk) / s.period_s
    if s.odd == 0:
        s.usual_s = math.sqrt(spread)
