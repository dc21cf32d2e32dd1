"""Rotations and poses for the tests: kernels as functions, and random arguments for them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pliant import spatial
from support.needs import library
from support.properties import examples

pin: Any = library("pinocchio")

Array = np.ndarray[Any, Any]
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
SAMPLES = 2000

properties = examples(60)


def call(function: Callable[..., None], *arguments: Any, shape: int | tuple[int, ...]) -> Array:
    """The result of a kernel in a new array, NaN wherever the kernel wrote nothing."""
    out = np.full(shape, np.nan)
    function(*arguments, out)
    return out


def mul(A: Array, B: Array) -> Array:
    return call(spatial.pose_mul, A, B, shape=7)


def inv(A: Array) -> Array:
    return call(spatial.pose_inv, A, shape=7)


def exp3(w: Array) -> Array:
    return call(spatial.so3_exp, w, shape=4)


def log3(q: Array) -> Array:
    return call(spatial.so3_log, q, shape=3)


def exp6(xi: Array) -> Array:
    return call(spatial.se3_exp, xi, shape=7)


def log6(X: Array) -> Array:
    return call(spatial.se3_log, X, shape=6)


def matrix(q: Array) -> Array:
    return call(spatial.quat_to_mat, q, shape=(3, 3))


def adjoint(X: Array) -> Array:
    return call(spatial.adjoint, X, shape=(6, 6))


def vectors(n: int, bound: float = 2.0) -> st.SearchStrategy[Array]:
    return st.lists(st.floats(-bound, bound), min_size=n, max_size=n).map(np.array)


def quaternions() -> st.SearchStrategy[Array]:
    return vectors(4).filter(lambda q: np.linalg.norm(q) > 0.1).map(lambda q: q / np.linalg.norm(q))


def poses() -> st.SearchStrategy[Array]:
    return st.tuples(vectors(3), quaternions()).map(np.concatenate)


def random_rotation_vectors(rng: np.random.Generator, largest: float) -> Array:
    axes = rng.normal(size=(SAMPLES, 3))
    return axes / np.linalg.norm(axes, axis=1, keepdims=True) * rng.uniform(0.0, largest, (SAMPLES, 1))


def random_poses(rng: np.random.Generator) -> Array:
    q = rng.normal(size=(SAMPLES, 4))
    return np.hstack([rng.uniform(-2, 2, (SAMPLES, 3)), q / np.linalg.norm(q, axis=1, keepdims=True)])


def pin_pose(X: Array) -> Any:
    return pin.SE3(pin.Quaternion(X[3], X[4], X[5], X[6]).matrix(), X[:3])


def same_pose(A: Array, B: Array, tolerance: float = 1e-12) -> None:
    assert_allclose(A[:3], B[:3], atol=tolerance, rtol=0)
    assert_allclose(A[3:] * np.sign(A[3:] @ B[3:]), B[3:], atol=tolerance, rtol=0)
