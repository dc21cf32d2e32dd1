"""Shortening a path: connect two of its poses by a Reeds-Shepp path wherever that is free and cheaper."""

from __future__ import annotations

import math

from pliant.kernel import kernel
from pliant.mobile.base.arc import moved
from pliant.mobile.planning.hybrid_a_star import arc_cost, reaches_directly

SPACING_M = 0.6
DUST_M = 1e-9


@kernel
def cost(s, arcs, first, last, before):
    """The cost of the arcs [first, last), where `before` is the signed length of the preceding arc."""
    total = 0.0
    for i in range(first, last):
        length = arcs[i, 1]
        total += arc_cost(s, arcs[i, 0], length)
        if before * length < 0.0:
            total += s.cusp
        if length != 0.0:
            before = length
    return total


@kernel
def chopped(arcs, n, out):
    """Split the path into pieces of at most SPACING_M; returns their number (-1: no room)."""
    m = 0
    for i in range(n):
        pieces = max(1, math.ceil(abs(arcs[i, 1]) / SPACING_M))
        if m + pieces > out.shape[0]:
            return -1
        for _ in range(pieces):
            out[m, 0], out[m, 1] = arcs[i, 0], arcs[i, 1] / pieces
            m += 1
    return m


@kernel
def joined(arcs, n):
    """Merge neighbours on the same arc and drop empty ones, in place; returns the new number."""
    m = 0
    for i in range(n):
        if abs(arcs[i, 1]) < DUST_M:
            continue
        if m > 0 and abs(arcs[m - 1, 0] - arcs[i, 0]) < 1e-12 and arcs[m - 1, 1] * arcs[i, 1] > 0.0:
            arcs[m - 1, 1] += arcs[i, 1]
        else:
            arcs[m, 0], arcs[m, 1] = arcs[i, 0], arcs[i, 1]
            m += 1
    return m


@kernel
def _poses(start, arcs, n, poses):
    poses[0, 0], poses[0, 1], poses[0, 2] = start[0], start[1], start[2]
    for i in range(n):
        x, y, h = moved(poses[i, 0], poses[i, 1], poses[i, 2], arcs[i, 0], arcs[i, 1])
        poses[i + 1, 0], poses[i + 1, 1], poses[i + 1, 2] = x, y, h


@kernel
def _replace(arcs, n, i, j, fresh, count):
    """Put the first `count` arcs of `fresh` in the place of [i, j); returns the new number (-1: no room)."""
    grown = count - (j - i)
    if n + grown > arcs.shape[0]:
        return -1
    if grown > 0:
        for k in range(n - 1, j - 1, -1):
            arcs[k + grown, 0], arcs[k + grown, 1] = arcs[k, 0], arcs[k, 1]
    elif grown < 0:
        for k in range(j, n):
            arcs[k + grown, 0], arcs[k + grown, 1] = arcs[k, 0], arcs[k, 1]
    for k in range(count):
        arcs[i + k, 0], arcs[i + k, 1] = fresh[k, 0], fresh[k, 1]
    return n + grown


@kernel
def _try(space, s, arcs, n, poses, i, j, fresh):
    """How many arcs join pose i with pose j, in `fresh`; -1 unless that is free, and cheaper than what is there."""
    before = arcs[i - 1, 1] if i > 0 else 0.0
    old = cost(s, arcs, i, min(j + 1, n), before)
    # far apart poses are no candidates when even the straight line is not shorter
    if math.hypot(poses[j, 0] - poses[i, 0], poses[j, 1] - poses[i, 1]) >= old:
        return -1
    if not reaches_directly(space, s, poses[i, 0], poses[i, 1], poses[i, 2], poses[j]):
        return -1
    w, count = s.word, 0
    for k in range(w.n):
        length = w.length[k] * s.radius
        # a piece that is nothing but rounding would count as a change of direction, and be replaced again and again
        if abs(length) > DUST_M:
            fresh[count, 0], fresh[count, 1] = w.turn[k] / s.radius, length
            count += 1
    last = before if count == 0 else fresh[count - 1, 1]
    new = cost(s, fresh, 0, count, before) + (cost(s, arcs, j, j + 1, last) if j < n else 0.0)
    return count if new < old - 1e-6 else -1


@kernel
def shorten(space, room, start, arcs, n, spare, poses, fresh):
    """Shorten the n arcs in place, first over long parts, then over shorter ones; returns the new number."""
    s = room.state[0]
    m = chopped(arcs, n, spare)
    if m < 0:
        return n
    _poses(start, spare, m, poses)
    span = m
    while span >= 2:
        i = 0
        while i + 1 < m:
            j = min(m, i + span)
            count = _try(space, s, spare, m, poses, i, j, fresh) if j - i >= 2 else -1
            if count >= 0:
                grown = _replace(spare, m, i, j, fresh, count)
                if grown > 0:
                    m = grown
                    _poses(start, spare, m, poses)
            i += max(1, span // 3)
        span = span // 2 if span > 6 else span - 2
    m = joined(spare, m)
    for i in range(m):
        arcs[i, 0], arcs[i, 1] = spare[i, 0], spare[i, 1]
    return m
