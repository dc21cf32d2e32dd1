"""Entry points of runs as fast as possible, and of replays."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from pliant.compiling.entry_points import Entry
from pliant.control.tick_entries import record_types
from pliant.loop.periods import works_at
from pliant.session import fast_run, rerun
from pliant.world.world_layout import WORLD


def fast_runs() -> Iterator[Entry]:
    """A simulated run."""
    of = record_types()
    tick = (*(of[name] for name in "hpsrgcow"), 0, 0.0)
    yield fast_run.run, numba.typeof(WORLD.new()), *tick, 0, 0, of["t"]
    yield works_at, of["s"]


def replays() -> Iterator[Entry]:
    """A replay."""
    of, which = record_types(), np.zeros(1, np.int64)
    yield rerun.rerun, of["h"], of["p"], which, of["t"], *(of[name] for name in "scow"), 1, 0.0, 0, 0, of["t"]
