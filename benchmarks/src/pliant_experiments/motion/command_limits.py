"""No command exceeds a limit, nothing winds up at a limit, and every limited command is reported."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.control.parameters import Admittance, Limits, Parameters, diagonal
from pliant.model.arm import Arm
from pliant.records import FAULT_POSE_ERROR, LIMITS
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task
from pliant.world.world_config import Push, SimConfig
from pliant_experiments.motion.random_runs import RATIOS, SETS, collect
from pliant_experiments.rivals.explicit_law import (
    Choices,
    ClampedToFace,
    ExplicitLaw,
    clamped_to_stops,
    run_in_simulator,
)
from pliant_experiments.scenes.probe_tool import TOOL

Array = np.ndarray[Any, Any]

BATCHES, RUNS, TICKS = 20, 5000, 30
LONG_BATCHES, LONG_RUNS, LONG_TICKS = 4, 200, 750
# Rounding, relative. An acceleration is the difference of two speeds that may be a thousand times as large.
DUST, DUST_OF_CHANGE = 1e-9, 1e-8

MASS, WALL_M, FORCE = 8.0, 0.1, 30.0
PUSH_S, BACK_S, END_S = 0.5, 5.5, 11.5
FREE = Admittance(mass=diagonal(MASS, 0.5), stiffness=diagonal(0.0, 20.0))
DT = 0.002

BEYOND = 0.05
TRIP_N, SOFT = 60.0, 50.0


# ---- random runs ---------------------------------------------------------------------------------------------------


def _random(seed: int, progress: Progress) -> tuple[list[Figure], Array, Array]:
    """Short runs by the hundred thousand, and long ones that have time to reach every limit."""
    short = collect(seed, BATCHES, RUNS, TICKS, lambda share: progress(0.7 * share))
    long = collect(seed + 1, LONG_BATCHES, LONG_RUNS, LONG_TICKS, lambda share: progress(0.7 + 0.2 * share))
    tally = np.concatenate([short, long])
    default, any_set = tally["worst"].max(axis=0), tally["worst_any"].max(axis=0)
    figures = [
        at_least("random runs", tally["runs"].sum(), "", BATCHES * RUNS),
        reported(f"ticks in these runs, with {SETS * len(tally)} parameter sets", tally["ticks"].sum()),
        at_most("commands that are not finite", tally["not_finite"].sum(), "", 0),
    ]
    for name, ratio, own in zip(RATIOS, any_set, default, strict=True):
        if name.endswith(" a joint is cut"):  # its own limits and its braking take precedence over those of the tool
            figures.append(reported(f"{name}, default limits", own, "×"))
            figures.append(reported(f"{name}, any limits", ratio, "×"))
        else:
            dust = DUST_OF_CHANGE if name.endswith("acceleration") else DUST
            figures.append(at_most(f"{name} relative to its limit", ratio, "×", 1 + dust))
    cuts, silent = tally["acted"].sum(axis=0), int(tally["unreported"].sum())
    figures += [
        at_most("deviation from the requested direction while speeds are scaled", tally["bend"].max(), "×", DUST),
        at_most("the same, while braking for a speed limit ahead", tally["bend_ahead"].max(), "×", 0.01),
        reported("cuts by limits", cuts.sum()),
        at_most("cuts without the requested and allowed values", silent, "", 0),
    ]
    figures += [reported(f"cuts: {LIMITS[1 << k]}", count) for k, count in enumerate(cuts) if count]
    return figures, default, any_set


# ---- no wind-up ----------------------------------------------------------------------------------------------------


def _in_a_box(seed: int, seconds: float, wall_m: float, *pushes: Push) -> Array:
    """An arm without a spring whose tool may go `wall_m` along x."""
    arm = Arm.load("ur5e", TOOL)
    x = float(arm.pose(arm.q_home)[0])
    limits = Limits(workspace_max_m=(x + wall_m, 10.0, 10.0))
    task = Task(
        law="admittance", tool=TOOL, duration_s=seconds, params=Parameters(admittance=FREE, limits=limits),
        sim=SimConfig(seed=seed, pushes=pushes),
    )  # fmt: skip
    return simulate(task).records


def _along_x(at_s: float, until_s: float, force: float) -> Push:
    return Push(at_s=at_s, for_s=until_s - at_s, ramp_s=0.0, wrench=(force, 0.0, 0.0, 0.0, 0.0, 0.0))


def _slide(seed: int) -> list[Figure]:
    """Push at an angle: with a face in the way, the tool goes along it as far as without one."""
    oblique = Push(at_s=PUSH_S, for_s=1.0, wrench=(6.0, 6.0, 0.0, 0.0, 0.0, 0.0))
    free, held = (_in_a_box(seed, 1.5, wall, oblique)["state"]["pose"][:, :3] for wall in (10.0, 0.02))
    return [
        at_least("pushed at 45°: motion along the face relative to free motion",
                 (held[-1, 1] - held[0, 1]) / (free[-1, 1] - free[0, 1]), "×", 0.95),
        at_most("pushed at 45°: overshoot beyond the face", (held[:, 0].max() - held[0, 0] - 0.02) * 1e3, "mm", 0.0),
    ]  # fmt: skip


def _clamped_last(seed: int) -> tuple[Array, Array]:
    """The explicit law in the same box, limited in the last step only: its mass, and the command [m]. It is pulled
    until the end, because it does not come back sooner.
    """
    clamp = ClampedToFace(WALL_M)
    pushes = (_along_x(PUSH_S, BACK_S, FORCE), _along_x(BACK_S, END_S, -FORCE))
    law = ExplicitLaw(np.array(FREE.mass), np.array(FREE.stiffness), 1.0, DT, Choices())
    run_in_simulator(law, SimConfig(seed=seed, pushes=pushes), TOOL, END_S, to_joints=clamp)
    virtual = np.array(clamp.mass_m)
    return virtual, np.minimum(virtual, WALL_M)


def _wind_up(seed: int) -> tuple[list[Figure], tuple[Array, Array, Array]]:
    pushes = (_along_x(PUSH_S, BACK_S, FORCE), _along_x(BACK_S, BACK_S + 1.0, -FORCE))
    records = _in_a_box(seed, END_S, WALL_M, *pushes)
    t, dt = records["time_s"], DT
    x = records["state"]["pose"][:, 0] - records["state"]["pose"][0, 0]
    virtual, clamped = _clamped_last(seed)
    # from the tick in which the pull reaches the law to the first one that moves back
    felt = int(np.argmax((t > BACK_S) & (records["state"]["wrench_lp"][:, 0] < -1.0)))
    ours = int(np.argmax(records["state"]["twist"][felt:, 0] < -1e-4))
    rival = int(np.argmax(np.diff(clamped[felt:]) < 0.0))
    figures = [
        at_most("pushed 5 s against the box: overshoot beyond its face", (x.max() - WALL_M) * 1e3, "mm", 0.0),
        at_most("then pulled: ticks until the tool moves back", ours, "", 3),
        reported("clamped in the last step: ticks until the tool moves back", rival),
        reported("clamped in the last step: time until the tool moves back", rival * dt, "s"),
        reported("clamped in the last step: wind-up beyond the face", (virtual[felt] - WALL_M) * 1e3, "mm"),
    ]
    return figures, (t, x, np.column_stack([virtual, clamped]))


# ---- a joint beyond its stop, a spring beyond its trip -------------------------------------------------------------


def _beyond_the_stop(seed: int) -> tuple[list[Figure], tuple[Array, Array]]:
    """A joint that is 0.05 rad beyond its limit: Pliant's stays, a clamp of the position jumps."""
    arm = Arm.load("ur5e", TOOL)
    margin = 0.1
    q = np.array(arm.q_home)
    q[5] = arm.q_max[5] - margin + BEYOND
    task = Task(
        law="admittance", tool=TOOL, duration_s=0.2, start_q=tuple(q.tolist()), sim=SimConfig(seed=seed),
        params=Parameters(limits=Limits(position_margin=margin)),
    )  # fmt: skip
    records = simulate(task).records
    q_cmd = records["command"]["q"][:, 5]
    ours = np.diff(q_cmd, prepend=q[5]) / task.dt
    law = ExplicitLaw(np.array(FREE.mass), np.array(FREE.stiffness), 1.0, DT, Choices(from_measured=True))
    stops = clamped_to_stops(margin)
    sent = run_in_simulator(law, SimConfig(seed=seed), TOOL, 0.2, start_q=task.start_q, to_joints=stops).joints[:, 5]
    rival = np.diff(sent, prepend=q[5]) / task.dt
    figures = [
        at_most(f"joint {BEYOND:g} rad beyond its stop: commanded speed", np.abs(ours).max(), "rad/s", 0.1),
        reported("clamped in the last step: commanded speed", np.abs(rival).max(), "rad/s"),
    ]
    return figures, (ours, rival)


