"""Rotations, poses and transport: group laws, accuracy at the hard angles, agreement with Pinocchio, no allocation."""

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
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.runtime.nrt import rtsys
from numpy.testing import assert_allclose, assert_array_equal

from pliant import spatial
from pliant.kernel import kernel
from pliant.records import STATE

pin: Any = pytest.importorskip("pinocchio")

Array = np.ndarray[Any, Any]
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
SAMPLES = 2000

properties = settings(deadline=None, max_examples=60)


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


# ---- group laws ----------------------------------------------------------------------------------------------------


@properties
@given(poses(), poses(), poses())
def test_chaining_poses_is_associative(A: Array, B: Array, C: Array) -> None:
    assert_allclose(mul(mul(A, B), C), mul(A, mul(B, C)), atol=1e-13)


@properties
@given(poses())
def test_identity_leaves_a_pose_unchanged(A: Array) -> None:
    assert_array_equal(mul(A, IDENTITY), A)
    assert_array_equal(mul(IDENTITY, A), A)


@properties
@given(poses())
def test_a_pose_and_its_inverse_cancel(A: Array) -> None:
    assert_allclose(mul(A, inv(A)), IDENTITY, atol=1e-14)
    assert_allclose(mul(inv(A), A), IDENTITY, atol=1e-14)


@properties
@given(quaternions(), quaternions())
def test_product_of_quaternions_is_product_of_matrices(a: Array, b: Array) -> None:
    product = call(spatial.quat_mul, a, b, shape=4)
    assert_allclose(matrix(product), matrix(a) @ matrix(b), atol=1e-14)
    assert_allclose(matrix(call(spatial.quat_conj, a, shape=4)), matrix(a).T, atol=1e-14)


@properties
@given(poses(), poses(), vectors(3))
def test_a_chained_pose_applies_one_pose_after_the_other(A: Array, B: Array, p: Array) -> None:
    inner = call(spatial.pose_apply, B, p, shape=3)
    assert_allclose(
        call(spatial.pose_apply, mul(A, B), p, shape=3), call(spatial.pose_apply, A, inner, shape=3), atol=1e-13
    )


@properties
@given(quaternions(), vectors(3))
def test_rotating_a_vector_is_multiplying_by_the_matrix_and_can_be_undone(q: Array, v: Array) -> None:
    rotated = call(spatial.quat_rotate, q, v, shape=3)
    assert_allclose(rotated, matrix(q) @ v, atol=1e-14)
    assert_allclose(call(spatial.quat_rotate_inv, q, rotated, shape=3), v, atol=1e-14)


@properties
@given(vectors(3), vectors(3))
def test_cross_is_the_vector_product(a: Array, b: Array) -> None:
    assert_allclose(call(spatial.cross, a, b, shape=3), np.cross(a, b), atol=1e-15)


# ---- conversions ---------------------------------------------------------------------------------------------------


@properties
@given(quaternions())
def test_quaternion_to_matrix_and_back_is_the_same_rotation(q: Array) -> None:
    R = matrix(q)
    assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    back = call(spatial.mat_to_quat, R, shape=4)
    assert back[0] >= 0
    assert_allclose(back * np.sign(back @ q), q, atol=1e-14)
    assert_array_equal(call(spatial.mat9_to_quat, R.ravel(), shape=4), back)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, -1, 1), (1, 0, -1), (1, 1, 1)])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5 * math.pi, 2.0 * math.pi / 3.0, 3.12, 3.14, math.pi - 1e-9, math.pi])
def test_matrix_to_quaternion_is_accurate_at_every_change_of_branch(axis: tuple[int, ...], angle: float) -> None:
    q = exp3(np.array(axis) / np.linalg.norm(axis) * angle)
    back = call(spatial.mat_to_quat, matrix(q), shape=4)
    assert_allclose(back * np.sign(back @ q), q, atol=1e-15, rtol=0)


def test_a_slightly_skewed_matrix_still_gives_a_unit_quaternion() -> None:
    R = matrix(exp3(np.array([0.3, -1.2, 0.7])))
    q = call(spatial.mat_to_quat, R + 1e-6 * np.ones((3, 3)), shape=4)
    assert abs(np.linalg.norm(q) - 1.0) < 1e-15


