"""Mass, centre of mass and sensor offset of a tool within 1 % and 2 mm; unusable data is rejected with a reason."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.identify.payload_fit import Payload, PayloadError, check, identify
from pliant.identify.payload_motion import (
    POSES,
    choose_poses,
    com_in_flange,
    com_std_in_flange,
    gravity_in_sensor,
    identify_payload,
    most_kg,
    payload_settings,
    take_readings,
)
from pliant.model.arm import Arm
from pliant.model.tool import Tool
from pliant.params.declare import changed
from pliant.session.session import Session
from pliant.task.schema import Task
from pliant.world.world_config import Sensor, SimConfig
from pliant_experiments.rivals.explicit_law import matrix_of

Array = np.ndarray[Any, Any]

TCP = (0.0, 0.0, 0.15)
BIAS = (4.0, -6.0, 9.0, 0.3, -0.2, 0.1)
TOOLS = (
    Tool(mass_kg=0.5, com_m=(0.0, 0.0, 0.04), tcp_m=TCP),
    Tool(mass_kg=1.0, com_m=(0.02, -0.03, 0.07), tcp_m=TCP),
    Tool(mass_kg=3.0, com_m=(-0.05, 0.04, 0.11), tcp_m=TCP),
)
SENSOR = Sensor(bias=BIAS)
# A sensor that is turned by 30° about the flange's axis and tilted by 5°.
MOUNT_DEG, TILT_DEG = 30.0, 5.0
SEEDS, SAMPLES = 400, 250
# A calibration of this kind has been published: 0.072 kg, 2.59 m away.
PUBLISHED = (0.072, 2.59)
QUARTER = math.pi / 2


def _task(tool: Tool, seed: int) -> Task:
    """An arm with `tool` mounted; the controller knows only its length."""
    return Task(tool=Tool(tcp_m=TCP), sim=SimConfig(seed=seed, sensor=SENSOR, tool=tool))


# ---- on the simulated arm ------------------------------------------------------------------------------------------


def _errors(tool: Tool, task: Task, found: Payload) -> tuple[Array, Array]:
    """Errors of mass [kg], centre [m, flange axes] and bias [N, N m], and the reported uncertainties."""
    error = np.concatenate([
        [found.mass_kg - tool.mass_kg], com_in_flange(task.tool, found) - tool.com_m, found.bias - np.array(BIAS)
    ])  # fmt: skip
    return error, np.concatenate([[found.mass_std_kg], com_std_in_flange(task.tool, found), found.bias_std])


def _tools(seed: int, progress: Progress) -> tuple[list[Figure], list[tuple[Tool, Array, Array]], Payload]:
    figures, rows, all_found = [], [], []
    for i, tool in enumerate(TOOLS):
        task = _task(tool, seed + i)
        found = identify_payload(task, fast=True)
        all_found.append(found)
        error, std = _errors(tool, task, found)
        rows.append((tool, error, std))
        away = f"{tool.mass_kg:g} kg, centre {np.linalg.norm(tool.com_m) * 1e3:.0f} mm away"
        figures += [
            at_most(f"{away}: mass error", 100 * abs(error[0]) / tool.mass_kg, "%", 1.0),
            at_most(f"{away}: centre error", np.linalg.norm(error[1:4]) * 1e3, "mm", 2.0),
            reported(f"{away}: residual force per pose", found.residual_n, "N"),
        ]
        progress(0.1 * (i + 1))
    normal = np.concatenate([error / std for _, error, std in rows])
    figures += [
        reported(f"largest condition number, {POSES} poses", max(found.condition for found in all_found)),
        reported("largest error of the sensor offset", max(np.abs(e[4:7]).max() for _, e, _ in rows), "N"),
        reported("these errors relative to their standard deviation, RMS", np.sqrt((normal**2).mean()), "×"),
    ]
    return figures, rows, all_found[-1]


def _mount(seed: int) -> tuple[list[Figure], Array, Array]:
    """A sensor that is rotated on the flange: identified on request. Returns readings and gravity too."""
    turn, tilt = math.radians(MOUNT_DEG) / 2, math.radians(TILT_DEG) / 2
    quat = (math.cos(turn) * math.cos(tilt), math.cos(turn) * math.sin(tilt),
            math.sin(turn) * math.sin(tilt), math.sin(turn) * math.cos(tilt))  # fmt: skip
    real = Tool(mass_kg=1.0, com_m=TOOLS[1].com_m, tcp_m=TCP, sensor_quat=quat)
    task = _task(real, seed)
    readings = take_readings(task, fast=True)
    found = identify(readings.wrenches, readings.gravity, find_mount=True)
    check(found, max_mass_kg=most_kg(Arm.load("ur5e")))
    # the result for the task file: the sensor's axes on the flange
    written = payload_settings(task.tool, found)["tool.sensor_quat"]
    apart = matrix_of(np.array(written)).T @ matrix_of(np.array(quat))
    angle = math.degrees(math.acos(min(1.0, (np.trace(apart) - 1) / 2)))
    error = com_in_flange(task.tool, found) - real.com_m
    return [
        at_most(f"sensor rotated by {MOUNT_DEG:g}°, tilted by {TILT_DEG:g}°: rotation error", angle, "°", 0.2),
        reported("its standard deviation", math.degrees(float(np.linalg.norm(found.mount_std_rad))), "°"),
        at_most("the same: mass error", 100 * abs(found.mass_kg - real.mass_kg) / real.mass_kg, "%", 1.0),
        at_most("the same: centre error", np.linalg.norm(error) * 1e3, "mm", 2.0),
    ], readings.wrenches, readings.gravity  # fmt: skip


# ---- is the spread as reported? ------------------------------------------------------------------------------------


def _poses() -> Array:
    """Gravity in the sensor frame in the poses that the arm would take."""
    arm = Arm.load("ur5e")
    return np.array([gravity_in_sensor(arm, q) for q in choose_poses(arm, np.array(arm.q_home), POSES)])


def _readings(mass: float, com: Any, gravity: Array, random: np.random.Generator) -> Array:
    """Means of noisy, quantised samples (n, 6)."""
    true = np.hstack([mass * gravity, np.cross(mass * np.array(com), gravity)]) + BIAS
    noise = np.repeat([SENSOR.noise_n, SENSOR.noise_nm], 3)
    step = np.repeat([SENSOR.step_n, SENSOR.step_nm], 3)
    samples = true + noise * random.normal(size=(SAMPLES, *true.shape))
    return (np.round(samples / step) * step).mean(axis=0)


def _spread(seed: int, progress: Progress) -> tuple[list[Figure], Array]:
    """Errors over their standard deviations, for many sensors that differ in their noise only."""
    random, gravity, tool = np.random.default_rng(seed), _poses(), TOOLS[1]
    rows = []
    for i in range(SEEDS):
        found = identify(_readings(tool.mass_kg, tool.com_m, gravity, random), gravity)
        rows.append(np.concatenate([
            [(found.mass_kg - tool.mass_kg) / found.mass_std_kg],
            (found.com_m - np.array(tool.com_m)) / found.com_std_m,
            (found.bias - np.array(BIAS)) / found.bias_std,
        ]))  # fmt: skip
        progress(0.5 + 0.2 * (i + 1) / SEEDS)
    normal = np.array(rows)
    spread = np.sqrt((normal**2).mean(axis=0))
    return [
        within(
            f"errors relative to their standard deviation, RMS of {SEEDS}", np.sqrt((normal**2).mean()), "×", 1.0, 0.1
        ),
        within("the same, the parameter farthest from 1", spread[np.abs(spread - 1).argmax()], "×", 1.0, 0.2),
    ], normal


# ---- what is rejected ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Readings that must not be accepted as a calibration."""

    what: str
    wrenches: Array
    gravity: Array


