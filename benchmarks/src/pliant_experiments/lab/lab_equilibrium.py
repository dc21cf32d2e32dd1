"""A moving equilibrium: followed without lag, out of reach, through the shoulder, and to twenty random positions."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.control.parameters import Limits
from pliant.model.two_link import LENGTH, TAU_MAX, V_MAX
from pliant.session.in_process.fast_run import simulate
from pliant_experiments.rivals.bare_inverse import BareLaw, Trace, run_bare, still
from pliant_experiments.scenes.two_link_lab import (
    DAMPING,
    MASS,
    STIFFNESS,
    X0,
    Goal,
    asked_torque,
    circle,
    goal_at,
    lab_task,
    law,
    moved,
    place,
    run_along,
    speed,
)

Array = np.ndarray[Any, Any]
FAR = ((0.2, 0.1), (1.5, 1.5))
RADIUS, HERTZ = 0.15, 0.5
HEAVY_KG, HEAVY_DAMPING = 20.0, 200.0
"""Virtual mass and damping on the circle; elsewhere the lab's defaults apply."""
INNER, OUTER = abs(LENGTH[0] - LENGTH[1]), sum(LENGTH)
MARGIN, TOP, SCALE = Limits().reach_margin_m, Limits().linear_speed_m_s, Limits().speed_scale
# The tool's speed may exceed its limit by a twentieth while it is being limited.
FAST = 1.05
STIFF = (250.0, 2e3, 7e3, 2e4)


def _without_acceleration(goal: Goal) -> Goal:
    return lambda t: (goal(t)[0], goal(t)[1], np.zeros(2))


def _followed() -> tuple[list[Figure], dict[str, Array], float]:
    """A circle of 0.3 m across, once round in two seconds, with a heavy mass: its acceleration matters."""
    way, heavy = circle(RADIUS, HERTZ), law(mass=HEAVY_KG, damping=HEAVY_DAMPING)
    off = {}
    for name, goal in (("with", way), ("without", _without_acceleration(way))):
        records = run_along(lab_task(8.0, heavy), _after(goal, 2.0))
        late = records["time_s"] > 4.0
        wanted = np.array([_after(way, 2.0)(t)[0] for t in records["time_s"][late]])
        off[name] = 1e3 * np.linalg.norm(place(records)[late] - wanted, axis=1).max(), records
    left = _steady_error_mm()
    return (
        [
            at_most(
                "circle of 0.15 m at 0.5 Hz, M 20 kg, with acceleration: largest position error",
                off["with"][0],
                "mm",
                0.5,
            ),
            within("the same without acceleration: largest position error", off["without"][0], "mm", left, 0.1 * left),
        ],
        {name: records for name, (_, records) in off.items()},
        left,
    )


def _steady_error_mm() -> float:
    """Position error on the steady circle when the acceleration is left out: M a / |K - M ω² + i B ω|."""
    omega = 2 * math.pi * HERTZ
    return 1e3 * HEAVY_KG * RADIUS * omega**2 / math.hypot(STIFFNESS - HEAVY_KG * omega**2, HEAVY_DAMPING * omega)


def _after(goal: Goal, seconds: float) -> Goal:
    """The goal stays at its start for a while."""
    return lambda t: goal(max(0.0, t - seconds))


def _edge(x: float, y: float) -> Array:
    """Where an equilibrium out of reach is moved to."""
    far = math.hypot(x, y)
    return np.array([x, y]) / far * min(max(far, INNER + MARGIN), OUTER - MARGIN)


def _unreachable() -> tuple[list[Figure], dict[tuple[float, float], tuple[Array, Trace]]]:
    figures, runs = [], {}
    for x, y in FAR:
        back = (goal_at(x, y), goal_at(X0[0], X0[1], 5.0))
        records = simulate(lab_task(10.0, events=back)).records
        bare = run_bare(BareLaw(), 2.0, still(x, y))
        runs[x, y] = records, bare
        qd = np.abs(records["reading"]["qd"][:, :2]) / (SCALE * np.array(V_MAX))
        name = f"({x:g}, {y:g})"
        off = 1e3 * np.linalg.norm(place(records)[4990] - _edge(x, y))
        figures += [
            at_most(
                f"{name}: largest requested share of a joint torque limit", asked_torque(records, TAU_MAX), "%", 100.0
            ),
            at_most(f"{name}: largest share of the joint speed limit", 100 * qd.max(), "%", 100.0),
            at_most(f"{name}: largest tool speed", speed(records).max(), "m/s", FAST * TOP),
            at_most(f"{name}: distance from the nearest reachable position", off, "mm", 1.0),
            at_most(f"{name}: distance from the start after the return", np.linalg.norm(moved(records)[-1]), "mm", 1.0),
            *_bare(name, still(x, y), bare),
        ]
    return figures, runs


