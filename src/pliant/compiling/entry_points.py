"""The entry points of compiled code: which kernels Python calls, with which arguments, and for what.

A *job* is a list of entry points that are compiled together; a *group* is the jobs that something needs (see `GROUPS`).
`ahead` makes sure that they are in the cache. The lists themselves are next to the kernels; they are named here and
imported only when they are compiled. Another package declares jobs for its own kernels where it declares what needs
them (see `analysis.experiments`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Entry = tuple[Any, ...]
"""A kernel, followed by examples (or Numba types) of its arguments."""


@dataclass(frozen=True)
class Job:
    """Entry points that are compiled together."""

    name: str
    """What messages call it."""
    where: str
    """The function that lists them, as module:name."""
    seconds: float
    """How long it takes on one core of an ordinary machine, as a measure of progress."""
    after: tuple[str, ...] = ()
    """Jobs whose machine code this one calls."""

    def entries(self) -> Iterable[Entry]:
        """The entry points, from their list."""
        module, _, name = self.where.partition(":")
        return getattr(importlib.import_module(module), name)()


Need = str | Job
"""What something needs to be compiled: a group of `GROUPS`, or a job of another package."""

# What a period of a simulated robot calls.
_PERIOD = ("control tick", "simulator", "telemetry")

JOBS = {
    job.name: job
    for job in (
        Job("hold law", "pliant.control.tick_entries:hold_law", 1.0),
        Job("admittance law", "pliant.control.tick_entries:admittance_law", 3.0),
        Job("impedance law", "pliant.control.tick_entries:impedance_law", 8.0),
        Job("contact law", "pliant.control.tick_entries:contact_law", 7.0),
        Job("simulator", "pliant.world.world_entries:simulator", 3.0),
        Job("telemetry", "pliant.control.tick_entries:telemetry", 1.5),
        Job("control tick", "pliant.control.tick_entries:tick_and_step", 6.0),
        Job(
            "control loop",
            "pliant.loop.loop_entries:control_loop",
            2.5,
            after=_PERIOD,
        ),
        Job("kinematics", "pliant.control.tick_entries:kinematics", 1.0),
        Job("gains", "pliant.control.tick_entries:new_gains", 1.5),
        Job("batch runs", "pliant.session.in_process.run_entries:fast_runs", 1.0, after=_PERIOD),
        Job("replay", "pliant.session.in_process.run_entries:replays", 0.5, after=("control tick", "telemetry")),
        Job("mobile manipulator", "pliant.mobile.mobile_entries:mobile_manipulator", 8.0, after=("telemetry",)),
        Job("path search", "pliant.mobile.mobile_entries:path_search", 10.0),
        Job("path following", "pliant.mobile.mobile_entries:path_following", 3.0),
    )
}

_CONTROL = ("simulator", "telemetry", "control tick", "kinematics", "gains")

GROUPS = {
    "loop": (*_CONTROL, "control loop"),
    "batch": (*_CONTROL, "batch runs"),
    "replay": (*_CONTROL, "replay"),
    "law hold": ("hold law",),
    "law admittance": ("admittance law",),
    "law impedance": ("impedance law",),
    "law contact": ("contact law",),
    "kinematics": ("kinematics",),
    "body": ("simulator", "telemetry", "mobile manipulator", "kinematics", "gains"),
    "planner": ("path search", "path following"),
}
"""What a command may need: a paced loop, runs as fast as possible, a replay, each law, a model, an arm on a base,
planning."""

ALL_LAWS = tuple(group for group in GROUPS if group.startswith("law "))
"""The groups of all laws."""


def law_groups(laws: Iterable[str]) -> tuple[str, ...]:
    """The groups of these laws, as far as they are Pliant's; others are compiled where they are loaded."""
    return tuple(f"law {name}" for name in laws if f"law {name}" in GROUPS)
