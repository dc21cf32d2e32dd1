"""Inverse kinematics of base and arm for a tool pose: damped Gauss–Newton, with restarts.

    δ = -Jᵀ (J Jᵀ + µ I)⁻¹ e          µ = ½ |e|² + tiny

The damping decreases with the error (Sugihara, IEEE Trans. Robotics 27, 2011, doi 10.1109/TRO.2011.2148230), so steps
are small far away and converge quadratically near the end, and no step has to be undone. A joint that reaches its limit
stays there, and the others take over. The base pose is free (a base can drive anywhere) or given. Starts are spread
evenly by an additive recurrence instead of random numbers, so the result is reproducible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import InputError
from pliant.kernel import kernel
from pliant.mobile.whole_body.kinematic_body import BASE_JOINTS, Body
from pliant.model import kinematics
from pliant.records import MAX_JOINTS, Field, Layout
from pliant.solve import factor, solve
from pliant.spatial import pose_error

Array = np.ndarray[Any, Any]

ITERATIONS = 60
LONGEST = 0.5
"""Largest step of a joint [rad, m], within which a linearisation is valid."""
NEAR, FAR = 0.35, 0.85
"""Distance of the base from the tool in the starts [m]."""
SPREAD = 1.2
"""Distance of the joints from the posture in the starts [rad]."""

SCRATCH = Layout(
    "PoseIk",
    (
        Field("e", "m, rad", "pose error", (6,)),
        Field("A", "", "J Jᵀ + µ I, then its factor", (6, 6)),
        Field("y", "", "", (6,)),
        Field("step", "", "", (MAX_JOINTS,)),
        Field("free", "", "1: this joint may move on", (MAX_JOINTS,), "i8"),
    ),
)


@kernel
def _step(h, w, q):
    """One step of q towards the pose whose error is w.e, with the joints that are free."""
    energy = 0.0
    for i in range(6):
        energy += 0.5 * w.e[i] * w.e[i]
    for i in range(6):
        for j in range(i + 1):
            total = energy + 1e-10 if i == j else 0.0
            for k in range(h.n):
                if w.free[k] != 0:
                    total += h.J[i, k] * h.J[j, k]
            w.A[i, j] = total
    factor(w.A)
    solve(w.A, w.e, w.y)
    longest = 0.0
    for k in range(h.n):
        total = 0.0
        for i in range(6):
            total -= h.J[i, k] * w.y[i]
        w.step[k] = total if w.free[k] != 0 else 0.0
        longest = max(longest, abs(w.step[k]))
    if longest > LONGEST:
        w.step *= LONGEST / longest


@kernel
def _blocked(h, w, q):
    """Whether the step would take a joint beyond its limit: such joints are put there and are free no more."""
    met = False
    for k in range(h.n):
        beyond = q[k] + w.step[k]
        if w.free[k] != 0 and (beyond > h.q_max[k] or beyond < h.q_min[k]):
            q[k] = h.q_max[k] if beyond > h.q_max[k] else h.q_min[k]
            w.free[k] = 0
            met = True
    return met


@kernel
def descend(h, w, q, target, tolerance, first):
    """Improve q until the pose error is below `tolerance` [m, rad], with joints from `first` on. Returns the steps."""
    for count in range(ITERATIONS):
        kinematics.place(h, q)
        pose_error(h.X_tool, target, w.e)
        worst = 0.0
        for i in range(6):
            worst = max(worst, abs(w.e[i]))
        if not math.isfinite(w.e[0] + w.e[1] + w.e[2] + w.e[3] + w.e[4] + w.e[5]):
            return -1
        if worst < tolerance:
            return count
        kinematics.jacobian(h)
        for k in range(h.n):
            w.free[k] = 1 if k >= first else 0
        _step(h, w, q)
        for _ in range(h.n):
            if not _blocked(h, w, q):
                break
            _step(h, w, q)
        for k in range(h.n):
            q[k] += w.step[k]
    return -1


@kernel
def _spread(number, axis):
    """Entry `axis` of the evenly spread point `number`, 0 to 1: multiples of powers of the root of x¹⁰ = x + 1."""
    root = 1.0757660660868371
    value = 0.5 + number * root ** -(axis + 1.0)
    return value - math.floor(value)


@kernel
def _start(h, q, number, start, posture, target, first):
    """Start `number`: 0 is the given one; the others stand around the tool, their joints around the posture."""
    for k in range(h.n):
        q[k] = start[k]
    if number == 0:
        return
    for k in range(3, h.n):
        q[k] = posture[k - 3] + SPREAD * (2.0 * _spread(number, k) - 1.0)
        q[k] = min(max(q[k], h.q_min[k]), h.q_max[k])
    if first == 0:
        bearing = 2.0 * math.pi * _spread(number, 0)
        distance = NEAR + (FAR - NEAR) * _spread(number, 1)
        q[0] = target[0] - distance * math.cos(bearing)
        q[1] = target[1] - distance * math.sin(bearing)
        q[2] = bearing + 2.0 * _spread(number, 2) - 1.0


@kernel
def search(handle, work, q, start, posture, target, tolerance, first, trials):
    """Try the starts from `trials[0]` to before `trials[1]`; returns the one that reached the pose, or -1."""
    h, w = handle[0], work[0]
    for trial in range(trials[0], trials[1]):
        _start(h, q, trial, start, posture, target, first)
        if descend(h, w, q, target, tolerance, first) >= 0:
            return trial
    return -1


@dataclass(frozen=True)
class PoseSolution:
    """Base and arm with the tool at a pose, or as near as the last try got."""

    q: Array
    """x [m], y [m], heading [rad], joints [rad]."""
    solved: bool
    start: int
    """The start that succeeded; 0 is the given one."""
    error_m: float
    error_rad: float

    @property
    def base(self) -> tuple[float, float, float]:
        """Base pose: x [m], y [m], heading [rad] within ±π."""
        x, y, heading = (float(value) for value in self.q[:3])
        return x, y, math.remainder(heading, 2.0 * math.pi)

    @property
    def arm(self) -> Array:
        """Joint positions [rad]."""
        return self.q[BASE_JOINTS:]


class PoseSearch:
    """Finds base and arm positions for a tool pose."""

    def __init__(self, body: Body, posture: Any = None, *, tolerance: float = 1e-6, starts: int = 100) -> None:
        if not (math.isfinite(tolerance) and 1e-12 <= tolerance <= 0.1):
            raise InputError("tolerance", tolerance, "between 1e-12 and 0.1 m and rad")
        if starts < 1:
            raise InputError("starts", starts, "at least 1")
        self.body, self.tolerance, self.starts = body, tolerance, starts
        self.posture = body.posture("posture", body.q_home[BASE_JOINTS:] if posture is None else posture)
        """Preferred joint positions of the arm."""
        self._work = SCRATCH.new()

    def solve(self, target: Any, start: Any = None, *, fixed_base: bool = False) -> PoseSolution:
        """Solve for the tool at `target` (X_WT), from `start` if that converges; `fixed_base`: with the arm alone."""
        pose, begin = self._checked(target, start)
        return self._solve(pose, begin, BASE_JOINTS if fixed_base else 0, 0 if start is not None else 1)

    def candidates(self, target: Any, count: int = 8) -> list[PoseSolution]:
        """Up to `count` base poses for one tool pose, those with the best arm posture first.

        For a planner to choose from. They are at least 0.1 m or 20° apart.
        """
        pose, begin = self._checked(target, None)
        found: list[PoseSolution] = []
        number = 1
        while number < self.starts and len(found) < count:
            solution = self._solve(pose, begin, 0, number)
            if not solution.solved:
                break
            number = solution.start + 1
            if all(_apart(solution, other) for other in found):
                found.append(solution)
        return sorted(found, key=lambda s: float(np.abs(s.arm - self.posture).max()))

    def _solve(self, target: Array, start: Array, first: int, number: int) -> PoseSolution:
        handle, q = self.body.chain.handle, np.zeros(self.body.n)
        trials = (number, self.starts)
        won = search(handle, self._work, q, start, self.posture, target, self.tolerance, first, trials)
        e = self._work[0].e
        return PoseSolution(q, won >= 0, won, float(np.linalg.norm(e[:3])), float(np.linalg.norm(e[3:])))

    def _checked(self, target: Any, start: Any) -> tuple[Array, Array]:
        pose = np.array(target, float)
        if pose.shape != (7,) or not np.isfinite(pose).all() or abs(np.linalg.norm(pose[3:]) - 1.0) > 1e-3:
            raise InputError("target", target, "a pose: x, y, z and a unit quaternion w, x, y, z, all finite")
        pose[3:] /= np.linalg.norm(pose[3:])
        begin = self.body.q_home if start is None else self.body.joints("start", start)
        return pose, begin


def _apart(a: PoseSolution, b: PoseSolution) -> bool:
    far = math.hypot(a.q[0] - b.q[0], a.q[1] - b.q[1])
    return far > 0.1 or abs(math.remainder(a.q[2] - b.q[2], 2.0 * math.pi)) > math.radians(20.0)
