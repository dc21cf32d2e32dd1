"""The e-Series arms: published geometry, limits, and a home pose that a controller can start from."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.errors import UnknownNameError
from pliant.model import Arm, Tool, available_models, design
from pliant.model.ur import JOINTS, ur_facts, ur_names, ur_spec

URS = ("ur3e", "ur5e", "ur10e", "ur16e")


def dh_product(name: str, q: np.ndarray) -> np.ndarray:
    f = ur_facts(name)
    quarter = math.pi / 2
    rows = [(f.d1, 0, quarter), (0, f.a2, 0), (0, f.a3, 0), (f.d4, 0, quarter), (f.d5, 0, -quarter), (f.d6, 0, 0)]
    T = np.eye(4)
    for theta, (d, a, alpha) in zip(q, rows, strict=True):
        ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
        T = T @ np.array(
            [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
        )
    return T


def matrix(pose: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()
    T[:3, 3] = pose[:3]
    return T


def test_the_series_has_four_arms() -> None:
    assert ur_names() == URS
    assert available_models() == (*URS, "two_link")


@pytest.mark.parametrize("name", URS)
def test_forward_kinematics_is_the_dh_product(name: str) -> None:
    arm = Arm.load(name)
    for q in np.random.default_rng(1).uniform(arm.q_min, arm.q_max, (1000, 6)):
        np.testing.assert_allclose(matrix(arm.pose(q)), dh_product(name, q), rtol=0, atol=1e-12)


def test_the_zero_pose_of_the_ur5e_is_what_the_pendant_shows() -> None:
    pose = Arm.load("ur5e").pose(np.zeros(6))
    np.testing.assert_allclose(pose[:3], [-0.8172, -0.2329, 0.0628], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", URS)
def test_home_points_straight_down_in_front_of_the_base_away_from_singularities_and_limits(name: str) -> None:
    arm = Arm.load(name)
    T = matrix(arm.pose(arm.q_home))
    np.testing.assert_allclose(T[:3, 2], [0, 0, -1], atol=1e-12)
    assert T[0, 3] > 0.2
    assert T[2, 3] > 0.2
    assert np.linalg.svd(arm.jacobian(arm.q_home), compute_uv=False).min() > 0.05
    assert (np.abs(arm.bias(arm.q_home, np.zeros(6))) < 0.6 * arm.tau_max).all()
    assert np.minimum(arm.q_max - arm.q_home, arm.q_home - arm.q_min).min() > 1.0


def test_limits_are_the_published_ones_in_si_units() -> None:
    arm = Arm.load("ur3e")
    assert arm.joint_names == JOINTS
    np.testing.assert_allclose(arm.q_max, 2 * np.pi * np.array([1, 1, 0.5, 1, 1, 1]))
    np.testing.assert_allclose(arm.q_min, -arm.q_max)
    np.testing.assert_allclose(arm.v_max, np.radians([180, 180, 180, 360, 360, 360]))
    np.testing.assert_allclose(arm.tau_max, [54, 54, 28, 9, 9, 9])
    assert arm.assumed == ()


@pytest.mark.parametrize("name", URS)
def test_links_weigh_what_the_maker_says(name: str) -> None:
    model = ur_spec(name, visual=False).compile()
    assert model.body_subtreemass[0] == pytest.approx(sum(ur_facts(name).mass), rel=1e-12)


@pytest.mark.parametrize("name", available_models())
def test_shapes_change_neither_mass_nor_contacts(name: str) -> None:
    plain, dressed = design(name).spec.compile(), design(name, visual=True).spec.compile()
    assert plain.ngeom == 0
    assert dressed.ngeom > 0
    np.testing.assert_array_equal(plain.body_mass, dressed.body_mass)
    np.testing.assert_array_equal(plain.body_inertia, dressed.body_inertia)
    assert not dressed.geom_contype.any()
    assert not dressed.geom_conaffinity.any()
    assert (dressed.geom_group == 1).all()


@pytest.mark.parametrize("name", URS)
def test_shapes_stay_on_the_arm(name: str) -> None:
    facts, model = ur_facts(name), ur_spec(name, visual=True).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    reach = np.abs([facts.a2, facts.a3, facts.d4, facts.d5, facts.d6]).sum()
    assert np.linalg.norm(data.geom_xpos - [0, 0, facts.d1], axis=1).max() < reach


def test_an_unknown_arm_names_the_nearest_one() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'ur5e'"):
        Arm.load("ur5")
    with pytest.raises(UnknownNameError, match="ur16e"):
        ur_spec("ur20", visual=False)


def test_the_tool_moves_the_pose_and_the_jacobian_to_its_tip() -> None:
    tip = np.array([0.01, -0.02, 0.254])
    bare, tooled = Arm.load("ur5e"), Arm.load("ur5e", Tool(tcp_m=(0.01, -0.02, 0.254)))
    T = matrix(bare.pose(bare.q_home))
    np.testing.assert_allclose(tooled.pose(bare.q_home)[:3], T[:3, :3] @ tip + T[:3, 3], atol=1e-12)
    J, J_tip = bare.jacobian(bare.q_home), tooled.jacobian(bare.q_home)
    r = T[:3, :3] @ tip
    np.testing.assert_allclose(J_tip[:3], J[:3] + np.cross(J[3:].T, r).T, atol=1e-12)
    np.testing.assert_allclose(J_tip[3:], J[3:], atol=1e-12)
