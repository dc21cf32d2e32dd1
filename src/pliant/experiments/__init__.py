"""Named, reproducible scenarios. Each is one file with `run(seed, progress)`, and prints figures beside their bars.

One that takes more declares `OPTIONS` (see `options`); they reach `run` as keywords.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from pliant.analysis.figures import Outcome
from pliant.errors import UnknownNameError
from pliant.experiments.options import Option

Progress = Callable[[float], None]
Experiment = Callable[..., Outcome]
"""`run(seed, progress)`, and by keyword what its options say."""

# Name and one sentence; the module of the same name (with _ for -) holds it.
_ALL = {
    "push": "A pushed arm settles where spring and push balance, and returns.",
    "press": "A static press finds the declared stiffness of a surface, from 10³ to 10⁵ N/m.",
    "admittance-response": "The law rests at force over stiffness, damps every mode as asked, and no set is unstable.",
    "deadband": "A deadband on the law's input alone: no wrong way, no jump at its edge, a spring that springs back.",
    "drift": "Any push above the deadband moves the tool, none lets it rest, and a spring is never forgotten.",
    "live-tuning": "Gains changed while the arm is pushed inject no more energy than allowed, and nothing jumps.",
    "singularity": "Guided through its singularities, an arm keeps to its limits, does not jump, and comes back.",
    "limits": "No command exceeds a limit, nothing winds up behind one, and every cut is reported.",
    "lab-forces": "A force deflects two links by f/K along itself alone, whatever the virtual mass.",
    "lab-parameters": "Damping ratios and deflections of two links are those of mass, damping and stiffness.",
    "lab-anisotropic": "Two links, stiff along one axis and soft along the other, straight and turned.",
    "lab-cross-coupling": "Does a force along x move y? Only if the push is left on the joints: it counts twice then.",
    "lab-equilibrium": "An equilibrium that moves: followed without lag, and bounded out of reach.",
    "lab-model-errors": "A controller that is wrong about masses, lengths or friction, and what it costs.",
    "lab-jdot": "The term that a moving arm needs, right, short and left out.",
    "impedance-pose": "A UR5e by torque: shifts and turns at force over stiffness, bounded torques, passive.",
    "sensor-faults": "A force sensor that fails stops the arm within the declared time; a short failure is ridden out.",
    "payload": "Mass, centre of mass and bias of a tool are found to 1 % and 2 mm, or refused with a reason.",
    "dome": "A probe finds a dome, holds 5 N, dwells and slides over it, 10³ to 10⁵ N/m; rivals beside.",
    "contact-sweep": "Stiffness × total lag: contact settles over the whole grid, with nothing tuned by hand.",
    "contact-scenes": "A plane, an unknown tilt, a surface that moves, one that ends, one that becomes stiff.",
    "compare": "The same contact by other laws (--rival NAME, --record FOLDER): what each presses with, how it holds.",
    "predictions": "What `pliant check` predicts of a first touch is what the simulator shows, within 15 %.",
    "base-velocity": "Velocity of a base from sampled poses: noise, jitter, rounding and faults; a rival beside.",
    "planner": "Ways through walls, clutter and an office: how many, how fast, beside OMPL and the search uncompiled.",
    "follower": "A base that lags follows paths within millimetres, forwards and backwards; pure pursuit beside.",
    "delay": "The lag of a robot is found by moving it a little, over bandwidths and delays, through noise.",
    "doctor": "Every defect of a contact loop, alone and together, is found in its recording; no false alarms.",
    "whole-body": "An arm on a driving base: the tool keeps to its path, the base never has to go sideways.",
    "mission": "An arm is parked, driven to a table and brought to its goal, from random starts; and what stops it.",
    "ur-emulator": "A UR driver on an emulated controller: latency, the dome, the watchdog, each fault; real time.",
    "bounce": "A body that bounces never leaves a surface with more energy than it brought.",
    "servo": "The simulated servo follows with the declared bandwidth and delay.",
    "sensor": "The simulated force sensor feels weight, inertia, noise, steps, range and drop-outs as declared.",
    "ros2": "What a message to ROS 2 costs, how long it takes there and back, and that the loop does not feel it.",
    "repeat": "The same seed gives the same numbers: twice, in the paced loop, and replayed from a recording.",
}


# Groups of compiled kernels (see runtime.entry_points) that an experiment runs; those not named here run arms.
_KERNELS = {
    "base-velocity": ("kinematics",),
    "planner": ("planner",),
    "follower": ("planner",),
    "whole-body": ("batch", "body"),
    "mission": ("loop", "body", "planner"),
}


def kernels_of(name: str) -> tuple[str, ...]:
    """The groups of compiled kernels that an experiment needs."""
    return _KERNELS.get(name, ("loop", "batch", "replay"))


def summaries() -> dict[str, str]:
    """All experiments by name, with one sentence each."""
    return dict(_ALL)


def find(name: str) -> Experiment:
    """The experiment called `name`."""
    return _module(name).run


def options_of(name: str) -> tuple[Option, ...]:
    """The options that the experiment called `name` has beside those of all experiments."""
    return getattr(_module(name), "OPTIONS", ())


def _module(name: str) -> Any:
    if name not in _ALL:
        raise UnknownNameError("experiment", name, _ALL)
    return importlib.import_module(f"pliant.experiments.{name.replace('-', '_')}")
