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


def exp3(w: Array) -> Array:
    return call(spatial.so3_exp, w, shape=4)


def log3(q: Array) -> Array:
    return call(spatial.pose_error, np.concatenate([np.zeros(3), q]), IDENTITY, shape=6)[3:]


def matrix(q: Array) -> Array:
    return call(spatial.quat_to_mat, q, shape=(3, 3))


def vectors(n: int, bound: float = 2.0) -> st.SearchStrategy[Array]:
    return st.lists(st.floats(-bound, bound), min_size=n, max_size=n).map(np.array)


def quaternions() -> st.SearchStrategy[Array]:
    return vectors(4).filter(lambda q: np.linalg.norm(q) > 0.1).map(lambda q: q / np.linalg.norm(q))


def poses() -> st.SearchStrategy[Array]:
    return st.tuples(vectors(3), quaternions()).map(np.concatenate)


def random_rotation_vectors(rng: np.random.Generator, largest: float) -> Array:
    axes = rng.normal(size=(SAMPLES, 3))
    return axes / np.linalg.norm(axes, axis=1, keepdims=True) * rng.uniform(0.0, largest, (SAMPLES, 1))


def same_pose(A: Array, B: Array, tolerance: float = 1e-12) -> None:
    assert_allclose(A[:3], B[:3], atol=tolerance, rtol=0)
    assert_allclose(A[3:] * np.sign(A[3:] @ B[3:]), B[3:], atol=tolerance, rtol=0)