def _taken_as_it_is(case: Case) -> tuple[float, float]:
    """Mass [kg] and distance of the centre [m] from least squares without checks."""
    eye = np.tile(np.eye(3), (len(case.gravity), 1))
    A = np.column_stack([case.gravity.reshape(-1), eye])
    mass = np.linalg.lstsq(A, case.wrenches[:, :3].reshape(-1), rcond=None)[0][0]
    # column k: e_k × g
    crosses = np.vstack([np.cross(np.eye(3), g).T for g in case.gravity])
    moments = np.linalg.lstsq(np.hstack([crosses, eye]), case.wrenches[:, 3:].reshape(-1), rcond=None)[0]
    return float(mass), float(np.linalg.norm(moments[:3] / mass))


def _cases(seed: int, turned: tuple[Array, Array]) -> list[Case]:
    random, gravity = np.random.default_rng(seed + 1), _poses()
    tool = TOOLS[1]
    light, far = PUBLISHED
    good = _readings(tool.mass_kg, tool.com_m, gravity, random)
    touched = good.copy()
    touched[::3, 0] += 8.0
    alike = take_readings(_task(tool, seed), fast=True, reach=0.01)
    heavy = take_readings(_task(Tool(mass_kg=6.0, com_m=(0.0, 0.0, 0.05)), seed), fast=True)
    return [
        Case(f"{light:g} kg, {far:g} m away", _readings(light, (0.0, 0.6, 2.5194), gravity, random), gravity),
        Case("1 kg, 2 poses", good[:2], gravity[:2]),
        Case("1 kg, wrist rotated by half a degree", alike.wrenches, alike.gravity),
        Case("6 kg on an arm for 5 kg", heavy.wrenches, heavy.gravity),
        Case("1 kg, touched with 8 N in every third pose", touched, gravity),
        Case("0.01 kg", _readings(0.01, (0.0, 0.0, 0.05), gravity, random), gravity),
        Case(f"1 kg, sensor rotated by {MOUNT_DEG:g}°, mount not identified", *turned),
        Case("1 kg, sensor of opposite sign", -good, gravity),
    ]


