"""What a recording says about the run it holds: enough to understand it, and to run it again."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mujoco
import numpy as np

from pliant.model.arm import Arm
from pliant.runtime.task import Task

MODEL = "model.mjb"


def versions() -> dict[str, str]:
    """The software that a run depends on."""
    found = {"python": platform.python_version()}
    for package in ("pliant", "numpy", "numba", "mujoco-core"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def run_meta(task: Task, **more: Any) -> dict[str, Any]:
    """The description that goes into a recording."""
    return {
        "name": task.name,
        "robot": task.robot,
        "law": task.law,
        "interface": task.interface,
        "rate_hz": task.rate_hz,
        "seed": task.sim.seed,
        "versions": versions(),
        "task": task.model_dump(mode="json"),
        **more,
    }


def model_bytes(arm: Arm) -> bytes:
    """The controller's model of the arm, exactly: a replay can tell whether it still has the same."""
    buffer = np.empty(mujoco.mj_sizeModel(arm.mjmodel), np.uint8)
    mujoco.mj_saveModel(arm.mjmodel, None, buffer)
    return buffer.tobytes()