def _bare(name: str, goal: Goal, bare: Trace) -> list[Figure]:
    """The textbook law with the same equilibrium: with unlimited drives, and with ours."""
    clamped = run_bare(BareLaw(), 10.0, goal, tau_max=np.array(TAU_MAX))
    end = np.abs(clamped.qd[-500:]).max()
    return [
        reported(f"{name}, textbook law: time until 100 rad/s", bare.ran_away_s, "s"),
        reported(
            f"{name}, textbook law: time until 10 000 rad/s",
            run_bare(BareLaw(), 2.0, goal, runaway=1e4).ran_away_s,
            "s",
        ),
        reported(f"{name}, textbook law: largest torque until 100 rad/s", np.abs(bare.tau).max(), "N m"),
        reported(f"{name}, textbook law, same torque limits: largest joint speed", np.abs(clamped.qd).max(), "rad/s"),
        reported(f"{name}, textbook law, same torque limits: joint speed after 10 s", end, "rad/s"),
    ]


def _stiff() -> list[Figure]:
    """Springs of up to 20 kN/m after a jump: the arm must come to rest."""
    figures = []
    for form in ("shaped", "simple"):
        worst = 0.0
        for stiffness in STIFF:
            impedance = law(MASS, 2.0 * math.sqrt(MASS * stiffness), stiffness, form=form)
            records = simulate(lab_task(8.0, impedance, events=(goal_at(1.0, 0.9),))).records
            worst = max(worst, float(np.abs(records["reading"]["qd"][-200:]).max()))
        name = f"{form}, K {STIFF[0]:g} … {STIFF[-1]:g} N/m, after a jump of 0.36 m: final joint speed"
        figures.append(at_most(name, worst, "rad/s", 1e-3))
    return figures


def _through() -> tuple[list[Figure], Array]:
    """From one side of the shoulder to the other in 4 s, straight through the hole in the reach, and back."""
    first, last = np.array([1.0, 0.3]), np.array([-1.0, -0.1])

    def at(t: float) -> tuple[Array, Array, Array]:
        s = min(max(t - 2.0, 0.0) / 4.0, 1.0) if t < 12 else 1.0 - min((t - 12.0) / 4.0, 1.0)
        share = s * s * (3 - 2 * s)
        return first + share * (last - first), np.zeros(2), np.zeros(2)

    records = run_along(lab_task(22.0), at)
    reached = [1e3 * np.linalg.norm(place(records)[i] - goal) for i, goal in ((11990, last), (-1, first))]
    return [
        at_most("straight through the shoulder: final distance from the far side", reached[0], "mm", 1.0),
        at_most("and back: final distance from the near side", reached[1], "mm", 1.0),
        reported(
            "on this path: smallest distance from the shoulder", np.linalg.norm(place(records), axis=1).min(), "m"
        ),
        at_most("on this path: largest joint speed", np.abs(records["reading"]["qd"]).max(), "rad/s", SCALE * V_MAX[0]),
        at_most("on this path: largest tool speed", speed(records).max(), "m/s", FAST * TOP),
    ], records


def _random(seed: int) -> list[Figure]:
    random, worst, reached = np.random.default_rng(seed), 0.0, []
    for _ in range(20):
        x, y = random.uniform(-3, 3, 2)
        records = simulate(lab_task(14.0, events=(goal_at(x, y),))).records
        worst = max(worst, float(np.abs(records["reading"]["qd"]).max()))
        off = np.linalg.norm(place(records)[-1] - _edge(x, y))
        reached.append(off < 2e-3 and len(records) == 14000)
    return [
        at_most("20 random positions within 3 m: largest joint speed", worst, "rad/s", SCALE * V_MAX[0]),
        at_least(
            "of them, settled at the position or at the nearest reachable one", 100 * np.mean(reached), "%", 100.0
        ),
    ]


