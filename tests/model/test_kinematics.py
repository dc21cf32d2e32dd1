"""The kernels: derivatives against finite differences, no allocation, no leftovers between calls."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from numba.core.runtime import _nrt_python  # pyright: ignore[reportAttributeAccessIssue]
from numba.core.runtime.nrt import rtsys
from scipy.spatial.transform import Rotation

from pliant.errors import ModelError
from pliant.kernel import kernel
from pliant.model import HANDLE, Arm, Tool, available_models, kinematics
from pliant.model.links import fill_links
from pliant.records import MAX_JOINTS, Layout

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
        arm.mjdata.qpos[:] = q
        mujoco.mj_kinematics(arm.mjmodel, arm.mjdata)
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
    def scalars(layout: Layout) -> int:
        counts = (scalars(field.kind) if isinstance(field.kind, Layout) else 1 for field in layout.fields)
        return sum(n * int(np.prod(field.shape, dtype=int)) for n, field in zip(counts, layout.fields, strict=True))

    assert HANDLE.dtype.itemsize == 8 * scalars(HANDLE)


def by_mujoco(arm: Arm, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses of tool and sensor, and the Jacobian, by MuJoCo's own functions."""
    model, data, J, poses = arm.mjmodel, arm.mjdata, np.zeros((6, arm.n)), np.zeros((2, 7))
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_jacSite(model, data, J[:3], J[3:], model.site("tool").id)
    for pose, name in zip(poses, ("tool", "sensor"), strict=True):
        mujoco.mju_mat2Quat(pose[3:], data.site(name).xmat)
        pose[:3] = data.site(name).xpos
    return poses[0], poses[1], J


@pytest.mark.parametrize("name", available_models())
def test_the_chain_agrees_with_mujoco(name: str) -> None:
    arm = Arm.load(name, TOOL)
    for q in np.random.default_rng(9).uniform(-6, 6, (200, arm.n)):
        tool, sensor, J = by_mujoco(arm, q)
        # the sign of the quaternions too
        np.testing.assert_allclose(arm.pose(q), tool, atol=1e-14, rtol=1e-14)
        np.testing.assert_allclose(arm.sensor_pose(q), sensor, atol=1e-14, rtol=1e-14)
        np.testing.assert_allclose(arm.jacobian(q), J, atol=1e-14, rtol=1e-14)
        assert abs(np.linalg.norm(arm.pose(q)[3:]) - 1.0) < 1e-15


# Slides and hinges, two joints of one body, and joints whose zero is not that of the file.
CRANE = """
<mujoco><worldbody><body name="mast" pos="0.1 0.2 0.3" euler="10 20 30">
  <inertial mass="2" pos="0 0 0" diaginertia="1 1 1"/>
  <joint name="turn" axis="0.1 0.2 0.9" range="-170 170" ref="20"/>
  <joint name="lift" type="slide" axis="0 0.3 1" pos="0.1 0 0" range="-1 1" ref="0.2"/>
  <body name="boom" pos="0.5 0 0.2" quat="1 0.2 0.3 -0.4">
    <inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
    <joint name="out" type="slide" axis="1 0 0.2" range="-1 1"/>
    <body name="hand" pos="0.3 0.1 0"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
      <joint name="wrist" axis="0 1 0" pos="0 0.1 0.2" range="-170 170"/>BRANCH
      <body name="end" pos="0 0 0.1"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
        <joint name="roll" axis="1 0 0" range="-170 170"/><site name="attachment_site" pos="0 0 0.1"/>
      </body>
    </body>
  </body>
</body></worldbody></mujoco>
"""


def test_the_chain_of_slides_and_hinges_agrees_with_mujoco(tmp_path: Path) -> None:
    file = tmp_path / "crane.xml"
    file.write_text(CRANE.replace("BRANCH", ""))
    arm = Arm.load(file, TOOL)
    for q in np.random.default_rng(10).uniform(-2, 2, (200, arm.n)):
        tool, sensor, J = by_mujoco(arm, q)
        np.testing.assert_allclose(arm.pose(q), tool, atol=1e-14, rtol=1e-14)
        np.testing.assert_allclose(arm.sensor_pose(q), sensor, atol=1e-14, rtol=1e-14)
        np.testing.assert_allclose(arm.jacobian(q), J, atol=1e-14, rtol=1e-14)


def test_a_model_that_is_not_one_chain_is_rejected() -> None:
    finger = '<body name="finger"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><joint axis="0 0 1"/></body>'
    spec = mujoco.MjSpec.from_string(CRANE.replace("BRANCH", finger))
    for name in ("tool", "sensor"):
        spec.body("end").add_site(name=name)
    model, handle = spec.compile(), HANDLE.new()
    data, sites = mujoco.MjData(model), (model.site("tool").id, model.site("sensor").id)
    handle[0].n, handle[0].slides[: model.njnt] = model.njnt, model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE
    with pytest.raises(ModelError, match="are not one chain"):
        fill_links(handle[0], model, data, sites, "crane")