def test_normalizing_keeps_the_direction_and_shows_a_quaternion_that_has_none() -> None:
    q = np.array([0.0, 3.0, 0.0, -4.0])
    spatial.quat_normalize(q)
    assert_allclose(q, [0.0, 0.6, 0.0, -0.8], rtol=1e-15)
    q[:] = 0.0
    spatial.quat_normalize(q)
    assert np.isnan(q).all()


# ---- exponential and logarithm -------------------------------------------------------------------------------------


@properties
@given(vectors(3, 1.8))
def test_exp_then_log_returns_the_rotation_vector(w: Array) -> None:
    assert_allclose(log3(exp3(w)), w, atol=4e-15, rtol=0)  # |w| ≤ 1.8 √3 < π


@properties
@given(quaternions())
def test_log_then_exp_returns_the_rotation(q: Array) -> None:
    assert np.linalg.norm(log3(q)) <= math.pi + 1e-15
    assert_allclose(matrix(exp3(log3(q))), matrix(q), atol=1e-14)


@pytest.mark.parametrize("angle", [1e-300, 1e-160, 1e-141, 1e-140, 1e-100, 1e-16, 1e-8, 1e-5, 1e-3])
def test_tiny_rotations_keep_all_their_digits(angle: float) -> None:
    axis = np.array([2.0, -3.0, 6.0]) / 7.0
    w = angle * axis
    q = exp3(w)
    assert_allclose(q[1:], math.sin(0.5 * angle) * axis, rtol=1e-15, atol=0)
    assert_allclose(log3(q), w, rtol=1e-15, atol=0)


@pytest.mark.parametrize("angle", [1e-300, 1e-141, 1e-8, 9.9e-5, 1e-4, 1.1e-4, 1e-3, 0.1])
def test_tiny_screw_motions_keep_all_their_digits(angle: float) -> None:
    xi = np.concatenate([[0.3, -0.2, 0.9], angle * np.array([2.0, -3.0, 6.0]) / 7.0])
    assert_allclose(log6(exp6(xi)), xi, rtol=2e-15, atol=0)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12])
def test_rotations_just_below_half_a_turn_survive_the_round_trip(gap: float) -> None:
    phi = (math.pi - gap) * np.array([2.0, -3.0, 6.0]) / 7.0
    assert_allclose(log3(exp3(phi)), phi, rtol=1e-15, atol=0)
    xi = np.concatenate([[0.3, -0.2, 0.9], phi])
    assert_allclose(log6(exp6(xi)), xi, rtol=1e-14, atol=0)


def test_a_rotation_beyond_half_a_turn_comes_back_the_short_way() -> None:
    assert_allclose(log3(exp3(np.array([0.0, 0.0, 1.5 * math.pi]))), [0.0, 0.0, -0.5 * math.pi], rtol=1e-15)


@properties
@given(quaternions().filter(lambda q: abs(q[0]) > 1e-12))
def test_a_quaternion_and_its_negative_have_one_logarithm(q: Array) -> None:
    assert_array_equal(log3(q), log3(-q))


def test_half_a_turn_has_a_logarithm_of_length_pi() -> None:
    for q in np.vstack([np.eye(4)[1:], -np.eye(4)[1:]]):
        assert_allclose(log3(q), math.pi * q[1:], rtol=1e-15)


@properties
@given(vectors(3), vectors(3, 1.8))
def test_exp_then_log_returns_the_screw_motion(rho: Array, phi: Array) -> None:
    xi = np.concatenate([rho, phi])
    assert_allclose(log6(exp6(xi)), xi, atol=1e-13, rtol=0)


