"""Predict how a law behaves when it presses on the surfaces of a task, before anything moves."""

from __future__ import annotations

import math
from dataclasses import replace

from pliant.analysis.targets import Figure, at_least, at_most, reported
from pliant.control.laws.contact.surface_estimate import CURVED
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.robots import is_simulated
from pliant.stability.body import apparent_stiffness
from pliant.stability.plant import plant_of
from pliant.stability.worst_case import (
    ASSUMED_N_M,
    DAMPINGS,
    LEAST_MARGIN,
    MOST_MARGIN,
    MOST_STIFF,
    Place,
    has_surface,
    places,
    stiffest,
    stiffnesses,
)
from pliant.task.schema import Task


def margin_figure(place: Place) -> Figure:
    """The gain margin on one surface, in the worst case."""
    figure = at_least(f"{place.stiffness:.3g} N/m: gain margin", place.margin, "×", LEAST_MARGIN)
    return replace(figure, or_more=place.margin >= MOST_MARGIN)


def surface_figures(task: Task, parameters: Parameters, law: str) -> list[Figure]:
    """Margin and first touch on every surface, in the worst direction, and the stiffest surface that is stable."""
    worst: dict[float, list[Place]] = {}
    for place in places(task, parameters, law, assume=True):
        worst.setdefault(place.stiffness, []).append(place)
    speed, most = parameters.limits.linear_speed_m_s, largest_reading_n(task, parameters)
    figures = []
    for stiffness, there in sorted(worst.items()):
        figures.append(margin_figure(min(there, key=lambda place: place.margin)))
        hits = [place.hit for place in there if place.hit is not None]
        if hits and all(place.bears(1.0) for place in there):  # otherwise the peak means nothing
            peak = max(hit(speed) for hit in hits)
            figures.append(at_most(f"{stiffness:.3g} N/m: {_TOUCH} ({speed:g} m/s)", peak, "N", most))
    figures.append(largest_stable(task, parameters, law))
    return figures


def largest_stable(task: Task, parameters: Parameters, law: str) -> Figure:
    """The stiffest surface on which the law is stable, in the worst case."""
    most = stiffest(task, parameters, law)
    return replace(reported("largest stable stiffness", most, "N/m"), or_more=most >= MOST_STIFF)


def friction_figures(task: Task, target_n: float) -> list[Figure]:
    """The force by which dry friction in the joints may be off on the stiffest declared surface, both ways together.

    The servos stop within a dead band, and the law hunts for its target inside it; the force is k times as wide.
    """
    stiffest_n_m = max(stiffnesses(task, task.params, LAWS["contact"]))
    plant = plant_of(task, stiffness=stiffest_n_m)
    if plant.arm is None or not plant.arm.dry.any():
        return []
    width = 2.0 * plant.arm.dead_band_m * apparent_stiffness(plant, stiffest_n_m)
    return [
        at_most(f"{FRICTION} on {stiffest_n_m:.3g} N/m, relative to the target", 100.0 * width / target_n, "%", HUNTS)
    ]


def curvature_figures(task: Task, target_n: float) -> list[Figure]:
    """How much each round surface of the simulation curves where the tip is, beside what the contact law follows.

    Under the force F the tip is F/k below the surface, on a circle of the radius r - F/k.
    """
    figures = []
    for surface in task.sim.surfaces:
        radius = float(getattr(surface, "radius_m", 0.0))
        if radius > 0.0:
            left = radius - target_n / surface.stiffness_n_m
            curvature = 1.0 / left if left > 0.0 else math.inf
            figures.append(
                at_most(f"curvature of the surface of radius {radius:g} m at the tip", curvature, "1/m", CURVED)
            )
    return figures


def largest_reading_n(task: Task, parameters: Parameters) -> float:
    """The largest force [N] that the sensor can show; more is a fault of the sensor."""
    simulated = is_simulated(task.robot) and task.sensor.kind == "robot"
    return min(parameters.sense.range_n, task.sim.sensor.range_n if simulated else parameters.sense.range_n)


def assumptions(task: Task) -> list[str]:
    """What the check assumes because the task does not declare it."""
    notes = []
    if not has_surface(task):
        low, high = ASSUMED_N_M
        notes.append(
            f"{task.name} declares no surface, so the check assumes {low:g} to {high:g} N/m: a hand on the tool, or a "
            "soft part. Declare the stiffest surface with surface_n_m."
        )
    if not has_surface(task) or task.surface_n_m > 0.0:
        notes.append(f"The surface may have any damping from {DAMPINGS[0]:g} to {DAMPINGS[1]:g} N s/m.")
    return notes


FRICTION = "force within which joint friction stops the tool"
# A force error of this share of the target while sliding is no contact that was held [%].
HUNTS = 15.0
_TOUCH = "first-touch peak at limits.linear_speed_m_s"


def advice(law: str) -> dict[str, str]:
    """What to do about a target that is missed, by a part of its name."""
    model = LAWS[law].stability
    assert model is not None
    return {
        "gain margin": f"With less than 1, the law {law} oscillates on that surface; less than {LEAST_MARGIN:g} is too "
        f"close to that. {model.remedy}",
        _TOUCH: "A touch at full speed exceeds the range of the force sensor, which stops the robot. Lower "
        "limits.linear_speed_m_s.",
    }
