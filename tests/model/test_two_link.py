"""The two-link arm against its closed-form equations of motion."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.model import Arm
from pliant.model.two_link import DAMPING

L1, L2, M1, M2, G = 1.0, 0.6, 3.0, 2.0, 9.81


@pytest.fixture(scope="module")
def arm() -> Arm:
    return Arm.load("two_link")


def states(n: int = 1000) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(4)
    return [(random.uniform(-np.pi, np.pi, 2), random.uniform(-3, 3, 2)) for _ in range(n)]


def test_it_starts_where_the_textbook_does(arm: Arm) -> None:
    np.testing.assert_allclose(arm.q_home, np.radians([45, -45]))
    np.testing.assert_allclose(arm.pose(arm.q_home)[:3], [1.3071, 0.7071, 0], atol=5e-5)
    np.testing.assert_allclose(arm.gravity, [0, -G, 0])


def test_tool_position_and_jacobian_are_the_textbook_ones(arm: Arm) -> None:
    for q, _ in states():
        (c1, s1), (c12, s12) = (np.cos(q[0]), np.sin(q[0])), (np.cos(q.sum()), np.sin(q.sum()))
        np.testing.assert_allclose(arm.pose(q)[:3], [L1 * c1 + L2 * c12, L1 * s1 + L2 * s12, 0], atol=1e-12)
        J = np.zeros((6, 2))
        J[0], J[1], J[5] = [-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12], [1, 1]
        np.testing.assert_allclose(arm.jacobian(q), J, atol=1e-12)


def test_mass_matrix_is_the_lagrangian_one(arm: Arm) -> None:
    for q, _ in states():
        c2 = np.cos(q[1])
        M12 = M2 * (L1 * L2 * c2 + L2**2)
        M = [[M1 * L1**2 + M2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), M12], [M12, M2 * L2**2]]
        np.testing.assert_allclose(arm.mass_matrix(q), M, atol=1e-9)


def test_bias_is_coriolis_plus_gravity_without_friction(arm: Arm) -> None:
    for q, qd in states():
        c1, c12, s2 = np.cos(q[0]), np.cos(q.sum()), np.sin(q[1])
        h = M2 * L1 * L2 * s2
        coriolis = np.array([-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2])
        gravity = np.array([(M1 + M2) * L1 * G * c1 + M2 * L2 * G * c12, M2 * L2 * G * c12])
        np.testing.assert_allclose(arm.bias(q, qd), coriolis + gravity, atol=1e-9)


def test_joint_friction_is_in_the_model_and_in_the_handle(arm: Arm) -> None:
    np.testing.assert_array_equal(arm.mjmodel.dof_damping, [DAMPING, DAMPING])
    np.testing.assert_array_equal(arm.handle["damping"][0, :2], [5.0, 5.0])


def test_jdot_qd_has_the_terms_that_are_easily_forgotten(arm: Arm) -> None:
    for q, qd in states():
        w1, w12 = qd[0], qd.sum()
        c1, s1, c12, s12 = np.cos(q[0]), np.sin(q[0]), np.cos(q.sum()), np.sin(q.sum())
        expected = [-L1 * c1 * w1**2 - L2 * c12 * w12**2, -L1 * s1 * w1**2 - L2 * s12 * w12**2, 0, 0, 0, 0]
        np.testing.assert_allclose(arm.jdot_qd(q, qd), expected, atol=1e-9)


def test_torque_limits_hold_the_arm_in_its_worst_pose(arm: Arm) -> None:
    assert (np.abs(arm.bias(np.zeros(2), np.zeros(2))) < 0.5 * arm.tau_max).all()
