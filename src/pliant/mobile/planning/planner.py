"""Path planning in a map: create a planner once for a map and a base, and query it as often as needed.

planner = HybridAStar(grid, Planner(radius_m=0.5))
plan = planner.plan((1, 2, 0), (8, 9, 1.57))
plan.path.samples()
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import PliantError, RejectedError
from pliant.mobile.base.base_params import Planner
from pliant.mobile.planning import hybrid_a_star, lattice, shortcut, wave
from pliant.mobile.planning.base_path import Path
from pliant.mobile.planning.free_space import Space, free_at, prepared
from pliant.mobile.planning.grid import OccupancyGrid

Pose = Sequence[float] | np.ndarray[Any, Any]
"""x [m], y [m] and heading [rad]."""
Poses = tuple[Any, Any]
Rooms = tuple[hybrid_a_star.SearchMemory, hybrid_a_star.SearchMemory]
MOST_ARCS = 4096
SIZES = ((0.4, 18, 0.6), (0.2, 36, 0.3), (0.12, 48, 0.15), (0.06, 96, 0.08))
"""Cells [m], headings and shortest arcs [m] of the first search, and of those that follow if it finds no path.

The last is for a base between obstacles that must get out by many short moves.
"""
CHUNK, MORE_TURNS = 50, 4
"""Poses that one search expands before the other continues; the factor if it needs them more."""
OUT = 2000
"""Poses after which a search is assumed to have left a narrow place."""
HARD = 2000
"""Poses after which a query counts as hard: then a rough course is computed, and the searches follow it."""
MOST_HEADING = 1e6
"""Above this a heading has too few digits left."""
BESIDE_M = 0.8
"""Width of the corridor around the course."""


KNOWN = "the planner's unknown=free allows them"
"""Hint for poses that are blocked only by unknown cells."""


class NoPathError(PliantError):
    """No path exists, or none was found within the limits."""


class TimeOverError(NoPathError):
    """No path was found within the time limit; one may exist."""


@dataclass(frozen=True)
class Plan:
    """A path from start to goal, and the effort to find it."""

    path: Path
    expanded: int
    cost_m: float
    """Its length plus the extra cost of reversing, turning and changing direction."""


class HybridAStar:
    """Plans paths for a footprint in a map."""

    def __init__(self, grid: OccupancyGrid, settings: Planner | None = None) -> None:
        self.grid, self.settings = grid, settings or Planner()
        p = self.settings
        self.space = prepared(grid, p.footprint, unknown_is_free=p.unknown == "free")
        """Where the footprint fits."""
        self._block = max(1, round(0.2 / grid.resolution_m))
        self.waves = tuple(wave.coarse(self.space, self._block, p.narrow_cost) for _ in range(2))
        """Coarse distances to the goal and to the start: the heuristics of the two searches."""
        self._rooms: dict[int, Rooms] = {}
        self._arcs, self._spare = np.zeros((MOST_ARCS, 2)), np.zeros((MOST_ARCS, 2))
        self._poses, self._fresh = np.zeros((MOST_ARCS + 1, 3)), np.zeros((8, 2))

    @cached_property
    def lattices(self) -> tuple[lattice.Lattice, lattice.Lattice]:
        """Needed for hard queries only, and created by the first (a tenth of a second on a map of 40 × 40 m)."""
        return lattice.lattices(self.space, self._block, self.settings)

    def memories(self, size: int) -> Rooms:
        """Memory of both searches of a size, created when needed; for the smallest cells it is large and not kept."""
        if size in self._rooms:
            return self._rooms[size]
        made = self._made(*SIZES[size], 0), self._made(*SIZES[size], 1)
        if size < len(SIZES) - 1:
            self._rooms[size] = made
        return made

    def _made(self, cell_m: float, headings: int, short_m: float, from_goal: int) -> hybrid_a_star.SearchMemory:
        p, room = (
            self.settings,
            hybrid_a_star.search_memory(self.space, self.settings.expansions, cell_m, headings, short_m),
        )
        s = room.state[0]
        s.radius, s.cusp, s.turn, s.greed, s.narrow = p.radius_m, p.cusp_cost_m, p.turn_cost, p.greed, p.narrow_cost
        # from the goal, everything is driven in the opposite direction
        s.forward, s.reverse = (p.reverse_cost, 1.0) if from_goal else (1.0, p.reverse_cost)
        return room

    def free(self, pose: Pose) -> bool:
        """Whether the base fits at this pose."""
        return bool(free_at(self.space, *map(float, _numbers("pose", pose))))

    def is_unknown(self, pose: Pose) -> bool:
        """Whether only unknown cells prevent the base from fitting at this pose."""
        return not self.free(pose) and bool(free_at(self._unknown_as_free, *map(float, pose)))

    @cached_property
    def _unknown_as_free(self) -> Space:
        """The map with its unknown cells free."""
        return prepared(self.grid, self.settings.footprint, unknown_is_free=True)

    def check(self, start: Pose, goal: Pose) -> None:
        """Raise if the base does not fit at a start or goal."""
        self._checked("start", start)
        self._checked("goal", goal)

    def plan(self, start: Pose, goal: Pose, go_on: Callable[[], bool] = lambda: True) -> Plan:
        """The path from start to goal (x [m], y [m], heading [rad]), ending exactly at the goal.

        `go_on` is called from time to time; if it returns False, the search ends with `NoPathError`.
        """
        a, b = self._checked("start", start), self._checked("goal", goal)
        memories, expanded = self._search((a, b), go_on)
        n = self._arcs_of(memories)
        room = memories[0]
        if self.settings.smooth:
            n = shortcut.shorten(self.space, room, a, self._arcs, n, self._spare, self._poses, self._fresh)
        cost = shortcut.cost(room.state[0], self._arcs, 0, n, 0.0)
        x, y, heading = map(float, a)
        return Plan(Path((x, y, heading), self._arcs[:n].copy()), expanded, float(cost))

    def _arcs_of(self, memories: Rooms) -> int:
        """Write the path that was found to `_arcs`, from start to goal; returns its number of arcs."""
        from_goal = bool(memories[0].state[0].found < 0)
        n = hybrid_a_star.arcs_of(memories[from_goal], memories[not from_goal], self._arcs)
        if n < 0:
            raise NoPathError(f"The path found has more than {MOST_ARCS} arcs.")
        if from_goal:
            hybrid_a_star.turned_round(self._arcs, n)
        return int(shortcut.joined(self._arcs, n))

    def _search(self, ends: Poses, go_on: Callable[[], bool]) -> tuple[Rooms, int]:
        """The pair of searches that found a path, and the number of poses expanded."""
        for waves in self.waves:
            waves.dues[:] = waves.price
        if not self._waves_reach(ends):
            raise NoPathError("No path exists from start to goal: the passage is closed or too narrow.")
        most, tried, hard, stuck = self.settings.expansions, 0, False, -1
        for memories in map(self.memories, range(len(SIZES))):
            said = hybrid_a_star.MORE
            while said == hybrid_a_star.MORE and tried < most:
                self._begin(memories, ends)
                said, stuck = self._expand_both(memories, (most if hard else min(HARD, most)) - tried, stuck, go_on)
                tried += _expanded(memories)
                if said == hybrid_a_star.DONE:
                    return memories, tried
                if said == hybrid_a_star.MORE and not hard:
                    hard = True
                    self._weight_by_course(ends)
        raise NoPathError(
            f"No path was found from start to goal after {tried} poses "
            f"(at most {most}). Raise the planner's expansions."
        )

    def _waves_reach(self, ends: Poses) -> bool:
        """Run both waves, from the goal to the start and from the start to the goal; returns whether both arrived."""
        for k, waves in enumerate(self.waves):
            wave.begin(self.space, waves, ends[1 - k][0], ends[1 - k][1])
            if not wave.reaches(self.space, waves, ends[k][0], ends[k][1]):
                return False
        return True

    def _weight_by_course(self, ends: Poses) -> None:
        """Compute a rough course, and make everything beside it more expensive."""
        there, back = self.lattices
        met = lattice.run_waves(self.space, there, back, ends[1], ends[0])
        if met < 0:
            return
        beside = np.ones(self.waves[0].steps.shape, bool)
        for part in (there, back):
            lattice.unmark(part, met, math.ceil(BESIDE_M / there.about[0].side), beside)
        for waves in self.waves:
            waves.dues[beside] *= wave.BESIDE
        self._waves_reach(ends)

    def _begin(self, memories: Rooms, ends: Poses) -> None:
        for k, room in enumerate(memories):
            hybrid_a_star.begin(self.space, self.waves[k], room, ends[k], ends[1 - k])

    def _expand_both(self, memories: Rooms, most: int, stuck: int, go_on: Callable[[], bool]) -> tuple[int, int]:
        """Expand at most this many poses; returns the result, and which search is exhausted, if one is. A search that
        was exhausted in wider cells (`stuck`) has to find a path out first, and gets more turns. Later, the search with
        fewer waiting poses gets them: if it is enclosed, it is exhausted sooner.
        """
        while (left := most - _expanded(memories)) > 0:
            for k, room in enumerate(memories):
                s, other = room.state[0], memories[1 - k]
                needs_more = k == stuck if s.expanded < OUT else s.open < other.state[0].open
                turns = MORE_TURNS if needs_more else 1
                said = int(hybrid_a_star.expand_poses(self.space, self.waves[k], room, other, min(turns * CHUNK, left)))
                if said != hybrid_a_star.MORE:
                    return said, k if said == hybrid_a_star.EMPTY else stuck
            if not go_on():
                raise TimeOverError("No path was found from start to goal within the time limit.")
        return hybrid_a_star.MORE, stuck

    def _checked(self, name: str, pose: Pose) -> Any:
        values = _numbers(name, pose)
        x, y, heading = map(float, values)
        if abs(heading) > MOST_HEADING:
            said = f"{name} has a heading of {heading:g} rad, but it must be within ±{MOST_HEADING:g} rad."
            raise RejectedError(said, field=name, value=pose)
        left, right, bottom, top = self.grid.extent
        where = f"{name} ({x:g} m, {y:g} m, {math.degrees(heading):g}°)"
        if not (left <= x <= right and bottom <= y <= top):
            said = f"{where} is not on the map, which extends from ({left:g}, {bottom:g}) to ({right:g}, {top:g}) m."
            raise RejectedError(said, field=name, value=pose)
        if not self.free(values):
            body = self.settings.footprint
            size = f"{body.front_m + body.rear_m:g} × {body.width_m:g} m plus a margin of {body.margin_m:g} m"
            unknown = self.is_unknown(values)
            why = f"would cover unknown cells of the map ({KNOWN})" if unknown else "would touch an obstacle"
            remedy = f"Move the {name.removeprefix('--')}, or reduce footprint.margin_m (--set footprint.margin_m=0)."
            raise RejectedError(f"{where} is not free: the base ({size}) {why}. {remedy}", field=name, value=pose)
        return values


def _numbers(name: str, pose: Pose) -> Any:
    """A pose as numbers; raises an error that names it."""
    try:
        values = np.array(pose, float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (3,) or not np.isfinite(values).all():
        told = values.tolist() if values.size else pose
        said = f"{name} is {told!r}, but it must be three finite numbers: x [m], y [m] and heading."
        raise RejectedError(said, field=name, value=pose)
    return values


def _expanded(memories: Rooms) -> int:
    return sum(int(room.state[0].expanded) for room in memories)
