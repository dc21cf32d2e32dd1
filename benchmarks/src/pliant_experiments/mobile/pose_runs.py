"""A base that follows sampled poses, 10 or 50 per second, with noise; compared with the five-point formula.

weaving      0.4 m/s along x, 0.3 m to both sides in 8 s: forwards, and turning all the time
to and fro   0.4 m and back in 4 s: with standstill, half of it backwards
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.analysis.targets import Figure, at_least, at_most, reported
from pliant.mobile.base.kinematic_base import KinematicBase
from pliant.mobile.following.drive_limits import DRIVING
from pliant.mobile.following.stamped_poses import NO_REFERENCE, PoseTracker
from pliant.mobile.velocity.estimate import ESTIMATE, VALID
from pliant_experiments.mobile.follow_runs import PERIOD_S
from pliant_experiments.rivals.rival_velocity import mean_step_velocity

Array = np.ndarray[Any, Any]

SECONDS, SETTLED_S, NOISE, RATES_HZ = 24.0, 3.0, 0.001, (10, 50)
TARGETS_MM = {10: 15.0, 50: 10.0}
"""Targets for the RMS distance from the reference; samples have 1 mm of noise, odometry 2 mm."""
STOPPED_S = 1.5


def weaving(t: float) -> Array:
    rate = math.tau / 8.0
    return np.array((0.4 * t, 0.3 * math.sin(rate * t), math.atan2(0.3 * rate * math.cos(rate * t), 0.4)))


def to_and_fro(t: float) -> Array:
    return np.array((0.2 * (1.0 - math.cos(math.tau / 4.0 * t)), 0.0, 0.0))


def sideways(t: float) -> Array:
    """Straight ahead with the heading rotated by 30° from the motion, which a differential drive cannot do."""
    return np.array((0.3 * t, 0.0, math.pi / 6))


MOTIONS = {"weaving": weaving, "to and fro": to_and_fro}


class FivePoint:
    """The five-point formula as the estimator: no acceleration, and sideways speed is dropped."""

    def __init__(self) -> None:
        self._stamps, self._poses = list[float](), list[Any]()

    def update(self, stamp_s: float, pose: Any) -> Any:
        self._stamps, self._poses = [*self._stamps, stamp_s][-5:], [*self._poses, np.array(pose, float)][-5:]
        estimate = ESTIMATE.new()[0]
        estimate.stamp_s, estimate.status = stamp_s, VALID
        estimate.pose[:], estimate.sigma[:] = pose, math.inf
        estimate.velocity[:] = mean_step_velocity(np.array(self._stamps), np.array(self._poses))[-1]
        return estimate


@dataclass(frozen=True)
class Tracked:
    """Distance from the reference [m], commands (v, ω) and state of the tracker, in every period."""

    off_m: Array
    command: Array
    state: Array
    lateral_m_s: Array

    @property
    def rms_mm(self) -> float:
        """RMS distance after the initial transient [mm]."""
        return 1e3 * float(np.sqrt(np.mean(self.off_m[round(SETTLED_S / PERIOD_S) :] ** 2)))


def tracked(
    motion: Callable[[float], Array], rate_hz: int, seed: int, tracker: PoseTracker, *, fed_back: bool = True,
    lost_s: float = math.inf,
) -> Tracked:  # fmt: skip
    """Follow a motion; without feedback only the estimated (v, ω) is commanded. After `lost_s` no poses arrive."""
    random, base = np.random.default_rng([11, seed]), KinematicBase(motion(0.0), seed=seed)
    every, rows, estimate = round(1.0 / (rate_hz * PERIOD_S)), [], ESTIMATE.new()[0]
    for k in range(round(SECONDS / PERIOD_S)):
        now_s = k * PERIOD_S
        if k % every == 0 and now_s < lost_s:
            estimate = tracker.reference(now_s, motion(now_s) + NOISE * random.normal(size=3))
        pose, v, omega, age_s = base.odometry()
        said = tracker.update(now_s, pose, v, omega, age_s=age_s, dt=PERIOD_S)
        c, s = math.cos(estimate.pose[2]), math.sin(estimate.pose[2])
        bare = c * estimate.velocity[0] + s * estimate.velocity[1], estimate.velocity[2]
        base.command(*((said.v, said.omega) if fed_back else bare))
        off = math.dist(base.pose[:2], motion(now_s)[:2])
        rows.append((off, said.v, said.omega, said.state, said.lateral_m_s))
        base.advance(PERIOD_S)
    table = np.array(rows)
    return Tracked(table[:, 0], table[:, 1:3], table[:, 3], table[:, 4])


def pose_figures(seed: int) -> tuple[list[Figure], list[Tracked]]:
    """The table, a sideways and a lost reference, and the runs whose commands must stay within limits."""
    figures, runs = list[Figure](), list[Tracked]()
    for name, motion in MOTIONS.items():
        for rate in RATES_HZ:
            ours = tracked(motion, rate, seed, PoseTracker())
            five = tracked(motion, rate, seed, PoseTracker(velocity=FivePoint()))
            open_loop = tracked(motion, rate, seed, PoseTracker(velocity=FivePoint()), fed_back=False)
            case = f"sampled poses, {name}, {rate} Hz"
            figures += [
                at_most(f"{case}: RMS distance", ours.rms_mm, "mm", TARGETS_MM[rate]),
                at_least(
                    f"{case}: five-point formula in the law, relative distance", five.rms_mm / ours.rms_mm, "", 1.5
                ),
                reported(f"{case}: five-point formula alone, RMS distance", open_loop.rms_mm, "mm"),
            ]
            runs += [ours, five]
    aside = tracked(sideways, 50, seed, PoseTracker())
    lost = tracked(weaving, 50, seed, PoseTracker(), lost_s=10.0)
    stands = np.flatnonzero((lost.state == NO_REFERENCE) & ~lost.command.any(axis=1))
    figures += [
        at_most("sampled poses, heading rotated by 30°: RMS distance", aside.rms_mm, "mm", 20.0),
        reported("sampled poses, the same: reported sideways speed", 1e3 * float(np.median(aside.lateral_m_s)), "mm/s"),
        at_most("sampled poses that stop arriving: command zero after",
                stands[0] * PERIOD_S - 10.0 if len(stands) else math.nan, "s", STOPPED_S),
        at_least("sampled poses: periods in state driving",
                 100.0 * float(np.mean([r.state == DRIVING for r in runs[::2]])), "%", 100.0),
    ]  # fmt: skip
    return figures, [*runs, aside, lost]
