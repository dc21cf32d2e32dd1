"""The fixed displacements between the joints of an arm, from its MuJoCo model (see `chain`)."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.errors import ModelError

Frame = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Position [m] and unit quaternion."""

# Positions [rad, m] of the joints at which the chain is compared with MuJoCo, and the largest difference [m, -]. It is
# 1e-15 by rounding, and of the size of a link where the joints are not one chain.
_AT, _SAME = (0.0, 0.7, -1.9), 1e-9


def fill_links(h: Any, model: Any, data: Any, sites: tuple[int, int], name: str) -> None:
    """Write the displacements to the joints, and to the sites of tool and sensor, into a handle.

    Raises `ModelError` if the joints are not one chain from the base to the tool.
    """
    data.qpos[:] = 0.0
    mujoco.mj_kinematics(model, data)
    before = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    for i in range(model.njnt):
        turn = np.zeros(4)
        mujoco.mju_quatZ2Vec(turn, data.xaxis[i])
        here = data.xanchor[i].copy(), turn
        _fill(h.link[i], before, here)
        before = here
    for link, site in zip((h.tool_link, h.sensor_link), sites, strict=True):
        _fill(link, before, _site(data, site))
    _check(h, model, data, sites, name)


def _fill(link: Any, before: Frame, after: Frame) -> None:
    back = np.zeros(4)
    mujoco.mju_negQuat(back, before[1])
    mujoco.mju_rotVecQuat(link.shift, after[0] - before[0], back)
    mujoco.mju_mulQuat(link.turn, back, after[1])


def _site(data: Any, site: int) -> Frame:
    turn = np.zeros(4)
    mujoco.mju_mat2Quat(turn, data.site_xmat[site])
    return data.site_xpos[site].copy(), turn


def _beyond(frame: Frame, shift: NDArray[np.float64], turn: NDArray[np.float64]) -> Frame:
    """The frame that is displaced from another one."""
    at, result = np.zeros(3), np.zeros(4)
    mujoco.mju_rotVecQuat(at, shift, frame[1])
    mujoco.mju_mulQuat(result, frame[1], turn)
    return frame[0] + at, result


def _check(h: Any, model: Any, data: Any, sites: tuple[int, int], name: str) -> None:
    for position in _AT:
        q = position * (1.0 + 0.1 * np.arange(model.njnt))
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        last = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        for i in range(model.njnt):
            slide, angle = (q[i], 0.0) if h.slides[i] else (0.0, q[i])
            joint = np.array([0.0, 0.0, slide]), np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
            last = _beyond(_beyond(last, h.link[i].shift, h.link[i].turn), *joint)
        for link, site in zip((h.tool_link, h.sensor_link), sites, strict=True):
            (at, turn), (true_at, true_turn) = _beyond(last, link.shift, link.turn), _site(data, site)
            # the two quaternions of a rotation are equal
            gap = max(np.abs(at - true_at).max(), 1.0 - abs(float(turn @ true_turn)))
            if not gap <= _SAME * max(1.0, np.abs(true_at).max()):
                raise ModelError(
                    f"The joints of {name!r} are not one chain from its base to its tool. Remove joints that do not "
                    "move the tool, such as those of a gripper."
                )
