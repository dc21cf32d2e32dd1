"""Stiff along x, soft along y; the stiff axis rotated by 30 degrees; a push out of reach along the soft axis."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Impedance, Limits
from pliant.model.two_link import TAU_MAX, V_MAX
from pliant.session.in_process.fast_run import simulate
from pliant_experiments.scenes.two_link_lab import asked_torque, lab_task, law, moved, place, push, rest

Array = np.ndarray[Any, Any]
STIFF, SOFT = 1000.0, 50.0
STIFF_B, SOFT_B, LITTLE_B = 60.0, 10.0, 2.0
TURN_DEG = 30.0


def _axes(turn_deg: float = 0.0, soft_damping: float = SOFT_B) -> Impedance:
    """Stiff along an axis turned by `turn_deg` from x, soft across; damping along the same axes."""
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    R = np.array([[c, -s], [s, c]])
    K, B = np.zeros((6, 6)), np.zeros((6, 6))
    K[:2, :2], B[:2, :2] = R @ np.diag([STIFF, SOFT]) @ R.T, R @ np.diag([STIFF_B, soft_damping]) @ R.T
    return law(stiffness=K.tolist(), damping=B.tolist())


def _pushed(impedance: Impedance, force: tuple[float, float], seconds: float = 6.0) -> Array:
    hand = (push(0, force[0]), push(1, force[1]))
    return simulate(lab_task(seconds, impedance, pushes=hand)).records


def _straight() -> tuple[list[Figure], Array]:
    both, x_only = _pushed(_axes(), (10.0, -10.0)), _pushed(_axes(), (10.0, 0.0))
    y_only = _pushed(_axes(), (0.0, -10.0))
    return [
        within("stiff x: deflection under 10 N", rest(both)[0], "mm", 1e4 / STIFF, 0.05),
        within("soft y: deflection under −10 N", rest(both)[1], "mm", -1e4 / SOFT, 1.0),
        at_most("pushed along x only: largest motion along y", np.abs(moved(x_only)[:, 1]).max(), "mm", 0.1),
        at_most("pushed along y only: final motion along x", abs(rest(y_only)[0]), "mm", 0.1),
        reported("pushed along y only: largest transient motion along x", np.abs(moved(y_only)[:, 0]).max(), "mm"),
    ], both


def _turned() -> tuple[list[Figure], Array]:
    records = _pushed(_axes(TURN_DEG), (10.0, 0.0))
    K = np.array(_axes(TURN_DEG).stiffness)[:2, :2]
    wanted = 1e3 * np.linalg.solve(K, [10.0, 0.0])
    return [
        within("stiff axis rotated by 30°, 10 N along x: deflection in x", rest(records)[0], "mm", wanted[0], 0.3),
        within("stiff axis rotated by 30°, 10 N along x: deflection in y", rest(records)[1], "mm", wanted[1], 0.3),
    ], records


def _out_of_reach() -> tuple[list[Figure], Array]:
    """The soft direction, with little damping, pulled to full length and let go."""
    hand = (push(1, 40.0, 0.5, 3.0, 0.1),)
    records = simulate(lab_task(14.0, _axes(soft_damping=LITTLE_B), pushes=hand)).records
    qd = np.abs(records["reading"]["qd"][:, :2]) / (Limits().speed_scale * np.array(V_MAX))
    return [
        at_least(
            "40 N along the soft y: largest distance from the shoulder",
            np.linalg.norm(place(records), axis=1).max(),
            "m",
            1.59,
        ),
        reported("the same: largest requested share of a joint torque limit", asked_torque(records, TAU_MAX), "%"),
        at_most("the same: largest share of the joint speed limit", 100 * qd.max(), "%", 140.0),
        at_most("released: final distance from the start", np.linalg.norm(moved(records)[-1]), "mm", 1.0),
    ], records


def run(seed: int, progress: Progress) -> Outcome:
    """Two stiffnesses along x and y, along rotated axes, and a push beyond the reach."""
    began = time.perf_counter()
    straight, both = _straight()
    progress(0.4)
    turned, tilted = _turned()
    progress(0.6)
    beyond, far = _out_of_reach()
    progress(1.0)
    return Outcome(
        "lab-anisotropic", seed, time.perf_counter() - began, [*straight, *turned, *beyond],
        draw=lambda path: _draw(both, tilted, far, path),
    )  # fmt: skip


def _draw(both: Array, tilted: Array, far: Array, path: Path) -> None:
    with style.applied() as theme:
        title = "Stiff in one direction, soft in the other"
        subtitle = (
            f"two-link arm, 1 kHz; M 1 kg; stiff axis: K {STIFF:g} N/m, B {STIFF_B:g} N s/m; "
            f"soft axis: K {SOFT:g} N/m, B {SOFT_B:g} N s/m (third panel: {LITTLE_B:g})"
        )
        fig, axes = style.figure(1, 3, title, subtitle, share_x=False, panel_inches=(4.6, 3.0))
        names = (
            "10 N along x, −10 N along y",
            "Stiff axis rotated by 30°, 10 N along x",
            "40 N along y for 3 s, little damping",
        )
        for ax, records, name in zip(axes[0], (both, tilted, far), names, strict=True):
            for axis in (0, 1):
                ax.plot(records["time_s"], moved(records)[:, axis], color=theme.xyz[axis], label="xy"[axis])
            style.label(ax, name, "mm", "motion")
            ax.set_xlabel("time [s]")
            ax.legend(loc="best")
    style.save(fig, path)
