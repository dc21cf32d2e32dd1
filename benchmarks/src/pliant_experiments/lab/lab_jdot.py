"""Correct J̇, J̇ without its mixed terms, and no J̇: the effect of each on a tool that moves fast."""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Limits
from pliant.model.arm import Arm
from pliant_experiments.rivals.bare_inverse import L2, BareLaw, jacobian, jacobian_rate, run_bare, short_jacobian_rate
from pliant_experiments.scenes.two_link_lab import circle, lab_task, law, place, run_along

Array = np.ndarray[Any, Any]
Rate = Literal["right", "short", "none"]
RADIUS, HERTZ, SECONDS = 0.2, 0.8, 6.0


def _states(seed: int, n: int = 500) -> list[tuple[Array, Array]]:
    random = np.random.default_rng(seed)
    return [(random.uniform(-np.pi, np.pi, 2), random.uniform(-2, 2, 2)) for _ in range(n)]


def _against_differences(seed: int) -> list[Figure]:
    """Our J̇ q̇ and the closed form, both against differences of J, for the two-link arm and a UR5e."""
    two, ur, h = Arm.load("two_link"), Arm.load("ur5e"), 1e-6
    ours, closed, large = 0.0, 0.0, 0.0
    for q, qd in _states(seed):
        by_steps = (jacobian(q + h * qd) - jacobian(q - h * qd)) / (2 * h) @ qd
        ours = max(ours, np.abs(two.jdot_qd(q, qd)[:2] - by_steps).max())
        closed = max(closed, np.abs(jacobian_rate(q, qd) @ qd - by_steps).max())
    random = np.random.default_rng(seed)
    for _ in range(100):
        q, qd = random.uniform(-2, 2, 6), random.uniform(-2, 2, 6)
        by_steps = (ur.jacobian(q + h * qd) - ur.jacobian(q - h * qd)) / (2 * h) @ qd
        large = max(large, np.abs(ur.jdot_qd(q, qd) - by_steps).max())
    return [
        at_most("J̇ q̇ of the tick against finite differences of J, two links", ours, "m/s²", 1e-7),
        at_most("J̇ in closed form against finite differences of J, two links", closed, "m/s²", 1e-7),
        at_most("J̇ q̇ of the tick against finite differences of J, UR5e", large, "m/s² or rad/s²", 1e-7),
    ]


def _against_pinocchio(seed: int) -> tuple[list[Figure], list[str]]:
    try:
        pin: Any = importlib.import_module("pinocchio")
    except ImportError:
        return [], ["Pinocchio is not installed. To compare, run pip install -e '.[dev]' in Pliant's folder."]
    model = pin.Model()
    first = model.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "one")
    second = model.addJoint(first, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([1.0, 0, 0])), "two")
    tip = model.addFrame(pin.Frame("tip", second, pin.SE3(np.eye(3), np.array([L2, 0, 0])), pin.FrameType.OP_FRAME))
    data, arm, gap = model.createData(), Arm.load("two_link"), 0.0
    for q, qd in _states(seed, 200):
        pin.computeJointJacobiansTimeVariation(model, data, q, qd)
        pin.updateFramePlacements(model, data)
        rate = pin.getFrameJacobianTimeVariation(model, data, tip, pin.LOCAL_WORLD_ALIGNED)
        gap = max(gap, np.abs(rate @ qd - arm.jdot_qd(q, qd)).max())
    return [at_most("J̇ q̇ of the tick against Pinocchio, two links", gap, "m/s²", 1e-9)], []


def _short(seed: int) -> list[Figure]:
    """The contribution of the mixed terms."""
    gap = 0.0
    for q, qd in _states(seed):
        lacks = (jacobian_rate(q, qd) - short_jacobian_rate(q, qd)) @ qd
        angle = q.sum()
        formula = -2 * L2 * qd[0] * qd[1] * np.array([np.cos(angle), np.sin(angle)])
        gap = max(gap, np.abs(lacks - formula).max())
    q, qd = np.radians([45.0, -45.0]), np.ones(2)
    size = float(np.linalg.norm((short_jacobian_rate(q, qd) - jacobian_rate(q, qd)) @ qd))
    return [
        at_most("incomplete J̇ q̇: lacks −2 l₂ q̇₁ q̇₂ (cos q₁₂, sin q₁₂), difference", gap, "m/s²", 1e-12),
        within("incomplete J̇ q̇: missing term at 1 rad/s in both joints", size, "m/s²", 1.2, 1e-9),
    ]


