"""The kernels: derivatives against finite differences, no allocation, no leftovers between calls."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.runtime import _nrt_python  # pyright: ignore[reportAttributeAccessIssue]
from numba.core.runtime.nrt import rtsys
from scipy.spatial.transform import Rotation

from pliant.kernel import kernel
from pliant.model import HANDLE, Arm, Tool, available_models, kinematics
from pliant.records import MAX_JOINTS

TOOL = Tool(mass_kg=0.5, com_m=(0, 0, 0.05), tcp_m=(0.02, 0, 0.15))


def numeric_jacobian(arm: Arm, q: np.ndarray, step: float = 1e-6) -> np.ndarray:
    J = np.zeros((6, arm.n))
    for i in range(arm.n):
        dq = np.zeros(arm.n)
        dq[i] = step
        a, b = arm.pose(q - dq), arm.pose(q + dq)
        turn = Rotation.from_quat(b[3:], scalar_first=True) * Rotation.from_quat(a[3:], scalar_first=True).inv()
        J[:3, i], J[3:, i] = (b[:3] - a[:3]) / (2 * step), turn.as_rotvec() / (2 * step)
    return J


@pytest.mark.parametrize("name", available_models())
def test_jacobian_is_the_derivative_of_the_pose(name: str) -> None:
    arm = Arm.load(name, TOOL)
    for q in np.random.default_rng(7).uniform(-3, 3, (50, arm.n)):
        np.testing.assert_allclose(arm.jacobian(q), numeric_jacobian(arm, q), atol=1e-8)


@pytest.mark.parametrize("name", available_models())
def test_jdot_qd_is_the_derivative_of_the_jacobian_along_the_motion(name: str) -> None:
    arm, random = Arm.load(name, TOOL), np.random.default_rng(8)
    for q in random.uniform(-3, 3, (50, arm.n)):
        qd, step = random.uniform(-2, 2, arm.n), 1e-6
        Jdot = (arm.jacobian(q + step * qd) - arm.jacobian(q - step * qd)) / (2 * step)
        np.testing.assert_allclose(arm.jdot_qd(q, qd), Jdot @ qd, atol=1e-6)


def test_gravity_torque_is_the_derivative_of_the_potential_energy() -> None:
    arm = Arm.load("ur5e", TOOL, gravity=(1.0, 2.0, -9.0))

    def energy(q: np.ndarray) -> float:
        arm.pose(q)
        return -float(arm.mjmodel.body_mass @ (arm.mjdata.xipos @ arm.gravity))

    q, step = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.5]), 1e-6
    slope = [(energy(q + step * e) - energy(q - step * e)) / (2 * step) for e in np.eye(6)]
    np.testing.assert_allclose(arm.bias(q, np.zeros(6)), slope, atol=1e-6)


def test_dynamics_leaves_what_forward_and_jacobian_leave() -> None:
    arm, other = Arm.load("ur5e", TOOL), Arm.load("ur5e", TOOL)
    q = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.5])
    kinematics.dynamics_at(arm.handle, q, np.ones(6))
    kinematics.jacobian_at(other.handle, q)
    for field in ("X_tool", "X_sensor", "J"):
        np.testing.assert_array_equal(arm.handle[field], other.handle[field])


def test_results_depend_on_the_arguments_alone() -> None:
    arm, q, qd = Arm.load("ur5e", TOOL), np.linspace(-1, 1, 6), np.linspace(2, -2, 6)
    first = arm.bias(q, qd)
    arm.bias(-q, 3 * qd)
    arm.jacobian(np.zeros(6))
    np.testing.assert_array_equal(arm.bias(q, qd), first)


def test_two_arms_do_not_share_memory() -> None:
    a, b = Arm.load("ur5e"), Arm.load("ur5e")
    pose = a.pose(a.q_home)
    b.pose(np.zeros(6))
    np.testing.assert_array_equal(a.handle["X_tool"][0], pose)
    assert a.handle["data"][0] != b.handle["data"][0]


def test_records_of_other_layouts_can_feed_the_kernels() -> None:
    arm = Arm.load("ur5e")
    q = np.zeros(MAX_JOINTS)
    q[:6] = arm.q_home
    kinematics.jacobian_at(arm.handle, q)
    np.testing.assert_array_equal(arm.handle["X_tool"][0], arm.pose(arm.q_home))


@kernel
def _many(handle, q, qd, times):
    for _ in range(times):
        kinematics.forward(handle[0], q)
        kinematics.jacobian(handle[0])
        kinematics.dynamics(handle[0], q, qd)


def test_kernels_do_not_allocate() -> None:
    arm, q, qd = Arm.load("ur5e", TOOL), np.ones(6), np.ones(6)
    _many(arm.handle, q, qd, 1)
    _nrt_python.memsys_enable_stats()
    try:
        _many(arm.handle, q, qd, 1)
        before = rtsys.get_allocation_stats()
        _many(arm.handle, q, qd, 1)
        one = rtsys.get_allocation_stats()
        _many(arm.handle, q, qd, 1000)
        thousand = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    # Wrapping the arguments counts; the work inside must not.
    assert thousand.alloc - one.alloc == one.alloc - before.alloc


def test_every_scalar_of_the_handle_has_eight_bytes() -> None:
    size = sum(8 * int(np.prod(field.shape, dtype=int)) for field in HANDLE.fields)
    assert HANDLE.dtype.itemsize == size
