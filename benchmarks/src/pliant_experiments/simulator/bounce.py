"""A bouncing body never leaves a surface with more energy than it had, however stiff the surface."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Outcome, at_least, at_most
from pliant.model.tool import Tool
from pliant.records import COMMAND, TORQUE
from pliant.robots.simulated import SimRobot
from pliant.world.world_config import SimConfig, Surface

# A 2 kg ball that slides freely in the x–z plane: every joule can be counted.
BALL = """<mujoco><worldbody><body name="carrier">
<joint name="x" type="slide" axis="1 0 0" range="-50 50"/>
<inertial pos="0 0 0" mass="0.001" diaginertia="1e-6 1e-6 1e-6"/>
<body name="ball"><joint name="z" type="slide" axis="0 0 1" range="-50 50"/>
<inertial pos="0 0 0" mass="2" diaginertia="1e-3 1e-3 1e-3"/><site name="tool"/></body></body></worldbody></mujoco>"""
MASS, GRAVITY, RADIUS = 2.0, 9.81, 0.01
STIFFNESS = (1e3, 1e4, 1e5, 1e6)
DAMPING = (0.0, 20.0)
FRICTION = (0.0, 0.3)
SLOPES_DEG = (0.0, 15.0)
DROPS = 12


def _drop(path: Path, surface: Surface, height: float, seconds: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Let the ball fall; returns time, height and energy at every tick (energy only in free flight)."""
    robot = SimRobot(
        str(path), Tool(tip_radius_m=RADIUS), SimConfig(surfaces=(surface,)), 0.001, (0.0, height), "torque"
    )
    w = robot.world.record[0]
    command = COMMAND.new()
    command[0].mode = TORQUE
    n = round(seconds / 0.001)
    rows = np.zeros((n, 3))
    for i in range(n):
        robot.write(command)
        q, v = robot.world.data.qpos, robot.world.data.qvel
        # the integrator's velocity belongs to the middle of the step: half a step of gravity on, it belongs to q,
        # and the energy of free flight is constant to the last digit
        vz = v[1] - 0.5 * GRAVITY * float(w.h)
        energy = 0.5 * (MASS * vz**2 + (MASS + 0.001) * v[0] ** 2) + MASS * GRAVITY * q[1]
        rows[i] = w.time, q[1], np.nan if w.surface[0].touching else energy
    return rows[:, 0], rows[:, 1], rows[:, 2]


def run(seed: int, progress: Progress) -> Outcome:
    """Drop a ball from random heights on surfaces of different stiffness, damping, friction and slope."""
    began = time.perf_counter()
    random = np.random.default_rng(seed)
    worst, bounces, done, lines = -np.inf, 0, 0, []
    cases = [(k, d, mu, s) for k in STIFFNESS for d in DAMPING for mu in FRICTION for s in SLOPES_DEG]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ball.xml"
        path.write_text(BALL)
        for k, d, mu, slope in cases:
            surface = Surface(
                position_m=(0.0, 0.0, 0.0), stiffness_n_m=k, damping_n_s_m=d, friction=mu, rpy_deg=(0.0, slope, 0.0)
            )
            for drop in range(DROPS // 4):
                height = RADIUS + 0.02 + 0.2 * float(random.random())
                _, _, energy = _drop(path, surface, height, 1.5)
                flights = _flights(energy)
                gains = np.diff(flights) / flights[0]
                bounces += len(gains)
                worst = max(worst, float(gains.max(initial=-1.0)))
                if drop == 0 and mu == 0.0 and slope == 0.0:
                    t, z, _ = _drop(path, surface, RADIUS + 0.1, 1.5)
                    lines.append((f"{k:g} N/m, {d:g} N s/m", t, z - RADIUS))
            done += 1
            progress(done / len(cases))
    figures = [
        at_least("bounces", bounces, "", 100),
        at_most("largest energy gain in a bounce", worst, "of the initial energy", 0.0),
    ]
    return Outcome("bounce", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(lines, path))


def _flights(energy: np.ndarray) -> np.ndarray:
    """The energy of every flight between two contacts: it is constant in flight, so its first tick stands for it."""
    free = ~np.isnan(energy)
    edges = np.flatnonzero(np.diff(free.astype(int)))
    parts = np.split(energy, edges + 1)
    return np.array([part[0] for part in parts if not np.isnan(part[0]) and len(part) > 1])


def _draw(lines: list[tuple[str, np.ndarray, np.ndarray]], path: Path) -> None:
    with style.applied() as theme:
        fig, axes = style.figure(1, 1, "A 2 kg ball dropped from 100 mm on level surfaces", panel_inches=(9, 3.6))
        for i, (name, t, z) in enumerate(lines):
            axes[0, 0].plot(t, z * 1e3, color=theme.lines[i % 7], ls="-" if i < 7 else "--", lw=1, label=name)
        axes[0, 0].set_xlabel("time [s]")
        style.label(axes[0, 0], "Height of the tip", "mm")
        axes[0, 0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    style.save(fig, path)
