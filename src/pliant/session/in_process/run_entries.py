"""Entry points of runs as fast as possible, and of replays."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from pliant.compiling.entry_points import Entry
from pliant.control.tick_entries import record_types
from pliant.loop.periods import works_at
from pliant.session.in_process import rerun
from pliant.session.in_process.compiled_steps import ADDRESSES, steps


def fast_runs() -> Iterator[Entry]:
    """A simulated run."""
    yield steps, numba.typeof(ADDRESSES.new()), 0, 0, 0, 0, 0, 0
    yield works_at, record_types()["s"]


def replays() -> Iterator[Entry]:
    """A replay."""
    of, which = record_types(), np.zeros(1, np.int64)
    yield rerun.rerun, of["h"], of["p"], which, (0, 0, 0, 0, 0), *(of[name] for name in "scow"), 1, 0.0
