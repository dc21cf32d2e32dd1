"""Base poses from which the arm reaches a tool pose, and the one with the cheapest path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from pliant.errors import RejectedError
from pliant.mobile.mission.mission_params import Travel
from pliant.mobile.planning.base_path import reeds_shepp_path
from pliant.mobile.planning.planner import KNOWN, HybridAStar, NoPathError, Plan
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.pose_ik import PoseSearch, PoseSolution

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ReachPose:
    """A base pose to reach from: base and joints with the tool at its goal, and the path there."""

    q: Array
    """x [m], y [m], heading [rad], joints [rad]."""
    plan: Plan
    tried: int
    """Number of candidates."""


class ReachPoses:
    """Finds the base pose for one tool goal; `speaks_against` may reject one with a reason, as after a rehearsal."""

    def __init__(
        self,
        body: Body,
        goal: Array,
        settings: Travel | None = None,
        objection: Callable[[Array], str] = lambda q: "",
    ) -> None:
        self.goal, self._objection, p = goal, objection, settings or Travel()
        search = PoseSearch(body, starts=2 * p.candidates + 1)
        found = search.candidates(goal, p.candidates)
        self.places = [place for place in found if np.abs(place.arm - search.posture).max() <= p.stray_rad]
        if not self.places:
            x, y, z = (float(value) for value in goal[:3])
            raise RejectedError(
                f"goal ({x:g} m, {y:g} m, {z:g} m) cannot be reached. No base pose was found from which the "
                f"arm reaches it with every joint within {p.stray_rad:g} rad of the home pose (travel.stray_rad).",
                field="goal", value=(x, y, z),
            )  # fmt: skip

    def nearest(self, planner: HybridAStar, start: Any, go_on: Callable[[], bool] = lambda: True) -> ReachPose:
        """The suitable base pose with the cheapest path from `start` (x [m], y [m], heading [rad]).

        If `go_on` returns False, the best one found so far is used, or `NoPathError` is raised.
        """
        planner.check(start, start)
        free = self._free(planner)
        # no path is cheaper than the shortest one without obstacles: paths that cannot be the cheapest are not searched
        radius = planner.settings.radius_m
        queue = [(reeds_shepp_path(start, place.base, radius).length_m, k) for k, place in enumerate(free)]
        heapify(queue)
        plans, ways, why = dict[int, Plan](), 0, ""
        while queue:
            _, k = heappop(queue)
            if k in plans:
                ways += 1
                if not (why := self._objection(free[k].q)):
                    return ReachPose(free[k].q, plans[k], len(free))
            elif go_on() and (plan := _way(planner, start, free[k], go_on)) is not None:
                plans[k] = plan
                heappush(queue, (plan.cost_m, k))
        if ways:
            raise NoPathError(f"None of the {ways} base poses from which the arm reaches the goal is suitable: {why}.")
        which = f"any of the {len(free)} base poses from which the arm reaches the goal"
        raise NoPathError(
            f"No path exists to {which}."
            if go_on()
            else f"No path was found to {which} within the time limit (travel.search_s)."
        )

    def _free(self, planner: HybridAStar) -> list[PoseSolution]:
        """The candidates at which the base is free of obstacles; raises with the reason if there are none."""
        left, right, bottom, top = planner.grid.extent
        inside = [p for p in self.places if left <= p.base[0] <= right and bottom <= p.base[1] <= top]
        free = [place for place in inside if planner.free(place.base)]
        if free:
            return free
        places = f"all {len(self.places)} base poses from which the arm reaches it"
        if not inside:
            why = f"{places} are off the map, which extends from ({left:g}, {bottom:g}) to ({right:g}, {top:g}) m"
        elif any(planner.is_unknown(place.base) for place in inside):
            why = f"at {places}, the base would touch an obstacle or cover unknown cells of the map ({KNOWN})"
        else:
            why = f"at {places}, the base would touch an obstacle"
        raise RejectedError(f"goal cannot be reached: {why}.", field="goal", value=tuple(self.goal[:3].tolist()))


def _way(planner: HybridAStar, start: Any, place: PoseSolution, go_on: Callable[[], bool]) -> Plan | None:
    try:
        return planner.plan(start, place.base, go_on)
    except NoPathError:
        return None
