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

Matrix = np.ndarray[Any, Any]

VIRTUAL_STIFFNESS = 10.0
"""K_v [N/m, N m/rad]."""


def modes(M: Matrix, K: Matrix) -> tuple[Matrix, Matrix]:
    """λ (n,) and the mass-normalised modes Q (n, n, by column) of K q = λ M q."""
    _, values, _, Q = _modes(M, K)
    return values, Q


def _modes(M: Matrix, K: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """L of M = L Lᵀ, λ, the unit vectors V, and the modes Q = L⁻ᵀ V."""
    L = np.linalg.cholesky(M)
    inverse = np.linalg.inv(L)
    values, vectors = np.linalg.eigh(inverse @ K @ inverse.T)
    return L, np.maximum(values, 0.0), vectors, inverse.T @ vectors


def ratio_of_step(zeta: float, swing: float) -> float:
    """The effective ratio of a mode with `zeta` < 1 under implicit steps; `swing` is √λ dt."""
    # z = 1/(1 - s dt) for the pole s, so ln z = -ln(1 + √λ dt (ζ - i √(1 - ζ²)))
    fall = 0.5 * math.log1p(swing * (2.0 * zeta + swing))
    turn = math.atan2(swing * math.sqrt(1.0 - zeta * zeta), 1.0 + swing * zeta)
    return fall / math.hypot(fall, turn)


def ratio_for_step(zeta: float, swing: float) -> float:
    """The ratio that makes a mode under implicit steps have `zeta` < 1; 0 where the step alone provides it."""
    lower = zeta
    for _ in range(10):  # from above, because the step only adds
        lower = max(0.0, lower + zeta - ratio_of_step(lower, swing))
    return lower


def damping_for(M: Matrix, K: Matrix, ratio: Matrix, virtual: float = VIRTUAL_STIFFNESS, dt: float = 0.0) -> Matrix:
    """The damping matrix that gives every mode its ratio; a mode across several axes gets their weighted mean.

    With a period `dt` [s] it is computed for the law's implicit steps, otherwise for continuous time.
    """
    L, values, vectors, Q = _modes(M, K)
    # share of axis i in mode k by kinetic energy: (L⁻¹ has made them unit vectors)
    zeta = ratio @ (vectors * vectors)
    least = virtual * (Q * Q).sum(axis=0)
    strength = 2.0 * zeta * np.sqrt(np.maximum(values, least))
    if dt > 0.0:
        omega = np.sqrt(values)
        for k in np.flatnonzero((values > least) & (zeta < 1.0)).tolist():
            strength[k] = 2.0 * omega[k] * ratio_for_step(float(zeta[k]), float(omega[k]) * dt)
        strength = np.maximum(strength, 2.0 * zeta * np.sqrt(least))
    MQ = L @ vectors  # M Q = L Lᵀ L⁻ᵀ V
    return (MQ * strength) @ MQ.T


def modal_ratios(M: Matrix, D: Matrix, K: Matrix) -> Matrix:
    """The damping ratios of M ẍ + D ẋ + K x = 0, from its eigenvalues, for oscillating modes; n of them, sorted."""
    n = len(M)
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-inverse @ K, -inverse @ D]])
    poles = np.linalg.eigvals(A)
    upper = poles[poles.imag > 1e-9]
    return np.sort(-upper.real / np.abs(upper))


# ---- from parameters to what the law computes with -----------------------------------------------------------------


def admissible(p: Any) -> bool:
    """Whether the matrices of a law's section (as a record) are symmetric and not negative, the mass positive."""
    for name, least in (("mass", 1e-7), ("stiffness", -1e-8), ("damping", -1e-8)):
        A = np.array(p[name])
        if np.abs(A - A.T).max() > 1e-8 * max(1.0, np.abs(A).max()):
            return False
        values = np.linalg.eigvalsh(A)
        if not values[0] >= least * max(values[-1], 1.0 if least < 0.0 else 1e-3):
            return False
    return True


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


def work_out(gains: Any, dt: float) -> None:
    """Derive from M1, D1, K1 the free directions and v⁺ = of_v v + of_F F - of_e e for ticks of dt [s]."""
    M, D, K = gains["M1"], gains["D1"], gains["K1"]
    A = M + dt * (D + dt * K)
    gains["free"], gains["dt"] = ~K.any(axis=1), dt
    gains["of_v"], gains["of_F"] = np.linalg.solve(A, M), dt * np.linalg.inv(A)
    gains["of_e"] = gains["of_F"] @ K
