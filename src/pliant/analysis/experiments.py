"""Experiments and benchmarks: how a package declares them, and how the installed ones are found.

A package lists what it offers in a tuple of `Experiment` and `Benchmark`, and names that tuple in its entry-point group
`pliant.experiments`. Pliant's own are in the package pliant-experiments. Only the lists are loaded here: the module of
an experiment is imported when it runs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from types import ModuleType
from typing import TypeVar

from pliant.analysis.experiment_options import Option
from pliant.analysis.targets import Outcome
from pliant.compiling.entry_points import ALL_LAWS, Need
from pliant.errors import PliantError, RejectedError, UnknownNameError

GROUP = "pliant.experiments"
"""The entry-point group of packages with experiments."""

NOT_INSTALLED = "Experiments and benchmarks are a separate package: pip install 'pliant[experiments]'."

Progress = Callable[[float], None]
"""Receives the completed share, 0 to 1."""

ARMS: tuple[Need, ...] = ("loop", "batch", "replay", *ALL_LAWS)
"""The kernels of everything that an arm can do."""


@dataclass(frozen=True)
class Experiment:
    """A named scenario: ``run(seed, progress)`` of the module `where` returns figures with their targets.

    Options beyond the common ones are declared in that module as `OPTIONS`; `run` receives them as keywords.
    """

    name: str
    """Its name on the command line, with hyphens."""
    summary: str
    """One sentence."""
    where: str
    """The full name of its module."""
    kernels: tuple[Need, ...] = ARMS
    """What is compiled before it runs: groups of Pliant's kernels, and jobs with kernels of its own."""

    @property
    def module(self) -> ModuleType:
        """Its module, imported."""
        return importlib.import_module(self.where)

    @property
    def run(self) -> Callable[..., Outcome]:
        """Its function `run`."""
        return self.module.run

    @property
    def options(self) -> tuple[Option, ...]:
        """Its own options."""
        return getattr(self.module, "OPTIONS", ())


@dataclass(frozen=True)
class Benchmark:
    """A named measurement of speed: the function `where` takes a length [s] and `progress`, and returns figures."""

    name: str
    """Its name on the command line, with hyphens."""
    summary: str
    """One sentence."""
    where: str
    """The function, as module:name."""
    kernels: tuple[Need, ...] = ARMS
    """What is compiled before it runs."""

    @property
    def measure(self) -> Callable[[float, Progress], Outcome]:
        """Its function."""
        module, _, name = self.where.partition(":")
        return getattr(importlib.import_module(module), name)


Kind = TypeVar("Kind", Experiment, Benchmark)


def experiments() -> dict[str, Experiment]:
    """All installed experiments by name, in the order of their lists."""
    return _named(Experiment)


def benchmarks() -> dict[str, Benchmark]:
    """All installed benchmarks by name, in the order of their lists."""
    return _named(Benchmark)


def find_experiment(name: str) -> Experiment:
    """The experiment of this name."""
    if name not in (known := experiments()):
        raise UnknownNameError("experiment", name, known, all_names="`pliant experiment` lists all.")
    return known[name]


def find_benchmark(name: str) -> Benchmark:
    """The benchmark of this name."""
    if name not in (known := benchmarks()):
        raise UnknownNameError("benchmark", name, known)
    return known[name]


def _named(kind: type[Kind]) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for item in _installed():
        if isinstance(item, kind):
            if item.name in found:
                places = f"{found[item.name].where} and {item.where}"
                raise RejectedError(f"Two installed {kind.__name__.lower()}s are called {item.name!r}: {places}.")
            found[item.name] = item
    if not found:
        raise RejectedError(NOT_INSTALLED)
    return found


@cache
def _installed() -> tuple[Experiment | Benchmark, ...]:
    """Everything that installed packages declare; a package that cannot be loaded is an error that names it."""
    found: list[Experiment | Benchmark] = []
    for point in entry_points(group=GROUP):
        try:
            found += _checked(point.load(), point.value)
        except PliantError:
            raise
        except Exception as error:  # anything can go wrong in the module of another package
            package = point.dist.name if point.dist else point.name
            raise RejectedError(
                f"The experiments of {package} ({point.value}) cannot be loaded: {type(error).__name__}: {error}."
            ) from error
    return tuple(found)


def _checked(listed: Iterable[object], where: str) -> list[Experiment | Benchmark]:
    items = list(listed)
    for item in items:
        if not isinstance(item, Experiment | Benchmark):
            raise RejectedError(f"{where} must list Experiment and Benchmark objects only, not {item!r}.")
    return items  # type: ignore[return-value]
