"""Random contact scenes: each task is checked, then run; what the check promised is compared with the true force.

A rejected task is run too, to know whether it was rejected for a reason. Every scene can be run again by its index.
"""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.checks.task_check import check
from pliant.analysis.contact_figures import ContactFigures, figures_of
from pliant.analysis.doctor import Case, examine
from pliant.analysis.experiment_options import Option
from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.analysis.transitions import failure
from pliant.control.laws.contact.contact_states import DWELL, SEEK, SLIDE
from pliant.control.parameters import record_of
from pliant.record.reader import ParameterSet
from pliant.world.realism.effects_config import Level
from pliant_experiments.contact.world_scenes import Scene, scene
from pliant_experiments.scenes.contact_trial import Trace, run_contact

Array = np.ndarray[Any, Any]

SCENES = 60
REALISM: tuple[Level, ...] = ("ideal", "typical", "harsh")
OPTIONS = (
    Option("scenes", "Number of scenes (default 60).", number=(1, 100000)),
    Option("realism", "Realism of arm, sensor and connection in the simulator (default ideal).", REALISM),
    Option("only", "Index of a scene to run again, with a picture of its force.", number=(0, 10**9)),
)
# A finished contact stays within its tolerance up to this RMS error, relative to the target.
TOLERANCE = 0.15
# A peak up to this times the target, plus so many standard deviations of the sensor, is acceptable.
PEAK, SIGMAS = 1.5, 3.0
# A tool that moves further without contact than this before the lift-off has dived [m].
DIVE_M = 0.002
# Before every contact, the force sensor is tared for so long [s], as a user does it.
TARE_S = 0.2
# So many of the worst scenes are listed by index.
WORST = 8


@dataclass(frozen=True)
class Aim:
    """The targets of one realism, in percent."""

    finished: float
    peak: float
    rms: tuple[float, float]
    rejected: float
    needless: float
    lies: float


AIMS = {
    "ideal": Aim(99.5, 99.5, (1.5, 5.0), 5.0, 3.0, 0.0),
    "typical": Aim(99.0, 99.0, (3.0, 8.0), 12.0, 5.0, 0.2),
    "harsh": Aim(97.0, 97.0, (6.0, 15.0), 25.0, 10.0, 1.0),
}


@dataclass(frozen=True)
class Result:
    """What became of one scene."""

    scene: Scene
    rejected: str
    """Why the check rejected the task; empty if it met every target."""
    found: ContactFigures
    control_rms: float
    """RMS while sliding, relative to the target, of target minus true force as the sensor reads it without noise."""
    static_rms: float
    """RMS while sliding of what the sensor's static errors add to the true force, relative to the target."""
    dive_m: float
    diagnosed: tuple[str, ...]
    """Findings of the doctor."""
    reason: str
    """Why the contact failed, if it did."""
    cpu_s: float

    @property
    def peak(self) -> float:
        """Largest true force relative to the target."""
        return self.found.peak_n / self.scene.target_n

    @property
    def hard(self) -> bool:
        """Whether the peak is too large."""
        noise = self.scene.task.params.contact.noise_n
        return self.found.peak_n > PEAK * self.scene.target_n + SIGMAS * noise

    @property
    def complete(self) -> bool:
        """Whether the contact finished within its tolerance."""
        return self.found.ended and self.control_rms <= TOLERANCE

    @property
    def unsafe(self) -> bool:
        """Whether contact was lost, the tool dived, or it was left pressed after the end."""
        return self.found.losses > 0 or self.dive_m > DIVE_M or self.found.left_n > 0.0

    @property
    def sound(self) -> bool:
        """Whether the run broke no target."""
        return self.complete and not self.hard and not self.unsafe

    @property
    def lie(self) -> bool:
        """Whether the check predicted wrongly, or the doctor found no cause in a run that missed a target."""
        return not self.sound and (not self.rejected or not self.diagnosed)

    @property
    def badness(self) -> float:
        """For the order of the worst scenes; those that missed a target first."""
        off = self.control_rms if math.isfinite(self.control_rms) else 1.0
        return 10.0 * (not self.sound) * (1 + (not self.rejected)) + off + max(0.0, self.peak - 1.0)

    def as_dict(self) -> dict[str, Any]:
        """A row of the table in the JSON output."""
        row = self.scene.as_dict() | {
            "rejected": self.rejected, "finished": self.found.ended, "peak_ratio": self.peak,
            "settle_s": self.found.settle_s, "control_rms": self.control_rms, "static_rms": self.static_rms,
            "losses": self.found.losses, "dive_m": self.dive_m, "left_n": self.found.left_n,
            "sound": self.sound, "lie": self.lie, "doctor": list(self.diagnosed), "reason": self.reason,
            "cpu_s": self.cpu_s,
        }  # fmt: skip
        return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in row.items()}

    def __str__(self) -> str:
        verdict = "sound" if self.sound else "missed a target"
        told = f"rejected: {self.rejected}" if self.rejected else "accepted"
        return (
            f"scene {self.scene.index} ({self.scene}): {told}; {verdict}: {self.reason or 'finished'}; peak "
            f"{self.peak:.2f}×, RMS {100 * self.control_rms:.1f} %, {self.found.losses} losses; doctor: "
            f"{', '.join(self.diagnosed) or 'nothing'}"
        )


