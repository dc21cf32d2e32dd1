"""Rendered pictures of a simulated scene.

Needs the extra `render` (PyOpenGL), an EGL library on the system, and MUJOCO_GL=egl in the environment before Python
starts, because MuJoCo selects its graphics backend on import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import PliantError
from pliant.task.schema import Task
from pliant.world.display_scene import scene_model

Arrow = tuple[ArrayLike, ArrayLike, Sequence[float]]
"""Start [m], end [m], colour (red, green, blue, opacity)."""


def render(
    task: Task,
    q: ArrayLike,
    *,
    size: tuple[int, int] = (960, 720),
    look_at: Sequence[float] = (0.25, 0.0, 0.35),
    distance_m: float = 1.9,
    azimuth_deg: float = 140.0,
    elevation_deg: float = -18.0,
    arrows: Sequence[Arrow] = (),
) -> np.ndarray[Any, Any]:
    """The scene of `task` with the arm at joint positions q [rad], as an image (height, width, 3)."""
    camera = view(look_at, distance_m, azimuth_deg, elevation_deg)
    return render_model(scene_model(task.robot.partition(":")[2], task.tool, task.sim), q, camera, size, arrows)


def view(look_at: Sequence[float], distance_m: float, azimuth_deg: float, elevation_deg: float) -> mujoco.MjvCamera:
    """A camera at a distance from the point it looks at."""
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance = look_at, distance_m
    camera.azimuth, camera.elevation = azimuth_deg, elevation_deg
    return camera


def render_model(
    model: mujoco.MjModel,
    q: ArrayLike,
    camera: mujoco.MjvCamera,
    size: tuple[int, int] = (960, 720),
    arrows: Sequence[Arrow] = (),
) -> np.ndarray[Any, Any]:
    """A model with geometry (see `world.display_scene`) at joint positions q, as an image (height, width, 3)."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    width, height = size
    try:
        with mujoco.Renderer(model, height, width) as renderer:
            renderer.update_scene(data, camera)
            for start, end, colour in arrows:
                _arrow(renderer.scene, start, end, colour)
            return renderer.render()
    except (ImportError, AttributeError, RuntimeError) as error:
        raise PliantError(
            f"Cannot render the scene: {str(error).rstrip('.')}. Rendering needs PyOpenGL (pip install -e '.[render]' "
            "in Pliant's folder), an EGL library (Debian: libegl1, libgl1-mesa-dri) and the environment variable "
            "MUJOCO_GL=egl."
        ) from None


def _arrow(scene: Any, start: ArrayLike, end: ArrayLike, colour: Sequence[float]) -> None:
    if scene.ngeom >= scene.maxgeom:
        return
    geom = scene.geoms[scene.ngeom]
    kind = mujoco.mjtGeom.mjGEOM_ARROW
    mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.zeros(9), np.array(colour, np.float32))
    mujoco.mjv_connector(geom, kind, 0.008, np.array(start, float), np.array(end, float))
    geom.size[2] *= 2.0  # arrows are drawn half as long as they are
    scene.ngeom += 1
