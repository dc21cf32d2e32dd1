"""Pliant: compliant control for robot arms.

    import pliant

    with pliant.connect("sim:ur5e", law="admittance") as arm:
        arm.push([20, 0, 0], for_s=1)
        print(arm.wait(1.0).observed.pose)

Names are imported on first use, so that ``import pliant`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.lazy_names import lazy_names

if TYPE_CHECKING:
    from pliant.analysis.doctor import examine
    from pliant.analysis.doctor.finding import Diagnosis, Finding
    from pliant.analysis.pictures.html_report import write_report
    from pliant.analysis.pictures.run_picture import plot_recording
    from pliant.control.laws.contact.contact_states import STATES as CONTACT_STATES
    from pliant.control.laws.contact.contact_view import ContactStatus
    from pliant.control.laws.law import Law
    from pliant.control.laws.law_commands import Commands, LawStatus, States
    from pliant.control.laws.law_panel import Button, Line, Panel, Slider, Switch
    from pliant.control.laws.own_law import Tick, compiled, own_law
    from pliant.control.laws.stability_model import LinearLaw, StabilityModel
    from pliant.errors import InputError, LoopError, PliantError, WaitTimeoutError
    from pliant.model.arm import Arm
    from pliant.model.tool import Tool
    from pliant.params.declare import Section, param
    from pliant.record.reader import Recording
    from pliant.records import Field
    from pliant.robots.interface import Robot
    from pliant.robots.robot_kind import RobotKind
    from pliant.sensors.force_sensor import ForceSensor, WrenchSample, own_sensor
    from pliant.session.in_process.fast_run import Run, simulate
    from pliant.session.in_process.rerun import Replayed, replay
    from pliant.session.in_process.simulation import Simulation, Snapshot
    from pliant.session.link import Link, attach
    from pliant.session.session import Session, connect
    from pliant.task.schema import Task, load_task
    from pliant.world.surface_kind import Shape, own_surface

HOMES = {
    "Arm": "pliant.model.arm",
    "Button": "pliant.control.laws.law_panel",
    "CONTACT_STATES": "pliant.control.laws.contact.contact_states:STATES",
    "Commands": "pliant.control.laws.law_commands",
    "ContactStatus": "pliant.control.laws.contact.contact_view",
    "Diagnosis": "pliant.analysis.doctor.finding",
    "Field": "pliant.records",
    "Finding": "pliant.analysis.doctor.finding",
    "ForceSensor": "pliant.sensors.force_sensor",
    "InputError": "pliant.errors",
    "Law": "pliant.control.laws.law",
    "LawStatus": "pliant.control.laws.law_commands",
    "Line": "pliant.control.laws.law_panel",
    "LinearLaw": "pliant.control.laws.stability_model",
    "Link": "pliant.session.link",
    "LoopError": "pliant.errors",
    "Panel": "pliant.control.laws.law_panel",
    "PliantError": "pliant.errors",
    "Recording": "pliant.record.reader",
    "Replayed": "pliant.session.in_process.rerun",
    "Robot": "pliant.robots.interface",
    "RobotKind": "pliant.robots.robot_kind",
    "Run": "pliant.session.in_process.fast_run",
    "Section": "pliant.params.declare",
    "Session": "pliant.session.session",
    "Shape": "pliant.world.surface_kind",
    "Simulation": "pliant.session.in_process.simulation",
    "Slider": "pliant.control.laws.law_panel",
    "Snapshot": "pliant.session.in_process.simulation",
    "StabilityModel": "pliant.control.laws.stability_model",
    "States": "pliant.control.laws.law_commands",
    "Switch": "pliant.control.laws.law_panel",
    "Task": "pliant.task.schema",
    "Tick": "pliant.control.laws.own_law",
    "Tool": "pliant.model.tool",
    "WaitTimeoutError": "pliant.errors",
    "WrenchSample": "pliant.sensors.force_sensor",
    "attach": "pliant.session.link",
    "compiled": "pliant.control.laws.own_law",
    "connect": "pliant.session.session",
    "examine": "pliant.analysis.doctor",
    "load_task": "pliant.task.schema",
    "own_law": "pliant.control.laws.own_law",
    "own_sensor": "pliant.sensors.force_sensor",
    "own_surface": "pliant.world.surface_kind",
    "param": "pliant.params.declare",
    "plot_recording": "pliant.analysis.pictures.run_picture",
    "replay": "pliant.session.in_process.rerun",
    "simulate": "pliant.session.in_process.fast_run",
    "write_report": "pliant.analysis.pictures.html_report",
}
"""The module in which each public name is defined."""

__all__ = [
    "CONTACT_STATES",
    "Arm",
    "Button",
    "Commands",
    "ContactStatus",
    "Diagnosis",
    "Field",
    "Finding",
    "ForceSensor",
    "InputError",
    "Law",
    "LawStatus",
    "Line",
    "LinearLaw",
    "Link",
    "LoopError",
    "Panel",
    "PliantError",
    "Recording",
    "Replayed",
    "Robot",
    "RobotKind",
    "Run",
    "Section",
    "Session",
    "Shape",
    "Simulation",
    "Slider",
    "Snapshot",
    "StabilityModel",
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
    "examine",
    "load_task",
    "own_law",
    "own_sensor",
    "own_surface",
    "param",
    "plot_recording",
    "replay",
    "simulate",
    "write_report",
]

__getattr__, __dir__ = lazy_names(__name__, HOMES)
