"""Damping from a ratio, for full matrices: every mode of (M, K) gets the requested damping ratio.

    K q = λ M q,  qᵀ M q = 1         the modes
    D = M Q diag(2 ζ √λ') Qᵀ M       λ' = max(λ, K_v |q|²)

A damping ratio is undefined without a spring, so a mode softer than the virtual stiffness K_v is damped as if it had
that stiffness. For diagonal matrices D = 2 ζ √(M max(K, K_v)), which never falls when K rises, in continuous time.

The law's implicit step adds some damping to an oscillating mode: about ½ √λ dt (1 - ζ²), so that 0.70 becomes 0.72 at
30 rad/s and 500 Hz. Given the period, the matrix is reduced by that amount. So a spring that is stiff for the period
and lightly damped (ζ 0.05 above 5 kN/m with 8 kg at 500 Hz) gets most of its damping from the step.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.kernel import copy_bytes, fill, kernel, record_at
from pliant.records import Field, Layout
from pliant.solve import diagonalise, factor, factor_n, solve, solve_lower, solve_upper

Matrix = np.ndarray[Any, Any]

VIRTUAL_STIFFNESS = 10.0
"""K_v [N/m, N m/rad]."""


_MATRIX = (6, 6)

GAINS = Layout(
    "Gains",
    (
        Field("number", "", "number of the parameter set that made this change", kind="i8"),
        Field("M0", "kg, kg m^2", "mass at the start of the change", _MATRIX),
        Field("D0", "N s/m, N m s/rad", "damping at the start of the change", _MATRIX),
        Field("K0", "N/m, N m/rad", "stiffness at the start of the change", _MATRIX),
        Field("M1", "kg, kg m^2", "mass at the end of the change", _MATRIX),
        Field("D1", "N s/m, N m s/rad", "damping at the end of the change", _MATRIX),
        Field("K1", "N/m, N m/rad", "stiffness at the end of the change", _MATRIX),
        Field("free", "", "1 where no spring acts on an axis", (6,), "i8"),
        Field("dt", "s", "period for which the next three are computed"),
        Field("of_v", "", "(M + dt D + dt^2 K)^-1 M, at the end of the change", _MATRIX),
        Field("of_F", "1/kg, 1/(kg m^2), s", "dt (M + dt D + dt^2 K)^-1", _MATRIX),
        Field("of_e", "1/s", "dt (M + dt D + dt^2 K)^-1 K", _MATRIX),
    ),
)
"""What the law computes with, derived from the parameters when they take effect."""

_GAINS, _BYTES = GAINS.dtype, GAINS.dtype.itemsize


def modes(M: Matrix, K: Matrix) -> tuple[Matrix, Matrix]:
    """λ (n,) and the mass-normalised modes Q (n, n, by column) of K q = λ M q."""
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    values, vectors = np.linalg.eigh(inverse @ K @ inverse.T)
    return np.maximum(values, 0.0), inverse.T @ vectors


@kernel
def ratio_of_step(zeta, swing):
    """The effective ratio of a mode with `zeta` < 1 under implicit steps; `swing` is √λ dt."""
    # z = 1/(1 - s dt) for the pole s, so ln z = -ln(1 + √λ dt (ζ - i √(1 - ζ²)))
    fall = 0.5 * math.log1p(swing * (2.0 * zeta + swing))
    turn = math.atan2(swing * math.sqrt(1.0 - zeta * zeta), 1.0 + swing * zeta)
    return fall / math.hypot(fall, turn)


@kernel
def ratio_for_step(zeta, swing):
    """The ratio that makes a mode under implicit steps have `zeta` < 1; 0 where the step alone provides it."""
    lower = zeta
    for _ in range(10):  # from above, because the step only adds
        lower = max(0.0, lower + zeta - ratio_of_step(lower, swing))
    return lower


def damping_for(M: Matrix, K: Matrix, ratio: Matrix, virtual: float = VIRTUAL_STIFFNESS, dt: float = 0.0) -> Matrix:
    """The damping matrix that gives every mode its ratio; a mode across several axes gets their weighted mean.

    With a period `dt` [s] it is computed for the law's implicit steps, otherwise for continuous time.
    """
    D = np.zeros_like(M)
    damping_into(M, K, ratio, virtual, dt, np.empty((3, *M.shape)), D)
    return D


@kernel
def damping_into(M, K, ratio, virtual, dt, scratch, D):
    """`damping_for`, added to D."""
    n, (L, C, V) = len(M), scratch
    factor_n(M, n, L)
    for i in range(n):  # C = L⁻¹ K L⁻ᵀ
        for j in range(n):
            C[i, j] = K[i, j]
        solve_lower(L, n, C[i])
    for j in range(n):
        solve_lower(L, n, C[:, j])
    diagonalise(C, V)
    for k in range(n):
        zeta, v = 0.0, V[:, k]
        for i in range(n):  # share of axis i in mode k by kinetic energy
            zeta += ratio[i] * v[i] * v[i]
        swing = max(C[k, k], 0.0)
        m = C[:, k]  # not needed any more: M q = L v
        for i in range(n):
            m[i] = v[i] / L[i, i]
            for j in range(i):
                m[i] += L[i, j] * v[j]
        solve_upper(L, n, v)  # the mode q = L⁻ᵀ v
        least = 0.0
        for i in range(n):
            least += virtual * v[i] * v[i]
        strength = 2.0 * zeta * math.sqrt(max(swing, least))
        if dt > 0.0 and swing > least and zeta < 1.0:
            omega = math.sqrt(swing)
            strength = max(2.0 * omega * ratio_for_step(zeta, omega * dt), 2.0 * zeta * math.sqrt(least))
        for i in range(n):
            for j in range(n):
                D[i, j] += strength * m[i] * m[j]


def modal_ratios(M: Matrix, D: Matrix, K: Matrix) -> Matrix:
    """The damping ratios of M ẍ + D ẋ + K x = 0, from its eigenvalues, for oscillating modes; n of them, sorted."""
    n = len(M)
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ D]])
    poles = np.linalg.eigvals(A)
    upper = poles[poles.imag > 1e-9]
    return np.sort(-upper.real / np.abs(upper))


# ---- from parameters to what the law computes with -----------------------------------------------------------------


# The lowest eigenvalue that mass, stiffness and damping must have, as a share of the highest, which counts no less than
# this.
_LEAST, _FLOOR = np.array([1e-7, -1e-8, -1e-8]), np.array([1e-3, 1.0, 1.0])


def admissible(p: Any) -> bool:
    """Whether the matrices of a law's section (as a record) are symmetric and not negative, the mass positive."""
    A = np.array([p["mass"], p["stiffness"], p["damping"]])
    skew, size = np.abs(A - A.transpose(0, 2, 1)).max(axis=(1, 2)), np.abs(A).max(axis=(1, 2))
    if (skew > 1e-8 * np.maximum(1.0, size)).any():
        return False
    lowest, highest = np.linalg.eigvalsh(A)[:, [0, -1]].T
    return bool((lowest >= _LEAST * np.maximum(highest, _FLOOR)).all())


