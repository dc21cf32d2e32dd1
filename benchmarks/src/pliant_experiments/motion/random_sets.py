"""Random valid parameter sets, including full matrices and extremes, and whether the law is stable with them.

Stable means more than bounded: without a push, ½ vᵀ M v + ½ eᵀ K e grows in no tick beyond rounding (10⁻⁹ of its
initial value). The explicit law is judged by its largest pole, which is less strict.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.analysis.targets import Figure, at_most, reported
from pliant.control.laws import admittance
from pliant.control.parameters import GAINS, Admittance
from pliant.kernel import kernel
from pliant.params.packing import to_record
from pliant.records import STATE

Array = np.ndarray[Any, Any]

SETS, TICKS = 100_000, 30
_RIVAL_SETS = 10_000


@kernel
def _energy(g, v, e):
    total = 0.0
    for i in range(6):
        for j in range(6):
            total += 0.5 * (v[i] * g.M1[i, j] * v[j] + e[i] * g.K1[i, j] * e[j])
    return total


@kernel
def count_unstable(p, gains, dts, starts, ticks, state, work, e, nothing):
    """The number of sets in which the energy of a random start grows in any of `ticks` ticks."""
    s, count = state[0], 0
    for n in range(len(dts)):
        g = gains[n]
        s.ramp = 1.0
        for i in range(6):
            s.twist[i], e[i] = starts[n, i], starts[n, 6 + i]
        start = before = _energy(g, s.twist, e)
        for _ in range(ticks):
            admittance.step(p[0], g, s, nothing, e, nothing, s.twist, 0.0, dts[n], work[0])
            for i in range(6):
                e[i] += dts[n] * s.twist[i]
            after = _energy(g, s.twist, e)
            if not after <= before + 1e-9 * start:
                count += 1
                break
            before = after
    return count


def _turns(random: np.random.Generator, n: int) -> Array:
    """n random orthogonal 6×6 matrices, each the product of two reflections."""
    u = random.normal(size=(2, n, 6))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    one, two = (np.eye(6) - 2 * w[:, :, None] * w[:, None, :] for w in u)
    return one @ two


def _matrices(random: np.random.Generator, n: int, low: float, high: float, zeros: float, span: float) -> Array:
    """n symmetric matrices: a size between 10^low and 10^high, values down to `span` decades below, some of them 0."""
    size = random.uniform(low, high, (n, 1))
    values = 10.0 ** (size - random.uniform(0, span, (n, 6)))
    values[random.random((n, 6)) < zeros] = 0.0
    Q = _turns(random, n)
    Q[random.random(n) < 0.3] = np.eye(6)  # plain diagonals too
    matrices = np.einsum("nij,nj,nkj->nik", Q, values, Q)
    return 0.5 * (matrices + matrices.transpose(0, 2, 1))


def draw_sets(random: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array]:
    """Masses of 1 g to 1 t, springs to 10⁷ N/m, dampers to 10⁶ N s/m, 125 to 1000 Hz."""
    M = _matrices(random, n, -3.0, 3.0, 0.0, 5.5)
    D = _matrices(random, n, -1.0, 6.0, 0.2, 5.0)
    K = _matrices(random, n, -1.0, 7.0, 0.2, 5.0)
    return M, D, K, random.uniform(0.001, 0.008, n)


def largest_pole(M: Array, D: Array, K: Array, dt: Array) -> Array:
    """|z| of the fastest-growing mode of the explicit law: v⁺ = v - dt M⁻¹ (D v + K e), e⁺ = e + dt v⁺."""
    n, t = len(M), dt[:, None, None]
    A = np.zeros((n, 12, 12))
    A[:, 6:, :6] = -t * np.linalg.solve(M, K)
    A[:, 6:, 6:] = np.eye(6) - t * np.linalg.solve(M, D)
    A[:, :6, :6] = np.eye(6) + t * A[:, 6:, :6]
    A[:, :6, 6:] = t * A[:, 6:, 6:]
    return np.abs(np.linalg.eigvals(A)).max(axis=1)


def stability(seed: int) -> tuple[list[Figure], tuple[float, float]]:
    """Figures, and the unstable share of Pliant's law and of the explicit one."""
    random = np.random.default_rng(seed)
    M, D, K, dt = draw_sets(random, SETS)
    gains = GAINS.new(SETS)
    for name, matrices in (("M1", M), ("D1", D), ("K1", K)):
        gains[name] = matrices
    state, work, starts = STATE.new(), admittance.SCRATCH.new(), random.normal(size=(SETS, 12))
    p, e, nothing = to_record(Admittance()), np.zeros(6), np.zeros(6)
    unstable = count_unstable(p, gains, dt, starts, TICKS, state, work, e, nothing)
    few = slice(0, _RIVAL_SETS)
    share = float((largest_pole(M[few], D[few], K[few], dt[few]) > 1.0 + 1e-6).mean())
    figures = [
        at_most(f"unstable among {SETS:,} random sets of M, D, K and period", unstable, "", 0.0),
        reported(f"explicit integration: unstable share of {_RIVAL_SETS:,} sets", 100 * share, "%"),
    ]
    return figures, (unstable / SETS, share)
