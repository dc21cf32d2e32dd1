"""A failing force sensor stops the arm within the declared time; shorter failures are bridged."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.control.parameters import Admittance, Limits, Parameters, Sense, diagonal
from pliant.model.arm import Arm
from pliant.records import TROUBLES
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Task
from pliant.world.world_config import Push, Sensor, Servo, SimConfig
from pliant_experiments.rivals.explicit_law import Choices, ExplicitLaw, run_freely, run_in_simulator
from pliant_experiments.scenes.probe_tool import TOOL

Array = np.ndarray[Any, Any]

DT, FORCE, MASS = 0.002, 8.0, 8.0
AT_S, END_S = 1.0, 1.5
# How long the arm is observed whose sensor counts as zero.
ZERO_S = 5.0
FREE = Admittance(mass=diagonal(MASS, 0.5), stiffness=diagonal(0.0, 20.0))
PUSHES = (Push(at_s=0.3, for_s=10.0, wrench=(0.0, -FORCE, 0.0, 0.0, 0.0, 0.0)),)
SENSE, LIMITS, SERVO = Sense(), Limits(), Servo()
# A tool slower than this is at rest [m/s].
REST = 0.005

# When each failure can be noticed [s] after it began.
NOTICED_S = {
    "missing": 0.0,
    "saturated": 0.0,
    "nan": 0.0,
    "range": 0.0,
    "stale": SENSE.stale_s,
    "frozen": SENSE.frozen_s,
}


def _guided(seed: int, kind: str = "", for_s: float = 1e3) -> Array:
    """A hand guides the arm (no spring) at about 0.3 m/s along y when the sensor fails."""
    failures = [{"kind": kind, "at_s": AT_S, "for_s": for_s}] if kind else []
    task = Task(
        law="admittance", tool=TOOL, duration_s=END_S,
        params=Parameters(admittance=FREE),
        sim=SimConfig(seed=seed, sensor=Sensor.model_validate({"failures": failures}), pushes=PUSHES),
    )  # fmt: skip
    return simulate(task).records


def _speed(records: Array) -> Array:
    """Speed of the commanded tool [m/s]."""
    return np.linalg.norm(records["state"]["twist"][:, :3], axis=1)


def _real_speed(records: Array) -> Array:
    """Speed of the tool itself [m/s]."""
    return np.linalg.norm(records["observed"]["twist"][:, :3], axis=1)


def _after(records: Array) -> Array:
    """Time since the failure began [s]."""
    return records["time_s"] - AT_S


def _for_ever(kind: str, records: Array, most_accel: float) -> tuple[list[Figure], float, float]:
    """Figures of a permanent failure; distance of the tool after the failure, and the declared distance [m]. Declared:
    the time to detect it and to hold the last value, then braking, which the servo follows with its own lag.
    """
    fails = int(np.searchsorted(records["time_s"], AT_S - 1e-9))
    qd, pose = records["state"]["qd_cmd"], records["observed"]["pose"][:, :3]
    moving = np.abs(qd).max(axis=1)
    fault = int(np.argmax(records["state"]["fault"] != 0)) if records["state"]["fault"].any() else len(records) - 1
    braking = moving[fault - 1] / most_accel
    notice = NOTICED_S[kind] + SENSE.hold_s
    still = np.flatnonzero(moving > 0.0)[-1] + 1 - fails
    stopped = np.flatnonzero(_real_speed(records) > REST)[-1] + 1 - fails
    way = float(np.linalg.norm(pose[fails:] - pose[fails], axis=1).max())
    v = float(_speed(records)[fails:].max())
    command = notice + braking + 3 * DT
    declared = v * (notice + braking / 2 + 3 * DT + SERVO.lag_s)
    return [
        at_most(f"{kind}: time until the command is zero", still * DT, "s", round(command, 3)),
        at_most(f"{kind}: time until the tool stops", stopped * DT, "s", round(command + _follows_s(REST / v), 3)),
        at_most(f"{kind}: stopping distance", way * 1e3, "mm", round(declared * 1e3, 1)),
    ], way, declared  # fmt: skip


def _follows_s(share: float) -> float:
    """When the servo has no more than `share` of its speed left after its command stopped [s]."""
    # (1 + x) exp(-x) = share,  x = ω t: a critically damped lag
    x = 1.0
    for _ in range(100):
        x = math.log((1.0 + x) / share)
    return SERVO.delay_s + DT + x / SERVO.omega


def _at_all_times(lasting: list[Array]) -> list[Figure]:
    """A failing sensor never counts as zero, and its readings never reach the command."""
    felt = [_felt(records) for records in lasting]
    lost = sum(int((~np.isfinite(records["command"]["q"])).sum()) for records in lasting)
    return [
        at_least("smallest share of the push measured before the fault", min(felt), "×", 0.9),
        at_most("commands that are not finite", lost, "", 0),
    ]


def _felt(records: Array) -> float:
    fault = int(np.argmax(records["state"]["fault"] != 0))
    between = (_after(records) >= 0.0) & (np.arange(len(records)) < fault)
    return float(-records["state"]["wrench_lp"][between, 1].max() / FORCE)


def _ridden_out(short: list[Array], good: Array) -> list[Figure]:
    """Failures that end before the arm stops: compared with a run without them."""
    faults = sum(int(records["state"]["fault"].any()) for records in short)
    gap = max(np.abs(_speed(records) - _speed(good)[: len(records)]).max() for records in short)
    return [
        at_most("failures shorter than the hold time: faults", faults, "", 0),
        at_most("failures shorter than the hold time: largest speed difference", gap * 1e3, "mm/s", 5.0),
    ]


def _length(kind: str) -> float:
    """How long a failure may last [s] and be bridged: detection and hold count in whole ticks."""
    return NOTICED_S[kind] + SENSE.hold_s - 3 * DT


# ---- other laws ----------------------------------------------------------------------------------------------------


def _rivals(seed: int, good: Array) -> tuple[list[Figure], Array]:
    """The same push; after the failure the reading counts as zero, or a single sample is NaN."""

    def law() -> ExplicitLaw:
        choices = Choices(deadband=SENSE.deadband_n)
        return ExplicitLaw(np.array(FREE.mass), np.array(FREE.stiffness), 1.0, DT, choices)

    zero = run_in_simulator(law(), SimConfig(seed=seed, pushes=PUSHES), TOOL, ZERO_S, deaf_from_s=AT_S)
    v, fails = np.linalg.norm(zero.velocity[:, :3], axis=1), round(AT_S / DT)
    wrenches = good["observed"]["wrench"].copy()
    wrenches[fails, 2] = math.nan
    poisoned = run_freely(law(), lambda t: wrenches[round(t / DT)], END_S).velocity
    still = np.flatnonzero(v > 1e-3)[-1] + 1 - fails
    return [
        reported("reading taken as zero: time until the tool stops", still * DT, "s"),
        reported("reading taken as zero: stopping distance", v[fails:].sum() * DT * 1e3, "mm"),
        reported("one NaN sample: invalid commands in the following half second",
             (~np.isfinite(poisoned[fails:])).any(axis=1).sum()),
    ], v  # fmt: skip


def run(seed: int, progress: Progress) -> Outcome:
    """Every kind of failure, permanent and just short enough to be bridged."""
    began = time.perf_counter()
    most_accel = LIMITS.acceleration_scale * float(Arm.load("ur5e").a_max.min())
    good = _guided(seed)
    rival, zero = _rivals(seed, good)
    lasting, short, ways, figures = {}, {}, {}, []
    for i, kind in enumerate(NOTICED_S):
        lasting[kind], short[kind] = _guided(seed, kind), _guided(seed, kind, _length(kind))
        found, way, declared = _for_ever(kind, lasting[kind], most_accel)
        figures += found
        ways[kind] = (way, declared)
        progress((i + 1) / len(NOTICED_S))
    notes = [f"{kind}: the sensor {words}." for kind, words in zip(NOTICED_S, TROUBLES.values(), strict=True)]
    figures += _at_all_times(list(lasting.values())) + _ridden_out(list(short.values()), good) + rival
    return Outcome(
        "sensor-faults", seed, time.perf_counter() - began, figures, notes,
        draw=lambda path: _draw(good, lasting, short, ways, zero, path),
    )  # fmt: skip


def _draw(good: Array, lasting: dict[str, Array], short: dict[str, Array], ways: Any, zero: Array, path: Path) -> None:
    with style.applied() as theme:
        subtitle = f"a hand guides the arm with {FORCE:g} N, no spring; sim:ur5e, 500 Hz; dashed red: taken as zero"
        fig, axes = style.figure(3, 1, "Failing force sensor", subtitle, share_x=False, panel_inches=(8.5, 2.4))
        top, middle, ax = axes[:, 0]
        top.plot(_after(good) * 1e3, _real_speed(good) * 1e3, color=theme.faint, lw=2.5, alpha=0.4, label="no failure")
        for colour, (kind, records) in zip(theme.lines, lasting.items(), strict=False):
            speed = _real_speed(records) * 1e3
            top.plot([*_after(records) * 1e3, 350.0], [*speed, speed[-1]], color=colour, label=kind)
            middle.plot(_after(short[kind]) * 1e3, (_speed(short[kind]) - _speed(good)) * 1e3, color=colour)
        for panel in (top, middle):
            panel.set_xlim(-50, 300)
            panel.set_xlabel("time since the failure [ms]")
        since = np.arange(len(zero)) * DT - AT_S
        top.plot(since * 1e3, zero * 1e3, "--", color=theme.alarm, label="taken as zero")
        style.label(top, "Permanent failure", "mm/s", "tool speed")
        style.label(middle, "Bridged failure: difference from a run without", "mm/s", "tool speed")
        style.legend(top)
        names = list(ways)
        ax.bar(names, [way * 1e3 for way, _ in ways.values()], color=[theme.lines[i] for i in range(len(names))])
        for i, (_, declared) in enumerate(ways.values()):
            ax.plot([i - 0.4, i + 0.4], [declared * 1e3] * 2, color=theme.text, lw=1.5)
        style.label(ax, "Stopping distance (line: largest allowed)", "mm")
    style.save(fig, path)
