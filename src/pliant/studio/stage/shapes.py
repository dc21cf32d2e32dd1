"""The scene as the page draws it: shapes by body, and the body poses for given joints."""

from __future__ import annotations

from typing import Any, Literal

import mujoco
import numpy as np

from pliant.mobile.mission.mission_task import MissionTask
from pliant.mobile.whole_body.body_world import body_scene_model
from pliant.mobile.whole_body.mobile_arm import Chassis
from pliant.robots import model_of
from pliant.studio.page_messages import Shape
from pliant.task.schema import Task, arm_model
from pliant.world.display_scene import scene_model

_KINDS: dict[int, Literal["sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"]] = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere",
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): "capsule",
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): "ellipsoid",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_BOX): "box",
    int(mujoco.mjtGeom.mjGEOM_MESH): "mesh",
}


class Shapes:
    """The shapes of a scene. `poses` moves its own copy of the arm, so use one object per thread."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self.bodies = model.nbody

    @classmethod
    def of_arm(cls, task: Task) -> Shapes:
        """The shapes of a task; the joints are those of the arm."""
        return cls(scene_model(arm_model(task), task.tool, task.sim))

    @classmethod
    def of_mission(cls, task: MissionTask) -> Shapes:
        """The shapes of an arm on a base; the joints are x, y and heading of the base, then those of the arm."""
        return cls(body_scene_model(Chassis(), model_of(task.robot), task.tool, task.sim))

    @property
    def up(self) -> list[float]:
        """The direction against gravity: z for an arm on a floor, another for an arm that moves in a plane."""
        gravity = self._model.opt.gravity
        return [0.0, 0.0, 1.0] if not gravity.any() else _rounded(-gravity / np.linalg.norm(gravity))

    def describe(self) -> list[Shape]:
        """Every shape: its body, kind, sizes [m], pose in the body, and colour. The page draws the floor."""
        return [self._shape(i) for i in range(self._model.ngeom) if int(self._model.geom_type[i]) in _KINDS]

    def _shape(self, geom: int) -> Shape:
        model = self._model
        shape: Shape = {
            "body": int(model.geom_bodyid[geom]),
            "kind": _KINDS[int(model.geom_type[geom])],
            "size": _rounded(model.geom_size[geom]),
            "pos": _rounded(model.geom_pos[geom]),
            "quat": _rounded(model.geom_quat[geom]),
            "rgba": _rounded(model.geom_rgba[geom]),
        }
        number = int(model.geom_dataid[geom])
        if shape["kind"] == "mesh" and number >= 0:
            corners = slice(model.mesh_vertadr[number], model.mesh_vertadr[number] + model.mesh_vertnum[number])
            faces = slice(model.mesh_faceadr[number], model.mesh_faceadr[number] + model.mesh_facenum[number])
            shape["vertices"] = _rounded(model.mesh_vert[corners].ravel())
            shape["faces"] = model.mesh_face[faces].ravel().tolist()
        return shape

    def poses(self, record: Any) -> np.ndarray[Any, Any]:
        """Position [m] and quaternion (wxyz) of every body in a telemetry record, as (bodies, 7) f4."""
        base, n = record["base"], self._model.nq
        q = np.concatenate([base["pose"], record["reading"]["q"]]) if base["present"] else record["reading"]["q"]
        self._data.qpos[:] = q[:n]
        mujoco.mj_kinematics(self._model, self._data)
        return np.hstack([self._data.xpos, self._data.xquat]).astype(np.float32)


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 5) for value in values]
