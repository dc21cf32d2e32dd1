"""An arm guided through its singularities stays within its limits, does not jump, and returns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Admittance, Limits, Parameters, diagonal
from pliant.kernel import kernel
from pliant.model.arm import Arm
from pliant.model.inverse import SCRATCH, damped_inverse, smallest_singular_value
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Event, Task
from pliant.world.world_config import Push, SimConfig
from pliant_experiments.rivals.explicit_law import (
    Choices,
    ExplicitLaw,
    Trace,
    by_least_squares,
    least_squares,
    run_in_simulator,
)
from pliant_experiments.scenes.probe_tool import TOOL

Array = np.ndarray[Any, Any]

LIMITS = Limits()
DT, FORCE, STIFFNESS = 0.002, 30.0, 200.0
OUT_S, BACK_S, END_S = 0.5, 3.5, 9.0
# Largest joint speed from the inverse before the limits [rad/s]: slightly more than the limits allow.
MOST = 2.0
# Least squares drop singular values below this [m/rad], and are undamped above it.
EPS = 1e-5


@dataclass(frozen=True)
class Way:
    """A start pose, and the direction [m] that leads from there into a singularity."""

    name: str
    what: str
    start_q: tuple[float, ...]
    out_m: tuple[float, float, float]


PI = math.pi
WAYS = (
    Way("elbow", "Elbow stretched out", (PI, -1.2, 1.2, -PI / 2, -PI / 2, 0.0), (0.35, 0.0, 0.0)),
    Way("wrist", "Wrist aligned", (PI, -PI / 2, PI / 2, 0.3, 0.35, 0.0), (0.0, -0.3, 0.0)),
    Way("shoulder", "Over the shoulder", (PI, -2.2, 2.2, -PI / 2, -PI / 2, 0.0), (-0.4, 0.0, 0.0)),
)


def _run(way: Way, seed: int, *, by_force: bool) -> Array:
    """Out and back: led by a spring to a goal, or pushed and pulled without one."""
    towards = np.array(way.out_m) / np.linalg.norm(way.out_m) * FORCE
    pushes, events = (), ()
    if by_force:
        wrench = [(*(sign * towards).tolist(), 0.0, 0.0, 0.0) for sign in (1.0, -1.0)]
        pushes = (
            Push.model_validate({"at_s": OUT_S, "for_s": 2.0, "wrench": wrench[0]}),
            Push.model_validate({"at_s": BACK_S, "for_s": 2.0, "wrench": wrench[1]}),
        )
    else:
        events = (Event(at_s=OUT_S, goal_offset_m=way.out_m), Event(at_s=BACK_S, goal_offset_m=(0.0, 0.0, 0.0)))
    task = Task(
        law="admittance", tool=TOOL, start_q=way.start_q, duration_s=END_S, events=events,
        params=Parameters(admittance=Admittance(stiffness=diagonal(0.0 if by_force else STIFFNESS, 20.0))),
        sim=SimConfig(seed=seed, pushes=pushes),
    )  # fmt: skip
    return simulate(task).records


def _asked(records: Array) -> Array:
    """Largest joint speed of each tick from the damped inverse, before the limits."""
    return np.maximum(records["observed"]["asked"][:, 0], np.abs(records["state"]["qd_cmd"]).max(axis=1))


def _undamped(way: Way, seed: int) -> Trace:
    """The explicit law with plain least squares, guided out and back through the same singularity."""
    gains = Admittance(stiffness=diagonal(STIFFNESS, 20.0))
    law = ExplicitLaw(np.array(gains.mass), np.array(gains.stiffness), gains.damping_ratio[0], DT, Choices())

    def lead(sign: float) -> Callable[[ExplicitLaw], None]:
        def shift(law: ExplicitLaw) -> None:
            law.anchor[:3] += sign * np.array(way.out_m)

        return shift

    changes = {round(OUT_S / DT): lead(1.0), round(BACK_S / DT): lead(-1.0)}
    return run_in_simulator(
        law, SimConfig(seed=seed), TOOL, END_S, start_q=way.start_q, changes=changes, to_joints=by_least_squares(EPS)
    )


def _figures(way: Way, led: Array, forced: Array, undamped: Trace) -> list[Figure]:
    """Figures of one singularity."""
    out = np.array(way.out_m) / np.linalg.norm(way.out_m)
    smallest = min(np.nanmin(records["observed"]["singular_value"]) for records in (led, forced))
    left = np.linalg.norm(led["observed"]["pose"][-1, :3] - led["observed"]["pose"][0, :3])
    along = (forced["state"]["pose"][:, :3] - forced["state"]["pose"][0, :3]) @ out
    pulled = int(BACK_S / DT)
    return [
        reported(f"{way.name}: smallest singular value", smallest, "m/rad"),
        at_most(f"{way.name}: joint speed before the limits",
                max(_asked(led).max(), _asked(forced).max()), "rad/s", MOST),
        reported(f"{way.name}: the same, undamped, guided by a goal", undamped.joint_speeds().max(), "rad/s"),
        at_most(f"{way.name}, guided out and back: remaining distance", left * 1e3, "mm", 1.0),
        at_least(f"{way.name}, pushed, then pulled 2 s: motion back", (along[pulled] - along[-1]) * 1e3, "mm", 50.0),
    ]  # fmt: skip


def _promises(arm: Arm, runs: list[Array]) -> list[Figure]:
    """Targets for all singularities."""
    speed = change = 0.0
    for records in runs:
        qd = records["state"]["qd_cmd"][:, : arm.n]
        speed = max(speed, (np.abs(qd) / (LIMITS.speed_scale * arm.v_max)).max())
        change = max(change, (np.abs(np.diff(qd, axis=0)) / (LIMITS.acceleration_scale * arm.a_max * DT)).max())
    return [
        at_most("values that are not finite", sum(_not_finite(records) for records in runs), "", 0),
        at_most("joint speed relative to its limit", speed, "×", 1 + 1e-9),
        at_most("joint acceleration relative to its limit", change, "×", 1 + 1e-9),
    ]


def _not_finite(records: Array) -> int:
    fields = [records["state"][name] for name in ("q_cmd", "qd_cmd", "pose", "twist")]
    return int(sum((~np.isfinite(field)).sum() for field in fields))


# ---- a single figure -----------------------------------------------------------------------------------------------


@kernel
def _ours(J, n, V, threshold, damping, weakest, scratch, qd):
    sigma = 0.0
    for _ in range(20):
        sigma = smallest_singular_value(J, n, weakest, scratch[0])
    damped_inverse(J, n, V, sigma, threshold, damping, scratch[0], qd)
    return sigma


def _compare(arm: Arm) -> list[Figure]:
    """A tool velocity of 0.1 m/s along the weakest direction where the smallest singular value is 0.001."""
    q, low, high = np.array(WAYS[0].start_q), 0.0, 1.0
    for _ in range(60):
        q[2] = (low + high) / 2
        near = np.linalg.svd(arm.jacobian(q), compute_uv=False)[-1] < 1e-3
        low, high = (q[2], high) if near else (low, q[2])
    J = np.ascontiguousarray(arm.jacobian(q))
    V, qd = 0.1 * np.linalg.svd(J)[0][:, -1], np.zeros(arm.n)
    sigma = _ours(J, arm.n, V, LIMITS.singular_threshold, LIMITS.singular_damping, np.zeros(6), SCRATCH.new(), qd)
    return [
        within("elbow: estimated smallest singular value", sigma, "", 1e-3, 1e-6),
        at_most("0.1 m/s at this pose: joint speed", np.linalg.norm(qd), "rad/s", 2.0),
        reported(
            f"the same with undamped least squares, cut-off {EPS:g}", np.linalg.norm(least_squares(J, V, EPS)), "rad/s"
        ),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """Elbow, wrist and shoulder: out and back, guided by a goal and by force."""
    began = time.perf_counter()
    arm = Arm.load("ur5e", TOOL)
    figures, runs, drawn = _compare(arm), [], []
    for i, way in enumerate(WAYS):
        led, forced = _run(way, seed, by_force=False), _run(way, seed, by_force=True)
        undamped = _undamped(way, seed)
        figures += _figures(way, led, forced, undamped)
        runs += [led, forced]
        drawn.append((way, led, undamped))
        progress((i + 1) / len(WAYS))
    figures += _promises(arm, runs)
    return Outcome("singularity", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(drawn, path))


def _draw(runs: list[tuple[Way, Array, Trace]], path: Path) -> None:
    with style.applied() as theme:
        subtitle = "a spring guides the tool to a goal and back; sim:ur5e, 500 Hz; dashed red: explicit law, undamped"
        fig, axes = style.figure(3, 3, "Three singularities", subtitle, panel_inches=(4.4, 2.4))
        for row, (way, records, undamped) in zip(axes, runs, strict=True):
            t, out = records["time_s"], np.array(way.out_m) / np.linalg.norm(way.out_m)
            start = records["state"]["pose"][0, :3]
            row[0].plot(t, (records["goal"]["pose"][:, :3] - start) @ out * 1e3, color=theme.faint, label="goal")
            row[0].plot(t, (records["state"]["pose"][:, :3] - start) @ out * 1e3, color=theme.lines[0], label="tool")
            row[1].plot(t, records["observed"]["singular_value"], color=theme.lines[3])
            row[1].axhline(LIMITS.singular_threshold, color=theme.faint, lw=1, label="threshold")
            rival = undamped.joint_speeds()
            row[2].semilogy(undamped.time_s, np.maximum(rival, 1e-3), "--", color=theme.alarm, lw=0.9, label="undamped")
            row[2].semilogy(t, np.maximum(_asked(records), 1e-3), color=theme.lines[0], label="requested")
            row[2].axhline(LIMITS.speed_scale * PI, color=theme.faint, lw=1, label="limit")
            style.label(row[0], way.what, "mm", "travel")
            style.label(row[1], "Smallest singular value", "m/rad")
            style.label(row[2], "Joint speed", "rad/s")
            for ax in row:
                style.legend(ax)
        for ax in axes[-1]:
            ax.set_xlabel("time [s]")
    style.save(fig, path)
