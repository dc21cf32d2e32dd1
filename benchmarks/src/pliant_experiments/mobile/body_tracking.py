"""An arm on a differential-drive base: the tool stays on its path, and the base never has to move sideways."""

from __future__ import annotations

import math
import time
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.mobile.base.base_params import Base as BaseLimits
from pliant.mobile.whole_body.kinematic_body import Body
from pliant.mobile.whole_body.pose_ik import PoseSearch
from pliant.mobile.whole_body.program import WholeBodyMotion
from pliant_experiments.rivals.rival_body import drop_sideways
from pliant_experiments.scenes.body_scenes import (
    DT,
    PRESS_N,
    PUSH_N,
    Path,
    Pushed,
    Slid,
    Tracked,
    follow,
    push,
    slide,
)

Array = np.ndarray[Any, Any]

SECONDS, SLIDE_S, POSES = 20.0, 18.0, 500


# ---- the program alone ---------------------------------------------------------------------------------------------


def _program(body: Body, path: Path, *, informed: bool = True) -> tuple[Array, Array, Array, Array]:
    """Along a path with exact motion: error [m], joints, u, and the time [s] of every step by processor and clock."""
    motion, q, n = WholeBodyMotion(body, dt=DT), body.q_home, round(SECONDS / DT)
    error, joints, u, cost = np.zeros(n), np.zeros((n + 1, body.n)), np.zeros((n, body.m)), np.zeros((n, 2))
    joints[0] = q
    for i in range(n):
        target, twist = path.at(i * DT)
        began = time.thread_time_ns(), time.perf_counter_ns()
        step = motion.track(q, target, twist if informed else np.zeros(6))
        cost[i] = 1e-9 * (time.thread_time_ns() - began[0]), 1e-9 * (time.perf_counter_ns() - began[1])
        error[i], u[i] = np.linalg.norm(step.error[:3]), step.u
        joints[i + 1] = q = body.moved(q, step.u, DT)
    return error, joints, u, cost


def _sideways(base: Array) -> float:
    """Largest speed of a base [m/s] across its own heading, from its poses alone: across the chord of each arc."""
    step, middle = np.diff(base[:, :2], axis=0), 0.5 * (base[1:, 2] + base[:-1, 2])
    return float(np.abs(np.cos(middle) * step[:, 1] - np.sin(middle) * step[:, 0]).max()) / DT


def _excess(u: Array, joints: Array, body: Body) -> float:
    """By how much the worst step breaks a limit of wheels, base or joints (a share; 0 or less: none)."""
    limits, half = BaseLimits(), 0.5 * body.base.track_m
    v, omega, arm = u[:, 0], u[:, 1], u[:, 2:]
    last = np.vstack([np.zeros(body.m), u[:-1]])
    change = np.abs(u - last) / DT
    braking = (np.abs(v) < np.abs(last[:, 0])) | (v * last[:, 0] < 0.0)
    most = np.where(braking, limits.deceleration_m_s2, limits.acceleration_m_s2)
    chain, q = body.chain, joints[:, 3:]
    shares = (
        np.maximum(np.abs(v + half * omega), np.abs(v - half * omega)) / limits.wheel_m_s,
        np.maximum(v / limits.forward_m_s, -v / limits.backward_m_s),
        np.abs(omega) / limits.turn_rad_s,
        change[:, 0] / most,
        change[:, 1] / limits.turn_acceleration_rad_s2,
        change[:, 2:] / chain.a_max[3:],
        np.abs(arm) / chain.v_max[3:],
        np.maximum(q / chain.q_max[3:], q / chain.q_min[3:]),
    )
    return max(float(share.max()) for share in shares) - 1.0


