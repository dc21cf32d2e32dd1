"""The doctor finds every defect of a contact loop, alone and combined; sound runs raise no alarm.

Each run is written to a file and read back. The doctor sees nothing else.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.doctor import CHECKS, Diagnosis, examine
from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant_experiments.contact.doctor_cases import DEFECTS, Defect
from pliant_experiments.contact.doctor_own_laws import BROKEN, OVERLOOKED, SOUND

Array = np.ndarray[Any, Any]

# Runs of each case: number of seeds, and of its surfaces.
SEEDS, SURFACES = 2, 3


@dataclass(frozen=True)
class Trial:
    """One recording and its diagnosis."""

    defect: Defect
    where: str
    found: frozenset[str]
    silent: bool
    """Whether a cause lacks the required text."""
    off: dict[str, tuple[float, float, str]]
    """The error of each figure, its tolerance and its unit."""

    @property
    def missed(self) -> frozenset[str]:
        return self.defect.must - self.found

    @property
    def false(self) -> frozenset[str]:
        return self.found - self.defect.must - self.defect.may

    @property
    def right(self) -> bool:
        """Whether everything that must be found is found, with its cause, and nothing except consequences."""
        return not self.missed and not self.false and not self.silent


def _trial(defect: Defect, stiffness: float, seed: int, path: Path) -> Trial:
    setup = defect.make(stiffness)
    trace = setup.record(path, seed)
    diagnosis: Diagnosis = examine(path)
    off = {}
    for truth in defect.truths:
        told, real = diagnosis.named(truth.finding).figure(truth.figure), truth.value(setup, trace)
        off[f"{truth.finding}: {truth.figure}"] = (abs(told - real), truth.tolerance, truth.unit)
    silent = any(defect.says not in diagnosis.named(name).cause for name in defect.must)
    where = f"{defect.name}, {stiffness:g} N/m, seed {seed}"
    return Trial(defect, where, frozenset(finding.name for finding in diagnosis.wrong), silent, off)


def run(seed: int, progress: Progress) -> Outcome:
    """Several stiffnesses and seeds for each defect and each sound task."""
    began = time.perf_counter()
    plan = [
        (defect, stiffness, SEEDS * seed + i)
        for defect in (*DEFECTS, *BROKEN, *SOUND, *OVERLOOKED)
        for stiffness in defect.stiffness[:SURFACES]
        for i in range(SEEDS)
    ]
    trials = []
    with tempfile.TemporaryDirectory() as folder:
        for i, (defect, stiffness, number) in enumerate(plan):
            trials.append(_trial(defect, stiffness, number, Path(folder) / "run.mcap"))
            progress((i + 1) / len(plan))
    notes = [_said(trial) for trial in trials if not trial.right]
    return Outcome(
        "doctor", seed, time.perf_counter() - began, _figures(trials), notes, lambda path: _draw(trials, path)
    )


def _said(trial: Trial) -> str:
    parts = (("not found", trial.missed), ("false findings", trial.false))
    words = [f"{word}: {', '.join(sorted(names))}" for word, names in parts if names]
    return f"{trial.where}: {'; '.join(words) or 'cause not named'}."


def _figures(trials: list[Trial]) -> list[Figure]:
    hard = [trial for trial in trials if trial.defect in OVERLOOKED]
    counted = [trial for trial in trials if trial.defect not in OVERLOOKED]
    broken = [trial for trial in counted if trial.defect.must]
    sound = [trial for trial in counted if not trial.defect.must]
    everything = [*broken, *hard]
    figures = [
        at_least(f"right diagnoses of {len(broken)} runs with defects", _percent(broken), "%", 100.0),
        at_most(f"sound runs with an alarm, of {len(sound)}", sum(not trial.right for trial in sound), "", 0.0),
        at_most("false findings, all runs", sum(len(trial.false) for trial in trials), "", 0.0),
        reported(f"right diagnoses including the known misses, of {len(everything)}", _percent(everything), "%"),
    ]
    for trial in hard:
        figures.append(reported(f"known miss: {trial.where}: right", 100.0 * trial.right, "%"))
    for defect in dict.fromkeys(trial.defect for trial in broken):
        figures.append(
            at_least(f"{defect.name}: right", _percent([t for t in broken if t.defect is defect]), "%", 100.0)
        )
    offs: dict[str, list[tuple[float, float, str]]] = {}
    for trial in trials:
        for name, value in trial.off.items():
            offs.setdefault(f"{name}, {trial.defect.name}: largest error", []).append(value)
    for name, values in offs.items():
        figures.append(at_most(name, np.max([value[0] for value in values]), values[0][2], values[0][1]))
    return figures


def _percent(trials: list[Trial]) -> float:
    return 100.0 * sum(trial.right for trial in trials) / len(trials)


def _draw(trials: list[Trial], path: Path) -> None:
    """How often each finding occurred in each kind of run; framed where it must occur, thinly where it may."""
    kinds = list(dict.fromkeys(trial.defect for trial in trials))
    names = list(CHECKS)
    shares = np.array(
        [
            [np.mean([name in trial.found for trial in trials if trial.defect is kind]) for name in names]
            for kind in kinds
        ]
    )
    with style.applied() as theme:
        fig, axes = style.figure(
            1, 1, "Findings of the doctor", "shade: share of the runs; frame: must be found; dots: may be found",
            panel_inches=(9.0, 0.27 * len(kinds) + 1.4),
        )  # fmt: skip
        ax = axes[0, 0]
        ax.imshow(shares, cmap="Reds", vmin=0.0, vmax=1.3, aspect="auto")
        for row, kind in enumerate(kinds):
            for column, name in enumerate(names):
                if name in kind.must:
                    ax.add_patch(_frame(column, row, theme.text))
                elif name in kind.may:
                    ax.plot(column, row, ".", color=theme.faint, ms=3)
        ax.set_xticks(range(len(names)), labels=names, rotation=35, ha="right")
        ax.set_yticks(range(len(kinds)), labels=[kind.name for kind in kinds])
        ax.grid(visible=False)
    style.save(fig, path)


def _frame(column: int, row: int, colour: str) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.46, row - 0.42), 0.92, 0.84, fill=False, edgecolor=colour, lw=1.0)
