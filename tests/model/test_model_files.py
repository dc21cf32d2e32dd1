"""Arms from a user's MJCF and URDF files: what is read, what is filled in, what is refused."""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.errors import ModelError
from pliant.model import Arm, Tool, design
from pliant.model.arm import UNLIMITED
from pliant.model.from_file.files import DEFAULT_TAU_MAX, DEFAULT_V_MAX, file_spec
from pliant.model.ur import ur_spec
from pliant.records import MAX_JOINTS
from pliant.robots import open_robot
from pliant.task.schema import Task, located
from support.needs import library, needs

URDF = """<robot name="desk">
  <link name="base"><visual><geometry><mesh filename="package://desk/base.stl"/></geometry></visual></link>
  <link name="arm">
    <inertial><origin xyz="0.1 0 0.2" rpy="0.1 -0.2 0.3"/><mass value="2"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.0005"/></inertial>
    <visual><geometry><mesh filename="package://desk/arm.dae"/></geometry></visual>
    <collision><geometry><mesh filename="package://desk/arm.stl"/></geometry></collision>
  </link>
  <link name="lift">
    <inertial><origin xyz="0 0.05 0"/><mass value="1.5"/>
      <inertia ixx="0.01" iyy="0.012" izz="0.011" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="wrist">
    <inertial><origin xyz="0 0 0.03"/><mass value="0.5"/>
      <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tool0"/>
  <link name="camera"/>
  <joint name="pan" type="revolute"><origin xyz="0 0 0.3" rpy="0 0.2 0"/><parent link="base"/><child link="arm"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="33" velocity="3"/></joint>
  <joint name="rise" type="prismatic"><origin xyz="0.4 0 0.1" rpy="0.5 0 0"/><parent link="arm"/><child link="lift"/>
    <axis xyz="0 0.6 0.8"/><limit lower="0" upper="0.5" effort="0" velocity="0"/></joint>
  <joint name="spin" type="continuous"><origin xyz="0 0.1 0.2"/><parent link="lift"/><child link="wrist"/>
    <axis xyz="1 0 0"/></joint>
  <joint name="mount" type="fixed"><origin xyz="0 0 0.1" rpy="0 0 1.5"/><parent link="wrist"/>
    <child link="tool0"/></joint>
  <joint name="eye" type="fixed"><origin xyz="0 0.1 0.1"/><parent link="arm"/><child link="camera"/></joint>
</robot>"""

INERTIAL = '<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.01"/>'

# Degrees, default classes, frames, shapes that give mass, names of ours, everything around the arm.
MJCF = f"""<mujoco>
  <compiler angle="degree" meshdir="assets"/>
  <default><joint damping="1"/>
    <default class="strong"><joint actuatorfrcrange="-80 80" range="-90 120"/></default></default>
  <asset><mesh name="m" file="missing.obj"/><texture name="t" type="2d" file="missing.png"/>
    <material name="paint" texture="t" rgba="1 0 0 1"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1" material="paint"/>
    <body name="table" pos="2 0 0"><geom size="0.1"/></body>
    <body name="root" pos="0 0 0.2" euler="0 0 90">
      {INERTIAL}<geom type="mesh" mesh="m" material="paint"/>
      <joint name="a" class="strong" axis="0 0 1"/>
      <frame pos="0 0 0.3" euler="90 0 0">
        <body name="tool">
          <joint name="b" axis="1 0 0"/><geom name="g" type="capsule" size="0.05 0.2" mass="2" material="paint"/>
          <body name="hand" pos="0.1 0 0.4">
            {INERTIAL}
            <frame euler="0 45 0"><site name="tool" pos="0 0 0.1"/></frame>
            <body name="finger"><joint name="grip" type="slide" axis="0 1 0"/>{INERTIAL}</body>
          </body>
        </body>
      </frame>
    </body>
  </worldbody>
  <contact><exclude body1="root" body2="tool"/><pair geom1="floor" geom2="g"/></contact>
  <equality><joint joint1="grip"/></equality>
  <tendon><fixed name="split"><joint joint="grip" coef="1"/></fixed></tendon>
  <actuator><motor joint="b" ctrlrange="-2 2" gear="20"/>
    <general tendon="split" dyntype="filter" dynprm="1"/></actuator>
  <sensor><jointpos joint="a"/><touch site="tool"/></sensor>
  <keyframe><key name="home" qpos="0.1 0.2 0.01" ctrl="0 0" act="0"/></keyframe>
</mujoco>"""


