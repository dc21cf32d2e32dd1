"""Symmetric positive definite 6×6 systems: factor once, solve. No allocation, pivoting, library call or square root."""

from __future__ import annotations

import math

from pliant.kernel import kernel

# Keeps the factorisation of a rank-deficient matrix finite.
FLOOR = 1e-12
# Off the diagonal, a matrix is diagonal below this share of the diagonal; the sweeps that reach it are few.
_DUST, _SWEEPS = 1e-17, 60


@kernel
def factor(A):
    """A = L D Lᵀ in place, from its lower triangle: L below the diagonal, 1/D on it, L D above it.

    It uses no square roots and divides only here, because both operations are slow.
    """
    for i in range(6):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[k, i] * A[j, k]
            A[j, i] = total
            A[i, j] = total * A[j, j]
        total = A[i, i]
        for k in range(i):
            total -= A[k, i] * A[i, k]
        A[i, i] = 1.0 / max(total, FLOOR)


@kernel
def solve(L, b, x):
    """Solve A x = b with the factor of `factor`; x may be b."""
    for i in range(6):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total
    for i in range(5, -1, -1):
        total = x[i] * L[i, i]
        for k in range(i + 1, 6):
            total -= L[k, i] * x[k]
        x[i] = total


# ---- of any size ---------------------------------------------------------------------------------------------------


@kernel
def factor_n(A, n, L):
    """Cholesky of the leading n×n part: A = L Lᵀ (lower triangle of L), with 1/L_ii on the diagonal."""
    for i in range(n):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total * L[j, j]
        total = A[i, i]
        for k in range(i):
            total -= L[i, k] * L[i, k]
        L[i, i] = 1.0 / math.sqrt(max(total, FLOOR))


@kernel
def solve_lower(L, n, b):
    """Replace b by L⁻¹ b, with the factor of `factor_n`."""
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total * L[i, i]


@kernel
def solve_upper(L, n, b):
    """Replace b by L⁻ᵀ b, with the factor of `factor_n`."""
    for i in range(n - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, n):
            total -= L[k, i] * b[k]
        b[i] = total * L[i, i]


@kernel
def diagonalise(A, V):
    """Jacobi's method: the eigenvalues of the symmetric matrix A on its diagonal, unit eigenvectors as columns of V."""
    n = len(A)
    for i in range(n):
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    size = 0.0
    for i in range(n):
        size += abs(A[i, i])
    for _ in range(_SWEEPS):
        rotated = False
        for p in range(n):
            for q in range(p + 1, n):
                if abs(A[p, q]) > _DUST * (math.sqrt(abs(A[p, p] * A[q, q])) + _DUST * size):
                    _rotate(A, V, p, q)
                    rotated = True
        if not rotated:
            return


@kernel
def _rotate(A, V, p, q):
    """Make A[p, q] zero by a rotation in the plane of p and q."""
    theta = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
    t = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1.0))
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(len(A)):
        A[k, p], A[k, q] = c * A[k, p] - s * A[k, q], s * A[k, p] + c * A[k, q]
    for k in range(len(A)):
        A[p, k], A[q, k] = c * A[p, k] - s * A[q, k], s * A[p, k] + c * A[q, k]
        V[k, p], V[k, q] = c * V[k, p] - s * V[k, q], s * V[k, p] + c * V[k, q]
    A[p, q] = A[q, p] = 0.0
