"""Entry points of the control loop."""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np

from pliant.compiling.entry_points import Entry
from pliant.control.tick_entries import record_types
from pliant.loop import pacing, periods, slots
from pliant.loop.pacing import PACE
from pliant.sensors.shared_wrench import WRENCH_SOURCE, post, take_into
from pliant.world.world_layout import WORLD


def control_loop() -> Iterator[Entry]:
    """The paced loop and its board."""
    of, door, ring = record_types(), (0, 0, 0), (0, 0, 0, 0, 0)
    world, pace = numba.typeof(WORLD.new()), numba.typeof(PACE.new())
    yield periods.finish_and_wait, 0, ring, *(of[name] for name in "rgocsw"), 0.0, 0, 0, pace
    yield periods.is_still_at, of["h"], of["s"], of["r"]
    yield periods.must_finish_at, of["s"]
    yield periods.works_at, of["s"]
    tick = (*(of[name] for name in "hpsrgcow"), 0, 0.0)
    yield periods.run_periods, world, *tick, 0, ring, door, pace, 0, 0, 0, 0
    yield pacing.start_at, pace
    yield post, numba.typeof(WRENCH_SOURCE.new()), np.zeros(6), 0, 0
    yield take_into, 0, of["r"]
    yield slots.has_request, 0, 0, 0, 0
    yield slots.put, 0, 0, 0, 0, 0
    yield slots.get, 0, 0, 0, 0, 0
    yield slots.collect, ring, 0, 0, 0, 0, 0
    yield slots.lock_word, 0
    yield slots.store_word, 0, 0
