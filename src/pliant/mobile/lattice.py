"""The rough course of a way for a base that must turn: two waves over places and headings, for queries that are hard.

Places are the cells of the coarser grid, headings sixteenths of a turn. From each of them the base goes straight on, or
turns by one heading on an arc of its radius, forwards or backwards. Ends of arcs are rounded to cells, and nothing is
looked at between them: what is found here is no way yet. But it knows what `wave` does not: gaps through which a disc
would pass, and a long base, which has to turn there, would not.

One wave runs from the start and one from the goal, until they have met (Dial 1969, from both ends). Whether a base can
stand somewhere is found out when a wave first comes there, and remembered for the next query.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pliant.kernel import kernel
from pliant.mobile.estimate import wrapped
from pliant.mobile.space import Space, distance_at, free_at
from pliant.mobile.wave import FAR
from pliant.params.mobile import Planner
from pliant.records import Field, Layout

HEADINGS = 16
BLOCKED, PLAIN, TIGHT, UNSEEN = 0, 10, 250, 255
"""Prices of a state in tenths; at a tight one the base can stand beside the middle of its cell only."""
TURNS = (-1, -1, 0, 0, 1, 1)
"""By how many headings each step turns; every second one is driven backwards."""
AROUND = 2
"""A wave begins at the states next to a pose, and at so many more on all sides: in a narrow place some are blocked."""
MOST_BEGIN = math.ceil(PLAIN * (1.5 * (AROUND + 1) + AROUND) ** 2)
"""How far off, in tenths of a cell, these count at most."""
ORIGIN = 255
"""In place of the step that led to a state: the wave began here."""

LATTICE = Layout(
    "Lattice",
    (
        Field("side", "m", "length of a cell"),
        Field("narrow", "", "price of a place where the base cannot turn on the spot, in tenths", kind="i8"),
        Field("front", "", "distance that the wave has reached, in tenths of a cell (FAR: all)", kind="i8"),
        Field("spare", "", "first entry of the queue that is not in use, or -1", kind="i8"),
        Field("least", "", "length of the shortest course through a state that both waves have reached", kind="i8"),
        Field("met", "", "that state", kind="i8"),
    ),
)


class Lattice(NamedTuple):
    """Places and headings, and the room that a wave needs."""

    about: Any
    price: Any
    """What a step to (row, column, heading) costs, in tenths: BLOCKED, PLAIN to TIGHT, UNSEEN if not known yet."""
    steps: Any
    """Distance from where the wave began, in tenths of a cell (FAR: not reached)."""
    led: Any
    """The step that led here."""
    moves: Any
    """Of each heading the steps to go back: rows, columns and headings on, and what it costs in tenths of a cell."""
    heads: Any
    state: Any
    after: Any


def lattices(space: Space, block: int, p: Planner) -> tuple[Lattice, Lattice]:
    """For a space with places of `block` cells of the map: the wave from the goal, and that from the start."""
    shape = (*(-(-n // block) for n in space.distance.shape), HEADINGS)
    price = np.full(shape, UNSEEN, np.uint8)
    # seen from the start everything is driven the other way
    costs = (1.0, p.reverse_cost), (p.reverse_cost, 1.0)
    there, back = (_lattice(space, block * float(space.about[0].cell), p, pair, price) for pair in costs)
    return there, back


def _lattice(space: Space, side: float, p: Planner, costs: tuple[float, float], price: Any) -> Lattice:
    about, shape = LATTICE.new(), price.shape
    about[0].side, about[0].narrow = side, round(PLAIN * p.narrow_cost)
    moves = _moves(side, p, costs)
    # a step, and where a wave begins, costs less than there are buckets
    buckets = 1 << int(max(moves[:, :, 3].max() * TIGHT // PLAIN, MOST_BEGIN) + 1).bit_length()
    return Lattice(
        about, price, np.full(shape, FAR, np.int32), np.zeros(shape, np.uint8), moves,
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
def _priced(space, lat, j, i, k):
    """What a step to a state costs."""
    price = lat.price[j, i, k]
    if price != UNSEEN:
        return price
    a, side = space.about[0], lat.about[0].side
    x, y, heading = a.x + (i + 0.5) * side, a.y + (j + 0.5) * side, 2.0 * math.pi / HEADINGS * k
    price = BLOCKED
    if free_at(space, x, y, heading):
        price = PLAIN if distance_at(space, x, y) >= a.roomy else lat.about[0].narrow
    else:
        q = 0.25 * side
        for dy in (-q, q):
            for dx in (-q, q):
                if free_at(space, x + dx, y + dy, heading):
                    price = TIGHT
    lat.price[j, i, k] = price
    return price


@kernel
def _queue(lat, at, steps, led):
    """Let the wave come to a state (row, column, heading) at a distance."""
    w, (j, i, k) = lat.about[0], at
    entry = w.spare
    if entry < 0:
        return
    lat.steps[j, i, k], lat.led[j, i, k] = steps, led
    bucket = steps & (lat.heads.shape[0] - 1)
    w.spare = lat.after[entry]
    lat.state[entry] = (j * lat.steps.shape[1] + i) * HEADINGS + k
    lat.after[entry], lat.heads[bucket] = lat.heads[bucket], entry


@kernel
def _begin(space, lat, pose):
    """Start a wave at the states around a pose."""
    w, n = lat.about[0], lat.after.shape[0]
    lat.steps[:] = FAR
    lat.heads[:] = -1
    for entry in range(n):
        lat.after[entry] = entry + 1 if entry + 1 < n else -1
    w.front, w.spare, w.least, w.met = 0, 0, FAR, -1
    a, (rows, columns, _) = space.about[0], lat.steps.shape
    y, x = (pose[1] - a.y) / w.side - 0.5, (pose[0] - a.x) / w.side - 0.5
    turn = math.floor(wrapped(pose[2]) / (2.0 * math.pi) * HEADINGS)
    j0, i0 = math.floor(y), math.floor(x)
    for j in range(max(0, j0 - AROUND), min(rows, j0 + 2 + AROUND)):
        for i in range(max(0, i0 - AROUND), min(columns, i0 + 2 + AROUND)):
            for k in range(turn - AROUND, turn + 2 + AROUND):
                if _priced(space, lat, j, i, k % HEADINGS) != BLOCKED:
                    far = math.hypot(j - y, i - x) + max(turn - k, k - turn - 1, 0)
                    _queue(lat, (j, i, k % HEADINGS), math.floor(PLAIN * far * far), ORIGIN)


@kernel
def _spread(space, lat, other, until):
    """Let a wave run to a distance (in tenths of a cell), or until it has reached everything.

    That is noticed where `until` is farther ahead than there are buckets.
    """
    w, buckets, (rows, columns, _) = lat.about[0], lat.heads.shape[0], lat.steps.shape
    quiet, front = 0, w.front
    while quiet < buckets and front <= until:
        entry = lat.heads[front & (buckets - 1)]
        if entry < 0:
            front += 1
            quiet += 1
            continue
        quiet = 0
        lat.heads[front & (buckets - 1)], lat.after[entry], w.spare = lat.after[entry], w.spare, entry
        cell, k = lat.state[entry] // HEADINGS, lat.state[entry] % HEADINGS
        j = cell // columns
        i = cell - j * columns
        if lat.steps[j, i, k] != front:
            continue  # a shorter way was found since
        if front + other[j, i, k] < w.least:
            w.least, w.met = front + other[j, i, k], lat.state[entry]
        for n in range(len(TURNS)):
            move = lat.moves[k, n]
            nj, ni, to = j + move[0], i + move[1], (k + move[2]) % HEADINGS
            if nj < 0 or ni < 0 or nj >= rows or ni >= columns or front + move[3] >= lat.steps[nj, ni, to]:
                continue
            price = lat.price[nj, ni, to]
            if price == UNSEEN:
                price = _priced(space, lat, nj, ni, to)
            steps = front + move[3] * price // PLAIN
            if price != BLOCKED and steps < lat.steps[nj, ni, to]:
                _queue(lat, (nj, ni, to), steps, n)
    w.front = FAR if quiet >= buckets else front


@kernel
def meet(space, there, back, goal, start):
    """Let waves run from both ends until their shortest course is known; the state where they met, or -1."""
    _begin(space, there, goal)
    _begin(space, back, start)
    g, s = there.about[0], back.about[0]
    while g.front + s.front < min(g.least, s.least):
        for lat, other in ((there, back.steps), (back, there.steps)):
            _spread(space, lat, other, lat.about[0].front + lat.heads.shape[0])
            if lat.about[0].front >= FAR:
                break
    return g.met if g.least <= s.least else s.met


@kernel
def unmark(lat, state, wide, beside):
    """Unmark all cells within `wide` cells of the course from a state to where the wave began."""
    columns = lat.steps.shape[1]
    cell, k = state // HEADINGS, state % HEADINGS
    j, i = cell // columns, cell % columns
    while True:
        beside[max(0, j - wide) : j + wide + 1, max(0, i - wide) : i + wide + 1] = False
        led = lat.led[j, i, k]
        if led == ORIGIN:
            return
        k = (k - TURNS[led]) % HEADINGS
        j, i = j - lat.moves[k, led, 0], i - lat.moves[k, led, 1]
