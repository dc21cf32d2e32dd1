"""Identify a tool's mass and centre of mass and the sensor's bias: turn the wrist, stop, average, fit.

Only the last three joints move, slowly, with the law `hold`. The expected reading follows from the pose and gravity
alone, so the tool mass that the task declares has no influence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pliant.errors import InputError, RejectedError
from pliant.identify.identified_arm import Mover, running_arm
from pliant.identify.payload_fit import LEAST_POSES, Payload, check, identify
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.params.declare import changed, validated
from pliant.spatial import mat_to_quat, quat_rotate_inv, quat_to_mat
from pliant.task.schema import Task, arm_of

Array = np.ndarray[Any, Any]

POSES, REACH, AVERAGE_S = 12, 1.2, 0.5
MOST_POSES = 60
# Joints that turn the tool.
_WRIST = 3
# Share of the robot's speed and acceleration that is used; at rest below this joint speed [rad/s]; longest wait [s].
_SLOW, _STILL, _PATIENCE_S = 0.2, 1e-3, 30.0
_STEPS, _MARGIN = 5, 0.1
# Share of the readings that must be good in every pose.
_GOOD = 0.9
# Payload of an arm whose description gives none [kg].
_UNKNOWN_KG = 50.0


@dataclass(frozen=True)
class Readings:
    """Sensor readings at rest: one row per pose."""

    wrenches: Array
    """Mean raw readings [N, N m]."""
    gravity: Array
    """Gravity in the sensor axes of the model [m/s²]."""
    q: Array
    """Mean measured joints [rad]."""


def identify_payload(
    task: Task,
    poses: int = POSES,
    *,
    find_mount: bool = False,
    fast: bool = False,
    average_s: float = AVERAGE_S,
    progress: Callable[[float], None] = lambda share: None,
) -> Payload:
    """Identify the tool on the task's robot; raises `PayloadError` if the result cannot be trusted."""
    if not LEAST_POSES <= poses <= MOST_POSES:
        raise InputError("poses", poses, f"from {LEAST_POSES} to {MOST_POSES}")
    must_have_wrist(arm_of(task))
    found = take_readings(task, poses, fast=fast, average_s=average_s, progress=progress)
    payload = identify(found.wrenches, found.gravity, find_mount=find_mount)
    check(payload, max_mass_kg=most_kg(arm_of(task)))
    return payload


def must_have_wrist(arm: Arm) -> None:
    """Raise unless the arm can turn its tool in every direction of gravity."""
    if arm.n < _WRIST:
        raise RejectedError(
            f"identify payload needs an arm with a wrist (at least three joints); {arm.name} has {arm.n}.",
            field="robot",
        )


def most_kg(arm: Arm) -> float:
    """Largest payload of the arm [kg]."""
    return min(arm.payload_kg, _UNKNOWN_KG)


def take_readings(
    task: Task,
    poses: int = POSES,
    *,
    fast: bool = False,
    average_s: float = AVERAGE_S,
    reach: float = REACH,
    progress: Callable[[float], None] = lambda share: None,
) -> Readings:
    """Turn the wrist by up to `reach` [rad] from the current pose, stop in each pose and average the readings."""
    arm, rows = arm_of(task), []
    with running_arm(slowed(task), fast=fast) as mover:
        start = joints_at_start(mover, arm.n)
        goals = choose_poses(arm, start, poses, reach)
        for i, q in enumerate(goals):
            mover.move_joints(q)
            wait_at_rest(mover, q, f"pose {i + 1}")
            records = mover.wait(average_s)
            good = records["state"]["trouble"] == 0
            if good.mean() < _GOOD:
                raise RejectedError(
                    f"Only {good.mean():.0%} of the force sensor's readings in pose {i + 1} were good; {_GOOD:.0%} are "
                    "needed. Check the sensor.",
                    field="the force sensor",
                )
            reading = records["reading"][good]
            rows.append((reading["wrench"].mean(axis=0), reading["q"][:, : arm.n].mean(axis=0)))
            progress((i + 1) / len(goals))
        mover.move_joints(start)
        wait_at_rest(mover, start, f"pose {len(goals) + 1}")
    wrenches, q = (np.array(column) for column in zip(*rows, strict=True))
    return Readings(wrenches, np.array([gravity_in_sensor(arm, row) for row in q]), q)


def slowed(task: Task) -> Task:
    """The task for an identification: slow, with `hold`, without events, pushes and sensor failures."""
    limits = task.params.limits
    values = {
        "limits.speed_scale": min(limits.speed_scale, _SLOW),
        "limits.acceleration_scale": min(limits.acceleration_scale, _SLOW),
    }
    data = task.model_dump()
    data |= {"law": "hold", "events": (), "duration_s": 86400.0}
    data["params"] = changed(task.params, values).model_dump()
    data["sim"]["pushes"], data["sim"]["sensor"]["failures"] = (), ()
    return validated(Task, data)


