"""A force-mode-like rival on the realistic arms, compared with measurements on real arms of these types."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, reported, within
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.records import COMMAND, POSITION, READING
from pliant.robots.simulated import SimRobot
from pliant.world.realism.effects_config import Level
from pliant.world.world_config import SimConfig, Surface
from pliant_experiments.rivals.force_mode import ForceMode

Array = np.ndarray[Any, Any]

DT, GAP, STEADY = 0.002, 0.08, 0.1
HEAVY = Tool(mass_kg=6.86, com_m=(0.0, 0.0, 0.07), inertia_kg_m2=(0.03, 0.03, 0.02), tcp_m=(0.0, 0.0, 0.18))
LIGHT = Tool(mass_kg=0.5, com_m=(0.0, 0.0, 0.05), tcp_m=(0.0, 0.0, 0.12))
SEEDS = 2
# Path speed, target, gain: rows that were published for the UR10e on a straight hard part.
LINES = ((0.1, 15.0, 0.5), (0.1, 35.0, 1.0), (0.25, 15.0, 0.5), (0.25, 35.0, 1.0))
# Offsets of the joints from the home pose [rad]: places in the workspace of the UR5e.
PLACES = (
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.6, 0.0, 0.0, 0.0, 0.0, 0.5),
    (-0.6, -0.2, 0.3, -0.1, 0.0, -0.5),
    (0.3, 0.4, -0.5, 0.1, 0.0, 1.0),
    (-0.3, -0.4, 0.4, 0.0, 0.0, -1.0),
    (0.0, 0.5, -0.3, -0.2, 0.0, 1.5),
)


# Stiffness of the part on its support: not published, and the contact peak depends on it.
PART_N_M = 3e5
Range = tuple[float, float]
# Ranges over the published rows: Gadringer, Gattringer, Mueller, Mechanical Sciences 2022; Trochimczuk et al., Sensors
# 26(5) 1709, 2026, doi 10.3390/s26051709.
SETTLING_S, PEAK_N, PATH_MEAN_N, PATH_SD_N, LOW_FORCE_N = (0.6, 2.2), (240, 850), (2.7, 5.9), (3.3, 8.3), (8.95, 13.26)


@dataclass(frozen=True)
class Trial:
    """What is asked of a run."""

    arm: str
    tool: Tool
    target_n: float
    gain: float
    contact_m_s: float
    place: tuple[float, ...] = PLACES[0]
    """Offset of the joints from home, where the sensor was zeroed."""
    hold_s: float = 4.0
    path_m_s: float = 0.0
    length_m: float = 0.3


class Cell:
    """A realistic arm above a hard part, written to and read directly."""

    def __init__(self, trial: Trial, level: Level, seed: int) -> None:
        self.arm = Arm.load(trial.arm, trial.tool)
        x, y, z = (float(v) for v in self.arm.pose(np.array(self.arm.q_home) + trial.place)[:3])
        part = Surface(position_m=(x, y, z - GAP), stiffness_n_m=PART_N_M, damping_n_s_m=500.0, friction=0.2)
        self.robot = SimRobot(trial.arm, trial.tool, SimConfig(seed=seed, realism=level, surfaces=(part,)), DT)
        self.world = self.robot.world.record[0]
        self._command, self._reading = COMMAND.new(), READING.new()
        self._command[0].mode = POSITION
        self.robot.read(self._reading)

    @property
    def q(self) -> Array:
        return self._reading[0].q[: self.arm.n].copy()

    @property
    def raw(self) -> Array:
        return self._reading[0].wrench.copy()

    def go(self, q: Array) -> None:
        self._command[0].q[: self.arm.n] = q
        self.robot.write(self._command)
        self.robot.read(self._reading)


def press(trial: Trial, level: Level, seed: int) -> tuple[Array, int]:
    """Zero the sensor at home, go to the place, press, follow a line: true force per tick, and the robot's own stop."""
    cell = Cell(trial, level, seed)
    start, rest = cell.q, cell.raw - cell.arm.tool_weight(cell.q)
    for share in np.linspace(0.0, 1.0, round(1.5 / DT)):
        cell.go(start + np.array(trial.place) * 0.5 * (1 - math.cos(math.pi * share)))
    for _ in range(round(0.3 / DT)):
        cell.go(start + np.array(trial.place))
    rival = ForceMode(cell.arm, cell.q, rest, trial.target_n, trial.gain, trial.contact_m_s)
    hold = round(trial.hold_s / DT)
    path = round(trial.length_m / trial.path_m_s / DT) if trial.path_m_s else 0
    force = np.zeros(hold + path)
    for k in range(len(force)):
        along = np.array([0.0, trial.path_m_s if k >= hold else 0.0, 0.0])
        cell.go(rival.step(cell.q, cell.raw, along, DT))
        force[k] = cell.world.surface[0].press
    return force, int(cell.world.stop.reason)


