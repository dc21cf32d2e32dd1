"""Recordings of the compared laws: ordinary files that every tool for recordings can open."""

from __future__ import annotations

from pathlib import Path

from pliant.control.laws.registry import prepare
from pliant.control.parameters import PARAMETERS, record_of
from pliant.loop.run_description import versions
from pliant.model.arm import Arm
from pliant.record.writer import RecordingWriter
from pliant.session.in_process.fast_run import Run
from pliant.task.schema import Task
from pliant_experiments.rivals.rival_contact import Rival, parameters_of
from pliant_experiments.scenes.contact_trial import TOOL, Loop, Trace


def save_rival(path: Path, rival: Rival, loop: Loop, seed: int, trace: Trace) -> None:
    """Write a run of another law; `loop` is the robot assumed in its set-up."""
    assert trace.records is not None
    arm = Arm.load("ur5e", TOOL)
    dt = float(trace.time_s[1] - trace.time_s[0])
    meta = {
        "name": "contact", "robot": "sim:ur5e", "law": rival.name, "interface": "position",
        "rate_hz": round(1.0 / dt, 6), "seed": seed, "versions": versions(),
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    with RecordingWriter(path, meta, list(arm.joint_names), PARAMETERS) as writer:
        writer.parameters(0, record_of(parameters_of(loop))[0], 0.0)
        writer.append(trace.records)


def save_ours(path: Path, task: Task, trace: Trace) -> None:
    """Write a run of Pliant's law with its single parameter set."""
    assert trace.records is not None
    parameters = record_of(task.params)
    prepare(parameters, None, 1.0, 0, task.dt)
    Run(task, trace.records, [(0, 0, parameters)], "", trace.normal_n).save(path)
