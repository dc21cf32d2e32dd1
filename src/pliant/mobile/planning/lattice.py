"""A rough course for a base that must turn: two waves over positions and headings, for hard queries.

Positions are the cells of the coarser grid, headings sixteenths of a turn. From each state the base drives straight, or
turns by one heading on an arc of its radius, forward or in reverse. Arc ends are rounded to cells, and nothing in
between is checked, so the course is not a path yet. But it accounts for what `wave` does not: gaps that a disc could
pass, but not a long base that has to turn there.

One wave runs from the start and one from the goal until they meet (Dial 1969, from both ends). The free states are
computed once per map. States (row, column, heading) are numbered consecutively, with a margin of blocked states around
the map as wide as a step. So a step is an integer offset and needs no check against the edge of the map.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pliant.kernel import kernel
from pliant.mobile.base.base_params import Planner
from pliant.mobile.planning.free_space import Space, distance_at, free_at
from pliant.mobile.planning.wave import FAR
from pliant.mobile.velocity.estimate import wrapped
from pliant.records import Field, Layout

HEADINGS = 16
BLOCKED, PLAIN, TIGHT = 0, 10, 250
"""Costs of a state in tenths; at a tight one the base fits only off the centre of its cell."""
TURNS = (-1, -1, 0, 0, 1, 1)
"""By how many headings each step turns; every second step is in reverse."""
AROUND = 2
"""A wave starts at the states next to a pose, and at this many more on all sides, because some may be blocked."""
MOST_BEGIN = math.ceil(PLAIN * (1.5 * (AROUND + 1) + AROUND) ** 2)
"""Largest initial distance of these states, in tenths of a cell."""
CHUNK = 2 * PLAIN
"""How far one wave runs, in tenths of a cell, before the other continues."""
ORIGIN = 255
"""Marks a state at which the wave started, instead of a step."""

LATTICE = Layout(
    "Lattice",
    (
        Field("side", "m", "length of a cell"),
        Field("rows", "", "rows of cells, margin included", kind="i8"),
        Field("columns", "", "columns of cells, margin included", kind="i8"),
        Field("margin", "", "cells around the map", kind="i8"),
        Field("narrow", "", "cost of a position where the base cannot turn on the spot, in tenths", kind="i8"),
        Field("front", "", "distance that the wave has reached, in tenths of a cell (FAR: all)", kind="i8"),
        Field("waiting", "", "entries of the queue in use", kind="i8"),
        Field("spare", "", "first entry of the queue that is not in use, or -1", kind="i8"),
        Field("least", "", "length of the shortest course through a state that both waves have reached", kind="i8"),
        Field("met", "", "that state", kind="i8"),
    ),
)


class Lattice(NamedTuple):
    """Positions and headings, and the memory of a wave."""

    about: Any
    price: Any
    """What a step to a state costs, in tenths: BLOCKED, or PLAIN to TIGHT."""
    steps: Any
    """Distance from the start of the wave, in tenths of a cell (FAR: not reached)."""
    led: Any
    """The step that led here."""
    jumps: Any
    """What each step back from a heading adds to the number of a state."""
    dues: Any
    """What it costs in tenths of a cell."""
    heads: Any
    state: Any
    after: Any


def lattices(space: Space, block: int, p: Planner) -> tuple[Lattice, Lattice]:
    """For a space with positions of `block` map cells: the wave from the goal and the one from the start."""
    about, side = LATTICE.new(), block * float(space.about[0].cell)
    # seen from the start everything is driven the other way
    costs = (1.0, p.reverse_cost), (p.reverse_cost, 1.0)
    moves = [_moves(side, p, pair) for pair in costs]
    w, margin = about[0], int(np.abs(moves[0][:, :, :2]).max())
    w.side, w.margin, w.narrow = side, margin, round(PLAIN * p.narrow_cost)
    w.rows, w.columns = (-(-n // block) + 2 * margin for n in space.distance.shape)
    price = np.full(w.rows * w.columns * HEADINGS, BLOCKED, np.uint8)
    _measure_steps(space, about, price)
    there, back = (_lattice(about.copy(), price, each) for each in moves)
    return there, back


def _lattice(about: Any, price: Any, moves: Any) -> Lattice:
    rows, columns, turns, dues = np.moveaxis(moves, 2, 0)
    heading = np.arange(HEADINGS)[:, None]
    jumps = (rows * about[0].columns + columns) * HEADINGS + (heading + turns) % HEADINGS - heading
    # a step, and where a wave begins, costs less than there are buckets
    buckets = 1 << int(max(dues.max() * TIGHT // PLAIN, MOST_BEGIN) + 1).bit_length()
    return Lattice(
        about, price, np.full(price.size, FAR, np.int32), np.zeros(price.size, np.uint8),
        np.ascontiguousarray(jumps.astype(np.int32)), np.ascontiguousarray(dues),
        np.full(buckets, -1, np.int32), np.zeros(price.size, np.int32), np.zeros(price.size, np.int32),
    )  # fmt: skip


def _moves(side: float, p: Planner, costs: tuple[float, float]) -> Any:
    """What leads to a heading: straight or on an arc to either side, forwards or backwards, at such costs per metre."""
    moves = np.zeros((HEADINGS, len(TURNS), 4), np.int32)
    arc = max(1.0, p.radius_m * 2.0 * math.pi / HEADINGS / side)
    for k in range(HEADINGS):
        for n, turn in enumerate(TURNS):
            middle = math.pi * (2 * k + turn) / HEADINGS
            along = np.array((math.sin(middle), math.cos(middle)))
            # straight on: to the next cell that lies in this direction
            far = arc if turn else math.sqrt(5.0) if k % 2 else 1.0 / max(abs(along))
            cells = np.rint(far * along)
            length = max(far if turn else 0.0, float(np.hypot(*cells)))
            due = round(PLAIN * length * costs[n % 2] * (p.turn_cost if turn else 1.0))
            # who drives forwards comes from behind
            moves[k, n] = *(cells if n % 2 else -cells), turn, due
    return moves


@kernel
def _measure_steps(space, about, price):
    """Find out what a step to each state costs."""
    a, w = space.about[0], about[0]
    # how far from the middle of its cell a base is tried too
    off = 0.25 * w.side
    for j in range(w.margin, w.rows - w.margin):
        for i in range(w.margin, w.columns - w.margin):
            x, y = a.x + (i - w.margin + 0.5) * w.side, a.y + (j - w.margin + 0.5) * w.side
            room, first = distance_at(space, x, y), (j * w.columns + i) * HEADINGS
            if room + 0.21 * a.cell + math.sqrt(2.0) * off < a.inscribed:
                continue
            for k in range(HEADINGS):
                heading = 2.0 * math.pi / HEADINGS * k
                if room > a.surely_free or free_at(space, x, y, heading):
                    price[first + k] = PLAIN if room >= a.roomy else w.narrow
                elif _fits_beside(space, x, y, heading, off):
                    price[first + k] = TIGHT


@kernel
def _fits_beside(space, x, y, heading, off):
    """Whether the base can stand a little beside a point."""
    for dy in (-off, off):
        for dx in (-off, off):
            if free_at(space, x + dx, y + dy, heading):
                return True
    return False


@kernel
def _queue(lat, at, steps, led):
    """Let the wave come to a state at a distance."""
    w = lat.about[0]
    entry = w.spare
    if entry < 0:
        return
    lat.steps[at], lat.led[at] = steps, led
    bucket = steps & (lat.heads.shape[0] - 1)
    w.spare, w.waiting = lat.after[entry], w.waiting + 1
    lat.state[entry] = at
    lat.after[entry], lat.heads[bucket] = lat.heads[bucket], entry


@kernel
def _begin(space, lat, pose):
    """Start a wave at the states around a pose."""
    w, n = lat.about[0], lat.after.shape[0]
    lat.steps[:] = FAR
    lat.heads[:] = -1
    for entry in range(n):
        lat.after[entry] = entry + 1 if entry + 1 < n else -1
    w.front, w.spare, w.waiting, w.least, w.met = 0, 0, 0, FAR, -1
    a = space.about[0]
    y, x = (pose[1] - a.y) / w.side - 0.5 + w.margin, (pose[0] - a.x) / w.side - 0.5 + w.margin
    turn = math.floor(wrapped(pose[2]) / (2.0 * math.pi) * HEADINGS)
    j0, i0 = math.floor(y), math.floor(x)
    for j in range(max(0, j0 - AROUND), min(w.rows, j0 + 2 + AROUND)):
        for i in range(max(0, i0 - AROUND), min(w.columns, i0 + 2 + AROUND)):
            for k in range(turn - AROUND, turn + 2 + AROUND):
                at = (j * w.columns + i) * HEADINGS + k % HEADINGS
                if lat.price[at] != BLOCKED:
                    far = math.hypot(j - y, i - x) + max(turn - k, k - turn - 1, 0)
                    _queue(lat, at, math.floor(PLAIN * far * far), ORIGIN)


@kernel
def _spread(lat, other, until):
    """Let a wave run to a distance (in tenths of a cell), or until it has reached everything."""
    w, front, mask = lat.about[0], lat.about[0].front, lat.heads.shape[0] - 1
    while w.waiting > 0 and front <= until:
        entry = lat.heads[front & mask]
        if entry < 0:
            front += 1
            continue
        lat.heads[front & mask], lat.after[entry], w.spare = lat.after[entry], w.spare, entry
        w.waiting -= 1
        at = lat.state[entry]
        if lat.steps[at] != front:
            continue  # a shorter way was found since
        if front + other[at] < w.least:
            w.least, w.met = front + other[at], at
        k = at & (HEADINGS - 1)
        for n in range(len(TURNS)):
            to, due = at + lat.jumps[k, n], lat.dues[k, n]
            if front + due >= lat.steps[to] or lat.price[to] == BLOCKED:
                continue
            steps = front + due * lat.price[to] // PLAIN
            if steps < lat.steps[to]:
                _queue(lat, to, steps, n)
    w.front = front if w.waiting > 0 else FAR


@kernel
def run_waves(space, there, back, goal, start):
    """Run waves from both ends until the shortest course is known; returns the state where they met, or -1."""
    _begin(space, there, goal)
    _begin(space, back, start)
    g, s = there.about[0], back.about[0]
    while g.front + s.front < min(g.least, s.least):
        for lat, other in ((there, back.steps), (back, there.steps)):
            _spread(lat, other, lat.about[0].front + CHUNK)
            if lat.about[0].front >= FAR:
                break
    return g.met if g.least <= s.least else s.met


@kernel
def unmark(lat, state, wide, beside):
    """Unmark all cells within `wide` cells of the course from a state to the start of the wave."""
    w = lat.about[0]
    while True:
        cell = state // HEADINGS
        j, i = cell // w.columns - w.margin, cell % w.columns - w.margin
        beside[max(0, j - wide) : j + wide + 1, max(0, i - wide) : i + wide + 1] = False
        led = lat.led[state]
        if led == ORIGIN:
            return
        state -= lat.jumps[(state - TURNS[led]) % HEADINGS, led]
