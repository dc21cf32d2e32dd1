"""Every effect of the realistic world beside its closed form and its published figure, and what all of them cost."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_most, reported, within
from pliant.model.tool import TOOL as TIP
from pliant.model.tool import Tool
from pliant.records import COMMAND, IDLE, POSITION, READING
from pliant.robots.simulated import SimRobot
from pliant.world.world_config import SimConfig

Array = np.ndarray[Any, Any]
Curves = dict[str, tuple[Array, Array]]

DT, SMALL = 0.002, Tool(mass_kg=0.8, com_m=(0.0, 0.0, 0.06), tcp_m=(0.0, 0.0, 0.15))
# Low-passed noise of a six-axis sensor (OnRobot HEX-E, public log) relative to its raw noise, by cut-off [Hz].
FILTERED = {15.0: 0.125 / 0.220, 5.0: 0.083 / 0.220, 1.5: 0.063 / 0.220}


class Cell:
    """A realistic arm, written to and read directly."""

    def __init__(self, arm: str, seed: int, effects: dict[str, Any] | None = None, level: str = "typical") -> None:
        config = SimConfig.model_validate({"seed": seed, "realism": level, "effects": effects or {}})
        self.robot = SimRobot(arm, SMALL, config, DT)
        self.world, self.n = self.robot.world.record[0], self.robot.arm.n
        self._command, self._reading = COMMAND.new(), READING.new()
        self.robot.read(self._reading)
        self.start = self.reading.q[: self.n].copy()
        self._command[0].mode = IDLE

    @property
    def reading(self) -> Any:
        return self._reading[0]

    @property
    def tip(self) -> Array:
        """The true position of the tip."""
        model, data = self.robot.world.model, self.robot.world.data
        mujoco.mj_kinematics(model, data)
        return data.site_xpos[model.site(TIP).id].copy()

    def go(self, q: Array | None = None, times: int = 1) -> Any:
        """One period or more, idle or towards `q`."""
        if q is not None:
            self._command[0].mode, self._command[0].q[: self.n] = POSITION, q
        for _ in range(times):
            self.robot.write(self._command)
            self.robot.read(self._reading)
        return self.reading

    def push(self, force: Array, seconds: float = 1e3) -> None:
        self.robot.push([*force, 0.0, 0.0, 0.0], seconds)


def gears(seed: int, curves: Curves) -> list[Figure]:
    """Stiffness at the tool and first resonance of a UR5e, from its gears alone."""
    cell = Cell("ur5e", seed, {"friction": {"coulomb_nm": 200.0}, "gears": {"hysteresis_rad": 0.0}})
    arm, K = cell.robot.arm, cell.world.drive.stiffness[:6].copy()
    J, figures = arm.jacobian(cell.start)[:3], []
    compliance = J @ np.diag(1.0 / K) @ J.T
    for axis, name in enumerate("xyz"):
        cell.go(times=500)
        before, force = cell.tip, np.zeros(3)
        force[axis] = 30.0
        cell.push(force, 4.0)
        cell.go(times=1500)
        moved = (cell.tip - before)[axis]
        closed = 1e-3 / compliance[axis, axis]
        figures.append(
            within(
                f"UR5e, stiffness at the tool along {name} (published, derived: 20 to 90)",
                0.03 / moved,
                "N/mm",
                closed,
                0.03 * closed,
            )
        )
        cell.go(times=800)
    model, data = cell.robot.world.model, cell.robot.world.data
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    M -= np.diag(model.dof_armature)
    modes = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, np.diag(K))).real)) / (2 * math.pi)
    cell.push(np.array([0.0, 30.0, 0.0]), 2.0)
    cell.go(times=1001)
    track = np.array([(cell.go(), cell.tip[1])[1] for _ in range(1000)])
    frequency, power = _spectrum(track)
    found = float(frequency[np.argmax(power)])
    curves["Motion of the tip after a push [m]"] = DT * np.arange(400), (track - track[-1])[:400]
    nearest = float(modes[np.argmin(np.abs(modes - found))])
    return [
        *figures,
        within("UR5e, resonance after a push", found, "Hz", nearest, 1.0),
        within("UR5e, first mode (published, derived: 9 to 21 Hz)", float(modes[0]), "Hz", 15.0, 6.0),
    ]


def _spectrum(values: Array) -> tuple[Array, Array]:
    tapered = (values - values.mean()) * np.hanning(len(values))
    return np.fft.rfftfreq(8 * len(values), DT), np.abs(np.fft.rfft(tapered, 8 * len(values)))


def friction(seed: int, curves: Curves) -> list[Figure]:
    """The friction loop of the base joint, and slow motion beside what was measured on a UR5e."""
    cell = Cell(
        "ur5e", seed, {"friction": {"static_ratio": 1.0}, "gears": {"ripple_rad": 0.0}, "encoders": {"level": "ideal"}}
    )
    amplitude, rate = 0.05, 1.0
    angle, torque = [], []
    for k in range(round(3 / rate / DT)):
        q = cell.start.copy()
        q[0] += amplitude * math.sin(2 * math.pi * rate * k * DT)
        cell.go(q)
        angle.append(cell.world.drive.motor[0])
        torque.append(cell.world.drive.friction[0])
    moved, held = np.array(angle[-501:]), np.array(torque[-501:])
    half = np.ptp(moved) / 2
    area = float(np.sum(0.5 * (held[1:] + held[:-1]) * np.diff(moved)))
    closed = (
        4 * cell.world.drive.coulomb[0] * half + math.pi * cell.world.drive.viscous[0] * 2 * math.pi * rate * half**2
    )
    curves["Friction loop of the base joint [rad, N m]"] = moved, held
    slow = Cell("ur5e", seed)
    values = []
    for k in range(1500):
        q = slow.start.copy()
        q[0] += 0.075 * k * DT
        slow.go(q)
        values.append(slow.world.drive.friction[0])
    return [
        within("UR5e, area of the friction loop", area, "J", float(closed), 0.03 * float(closed)),
        within("UR5e, friction at 0.075 rad/s (measured 8.7 to 10.3)", float(np.mean(values[-700:])), "N m", 9.5, 0.8),
    ]


def encoders(seed: int, curves: Curves) -> list[Figure]:
    """Noise at rest, ripple in motion."""
    rest = Cell("ur5e", seed)
    rows = np.array([(rest.go(), rest.reading.q[:6].copy(), rest.reading.qd[:6].copy())[1:] for _ in range(2000)])
    moving = Cell("ur10e", seed)
    speed, seen = 0.96, []
    for k in range(1500):
        q = moving.start.copy()
        q[0] += speed * k * DT
        moving.go(q)
        seen.append(moving.reading.qd[0])
    ripple = np.array(seen[-1000:])
    frequency, power = _spectrum(ripple)
    curves["Reported speed of a UR10e base at 0.96 rad/s [rad/s]"] = DT * np.arange(250), ripple[:250]
    return [
        within(
            "UR5e, noise of q at rest (measured 11 to 21)", 1e6 * float(rows[:, 0].std(axis=0).mean()), "µrad", 16, 5
        ),
        at_most("UR5e, reported speed at rest (measured 0)", float(np.abs(rows[:, 1]).max()), "rad/s", 0.0),
        within("UR10e, ripple of the speed at 0.96 rad/s (measured 4)", 1e3 * float(ripple.std()), "mrad/s", 4.0, 1.0),
        within(
            "UR10e, frequency of the ripple (measured 30.5 to 31.2)",
            float(frequency[np.argmax(power)]),
            "Hz",
            30.9,
            0.5,
        ),
    ]


def sensor(seed: int, curves: Curves) -> list[Figure]:
    """Noise, its spectrum, and drift of the force sensor."""
    cell = Cell("ur10e", seed)
    rows = np.array([cell.go().wrench[:3].copy() for _ in range(30000)])
    white, force = np.diff(rows, axis=0).std(axis=0) / math.sqrt(2), rows[:, 2] - rows[0, 2]
    curves["Force sensor of a UR10e at rest [N]"] = DT * np.arange(0, 30000, 10), force[::10]
    figures = [within("UR10e, noise of a force (measured 0.24 to 0.32)", float(white.mean()), "N", 0.28, 0.04)]
    light = Cell("ur5e", seed, {"sensor": {"noise_n": 0.22, "wander_n": 0.06, "drift_n_min": 0.0, "thermal_n": 0.0}})
    values = np.array([light.go().wrench[:3].copy() for _ in range(20000)])
    raw = (values - values.mean(axis=0)).std(axis=0)
    for cutoff, published in FILTERED.items():
        keep, low, out = math.exp(-2 * math.pi * cutoff * 0.01), values[0].copy(), []
        for row in values[::5]:  # that sensor was read at 100 Hz
            low = keep * low + (1 - keep) * row
            out.append(low)
        ratio = float((np.array(out[50:]).std(axis=0) / raw).mean())
        figures.append(within(f"noise left by a low-pass of {cutoff:g} Hz", ratio, "", published, 0.15))
    quick = Cell("ur10e", seed, {"sensor": {"thermal_n": 0.0, "wander_n": 0.0, "noise_n": 0.0}})
    first = quick.go().wrench[2]
    drift = abs(float(quick.go(times=29999).wrench[2] - first))
    return [*figures, within("UR10e, drift in a minute (measured 0.33 to 0.55)", drift, "N", 0.42, 0.13)]


def lag(seed: int) -> list[Figure]:
    """How far a ramp of positions arrives late."""
    cell, speed = Cell("ur10e", seed), 0.3
    behind = []
    for k in range(1200):
        q = cell.start.copy()
        q[0] += speed * k * DT
        cell.go(q)
        behind.append((k + 1) * DT - (cell.reading.q[0] - cell.start[0]) / speed)
    return [
        within(
            "UR10e, lag of a ramp (measured 34 with a look-ahead of 30)",
            1e3 * float(np.mean(behind[-500:])),
            "ms",
            36,
            3,
        )
    ]


def cost(seed: int) -> list[Figure]:
    """Time of a simulated second with everything on, over that of the ideal world, side by side."""
    cells = {level: Cell("ur5e", seed, level=level) for level in ("ideal", "harsh")}
    spent = dict.fromkeys(cells, math.inf)
    for _ in range(15):
        for level, cell in cells.items():
            began = time.thread_time()
            cell.go(times=250)
            spent[level] = min(spent[level], time.thread_time() - began)
    return [
        at_most("time of a simulated second, everything on over ideal", spent["harsh"] / spent["ideal"], "", 2.0),
        reported("time of a simulated second, ideal", 2e3 * spent["ideal"], "ms"),
        reported("time of a simulated second, everything on", 2e3 * spent["harsh"], "ms"),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """All effects, one after the other."""
    began, curves, figures = time.perf_counter(), Curves(), []
    parts = (
        lambda: gears(seed, curves), lambda: friction(seed, curves), lambda: encoders(seed, curves),
        lambda: sensor(seed, curves), lambda: lag(seed), lambda: cost(seed),
    )  # fmt: skip
    for i, part in enumerate(parts):
        figures += part()
        progress((i + 1) / len(parts))
    return Outcome("realism", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(curves, path))


def _draw(curves: Curves, path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(
            2, 2, "The realistic world", "simulated, level typical", panel_inches=(6, 3), share_x=False
        )
        for ax, (title, (x, y)) in zip(axes.flat, curves.items(), strict=True):
            ax.plot(x, y, lw=0.8, color=theme.lines[0])
            style.label(ax, title)
    style.save(fig, path)
