"""Arms from a robot description: any MJCF (.xml) or URDF (.urdf) file with hinge and slide joints.

Used: the tree, the inertias, and the limits of the joints that move the tool. Ignored: actuators (except their force
limits), sensors, contacts, constraints. Joints that do not move the tool are fixed at the file's initial pose. The
base frame is the file's world frame.
"""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from pliant.errors import ModelError, shortened
from pliant.model.design import Design
from pliant.model.from_file.file_tree import rebuild
from pliant.model.from_file.flange import Flange, Tree, find_flange
from pliant.model.from_file.link_masses import mesh_masses, missing_meshes, repair, weigh_without_meshes
from pliant.records import MAX_JOINTS

# Where the file is silent: (joint that turns, joint that slides).
DEFAULT_V_MAX = (2.0, 0.5)  # rad/s, m/s
DEFAULT_A_MAX = (10.0, 2.0)  # rad/s^2, m/s^2; no file format has a field for it
DEFAULT_TAU_MAX = (150.0, 1000.0)  # N m, N


class _Missing(NamedTuple):
    """A limit that a file may lack, and what is assumed then."""

    limit: str
    default: tuple[float, float]
    unit: tuple[str, str]
    declare: tuple[str, str] = ("", "")


_DECLARE = ("limits.joint_acceleration_rad_s2", "limits.joint_acceleration_m_s2")
_NO_SPEED = _Missing("speed", DEFAULT_V_MAX, ("rad/s", "m/s"))
_NO_TORQUE = _Missing("torque", DEFAULT_TAU_MAX, ("N m", "N"))
_NO_ACCELERATION = _Missing("acceleration", DEFAULT_A_MAX, ("rad/s²", "m/s²"), _DECLARE)

_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_KINDS = {int(mujoco.mjtJoint.mjJNT_FREE): "free joint", int(mujoco.mjtJoint.mjJNT_BALL): "ball joint"}


def file_spec(path: Path | str, *, flange: str | None = None, visual: bool = False) -> mujoco.MjSpec:
    """The arm in an MJCF or URDF file as a MuJoCo spec with the site `flange` (see `file_design`)."""
    return file_design(path, flange=flange, visual=visual).spec


def file_design(path: Path | str, *, flange: str | None = None, visual: bool = False) -> Design:
    """The arm in an MJCF or URDF file.

    `flange` names the site or body that carries the tool. Without it: a site, then a body, with a usual name (tool0,
    attachment_site, *flange*, *link8, ee…, *_tcp); otherwise the last body of the longest chain. A gripper does not
    count: its joints are held fixed. Meshes are only needed for display: with `visual`, a file whose meshes are missing
    is loaded without shapes.
    """
    path = Path(path)
    root = _xml_root(path)
    urdf = root.tag == "robot"
    found, model, assumed = _compile(path, root, flange, visual=visual)
    body, position, quat = _place(model, found)
    joints = _chain(path, model, body)
    assumed += _held(model, found, joints)
    speeds = _urdf_speeds(root) if urdf else {}
    v_max = _filled(model, joints, [speeds.get(_joint_name(model, j), 0.0) for j in joints], _NO_SPEED, assumed)
    torque = _filled(model, joints, [_torque(model, j) for j in joints], _NO_TORQUE, assumed)
    notes: list[str] = []
    a_max = _filled(model, joints, [0.0 for _ in joints], _NO_ACCELERATION, notes)
    limits = dict(zip(joints, torque, strict=True))
    spec = rebuild(model, body, position, quat, limits, visual=visual)
    spec.modelname = path.stem
    return Design(
        path.stem,
        spec,
        tuple(v_max),
        tuple(a_max),
        _home(model, joints),
        assumed=tuple(assumed),
        acceleration_note="; ".join(notes),
        flange=found.name,
    )


# ---- reading -------------------------------------------------------------------------------------------------------


def is_robot_file(path: Path) -> bool:
    """Whether a regular file of this name exists; reading a pipe might never end."""
    try:
        return path.is_file()
    except (OSError, ValueError):  # no file can have this name
        return False


