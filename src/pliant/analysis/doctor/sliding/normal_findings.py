"""The surface as the contact law sees it while it slides: a normal that swings, and friction out of range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pliant.analysis.doctor.case import Case, smooth
from pliant.analysis.doctor.finding import Finding
from pliant.analysis.targets import reported
from pliant.control.laws.contact.contact_states import SLIDE
from pliant.control.laws.contact.normal_force import FRICTION_MOST
from pliant.control.laws.contact.surface_estimate import FRICTION_M

Array = np.ndarray[Any, Any]

# The normal is looked at as a mean over this time [s]: faster changes tilt no tool.
STEADY_S = 0.1
# A swing is at least this large [rad]: with a friction of 0.5 it changes the force along the normal by 15 %.
SWING = 0.25
# A normal that converges turns once, and one that follows a curve turns once more; from so many turns on it swings.
TURNS = 3
# A slide of fewer ticks says nothing of the normal.
LEAST_SLIDE_S = 0.3
# Friction is judged as a mean over this time [s], and is out of range for at least so much of the slide.
FRICTION_S, FRICTION_SHARE = 0.2, 0.1
# A normal that is off by less than a swing shows a friction that is off by as much.
FRICTION_OFF = math.tan(SWING)
# Standard deviations of noise that are no finding.
SIGMAS = 4.0


def swinging_normal(case: Case) -> Finding:
    """How often the estimated normal turned back and forth while sliding, and how far."""
    name = "swinging normal"
    if not case.is_contact:
        return Finding(name, "not applicable", (), "The contact law did not run.")
    rows = np.flatnonzero(case.contact["state"] == SLIDE)
    if len(rows) * case.dt < LEAST_SLIDE_S:
        return Finding(name, "not checked", (), f"The tool slid for less than {LEAST_SLIDE_S:g} s.")
    swings = [_swings(angle) for angle in _angles(case, rows)]
    turns, largest = max(len(found) for found in swings), max(max(found, default=0.0) for found in swings)
    figures = (
        reported("turns of the normal", turns),
        reported("largest turn of the normal", np.degrees(largest), "°"),
    )
    if turns < TURNS:
        return Finding(name, "fine", figures)
    smallest = np.degrees(min(max(swings, key=len)))
    cause = (
        f"While sliding, the estimated normal turned back and forth {turns} times by {smallest:.2g}° to "
        f"{np.degrees(largest):.2g}°. Friction then enters the force along the normal, so the true force is not the "
        "target."
    )
    remedy = (
        "Slide more slowly, or lower contact.slope_deg to what the surface really has. Fix vibrations of the tool or "
        "the arm first."
    )
    return Finding(name, "warning", figures, cause, remedy, case.spans(case.contact["state"] == SLIDE))


def _angles(case: Case, rows: Array) -> tuple[Array, Array]:
    """Angles of the normal about the direction of approach along two axes across it, while sliding [rad]."""
    approach = case.contact["approach"][rows[0]]
    across = np.linalg.svd(approach[None, :])[2][1:]
    normal = smooth(np.nan_to_num(case.contact["normal"][rows]), round(STEADY_S / case.dt))
    out = -(normal @ approach)
    return np.unwrap(np.arctan2(normal @ across[0], out)), np.unwrap(np.arctan2(normal @ across[1], out))


def _swings(angle: Array) -> list[float]:
    """The turns of an angle between its turning points, without those below `SWING` [rad]."""
    turns: list[float] = []
    low = high = start = float(angle[0])
    heading = 0
    for value in angle.tolist():
        low, high = min(low, value), max(high, value)
        if heading >= 0 and high - value > SWING:
            if heading > 0:
                turns.append(high - start)
            heading, start, low, high = -1, high, value, value
        elif heading <= 0 and value - low > SWING:
            if heading < 0:
                turns.append(start - low)
            heading, start, low, high = 1, low, value, value
    if heading:
        turns.append(abs((high if heading > 0 else low) - start))
    return turns


def friction_range(case: Case) -> Finding:
    """Force along the path over force along the normal, as a mean: a friction coefficient is between 0 and 1."""
    name = "friction out of range"
    if not case.is_contact:
        return Finding(name, "not applicable", (), "The contact law did not run.")
    found = friction(case)
    if found is None:
        why = f"The tool slid for less than {LEAST_SLIDE_S:g} s beyond the first {1e3 * FRICTION_M:g} mm."
        return Finding(name, "not checked", (), why)
    rows, value, noise = found
    median = float(np.median(value))
    figures = (
        reported("friction, median", median),
        reported("friction, 5 %", float(np.quantile(value, 0.05))),
        reported("friction, 95 %", float(np.quantile(value, 0.95))),
    )
    high, low = value > FRICTION_MOST + FRICTION_OFF + noise, value < -FRICTION_OFF - noise
    if max(high.mean(), low.mean()) < FRICTION_SHARE:
        return Finding(name, "fine", figures)
    marked = np.zeros(len(case.records), bool)
    if high.mean() >= FRICTION_SHARE:
        marked[rows[high]] = True
        cause = (
            f"For {case.seconds(marked):.2g} s the force along the path was much more than the force along the normal, "
            f"up to {value.max():.2g} times. No usual friction is that large: something holds the tool, or the "
            "estimated normal is wrong."
        )
    else:
        marked[rows[low]] = True
        cause = (
            f"For {case.seconds(marked):.2g} s the force pushed the tool along its path, by up to "
            f"{-value.min():.2g} times the force along the normal. Friction never does: the estimated normal is "
            "wrong, or a hand or a cable acts on the tool."
        )
    remedy = "Check the path for obstacles and edges, tare the sensor, and slide more slowly."
    return Finding(name, "warning", figures, cause, remedy, case.spans(marked, join_s=FRICTION_S))


def friction(case: Case) -> tuple[Array, Array, float] | None:
    """Rows of the slide, the friction in each as a mean, and the noise of that mean; None for a slide too short."""
    way = case.contact["way"]
    speed = np.linalg.norm(way, axis=1)
    along = np.nan_to_num(case.pressed)
    touch = case.setting("contact.touch_n", 0.5)
    rows = np.flatnonzero((case.contact["state"] == SLIDE) & (speed > 1e-5) & (case.contact["force_n"] > touch))
    # before, the slope is not known yet, and looks like friction
    rows = rows[case.contact["travelled_m"][rows] > FRICTION_M]
    ticks = round(FRICTION_S / case.dt)
    if len(rows) * case.dt < LEAST_SLIDE_S:
        return None
    force = np.nan_to_num(case.force - case.contact["zero"])
    drag = -np.sum(force[rows] * way[rows], axis=1) / speed[rows]
    pressed = smooth(along[rows] - np.sum(case.contact["zero"] * case.contact["normal"], axis=1)[rows], ticks)
    value = smooth(drag, ticks) / np.maximum(pressed, touch[rows])
    noise = (
        SIGMAS * float(np.median(case.contact["noise_n"][rows])) / np.sqrt(ticks) / max(float(np.median(pressed)), 1e-3)
    )
    return rows, value, noise