def test_a_quarter_turn_about_a_distant_axis_follows_its_circle() -> None:
    # Twist of a frame that circles the axis through (0, 1, 0) along z: it starts along +x and ends at (1, 1, 0).
    half = math.sqrt(0.5)
    got = exp6(0.5 * math.pi * np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    assert_allclose(got, [1.0, 1.0, 0.0, half, 0.0, 0.0, half], atol=1e-15)


# ---- errors and integration ----------------------------------------------------------------------------------------


@properties
@given(quaternions(), quaternions())
def test_rotation_error_turns_b_into_a(a: Array, b: Array) -> None:
    e = call(spatial.rotation_error, a, b, shape=3)
    assert_allclose(matrix(exp3(e)) @ matrix(b), matrix(a), atol=1e-14)


@properties
@given(quaternions(), vectors(3, 1.8))
def test_rotation_error_is_expressed_in_base_axes(b: Array, e: Array) -> None:
    a = call(spatial.quat_mul, exp3(e), b, shape=4)
    assert_allclose(call(spatial.rotation_error, a, b, shape=3), e, atol=1e-14, rtol=0)


@properties
@given(poses(), poses())
def test_moving_by_the_pose_error_for_unit_time_closes_it(A: Array, B: Array) -> None:
    e = call(spatial.pose_error, A, B, shape=6)
    assert_array_equal(e[:3], A[:3] - B[:3])
    same_pose(call(spatial.pose_integrate, B, e, 1.0, shape=7), A, 1e-14)


def test_constant_spin_adds_up_to_its_angle_and_the_norm_stays_one() -> None:
    X, V = IDENTITY.copy(), np.array([0.1, 0.0, -0.2, 0.0, 0.0, 1.0])
    for _ in range(20_000):
        spatial.pose_integrate(X, V, 1e-3, X)
    assert_allclose(X[:3], [2.0, 0.0, -4.0], atol=1e-11)
    assert abs(np.linalg.norm(X[3:]) - 1.0) < 4e-16
    turned = math.remainder(20.0, 2.0 * math.pi)
    assert_allclose(log3(X[3:]), [0.0, 0.0, turned], atol=1e-11)


@properties
@given(poses(), vectors(6), vectors(3))
def test_a_point_of_an_integrated_frame_moves_at_v_plus_omega_cross_r(X: Array, V: Array, p: Array) -> None:
    h = 1e-6
    ahead = call(spatial.pose_apply, call(spatial.pose_integrate, X, V, h, shape=7), p, shape=3)
    behind = call(spatial.pose_apply, call(spatial.pose_integrate, X, V, -h, shape=7), p, shape=3)
    arm = call(spatial.quat_rotate, X[3:], p, shape=3)
    assert_allclose((ahead - behind) / (2 * h), V[:3] + np.cross(V[3:], arm), atol=1e-8)


# ---- transport -----------------------------------------------------------------------------------------------------


@properties
@given(poses(), vectors(6), vectors(6))
def test_power_is_the_same_in_every_frame(X: Array, V: Array, w: Array) -> None:
    V_A = call(spatial.transport_twist, X, V, shape=6)
    w_A = call(spatial.transport_wrench, X, w, shape=6)
    assert abs(w_A @ V_A - w @ V) < 1e-12


@properties
@given(poses(), vectors(6))
def test_transport_is_the_adjoint_and_its_inverse_transpose(X: Array, v: Array) -> None:
    assert_allclose(call(spatial.transport_twist, X, v, shape=6), adjoint(X) @ v, atol=1e-13)
    assert_allclose(call(spatial.transport_wrench, X, v, shape=6), np.linalg.inv(adjoint(X)).T @ v, atol=1e-12)


@properties
@given(poses(), poses())
def test_adjoint_of_a_product_is_the_product_of_adjoints(A: Array, B: Array) -> None:
    assert_allclose(adjoint(mul(A, B)), adjoint(A) @ adjoint(B), atol=1e-13)


@properties
@given(poses(), vectors(3), vectors(3, 1.0))
def test_adjoint_moves_a_screw_motion_to_the_other_frame(X: Array, rho: Array, phi: Array) -> None:
    xi = np.concatenate([rho, phi])
    same_pose(exp6(adjoint(X) @ xi), mul(mul(X, exp6(xi)), inv(X)), 1e-13)


def test_ten_newton_at_a_tip_254_mm_in_front_of_the_sensor_is_2_54_newton_metre() -> None:
    X_ST = np.array([0.0, 0.0, 0.254, 1.0, 0.0, 0.0, 0.0])
    at_tool = np.array([10.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    at_sensor = call(spatial.transport_wrench, X_ST, at_tool, shape=6)
    assert_array_equal(at_sensor, [10.0, 0.0, 0.0, 0.0, 2.54, 0.0])
    assert_array_equal(call(spatial.transport_wrench, inv(X_ST), at_sensor, shape=6), at_tool)


def test_a_push_moved_to_the_base_origin_gains_a_moment_that_the_tool_does_not_feel() -> None:
    X_BT = np.array([0.492, 0.133, 0.205, 1.0, 0.0, 0.0, 0.0])
    push = np.array([10.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    at_base = call(spatial.transport_wrench, X_BT, push, shape=6)
    assert_array_equal(np.round(at_base, 2), [10.0, 0.0, 0.0, 0.0, 2.05, -1.33])
    in_base_axes_at_tool = np.concatenate([np.zeros(3), X_BT[3:]])
    assert_array_equal(call(spatial.transport_wrench, in_base_axes_at_tool, push, shape=6), push)


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


def test_poses_and_adjoints_agree_with_pinocchio() -> None:
    rng, pairs = np.random.default_rng(2), Pairs()
    for A, B in zip(random_poses(rng), random_poses(rng), strict=True):
        theirs = pin_pose(A) * pin_pose(B)
        pairs.add(mul(A, B)[:3], theirs.translation)
        pairs.add(matrix(mul(A, B)[3:]), theirs.rotation)
        pairs.add(inv(A)[:3], pin_pose(A).inverse().translation)
        pairs.add(adjoint(A), pin_pose(A).toActionMatrix())
    pairs.agree()


def test_transport_agrees_with_pinocchio() -> None:
    rng, pairs = np.random.default_rng(3), Pairs()
    for X, v in zip(random_poses(rng), rng.normal(size=(SAMPLES, 6)), strict=True):
        pairs.add(call(spatial.transport_twist, X, v, shape=6), pin_pose(X).act(pin.Motion(v)).vector)
        pairs.add(call(spatial.transport_wrench, X, v, shape=6), pin_pose(X).act(pin.Force(v)).vector)
    pairs.agree()


def test_screw_motions_agree_with_pinocchio() -> None:
    rng, pairs = np.random.default_rng(4), Pairs()
    for rho, phi in zip(rng.uniform(-2, 2, (SAMPLES, 3)), random_rotation_vectors(rng, 3.0), strict=True):
        xi = np.concatenate([rho, phi])
        theirs = pin.exp6(pin.Motion(xi))
        pairs.add(exp6(xi)[:3], theirs.translation)
        pairs.add(matrix(exp6(xi)[3:]), theirs.rotation)
        pairs.add(log6(exp6(xi)), pin.log6(theirs).vector)
    pairs.agree()


# ---- the kernels as kernels ----------------------------------------------------------------------------------------

_A = np.concatenate([[0.3, -0.2, 0.9], np.array([1.0, -2.0, 3.0, -4.0]) / math.sqrt(30.0)])
_B = np.concatenate([[-0.7, 0.1, 0.4], np.array([-5.0, 2.0, 1.0, 3.0]) / math.sqrt(39.0)])
_V = np.array([0.4, -0.8, 1.2, 0.7, -1.1, 0.5])


@kernel
def every_function(A, B, V, rows, R, Ad):
    """Call every function of the module once; row i of `rows`, R and Ad hold the results."""
    a, b, v = A[3:], B[3:], V[:3]
    spatial.cross(v, V[3:], rows[0])
    spatial.quat_mul(a, b, rows[1])
    spatial.quat_conj(a, rows[2])
    rows[3, 0], rows[3, 1], rows[3, 2], rows[3, 3] = V[0], V[1], V[2], V[3]
    spatial.quat_normalize(rows[3])
    spatial.quat_rotate(a, v, rows[4])
    spatial.quat_rotate_inv(a, v, rows[5])
    spatial.quat_to_mat(a, R)
    spatial.mat_to_quat(R, rows[6])
    spatial.mat9_to_quat(R.reshape(9), rows[7])
    spatial.so3_exp(v, rows[8])
    spatial.so3_log(a, rows[9])
    spatial.rotation_error(a, b, rows[10])
    spatial.pose_mul(A, B, rows[11])
    spatial.pose_inv(A, rows[12])
    spatial.pose_apply(A, v, rows[13])
    spatial.se3_exp(V, rows[14])
    spatial.se3_log(A, rows[15])
    spatial.pose_error(A, B, rows[16])
    spatial.pose_integrate(A, V, 0.002, rows[17])
    spatial.adjoint(A, Ad)
    spatial.transport_twist(A, V, rows[18])
    spatial.transport_wrench(A, V, rows[19])


@kernel
def every_function_often(n, A, B, V, rows, R, Ad):
    for _ in range(n):
        every_function(A, B, V, rows, R, Ad)


@kernel
def allocate_often(n, rows):
    for i in range(n):
        rows[0, 0] += np.full(3, float(i))[1]


def results() -> list[float]:
    """What every function returns over random inputs, small and large angles included."""
    rng, numbers = np.random.default_rng(5), []
    rows, R, Ad = np.zeros((20, 7)), np.zeros((3, 3)), np.zeros((6, 6))
    for i in range(100):
        A, B, V = rng.normal(size=7), rng.normal(size=7), rng.normal(size=6)
        A[4:] *= 10.0 ** -(i % 12)
        V[3:] *= 10.0 ** -(i % 12)
        A[3:] /= np.linalg.norm(A[3:])
        B[3:] /= np.linalg.norm(B[3:])
        every_function(A, B, V, rows, R, Ad)
        numbers += [*rows.ravel().tolist(), *R.ravel().tolist(), *Ad.ravel().tolist()]
    return numbers


def allocations() -> dict[str, int]:
    """How many blocks Numba's runtime hands out in 1 and in 1000 rounds, with and without an allocating kernel."""
    rows, R, Ad = np.zeros((20, 7)), np.zeros((3, 3)), np.zeros((6, 6))

    def count(function: Callable[..., None], *arguments: Any) -> int:
        before = rtsys.get_allocation_stats()
        function(*arguments)
        after = rtsys.get_allocation_stats()
        return after.alloc - before.alloc

    every_function_often(1, _A, _B, _V, rows, R, Ad)
    allocate_often(1, rows)
    return {
        "one": count(every_function_often, 1, _A, _B, _V, rows, R, Ad),
        "many": count(every_function_often, 1000, _A, _B, _V, rows, R, Ad),
        "allocating": count(allocate_often, 1000, rows),
    }


def in_another_process(expression: str, **environment: str) -> Any:
    """The value of an expression over this module, in a new interpreter with other settings of Numba."""
    code = f"import json, test_spatial; print(json.dumps(test_spatial.{expression}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, **environment},
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
    assert {"cross", "transport_wrench"} <= public
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
        (spatial.quat_conj, (_A[3:],), 0),
        (spatial.quat_rotate, (_A[3:], _V[:3]), 1),
        (spatial.quat_rotate_inv, (_A[3:], _V[:3]), 1),
        (spatial.pose_mul, (_A, _B), 0),
        (spatial.pose_mul, (_A, _B), 1),
        (spatial.pose_inv, (_A,), 0),
        (spatial.pose_apply, (_A, _V[:3]), 1),
        (spatial.pose_integrate, (_A, _V, 0.1), 0),
        (spatial.transport_twist, (_A, _V), 1),
        (spatial.transport_wrench, (_A, _V), 1),
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
    for function, size in ((spatial.pose_inv, 7), (spatial.se3_log, 6)):
        assert np.isnan(call(function, X, shape=size)).any()
    for inputs in ((X, IDENTITY), (IDENTITY, X)):
        assert np.isnan(call(spatial.pose_mul, *inputs, shape=7)).any()
        assert np.isnan(call(spatial.pose_error, *inputs, shape=6)).any()
