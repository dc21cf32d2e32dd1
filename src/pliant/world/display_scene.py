"""The simulated scene for display: arm, tool, floor and surfaces, with light."""

from __future__ import annotations

import mujoco
import numpy as np

from pliant.model.catalogue import design
from pliant.model.tool import Tool, attach
from pliant.world.build_world import quaternion
from pliant.world.surface_kind import Surface
from pliant.world.world_config import SimConfig

_GEOMS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}
_WOOD = (0.72, 0.62, 0.46, 1.0)
_SKY = ((0.93, 0.95, 0.97), (0.66, 0.73, 0.80))
_FLOOR = ((0.60, 0.61, 0.63), (0.66, 0.67, 0.69))


def scene_model(source: str, tool: Tool, config: SimConfig) -> mujoco.MjModel:
    """A MuJoCo model with shapes, for drawing only; its joints are those of the arm."""
    return dressed(design(source, visual=True).spec, tool, config)


def dressed(spec: mujoco.MjSpec, tool: Tool, config: SimConfig) -> mujoco.MjModel:
    """The model of a robot that has its shapes, with tool, light, floor and surfaces."""
    attach(spec, config.tool or tool, visual=True)
    spec.visual.headlight.ambient = (0.35, 0.35, 0.35)
    spec.visual.headlight.diffuse = (0.35, 0.35, 0.35)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1920, 1080
    spec.visual.quality.shadowsize = 4096
    _surroundings(spec)
    for number, surface in enumerate(config.surfaces):
        _draw(spec, surface, number)
    return spec.compile()


def _surroundings(spec: mujoco.MjSpec) -> None:
    """Sky, floor and one lamp."""
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=_SKY[0], rgb2=_SKY[1], width=256, height=256,
    )  # fmt: skip
    spec.add_texture(
        name="floor", type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=_FLOOR[0], rgb2=_FLOOR[1], width=512, height=512,
    )  # fmt: skip
    floor = spec.add_material(name="floor", texrepeat=(4, 4), texuniform=True, reflectance=0.04)
    floor.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=(4, 4, 0.1), material="floor", contype=0, conaffinity=0
    )
    spec.worldbody.add_light(pos=(0.6, -1.2, 2.4), dir=(-0.25, 0.5, -1), diffuse=(0.65, 0.65, 0.65), castshadow=True)


def _draw(spec: mujoco.MjSpec, surface: Surface, number: int) -> None:
    """Add the shapes of a surface, which are in its own frame."""
    quat = quaternion(surface.rpy_deg)
    for k, shape in enumerate(surface.shapes):
        shift, turn = np.zeros(3), np.zeros(4)
        mujoco.mju_rotVecQuat(shift, np.array(shape.position_m), quat)
        mujoco.mju_mulQuat(turn, quat, quaternion(shape.rpy_deg))
        geom = {"type": _GEOMS[shape.kind]}
        if shape.kind == "mesh":
            name = f"surface {number} shape {k}"
            spec.add_mesh(
                name=name, uservert=np.ravel(shape.vertices), userface=np.ravel(shape.faces),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
            )  # fmt: skip
            geom["meshname"] = name
        else:
            geom["size"] = (*shape.size, 0.0, 0.0, 0.0)[:3]
        spec.worldbody.add_geom(
            pos=np.add(surface.position_m, shift), quat=turn, rgba=_WOOD, contype=0, conaffinity=0, **geom
        )
