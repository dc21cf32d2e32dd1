"""The description of a run in its recording: enough to understand it and to replay it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mujoco
import numpy as np

from pliant.errors import ModelError
from pliant.model.arm import Arm
from pliant.model.design import Design
from pliant.task.schema import Task, arm_of, located

MODEL = "model.mjb"
ACCOUNT = "mission.json"


def versions() -> dict[str, str]:
    """Versions of the software that a run depends on."""
    found = {"python": platform.python_version()}
    for package in ("pliant", "numpy", "numba", "mujoco-core"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def run_meta(task: Task, arm: Arm, **more: Any) -> dict[str, Any]:
    """The description that goes into a recording."""
    task = located(task)
    return {
        "name": task.name,
        "robot": task.robot,
        "law": task.law,
        "interface": task.interface,
        "rate_hz": task.rate_hz,
        "seed": task.sim.seed,
        "versions": versions(),
        "task": task.model_dump(mode="json"),
        "arm": {
            "name": arm.name,
            "v_max": arm.v_max.tolist(),
            "a_max": arm.a_max.tolist(),
            "q_home": arm.q_home.tolist(),
        },
        **more,
    }


def model_bytes(arm: Arm) -> bytes:
    """The controller's model of the arm, bit for bit: a replay checks that it uses the same one."""
    buffer = np.empty(mujoco.mj_sizeModel(arm.mjmodel), np.uint8)
    mujoco.mj_saveModel(arm.mjmodel, None, buffer)
    return buffer.tobytes()


def recorded_arm(task: Task, meta: dict[str, Any], model: bytes | None) -> Arm:
    """The arm of a recorded task; if its file is missing, it is built from the model in the recording."""
    try:
        return arm_of(task)
    except ModelError:
        if model is None or "arm" not in meta:
            raise
    facts = meta["arm"]
    kept = mujoco.MjModel.from_binary_path(MODEL, {MODEL: model})
    # the model is compiled already: what a design adds to it are the limits that no model holds
    plan = Design(facts["name"], mujoco.MjSpec(), tuple(facts["v_max"]), tuple(facts["a_max"]), tuple(facts["q_home"]))
    return Arm.from_model(plan, task.tool, kept)