def run(seed: int, progress: Progress, scenes: int = 0, realism: Level = "ideal", only: int | None = None) -> Outcome:
    """Check and run random scenes on two threads; `only` runs one of them."""
    began = time.perf_counter()
    if only is not None:
        return _one(seed, only, realism, progress)
    results: list[Result] = []
    count = scenes or SCENES
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for result in pool.map(lambda index: judged(scene(seed, index, realism))[0], range(count)):
            results.append(result)
            progress(len(results) / count)
    worst = sorted(results, key=lambda one: -one.badness)
    notes = [f"--only {one.scene.index}: {one}" for one in worst[:WORST]]
    return Outcome(
        "contact-world", seed, time.perf_counter() - began, figures(results, AIMS[realism]), notes,
        draw=lambda path: _draw(results, realism, path), table=[one.as_dict() for one in results],
    )  # fmt: skip


def _one(seed: int, index: int, realism: Level, progress: Progress) -> Outcome:
    began = time.perf_counter()
    result, trace = judged(scene(seed, index, realism))
    progress(1.0)
    shown = [
        reported("peak / target", result.peak),
        reported("control error while sliding, RMS / target", 100.0 * result.control_rms, "%"),
        reported("added by the sensor's static errors", 100.0 * result.static_rms, "%"),
        reported("contact losses", result.found.losses),
        reported("settling time to ±5 %", result.found.settle_s, "s"),
        reported("missed a target (1 is yes)", float(not result.sound)),
    ]
    seconds = time.perf_counter() - began
    return Outcome(
        "contact-world", seed, seconds, shown, [str(result)], draw=lambda path: _draw_one(result, trace, path),
        table=[result.as_dict()],
    )  # fmt: skip


def judged(what: Scene) -> tuple[Result, Trace]:
    """Check a scene, run it in any case, and let the doctor look at it."""
    began, task, target = time.thread_time(), what.task, what.target_n
    promised = check(task)
    missed = [figure.name for figure in promised.figures if not figure.met]
    trace = run_contact(task, tare_s=TARE_S)
    records = trace.records
    assert records is not None
    assert trace.static_n is not None
    read_n = trace.normal_n + trace.static_n
    # the law can settle only what it reads
    found = replace(figures_of(records, trace.normal_n, target), settle_s=figures_of(records, read_n, target).settle_s)
    slid = records["contact"]["state"] == SLIDE
    sets = (ParameterSet(int(records["revision"][0]), 0.0, record_of(task.params)[0]),)
    case = Case(records, task.dt, len(task.start_q), sets)
    diagnosis = examine(case)
    result = Result(
        what, "; ".join(missed), found, _rms(read_n[slid] - target) / target, _rms(trace.static_n[slid]) / target,
        _dive_m(trace), tuple(one.name for one in diagnosis.wrong), failure(records),
        time.thread_time() - began,
    )  # fmt: skip
    return result, trace


def _rms(error: Array) -> float:
    """The root of the mean square; NaN of nothing."""
    return float(np.sqrt(np.mean(error**2))) if len(error) else math.nan


def _dive_m(trace: Trace) -> float:
    """The largest motion without contact between first touch and lift-off [m]."""
    assert trace.records is not None
    state = trace.records["contact"]["state"]
    touched = np.cumsum(trace.normal_n > 0.0) > 0
    gone = touched & np.isin(state, (SEEK, DWELL, SLIDE)) & (trace.normal_n <= 0.0)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], gone, [False])).astype(np.int8))).reshape(-1, 2)
    return max((float(np.linalg.norm(trace.tip[b - 1] - trace.tip[a])) for a, b in edges.tolist()), default=0.0)


