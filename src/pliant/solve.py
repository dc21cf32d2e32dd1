"""Symmetric positive definite 6×6 systems: factor once, solve. No allocation, no pivoting, no library call."""

from __future__ import annotations

import math

from pliant.kernel import kernel

# Keeps the factorisation of a rank-deficient matrix finite.
FLOOR = 1e-12


@kernel
def factor(A):
    """Cholesky in place: A = L Lᵀ (lower triangle), with 1/L_ii on the diagonal because divisions are slow."""
    for i in range(6):
        for j in range(i):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            A[i, j] = total * A[j, j]
        total = A[i, i]
        for k in range(i):
            total -= A[i, k] * A[i, k]
        A[i, i] = 1.0 / math.sqrt(max(total, FLOOR))


@kernel
def solve(L, b, x):
    """Solve L Lᵀ x = b with the factor of `factor`; x may not be b."""
    for i in range(6):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total * L[i, i]
    for i in range(5, -1, -1):
        total = x[i]
        for k in range(i + 1, 6):
            total -= L[k, i] * x[k]
        x[i] = total * L[i, i]


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
