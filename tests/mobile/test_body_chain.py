"""Arm and base as one chain: against finite differences and against Pinocchio."""

from __future__ import annotations

import math
from importlib import resources
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML
from scipy.spatial.transform import Rotation

from pliant.errors import InputError
from pliant.mobile.base.base_params import Base as BaseLimits
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.mobile_arm import Chassis
from pliant.model.tool import Tool
from pliant.spatial import pose_error
from support.needs import library, needs

TOOL = Tool(tcp_m=(0.02, 0.01, 0.254), tcp_quat=(0.5, 0.5, -0.5, 0.5))


@pytest.fixture(scope="module")
def body() -> Body:
    return Body(tool=TOOL)


def somewhere(random: np.random.Generator, n: int = 9) -> np.ndarray[Any, Any]:
    return np.array([*random.uniform(-5, 5, 2), *random.uniform(-math.pi, math.pi, n - 2)])


def test_the_reduced_jacobian_is_what_finite_differences_say(body: Body) -> None:
    random, e, step = np.random.default_rng(0), np.zeros(6), 1e-6
    for _ in range(50):
        q = somewhere(random)
        J = body.jacobian(q)
        for k, u in enumerate(np.eye(body.m)):
            ahead, behind = body.pose(body.moved(q, u, step)), body.pose(body.moved(q, u, -step))
            pose_error(ahead, behind, e)
            np.testing.assert_allclose(J[:, k], e / (2 * step), atol=1e-8)


def test_the_reduced_jacobian_is_jacobian_times_slide(body: Body) -> None:
    q = somewhere(np.random.default_rng(1))
    np.testing.assert_allclose(body.jacobian(q), body.chain.jacobian(q) @ body.slide(q[2]), atol=1e-14)


def test_nothing_in_u_moves_the_base_sideways(body: Body) -> None:
    for heading in np.linspace(-4, 4, 9):
        sideways = np.zeros(body.n)
        sideways[:2] = -math.sin(heading), math.cos(heading)
        np.testing.assert_allclose(sideways @ body.slide(heading), 0.0, atol=1e-15)


@needs("pinocchio")
def test_pinocchio_agrees_on_pose_and_jacobian(body: Body) -> None:
    pin = library("pinocchio")
    model, frame = _oracle(pin, body.base)
    data, random = model.createData(), np.random.default_rng(2)
    for _ in range(200):
        q = somewhere(random)
        J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(model, data, q)
        pose = body.pose(q)
        np.testing.assert_allclose(pose[:3], data.oMf[frame].translation, atol=1e-9)
        R = Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()
        np.testing.assert_allclose(R, data.oMf[frame].rotation, atol=1e-9)
        np.testing.assert_allclose(body.chain.jacobian(q), J, atol=1e-9)
        np.testing.assert_allclose(body.jacobian(q), J @ body.slide(q[2]), atol=1e-9)


def _oracle(pin: Any, base: Chassis) -> tuple[Any, int]:
    """Base and arm in Pinocchio, from the data file and the mount alone."""
    dh = YAML(typ="safe").load(resources.files("pliant.model").joinpath("data/ur_e_series.yaml").read_text())
    dh = dh["robots"]["ur5e"]["dh"]
    mount = np.array(base.mount_m)
    frames = [
        (mount + np.array((0, 0, dh["d1"])), 0),
        ((0, 0, 0), 90),
        ((dh["a2"], 0, 0), 0),
        ((dh["a3"], 0, dh["d4"]), 0),
        ((0, -dh["d5"], 0), 90),
        ((0, dh["d6"], 0), -90),
    ]
    model, joint = pin.Model(), 0
    for name, kind in (("x", pin.JointModelPX()), ("y", pin.JointModelPY()), ("heading", pin.JointModelRZ())):
        joint = model.addJoint(joint, kind, pin.SE3.Identity(), name)
    for i, (position, roll) in enumerate(frames):
        R = Rotation.from_euler("x", roll, degrees=True).as_matrix()
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(R, np.array(position, float)), f"j{i}")
    R = Rotation.from_quat(TOOL.tcp_quat, scalar_first=True).as_matrix()
    tip = pin.Frame("tip", joint, 0, pin.SE3(R, np.array(TOOL.tcp_m)), pin.FrameType.OP_FRAME)
    return model, model.addFrame(tip)


@pytest.mark.parametrize("q", [np.zeros(6), np.full(9, math.nan)])
def test_joints_that_are_none_are_refused_with_what_is_expected(body: Body, q: Any) -> None:
    with pytest.raises(InputError, match=r"q is .*9 finite numbers: x, y, heading and 6 joints"):
        body.pose(q)


def test_the_track_that_is_declared_is_that_of_the_body_its_program_and_its_filter() -> None:
    body = Body(limits=BaseLimits(track_m=0.8))
    assert body.base.track_m == 0.8
    assert body.limits_record[0].half_track == pytest.approx(0.4)
    assert Body().base.track_m == BaseLimits().track_m