def _circles() -> tuple[list[Figure], dict[str, Array]]:
    way = circle(RADIUS, HERTZ)
    soft: dict[str, Any] = {"mass": 5.0, "damping": 100.0, "stiffness": 250.0}
    gaps: dict[str, Array] = {}

    def waiting(t: float) -> tuple[Array, Array, Array]:
        return way(max(0.0, t - 1.5))

    for name, on in (("Pliant, with J̇", True), ("Pliant, without J̇", False)):
        # the circle is faster than a tool may be by default
        fast = Limits(linear_speed_m_s=2.0, linear_acceleration_m_s2=20.0)
        records = run_along(lab_task(SECONDS, law(**soft, use_jdot=on), limits=fast), waiting)
        gaps[name] = place(records) - records["goal"]["pose"][:, :2]
    rates: tuple[tuple[str, Rate], ...] = (
        ("textbook law, correct J̇", "right"),
        ("textbook law, incomplete J̇", "short"),
        ("textbook law, without J̇", "none"),
    )
    for name, rate in rates:
        trace = run_bare(BareLaw(**soft, rate=rate), SECONDS, waiting)
        gaps[name] = trace.place - np.array([waiting(t)[0] for t in trace.time_s])
    late = slice(round(3.5 * 1000), None)
    off = {name: 1e3 * float(np.linalg.norm(gap[late], axis=1).max()) for name, gap in gaps.items()}
    figures = [
        at_most("circle of 0.2 m at 0.8 Hz, Pliant: largest position error", off["Pliant, with J̇"], "mm", 1.0),
        at_least("the same, without J̇", off["Pliant, without J̇"], "mm", 5.0),
        reported("the same, textbook law with the correct J̇", off["textbook law, correct J̇"], "mm"),
        at_least("the same, textbook law with the incomplete J̇", off["textbook law, incomplete J̇"], "mm", 5.0),
        reported("the same, textbook law without J̇", off["textbook law, without J̇"], "mm"),
    ]
    del gaps["textbook law, without J̇"]  # in the picture its line would hide that of Pliant without J̇
    return figures, gaps


def run(seed: int, progress: Progress) -> Outcome:
    """J̇ against finite differences and another library; the missing terms; a fast circle with each."""
    began = time.perf_counter()
    figures = _against_differences(seed)
    progress(0.2)
    other, notes = _against_pinocchio(seed)
    figures += [*other, *_short(seed)]
    progress(0.4)
    circles, gaps = _circles()
    progress(1.0)
    return Outcome(
        "lab-jdot", seed, time.perf_counter() - began, [*figures, *circles], notes, lambda path: _draw(gaps, path)
    )


def _draw(gaps: dict[str, Array], path: Path) -> None:
    with style.applied() as theme:
        subtitle = (
            f"two-link arm, 1 kHz; circle of {RADIUS:g} m at {HERTZ:g} Hz from 1.5 s; M 5 kg, B 100 N s/m, K 250 N/m"
        )
        fig, axes = style.figure(1, 1, "Effect of J̇ on a fast circle", subtitle, panel_inches=(9.0, 3.4))
        for (name, gap), colour, line in zip(
            gaps.items(), theme.lines[: len(gaps)], ("-", "-", ":", "--"), strict=True
        ):
            times = 0.001 * np.arange(len(gap))
            axes[0, 0].plot(times, 1e3 * np.linalg.norm(gap, axis=1), line, color=colour, label=name)
        axes[0, 0].set_xlim(1.4, SECONDS)
        axes[0, 0].set_ylim(0, 40)
        axes[0, 0].set_xlabel("time [s]")
        style.label(axes[0, 0], "Position error", "mm")
        style.legend(axes[0, 0])
    style.save(fig, path)
