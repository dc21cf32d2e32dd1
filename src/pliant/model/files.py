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

import mujoco
import numpy as np

from pliant.errors import ModelError
from pliant.model.design import Design
from pliant.model.file_tree import rebuild
from pliant.records import MAX_JOINTS

# Where the file is silent: (joint that turns, joint that slides).
DEFAULT_V_MAX = (2.0, 0.5)  # rad/s, m/s
DEFAULT_A_MAX = (10.0, 2.0)  # rad/s^2, m/s^2; no file format has a field for it
DEFAULT_TAU_MAX = (150.0, 1000.0)  # N m, N

_FLANGE_NAMES = ("tool", "tool0", "attachment_site", "tcp")
_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_KINDS = {int(mujoco.mjtJoint.mjJNT_FREE): "free joint", int(mujoco.mjtJoint.mjJNT_BALL): "ball joint"}


def file_spec(path: Path | str, *, flange: str | None = None, visual: bool = False) -> mujoco.MjSpec:
    """The arm in an MJCF or URDF file as a MuJoCo spec with the site `flange` (see `file_design`)."""
    return file_design(path, flange=flange, visual=visual).spec


def file_design(path: Path | str, *, flange: str | None = None, visual: bool = False) -> Design:
    """The arm in an MJCF or URDF file.

    `flange` names the site or body that carries the tool. Without it: a site, then a body, named tool, tool0,
    attachment_site, tcp or ee…; otherwise the last body of the chain with the most joints. Meshes are only needed for
    display: with `visual`, a file whose meshes are missing is loaded without shapes.
    """
    path = Path(path)
    root = _xml_root(path)
    model = _compile(path, urdf=root.tag == "robot", visual=visual)
    body, position, quat = _find_flange(path, model, flange)
    joints = _chain(path, model, body)
    assumed: list[str] = []
    for j in set(range(model.njnt)) - set(joints):
        assumed.append(f"joint {_joint_name(model, j)!r} does not move the tool and is held fixed")
    speeds = _urdf_speeds(root) if root.tag == "robot" else {}
    v_max = tuple(_speed(model, j, speeds, assumed) for j in joints)
    a_max = tuple(DEFAULT_A_MAX[_slides(model, j)] for j in joints)
    torque = {j: _torque(model, j, assumed) for j in joints}
    spec = rebuild(model, body, position, quat, torque, visual=visual)
    spec.modelname = path.stem
    return Design(path.stem, spec, v_max, a_max, _home(model, joints), assumed=tuple(sorted(assumed)))


# ---- reading -------------------------------------------------------------------------------------------------------


def _xml_root(path: Path) -> ET.Element:
    if path.suffix.lower() not in (".xml", ".urdf", ".mjcf"):
        raise ModelError(f"{path} is not a robot description: the file name must end in .xml (MJCF) or .urdf.")
    try:
        return ET.fromstring(path.read_bytes())
    except FileNotFoundError:
        where = "" if Path(path).is_absolute() else f" in {Path.cwd()} or next to the task file"
        raise ModelError(f"Robot file {path} does not exist{where}. Give the path of a URDF or MJCF file.") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from None
    except ET.ParseError as error:
        raise ModelError(f"{path} is not well-formed XML: {error}.") from None


