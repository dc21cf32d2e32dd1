"""Distance to the goal around obstacles, for the inscribed circle of the base: a wave on a coarser grid.

A coarse cell is passable if any point in it has room. So the wave is optimistic, and a goal that it does not reach is
unreachable. Steps cost 10 and 14 (more in narrow places), and are queued in buckets (Dial 1969).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pliant.kernel import fill, kernel
from pliant.mobile.planning.free_space import Space
from pliant.records import Field, Layout

STRAIGHT, DIAGONAL = 10, 14
# More than the dearest step: diagonal through a narrow place beside the course.
BUCKETS = 256
BESIDE = 4
"""Cost factor of a step that leaves the course, once there is one."""
FAR = 1 << 30

WAVE = Layout(
    "Wave",
    (
        Field("block", "", "cells of the map along one coarse cell", kind="i8"),
        Field("side", "m", "length of a coarse cell"),
        Field("front", "", "distance that the wave has reached, in tenths of a coarse cell", kind="i8"),
        Field("used", "", "entries of the queue in use", kind="i8"),
    ),
)


class Wave(NamedTuple):
    """The coarse grid and the memory of the wave."""

    about: Any
    price: Any
    """Cost of a step into a cell, in tenths: 0 if it is blocked, 10 if there is room."""
    dues: Any
    """The same for the present query, which may follow a course."""
    steps: Any
    """Distance to the goal in tenths of a coarse cell (FAR: not reached)."""
    heads: Any
    cell: Any
    after: Any


def coarse(space: Space, block: int, narrow: float) -> Wave:
    """The coarse grid of a space: each cell takes the greatest distance in its block; narrow ones cost more."""
    about = WAVE.new()
    about[0].block, about[0].side = block, block * space.about[0].cell
    rows, columns = (-(-n // block) for n in space.distance.shape)
    padded = np.zeros((rows * block, columns * block), np.float32)
    padded[: space.distance.shape[0], : space.distance.shape[1]] = space.distance
    most = padded.reshape(rows, block, columns, block).max(axis=(1, 3))
    # a point may lie 0.71 cells off the centre of its cell, and a blocked square is half a cell nearer than its centre
    passable = most + 0.21 * space.about[0].cell >= space.about[0].inscribed
    price = passable * np.where(most < space.about[0].roomy, round(STRAIGHT * narrow), STRAIGHT)
    room = 8 * rows * columns + 8
    price = np.ascontiguousarray(price.astype(np.int32))
    return Wave(
        about, price, price.copy(), np.full((rows, columns), FAR, np.int32),
        np.full(BUCKETS, -1, np.int32), np.zeros(room, np.int32), np.zeros(room, np.int32),
    )  # fmt: skip


@kernel
def _place(space, wave, x, y):
    a, side = space.about[0], wave.about[0].side
    i, j = math.floor((x - a.x) / side), math.floor((y - a.y) / side)
    inside = 0 <= i < wave.steps.shape[1] and 0 <= j < wave.steps.shape[0]
    return (j, i) if inside else (-1, -1)


@kernel
def _queue(wave, cell, steps):
    w = wave.about[0]
    bucket = steps % BUCKETS
    wave.cell[w.used], wave.after[w.used] = cell, wave.heads[bucket]
    wave.heads[bucket] = w.used
    w.used += 1


@kernel
def begin(space, wave, x, y):
    """Start a wave at the goal."""
    for row in range(len(wave.steps)):
        fill(wave.steps[row], FAR)
    fill(wave.heads, -1)
    wave.about[0].used, wave.about[0].front = 0, 0
    j, i = _place(space, wave, x, y)
    if j >= 0:
        wave.steps[j, i] = 0
        _queue(wave, j * wave.steps.shape[1] + i, 0)


@kernel
def spread(wave, until):
    """Run the wave to a distance (in tenths of a coarse cell), or until it has reached everything.

    The latter is detected where `until` is farther ahead than there are buckets.
    """
    w = wave.about[0]
    quiet = 0
    while quiet < BUCKETS and w.front <= until:
        bucket = w.front % BUCKETS
        entry = wave.heads[bucket]
        if entry < 0:
            w.front += 1
            quiet += 1
            continue
        quiet = 0
        wave.heads[bucket] = wave.after[entry]
        _pass_on(wave, wave.cell[entry])
    if quiet >= BUCKETS:
        w.front = FAR


@kernel
def _pass_on(wave, cell):
    w = wave.about[0]
    rows, columns = wave.steps.shape
    j, i = cell // columns, cell % columns
    if wave.steps[j, i] != w.front:
        return  # a shorter way was found since
    for dj in range(-1, 2):
        for di in range(-1, 2):
            nj, ni = j + dj, i + di
            if (dj == 0 and di == 0) or nj < 0 or ni < 0 or nj >= rows or ni >= columns or wave.dues[nj, ni] == 0:
                continue
            price = wave.dues[nj, ni]
            steps = w.front + (price * DIAGONAL // STRAIGHT if dj != 0 and di != 0 else price)
            if steps < wave.steps[nj, ni]:
                wave.steps[nj, ni] = steps
                _queue(wave, nj * columns + ni, steps)


@kernel
def reaches(space, wave, x, y):
    """Run the wave until it is 1.5 times as far as (x, y); returns whether it reached that point."""
    j, i = _place(space, wave, x, y)
    if j < 0:
        return False
    while wave.steps[j, i] > wave.about[0].front and wave.about[0].front < FAR:
        spread(wave, wave.about[0].front + BUCKETS)
    if wave.steps[j, i] >= FAR:
        return False
    spread(wave, wave.steps[j, i] + wave.steps[j, i] // 2 + BUCKETS)
    return True


@kernel
def distance_to_goal(space, wave, x, y):
    """Distance to the goal [m] by the wave, or the distance it has run if it has not reached this point yet."""
    j, i = _place(space, wave, x, y)
    if j < 0:
        return math.inf
    steps = wave.steps[j, i]
    if steps >= FAR:
        if wave.about[0].front >= FAR:
            return math.inf
        steps = wave.about[0].front
    # an octile way is up to 8 % longer than a straight one, and both ends may lie anywhere in their cells
    return max(0.0, 0.1 * steps / 1.0824 - 1.42) * wave.about[0].side