def _trip(seed: int) -> list[Figure]:
    """A soft spring under a long push is stretched to half a metre: that is a fault, and the arm stops."""
    wrench = (0.0, 0.0, TRIP_N, 0.0, 0.0, 0.0)
    limits = Limits()
    task = Task(
        law="admittance", tool=TOOL, duration_s=6.0,
        params=Parameters(admittance=Admittance(stiffness=diagonal(SOFT, 20.0))),
        start_q=(math.pi, -2.0, 2.4, -1.97, -math.pi / 2, 0.0),
        sim=SimConfig(seed=seed, pushes=(Push(at_s=0.5, for_s=6.0, wrench=wrench),)),
    )  # fmt: skip
    records = simulate(task).records
    state = records["state"]
    tripped = int(np.argmax(state["fault"] == FAULT_POSE_ERROR)) if state["fault"].any() else len(records) - 1
    stretch = np.linalg.norm(state["pose"][:, :3] - records["goal"]["pose"][:, :3], axis=1)
    still = int(np.argmax(state["qd_cmd"][::-1].any(axis=1)))  # ticks at the end in which only the servo still moves
    braking = np.abs(state["qd_cmd"][tripped - 1]).max() / (limits.acceleration_scale * Arm.load("ur5e").a_max.min())
    return [
        at_most("spring deflection at the stop of the robot", stretch[tripped] * 1e3, "mm", 501.0),
        at_most("faults other than the pose error trip", (state["fault"][tripped:] != FAULT_POSE_ERROR).sum(), "", 0),
        at_most(
            "time until the command is zero", (len(records) - tripped - still) * task.dt, "s", braking + 3 * task.dt
        ),
        at_most("speed at the end", np.abs(state["qd_cmd"][-1]).max(), "rad/s", 0.0),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """Random runs, a long push against the box, a joint beyond its stop, a spring beyond its trip limit."""
    began = time.perf_counter()
    random, default, any_set = _random(seed, progress)
    wind_up, paths = _wind_up(seed)
    slide = _slide(seed)
    progress(0.97)
    beyond, jumps = _beyond_the_stop(seed)
    trip = _trip(seed)
    progress(1.0)
    figures = [*random, *wind_up, *slide, *beyond, *trip]
    notes = [
        "Requested: motion of the compliant frame after law and tool limits. Without it: its actual motion.",
    ]
    return Outcome(
        "limits", seed, time.perf_counter() - began, figures, notes,
        draw=lambda path: _draw(default, any_set, paths, jumps, path),
    )  # fmt: skip


def _draw(default: Array, any_set: Array, paths: tuple[Array, Array, Array], jumps: Any, path: Path) -> None:
    with style.applied() as theme:
        subtitle = f"{BATCHES * RUNS:,} random runs; sim:ur5e, 500 Hz; dashed red: a clamp in the last step"
        fig, axes = style.figure(2, 2, "Limits", subtitle, share_x=False, panel_inches=(6.2, 2.9))
        own, alarm = theme.lines[0], theme.alarm
        ax, rows = axes[0, 0], np.arange(len(RATIOS))
        ax.barh(rows + 0.2, any_set, 0.38, color=theme.lines[5], label="any limits")
        ax.barh(rows - 0.2, default, 0.38, color=own, label="default limits")
        ax.axvline(1.0, color=alarm, lw=1)
        ax.set_yticks(rows, RATIOS)
        ax.invert_yaxis()
        ax.set_xlabel("largest ratio to the limit [-]")
        ax.set_title("Largest use of each limit")
        t, x, rival = paths
        for axis, window in ((axes[0, 1], t > 0), (axes[1, 0], (t > BACK_S - 0.1) & (t < BACK_S + 0.5))):
            axis.axhline(WALL_M * 1e3, color=theme.faint, lw=0.9)
            axis.plot(t[window], x[window] * 1e3, color=own, label="Pliant")
            axis.plot(t[window], rival[window, 1] * 1e3, "--", color=alarm, label="clamped last")
            axis.set_xlabel("time [s]")
        axes[1, 0].annotate("face of the box", (0.98, WALL_M * 1e3 + 1), xycoords=("axes fraction", "data"), ha="right")
        axes[0, 1].plot(t, rival[:, 0] * 1e3, ":", color=alarm, lw=1, label="virtual mass")
        style.label(axes[0, 1], "Push, then pull", "mm", "command")
        style.label(axes[1, 0], "Reversal", "mm", "command")
        axes[1, 0].set_ylim(WALL_M * 1e3 - 40, WALL_M * 1e3 + 10)
        ours, jump = jumps
        ms = np.arange(len(ours)) * 2.0
        axes[1, 1].plot(ms[:20], ours[:20], ".-", color=own, label="Pliant")
        axes[1, 1].plot(ms[:20], jump[:20], ".--", color=alarm, label="clamped last")
        axes[1, 1].set_xlabel("time [ms]")
        style.label(axes[1, 1], "Joint beyond its stop", "rad/s", "commanded speed")
        for axis in axes.flat:
            style.legend(axis)
    style.save(fig, path)
