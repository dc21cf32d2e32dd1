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
    from pliant.errors import InputError, LoopError, PliantError, WaitTimeoutError
    from pliant.model.arm import Arm
    from pliant.model.tool import Tool
    from pliant.params.declare import Section, param
    from pliant.record.reader import Recording
    from pliant.records import Field
    from pliant.robots.interface import Robot
    from pliant.robots.robot_kind import RobotKind
    from pliant.sensors.force_sensor import ForceSensor, WrenchSample, own_sensor
    from pliant.session.contact_status import ContactStatus
    from pliant.session.in_process.fast_run import Run, simulate
    from pliant.session.in_process.simulation import Simulation, Snapshot
    from pliant.session.link import Link, attach
    from pliant.session.session import Session, connect
    from pliant.task.schema import Task, load_task
    from pliant.world.surface_kind import Shape, own_surface

_HOME = {
    "Arm": "pliant.model.arm",
    "Button": "pliant.control.laws.law_panel",
    "ContactStatus": "pliant.session.contact_status",
    "Field": "pliant.records",
    "ForceSensor": "pliant.sensors.force_sensor",
    "InputError": "pliant.errors",
    "Law": "pliant.control.laws.law",
    "Line": "pliant.control.laws.law_panel",
    "Link": "pliant.session.link",
    "LoopError": "pliant.errors",
    "Panel": "pliant.control.laws.law_panel",
    "PliantError": "pliant.errors",
    "Recording": "pliant.record.reader",
    "Robot": "pliant.robots.interface",
    "RobotKind": "pliant.robots.robot_kind",
    "Run": "pliant.session.in_process.fast_run",
    "Section": "pliant.params.declare",
    "Session": "pliant.session.session",
    "Shape": "pliant.world.surface_kind",
    "Simulation": "pliant.session.in_process.simulation",
    "Snapshot": "pliant.session.in_process.simulation",
    "Slider": "pliant.control.laws.law_panel",
    "States": "pliant.control.laws.law_panel",
    "Switch": "pliant.control.laws.law_panel",
    "Task": "pliant.task.schema",
    "Tick": "pliant.control.laws.own_law",
    "Tool": "pliant.model.tool",
    "WaitTimeoutError": "pliant.errors",
    "WrenchSample": "pliant.sensors.force_sensor",
    "attach": "pliant.session.link",
    "compiled": "pliant.control.laws.own_law",
    "connect": "pliant.session.session",
    "load_task": "pliant.task.schema",
    "own_law": "pliant.control.laws.own_law",
    "own_sensor": "pliant.sensors.force_sensor",
    "own_surface": "pliant.world.surface_kind",
    "param": "pliant.params.declare",
    "simulate": "pliant.session.in_process.fast_run",
}

__all__ = [
    "Arm",
    "Button",
    "ContactStatus",
    "Field",
    "ForceSensor",
    "InputError",
    "Law",
    "Line",
    "Link",
    "LoopError",
    "Panel",
    "PliantError",
    "Recording",
    "Robot",
    "RobotKind",
    "Run",
    "Section",
    "Session",
    "Shape",
    "Simulation",
    "Slider",
    "Snapshot",
    "States",
    "Switch",
    "Task",
    "Tick",
    "Tool",
    "WaitTimeoutError",
    "WrenchSample",
    "attach",
    "compiled",
    "connect",
    "load_task",
    "own_law",
    "own_sensor",
    "own_surface",
    "param",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
