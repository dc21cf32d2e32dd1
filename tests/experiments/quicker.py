"""An experiment as a test runs it: less of the same, and no figure of the clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from pliant.analysis.experiments import find_experiment
from pliant.analysis.targets import Outcome
from pliant_experiments.robots import ur_faults, ur_runs
from support.lockstep import EMULATOR, use_lockstep
from support.needs import needs

PACED = {
    "ur-emulator": [pytest.mark.slow, needs("ur_rtde")],
    "ros2": [pytest.mark.slow],
    "faults": [pytest.mark.slow],
}
"""These keep pace with the clock; the others only compute. With the marks of their tests."""

# Less of the same where a command takes its time: the targets are those of the command, but for the number of runs.
QUICKER = {
    "limits": {"BATCHES": 1, "LONG_BATCHES": 1},
    "lab-equilibrium": {"STIFF": (250.0, 2e4)},
    "contact-world": {"SCENES": 6},
    "doctor": {"SEEDS": 1, "SURFACES": 1},
    "whole-body": {"SECONDS": 6.0},
    "planner": {"QUERIES": 40, "OMPL_S": 1.0},
    "mission": {"STARTS": 1, "ON_WHEELS": 1, "WITH_NOISE": 1, "MISHAPS": 2, "DETOURS": {"on the way": (0.4,)}},
    "ur-emulator": {"ROUNDS": 1, "MOST_FAULTS": 1, "INTERFACES": ("velocity",)},
    "faults": {"DEFAULT": "3,17,18"},  # each row has a test of its own
    "ros2": {"MESSAGES": 200, "ROUND_TRIPS": 100, "SECONDS": 0.5, "TURNS": 1},
}
# Figures in these units come from the clock, or have a target that processor time nears on a busy machine: a test
# says nothing about them. The others have to hold, a ratio of processor times or a target far away from it as well.
CLOCKED = {"planner": ("ms",), "ros2": ("µs",), "ur-emulator": ("ms", "s")}


OPEN = ("contact-world", "published")
"""These do not meet all their targets yet, as their pages say: they have to run and to count what they miss."""


def meets_its_targets(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run an experiment, look at all its figures, and let it draw its picture."""
    outcome = runs(name, folder, monkeypatch)
    missed = [figure for figure in outcome.figures if not figure.met and figure.unit not in CLOCKED.get(name, ())]
    assert not missed


def runs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """Run an experiment and let it draw its picture, whatever its targets."""
    experiment = find_experiment(name)
    for constant, value in QUICKER.get(name, {}).items():
        monkeypatch.setattr(experiment.module, constant, value)
    if name == "ur-emulator":  # loop and controller wait for each other, and the machine may be as busy as it likes
        use_lockstep(monkeypatch)
        for module, options in ((ur_runs, "PATIENT"), (ur_faults, "PATIENT"), (ur_runs, "WATCHED")):
            monkeypatch.setattr(module, options, {"fault": EMULATOR})
    shares: list[float] = []
    outcome = experiment.run(3, shares.append)
    assert outcome.name == name
    assert any(figure.target for figure in outcome.figures)
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0
    if outcome.draw is not None:
        outcome.draw(folder / "picture.png")
        assert (folder / "picture.png").read_bytes().startswith(b"\x89PNG")
    return outcome
