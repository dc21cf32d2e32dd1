"""Kinematics and dynamics of the e-Series against Pinocchio, built here from the data file alone."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML
from scipy.spatial.transform import Rotation

from pliant.model import Arm, Tool
from support.needs import library

pin: Any = library("pinocchio")

FACTS = YAML(typ="safe").load(resources.files("pliant.model").joinpath("data/ur_e_series.yaml").read_text())
STATES = 1000
TOOL = Tool(
    mass_kg=1.3,
    com_m=(0.01, -0.02, 0.06),
    inertia_kg_m2=(0.002, 0.003, 0.0025),
    tcp_m=(0.02, 0.01, 0.254),
    tcp_quat=(0.5, 0.5, -0.5, 0.5),
)
TILTED = (3.0, -2.0, -9.0)


def Rx(degrees: float) -> np.ndarray:
    return Rotation.from_euler("x", degrees, degrees=True).as_matrix()


def oracle(name: str, tool: Tool, gravity: tuple[float, float, float]) -> tuple[Any, int]:
    """The arm as a Pinocchio model, and its frame at the tool centre point."""
    robot, dh = FACTS["robots"][name], FACTS["robots"][name]["dh"]
    frames = [
        ((0, 0, dh["d1"]), 0),
        ((0, 0, 0), 90),
        ((dh["a2"], 0, 0), 0),
        ((dh["a3"], 0, dh["d4"]), 0),
        ((0, -dh["d5"], 0), 90),
        ((0, dh["d6"], 0), -90),
    ]
    model, joint = pin.Model(), 0
    for i, (position, roll) in enumerate(frames):
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(Rx(roll), np.array(position, float)), f"j{i}")
        xx, yy, zz, xy, xz, yz = robot["inertia"][i]
        R = Rx(FACTS["inertia_roll_deg"][i])
        inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        body = pin.Inertia(robot["mass"][i], np.array(robot["com"][i], float), inertia)
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    if tool.mass_kg:
        load = pin.Inertia(tool.mass_kg, np.array(tool.com_m), np.diag(tool.inertia_kg_m2))
        model.appendBodyToJoint(joint, load, pin.SE3.Identity())
    R = Rotation.from_quat(tool.tcp_quat, scalar_first=True).as_matrix()
    tip = pin.Frame("tip", joint, 0, pin.SE3(R, np.array(tool.tcp_m)), pin.FrameType.OP_FRAME)
    frame = model.addFrame(tip)
    model.armature = np.full(6, 0.1)
    model.gravity.linear = np.array(gravity)
    return model, frame


@pytest.mark.parametrize("name", list(FACTS["robots"]))
@pytest.mark.parametrize(("tool", "gravity"), [(Tool(), (0.0, 0.0, -9.81)), (TOOL, TILTED)], ids=["bare", "tool"])
def test_kinematics_and_dynamics_agree(name: str, tool: Tool, gravity: tuple[float, float, float]) -> None:
    arm = Arm.load(name, tool, gravity=gravity)
    model, frame = oracle(name, tool, gravity)
    data, axes, random = model.createData(), pin.LOCAL_WORLD_ALIGNED, np.random.default_rng(2)
    for q in random.uniform(arm.q_min, arm.q_max, (STATES, 6)):
        qd = random.uniform(-arm.v_max, arm.v_max)
        pin.forwardKinematics(model, data, q, qd, np.zeros(6))
        pin.updateFramePlacements(model, data)
        expected = data.oMf[frame]
        pose = arm.pose(q)
        np.testing.assert_allclose(pose[:3], expected.translation, rtol=0, atol=1e-9)
        R = Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()
        np.testing.assert_allclose(R, expected.rotation, rtol=0, atol=1e-9)
        Jdot_qd = pin.getFrameClassicalAcceleration(model, data, frame, axes).vector
        np.testing.assert_allclose(arm.jdot_qd(q, qd), Jdot_qd, rtol=0, atol=1e-8)
        J = pin.computeFrameJacobian(model, data, q, frame, axes)
        np.testing.assert_allclose(arm.jacobian(q), J, rtol=0, atol=1e-8)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        np.testing.assert_allclose(arm.mass_matrix(q), M, rtol=0, atol=1e-8)
        np.testing.assert_allclose(arm.bias(q, qd), pin.nonLinearEffects(model, data, q, qd), rtol=0, atol=1e-8)


def test_a_wall_mounted_arm_feels_gravity_sideways() -> None:
    # The base is turned by 90 deg about x: its y axis points up.
    wall, plain = Arm.load("ur5e", mount_rpy_deg=(90, 0, 0)), Arm.load("ur5e", gravity=(0, -9.81, 0))
    np.testing.assert_allclose(wall.gravity, [0, -9.81, 0], atol=1e-12)
    np.testing.assert_allclose(wall.handle["gravity"][0], [0, -9.81, 0], atol=1e-12)
    np.testing.assert_allclose(wall.bias(wall.q_home, np.zeros(6)), plain.bias(wall.q_home, np.zeros(6)), atol=1e-9)