def judged(force: Array, trial: Trial) -> dict[str, float]:
    """Contact peak, settling, and the error along the path, as they were published."""
    hold = round(trial.hold_s / DT)
    touch = int(np.argmax(force > 0.0))
    before, path = force[:hold], force[hold:]
    final = before[-round(0.5 / DT) :].mean()
    off = np.flatnonzero(np.abs(before - final) > max(STEADY * trial.target_n, 2.0))
    error = np.abs(path - trial.target_n)
    return {
        "peak": float(before.max()),
        "settling": float((off[-1] - touch) * DT) if len(off) else 0.0,
        "path_mean": float(error.mean()),
        "path_sd": float(path.std()),
        "final": float(final),
    }


def beside(name: str, values: list[float], unit: str, published: Range) -> list[Figure]:
    """The range of a figure over all runs; its median has to lie within the published range."""
    low, high = published
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    return [
        within(f"{name}, median (published {low:g} to {high:g})", float(np.median(values)), unit, middle, half),
        reported(f"{name}, least", min(values), unit),
        reported(f"{name}, most", max(values), unit),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """Run the lines of the UR10e and the places of the UR5e, for several specimens each."""
    began = time.perf_counter()
    level: Level = "typical"
    lines, places, stopped, curves = [], [], 0, []
    for i in range(SEEDS):
        for path_m_s, target, gain in LINES:
            trial = Trial("ur10e", HEAVY, target, gain, 0.25, path_m_s=path_m_s)
            force, reason = press(trial, level, seed + i)
            lines.append(judged(force, trial))
            stopped += reason != 0
            curves.append(force)
        for place in PLACES:
            trial = Trial("ur5e", LIGHT, 10.0, 0.5, 0.05, place, hold_s=6.0)
            force, reason = press(trial, level, seed + i)
            places.append(float(force[-round(1.0 / DT) :].mean()))
            stopped += reason != 0
        progress((i + 1) / SEEDS)
    column = {name: [row[name] for row in lines] for name in lines[0]}
    low, high = LOW_FORCE_N
    figures = [
        *beside("UR10e, contact peak at 0.25 m/s", column["peak"], "N", PEAK_N),
        *beside("UR10e, settling", column["settling"], "s", SETTLING_S),
        *beside("UR10e, mean error along the path", column["path_mean"], "N", PATH_MEAN_N),
        # too low: docs/realism.md lists what is missing
        reported(
            f"UR10e, standard deviation along the path, median (published {PATH_SD_N[0]:g} to {PATH_SD_N[1]:g})",
            float(np.median(column["path_sd"])),
            "N",
        ),
        within("UR5e, 10 N commanded, least mean force", min(places), "N", 0.5 * (low + high), 0.5 * (high - low)),
        within("UR5e, 10 N commanded, largest mean force", max(places), "N", 0.5 * (low + high), 0.5 * (high - low)),
        reported("UR5e, 10 N commanded, mean force of all places", float(np.mean(places)), "N"),
        reported("protective stops", stopped),
    ]
    return Outcome(
        "published", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(curves, places, path)
    )


def _draw(curves: list[Array], places: list[float], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            2, 1, "A force mode on realistic arms", "simulated; shaded: published range", panel_inches=(8, 3),
            share_x=False,
        )  # fmt: skip
        for force in curves[: len(LINES)]:
            axes[0, 0].plot(DT * np.arange(len(force)), force, lw=0.8, color=theme.lines[0])
        style.label(axes[0, 0], "UR10e with 6.86 kg on a hard part", "N", "true force")
        axes[0, 0].axhspan(*PEAK_N, color=theme.faint, alpha=0.3)
        axes[0, 0].set_xlabel("time [s]")
        axes[1, 0].plot(sorted(places), "o", color=theme.lines[0])
        axes[1, 0].axhspan(*LOW_FORCE_N, color=theme.faint, alpha=0.3)
        style.label(axes[1, 0], "UR5e, 10 N commanded, over the workspace", "N", "mean force")
        axes[1, 0].set_xlabel("place, sorted by force")
    style.save(fig, path)