def _refusal(case: Case, max_mass_kg: float) -> str:
    """Why it is rejected; empty if it is not."""
    try:
        check(identify(case.wrenches, case.gravity), max_mass_kg=max_mass_kg)
    except PayloadError as error:
        return str(error)
    return ""


def _refusals(seed: int, turned: tuple[Array, Array]) -> tuple[list[Figure], list[str]]:
    figures, notes, most = [], [], most_kg(Arm.load("ur5e"))
    for case in _cases(seed, turned):
        why = _refusal(case, most)
        mass, away = _taken_as_it_is(case)
        figures += [
            at_least(f"{case.what}: rejected (1 is yes)", float(bool(why)), "", 1),
            reported(f"{case.what}: result without the check, mass", mass, "kg"),
            reported(f"{case.what}: result without the check, distance of the centre", away * 1e3, "mm"),
        ]
        notes.append(f"{case.what}: {why or 'accepted'}")
    return figures, notes


# ---- a tare that accounts for gravity ------------------------------------------------------------------------------


def _tare(seed: int, found: Payload) -> tuple[list[Figure], tuple[Array, Array, Array]]:
    """The running loop is tared at home, then the wrist turns by 90°."""
    tool, blank = TOOLS[-1], _task(TOOLS[-1], seed)
    settings = payload_settings(blank.tool, found)
    known = Tool(mass_kg=settings["tool.mass_kg"], com_m=tuple(settings["tool.com_m"]), tcp_m=TCP)
    task = Task.model_validate({**blank.model_dump(), "tool": known, "duration_s": 600.0,
                                "params": changed(blank.params, {"limits.speed_scale": 0.4}).model_dump()})  # fmt: skip
    with Session(task) as arm:
        arm.tare(1.0)
        first = arm.board.head
        goal = arm.arm.q_home.copy()
        goal[3] += QUARTER
        arm.wait(0.5)
        arm.move_joints(goal)
        arm.wait(4.0)
        records, _, _ = arm.board.read(first)
    raw, t = records["reading"]["wrench"], records["time_s"] - records["time_s"][0]
    # the same readings; the mean before the turn, weight included, is taken as zero
    naive = raw - raw[: round(0.4 / task.dt)].mean(axis=0)
    ours, last = records["observed"]["wrench"], slice(-round(1.0 / task.dt), None)
    expected = tool.mass_kg * float(np.linalg.norm(arm.arm.gravity)) * math.sqrt(2)
    figures = [
        at_most("tared, then rotated by 90°: remaining force", np.linalg.norm(ours[last, :3].mean(axis=0)), "N", 0.1),
        at_most(
            "tared, then rotated by 90°: remaining moment", np.linalg.norm(ours[last, 3:].mean(axis=0)), "N m", 0.02
        ),
        reported("tare that ignores gravity: remaining force", np.linalg.norm(naive[last, :3].mean(axis=0)), "N"),
        reported("tare that ignores gravity: remaining moment", np.linalg.norm(naive[last, 3:].mean(axis=0)), "N m"),
        reported("expected remaining force: m g √2", expected, "N"),
    ]
    return figures, (t, np.linalg.norm(ours[:, :3], axis=1), np.linalg.norm(naive[:, :3], axis=1))


