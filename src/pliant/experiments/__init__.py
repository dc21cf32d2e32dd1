"""Named, reproducible experiments. Each is one file with `run(seed, progress)` and returns figures with targets.

An experiment with options of its own declares `OPTIONS` (see `options`); `run` receives them as keywords.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from pliant.analysis.targets import Outcome
from pliant.compiling.entry_points import ALL_LAWS
from pliant.errors import UnknownNameError
from pliant.experiments.options import Option

Progress = Callable[[float], None]
Experiment = Callable[..., Outcome]
"""`run(seed, progress)`, with the experiment's own options as keywords."""

# Name and one sentence; the module of the same name (with _ for -) holds it.
_ALL = {
    "push": "A pushed arm settles where spring and push balance, and returns after the push.",
    "press": "A static press measures a surface's declared stiffness, 10³ to 10⁵ N/m.",
    "admittance-response": "Deflection is force over stiffness, modes are damped as set, all gains tried are stable.",
    "deadband": "A deadband on the law's input: no motion against the push, no jump at its edge, full spring return.",
    "drift": "A push above the deadband moves the tool; without a push it stays still; a spring pulls it back.",
    "live-tuning": "Changing gains under load injects no more energy than allowed, and nothing jumps.",
    "singularity": "An arm guided through its singularities stays within its limits, does not jump, and returns.",
    "limits": "No command exceeds a limit, nothing winds up at a limit, and every limited command is reported.",
    "lab-forces": "A force deflects the two-link arm by f/K, only along the force, for any virtual mass.",
    "lab-parameters": "Damping ratios and deflections of the two-link arm follow from mass, damping and stiffness.",
    "lab-anisotropic": "Two-link arm, stiff along one axis and soft along the other, also with rotated axes.",
    "lab-cross-coupling": "Does a force along x move y? Only if −Jᵀf is left out, because the push then counts twice.",
    "lab-equilibrium": "A moving equilibrium: followed without lag, and safe when it is out of reach.",
    "lab-model-errors": "Errors in the controller's masses, lengths or friction, and what they cost.",
    "lab-jdot": "The J̇ q̇ term of a moving arm: correct, incomplete and left out.",
    "impedance-pose": "Impedance on a UR5e: the tool deflects by force over stiffness; torques are bounded; passive.",
    "sensor-faults": "A failing force sensor stops the arm within the declared time; short failures are bridged.",
    "payload": "Tool mass within 1 %, centre of mass within 2 mm; unusable data is rejected with a reason.",
    "dome": "A probe finds a dome, holds 5 N, dwells and slides, 10³ to 10⁵ N/m; compared with other laws.",
    "contact-sweep": "Stiffness × total lag: contact settles over the whole grid without manual tuning.",
    "contact-scenes": "A plane, an unknown tilt, a surface that moves, one that ends, one that becomes stiffer.",
    "compare": "The same contact with other laws (--rival NAME, --record FOLDER): peak force, bounces, force error.",
    "predictions": "`pliant check` predicts the first touch of the simulator within 15 %.",
    "base-velocity": "Velocity of a base from noisy, jittered or faulty poses, compared with the mean-step formula.",
    "planner": "Paths through walls, clutter and an office: success rate and time, compared with OMPL.",
    "follower": "A base with lag follows paths within millimetres, forwards and backwards; compared with pure pursuit.",
    "delay": "Identify the lag of a robot from a small motion, over bandwidths and delays, with noise.",
    "doctor": "The doctor finds every defect of a contact loop, alone and combined, without false alarms.",
    "whole-body": "An arm on a driving base: the tool stays on its path, and the base never has to move sideways.",
    "mission": "Park the arm, drive to a table, reach a goal: random starts, then with each fault that should stop it.",
    "ur-emulator": "The UR driver on an emulated controller, in real time: latency, dome, watchdog, each fault.",
    "bounce": "A bouncing body never leaves a surface with more energy than it had.",
    "servo": "The simulated servo follows with the declared bandwidth and delay.",
    "sensor": "The simulated force sensor shows weight, inertia, noise, resolution, range and dropouts as declared.",
    "ros2": "ROS 2 bridge: cost per message, round-trip time, and its effect on the control loop.",
    "repeat": "The same seed gives the same numbers: run twice, in real time, and replayed from a recording.",
}


# Groups of compiled kernels (see compiling.entry_points) that an experiment runs; those not named here run arms.
_KERNELS = {
    "base-velocity": ("kinematics",),
    "planner": ("planner",),
    "follower": ("planner",),
    "whole-body": ("batch", "body"),
    "mission": ("loop", "body", "planner"),
}


def kernels_of(name: str) -> tuple[str, ...]:
    """The groups of compiled kernels that an experiment needs."""
    return _KERNELS.get(name, ("loop", "batch", "replay", *ALL_LAWS))


def summaries() -> dict[str, str]:
    """All experiments by name, with a one-sentence description."""
    return dict(_ALL)


def find(name: str) -> Experiment:
    """The `run` function of the experiment `name`."""
    return _module(name).run


def options_of(name: str) -> tuple[Option, ...]:
    """The experiment's own options, in addition to those of all experiments."""
    return getattr(_module(name), "OPTIONS", ())


def _module(name: str) -> Any:
    if name not in _ALL:
        raise UnknownNameError("experiment", name, _ALL, all_names="List all: pliant experiment.")
    return importlib.import_module(f"pliant.experiments.{name.replace('-', '_')}")