def _xml_root(path: Path) -> ET.Element:
    if path.suffix.lower() not in (".xml", ".urdf", ".mjcf"):
        raise ModelError(f"{path} is not a robot description: the file name must end in .xml (MJCF) or .urdf.")
    try:
        if not is_robot_file(path) and path.exists():
            raise ModelError(f"{path} is not a regular file. Give the path of a URDF or MJCF file.")
        return ET.fromstring(path.read_bytes())
    except FileNotFoundError:
        where = "" if Path(path).is_absolute() else f" in {Path.cwd()} or next to the task file"
        raise ModelError(f"Robot file {path} does not exist{where}. Give the path of a URDF or MJCF file.") from None
    except OSError as error:
        raise ModelError(f"{shortened(path)} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise ModelError("The path of the robot file contains a NUL character. Give the path of a file.") from None
    except ET.ParseError as error:
        raise ModelError(f"{path} is not well-formed XML: {error}.") from None


def _reason(error: Exception) -> str:
    """MuJoCo's complaint as one clause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
    for noise in ("XML Error:", "Error:"):
        lines[0] = lines[0].removeprefix(noise).strip()
    return ", ".join(line.replace("Element name '', ", "") for line in lines).rstrip(".")


def _compile(
    path: Path, root: ET.Element, flange: str | None, *, visual: bool
) -> tuple[Flange, mujoco.MjModel, list[str]]:
    """The frame that carries the tool, the compiled model, and notes on what was changed to compile it."""
    urdf = root.tag == "robot"
    try:
        if visual:
            try:
                spec, found, notes = _prepared(path, root, flange)
                return found, spec.compile(), notes
            except ValueError:
                pass  # a failed spec cannot be used again; try without shapes
        spec, found, notes = _prepared(path, root, flange)
        tree = Tree(spec)
        notes += missing_meshes(spec, path)
        notes += _strip(spec, tree, found, urdf=urdf)
        model = spec.compile()
        return found, model, notes + mesh_masses(spec, model)
    except ValueError as error:
        raise _not_loaded(path, urdf, error) from None


def _prepared(path: Path, root: ET.Element, flange: str | None) -> tuple[mujoco.MjSpec, Flange, list[str]]:
    """The file as a spec whose masses can be compiled, and the frame that carries the tool."""
    spec = mujoco.MjSpec.from_file(str(path))
    spec.compiler.fusestatic = False  # keep fixed links: one of them is often the tool frame
    tree = Tree(spec)
    found = find_flange(tree, _coupled(spec, root), flange)
    if found is None:
        known = ", ".join(repr(n) for n in [*tree.sites, *tree.names[1:]] if n) or "none with a name"
        raise ModelError(f"{path} has no site or body {flange!r} to mount the tool on. Known: {known}.")
    return spec, found, [*_chosen(found, flange), *repair(spec, tree, found, urdf=root.tag == "robot")]


def _not_loaded(path: Path, urdf: bool, error: ValueError) -> ModelError:
    part = "Link" if urdf else "Body"
    if light := re.search(r"mass and inertia of moving bodies.*Element name '([^']*)'", str(error), re.DOTALL):
        return ModelError(f"{part} {light[1]!r} in {path} has no mass or inertia. Add an <inertial> element.")
    if lost := re.search(r"[Ee]rror opening file '([^']*)'", str(error)):
        return ModelError(
            f"Mesh file {lost[1]!r} of {path} is missing, and a body without <inertial> takes its mass from it. Add "
            "the file, or an <inertial> element."
        )
    return ModelError(f"MuJoCo cannot load the robot in {path}: {_reason(error)}.")


def _coupled(spec: mujoco.MjSpec, root: ET.Element) -> list[tuple[str, str]]:
    """Pairs of joints of which one follows the other: mimic joints of a URDF file, equalities of an MJCF file."""
    pairs = [(eq.name1, eq.name2) for eq in spec.equalities if eq.type == mujoco.mjtEq.mjEQ_JOINT and eq.name2]
    for joint in root.iter("joint"):
        if (mimic := joint.find("mimic")) is not None:
            pairs.append((joint.get("name", ""), mimic.get("joint", "")))
    return pairs


def _strip(spec: mujoco.MjSpec, tree: Tree, flange: Flange, *, urdf: bool) -> list[str]:
    """Delete what control does not need, so that a missing mesh or picture is no error; returns notes."""
    for group in (spec.pairs, spec.excludes, spec.sensors, spec.equalities, spec.tuples, spec.skins, spec.flexes):
        _delete(spec, group)
    _delete(spec, [a for a in spec.actuators if a.trntype != mujoco.mjtTrn.mjTRN_JOINT])
    _delete(spec, spec.tendons)
    for key in spec.keys:
        key.ctrl, key.act = [], []  # their sizes no longer fit
    notes: list[str] = []
    if urdf:
        _delete(spec, spec.geoms)
    else:
        notes = weigh_without_meshes(spec, tree, flange)
    for element in (*spec.geoms, *spec.sites):
        element.material = ""
    used = {geom.meshname for geom in spec.geoms}
    _delete(spec, [mesh for mesh in spec.meshes if mesh.name not in used])
    for group in (spec.materials, spec.textures, spec.hfields):
        _delete(spec, group)
    return notes


def _delete(spec: mujoco.MjSpec, elements: object) -> None:
    for element in list(elements):  # pyright: ignore[reportArgumentType,reportCallIssue]
        spec.delete(element)


# ---- understanding -------------------------------------------------------------------------------------------------


def _name(model: mujoco.MjModel, kind: mujoco.mjtObj, index: int) -> str:
    return mujoco.mj_id2name(model, kind, index) or ""


def _joint_name(model: mujoco.MjModel, j: int) -> str:
    return _name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or f"number {j + 1}"


def _slides(model: mujoco.MjModel, j: int) -> int:
    return int(model.jnt_type[j] == _SLIDE)


def _ancestors(model: mujoco.MjModel, body: int) -> list[int]:
    """The bodies from `body` down to the world, without the world."""
    line = []
    while body:
        line.append(body)
        body = int(model.body_parentid[body])
    return line


def _place(model: mujoco.MjModel, flange: Flange) -> tuple[int, np.ndarray, np.ndarray]:
    """Body, position [m] and quaternion of the frame that carries the tool."""
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, flange.body)
    if not flange.is_site:
        return body, np.zeros(3), np.array([1.0, 0, 0, 0])
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, flange.name)
    return body, model.site_pos[site], model.site_quat[site]


def _chosen(flange: Flange, asked: str | None) -> list[str]:
    """A note on the frame that carries the tool, unless the user has named it."""
    if asked is not None:
        return []
    last = f", after joint {flange.joints[-1]!r}" if flange.joints else ""
    before = " and before a gripper, whose joints are held fixed" if flange.gripper else ""
    return [f"the tool is mounted on {flange.name!r}{last}{before}; to choose another frame, append #NAME to the file"]


def _held(model: mujoco.MjModel, flange: Flange, joints: list[int]) -> list[str]:
    """A note on the joints that do not move the tool; those of the gripper are in the note on the flange."""
    held = [_joint_name(model, j) for j in range(model.njnt) if j not in joints]
    rest = [name for name in held if name not in flange.gripper]
    if not rest:
        return []
    return [
        f"{_listed('joint', rest)} {'do' if len(rest) > 1 else 'does'} not move the tool and {_be(rest)} held fixed"
    ]


def _listed(noun: str, names: list[str]) -> str:
    """Names after their noun: joint 'a'; joints 'a', 'b' and 'c'."""
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return f"{noun} {quoted[0]}"
    return f"{noun}s {', '.join(quoted[:-1])} and {quoted[-1]}"


def _be(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _chain(path: Path, model: mujoco.MjModel, body: int) -> list[int]:
    """The joints between the world and a body, checked for kind and number."""
    joints = [
        int(model.body_jntadr[b]) + k for b in reversed(_ancestors(model, body)) for k in range(model.body_jntnum[b])
    ]
    for j in joints:
        if model.jnt_type[j] not in (_HINGE, _SLIDE):
            kind = _KINDS[int(model.jnt_type[j])]
            name = _joint_name(model, j)
            raise ModelError(f"Joint {name!r} of {path} is a {kind}; only hinge and slide joints are allowed.")
    if not 1 <= len(joints) <= MAX_JOINTS:
        raise ModelError(
            f"{path} has {len(joints)} joints that move the tool; 1 to {MAX_JOINTS} are allowed. Check the joint "
            "types, or select the flange with FILE#LINK."
        )
    return joints


def _urdf_speeds(root: ET.Element) -> dict[str, float]:
    """Velocity limits [rad/s, m/s] by joint; MuJoCo's reader drops them."""
    speeds = {}
    for joint in root.iter("joint"):
        limit = joint.find("limit")
        try:
            speeds[joint.get("name", "")] = float(limit.get("velocity", "0")) if limit is not None else 0.0
        except ValueError:
            continue
    return speeds


def _filled(
    model: mujoco.MjModel, joints: list[int], limits: list[float], missing: _Missing, assumed: list[str]
) -> list[float]:
    """The limits of the joints; those that the file does not give are assumed, with a note."""
    found = list(limits)
    for slides in (0, 1):
        at = [k for k, j in enumerate(joints) if _slides(model, j) == slides]
        empty = [k for k in at if not (np.isfinite(limits[k]) and limits[k] > 0.0)]
        if not empty:
            continue
        names = [_joint_name(model, joints[k]) for k in empty]
        verb = "have" if len(names) > 1 else "has"
        value, unit = missing.default[slides], missing.unit[slides]
        hint = f"; declare yours with {missing.declare[slides]}" if missing.declare[slides] else ""
        who = "the joints have" if len(empty) == len(joints) > 1 else f"{_listed('joint', names)} {verb}"
        assumed.append(f"{who} no {missing.limit} limit; {value:g} {unit} is assumed{hint}")
        for k in empty:
            found[k] = value
    return found


def _torque(model: mujoco.MjModel, j: int) -> float:
    """The largest torque or force at a joint: its own limit, else its actuator's; 0 if the file gives none."""
    if model.jnt_actfrclimited[j] and (limit := float(np.abs(model.jnt_actfrcrange[j]).max())) > 0.0:
        return limit
    for i in range(model.nu):
        if model.actuator_trnid[i, 0] != j:
            continue
        gear = abs(float(model.actuator_gear[i, 0]))
        if model.actuator_forcelimited[i]:
            return float(np.abs(model.actuator_forcerange[i]).max()) * gear
        plain = model.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        if plain and model.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE and model.actuator_ctrllimited[i]:
            return float(np.abs(model.actuator_ctrlrange[i]).max() * abs(model.actuator_gainprm[i, 0])) * gear
    return 0.0


def _home(model: mujoco.MjModel, joints: list[int]) -> tuple[float, ...] | None:
    """The file's keyframe `home`, when it has one."""
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home")
    return tuple(float(model.key_qpos[key, model.jnt_qposadr[j]]) for j in joints) if key >= 0 else None
