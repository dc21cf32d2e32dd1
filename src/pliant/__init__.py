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
    from pliant.control.laws.law import Law
    from pliant.control.laws.law_panel import Button, Line, Panel, Slider, States, Switch
    from pliant.control.laws.own_law import Tick, compiled, own_law
    from pliant.errors import InputError, LoopError, PliantError
    from pliant.model.arm import Arm
    from pliant.model.tool import Tool
    from pliant.params.declare import Section, param
    from pliant.record.reader import Recording
    from pliant.records import Field
    from pliant.session.fast_run import Run, simulate
    from pliant.session.link import Link, attach
    from pliant.session.session import Session, connect
    from pliant.task.schema import Task, load_task

_HOME = {
    "Arm": "pliant.model.arm",
    "Button": "pliant.control.laws.law_panel",
    "Field": "pliant.records",
    "InputError": "pliant.errors",
    "Law": "pliant.control.laws.law",
    "Line": "pliant.control.laws.law_panel",
    "Link": "pliant.session.link",
    "LoopError": "pliant.errors",
    "Panel": "pliant.control.laws.law_panel",
    "PliantError": "pliant.errors",
    "Recording": "pliant.record.reader",
    "Run": "pliant.session.fast_run",
    "Section": "pliant.params.declare",
    "Session": "pliant.session.session",
    "Slider": "pliant.control.laws.law_panel",
    "States": "pliant.control.laws.law_panel",
    "Switch": "pliant.control.laws.law_panel",
    "Task": "pliant.task.schema",
    "Tick": "pliant.control.laws.own_law",
    "Tool": "pliant.model.tool",
    "attach": "pliant.session.link",
    "compiled": "pliant.control.laws.own_law",
    "connect": "pliant.session.session",
    "load_task": "pliant.task.schema",
    "own_law": "pliant.control.laws.own_law",
    "param": "pliant.params.declare",
    "simulate": "pliant.session.fast_run",
}

__all__ = [
    "Arm",
    "Button",
    "Field",
    "InputError",
    "Law",
    "Line",
    "Link",
    "LoopError",
    "Panel",
    "PliantError",
    "Recording",
    "Run",
    "Section",
    "Session",
    "Slider",
    "States",
    "Switch",
    "Task",
    "Tick",
    "Tool",
    "attach",
    "compiled",
    "connect",
    "load_task",
    "own_law",
    "param",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
