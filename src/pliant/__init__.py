"""Pliant: compliant control for robot arms.

    import pliant

    with pliant.connect("sim:ur5e", law="admittance") as arm:
        arm.push([20, 0, 0], for_s=1)
        print(arm.wait(1.0).observed.pose)

Names are imported on first use, so that ``import pliant`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.errors import InputError, LoopError, PliantError
    from pliant.model.arm import Arm
    from pliant.model.tool import Tool
    from pliant.record.reader import Recording
    from pliant.runtime.batch import Run, simulate
    from pliant.runtime.link import Link, attach
    from pliant.runtime.session import Session, connect
    from pliant.runtime.task import Task, load_task

_HOME = {
    "Arm": "pliant.model.arm",
    "InputError": "pliant.errors",
    "Link": "pliant.runtime.link",
    "LoopError": "pliant.errors",
    "PliantError": "pliant.errors",
    "Recording": "pliant.record.reader",
    "Run": "pliant.runtime.batch",
    "Session": "pliant.runtime.session",
    "Task": "pliant.runtime.task",
    "Tool": "pliant.model.tool",
    "attach": "pliant.runtime.link",
    "connect": "pliant.runtime.session",
    "load_task": "pliant.runtime.task",
    "simulate": "pliant.runtime.batch",
}

__all__ = [
    "Arm",
    "InputError",
    "Link",
    "LoopError",
    "PliantError",
    "Recording",
    "Run",
    "Session",
    "Task",
    "Tool",
    "attach",
    "connect",
    "load_task",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