def write(folder: Path, text: str, name: str = "arm.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def chain(n: int, joint: str = 'type="hinge"') -> str:
    """An MJCF file with a chain of `n` bodies, each with one joint."""
    inside = ""
    for i in reversed(range(n)):
        inside = f'<body name="b{i}" pos="0 0 0.1"><joint name="j{i}" {joint} axis="0 1 0"/>{INERTIAL}{inside}</body>'
    return f"<mujoco><worldbody>{inside}</worldbody></mujoco>"


# ---- what is read --------------------------------------------------------------------------------------------------


@needs("pinocchio")
def test_a_urdf_without_its_meshes_agrees_with_pinocchio(tmp_path: Path) -> None:
    path = write(tmp_path, URDF, "desk.urdf")
    pin = library("pinocchio")
    arm, model = Arm.load(path), pin.buildModelFromXML(URDF)
    data, frame, random = model.createData(), model.getFrameId("tool0"), np.random.default_rng(5)
    for state in random.uniform(-1, 1, (100, 3)):
        q, qd = np.array([state[0], state[1], 3 * state[2]]), random.uniform(-1, 1, 3)
        full = np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])])  # Pinocchio's form of a continuous joint
        pin.framesForwardKinematics(model, data, full)
        pose = arm.pose(q)
        np.testing.assert_allclose(pose[:3], data.oMf[frame].translation, atol=1e-9)
        R = Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()
        np.testing.assert_allclose(R, data.oMf[frame].rotation, atol=1e-9)
        J = pin.computeFrameJacobian(model, data, full, frame, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(arm.jacobian(q), J, atol=1e-9)
        M = pin.crba(model, data, full)
        np.testing.assert_allclose(arm.mass_matrix(q), np.triu(M) + np.triu(M, 1).T, atol=1e-9)
        np.testing.assert_allclose(arm.bias(q, qd), pin.nonLinearEffects(model, data, full, qd), atol=1e-8)


def test_urdf_limits_are_read_and_missing_ones_are_filled_in_and_told(tmp_path: Path) -> None:
    arm = Arm.load(write(tmp_path, URDF, "desk.urdf"))
    assert arm.name == "desk"
    assert arm.joint_names == ("pan", "rise", "spin")
    np.testing.assert_allclose(arm.q_min, [-1, 0, -UNLIMITED])
    np.testing.assert_allclose(arm.q_max, [2, 0.5, UNLIMITED])
    np.testing.assert_allclose(arm.v_max, [3, DEFAULT_V_MAX[1], DEFAULT_V_MAX[0]])
    np.testing.assert_allclose(arm.tau_max, [33, DEFAULT_TAU_MAX[1], DEFAULT_TAU_MAX[0]])
    assert "joint 'spin' has no speed limit; 2 rad/s is assumed" in arm.assumed
    assert "joint 'rise' has no torque limit; 1000 N is assumed" in arm.assumed
    given = [sentence for sentence in arm.assumed if "acceleration" not in sentence]  # which no file gives
    assert not any("pan" in sentence for sentence in given)


def test_an_mjcf_arm_keeps_its_kinematics_and_inertia_without_meshes(tmp_path: Path) -> None:
    arm = Arm.load(write(tmp_path, MJCF))
    # The same file with the mesh and the picture taken out, compiled by MuJoCo as it stands.
    text = MJCF.replace('<mesh name="m" file="missing.obj"/><texture name="t" type="2d" file="missing.png"/>', "")
    text = text.replace('texture="t"', "").replace('<geom type="mesh" mesh="m" material="paint"/>', "")
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for q in np.random.default_rng(6).uniform(-1, 1, (50, 2)):
        data.qpos[:] = [*q, 0]
        mujoco.mj_forward(model, data)
        pose = arm.pose(q)
        np.testing.assert_allclose(pose[:3], data.site("tool").xpos, atol=1e-12)
        R = Rotation.from_quat(pose[3:], scalar_first=True).as_matrix()
        np.testing.assert_allclose(R, data.site("tool").xmat.reshape(3, 3), atol=1e-12)
        M = np.zeros((3, 3))
        mujoco.mj_fullM(model, data, M)
        np.testing.assert_allclose(arm.mass_matrix(q), M[:2, :2], atol=1e-9)
        np.testing.assert_allclose(arm.bias(q, np.zeros(2)), data.qfrc_bias[:2], atol=1e-9)


def test_mjcf_limits_come_in_radians_and_from_joint_or_motor(tmp_path: Path) -> None:
    arm = Arm.load(write(tmp_path, MJCF))
    assert arm.joint_names == ("a", "b")
    np.testing.assert_allclose(arm.q_min, [-np.pi / 2, -UNLIMITED])
    np.testing.assert_allclose(arm.q_max, [2 * np.pi / 3, UNLIMITED])
    np.testing.assert_allclose(arm.tau_max, [80, 40])
    np.testing.assert_allclose(arm.handle["damping"][0, :2], [1, 1])
    np.testing.assert_allclose(arm.q_home, [0.1, 0.2])
    assert (
        "the tool is mounted on 'tool', after joint 'b' and before a gripper, whose joints are held" in arm.assumed[0]
    )


def test_actuators_sensors_contacts_and_surroundings_are_left_behind(tmp_path: Path) -> None:
    model = file_spec(write(tmp_path, MJCF)).compile()
    assert (model.nu, model.nsensor, model.neq, model.npair, model.nexclude, model.ngeom) == (0, 0, 0, 0, 0, 0)
    assert "table" not in [model.body(i).name for i in range(model.nbody)]


def test_a_built_in_arm_saved_and_loaded_as_a_file_is_the_same_arm(tmp_path: Path) -> None:
    spec = ur_spec("ur10e", visual=True)
    spec.compile()
    tool = Tool(mass_kg=1.0, com_m=(0, 0, 0.05), tcp_m=(0, 0, 0.1))
    loaded = Arm.load(write(tmp_path, spec.to_xml()), tool, flange="flange")
    built = Arm.load("ur10e", tool)
    q, qd = built.q_home, np.linspace(-1, 1, 6)
    # MuJoCo writes six significant digits.
    np.testing.assert_allclose(loaded.pose(q), built.pose(q), atol=1e-5)
    np.testing.assert_allclose(loaded.mass_matrix(q), built.mass_matrix(q), atol=1e-4)
    np.testing.assert_allclose(loaded.bias(q, qd), built.bias(q, qd), atol=1e-2)
    np.testing.assert_allclose(loaded.tau_max, built.tau_max)
    np.testing.assert_allclose(loaded.q_max, built.q_max, atol=1e-5)


# ---- the tool frame ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tool", "attachment_site", "tcp", "ee_site", "EE"])
def test_a_site_with_a_usual_name_carries_the_tool(tmp_path: Path, name: str) -> None:
    site = f'<site name="other" pos="0 0 9"/><site name="{name}" pos="0.1 0.2 0.3"/>'
    arm = Arm.load(write(tmp_path, chain(2).replace(INERTIAL, INERTIAL + site, 1)))
    np.testing.assert_allclose(arm.pose(np.zeros(arm.n))[:3], [0.1, 0.2, 0.4], atol=1e-12)
    assert arm.n == 1


def test_without_a_name_the_last_body_of_the_longest_chain_carries_the_tool(tmp_path: Path) -> None:
    arm = Arm.load(write(tmp_path, chain(3)))
    np.testing.assert_allclose(arm.pose(np.zeros(3))[:3], [0, 0, 0.3], atol=1e-12)


def test_the_user_can_name_a_body_or_a_site(tmp_path: Path) -> None:
    arm = Arm.load(write(tmp_path, chain(3)), flange="b1")
    np.testing.assert_allclose(arm.pose(np.zeros(2))[:3], [0, 0, 0.2], atol=1e-12)
    assert arm.joint_names == ("j0", "j1")


def test_the_flange_can_be_named_in_a_task_too(tmp_path: Path) -> None:
    path = write(tmp_path, chain(3))
    task = located(Task(robot=f"sim:{path.name}#b1"), tmp_path)
    assert task.robot == f"sim:{path.resolve()}#b1"
    robot = open_robot(task.robot, task)
    assert robot.arm.joint_names == ("j0", "j1")


def test_an_unknown_flange_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no site or body 'grip' .* Known: 'b0', 'b1'\."):
        Arm.load(write(tmp_path, chain(2)), flange="grip")


def test_without_a_home_keyframe_a_well_conditioned_pose_is_found(tmp_path: Path) -> None:
    spec = ur_spec("ur5e", visual=False)
    spec.compile()
    path = write(tmp_path, spec.to_xml())
    arm, again = Arm.load(path, flange="flange"), Arm.load(path, flange="flange")
    np.testing.assert_array_equal(arm.q_home, again.q_home)
    assert np.linalg.svd(arm.jacobian(arm.q_home), compute_uv=False).min() > 0.05


# ---- looks ---------------------------------------------------------------------------------------------------------


def test_shapes_are_kept_on_request_and_weigh_nothing(tmp_path: Path) -> None:
    text = chain(2).replace(INERTIAL, INERTIAL + '<geom type="box" size="0.1 0.2 0.3" rgba="1 0 0 1"/>', 1)
    path = write(tmp_path, text)
    plain, dressed = design(path).spec.compile(), design(path, visual=True).spec.compile()
    assert (plain.ngeom, dressed.ngeom) == (0, 1)
    assert not dressed.geom_contype.any()
    np.testing.assert_allclose(dressed.geom_rgba[0], [1, 0, 0, 1])
    np.testing.assert_array_equal(plain.body_mass, dressed.body_mass)


def test_meshes_are_kept_where_the_file_puts_them(tmp_path: Path) -> None:
    corners = [(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.1)]
    obj = "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    (tmp_path / "wedge.obj").write_text(obj)
    geom = '<geom type="mesh" mesh="wedge" pos="0.1 0 0" euler="0 30 0"/>'
    text = chain(1).replace(INERTIAL, INERTIAL + geom)
    text = text.replace("<worldbody>", '<asset><mesh file="wedge.obj"/></asset><worldbody>')
    model = file_spec(write(tmp_path, text), visual=True).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    seen = data.geom_xpos[0] + model.mesh_vert.astype(float) @ data.geom_xmat[0].reshape(3, 3).T
    turn = Rotation.from_euler("y", 30, degrees=True)
    expected = turn.apply(corners) + np.array([0.1, 0, 0.1])
    for corner in expected:
        assert np.linalg.norm(seen - corner, axis=1).min() < 1e-6


def test_a_missing_mesh_costs_the_looks_only(tmp_path: Path) -> None:
    for text, name in ((MJCF, "arm.xml"), (URDF, "arm.urdf")):
        assert file_spec(write(tmp_path, text, name), visual=True).compile().nv > 0


# ---- what is refused -----------------------------------------------------------------------------------------------


def refusal(path: Path | str) -> str:
    with pytest.raises(ModelError) as caught:
        Arm.load(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    assert caught.value.__cause__ is None
    return text


def test_files_that_cannot_be_read_are_refused_in_one_sentence(tmp_path: Path) -> None:
    none = tmp_path / "none.xml"
    assert refusal(none) == f"Robot file {none} does not exist. Give the path of a URDF or MJCF file."
    assert "must end in .xml (MJCF) or .urdf" in refusal("arm.stl")
    assert "not well-formed XML" in refusal(write(tmp_path, "<mujoco><worldbody>"))
    assert "not well-formed XML" in refusal(write(tmp_path, ""))
    (tmp_path / "folder.xml").mkdir()
    assert "is not a regular file" in refusal(tmp_path / "folder.xml")


def test_files_that_are_not_robots_are_refused_in_one_sentence(tmp_path: Path) -> None:
    assert "Unrecognized XML model type: 'html'" in refusal(write(tmp_path, "<html/>"))
    assert "invalid keyword: 'screw'" in refusal(write(tmp_path, chain(1, 'type="screw"')))
    assert "joint" in refusal(write(tmp_path, '<robot name="r"><link name="a"/><joint name="j"/></robot>', "r.urdf"))
    light = refusal(write(tmp_path, chain(1).replace(INERTIAL, "")))
    assert light.startswith("Body 'b0' in ")
    assert light.endswith("arm.xml has no mass or inertia. Add an <inertial> element.")


def test_joints_of_another_kind_are_refused_by_name(tmp_path: Path) -> None:
    assert "Joint 'j0' of" in (text := refusal(write(tmp_path, chain(1, 'type="ball"'))))
    assert "is a ball joint; only hinge and slide joints are allowed" in text
    assert "is a free joint" in refusal(write(tmp_path, chain(1, 'type="free"')))


def test_the_number_of_joints_is_bounded(tmp_path: Path) -> None:
    assert "has 0 joints that move the tool; 1 to 12 are allowed" in (none := refusal(write(tmp_path, "<mujoco/>")))
    assert none.endswith("Check the joint types, or select the flange with FILE#LINK.")
    assert "has 13 joints" in refusal(write(tmp_path, chain(MAX_JOINTS + 1)))
    assert Arm.load(write(tmp_path, chain(MAX_JOINTS))).n == MAX_JOINTS


def test_slides_and_hinges_mix(tmp_path: Path) -> None:
    text = chain(2).replace('type="hinge"', 'type="slide"', 1)
    arm = Arm.load(write(tmp_path, text))
    np.testing.assert_allclose(arm.jacobian([0.3, 0.0])[:, 0], [0, 1, 0, 0, 0, 0], atol=1e-12)
