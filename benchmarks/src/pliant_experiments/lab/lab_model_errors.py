"""Errors in the controller's masses, lengths or friction: the load on the spring, and what helps."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.experiments import Progress
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported, within
from pliant.model.two_link import DAMPING as FRICTION
from pliant.session.in_process.fast_run import simulate
from pliant.task.schema import Event, ModelError
from pliant_experiments.rivals.bare_inverse import jacobian, mass_matrix, other_torques, tool_at
from pliant_experiments.scenes.two_link_lab import DAMPING, DT, MASS, STIFFNESS, X0, circle, lab_task, law, run_along

Array = np.ndarray[Any, Any]
MODEL_ERRORS = {
    "exact": ModelError(),
    "masses −20 %": ModelError(mass_scale=0.8),
    "masses +20 %": ModelError(mass_scale=1.2),
    "lengths −5 %": ModelError(length_scale=0.95),
    "lengths +5 %": ModelError(length_scale=1.05),
    "no friction": ModelError(friction_scale=0.0),
    "friction × 2": ModelError(friction_scale=2.0),
}
PUSH = (10.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _true(records: Array) -> Array:
    """Where the tool really is [m], from the joints and the true lengths."""
    q = records["reading"]["q"][:, :2]
    return np.column_stack([tool_at(row) for row in q]).T


def _sag(model_error: ModelError, **more: Any) -> tuple[float, Array]:
    """How far the arm sinks or rises by itself [mm], and the run."""
    records = simulate(lab_task(6.0, law(**more), model_error=model_error)).records
    return 1e3 * float(np.linalg.norm(_true(records)[-1] - X0)), records


def _expected_sag(scale: float) -> float:
    """Static balance for wrong masses [mm]: s M_q J⁻¹ (M + B dt/2)⁻¹ K e = (s - 1) g, solved at the pose of rest."""
    q, e = np.radians([45.0, -45.0]), np.zeros(2)
    shaped = MASS + 0.5 * DT * DAMPING + 0.25 * DT * DT * STIFFNESS
    for _ in range(50):
        carried = (scale - 1) / scale * np.linalg.solve(mass_matrix(q), other_torques(q, np.zeros(2)))
        e = shaped / STIFFNESS * jacobian(q) @ carried
        q = q + np.linalg.solve(jacobian(q), X0 + e - tool_at(q))
    return 1e3 * float(np.linalg.norm(e))


def _pushed(model_error: ModelError) -> float:
    """Deflection along x under a virtual push of 10 N [mm], from the pose at rest without it."""
    events = (Event(at_s=5.0, virtual_push=PUSH),)
    records = simulate(lab_task(11.0, model_error=model_error, events=events)).records
    true = _true(records)
    return 1e3 * float(true[-1, 0] - true[4990, 0])


def _followed(model_error: ModelError) -> float:
    """Largest error on a circle of 0.1 m at 0.5 Hz [mm]: true minus commanded position of the tool."""
    records = _round(model_error)
    late = records["time_s"] > 4.0
    gap = _true(records)[late] - records["goal"]["pose"][late, :2]
    return 1e3 * float(np.linalg.norm(gap, axis=1).max())


def _round(model_error: ModelError) -> Array:
    return run_along(lab_task(6.0, model_error=model_error), circle(0.1, 0.5))


def _expected_drag(scale: float) -> float:
    """Largest error on the same circle for wrong friction [mm]: M ë + B ė + K e = M J M_q⁻¹ (s - 1) b (q̇ + J⁻¹ ė)."""
    records = _round(ModelError())
    e, v, off = np.zeros(2), np.zeros(2), []
    for row in records["reading"]:
        q, qd = row["q"][:2], row["qd"][:2]
        J = jacobian(q)
        extra = J @ np.linalg.solve(mass_matrix(q), (scale - 1) * FRICTION * (qd + np.linalg.solve(J, v)))
        v = v + DT * (extra - (DAMPING * v + STIFFNESS * e) / MASS)
        e = e + DT * v
        off.append(np.linalg.norm(e))
    return 1e3 * float(np.max(off[4000:]))


def run(seed: int, progress: Progress) -> Outcome:
    """Rest, a push and a circle with each model error; then a stiffer spring."""
    began = time.perf_counter()
    figures: list[Figure] = []
    sags, curves = {}, {}
    for i, (name, model_error) in enumerate(MODEL_ERRORS.items()):
        sags[name], curves[name] = _sag(model_error)
        figures.append(reported(f"{name}: position error at rest", sags[name], "mm"))
        figures.append(reported(f"{name}: deflection under 10 N", _pushed(model_error), "mm"))
        figures.append(reported(f"{name}: largest error on a circle", _followed(model_error), "mm"))
        progress((i + 1) / (len(MODEL_ERRORS) + 1))
    figures = [*_targets(sags, figures), *figures]
    progress(1.0)
    return Outcome(
        "lab-model-errors", seed, time.perf_counter() - began, figures, draw=lambda path: _draw(figures, curves, path)
    )


def _targets(sags: dict[str, float], all_of_them: list[Figure]) -> list[Figure]:
    """The targets: no error with an exact model; otherwise the error that statics predicts."""
    values = {figure.name: figure.value for figure in all_of_them}
    stiff, _ = _sag(MODEL_ERRORS["masses −20 %"], stiffness=4 * STIFFNESS, damping=2 * DAMPING)
    simple, _ = _sag(MODEL_ERRORS["masses −20 %"], form="simple")
    figures = [
        at_most("exact model: position error at rest", sags["exact"], "mm", 0.01),
        within("exact model: deflection under 10 N", values["exact: deflection under 10 N"], "mm", 40.0, 0.2),
        at_most("exact model: largest error on a circle", values["exact: largest error on a circle"], "mm", 0.5),
        at_least(
            "masses −20 %: sag of the simple form relative to the shaped one",
            simple / sags["masses −20 %"],
            "×",
            1.0,
        ),
        reported("masses −20 %: position error of the simple form", simple, "mm"),
        at_most(
            "masses −20 %: remaining share of the error with four times the stiffness",
            100 * stiff / sags["masses −20 %"],
            "%",
            30.0,
        ),
    ]
    for name, scale in (("no friction", 0.0), ("friction × 2", 2.0)):
        wanted = _expected_drag(scale)
        found = values[f"{name}: largest error on a circle"]
        figures.append(
            within(f"{name}: error on a circle, as a linear law predicts", found, "mm", wanted, 0.1 * wanted)
        )
    for name, scale in (("masses −20 %", 0.8), ("masses +20 %", 1.2)):
        wanted = _expected_sag(scale)
        figures.append(
            within(f"{name}: position error at rest, as statics predicts", sags[name], "mm", wanted, 0.02 * wanted)
        )
    return figures


def _draw(figures: list[Figure], curves: dict[str, Array], path: Path) -> None:
    values = {figure.name: figure.value for figure in figures}
    with style.applied() as theme:
        subtitle = (
            f"two-link arm, 1 kHz; M {MASS:g} kg, B {DAMPING:g} N s/m, K {STIFFNESS:g} N/m; virtual push of 10 N "
            "along x; circle of 0.1 m at 0.5 Hz; curves in the colours of the bars"
        )
        fig, axes = style.figure(
            1, 3, "Model errors of the controller", subtitle, share_x=False, panel_inches=(4.8, 3.2)
        )
        for records, colour in zip(curves.values(), theme.lines, strict=True):
            axes[0, 0].plot(records["time_s"], 1e3 * (_true(records)[:, 1] - X0[1]), color=colour)
        axes[0, 0].set_xlabel("time [s]")
        style.label(axes[0, 0], "At rest: y of the tool", "mm")
        rows = list(MODEL_ERRORS)
        for ax, what in ((axes[0, 1], "deflection under 10 N"), (axes[0, 2], "largest error on a circle")):
            ax.barh(rows, [values[f"{row}: {what}"] for row in rows], color=list(theme.lines))
            ax.invert_yaxis()
            ax.set_title(
                {"largest error on a circle": "Largest error on a circle"}.get(what, what[0].upper() + what[1:])
            )
            ax.set_xlabel("[mm]")
        axes[0, 2].set_yticklabels([])
    style.save(fig, path)
