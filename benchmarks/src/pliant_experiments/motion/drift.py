"""No drift and no friction: any push above the deadband moves the tool, no push leaves it still, springs hold."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Admittance, Parameters, Sense, diagonal
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task
from pliant.world.world_config import Push, Sensor, Servo, SimConfig
from pliant_experiments.motion.deadband import START
from pliant_experiments.rivals.explicit_law import Choices, ExplicitLaw, Trace, alike, run_freely, run_in_simulator
from pliant_experiments.scenes.probe_tool import TOOL

Array = np.ndarray[Any, Any]

DT, RATIO, DEADBAND = 0.002, 0.8, 1.0
MASS = np.array(diagonal(8.0, 0.5))
# The push minus the deadband [N].
ABOVE = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0)
STICKS = Choices(reanchor_m_s=1e-3, deadband=0.0)
SILENT = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)
# In all 20 ms: 4 ms of transport and a lag of 16 ms.
LAGGING = Servo(bandwidth_hz=12.8, delay_s=0.004)
DAMPER, SPEED_S = 80.0, 3.0


def _along_y(force: float, at_s: float = 0.2) -> tuple[Push, ...]:
    return (Push(at_s=at_s, for_s=1e3, wrench=(0.0, -force, 0.0, 0.0, 0.0, 0.0)),)


def _ours(seconds: float, parameters: Parameters, sim: SimConfig) -> Array:
    task = Task(law="admittance", tool=TOOL, start_q=START, duration_s=seconds, params=parameters, sim=sim)
    return simulate(task).records


def _moved(records: Array) -> Array:
    """How far the tool has moved in the direction of the push [m]."""
    y = records["observed"]["pose"][:, 1]
    return y[0] - y


def _soft(stiffness: float) -> Admittance:
    return Admittance(stiffness=diagonal(stiffness, 20.0), damping_ratio=alike(RATIO))


def _push_freely(force: float, stiffness: float, seconds: float) -> Trace:
    """The re-anchoring law on a tool that follows without lag or limits."""
    law = ExplicitLaw(MASS, np.array(diagonal(stiffness, 20.0)), RATIO, DT, STICKS)
    return run_freely(law, lambda _: force * np.eye(6)[0], seconds)


# ---- a push moves it -----------------------------------------------------------------------------------------------


def _friction(seed: int) -> tuple[list[Figure], tuple[Array, Array], list[tuple[float, Trace]]]:
    """Pliant: motion per push. The drift stop: just below and just above the equivalent friction."""
    sense = Sense(deadband_n=DEADBAND, frozen_s=0.0)
    ways = []
    for above in ABOVE:
        sim = SimConfig(seed=seed, sensor=SILENT, pushes=_along_y(DEADBAND + above))
        ways.append(_moved(_ours(2.2, Parameters(sense=sense, admittance=_soft(0.0)), sim))[-1])
    noisy = SimConfig(seed=seed, pushes=_along_y(DEADBAND + ABOVE[0]))
    least = _moved(_ours(2.2, Parameters(sense=sense, admittance=_soft(0.0)), noisy))[-1]
    above, way = np.array(ABOVE), np.array(ways)
    slope = float(above @ way / (above @ above))
    off = np.abs(way / (slope * above) - 1).max()
    figures = [
        at_least(f"motion in 2 s under {ABOVE[0]:g} N above the deadband, with noise", least * 1e3, "mm", 1.0),
        at_most("deviation from proportional to push minus deadband", 100 * off, "%", 2.0),
    ]
    rivals = []
    for force in (3.99, 4.01):
        free = _push_freely(force, 0.0, 6.0)
        sim = SimConfig(seed=seed, sensor=SILENT, pushes=_along_y(force))
        law = ExplicitLaw(MASS, np.array(diagonal(0.0, 20.0)), RATIO, DT, STICKS)
        arm = run_in_simulator(law, sim, TOOL, 2.2, start_q=START)
        rivals.append((force, arm))
        figures += [
            reported(f"re-anchoring drift stop: motion in 6 s under {force:g} N", free.moved()[-1] * 1e3, "mm"),
            reported(f"the same on the simulated arm in 2 s under {force:g} N", abs(arm.moved(1)[-1]) * 1e3, "mm"),
        ]
    figures.append(reported("equivalent friction: M × 1 mm/s / period", 8.0 * 1e-3 / DT, "N"))
    return figures, (above, way), rivals


# ---- a spring holds it ---------------------------------------------------------------------------------------------


def _creep(seed: int) -> tuple[list[Figure], Array, tuple[Trace, Trace]]:
    """10 N on a spring of 100 N/m for 20 s."""
    sim = SimConfig(seed=seed, pushes=_along_y(10.0))
    ours = _ours(20.2, Parameters(sense=Sense(deadband_n=0.0, deadband_nm=0.0), admittance=_soft(100.0)), sim)
    free = _push_freely(10.0, 100.0, 20.0)
    law = ExplicitLaw(MASS, np.array(diagonal(100.0, 20.0)), RATIO, DT, STICKS)
    silent = SimConfig(seed=seed, sensor=SILENT, pushes=_along_y(10.0))
    arm = run_in_simulator(law, silent, TOOL, 20.2, start_q=START)
    figures = [
        within("10 N on 100 N/m: deflection after 20 s", _moved(ours)[-500:].mean() * 1e3, "mm", 100.0, 1.0),
        reported("re-anchoring drift stop: motion in 20 s", free.moved()[-1] * 1e3, "mm"),
        reported("the same on the simulated arm, until it is stretched out", np.abs(arm.moved(1)).max() * 1e3, "mm"),
        reported("the same on the simulated arm: time until stretched out", arm.time_s[-1], "s"),
    ]
    return figures, ours, (free, arm)


def _idle(seed: int) -> list[Figure]:
    """No spring, no push, sensor noise, one minute."""
    parameters = Parameters(sense=Sense(deadband_n=DEADBAND), admittance=_soft(0.0))
    records = _ours(60.0, parameters, SimConfig(seed=seed))
    pose = records["observed"]["pose"][:, :3]
    far = np.linalg.norm(pose - pose[0], axis=1)
    return [at_most("no spring, no push: motion in 60 s of sensor noise", far.max() * 1e3, "mm", 0.1)]


# ---- the command is integrated -------------------------------------------------------------------------------------


def _lag(seed: int) -> tuple[list[Figure], tuple[Array, Array, Trace]]:
    """10 N on a damper of 80 N s/m and a servo with 20 ms of lag: how much of 125 mm/s arrives."""
    sim = SimConfig(seed=seed, sensor=SILENT, servo=LAGGING, pushes=_along_y(10.0))
    admittance = Admittance(stiffness=diagonal(0.0, 20.0), damping_by="value", damping=diagonal(DAMPER, 6.0))
    sense = Sense(deadband_n=0.0, deadband_nm=0.0, frozen_s=0.0)
    ours = _ours(SPEED_S, Parameters(sense=sense, admittance=admittance), sim)
    ratio = DAMPER / (2 * np.sqrt(8.0 * 10.0))
    rival = _from_measured(MASS, ratio, sim)
    dragged = _from_measured(1e6 * MASS, 1e-3 * ratio, sim)  # a law that does not move: the effect of the push alone
    asked = 10.0 / DAMPER
    figures = [
        within("share of the commanded speed reached with 20 ms of lag", 100 * _speed(ours) / asked, "%", 100.0, 1.0),
        reported("measured position plus a step: share of the speed reached", 100 * _speed(rival) / asked, "%"),
        reported("of it caused by the push alone, without a law", 100 * _speed(dragged) / asked, "%"),
        reported("lag of the servo", LAGGING.lag_s * 1e3, "ms"),
    ]
    return figures, (ours["time_s"], _moved(ours), rival)


def _from_measured(mass: Array, ratio: float, sim: SimConfig) -> Trace:
    law = ExplicitLaw(mass, np.array(diagonal(0.0, 20.0)), ratio, DT, Choices(from_measured=True, deadband=0.0))
    return run_in_simulator(law, sim, TOOL, SPEED_S, start_q=START)


def _speed(run: Array | Trace) -> float:
    """Speed of the tool in the last second, in the direction of the push [m/s]."""
    y = run.pose[:, 1] if isinstance(run, Trace) else run["observed"]["pose"][:, 1]
    times = run.time_s if isinstance(run, Trace) else run["time_s"]
    return float(-np.polyfit(times[-500:], y[-500:], 1)[0])


def run(seed: int, progress: Progress) -> Outcome:
    """Small pushes, a long push on a spring, no push, and a servo with lag."""
    began = time.perf_counter()
    friction, ways, stuck = _friction(seed)
    progress(0.35)
    creep, rest, creeping = _creep(seed)
    progress(0.7)
    idle = _idle(seed)
    progress(0.85)
    lag, speeds = _lag(seed)
    progress(1.0)
    figures = [*friction, *creep, *idle, *lag]
    return Outcome(
        "drift", seed, time.perf_counter() - began, figures,
        draw=lambda path: _draw(ways, stuck, rest, creeping, speeds, path),
    )  # fmt: skip


def _draw(
    ways: tuple[Array, Array],
    stuck: list[tuple[float, Trace]],
    rest: Array,
    creeping: tuple[Trace, Trace],
    speeds: tuple[Array, Array, Trace],
    path: Path,
) -> None:
    with style.applied() as theme:
        subtitle = "sim:ur5e, 500 Hz; dashed: the re-anchoring drift stop, and commands from the measured position"
        fig, axes = style.figure(2, 2, "Drift and friction", subtitle, share_x=False, panel_inches=(6.0, 2.5))
        own, alarm = theme.lines[0], theme.alarm
        above, way = ways
        axes[0, 0].plot(above, way * 1e3, "o", color=own, label="Pliant")
        axes[0, 0].plot([0, above[-1]], [0, (above @ way) / (above @ above) * above[-1] * 1e3], color=own, lw=0.8)
        axes[0, 0].set_xlabel("push minus deadband [N]")
        style.label(axes[0, 0], "Motion in 2 s, no spring", "mm")
        for (force, trace), line in zip(stuck, (":", "--"), strict=True):
            axes[0, 1].plot(trace.time_s, -trace.moved(1) * 1e3, line, color=alarm, label=f"re-anchoring, {force:g} N")
        style.label(axes[0, 1], "Hidden friction of 4 N", "mm", "motion")
        free, arm = creeping
        axes[1, 0].plot(rest["time_s"], _moved(rest) * 1e3, color=own, label="Pliant")
        axes[1, 0].plot(arm.time_s, -arm.moved(1) * 1e3, "--", color=alarm, label="re-anchored")
        axes[1, 0].plot(free.time_s, free.moved() * 1e3, ":", color=alarm, label="law alone, without an arm")
        style.label(axes[1, 0], "10 N on 100 N/m", "mm", "motion")
        times, moved, rival = speeds
        axes[1, 1].plot(times, moved * 1e3, color=own, label="Pliant")
        axes[1, 1].plot(rival.time_s, -rival.moved(1) * 1e3, "--", color=alarm, label="measured + step")
        style.label(axes[1, 1], "125 mm/s commanded, servo lag 20 ms", "mm", "motion")
        for ax in (axes[0, 1], axes[1, 0], axes[1, 1]):
            ax.set_xlabel("time [s]")
            style.legend(ax)
    style.save(fig, path)
