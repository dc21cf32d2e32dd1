"""Does a force along x move the tool along y? Not if −Jᵀf cancels the push on the joints; otherwise it does."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Limits
from pliant.model.two_link import V_MAX
from pliant.session.in_process.fast_run import simulate
from pliant.world.world_config import Failure
from pliant_experiments.rivals.bare_inverse import BareLaw, jacobian, mass_matrix, run_bare
from pliant_experiments.scenes.two_link_lab import SILENT, STIFFNESS, lab_task, law, moved, push, pushed, rest

Array = np.ndarray[Any, Any]
FORCE = 10.0
# The static balance of the equations when the push counts twice: K e = f + M J M_q⁻¹ Jᵀ f [mm].
TWICE = (43.93, 59.83)
HEAVY = (1.0, 2.0, 5.0, 10.0)


def _compare() -> tuple[list[Figure], dict[tuple[int, bool], Array]]:
    figures, runs = [], {}
    for axis in (0, 1):
        name = "xy"[axis]
        for cancel in (True, False):
            runs[axis, cancel] = pushed(axis, FORCE, 6.0, law(cancel_force=cancel)).records
        good, bad = rest(runs[axis, True]), rest(runs[axis, False])
        across = np.abs(moved(runs[axis, True])[:, 1 - axis]).max()
        figures += [
            within(f"10 N along {name}, with −Jᵀf: deflection", good[axis], "mm", 40.0, 0.2),
            at_most(f"10 N along {name}, with −Jᵀf: largest cross-axis motion", across, "mm", 0.1),
            within(f"10 N along {name}, without −Jᵀf: deflection", bad[axis], "mm", TWICE[axis], 0.05),
            reported(f"10 N along {name}, without −Jᵀf: cross-axis deflection", bad[1 - axis], "mm"),
        ]
    return figures, runs


def _independent() -> list[Figure]:
    """The textbook law in closed form, which shares only the simulator with Pliant's."""
    figures = []
    for axis in (0, 1):
        sim = lab_task(6.0, pushes=(push(axis, FORCE),)).sim
        trace = run_bare(BareLaw(cancel_force=False), 6.0, sim=sim)
        way = 1e3 * (trace.place[-1] - trace.place[0])[axis]
        figures.append(
            within(f"textbook law, without −Jᵀf, along {'xy'[axis]}: deflection", way, "mm", TWICE[axis], 0.05)
        )
    return figures


def _masses() -> tuple[list[Figure], tuple[Array, Array, Array]]:
    """Deflection against the virtual mass: it must not matter."""
    good, bad = [], []
    for mass in HEAVY:
        damping = max(100.0, 2 * np.sqrt(STIFFNESS * mass))
        good.append(rest(pushed(1, FORCE, 6.0, law(mass, damping)).records)[1])
        bad.append(rest(pushed(1, FORCE, 12.0, law(mass, damping, cancel_force=False)).records)[1])
    q = np.radians([45.0, -45.0])
    lightness = (jacobian(q) @ np.linalg.solve(mass_matrix(q), jacobian(q).T))[1, 1]
    figures = [
        at_most(
            "with −Jᵀf, M = 1 … 10 kg: largest error of the 40 mm deflection",
            np.abs(np.array(good) - 40).max(),
            "mm",
            0.2,
        ),
        reported("without −Jᵀf, M = 2 kg: deflection along y", bad[1], "mm"),
        at_least("without −Jᵀf, M = 10 kg: deflection along y", bad[-1], "mm", 80.0),
        reported("acceleration along y per unit push at the start, without a law", lightness, "1/kg"),
    ]
    sim = lab_task(20.0, pushes=(push(1, FORCE),)).sim
    heavy = run_bare(BareLaw(mass=100.0, cancel_force=False), 20.0, sim=sim)
    ours = pushed(1, FORCE, 20.0, law(100.0, cancel_force=False)).records
    figures += [
        reported("M = 100 kg, without −Jᵀf, textbook law: runs away after", heavy.ran_away_s - 0.5, "s"),
        at_most(
            "the same with Pliant's limits: largest share of the joint speed limit",
            100 * np.abs(ours["reading"]["qd"]).max() / (Limits().speed_scale * V_MAX[0]),
            "%",
            140.0,
        ),
    ]
    return figures, (np.array(HEAVY), np.array(good), np.array(bad))


def _sensorless() -> list[Figure]:
    """The simple form with a sensor that gives no reading from the start: the push acts by itself."""
    blind, figures = SILENT.model_copy(update={"failures": (Failure(kind="missing", at_s=0.0),)}), []
    for axis in (0, 1):
        run = simulate(lab_task(7.0, law(form="simple"), pushes=(push(axis, FORCE),), sensor=blind))
        rests = rest(run.records)
        name = f"simple form, no sensor, 10 N along {'xy'[axis]}"
        figures += [
            within(f"{name}: deflection", rests[axis], "mm", 40.0, 0.2),
            at_most(f"{name}: cross-axis deflection", abs(rests[1 - axis]), "mm", 0.1),
            within(f"{name}: ended in a fault (1 is yes)", float(run.fault != ""), "", 0.0, 0.0),
        ]
    return figures


def run(seed: int, progress: Progress) -> Outcome:
    """The same push with and without −Jᵀf, with two laws and several masses."""
    began = time.perf_counter()
    compared, runs = _compare()
    progress(0.4)
    other = [*_independent(), *_sensorless()]
    progress(0.6)
    masses, points = _masses()
    progress(1.0)
    return Outcome(
        "lab-cross-coupling", seed, time.perf_counter() - began, [*compared, *other, *masses],
        draw=lambda path: _draw(runs, points, path),
    )  # fmt: skip


def _draw(runs: dict[tuple[int, bool], Array], points: tuple[Array, Array, Array], path: Path) -> None:
    with style.applied() as theme:
        subtitle = (
            "two-link arm, 1 kHz; M 1 kg (right: varied), B 100 N s/m, K 250 N/m; 10 N from 0.5 s; dashed: no −Jᵀf"
        )
        fig, axes = style.figure(
            2, 3, "Does a force along one axis move the other?", subtitle, share_x=False, panel_inches=(4.6, 2.6)
        )
        for axis in (0, 1):
            for row, k in ((0, axis), (1, 1 - axis)):
                ax = axes[row, axis]
                for cancel, line in ((True, "-"), (False, "--")):
                    records = runs[axis, cancel]
                    name = "with −Jᵀf" if cancel else "without"
                    ax.plot(records["time_s"], moved(records)[:, k], line, color=theme.xyz[k], label=name)
                style.label(ax, f"10 N along {'xy'[axis]}: {'xy'[k]}", "mm", "xy"[k])
                ax.set_xlabel("time [s]")
                style.legend(ax)
        axes[1, 2].set_visible(False)
        masses, good, bad = points
        axes[0, 2].plot(masses, good, "o-", color=theme.lines[0], label="with −Jᵀf")
        axes[0, 2].plot(masses, bad, "o--", color=theme.alarm, label="without")
        axes[0, 2].set_xlabel("virtual mass [kg]")
        style.label(axes[0, 2], "10 N along y: y", "mm", "deflection")
        style.legend(axes[0, 2])
    style.save(fig, path)
