"""The simulated force sensor measures like a real one: weight, inertia, noise, resolution, range, dropouts."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Outcome, at_most, reported, within
from pliant.model.tool import Tool
from pliant.records import COMMAND, POSITION, READING, WRENCH_MISSING, WRENCH_SATURATED
from pliant.robots.simulated import SimRobot
from pliant.world.world_config import Push, Sensor, SimConfig

DT = 0.002
TOOL = Tool(
    mass_kg=1.2, com_m=(0.01, -0.02, 0.05), tcp_m=(0.0, 0.0, 0.12), sensor_quat=(math.cos(0.3), 0, 0, math.sin(0.3))
)
QUIET = Sensor(noise_n=0.0, noise_nm=0.0, step_n=0.0, step_nm=0.0)


def _watch(config: SimConfig, q: Any, ticks: int, swing: float = 0.0) -> tuple[SimRobot, np.ndarray[Any, Any]]:
    """Hold the arm at `q` (or swing its base joint by `swing` rad at 1 Hz) and collect readings."""
    robot = SimRobot("ur5e", TOOL, config, DT, q)
    command, reading, rows = COMMAND.new(), READING.new(), READING.new(ticks)
    command[0].mode = POSITION
    for i in range(ticks):
        robot.read(reading)
        rows[i] = reading[0]
        command[0].q[: robot.arm.n] = q
        command[0].q[0] += swing * (1 - math.cos(2 * math.pi * i * DT))
        robot.write(command)
    return robot, rows


def _weight(robot: SimRobot, q: Any) -> np.ndarray[Any, Any]:
    """The wrench that the tool's weight alone puts on the sensor, in its frame: from the pose, by plain vectors."""
    pose = robot.arm.sensor_pose(q)
    force = _rotate(pose[3:] * (1, -1, -1, -1), TOOL.mass_kg * robot.arm.gravity)
    return np.concatenate([force, np.cross(TOOL.com_in_sensor_m, force)])


def run(seed: int, progress: Progress) -> Outcome:
    """Compare readings with expected weight and inertia; measure noise, resolution, saturation and dropouts."""
    began = time.perf_counter()
    random = np.random.default_rng(seed)
    home = SimRobot("ur5e", TOOL, SimConfig(), DT).arm.q_home
    worst = np.zeros(2)
    for _ in range(20):
        q = home + random.uniform(-1, 1, 6)
        robot, rows = _watch(SimConfig(seed=seed, sensor=QUIET), q, 20)
        gap = np.abs(rows["wrench"][-1] - _weight(robot, q))
        worst = np.maximum(worst, [gap[:3].max(), gap[3:].max()])
    progress(0.3)
    inertia, swing = _inertia(home, seed)
    progress(0.5)
    noisy = Sensor(noise_n=0.3, noise_nm=0.02, step_n=0.0, step_nm=0.0, bias=(1.0, -2.0, 3.0, 0.1, 0.2, -0.3))
    robot, rows = _watch(SimConfig(seed=seed, sensor=noisy), home, 20000)
    error = rows["wrench"] - _weight(robot, home)
    _, stepped = _watch(SimConfig(seed=seed, sensor=Sensor(step_n=0.5, step_nm=0.05)), home, 200)
    grid = stepped["wrench"] / np.array([0.5] * 3 + [0.05] * 3)
    progress(0.8)
    hard = (Push.model_validate({"at_s": 0.2, "for_s": 0.2, "ramp_s": 0.0, "wrench": (300.0, 0, 0, 0, 0, 0)}),)
    _, pushed = _watch(SimConfig(seed=seed, pushes=hard, sensor=Sensor(range_n=200.0)), home, 200)
    _, dropped = _watch(SimConfig(seed=seed, sensor=Sensor(dropout=0.1)), home, 5000)
    progress(1.0)
    figures = [
        at_most("tool weight in 20 poses, largest force error", worst[0], "N", 1e-3),
        at_most("tool weight in 20 poses, largest moment error", worst[1], "N m", 1e-4),
        at_most("tool inertia while swinging, largest force error", inertia, "N", 0.05),
        reported("largest inertial force in that swing", swing, "N"),
        within("noise, declared 0.3 N", error[:, :3].std(0).mean(), "N", 0.3, 0.006),
        within("noise, declared 0.02 N m", error[:, 3:].std(0).mean(), "N m", 0.02, 0.0004),
        at_most("offset, largest error", np.abs(error.mean(0) - noisy.bias).max(), "N, N m", 0.01),
        at_most("resolution, largest distance from the grid", np.abs(grid - np.round(grid)).max(), "steps", 1e-9),
        within("largest reading under 300 N, range 200 N", np.abs(pushed["wrench"][:, :3]).max(), "N", 200.0, 1e-9),
        reported("ticks marked as saturated", (pushed["wrench_state"] == WRENCH_SATURATED).sum()),
        within("dropouts, declared 0.1", (dropped["wrench_state"] == WRENCH_MISSING).mean(), "", 0.1, 0.015),
    ]
    return Outcome("sensor", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(rows, pushed, path))


def _inertia(home: Any, seed: int) -> tuple[float, float]:
    """Swing the base joint; the reading minus the weight must be mass times acceleration of the centre."""
    robot, rows = _watch(SimConfig(seed=seed, sensor=QUIET), home, 1500, swing=0.15)
    arm = robot.arm
    centre = np.zeros((len(rows), 3))
    for i, q in enumerate(rows["q"][:, : arm.n]):
        pose = arm.sensor_pose(q)
        centre[i] = pose[:3] + _rotate(pose[3:], TOOL.com_in_sensor_m)
    acceleration = np.gradient(np.gradient(centre, DT, axis=0), DT, axis=0)
    felt = np.array(
        [
            _rotate(arm.sensor_pose(q)[3:], row["wrench"][:3]) - TOOL.mass_kg * arm.gravity
            for q, row in zip(rows["q"][:, : arm.n], rows, strict=True)
        ]
    )
    look = slice(400, 1400)
    due = -TOOL.mass_kg * acceleration[look]
    return float(np.abs(felt[look] - due).max()), float(np.linalg.norm(due, axis=1).max())


def _rotate(quat: Any, v: Any) -> np.ndarray[Any, Any]:
    w, u = quat[0], np.asarray(quat[1:])
    return np.asarray(v) + 2 * np.cross(u, np.cross(u, v) + w * np.asarray(v))


def _draw(noisy: np.ndarray[Any, Any], pushed: np.ndarray[Any, Any], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(2, 1, "The simulated force sensor", "raw, in the sensor frame", share_x=False)
        t = np.arange(1000) * DT
        for axis in range(3):
            axes[0, 0].plot(t, noisy["wrench"][:1000, axis], color=theme.xyz[axis], lw=0.8, label="xyz"[axis])
            axes[1, 0].plot(t[:200], pushed["wrench"][:, axis], color=theme.xyz[axis], label="xyz"[axis])
        style.label(axes[0, 0], "At rest: tool weight, offset, noise", "N", "force")
        style.label(axes[1, 0], "Pushed with 300 N, range 200 N", "N", "force")
        axes[1, 0].set_xlabel("time [s]")
        style.legend(axes[0, 0])
    style.save(fig, path)
