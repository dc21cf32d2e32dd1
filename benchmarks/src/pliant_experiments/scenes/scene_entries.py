"""Entry points of the scenes: kernels that are compiled before an experiment starts."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from pliant.compiling.entry_points import Entry
from pliant.control.tick_entries import record_types
from pliant.world.world_layout import WORLD
from pliant_experiments.scenes import two_link_lab


def lab_runs() -> Iterator[Entry]:
    """A run of the lab with a moving equilibrium."""
    of = record_types()
    tick = (numba.typeof(WORLD.new()), *(of[name] for name in "hpsrgcow"), 0, 0.0)
    yield two_link_lab._along, *tick, np.zeros((1, 6)), 0, 0
