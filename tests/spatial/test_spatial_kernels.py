"""Agreement with an independent library; compiled and not, and nothing is allocated."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.runtime.nrt import rtsys
from numpy.testing import assert_allclose, assert_array_equal
from se3 import (
    IDENTITY,
    SAMPLES,
    Array,
    call,
    exp3,
    log3,
    matrix,
    pin,
    random_rotation_vectors,
)

from pliant import spatial
from pliant.kernel import kernel
from pliant.records import STATE

# ---- an independent library ----------------------------------------------------------------------------------------


class Pairs:
    """Our results beside theirs: gathered one by one, compared at once."""

    def __init__(self) -> None:
        self.ours: list[Array] = []
        self.theirs: list[Array] = []

    def add(self, ours: Array, theirs: Array) -> None:
        assert ours.shape == np.shape(theirs)
        self.ours.append(ours.ravel())
        self.theirs.append(np.ravel(theirs))

    def agree(self) -> None:
        assert_allclose(np.concatenate(self.ours), np.concatenate(self.theirs), atol=1e-12, rtol=0)


def test_rotations_agree_with_pinocchio() -> None:
    rng, pairs = np.random.default_rng(1), Pairs()
    for w, v in zip(random_rotation_vectors(rng, 3.0), rng.normal(size=(SAMPLES, 3)), strict=True):
        q, R = exp3(w), pin.exp3(w)
        theirs = pin.Quaternion(*q)
        pairs.add(matrix(q), R)
        pairs.add(matrix(q), theirs.matrix())
        pairs.add(log3(q), pin.log3(R))
        pairs.add(call(spatial.quat_rotate, q, v, shape=3), theirs * v)
    pairs.agree()


# ---- the kernels as kernels ----------------------------------------------------------------------------------------

_A = np.concatenate([[0.3, -0.2, 0.9], np.array([1.0, -2.0, 3.0, -4.0]) / math.sqrt(30.0)])
_B = np.concatenate([[-0.7, 0.1, 0.4], np.array([-5.0, 2.0, 1.0, 3.0]) / math.sqrt(39.0)])
_V = np.array([0.4, -0.8, 1.2, 0.7, -1.1, 0.5])


@kernel
def every_function(A, B, V, rows, R):
    """Call every function of the module once; row i of `rows` and R hold the results."""
    a, b, v = A[3:], B[3:], V[:3]
    spatial.cross(v, V[3:], rows[0])
    spatial.quat_mul(a, b, rows[1])
    spatial.quat_rotate(a, v, rows[2])
    spatial.quat_rotate_inv(a, v, rows[3])
    spatial.quat_to_mat(a, R)
    spatial.mat_to_quat(R, rows[4])
    spatial.so3_exp(v, rows[5])
    spatial.pose_error(A, B, rows[6])
    spatial.pose_integrate(A, V, 0.002, rows[7])
    rows[8, 0], rows[8, 1], rows[8, 2] = spatial.rotated(a[0], a[1], a[2], a[3], v[0], v[1], v[2])
    rows[9, 0], rows[9, 1], rows[9, 2], rows[9, 3] = spatial.product(a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3])


@kernel
def every_function_often(n, A, B, V, rows, R):
    for _ in range(n):
        every_function(A, B, V, rows, R)


@kernel
def allocate_often(n, rows):
    for i in range(n):
        rows[0, 0] += np.full(3, float(i))[1]


def results() -> list[float]:
    """What every function returns over random inputs, small and large angles included."""
    rng, numbers = np.random.default_rng(5), []
    rows, R = np.zeros((10, 7)), np.zeros((3, 3))
    for i in range(100):
        A, B, V = rng.normal(size=7), rng.normal(size=7), rng.normal(size=6)
        A[4:] *= 10.0 ** -(i % 12)
        V[3:] *= 10.0 ** -(i % 12)
        A[3:] /= np.linalg.norm(A[3:])
        B[3:] /= np.linalg.norm(B[3:])
        every_function(A, B, V, rows, R)
        numbers += [*rows.ravel().tolist(), *R.ravel().tolist()]
    return numbers


def allocations() -> dict[str, int]:
    """How many blocks Numba's runtime hands out in 1 and in 1000 rounds, with and without an allocating kernel."""
    rows, R = np.zeros((10, 7)), np.zeros((3, 3))

    def count(function: Callable[..., None], *arguments: Any) -> int:
        before = rtsys.get_allocation_stats()
        function(*arguments)
        after = rtsys.get_allocation_stats()
        return after.alloc - before.alloc

    every_function_often(1, _A, _B, _V, rows, R)
    allocate_often(1, rows)
    return {
        "one": count(every_function_often, 1, _A, _B, _V, rows, R),
        "many": count(every_function_often, 1000, _A, _B, _V, rows, R),
        "allocating": count(allocate_often, 1000, rows),
    }


