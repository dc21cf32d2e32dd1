"""Pose errors, integration, and the transport of wrenches and twists."""

import math

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from se3 import (
    IDENTITY,
    Array,
    adjoint,
    call,
    exp3,
    exp6,
    inv,
    log3,
    matrix,
    mul,
    poses,
    properties,
    quaternions,
    same_pose,
    vectors,
)

from pliant import spatial

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
