"""For comparison with the planner: OMPL's Reeds-Shepp lengths and RRTConnect, and the same search uncompiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from pliant.mobile.planning.planner import HybridAStar
from pliant_experiments.scenes.plan_maps import MAPS, queries

Array = np.ndarray[Any, Any]


def ompl_is_there() -> bool:
    """Whether OMPL is installed."""
    try:
        from ompl import base, geometric  # pyright: ignore[reportMissingImports]  # noqa: F401
    except ImportError:
        return False
    return True


def pairs(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Random pairs of poses, (n, 3) each; a quarter so close that only words of many segments connect them."""
    random = np.random.default_rng(seed)
    a, b = (np.column_stack([random.uniform(-5, 5, (n, 2)), random.uniform(-np.pi, np.pi, n)]) for _ in "ab")
    near = n // 4
    b[:near, :2] = a[:near, :2] + random.uniform(-1, 1, (near, 2))
    return a, b


def ompl_lengths(a: Array, b: Array, radius_m: float) -> Array:
    """Lengths [m] of OMPL's Reeds-Shepp paths between poses (n, 3)."""
    from ompl import base  # pyright: ignore[reportMissingImports]

    space = base.ReedsSheppStateSpace(radius_m)
    one: Any = space.allocState()
    two: Any = space.allocState()
    lengths = np.zeros(len(a))
    for i in range(len(a)):
        for state, pose in ((one, a[i]), (two, b[i])):
            state.setXY(float(pose[0]), float(pose[1]))
            state.setYaw(float(pose[2]))
        lengths[i] = space.distance(one, two)
    return lengths


def ompl_solves(planner: HybridAStar, start: Array, goal: Array, seconds: float) -> bool:
    """Whether RRTConnect finds a path of Reeds-Shepp segments within this CPU time [s]."""
    from ompl import base, geometric, util  # pyright: ignore[reportMissingImports]

    util.setLogLevel(util.LogLevel.LOG_NONE)
    space = base.ReedsSheppStateSpace(planner.settings.radius_m)
    bounds, (left, right, bottom, top) = base.RealVectorBounds(2), planner.grid.extent
    for axis, (low, high) in enumerate(((left, right), (bottom, top))):
        bounds.setLow(axis, low)
        bounds.setHigh(axis, high)
    space.setBounds(bounds)
    setup = geometric.SimpleSetup(space)

    def free(state: Any) -> bool:  # the state of this space, which OMPL's annotations do not tell
        return planner.free((state.getX(), state.getY(), state.getYaw()))

    setup.setStateValidityChecker(free)
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(planner.settings.footprint.step_m / space.getMaximumExtent())
    ends = []
    for pose in (start, goal):
        state: Any = space.allocState()
        state.setXY(float(pose[0]), float(pose[1]))
        state.setYaw(float(np.remainder(pose[2] + np.pi, 2 * np.pi) - np.pi))
        ends.append(state)
    setup.setStartAndGoalStates(*ends)
    setup.setPlanner(geometric.RRTConnect(information))
    end = time.thread_time() + seconds
    setup.solve(base.PlannerTerminationCondition(lambda: time.thread_time() > end))
    return bool(setup.haveExactSolutionPath())


def one_query(name: str, seed: int, number: int, repeat: int) -> dict[str, Any]:
    """The shortest of `repeat` CPU times [s] for one query, and its result."""
    planner = HybridAStar(MAPS[name](seed))
    start, goal = queries(planner, seed, number + 1, roomy=True)[number]
    taken = []
    for _ in range(repeat):
        began = time.thread_time()
        plan = planner.plan(start, goal)
        taken.append(time.thread_time() - began)
    return {"seconds": min(taken), "expanded": plan.expanded, "arcs": plan.path.arcs.tolist()}  # pyright: ignore[reportPossiblyUnboundVariable]


def uncompiled(name: str, seed: int, number: int) -> dict[str, Any]:
    """The same in a separate process without compilation."""
    code = f"""
import json
from pliant_experiments.rivals.rival_planner import one_query
print(json.dumps(one_query({name!r}, {seed}, {number}, 1)))
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
