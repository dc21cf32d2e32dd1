"""Who may call a kernel: other kernels, Python and Numba; and what reaches the caller."""

import pytest
from numba import njit

from pliant.kernel import kernel


@kernel
def squared(x):
    """A kernel that others call."""
    return x * x


@kernel(separate=True)
def cubed(x):
    """A kernel that others call by its machine code."""
    return x * squared(x)


@kernel
def sums(x):
    """Calls both."""
    return squared(x) + cubed(x)


def test_a_kernel_may_be_called_by_kernels_by_python_and_by_numba() -> None:
    @njit
    def plain(x):
        return sums(x) + cubed(x)

    assert sums(3.0) == 36.0
    assert squared(4.0) == 16.0  # so far only other kernels have called it
    assert squared(4) == 16
    assert cubed(2.0) == 8.0
    assert plain(3.0) == 63.0


def test_an_exception_of_an_inner_kernel_reaches_python() -> None:
    @kernel
    def fails(x):
        if x > 1.0:
            raise ValueError("too large")
        return x

    @kernel
    def calls(x):
        return fails(x) + 1.0

    assert calls(0.5) == 1.5
    with pytest.raises(ValueError, match="too large"):
        calls(2.0)


def test_a_separate_kernel_must_be_found_by_its_name() -> None:
    hidden = kernel(separate=True)(lambda x: x)
    caller = kernel(lambda x: hidden(x))
    with pytest.raises(ValueError, match="module level"):
        caller(1.0)