def run(seed: int, progress: Progress) -> Outcome:
    """A circle, two positions out of reach, a path through the shoulder, twenty random positions."""
    began = time.perf_counter()
    followed, circles, left = _followed()
    progress(0.25)
    unreachable, runs = _unreachable()
    progress(0.5)
    through, crossing = _through()
    progress(0.75)
    figures = [*followed, *unreachable, *_stiff(), *through, *_random(seed)]
    progress(1.0)
    return Outcome(
        "lab-equilibrium", seed, time.perf_counter() - began, figures,
        draw=lambda path: _draw(circles, left, runs, crossing, path),
    )  # fmt: skip


def _draw(
    circles: dict[str, Array],
    left: float,
    runs: dict[tuple[float, float], tuple[Array, Trace]],
    crossing: Array,
    path: Path,
) -> None:
    with style.applied() as theme:
        subtitle = (
            f"two-link arm, 1 kHz; M {MASS:g} kg, B {DAMPING:g} N s/m, K {STIFFNESS:g} N/m; grey: limit of reach; "
            "dashed: textbook law"
        )
        fig, axes = style.figure(2, 2, "Moving equilibrium", subtitle, share_x=False, panel_inches=(5.4, 3.6))
        angle = np.linspace(0, 2 * math.pi, 200)
        for ax in (axes[0, 0], axes[1, 0]):
            for radius in (INNER, OUTER):
                ax.plot(radius * np.cos(angle), radius * np.sin(angle), color=theme.grid, lw=2)
            ax.set_aspect("equal")
            ax.set_xlabel("x [m]")
        for (goal, (records, bare)), colour in zip(runs.items(), theme.lines, strict=False):
            x, y = place(records)[:5000].T
            axes[0, 0].plot(x, y, color=colour, label=f"to {goal}")
            axes[0, 0].plot(*bare.place.T, "--", color=colour, lw=1)
            axes[0, 0].plot(*goal, "x", color=colour)
            axes[0, 1].plot(records["time_s"], speed(records), color=colour, label=f"to {goal}")
            fast = np.linalg.norm(np.gradient(bare.place, bare.time_s, axis=0), axis=1)
            axes[0, 1].plot(bare.time_s + 0.5, fast, "--", color=colour, lw=1)
        style.label(axes[0, 0], "Out of reach", "m", "y")
        axes[0, 1].axhline(TOP, color=theme.faint, lw=0.8, ls=":")
        axes[0, 1].set_ylim(0, 1.5)
        axes[0, 1].set_xlim(0, 8)
        axes[0, 1].set_xlabel("time [s]")
        style.label(axes[0, 1], "Tool speed (dotted: limit)", "m/s")
        axes[1, 0].plot(*place(crossing).T, color=theme.lines[0], label="tool")
        axes[1, 0].plot(*crossing["goal"]["pose"][:, :2].T, ":", color=theme.alarm, label="equilibrium")
        style.label(axes[1, 0], "Through the shoulder and back", "m", "y")
        _draw_circles(axes[1, 1], circles, left, theme)
        style.legend(axes[0, 1])
        for ax in (axes[0, 0], axes[1, 0]):
            ax.legend(loc="lower left", bbox_to_anchor=(1.0, 0.0))
    style.save(fig, path)


def _draw_circles(ax: Any, circles: dict[str, Array], left: float, theme: style.Theme) -> None:
    """Position error on the circle, with the acceleration of the equilibrium and without it."""
    for (name, records), colour in zip(circles.items(), theme.lines, strict=False):
        gap = 1e3 * np.linalg.norm(place(records) - records["goal"]["pose"][:, :2], axis=1)
        ax.semilogy(records["time_s"], np.maximum(gap, 1e-3), color=colour, label=f"{name} acceleration")
    ax.axhline(left, color=theme.faint, lw=0.8, ls=":")
    ax.set_xlim(2, 8)
    ax.set_ylim(1e-2, 1e2)
    ax.set_xlabel("time [s]")
    style.label(ax, f"Circle, M {HEAVY_KG:g} kg, B {HEAVY_DAMPING:g} N s/m: position error", "mm")
    ax.text(
        7.95,
        0.02,
        f"{RADIUS:g} m at {HERTZ:g} Hz; dotted: predicted without acceleration",
        ha="right",
        color=theme.faint,
    )
    ax.legend(loc="center right")
