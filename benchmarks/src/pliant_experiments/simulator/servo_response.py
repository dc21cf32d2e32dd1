"""The simulated servo follows a command with the declared bandwidth and delay."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Outcome, reported, within
from pliant.model.tool import Tool
from pliant.records import COMMAND, POSITION, READING
from pliant.robots.simulated import SimRobot
from pliant.world.world_config import Servo, SimConfig

DT, JOINT, AMPLITUDE = 0.002, 0, 0.002


def respond(servo: Servo, frequency: float, seed: int) -> tuple[float, float]:
    """Gain [-] and lag [s] of a joint that follows a sine of `frequency` [Hz]."""
    robot = SimRobot("ur5e", Tool(), SimConfig(seed=seed, servo=servo), DT)
    home, command, reading = robot.arm.q_home, COMMAND.new(), READING.new()
    command[0].mode = POSITION
    whole = max(3, math.ceil(1.0 * frequency))
    settle, look = round(1.0 / DT), round(whole / frequency / DT)
    times, answers = np.zeros(look), np.zeros(look)
    for i in range(settle + look):
        robot.read(reading)
        if i >= settle:
            times[i - settle], answers[i - settle] = i * DT, reading[0].q[JOINT] - home[JOINT]
        command[0].q[: robot.arm.n] = home
        command[0].q[JOINT] += AMPLITUDE * math.sin(2 * math.pi * frequency * i * DT)
        robot.write(command)
    basis = np.column_stack([np.sin(2 * np.pi * frequency * times), np.cos(2 * np.pi * frequency * times)])
    (a, b), *_ = np.linalg.lstsq(basis, answers, rcond=None)
    phase = math.atan2(-b, a) % (2 * math.pi)
    return math.hypot(a, b) / AMPLITUDE, phase / (2 * math.pi * frequency)


def run(seed: int, progress: Progress) -> Outcome:
    """Frequency response of a joint, for three servos."""
    began = time.perf_counter()
    servos = {
        "default": Servo(),
        "quick": Servo(bandwidth_hz=20, delay_s=0.002),
        "slow": Servo(bandwidth_hz=4, delay_s=0.02),
    }
    figures, curves = [], []
    for i, (name, servo) in enumerate(servos.items()):
        gain, _ = respond(servo, servo.bandwidth_hz, seed)
        _, lag = respond(servo, 0.5, seed)
        figures += [
            within(f"{name}: gain at the declared {servo.bandwidth_hz:g} Hz", 20 * math.log10(gain), "dB", -3.01, 0.3),
            within(f"{name}: lag of a slow command", lag * 1e3, "ms", servo.lag_s * 1e3, 1.5),
            reported(f"{name}: transport delay", servo.delay_s * 1e3, "ms"),
        ]
        grid = np.geomspace(0.5, 40, 12)
        curves.append((name, servo, grid, np.array([respond(servo, f, seed)[0] for f in grid])))
        progress((i + 1) / len(servos))
    return Outcome("servo", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(curves, path))


def _draw(curves: list[tuple[str, Servo, np.ndarray, np.ndarray]], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(1, 1, "Simulated servo", "points: measured; lines: declared", panel_inches=(8, 4))
        ax = axes[0, 0]
        for i, (name, servo, grid, gain) in enumerate(curves):
            smooth = np.geomspace(grid[0], grid[-1], 200)
            declared = 1 / (1 + (2 * np.pi * smooth / servo.omega) ** 2)
            ax.plot(smooth, 20 * np.log10(declared), "-", color=theme.lines[i], lw=1)
            ax.plot(grid, 20 * np.log10(gain), "o", color=theme.lines[i], label=f"{name}, {servo.bandwidth_hz:g} Hz")
        ax.axhline(-3.01, color=theme.faint, ls="--", lw=1)
        ax.set_xscale("log")
        ax.set_xlabel("frequency of the command [Hz]")
        style.label(ax, "Frequency response", "dB", "gain")
        ax.legend(loc="lower left")
    style.save(fig, path)