def _alone(body: Body) -> tuple[list[Figure], Array]:
    path = Path(body.pose(body.q_home))
    error, joints, u, cost = _program(body, path)
    blind = _program(body, path, informed=False)[0]
    # no base can follow this: every speed is at a limit
    hurried = Path(path.start, speed=2.0, swings=((2.0, 0.3), (0.3, 0.7), (2.0, 0.5)))
    _, far, most, _ = _program(body, hurried)
    dropped, aware = drop_sideways(body, SECONDS, aware=False), drop_sideways(body, SECONDS, aware=True)
    sideways = max(_sideways(joints), _sideways(far))
    excess = max(_excess(u, joints, body), _excess(most, far, body))
    # the target applies to processor time: on a shared machine, elapsed time includes other programs
    busy, clock = 1e3 * cost[100:].T
    figures = [
        at_most("processor time of a step, 99 %", np.percentile(busy, 99), "ms", 0.3),
        reported("the same, median", np.median(busy), "ms"),
        reported("elapsed time of a step, 99 %", np.percentile(clock, 99), "ms"),
        at_most("sideways speed commanded to the base", sideways, "m/s", 1e-9),
        at_most("excess over limits, including a path that is too fast", 100 * excess, "%", 1e-6),
        at_most("RMS distance from the path, ideal motion", _rms_mm(error), "mm", 0.1),
        reported("the same without the target velocity: RMS distance", _rms_mm(blind), "mm"),
        reported("nine free joints, sideways part dropped: RMS distance", _rms_mm(dropped[:, 0]), "mm"),
        reported("the same with the true base pose in every step: RMS distance", _rms_mm(aware[:, 0]), "mm"),
    ]
    return figures, dropped


def _rms_mm(error: Array) -> float:
    return 1e3 * float(np.sqrt(np.mean(error**2)))


def _poses(body: Body, seed: int) -> list[Figure]:
    """Random reachable poses of the tool all over a hall, none near the start."""
    random, search = np.random.default_rng(seed), PoseSearch(body)
    found, cost, worst = 0, [], 0.0
    search.solve(body.pose(body.q_home), body.q_home)
    while len(cost) < POSES:
        base = (*random.uniform(-5, 5, 2), random.uniform(-math.pi, math.pi))
        target = body.pose((*base, *random.uniform(-math.pi, math.pi, body.arm_joints)))
        if target[2] < 0.05:
            continue
        began = time.thread_time_ns()
        answer = search.solve(target, body.q_home)
        cost.append(1e-6 * (time.thread_time_ns() - began))
        reached = body.pose(answer.q)
        apart = float(np.abs(reached[:3] - target[:3]).max())
        inside = bool(np.all((answer.q >= body.chain.q_min) & (answer.q <= body.chain.q_max)))
        found += answer.solved and inside and apart < 1e-5
        worst = max(worst, apart) if answer.solved else worst
    return [
        at_least(f"poses found, of {POSES}, base and arm free", 100 * found / POSES, "%", 99.8),
        reported("largest position error", 1e3 * worst, "mm"),
        reported("processor time of a search, 99 %", np.percentile(cost, 99), "ms"),
    ]


# ---- in the simulator ----------------------------------------------------------------------------------------------


def _tracking(planar: Tracked, wheels: Tracked) -> list[Figure]:
    alarms = sum(int(run.records["base"]["slipping"].sum()) for run in (planar, wheels))
    return [
        at_most("RMS distance from the path, planar base", planar.rms_mm, "mm", 1.5),
        at_most("RMS distance from the path, wheels", wheels.rms_mm, "mm", 3.0),
        reported("largest distance, wheels", 1e3 * wheels.error.max(), "mm"),
        reported("true sideways speed of the wheeled base", _sideways(_unwrapped(wheels.base)), "m/s"),
        at_most("slip reported without slip", alarms, "ticks", 0),
    ]


def _unwrapped(base: Array) -> Array:
    return np.column_stack([base[:, :2], np.unwrap(base[:, 2])])


def _sliding(soft: Slid, stiff: Slid) -> list[Figure]:
    press = soft.press_n[soft.sliding]
    base = soft.records["base"]["pose"]
    return [
        at_most(f"wall, {PRESS_N:g} N: RMS force error", np.sqrt(np.mean((press - PRESS_N) ** 2)), "N", 1.5),
        at_least("wall: smallest force while sliding", press.min(), "N", 0.5 * PRESS_N),
        at_least("wall: distance driven by the base", np.hypot(*(base[-1] - base[0])[:2]), "m", 2.5),
        at_most("wall: faults", soft.fault, "", 0),
        reported("the same without compliance: largest force", stiff.press_n.max(), "N"),
    ]


