"""A planar arm of two joints from a file, which turns about the vertical, under a steady push at its tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pliant.task.schema import Task

STIFFNESS, PUSH_N = 400.0, 8.0
DECLARED_M = (PUSH_N - 1.0) / STIFFNESS
"""Deflection of the declared spring under the push, less the dead band of the sensor."""
_LINK = '<inertial pos="0.15 0 0" mass="2" diaginertia="0.01 0.02 0.02"/>'
_JOINT = 'axis="0 0 1" range="-2.5 2.5" limited="true" actuatorfrcrange="-80 80" damping="0.5"'


def planar_arm(folder: Path, friction: float) -> Path:
    """Its MJCF file, with this dry friction [N m] in each joint."""
    joint = f'{_JOINT} frictionloss="{friction}"'
    path = folder / f"arm_{friction:g}.xml"
    path.write_text(
        f'<mujoco><compiler angle="radian"/><worldbody><body name="upper"><joint name="one" {joint}/>{_LINK}'
        f'<body name="lower" pos="0.3 0 0"><joint name="two" {joint}/>{_LINK}'
        '<site name="tool0" pos="0.3 0 0"/></body></body></worldbody></mujoco>'
    )
    return path


def pushed(path: Path, *, compensated: bool = False, **limits: Any) -> Task:
    """An impedance in the plane, pushed along y."""
    law = {
        "axes": [True, True, False, False, False, False],
        "mass": [4.0, 4.0, 4.0, 0.2, 0.2, 0.2],
        "stiffness": [STIFFNESS] * 3 + [10.0] * 3,
        "cancel_dry_friction": compensated,
    }
    return Task.model_validate(
        {
            "robot": f"sim:{path}",
            "law": "impedance",
            "interface": "torque",
            "rate_hz": 500,
            "duration_s": 3.0,
            "start_q": (-0.7, 1.4),
            "params": {"impedance": law, "limits": limits},
            "sim": {"pushes": [{"at_s": 0.2, "for_s": 5.0, "wrench": [0, PUSH_N, 0, 0, 0, 0]}]},
        }
    )