# A direction that does not give way is held at the goal by a critically damped spring of this frequency [rad/s].
_HELD = 2.0 * np.pi * 3.0


def target(p: Any, dt: float = 0.0) -> tuple[Matrix, Matrix, Matrix]:
    """M, D and K of an admittance section (as a record) for steps of the period dt [s]."""
    M, K = np.array(p["mass"]), np.array(p["stiffness"])
    D = np.array(p["damping"]) if p["damping_by"] == 1 else damping_for(M, K, np.array(p["damping_ratio"]), dt=dt)
    for i in np.flatnonzero(np.asarray(p["axes"]) == 0):
        M[i, :] = M[:, i] = D[i, :] = D[:, i] = K[i, :] = K[:, i] = 0.0
        M[i, i], D[i, i], K[i, i] = 1.0, 2.0 * _HELD, _HELD**2
    return M, D, K


def impedance_target(p: Any, dt: float = 0.0) -> tuple[Matrix, Matrix, Matrix]:
    """M, D and K of an impedance section (as a record). A direction that is not controlled is decoupled.

    The law's step keeps the damping ratio, so no correction for the period `dt` is needed.
    """
    M, K, D = np.array(p["mass"]), np.array(p["stiffness"]), np.array(p["damping"])
    off = np.flatnonzero(np.asarray(p["axes"]) == 0)
    for A in (M, K, D):
        A[off, :] = A[:, off] = 0.0
    M[off, off] = 1.0
    if p["damping_by"] == 0:
        D = damping_for(M, K, np.array(p["damping_ratio"]))
        D[off, :] = D[:, off] = 0.0
    return M, D, K


@kernel
def work_out(g, dt):
    """Derive from M1, D1, K1 the free directions and v⁺ = of_v v + of_F F - of_e e for ticks of dt [s]."""
    A = g.of_e
    for i in range(6):
        g.free[i] = 1
        for j in range(6):
            A[i, j] = g.M1[i, j] + dt * (g.D1[i, j] + dt * g.K1[i, j])
            if g.K1[i, j] != 0.0:
                g.free[i] = 0
    g.dt = dt
    factor(A)
    for j in range(6):
        solve(A, g.M1[:, j], g.of_v[:, j])
        fill(g.of_F[:, j], 0.0)
        g.of_F[j, j] = dt
        solve(A, g.of_F[:, j], g.of_F[:, j])
    for i in range(6):
        for j in range(6):
            A[i, j] = 0.0
            for k in range(6):
                A[i, j] += g.of_F[i, k] * g.K1[k, j]


@kernel
def keep_change(gains, old):
    """Go on with the change of other gains; both are addresses."""
    copy_bytes(gains, old, _BYTES)


@kernel
def begin_change(gains, old, ramp, number, M, D, K, dt):
    """Start a change of the gains at an address to M, D and K, from where the change of the `old` ones is at `ramp`.

    Without old ones (0), the change is over at once.
    """
    g, was = record_at(gains, _GAINS), record_at(old if old != 0 else gains, _GAINS)
    g.number = number
    for i in range(6):
        for j in range(6):
            if old == 0:
                g.M0[i, j], g.D0[i, j], g.K0[i, j] = M[i, j], D[i, j], K[i, j]
            else:
                g.M0[i, j] = was.M0[i, j] + ramp * (was.M1[i, j] - was.M0[i, j])
                g.D0[i, j] = was.D0[i, j] + ramp * (was.D1[i, j] - was.D0[i, j])
                g.K0[i, j] = was.K0[i, j] + ramp * (was.K1[i, j] - was.K0[i, j])
            g.M1[i, j], g.D1[i, j], g.K1[i, j] = M[i, j], D[i, j], K[i, j]
    work_out(g, dt)
