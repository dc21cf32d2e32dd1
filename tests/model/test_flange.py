"""The tool is mounted before the gripper, on the frame that a robot description provides for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pliant.model import Arm

MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
# Smaller than the difference of the other two: no body has such an inertia.
IMPOSSIBLE = '<inertial><mass value="0.4"/><inertia ixx="1" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'

Joint = tuple[str, str, str, str]
"""Name, parent, child and type of a joint; `mimic:LEADER` after the type makes it follow another joint."""


def urdf(joints: Iterable[Joint], inertial: dict[str, str] | None = None) -> str:
    """A URDF file with these joints; every link weighs 1 kg unless `inertial` says otherwise."""
    joints, own = list(joints), inertial or {}
    links = dict.fromkeys(link for _, parent, child, _ in joints for link in (parent, child))
    text = "".join(f'<link name="{link}">{own.get(link, MASS)}</link>' for link in links)
    for name, parent, child, kind in joints:
        kind, _, leader = kind.partition(" mimic:")
        mimic = f'<mimic joint="{leader}"/>' if leader else ""
        limit = '<limit lower="-2" upper="2" effort="50" velocity="2"/>' if kind != "fixed" else ""
        text += (
            f'<joint name="{name}" type="{kind}"><origin xyz="0.02 0 0.2"/><parent link="{parent}"/>'
            f'<child link="{child}"/><axis xyz="0 1 0"/>{limit}{mimic}</joint>'
        )
    return f'<robot name="arm">{text}</robot>'


def serial(links: list[str], joint: str = "joint{}") -> list[Joint]:
    """Revolute joints that connect these links one after the other."""
    pairs = itertools.pairwise(links)
    return [(joint.format(i), a, b, "revolute") for i, (a, b) in enumerate(pairs, 1)]


def load(folder: Path, joints: Iterable[Joint], inertial: dict[str, str] | None = None, flange: str = "") -> Arm:
    path = folder / "arm.urdf"
    path.write_text(urdf(joints, inertial))
    return Arm.load(path, flange=flange or None)


PANDA = [
    *serial([f"panda_link{i}" for i in range(8)], "panda_joint{}"),
    ("panda_joint8", "panda_link7", "panda_link8", "fixed"),
    ("panda_hand_joint", "panda_link8", "panda_hand", "fixed"),
    ("panda_hand_tcp_joint", "panda_hand", "panda_hand_tcp", "fixed"),
    ("panda_finger_joint1", "panda_hand", "panda_leftfinger", "prismatic"),
    ("panda_finger_joint2", "panda_hand", "panda_rightfinger", "prismatic mimic:panda_finger_joint1"),
]
ROBOTIQ = [
    *serial(["base_link", *(f"link_{i}" for i in range(1, 7))]),
    ("mount", "link_6", "robotiq_base", "fixed"),
    ("left_driver", "robotiq_base", "left_outer", "revolute"),
    ("left_follower", "left_outer", "left_tip", "revolute mimic:left_driver"),
    ("left_inner", "robotiq_base", "left_bar", "revolute mimic:left_driver"),
    ("right_driver", "robotiq_base", "right_outer", "revolute mimic:left_driver"),
    ("right_follower", "right_outer", "right_tip", "revolute mimic:left_driver"),
    ("right_inner", "robotiq_base", "right_bar", "revolute mimic:left_driver"),
]
KINOVA = [
    *serial(["base", *(f"j2n6s300_link_{i}" for i in range(1, 7))], "j2n6s300_joint_{}"),
    ("end", "j2n6s300_link_6", "j2n6s300_end_effector", "fixed"),
    *[(f"digit_{i}", "j2n6s300_link_6", f"part_{i}", "revolute") for i in (1, 2, 3)],
    *[(f"digit_tip_{i}", f"part_{i}", f"part_tip_{i}", "revolute") for i in (1, 2, 3)],
]
XARM = [
    *serial(["link_base", *(f"link{i}" for i in range(1, 8))]),
    ("joint_eef", "link7", "link_eef", "fixed"),
    ("gripper_fix", "link_eef", "xarm_gripper_base_link", "fixed"),
    ("drive_joint", "xarm_gripper_base_link", "left_outer_knuckle", "revolute"),
    ("left_finger_joint", "left_outer_knuckle", "left_finger", "revolute mimic:drive_joint"),
    ("right_outer_knuckle_joint", "xarm_gripper_base_link", "right_outer_knuckle", "revolute mimic:drive_joint"),
    ("right_finger_joint", "right_outer_knuckle", "right_finger", "revolute mimic:drive_joint"),
    ("joint_tcp", "xarm_gripper_base_link", "link_tcp", "fixed"),
]
IIWA = [
    *serial([f"iiwa_link_{i}" for i in range(8)], "iiwa_joint_{}"),
    ("iiwa_joint_ee", "iiwa_link_7", "iiwa_link_ee", "fixed"),
]
HOBBY = [  # one jaw that moves against a fixed one
    *serial(["base", "shoulder", "upper", "lower", "wrist", "gripper"], "axis_{}"),
    ("gripper", "gripper", "moving", "revolute"),
]
SLIDES = [
    *serial([f"link{i}" for i in range(7)]),
    ("joint7", "link6", "left", "prismatic"),
    ("joint8", "link6", "right", "prismatic"),
]


@pytest.mark.parametrize(
    ("joints", "flange", "n"),
    [
        pytest.param(PANDA, "panda_link8", 7, id="two fingers that slide"),
        pytest.param(ROBOTIQ, "robotiq_base", 6, id="mimic joints"),
        pytest.param(KINOVA, "j2n6s300_end_effector", 6, id="three fingers"),
        pytest.param(KINOVA[:6] + KINOVA[7:], "j2n6s300_link_6", 6, id="three fingers and no usual name"),
        pytest.param(XARM, "link_eef", 7, id="knuckles"),
        pytest.param(IIWA, "iiwa_link_ee", 7, id="no gripper"),
        pytest.param(HOBBY, "gripper", 5, id="a single jaw"),
        pytest.param(SLIDES, "link6", 6, id="fingers without a telling name"),
    ],
)
def test_the_tool_is_mounted_before_the_gripper(tmp_path: Path, joints: list[Joint], flange: str, n: int) -> None:
    arm = load(tmp_path, joints)
    assert (arm.flange, arm.n) == (flange, n)
    assert f"the tool is mounted on {flange!r}" in arm.assumed[0]
    has_gripper = any("grip" in name or "finger" in name or "driver" in name for name, *_ in joints)
    assert ("before a gripper" in arm.assumed[0]) or not has_gripper
    held = any("digit" in sentence or "finger" in sentence for sentence in arm.assumed[1:])
    assert not held, "the joints of a gripper need no second note"


@pytest.mark.parametrize(
    "name", ["tool0", "left_tool0", "tool_flange", "robot_link8", "ee_link", "arm_ee", "end_effector_link", "arm_tcp"]
)
def test_a_usual_name_is_preferred_to_the_last_link(tmp_path: Path, name: str) -> None:
    chain = serial(["base", "a", "b", "c"])
    more: list[Joint] = [("f1", "c", "cover", "fixed"), ("f2", "cover", "screw", "fixed"), ("f3", "c", name, "fixed")]
    assert load(tmp_path, [*chain, *more]).flange == name


def test_an_intermediate_link_with_a_usual_name_is_not_the_flange(tmp_path: Path) -> None:
    links = [f"link{i}" for i in range(11)]
    assert load(tmp_path, serial(links)).flange == "link10"


def test_a_wrist_joint_named_after_the_gripper_belongs_to_the_arm(tmp_path: Path) -> None:
    chain = serial(["base", "a", "b", "c", "d"])
    arm = load(tmp_path, [*chain, ("gripper_roll", "d", "gripper_base", "revolute")])
    assert arm.joint_names[-1] == "gripper_roll"


def test_two_arms_on_a_torso_are_not_a_hand(tmp_path: Path) -> None:
    torso = serial(["base", "column", "tilt", "torso"])
    left = serial(["torso", *(f"left_{i}" for i in range(7))], "left_joint{}")
    right = serial(["torso", *(f"right_{i}" for i in range(7))], "right_joint{}")
    assert load(tmp_path, [*torso, *left, *right]).n == 10


def test_a_hand_without_an_arm_keeps_its_joints(tmp_path: Path) -> None:
    fingers: list[Joint] = [(f"finger_{i}", "palm", f"tip_{i}", "revolute") for i in range(3)]
    assert load(tmp_path, fingers).n == 1


def test_the_user_can_still_name_a_frame_beyond_the_gripper(tmp_path: Path) -> None:
    arm = load(tmp_path, PANDA, flange="panda_leftfinger")
    assert (arm.flange, arm.n) == ("panda_leftfinger", 8)
    assert not any("the tool is mounted" in sentence for sentence in arm.assumed)


def test_the_gripper_keeps_its_mass(tmp_path: Path) -> None:
    with_hand = load(tmp_path, PANDA)
    without = load(tmp_path, PANDA[:8])
    q = np.full(7, 0.3)
    assert np.abs(with_hand.bias(q, np.zeros(7)) - without.bias(q, np.zeros(7))).max() > 1.0


# ---- masses of other links -----------------------------------------------------------------------------------------


def test_an_impossible_inertia_off_the_chain_counts_as_a_point_mass(tmp_path: Path) -> None:
    chain = serial(["base", "a", "b", "tool0"])
    camera: Joint = ("f1", "b", "camera", "fixed")
    point = IMPOSSIBLE.replace('ixx="1"', 'ixx="1e-9"').replace('"0.01"', '"1e-9"')
    arm, like = (load(tmp_path, [*chain, camera], {"camera": mass}) for mass in (IMPOSSIBLE, point))
    assert "link 'camera' has an invalid inertia; its 0.4 kg count as a point mass" in arm.assumed
    q = np.array([0.3, -0.4, 0.5])
    np.testing.assert_allclose(arm.mass_matrix(q), like.mass_matrix(q), atol=1e-6)
    np.testing.assert_allclose(arm.bias(q, np.zeros(3)), like.bias(q, np.zeros(3)), atol=1e-6)


@pytest.mark.parametrize("inertial", [IMPOSSIBLE, "", IMPOSSIBLE.replace("0.4", "-1")])
def test_a_bad_mass_of_a_joint_that_is_held_does_not_stop_the_load(tmp_path: Path, inertial: str) -> None:
    arm = load(tmp_path, PANDA, {"panda_leftfinger": inertial, "panda_link0": IMPOSSIBLE})
    assert arm.n == 7
    assert np.isfinite(arm.mass_matrix(np.zeros(7))).all()
    assert not any("panda_link0" in sentence for sentence in arm.assumed), "what never moves needs no note"


def test_a_link_of_the_chain_without_mass_is_still_rejected(tmp_path: Path) -> None:
    from pliant.errors import ModelError

    with pytest.raises(ModelError, match=r"Link 'panda_link3' in .* has no mass or inertia\. Add an <inertial>"):
        load(tmp_path, PANDA, {"panda_link3": ""})


# ---- meshes --------------------------------------------------------------------------------------------------------

BODY = '<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.01"/>'
MJCF = """<mujoco><asset><mesh name="m" file="missing.stl"/></asset><worldbody>
  <body name="base"><geom type="mesh" mesh="m"/>
    <body name="a" pos="0 0 0.2"><joint name="j1" axis="0 0 1"/>{body}
      <body name="b" pos="0 0 0.2"><joint name="j2" axis="0 1 0"/>{last}
        <body name="cover" pos="0 0 0.1"><geom type="mesh" mesh="m" {cover}/></body>
      </body></body></body></worldbody></mujoco>"""


def mjcf(folder: Path, last: str = BODY, cover: str = "") -> Path:
    path = folder / "arm.xml"
    path.write_text(MJCF.format(body=BODY, last=last, cover=cover))
    return path


def test_a_mesh_of_a_fixed_body_without_inertial_adds_no_mass(tmp_path: Path) -> None:
    arm = Arm.load(mjcf(tmp_path), flange="b")
    assert float(arm.mjmodel.body_mass.sum()) == pytest.approx(2.0)
    assert "body 'cover' has no <inertial>; its mesh adds no mass" in arm.assumed
    assert "mesh file 'missing.stl' is missing; control does not need meshes, but the display does" in arm.assumed
    assert not any("'base'" in sentence for sentence in arm.assumed), "a body that never moves needs no note"


def test_the_mass_that_a_file_gives_for_a_mesh_counts_as_a_point(tmp_path: Path) -> None:
    arm = Arm.load(mjcf(tmp_path, cover='mass="0.5"'), flange="b")
    assert float(arm.mjmodel.body_mass.sum()) == pytest.approx(2.5)
    assert "body 'cover' has no <inertial>; the 0.5 kg of its mesh count as a point mass" in arm.assumed
    assert not any("cover" in note for note in Arm.load(mjcf(tmp_path, cover='mass="0"'), flange="b").assumed)


def test_a_mass_computed_from_the_mesh_of_a_moving_body_is_noted(tmp_path: Path) -> None:
    from pliant.errors import ModelError

    path = mjcf(tmp_path, last='<geom type="mesh" mesh="m"/>')
    with pytest.raises(ModelError, match=r"Mesh file '.*missing\.stl' of .* is missing, and a body without <inertial>"):
        Arm.load(path, flange="b")
    cube = "".join(f"v {x} {y} {z}\n" for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1))
    sides = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
    (tmp_path / "cube.obj").write_text(cube + "".join(f"f {side}\n" for side in sides))
    path.write_text(path.read_text().replace("missing.stl", "cube.obj"))
    noted = [sentence for sentence in Arm.load(path, flange="b").assumed if "'b'" in sentence]
    assert noted == ["body 'b' has no <inertial>; its mass of 1 kg is computed from its meshes"]
