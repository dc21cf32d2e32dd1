"""Hybrid A*: a search over poses connected by drivable arcs, until a Reeds-Shepp path reaches the goal.

    f = g + greed · max(Reeds-Shepp without obstacles, path around obstacles without turning)

Poses are grouped by cell and heading, coarsely first and finer if that finds no path; of each group only the cheapest
pose is expanded (Dolgov et al. 2008). Arcs are longer where there is room. Two searches take turns, one from the start
and one from the goal, because it is easier to find a path out of a narrow place than into it. Each tries Reeds-Shepp
paths to the start of the other and to its foremost pose, so the path ends exactly at the goal.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pliant.kernel import kernel, put
from pliant.mobile.base.arc import moved
from pliant.mobile.planning import wave as waves
from pliant.mobile.planning.free_space import Space, arc_free, distance_at
from pliant.mobile.planning.reeds_shepp import WORD, between
from pliant.mobile.velocity.estimate import wrapped
from pliant.records import Field, Layout

STEERS = 5
LONG_M = 1.2
# Reeds-Shepp distances matter near the goal; farther away, the way around obstacles is as good an estimate.
NEAR_RADII = 12.0
# Of so many poses one tries a Reeds-Shepp path: to a goal that is far, and to the foremost pose of the other search.
FAR_SHOTS, MEETINGS = 10, 5

NODE = Layout(
    "Node",
    (
        Field("x", "m", "pose"),
        Field("y", "m", "pose"),
        Field("heading", "rad", "pose"),
        Field("g", "m", "cost so far"),
        Field("h", "m", "lower bound of the cost to go"),
        Field("curvature", "1/m", "arc that led here"),
        Field("length", "m", "its signed length"),
        Field("parent", "", "its predecessor (-1: the start)", kind="i8"),
        Field("sure", "", "1: the cost to go includes turning", kind="i8"),
    ),
)

SEARCH = Layout(
    "Search",
    (
        Field("query", "", "number of the search: older marks in the cells do not count", kind="i8"),
        Field("nodes", "", "poses so far", kind="i8"),
        Field("open", "", "poses in the heap", kind="i8"),
        Field("expanded", "", "expanded poses", kind="i8"),
        Field("found", "", "pose from which the goal or the other search was reached, or -1", kind="i8"),
        Field("met", "", "pose of the other search that was reached, or -1 for the goal itself", kind="i8"),
        Field("ahead", "", "pose nearest to the goal, by the cost to go", kind="i8"),
        Field("tried", "", "last tried pose of the other search", kind="i8"),
        Field("cell", "m", "cell size for grouping poses"),
        Field("headings", "", "number of distinct headings", kind="i8"),
        Field("short", "m", "length of the arcs where there is little room"),
        Field("radius", "m", "smallest radius"),
        Field("forward", "", "cost of a metre forward"),
        Field("reverse", "", "cost of a metre in reverse"),
        Field("cusp", "m", "cost of a change of direction"),
        Field("turn", "", "cost of a metre on the tightest arc"),
        Field("narrow", "", "cost of a metre where the base cannot turn on the spot"),
        Field("greed", "", "weight of the cost to go"),
        Field("goal", "m, m, rad", "goal pose", (3,)),
        Field("word", "", "the last Reeds-Shepp path", kind=WORD),
    ),
)

DONE, MORE, EMPTY, FULL = 1, 2, 3, 4


class SearchMemory(NamedTuple):
    """Memory of a search, created once per map."""

    state: Any
    nodes: Any
    heap_f: Any
    heap_node: Any
    mark: Any
    """Query that last touched a cell, times two, plus one once it is closed."""
    best: Any
    """Lowest cost of reaching a cell."""


def search_memory(space: Space, expansions: int, cell_m: float, headings: int, short_m: float) -> SearchMemory:
    """Memory for a search with this many expansions on a space. Untouched memory costs nothing."""
    rows, columns = (math.ceil(n * space.about[0].cell / cell_m) + 1 for n in space.distance.shape)
    state = SEARCH.new()
    state[0].cell, state[0].headings, state[0].short = cell_m, headings, short_m
    nodes = min(expansions * 4 * STEERS, 4_000_000) + 1
    return SearchMemory(
        state, np.empty(nodes, NODE.dtype), np.empty(nodes), np.empty(nodes, np.int32),
        np.zeros((rows, columns, headings), np.int32), np.empty((rows, columns, headings), np.float32),
    )  # fmt: skip


# ---- the heap ------------------------------------------------------------------------------------------------------


@kernel
def _push(room, f, node):
    s = room.state[0]
    i = s.open
    s.open += 1
    while i > 0:
        up = (i - 1) >> 1
        if room.heap_f[up] <= f:
            break
        room.heap_f[i], room.heap_node[i] = room.heap_f[up], room.heap_node[up]
        i = up
    room.heap_f[i], room.heap_node[i] = f, node


@kernel
def _pop(room):
    s = room.state[0]
    top = room.heap_node[0]
    s.open -= 1
    n = s.open
    f, node = room.heap_f[n], room.heap_node[n]
    i = 0
    while 2 * i + 1 < n:
        k = 2 * i + 1
        if k + 1 < n and room.heap_f[k + 1] < room.heap_f[k]:
            k += 1
        if room.heap_f[k] >= f:
            break
        room.heap_f[i], room.heap_node[i] = room.heap_f[k], room.heap_node[k]
        i = k
    room.heap_f[i], room.heap_node[i] = f, node
    return top


# ---- poses ---------------------------------------------------------------------------------------------------------


@kernel
def _key(space, s, x, y, heading):
    a = space.about[0]
    turn = math.floor(wrapped(heading) / (2.0 * math.pi) * s.headings + 0.5) % s.headings
    return math.floor((y - a.y) / s.cell), math.floor((x - a.x) / s.cell), turn


@kernel
def _put(space, wave, room, pose, g, arc, parent):
    """Remember a pose and the arc (curvature, length) to it, if nothing cheaper led into its cell; False: no room."""
    x, y, heading = pose
    s = room.state[0]
    j, i, k = _key(space, s, x, y, heading)
    seen = room.mark[j, i, k]
    if seen == 2 * s.query + 1 or (seen == 2 * s.query and room.best[j, i, k] <= g):
        return True
    h = waves.distance_to_goal(space, wave, x, y)
    if h == math.inf:
        return True
    if s.nodes >= room.nodes.shape[0]:
        return False
    room.mark[j, i, k], room.best[j, i, k] = 2 * s.query, g
    node = room.nodes[s.nodes]
    node.x, node.y, node.heading, node.g, node.h = x, y, heading, g, h
    node.curvature, node.length, node.parent, node.sure = arc[0], arc[1], parent, 0
    _push(room, g + s.greed * h, s.nodes)
    s.nodes += 1
    return True


@kernel
def reaches_directly(space, s, x, y, heading, goal):
    """Whether the Reeds-Shepp path from a pose to a goal is free; it is left in `s.word`."""
    w = s.word
    between((x, y, heading), goal, s.radius, w)
    for i in range(w.n):
        curvature, length = w.turn[i] / s.radius, w.length[i] * s.radius
        if not arc_free(space, x, y, heading, curvature, length):
            return False
        x, y, heading = moved(x, y, heading, curvature, length)
    return True


# ---- the search ----------------------------------------------------------------------------------------------------


@kernel
def begin(space, wave, room, start, goal):
    """Start a search."""
    s = room.state[0]
    s.query += 1
    s.nodes, s.open, s.expanded, s.found, s.met, s.ahead, s.tried = 0, 0, 0, -1, -1, 0, -1
    put(s.goal, goal)
    _put(space, wave, room, (start[0], start[1], start[2]), 0.0, (0.0, 0.0), -1)


@kernel
def expand_poses(space, wave, room, other, most):
    """Expand up to `most` poses; returns DONE, MORE (to do), EMPTY (no path exists) or FULL (no memory left)."""
    s = room.state[0]
    for _ in range(most):
        if s.open == 0:
            return EMPTY
        at = _pop(room)
        node = room.nodes[at]
        j, i, k = _key(space, s, node.x, node.y, node.heading)
        if room.mark[j, i, k] == 2 * s.query + 1:
            continue
        near = math.hypot(s.goal[0] - node.x, s.goal[1] - node.y) < NEAR_RADII * s.radius
        if node.sure == 0 and (near or s.expanded % FAR_SHOTS == 0):
            if reaches_directly(space, s, node.x, node.y, node.heading, s.goal):
                s.found = at
                return DONE
            if near and s.radius * s.word.total > node.h:
                # turning makes it farther than it seemed when it was put here: it has to wait
                node.sure, node.h = 1, s.radius * s.word.total
                _push(room, node.g + s.greed * node.h, at)
                continue
        room.mark[j, i, k] = 2 * s.query + 1
        s.expanded += 1
        if _meets(space, s, node, other):
            s.found = at
            return DONE
        if node.h < room.nodes[s.ahead].h:
            s.ahead = at
        if not _expand(space, wave, room, at):
            return FULL
    return MORE


@kernel
def _meets(space, s, node, other):
    """Whether a pose reaches the foremost one of the other search: tried when that is a new one, and now and then."""
    o = other.state[0]
    if o.expanded == 0 or (o.ahead == s.tried and s.expanded % MEETINGS != 0):
        return False
    s.tried = o.ahead
    aim = other.nodes[o.ahead]
    if not reaches_directly(space, s, node.x, node.y, node.heading, (aim.x, aim.y, aim.heading)):
        return False
    s.met = o.ahead
    return True


@kernel
def arc_cost(s, curvature, length):
    """The cost of an arc: its length, increased in reverse and in turns."""
    return abs(length) * (s.forward if length > 0.0 else s.reverse) * (1.0 + (s.turn - 1.0) * abs(curvature) * s.radius)


@kernel
def _expand(space, wave, room, at):
    """All arcs from a pose."""
    s, node = room.state[0], room.nodes[at]
    x, y, heading, g, before = node.x, node.y, node.heading, node.g, node.length
    spare = distance_at(space, x, y) - space.about[0].surely_free
    step = min(LONG_M, max(s.short, spare))
    for way in range(2):
        for steer in range(STEERS):
            bend = 0.5 * (steer - STEERS // 2)
            curvature = bend / s.radius
            length = step if way == 0 else -step
            px, py, ph = moved(x, y, heading, curvature, length)
            cost = arc_cost(s, curvature, length)
            j, i, k = _key(space, s, px, py, ph)
            if j < 0 or i < 0 or j >= room.mark.shape[0] or i >= room.mark.shape[1]:
                continue
            if before * length < 0.0:
                cost += s.cusp
            # most arcs end where a cheaper one has been: no need to see whether they are free
            seen = room.mark[j, i, k]
            if seen == 2 * s.query + 1 or (seen == 2 * s.query and room.best[j, i, k] <= g + cost):
                continue
            if not arc_free(space, x, y, heading, curvature, length):
                continue
            if distance_at(space, px, py) < space.about[0].roomy:
                cost += (s.narrow - 1.0) * step
            if not _put(space, wave, room, (px, py, ph), g + cost, (curvature, length), at):
                return False
    return True


@kernel
def _chain(room, at):
    """How many arcs lead to a pose."""
    n = 0
    while room.nodes[at].parent >= 0:
        n += 1
        at = room.nodes[at].parent
    return n


@kernel
def arcs_of(room, other, out):
    """Write the arcs from the start of `room` to that of `other` to `out` (n, 2); returns how many (-1: no room)."""
    s = room.state[0]
    n, w = _chain(room, s.found), s.word.n
    m = _chain(other, s.met) if s.met >= 0 else 0
    if n + w + m > out.shape[0]:
        return -1
    at = s.found
    for k in range(n - 1, -1, -1):
        out[k, 0], out[k, 1] = room.nodes[at].curvature, room.nodes[at].length
        at = room.nodes[at].parent
    for i in range(w):
        out[n + i, 0], out[n + i, 1] = s.word.turn[i] / s.radius, s.word.length[i] * s.radius
    at = s.met
    for k in range(m):  # the other way round: last arc first, driven backwards
        out[n + w + k, 0], out[n + w + k, 1] = other.nodes[at].curvature, -other.nodes[at].length
        at = other.nodes[at].parent
    return n + w + m


@kernel
def turned_round(arcs, n):
    """Reverse the arcs in place."""
    for i in range((n + 1) // 2):
        k = n - 1 - i
        a, b, c, d = arcs[i, 0], arcs[i, 1], arcs[k, 0], arcs[k, 1]
        arcs[i, 0], arcs[i, 1], arcs[k, 0], arcs[k, 1] = c, -d, a, -b
