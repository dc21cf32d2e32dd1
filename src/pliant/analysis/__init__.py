"""Analysis of recordings: figures, pictures and reports; and how an experiment is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.lazy_names import lazy_names

if TYPE_CHECKING:
    from pliant.analysis.experiment_options import Option
    from pliant.analysis.experiments import Benchmark, Experiment, Progress
    from pliant.analysis.targets import Figure, Outcome, at_least, at_most
    from pliant.compiling.entry_points import Job as KernelJob

HOMES = {
    "Benchmark": "pliant.analysis.experiments",
    "Experiment": "pliant.analysis.experiments",
    "Figure": "pliant.analysis.targets",
    "KernelJob": "pliant.compiling.entry_points:Job",
    "Option": "pliant.analysis.experiment_options",
    "Outcome": "pliant.analysis.targets",
    "Progress": "pliant.analysis.experiments",
    "at_least": "pliant.analysis.targets",
    "at_most": "pliant.analysis.targets",
}
"""The module in which each public name is defined."""

__all__ = [
    "Benchmark",
    "Experiment",
    "Figure",
    "KernelJob",
    "Option",
    "Outcome",
    "Progress",
    "at_least",
    "at_most",
]

__getattr__, __dir__ = lazy_names(__name__, HOMES)
