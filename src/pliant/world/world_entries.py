"""Entry points of the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba

from pliant.compiling.entry_points import Entry
from pliant.control.tick_entries import record_types
from pliant.world.period import advance, advance_sim, read, read_sim
from pliant.world.surface_kind import Surface, surface_type
from pliant.world.world_layout import WORLD


def simulator() -> Iterator[Entry]:
    """One period of the simulated world."""
    of = record_types()
    world: Any = numba.typeof(WORLD.new())
    for kind in Surface.kinds.builtin.values():
        yield kind.measure, surface_type()
    yield read, world.dtype, of["r"].dtype
    yield advance, world.dtype, of["c"].dtype
    yield read_sim, world, of["r"]
    yield advance_sim, world, of["c"]
