"""Recordings of rivals: ordinary files, which every tool that reads a recording can open."""

from __future__ import annotations

from pathlib import Path

from pliant.experiments.contact_scene import TOOL, Loop, Trace
from pliant.experiments.rival_contact import Rival, parameters_of
from pliant.model.arm import Arm
from pliant.params.control import PARAMETERS, record_of
from pliant.record.writer import RecordingWriter
from pliant.runtime.describe import versions


def save_rival(path: Path, rival: Rival, loop: Loop, seed: int, trace: Trace) -> None:
    """Write a run of a rival; `loop` is what was reckoned with when it was set up."""
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