def figures(results: list[Result], aim: Aim) -> list[Figure]:
    """The table: measured values beside the targets."""

    def percent(chosen: list[bool], of: int) -> float:
        return 100.0 * sum(chosen) / of if of else math.nan

    n = len(results)
    done = [one for one in results if not one.rejected and one.complete]
    rms = [100.0 * one.control_rms for one in done]
    settled = [one.found.settle_s for one in done]
    right = [one.complete if not one.rejected else not one.sound for one in results]
    unsafe = [one for one in results if not one.rejected and one.unsafe]
    return [
        reported("scenes", n),
        at_least("finished within tolerance, or rejected for a reason", percent(right, n), "%", aim.finished),
        at_least(
            f"peak ≤ {PEAK:g}× target, of those finished", percent([not one.hard for one in done], len(done)), "%",
            aim.peak,
        ),
        reported("peak / target, 95 %", np.quantile([one.peak for one in done], 0.95) if done else math.nan),
        at_most("control error while sliding, RMS / target, median", _quantile(rms, 0.5), "%", aim.rms[0]),
        at_most("control error while sliding, RMS / target, 95 %", _quantile(rms, 0.95), "%", aim.rms[1]),
        reported("added by the sensor's static errors, RMS / target, 95 %",
                 _quantile([100.0 * one.static_rms for one in done], 0.95), "%"),
        reported("settling time to ±5 %, median", _quantile([s for s in settled if math.isfinite(s)], 0.5), "s"),
        at_most("runs that lost contact, dived, or were left pressed", len(unsafe), "", 0.0),
        at_most("rejected", percent([bool(one.rejected) for one in results], n), "%", aim.rejected),
        at_most("rejected unnecessarily", percent([bool(one.rejected) and one.sound for one in results], n), "%",
                aim.needless),
        at_most("check predicted wrongly, or doctor found no cause", percent([one.lie for one in results], n), "%",
                aim.lies),
    ]  # fmt: skip


def _quantile(values: list[float], share: float) -> float:
    return float(np.quantile(values, share)) if values else math.nan


def _draw(results: list[Result], realism: str, path: Path) -> None:
    with style.applied() as theme:
        subtitle = f"{len(results)} scenes, {realism}; one dot per scene; red: missed a target; hollow: rejected"
        fig, axes = style.figure(1, 2, "Random contact scenes", subtitle, panel_inches=(6.0, 4.0))
        for one in results:
            colour = theme.lines[0] if one.sound else theme.alarm
            look: dict[str, Any] = {
                "color": colour, "marker": "o", "ms": 4, "mfc": "none" if one.rejected else colour, "ls": "",
            }  # fmt: skip
            axes[0, 0].plot(max(one.scene.runaway_ratio, 1e-4), min(one.peak, 3.0), **look)
            if math.isfinite(one.control_rms):
                axes[0, 1].plot(one.scene.stiffness, min(100.0 * one.control_rms, 50.0), **look)
        axes[0, 0].axhline(PEAK, color=theme.alarm, ls="--", lw=1)
        axes[0, 1].axhline(100.0 * TOLERANCE, color=theme.alarm, ls="--", lw=1)
        for ax, what, unit in ((axes[0, 0], "µT/(k v) over 0.2 s", ""), (axes[0, 1], "stiffness", "N/m")):
            ax.set_xscale("log")
            ax.set_xlabel(f"{what} [{unit}]" if unit else what)
        style.label(axes[0, 0], "Peak of the true force / target", "", "ratio")
        style.label(axes[0, 1], "Control error while sliding, RMS / target", "%", "error")
    style.save(fig, path)


def _draw_one(one: Result, trace: Trace, path: Path) -> None:
    assert trace.records is not None
    contact = trace.records["contact"]
    with style.applied() as theme:
        fig, axes = style.figure(3, 1, f"Scene {one.scene.index}", str(one.scene), panel_inches=(9.0, 2.2))
        force, shape, surface = axes[:, 0]
        force.plot(trace.time_s, contact["force_n"], color=theme.faint, lw=0.6, label="as estimated by the law")
        force.plot(trace.time_s, trace.normal_n, color=theme.lines[0], label="true")
        force.axhline(one.scene.target_n, color=theme.grid, zorder=0)
        style.label(force, "Normal force", "N", "force")
        lean = -np.sum(contact["normal"] * contact["approach"], axis=1)
        shape.plot(trace.time_s, np.degrees(np.arccos(np.clip(lean, -1.0, 1.0))), color=theme.lines[1])
        style.label(shape, "Estimated normal, angle to the approach", "°", "angle")
        surface.plot(trace.time_s, contact["friction"], color=theme.lines[2], label="friction")
        surface.plot(trace.time_s, contact["state"] / 10.0, color=theme.faint, lw=0.8, label="state / 10")
        style.label(surface, "Learned friction", "", "µ")
        surface.set_xlabel("time [s]")
        for ax in (force, surface):
            style.legend(ax)
    style.save(fig, path)