def _standing(planar: Pushed, wheels: Pushed) -> list[Figure]:
    return [
        reported(f"{PUSH_N:g} N sideways at the tool: rotation of a planar base", _turned(planar), "deg"),
        reported("the same on wheels", _turned(wheels), "deg"),
        at_most("time from the push until slip is detected, wheels", wheels.noticed_s, "s", 0.5),
    ]


def _turned(run: Pushed) -> float:
    return math.degrees(float(np.abs(run.heading - run.heading[0]).max()))


def run(seed: int, progress: Progress) -> Outcome:
    """The solver with ideal motion, pose searches, the path in the simulator, a wall, and a push."""
    began = time.perf_counter()
    body = Body()
    alone, dropped = _alone(body)
    progress(0.2)
    poses = _poses(body, seed)
    planar = follow(body, False, seed, SECONDS, lambda share: progress(0.2 + 0.15 * share))
    wheels = follow(body, True, seed, SECONDS, lambda share: progress(0.35 + 0.2 * share))
    soft = slide("comply", seed, SLIDE_S, lambda share: progress(0.55 + 0.2 * share))
    stiff = slide("track", seed, SLIDE_S, lambda share: progress(0.75 + 0.2 * share))
    pushes = push(False, seed), push(True, seed)
    progress(1.0)
    figures = [*alone, *poses, *_tracking(planar, wheels), *_sliding(soft, stiff), *_standing(*pushes)]
    return Outcome(
        "whole-body", seed, time.perf_counter() - began, figures,
        draw=lambda path: _draw(planar, wheels, dropped, soft, stiff, pushes, path),
    )  # fmt: skip


def _draw(
    planar: Tracked,
    wheels: Tracked,
    dropped: Array,
    soft: Slid,
    stiff: Slid,
    pushes: tuple[Pushed, Pushed],
    path: FilePath,
) -> None:
    with style.applied() as theme:
        subtitle = "UR5e on a differential-drive base, 500 Hz, simulated servo lag 34 ms, drive lag 30 ms"
        fig, axes = style.figure(2, 2, "Whole-body motion", subtitle, share_x=False, panel_inches=(6.0, 2.7))
        own, other, alarm = theme.lines[0], theme.lines[1], theme.alarm
        top = axes[0, 0]
        top.plot(wheels.target[:, 0], wheels.target[:, 1], color=theme.faint, lw=4, alpha=0.4, label="target")
        top.plot(wheels.tool[:, 0], wheels.tool[:, 1], color=own, label="tool")
        top.plot(wheels.base[:, 0], wheels.base[:, 1], color=other, label="base")
        top.plot(dropped[:, 1], dropped[:, 2], "--", color=alarm, label="base, sideways part dropped")
        top.set_xlabel("x [m]")
        top.set_aspect("equal", adjustable="datalim")
        style.label(top, "From above", "m", "y")
        axes[0, 1].semilogy(wheels.time_s, 1e3 * wheels.error, color=own, label="wheels")
        axes[0, 1].semilogy(planar.time_s, 1e3 * planar.error, color=other, label="planar")
        axes[0, 1].semilogy(
            DT * np.arange(len(dropped)), 1e3 * dropped[:, 0], "--", color=alarm, label="sideways part dropped"
        )
        axes[0, 1].set_ylim(1e-2, 1e3)
        style.label(axes[0, 1], "Tool position error", "mm", "distance")
        axes[1, 0].plot(soft.time_s, soft.press_n, color=own, label="compliant")
        axes[1, 0].plot(stiff.time_s, stiff.press_n, "--", color=alarm, label="without compliance")
        axes[1, 0].set_ylim(0, 60)
        style.label(axes[1, 0], "Sliding along a wall for 3 m", "N", "force")
        for pushed, colour, name in zip(pushes, (other, own), ("planar", "wheels"), strict=True):
            axes[1, 1].plot(pushed.time_s, np.degrees(pushed.heading), color=colour, label=name)
        style.label(axes[1, 1], f"{PUSH_N:g} N sideways at the tool", "deg", "heading")
        for ax in axes.flat:
            style.legend(ax)
        for ax in (axes[0, 1], axes[1, 0], axes[1, 1]):
            ax.set_xlabel("time [s]")
    style.save(fig, path)
