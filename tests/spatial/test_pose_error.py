"""The difference of two poses, and integration."""

import math

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from se3 import (
    IDENTITY,
    Array,
    call,
    exp3,
    log3,
    matrix,
    poses,
    properties,
    quaternions,
    same_pose,
    vectors,
)

from pliant import spatial

# ---- errors and integration ----------------------------------------------------------------------------------------


@properties
@given(poses(), quaternions(), vectors(3, 1.8))
def test_the_rotation_part_of_a_pose_error_is_in_base_axes(A: Array, b: Array, e: Array) -> None:
    a = call(spatial.quat_mul, exp3(e), b, shape=4)
    error = call(spatial.pose_error, np.concatenate([A[:3], a]), np.concatenate([A[:3], b]), shape=6)
    assert_allclose(error, [0, 0, 0, *e], atol=1e-14, rtol=0)


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
    ahead, behind = (call(spatial.pose_integrate, X, V, step, shape=7) for step in (h, -h))
    ahead, behind = (Y[:3] + matrix(Y[3:]) @ p for Y in (ahead, behind))
    arm = call(spatial.quat_rotate, X[3:], p, shape=3)
    assert_allclose((ahead - behind) / (2 * h), V[:3] + np.cross(V[3:], arm), atol=1e-8)
