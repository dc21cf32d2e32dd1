"""Where to stand for a pose of the tool: places that the arm reaches it from; the one that is cheapest to drive to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import RefusedError
from pliant.mobile.body import Body
from pliant.mobile.planner import HybridAStar, NoWayError, Plan
from pliant.mobile.pose_ik import PoseSearch, PoseSolution
from pliant.params.mission import Travel

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stand:
    """A place to stand: base and joints with the tool at its goal, and the way there."""

    q: Array
    """x [m], y [m], heading [rad], joints [rad]."""
    plan: Plan
    tried: int
    """How many places there were to choose from."""


class Stands:
    """Finds the place for one goal of the tool; `speaks_against` may refuse one in words, as after a rehearsal."""

    def __init__(
        self,
        body: Body,
        goal: Array,
        settings: Travel | None = None,
        speaks_against: Callable[[Array], str] = lambda q: "",
    ) -> None:
        self.goal, self._speaks_against, p = goal, speaks_against, settings or Travel()
        search = PoseSearch(body, starts=2 * p.candidates + 1)
        found = search.candidates(goal, p.candidates)
        self.places = [place for place in found if np.abs(place.arm - search.posture).max() <= p.stray_rad]
        if not self.places:
            x, y, z = (float(value) for value in goal[:3])
            raise RefusedError(
                f"goal ({x:g} m, {y:g} m, {z:g} m) cannot be reached: there is no place for the base from which the "
                f"arm brings its tool there with its joints within {p.stray_rad:g} rad of its home pose.",
                field="goal", value=(x, y, z),
            )  # fmt: skip

    def nearest(self, planner: HybridAStar, start: Any) -> Stand:
        """The place with the cheapest way from `start` (x [m], y [m], heading [rad]), of those that will do."""
        planner.check(start, start)
        free = [place for place in self.places if planner.free(place.base)]
        if not free:
            raise RefusedError(
                f"goal cannot be reached: at all {len(self.places)} places from which the arm reaches it, the base "
                "would touch an obstacle.",
                field="goal", value=tuple(self.goal[:3].tolist()),
            )  # fmt: skip
        ways = sorted(self._ways(planner, start, free), key=lambda pair: pair[1].cost_m)
        if not ways:
            raise NoWayError(f"There is no way to any of the {len(free)} places from which the arm reaches the goal.")
        why = ""
        for place, plan in ways:
            why = self._speaks_against(place.q)
            if not why:
                return Stand(place.q, plan, len(ways))
        raise NoWayError(f"None of the {len(ways)} places from which the arm reaches the goal will do: {why}.")

    def _ways(self, planner: HybridAStar, start: Any, places: list[PoseSolution]) -> list[tuple[PoseSolution, Plan]]:
        ways = []
        for place in places:
            try:
                ways.append((place, planner.plan(start, place.base)))
            except NoWayError:
                continue
        return ways
