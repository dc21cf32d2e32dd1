"""The figures that are printed after a run: forces, distances, parameter changes, timing."""

from __future__ import annotations

from typing import Any, SupportsFloat

import numpy as np

from pliant.analysis import signals
from pliant.analysis.contact_figures import contact_figures
from pliant.analysis.targets import Figure, reported

Array = np.ndarray[Any, Any]


def run_figures(records: Array, normal_n: Array | None = None) -> list[Figure]:
    """The figures of a run; `normal_n` [N] is the true force along the normals in every tick, if it is known."""
    pose, bad = records["observed"]["pose"][:, :3], signals.bad_readings(records)
    moved = pose - pose[0]
    force = np.linalg.norm(records["observed"]["wrench"][~bad, :3], axis=1)
    kind = "all axes, unfiltered" + (", valid readings only" if bad.any() else "")
    peak = [reported(f"peak measured force ({kind})", round(force.max(), 6), "N")] if len(force) else []
    return [
        *peak,
        *contact_figures(records, normal_n),
        reported("largest distance from the start", _mm(np.linalg.norm(moved, axis=1).max()), "mm"),
        reported("final distance from the start", _mm(np.linalg.norm(moved[-1])), "mm"),
        reported("peak tool speed", _mm(np.linalg.norm(records["observed"]["twist"][:, :3], axis=1).max()), "mm/s"),
        *([reported(signals.BAD_READINGS, bad.sum())] if bad.any() else []),
        *_changes(records),
        *_timing(records["timing"]),
    ]


def _mm(metres: SupportsFloat) -> float:
    """In millimetres, to the micrometre: what is less is nothing to a reader."""
    return round(float(metres) * 1e3, 3)


def _changes(records: Array) -> list[Figure]:
    """Parameter changes, and how far the last change of gains has come."""
    if not records["revision"].max():
        return []
    drawn = round(records["state"]["injected_j"][-1], 6)
    figures = [
        reported("parameter changes", records["revision"].max()),
        reported("energy drawn from the tank by parameter changes", drawn, "J"),
    ]
    if (done := float(records["state"]["ramp"][-1])) < 1.0:
        name = "gain change complete (the rest waits until the damper refills the energy tank)"
        figures.append(reported(name, round(100.0 * done, 1), "%"))
    return figures


def _timing(timing: Array) -> list[Figure]:
    if not timing["wall_ns"][0]:  # simulated as fast as possible
        return []
    late = timing["late_s"] * 1e6
    return [
        reported("wake-up lateness, median", np.median(late), "µs"),
        reported("wake-up lateness, 99th percentile", np.percentile(late, 99), "µs"),
        reported("periods missed", timing["overruns"][-1]),
    ]
