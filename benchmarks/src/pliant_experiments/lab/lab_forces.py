"""Forces on the lab's arm: it deflects by force over stiffness, only along the force, for any virtual mass."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Limits
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Event
from pliant.world.world_config import Push, Sensor
from pliant_experiments.scenes.two_link_lab import (
    DAMPING,
    DT,
    MASS,
    STIFFNESS,
    lab_task,
    law,
    moved,
    place,
    push,
    pushed,
    rest,
)

Array = np.ndarray[Any, Any]
FORCE = 10.0
WANTED = 1e3 * FORCE / STIFFNESS
ON_S, OFF_S, END_S = 0.5, 3.5, 6.5


def _script(axis: int, seed: int, *, virtual: bool) -> Array:
    """Push and release: by a hand with a noisy sensor, or as a virtual push."""
    wrench = [0.0] * 6
    wrench[axis] = FORCE
    if virtual:
        on, off = (
            Event.model_validate({"at_s": t, "virtual_push": w}) for t, w in ((ON_S, wrench), (OFF_S, [0.0] * 6))
        )
        return simulate(lab_task(END_S, events=(on, off))).records
    hand = push(axis, FORCE, ON_S, OFF_S - ON_S, 0.05)
    return simulate(lab_task(END_S, seed=seed, pushes=(hand,), sensor=Sensor(noise_n=0.05))).records


def _figures_of(axis: int, real: Array, virtual: Array) -> list[Figure]:
    name, held = "xy"[axis], slice(round((OFF_S - 0.4) / DT), round((OFF_S - 0.1) / DT))
    return [
        within(f"10 N along {name}, by hand: deflection", moved(real)[held, axis].mean(), "mm", WANTED, 0.005 * WANTED),
        within(
            f"10 N along {name}, virtual: deflection", moved(virtual)[held, axis].mean(), "mm", WANTED, 0.005 * WANTED
        ),
        at_most(f"10 N along {name}: largest cross-axis motion", np.abs(moved(virtual)[:, 1 - axis]).max(), "mm", 0.1),
        at_most(
            f"10 N along {name}, by hand: mean cross-axis deflection",
            abs(moved(real)[held, 1 - axis].mean()),
            "mm",
            0.1,
        ),
        at_most(
            f"released: distance from the start after {END_S - OFF_S:g} s", abs(moved(virtual)[-1, axis]), "mm", 0.1
        ),
    ]


def _masses() -> list[Figure]:
    """The same push with a virtual mass of 1 to 100 kg."""
    off, across, ever = [], [], []
    for mass in (1.0, 3.0, 10.0, 30.0, 100.0):
        for axis in (0, 1):
            records = pushed(axis, FORCE, 26.0 if mass > 5 else 5.0, law(mass)).records
            off.append(rest(records)[axis] - WANTED)
            across.append(abs(rest(records)[1 - axis]))
            ever.append(np.abs(moved(records)[:, 1 - axis]).max())
    return [
        at_most(
            "M = 1 … 100 kg: error of the 40 mm deflection, largest of 10", np.abs(off).max(), "mm", 0.005 * WANTED
        ),
        at_most("M = 1 … 100 kg: cross-axis deflection, largest of 10", np.max(across), "mm", 0.1),
        at_most("M = 1 … 100 kg: cross-axis motion, largest of 10", np.max(ever), "mm", 0.1),
    ]


def _energy(seed: int) -> tuple[list[Figure], tuple[Array, Array, Array, Array]]:
    """Twenty random pushes: the energy supplied by the hand is stored in mass and spring, or was dissipated by the
    damper.
    """
    random = np.random.default_rng(seed)
    pushes = tuple(
        Push(at_s=0.2 + 0.35 * i, for_s=0.35, ramp_s=0.02, wrench=(*random.uniform(-8, 8, 2), 0, 0, 0, 0))
        for i in range(20)
    )
    # an active limit would remove energy: this is the balance of the law alone
    free = Limits(linear_speed_m_s=3.0)
    records = simulate(lab_task(9.0, law(damping=20.0), pushes=pushes, limits=free)).records
    force, v = records["observed"]["wrench"][:, :2], records["observed"]["twist"][:, :2]
    e = place(records) - place(records)[0]
    put = np.concatenate([[0], np.cumsum(np.diff(e, axis=0) * 0.5 * (force[1:] + force[:-1]))[1::2]])
    stored = 0.5 * MASS * (v**2).sum(axis=1) + 0.5 * STIFFNESS * (e**2).sum(axis=1)
    taken = np.concatenate([[0], np.cumsum(20.0 * 0.5 * ((v[1:] + v[:-1]) ** 2 / 2).sum(axis=1) * DT)])
    gap = np.abs(put - stored - taken).max() / put.max()
    figures = [
        reported("20 random pushes: largest energy supplied by the hand", put.max(), "J"),
        at_least("energy supplied by the hand, minimum", put.min(), "J", -1e-6),
        at_least("supplied minus stored in mass and spring, minimum", (put - stored).min(), "J", -1e-3),
        at_most("energy balance, supplied = stored + damped: error", 100 * gap, "%", 2.0),
    ]
    return figures, (records["time_s"], put, stored, taken)


def run(seed: int, progress: Progress) -> Outcome:
    """Pushes along x and y, by hand and virtual; five masses; twenty random pushes."""
    began = time.perf_counter()
    runs = {(axis, kind): _script(axis, seed, virtual=kind) for axis in (0, 1) for kind in (False, True)}
    progress(0.4)
    figures = [figure for axis in (0, 1) for figure in _figures_of(axis, runs[axis, False], runs[axis, True])]
    figures += _masses()
    progress(0.8)
    energy, curves = _energy(seed)
    progress(1.0)
    return Outcome(
        "lab-forces",
        seed,
        time.perf_counter() - began,
        [*figures, *energy],
        draw=lambda path: _draw(runs, curves, path),
    )


def _draw(runs: dict[tuple[int, bool], Array], energy: tuple[Array, Array, Array, Array], path: Path) -> None:
    with style.applied() as theme:
        subtitle = (
            f"two-link arm, 1 kHz; M {MASS:g} kg, B {DAMPING:g} N s/m (random pushes: 20), K {STIFFNESS:g} N/m; 10 N"
        )
        fig, axes = style.figure(
            3, 2, "Forces and the resulting motion", subtitle, panel_inches=(6.0, 2.2), share_x=False
        )
        for axis in (0, 1):
            real, virtual = runs[axis, False], runs[axis, True]
            for row, unit, title in ((0, "N", "Force along"), (1, "mm", "Motion, force along")):
                for k in (0, 1):
                    data = real["observed"]["wrench"][:, k] if row == 0 else moved(real)[:, k]
                    axes[row, axis].plot(real["time_s"], data, color=theme.xyz[k], label="xy"[k], lw=1.2)
                style.label(axes[row, axis], f"{title} {'xy'[axis]}", unit)
            line = {"ls": "--", "color": theme.faint, "label": "virtual push", "lw": 1.0}
            axes[1, axis].plot(virtual["time_s"], moved(virtual)[:, axis], **line)
        times, put, stored, taken = energy
        axes[2, 0].plot(times, put, color=theme.text, label="supplied")
        axes[2, 0].plot(times, stored, color=theme.lines[0], label="stored")
        axes[2, 0].plot(times, taken, color=theme.lines[1], label="damper")
        style.label(axes[2, 0], "Twenty random pushes, B = 20", "J", "energy")
        axes[2, 1].plot(times, 1e3 * (put - stored - taken), color=theme.lines[0])
        style.label(axes[2, 1], "Supplied minus stored minus damped", "mJ", "energy")
        for ax in axes.flat:
            ax.set_xlabel("time [s]")
            style.legend(ax)
    style.save(fig, path)
