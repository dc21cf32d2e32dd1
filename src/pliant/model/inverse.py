"""From a tool velocity to joint velocities, with bounded joint speeds near singularities.

    q̇ = Jᵀ (J Jᵀ + λ² I)⁻¹ V            λ² = λ_max² (1 - (σ/σ₀)²)  for σ < σ₀, else 0

σ is the smallest singular value of J. It comes from one step of inverse iteration per tick, started where the last tick
ended: the direction turns slowly, so the estimate is exact when it matters and costs one triangular solve.

An arm with fewer than six joints cannot follow every V. This is not a singularity: q̇ = (Jᵀ J + λ² I)⁻¹ Jᵀ V.
"""

from __future__ import annotations

import math

from pliant.kernel import fill, kernel, put
from pliant.records import Field, Layout
from pliant.solve import FLOOR, factor, solve

SCRATCH = Layout(
    "Inverse",
    (
        Field("A", "", "J Jᵀ (or Jᵀ J), then its Cholesky factor", (6, 6)),
        Field("b", "", "Jᵀ V", (6,)),
        Field("y", "", "solution of the 6×6 system", (6,)),
        Field("lost", "", "V - J q̇: the part lost to damping", (6,)),
    ),
)

# Stands on the diagonal for a joint that is not there: larger than the square of any singular value.
_ABSENT = 1e6
# Part of every axis that the guess keeps, so that it can turn into a direction that was not the weakest so far.
_TRACE = 1e-9
# Steps of the first tick, which has no guess.
_FIRST = 20


@kernel
def _gram(J, n, extra, A):
    """A = J Jᵀ + extra I, or Jᵀ J + extra I for fewer than six joints (lower triangle)."""
    if n < 6:
        for i in range(6):
            for j in range(i + 1):
                A[i, j] = 0.0
                if i < n:
                    for k in range(6):
                        A[i, j] += J[k, i] * J[k, j]
            A[i, i] += extra if i < n else _ABSENT
        return
    # most arms have six joints: with a number that the compiler knows it unrolls the loop
    if n == 6:
        _rows(J, 6, A)
    else:
        _rows(J, n, A)
    for i in range(6):
        A[i, i] += extra


@kernel
def _rows(J, n, A):
    """J Jᵀ (lower triangle)."""
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += J[i, k] * J[j, k]
            A[i, j] = total


@kernel
def smallest_singular_value(J, n, weakest, w):
    """The smallest singular value of J (as estimated), and the factor of J Jᵀ in `w.A`.

    `weakest` (6) keeps its direction from tick to tick: a tool velocity, or with fewer than six joints a joint one.
    """
    _gram(J, n, FLOOR, w.A)
    factor(w.A)
    return _root_of_smallest(weakest, w)


@kernel
def smallest_of_rows(J, rows, n, weakest, w):
    """The smallest singular value of the rows of J for which `rows` is not 0; at most as many rows as joints.

    `weakest` (6) keeps its direction, a tool velocity, from tick to tick.
    """
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            if rows[i] != 0 and rows[j] != 0:
                for k in range(n):
                    total += J[i, k] * J[j, k]
            w.A[i, j] = total
        w.A[i, i] += FLOOR if rows[i] != 0 else _ABSENT
    factor(w.A)
    return _root_of_smallest(weakest, w)


@kernel
def _root_of_smallest(weakest, w):
    """√ of the smallest eigenvalue of the matrix whose factor is in `w.A` (as estimated); turns `weakest` to it."""
    size = 0.0
    for i in range(6):
        size += weakest[i] * weakest[i]
    if not size > 0.5:  # there is no guess yet
        for i in range(6):
            weakest[i] = 1.0 / math.sqrt(6.0)
        for _ in range(_FIRST):
            _iterate(w, weakest)
    return math.sqrt(1.0 / _iterate(w, weakest))


@kernel
def _iterate(w, weakest):
    """Inverse iteration u⁺ = A⁻¹u / |A⁻¹u|; returns |A⁻¹u|, which tends to 1/σ²."""
    solve(w.A, weakest, w.y)
    size = 0.0
    for i in range(6):
        size += w.y[i] * w.y[i]
    size = math.sqrt(size)
    for i in range(6):
        weakest[i] = math.copysign(max(abs(w.y[i]) / size, _TRACE), w.y[i])
    return size


@kernel
def damping_at(sigma, threshold, damping):
    """λ²."""
    return damping * damping * (1.0 - (sigma / threshold) ** 2) if sigma < threshold else 0.0


@kernel
def damped_inverse(J, n, V, sigma, threshold, damping, w, qd):
    """Joint velocities for the tool velocity V, and in `w.lost` the part of V lost to damping.

    Call `smallest_singular_value` first: it leaves the factor in `w.A`.
    """
    fill(w.lost, 0.0)
    if n < 6:
        _turn_back(J, n, V, w.b)
    if sigma < threshold:
        if n < 6:
            solve(w.A, w.b, w.y)
            _turn(J, n, w.y, 1.0, w.lost)
        else:
            put(w.lost, V)
        _gram(J, n, damping_at(sigma, threshold, damping), w.A)
        factor(w.A)
    if n < 6:
        solve(w.A, w.b, w.y)
        for k in range(n):
            qd[k] = w.y[k]
    else:
        solve(w.A, V, w.y)
        _turn_back(J, n, w.y, qd)
    if sigma < threshold:
        _turn(J, n, qd, -1.0, w.lost)


@kernel
def _turn(J, n, qd, sign, out):
    """out += sign J q̇."""
    for i in range(6):
        for k in range(n):
            out[i] += sign * J[i, k] * qd[k]


@kernel
def _turn_back(J, n, y, out):
    """out = Jᵀ y."""
    for k in range(n):
        total = 0.0
        for i in range(6):
            total += J[i, k] * y[i]
        out[k] = total