def run(seed: int, progress: Progress) -> Outcome:
    """Three tools, a rotated sensor, many sensors, unusable data, and a tare."""
    began = time.perf_counter()
    tools, rows, found = _tools(seed, progress)
    mount, *turned = _mount(seed)
    progress(0.45)
    spread, normal = _spread(seed, progress)
    refusals, notes = _refusals(seed, (turned[0], turned[1]))
    progress(0.85)
    tare, forces = _tare(seed, found)
    progress(1.0)
    return Outcome(
        "payload", seed, time.perf_counter() - began, [*tools, *mount, *spread, *tare, *refusals], notes,
        draw=lambda path: _draw(rows, normal, forces, path),
    )  # fmt: skip


def _draw(rows: list[tuple[Tool, Array, Array]], normal: Array, forces: tuple[Array, Array, Array], path: Path) -> None:
    with style.applied() as theme:
        subtitle = f"sim:ur5e, {POSES} poses, noise {SENSOR.noise_n:g} N, steps of {SENSOR.step_n:g} N"
        fig, axes = style.figure(2, 2, "Identified tool weight", subtitle, share_x=False, panel_inches=(6.0, 2.6))
        names = [f"{tool.mass_kg:g} kg" for tool, _, _ in rows]
        at = np.arange(len(rows))
        percent = np.array([[error[0], 2 * std[0]] for _, error, std in rows]).T
        percent *= 100 / np.array([tool.mass_kg for tool, _, _ in rows])
        axes[0, 0].errorbar(at, percent[0], percent[1], fmt="o", color=theme.lines[0], capsize=4)
        _between(axes[0, 0], 1.0, theme)
        style.label(axes[0, 0], "Mass error (bars: 2 standard deviations)", "%")
        for k in range(3):
            error = np.array([[e[1 + k], 2 * std[1 + k]] for _, e, std in rows]).T * 1e3
            axes[0, 1].errorbar(
                at + 0.12 * (k - 1), error[0], error[1], fmt="o", color=theme.xyz[k], capsize=3, label="xyz"[k]
            )
        _between(axes[0, 1], 2.0, theme)
        style.label(axes[0, 1], "Centre of mass error", "mm")
        for ax in axes[0]:
            ax.set_xticks(at, names)
            ax.set_xlim(-0.5, len(rows) - 0.5)
        x = np.linspace(-4.5, 4.5, 200)
        axes[1, 0].hist(normal.reshape(-1), np.linspace(-4.5, 4.5, 46), density=True, color=theme.lines[5])
        axes[1, 0].plot(x, np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi), color=theme.text, lw=1, label="normal")
        axes[1, 0].set_xlabel("error relative to its standard deviation [-]")
        style.label(axes[1, 0], f"Normalised errors of {SEEDS} sensors", "-", "density")
        t, ours, naive = forces
        axes[1, 1].plot(t, naive, "--", color=theme.alarm, label="tare without gravity")
        axes[1, 1].plot(t, ours, color=theme.lines[0], label="Pliant")
        axes[1, 1].set_xlabel("time since the tare [s]")
        style.label(axes[1, 1], "3 kg, rotated by 90°", "N", "remaining force")
        for ax in (axes[0, 1], axes[1, 0], axes[1, 1]):
            style.legend(ax)
    style.save(fig, path)


def _between(ax: Any, target: float, theme: style.Theme) -> None:
    """Zero, and the target on either side of it."""
    ax.axhline(0.0, color=theme.faint, lw=0.8)
    for sign in (-1.0, 1.0):
        ax.axhline(sign * target, color=theme.alarm, lw=1)
    ax.set_ylim(-1.25 * target, 1.25 * target)