def in_another_process(expression: str, **environment: str) -> Any:
    """The value of an expression over this module, in a new interpreter with other settings of Numba."""
    code = f"import json, test_spatial_kernels; print(json.dumps(test_spatial_kernels.{expression}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_function_is_exercised() -> None:
    public = {
        name
        for name, value in vars(spatial).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == spatial.__name__
    }
    source: Any = getattr(every_function, "py_func", every_function)
    assert {"cross", "pose_integrate"} <= public
    assert public <= set(source.__code__.co_names)


def test_compiled_and_interpreted_kernels_give_the_same_numbers() -> None:
    other = in_another_process("results()", NUMBA_DISABLE_JIT="1" if hasattr(every_function, "py_func") else "0")
    assert_allclose(results(), other, atol=1e-15, rtol=1e-15)


def test_kernels_do_not_allocate() -> None:
    blocks = in_another_process("allocations()", NUMBA_NRT_STATS="1", NUMBA_DISABLE_JIT="0")
    assert blocks["allocating"] >= 1000  # the counter counts
    assert blocks["many"] == blocks["one"]


@pytest.mark.parametrize(
    ("function", "inputs", "reused"),
    [
        (spatial.cross, (_V[:3], _V[3:]), 0),
        (spatial.cross, (_V[:3], _V[3:]), 1),
        (spatial.quat_mul, (_A[3:], _B[3:]), 0),
        (spatial.quat_mul, (_A[3:], _B[3:]), 1),
        (spatial.quat_rotate, (_A[3:], _V[:3]), 1),
        (spatial.quat_rotate_inv, (_A[3:], _V[:3]), 1),
        (spatial.pose_integrate, (_A, _V, 0.1), 0),
    ],
)
def test_the_result_may_overwrite_an_input(function: Any, inputs: tuple[Any, ...], reused: int) -> None:
    expected = call(function, *inputs, shape=len(inputs[reused]))
    copies: list[Any] = [np.copy(x) if isinstance(x, np.ndarray) else x for x in inputs]
    function(*copies, copies[reused])
    assert_array_equal(copies[reused], expected)


@kernel
def _advance(state, dt):
    s = state[0]
    spatial.pose_integrate(s.pose, s.twist, dt, s.pose)


def test_kernels_read_and_write_the_fields_of_records() -> None:
    state = STATE.new()
    state["pose"][0], state["twist"][0] = _A, _V
    _advance(state, 0.1)
    assert_array_equal(state["pose"][0], call(spatial.pose_integrate, _A, _V, 0.1, shape=7))


@pytest.mark.parametrize("place", range(7))
def test_nan_in_a_pose_is_never_lost(place: int) -> None:
    X = IDENTITY.copy()
    X[place] = np.nan
    assert np.isnan(call(spatial.pose_integrate, X, np.zeros(6), 0.1, shape=7)).any()
    for inputs in ((X, IDENTITY), (IDENTITY, X)):
        assert np.isnan(call(spatial.pose_error, *inputs, shape=6)).any()