def _reason(error: Exception) -> str:
    """MuJoCo's complaint as one clause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no reason given"]
    for noise in ("XML Error:", "Error:"):
        lines[0] = lines[0].removeprefix(noise).strip()
    return ", ".join(line.replace("Element name '', ", "") for line in lines).rstrip(".")


def _compile(path: Path, *, urdf: bool, visual: bool) -> mujoco.MjModel:
    try:
        if visual:
            try:
                spec = mujoco.MjSpec.from_file(str(path))
                spec.compiler.fusestatic = False
                return spec.compile()
            except ValueError:
                pass  # a failed spec cannot be used again; try without shapes
        spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = False  # keep fixed links: one of them is often the tool frame
        _strip(spec, urdf)
        return spec.compile()
    except ValueError as error:
        if light := re.search(r"mass and inertia of moving bodies.*Element name '([^']*)'", str(error), re.DOTALL):
            part = "Link" if urdf else "Body"
            raise ModelError(
                f"{part} {light[1]!r} in {path} has no mass or inertia. Add an <inertial> element."
            ) from None
        raise ModelError(f"MuJoCo cannot load the robot in {path}: {_reason(error)}.") from None


def _strip(spec: mujoco.MjSpec, urdf: bool) -> None:
    """Delete what control does not need, so that a missing mesh or picture is no error; shapes that give mass stay."""
    for group in (spec.pairs, spec.excludes, spec.sensors, spec.equalities, spec.tuples, spec.skins, spec.flexes):
        _delete(spec, group)
    _delete(spec, [a for a in spec.actuators if a.trntype != mujoco.mjtTrn.mjTRN_JOINT])
    _delete(spec, spec.tendons)
    for key in spec.keys:
        key.ctrl, key.act = [], []  # their sizes no longer fit
    weighs = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    _delete(
        spec,
        [g for g in spec.geoms if urdf or g.parent.name == "world" or (g.parent.explicitinertial and not weighs)],
    )
    for element in (*spec.geoms, *spec.sites):
        element.material = ""
    used = {geom.meshname for geom in spec.geoms}
    _delete(spec, [mesh for mesh in spec.meshes if mesh.name not in used])
    for group in (spec.materials, spec.textures, spec.hfields):
        _delete(spec, group)


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


def _find_flange(path: Path, model: mujoco.MjModel, name: str | None) -> tuple[int, np.ndarray, np.ndarray]:
    """Body, position [m] and quaternion of the frame that carries the tool."""
    site_names = [_name(model, mujoco.mjtObj.mjOBJ_SITE, i) for i in range(model.nsite)]
    body_names = [_name(model, mujoco.mjtObj.mjOBJ_BODY, i) for i in range(model.nbody)]
    for names, is_site in ((site_names, True), (body_names, False)):
        wanted = [name] if name else [*_FLANGE_NAMES, *(n for n in names if n.lower().startswith("ee"))]
        found = next((names.index(n) for n in wanted if n in names), None)
        if found is not None and is_site:
            return int(model.site_bodyid[found]), model.site_pos[found], model.site_quat[found]
        if found is not None:
            return found, np.zeros(3), np.array([1.0, 0, 0, 0])
    if name:
        known = ", ".join(repr(n) for n in [*site_names, *body_names[1:]] if n) or "none with a name"
        raise ModelError(f"{path} has no site or body {name!r} to mount the tool on. Known: {known}.")

    def length(body: int) -> tuple[int, int, int]:
        line = _ancestors(model, body)
        return int(model.body_jntnum[line].sum()), len(line), -body

    return max(range(model.nbody), key=length), np.zeros(3), np.array([1.0, 0, 0, 0])


def _chain(path: Path, model: mujoco.MjModel, body: int) -> list[int]:
    """The joints between the world and a body, checked for kind and number."""
    for j in range(model.njnt):
        if model.jnt_type[j] not in (_HINGE, _SLIDE):
            kind = _KINDS[int(model.jnt_type[j])]
            name = _joint_name(model, j)
            raise ModelError(f"Joint {name!r} of {path} is a {kind}; only hinge and slide joints are allowed.")
    joints = [
        int(model.body_jntadr[b]) + k for b in reversed(_ancestors(model, body)) for k in range(model.body_jntnum[b])
    ]
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


def _speed(model: mujoco.MjModel, j: int, speeds: dict[str, float], assumed: list[str]) -> float:
    speed = speeds.get(_joint_name(model, j), 0.0)
    if np.isfinite(speed) and speed > 0.0:
        return speed
    default = DEFAULT_V_MAX[_slides(model, j)]
    unit = ("rad/s", "m/s")[_slides(model, j)]
    assumed.append(f"joint {_joint_name(model, j)!r} has no speed limit; {default:g} {unit} is assumed")
    return default


def _torque(model: mujoco.MjModel, j: int, assumed: list[str]) -> float:
    """The largest torque or force at a joint: its own limit, else its actuator's."""
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
    default = DEFAULT_TAU_MAX[_slides(model, j)]
    unit = ("N m", "N")[_slides(model, j)]
    assumed.append(f"joint {_joint_name(model, j)!r} has no torque limit; {default:g} {unit} is assumed")
    return default


def _home(model: mujoco.MjModel, joints: list[int]) -> tuple[float, ...] | None:
    """The file's keyframe `home`, when it has one."""
    key = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home")
    return tuple(float(model.key_qpos[key, model.jnt_qposadr[j]]) for j in joints) if key >= 0 else None
