"""A clean copy of one arm out of a compiled model.

Copying the compiled values, instead of editing the user's spec, removes everything specific to the file: degrees,
default classes, nested frames, fused links, names that would clash with ours.
"""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from pliant.model.design import FLANGE
from pliant.model.looks import GROUP
from pliant.model.tool import TOOL


def rebuild(
    model: mujoco.MjModel,
    flange_body: int,
    position: np.ndarray,
    quat: np.ndarray,
    torque: Mapping[int, float],
    *,
    visual: bool,
) -> mujoco.MjSpec:
    """Copy the tree with `flange_body`; only the joints in `torque` (with that limit [N m, N]) can move."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = model.opt.gravity
    bodies = {0: spec.worldbody}
    for b in range(1, model.nbody):
        if model.body_rootid[b] != model.body_rootid[flange_body]:
            continue
        bodies[b] = bodies[int(model.body_parentid[b])].add_body(
            name=_body_name(model, b),
            pos=model.body_pos[b],
            quat=model.body_quat[b],
            mass=model.body_mass[b],
            ipos=model.body_ipos[b],
            iquat=model.body_iquat[b],
            inertia=model.body_inertia[b],
            explicitinertial=True,
        )
        first = int(model.body_jntadr[b])
        for j in range(first, first + int(model.body_jntnum[b])):
            if j in torque:
                _copy_joint(model, j, bodies[b], torque[j])
    bodies[flange_body].add_site(name=FLANGE, pos=position, quat=quat, group=4)
    if visual:
        _copy_shapes(model, spec, bodies)
    return spec


def _body_name(model: mujoco.MjModel, b: int) -> str:
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, b) or ""
    return f"{name}_link" if name == TOOL else name


def _copy_joint(model: mujoco.MjModel, j: int, body: mujoco.MjsBody, torque: float) -> None:
    dof, adr = int(model.jnt_dofadr[j]), int(model.jnt_qposadr[j])
    limited = bool(model.jnt_limited[j])
    body.add_joint(
        name=mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or f"joint_{j + 1}",
        type=mujoco.mjtJoint(int(model.jnt_type[j])),
        pos=model.jnt_pos[j],
        axis=model.jnt_axis[j],
        ref=model.qpos0[adr],
        springref=model.qpos_spring[adr],
        stiffness=float(model.jnt_stiffness[j]),
        limited=mujoco.mjtLimited.mjLIMITED_TRUE if limited else mujoco.mjtLimited.mjLIMITED_FALSE,
        range=model.jnt_range[j],
        actfrcrange=(-torque, torque),
        armature=model.dof_armature[dof],
        damping=float(model.dof_damping[dof]),
        frictionloss=model.dof_frictionloss[dof],
    )


def _copy_shapes(model: mujoco.MjModel, spec: mujoco.MjSpec, bodies: Mapping[int, mujoco.MjsBody]) -> None:
    """Copy geoms as shapes that touch and weigh nothing; where a body has shapes for the eye only, just those."""
    touches = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    meshes: set[int] = set()
    for g in range(model.ngeom):
        body, mesh = int(model.geom_bodyid[g]), int(model.geom_dataid[g])
        kind = mujoco.mjtGeom(int(model.geom_type[g]))
        siblings = model.geom_bodyid == body
        if body not in bodies or body == 0 or (touches[g] and not touches[siblings].all()):
            continue
        material = int(model.geom_matid[g])
        shape = bodies[body].add_geom(
            type=kind,
            pos=model.geom_pos[g],
            quat=model.geom_quat[g],
            size=model.geom_size[g],
            rgba=model.mat_rgba[material] if material >= 0 else model.geom_rgba[g],
            contype=0,
            conaffinity=0,
            mass=0.0,
            group=GROUP,
        )
        if kind == mujoco.mjtGeom.mjGEOM_MESH:
            if mesh not in meshes:
                meshes.add(mesh)
                _copy_mesh(model, spec, mesh)
            shape.meshname = f"mesh_{mesh}"


def _copy_mesh(model: mujoco.MjModel, spec: mujoco.MjSpec, mesh: int) -> None:
    vertex, face = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    spec.add_mesh(
        name=f"mesh_{mesh}",
        uservert=model.mesh_vert[vertex : vertex + int(model.mesh_vertnum[mesh])].ravel(),
        userface=model.mesh_face[face : face + int(model.mesh_facenum[mesh])].ravel(),
        inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # an open surface is fine for looks
    )
