"""Rotations and poses: group laws, conversions, exponential and logarithm, also at the hard angles."""

import math

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from se3 import (
    Array,
    call,
    exp3,
    log3,
    matrix,
    properties,
    quaternions,
    vectors,
)

from pliant import spatial

# ---- group laws ----------------------------------------------------------------------------------------------------


@properties
@given(quaternions(), quaternions())
def test_product_of_quaternions_is_product_of_matrices(a: Array, b: Array) -> None:
    product = call(spatial.quat_mul, a, b, shape=4)
    assert_allclose(matrix(product), matrix(a) @ matrix(b), atol=1e-14)


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


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12])
def test_rotations_just_below_half_a_turn_survive_the_round_trip(gap: float) -> None:
    phi = (math.pi - gap) * np.array([2.0, -3.0, 6.0]) / 7.0
    assert_allclose(log3(exp3(phi)), phi, rtol=1e-15, atol=0)


def test_a_rotation_beyond_half_a_turn_comes_back_the_short_way() -> None:
    assert_allclose(log3(exp3(np.array([0.0, 0.0, 1.5 * math.pi]))), [0.0, 0.0, -0.5 * math.pi], rtol=1e-15)


@properties
@given(quaternions().filter(lambda q: abs(q[0]) > 1e-12))
def test_a_quaternion_and_its_negative_have_one_logarithm(q: Array) -> None:
    assert_array_equal(log3(q), log3(-q))


def test_half_a_turn_has_a_logarithm_of_length_pi() -> None:
    for q in np.vstack([np.eye(4)[1:], -np.eye(4)[1:]]):
        assert_allclose(log3(q), math.pi * q[1:], rtol=1e-15)