def joints_at_start(mover: Mover, n: int) -> Array:
    """Joints at which `hold` took over: a real arm starts where it is, not at the model's start."""
    return mover.wait(0.02)[-1]["state"]["q_cmd"][:n].copy()


def wait_at_rest(mover: Mover, q: Array, what: str) -> None:
    """Wait until the arm has stopped at the joints `q`; `what` names the pose in the error if it does not."""
    waited = 0.0
    while waited < _PATIENCE_S:
        last = mover.wait(0.1)
        waited += 0.1
        n, reading = len(q), last["reading"]
        if np.abs(reading["qd"][:, :n]).max() < _STILL and np.abs(reading["q"][-1, :n] - q).max() < 0.01:
            return
    raise InputError(
        what,
        np.round(q, 2).tolist(),
        f"reachable within {_PATIENCE_S:g} s",
        "Check for a safety stop, the workspace limits and obstacles.",
    )


def gravity_in_sensor(arm: Arm, q: Array) -> Array:
    """Gravity in the sensor frame [m/s²] at joint positions q."""
    out = np.zeros(3)
    quat_rotate_inv(arm.sensor_pose(q)[3:], np.array(arm.gravity), out)
    return out


def choose_poses(arm: Arm, start: Array, poses: int, reach: float = REACH) -> Array:
    """Joint positions (poses, n) around `start` with clearly different directions of gravity in the sensor."""
    turned = min(_WRIST, arm.n)
    offsets = np.linspace(-reach, reach, _STEPS)
    candidates = np.repeat(start[None, :], _STEPS**turned, axis=0)
    candidates[:, arm.n - turned :] += np.array(list(product(offsets, repeat=turned)))
    inside = np.all((candidates >= arm.q_min + _MARGIN) & (candidates <= arm.q_max - _MARGIN), axis=1)
    candidates = candidates[inside]
    if len(candidates) < poses:
        raise InputError("poses", poses, f"at most {len(candidates)}, the number of poses within the joint ranges")
    down = np.array([gravity_in_sensor(arm, q) for q in candidates])
    down /= np.maximum(np.linalg.norm(down, axis=1, keepdims=True), 1e-9)
    effort = np.abs(candidates - start).sum(axis=1)
    # the nearest first, then always the one whose gravity differs most from all before; long motions cost a little
    chosen = [int(effort.argmin())]
    apart = np.full(len(candidates), np.inf)
    while len(chosen) < poses:
        apart = np.minimum(apart, np.linalg.norm(down - down[chosen[-1]], axis=1))
        score = apart - 0.02 * effort
        score[chosen] = -np.inf
        chosen.append(int(score.argmax()))
    return _short_tour(candidates[chosen])


def _short_tour(points: Array) -> Array:
    """The same rows, each followed by the nearest remaining one."""
    order, left = [0], set(range(1, len(points)))
    while left:
        here = points[order[-1]]
        order.append(min(left, key=lambda k: float(np.abs(points[k] - here).max())))
        left.remove(order[-1])
    return points[order]


# ---- into the task -------------------------------------------------------------------------------------------------


def sensor_rotation(tool: Tool, found: Payload) -> Array:
    """Sensor axes in flange axes (3, 3): those of the tool, corrected by the identified mount rotation."""
    R = np.zeros((3, 3))
    quat_to_mat(np.array(tool.sensor_quat), R)
    return R @ found.mount.T


def com_std_in_flange(tool: Tool, found: Payload) -> Array:
    """Standard deviation of the centre of mass along flange axes [m]."""
    R = np.zeros((3, 3))
    quat_to_mat(np.array(tool.sensor_quat), R)
    return np.sqrt(np.diag(R @ found.com_covariance_m2 @ R.T))


def com_in_flange(tool: Tool, found: Payload) -> Array:
    """The centre of mass in flange axes from the flange's origin [m]."""
    return np.array(tool.sensor_m) + sensor_rotation(tool, found) @ found.com_m


def payload_settings(tool: Tool, found: Payload) -> dict[str, Any]:
    """The result by the names of a task file."""
    settings: dict[str, Any] = {
        "tool.mass_kg": round(found.mass_kg, 5),
        "tool.com_m": [round(float(c), 6) for c in com_in_flange(tool, found)],
        "params.sense.bias": [round(float(b), 5) for b in found.bias],
    }
    if not np.array_equal(found.mount, np.eye(3)):
        quat = np.zeros(4)
        mat_to_quat(np.ascontiguousarray(sensor_rotation(tool, found)), quat)
        settings["tool.sensor_quat"] = [round(float(c), 7) for c in quat]
    return settings
