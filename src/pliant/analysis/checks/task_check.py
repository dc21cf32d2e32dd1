"""Predict how a contact task behaves on the surfaces that it declares, before anything moves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from pliant.analysis.checks.credible_force import Credible, credible
from pliant.analysis.checks.first_touch import Touch, worst_damped
from pliant.analysis.checks.surface_check import (
    FRICTION,
    advice,
    assumptions,
    curvature_figures,
    friction_figures,
    largest_stable,
    margin_figure,
    surface_figures,
)
from pliant.analysis.pictures import style
from pliant.analysis.targets import Figure, Outcome, at_least, at_most, reported
from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.contact_stability import gain_for, worst_touch
from pliant.control.laws.registry import LAWS
from pliant.control.parameters import Parameters
from pliant.errors import RejectedError
from pliant.robots import is_simulated
from pliant.stability.guard import objection, stages
from pliant.stability.plant import plant_of
from pliant.stability.worst_case import LEAST_MARGIN, Place, places, stiffnesses
from pliant.task.schema import Task

# The least ratio of the declared lag to that of the model.
LAG_SHARE = 0.9
# Noise must stay within touch_n and band_n with so many standard deviations. A false touch does no harm: the law goes
# on approaching, and only a firm contact counts as lost.
_SIGMAS = 3.0


def check(task: Task) -> Outcome:
    """Gain margins over the declared surfaces and the first touch; for the contact law also its settling time."""
    laws = {task.law, *(event.law for event in task.events)}
    if "contact" in laws:
        return _check_contact(task)
    law, parameters = _checked_law(task)
    sensor = credible(task, parameters)
    figures = [*surface_figures(task, parameters, law), *_credible_figures(sensor), *_stages(task, law)]
    notes = [*_advice(figures, _EVENTS | advice(law)), *assumptions(task), *_assumed_lag(task)]
    return Outcome("check", 0, 0.0, figures, notes)


def _checked_law(task: Task) -> tuple[str, Parameters]:
    """The first law of the task that has a stability model, and its parameters."""
    for law, parameters, _ in stages(task):
        if LAWS[law].stability is not None:
            return law, parameters
    known = [name for name, law in LAWS.items() if law.stability is not None]
    raise RejectedError(
        f"{task.name} uses the law {task.law}, but only {', '.join(known)} and laws of your own with a StabilityModel "
        "can be checked.",
        field="law",
        value=task.law,
    )


def _check_contact(task: Task) -> Outcome:
    p, plant = task.params.contact, plant_of(task)
    figures: list[Figure] = [
        at_least("declared lag relative to the model", p.lag_s / plant.lag_s, "", LAG_SHARE),
        reported("total lag of the model", plant.lag_s * 1e3, "ms"),
        reported("effective mass of the arm", plant.mass, "kg"),
    ]
    judged: list[tuple[Place, Touch]] = []
    for place in places(task, task.params, "contact"):
        stiffness = place.stiffness
        where, found = f"{stiffness:.3g} N/m", worst_damped(task, stiffness)
        judged.append((place, found))
        figures += [
            reported(f"{where}: gain", gain_for(p, plant.tool, place.known, 0.0) * 1e3, "mm/(N s)"),
            margin_figure(place),
            at_most(f"{where}: first-touch peak", found.peak_n, "N", p.peak_n),
            at_most(f"{where}: settling time to ±5 %", found.settle_s, "s", p.settle_s),
        ]
    figures += [largest_stable(task, task.params, "contact"), *curvature_figures(task, p.target_n)]
    figures += friction_figures(task, p.target_n)
    worst = worst_touch(p, max(stiffnesses(task, task.params, LAWS["contact"])), plant.lag_s)
    sensor = credible(task, task.params)
    figures += [
        at_most(f"{_WORST} (speed × stiffness × lag)", worst.peak_n, "N", p.force_limit_n),
        *_sensor_figures(p, sensor, max(found.held_n for _, found in judged)),
    ]
    if p.height_m > 0.0:
        inside = p.free_m_s * p.stiffness_max_n_m * plant.lag_s
        figures.append(reported("peak if the stiffest surface is closer than contact.height_m", inside, "N"))
    figures += _stages(task, "contact")
    words = _EVENTS | {
        "declared lag": f"contact.lag_s = {p.lag_s * 1e3:.3g} ms is shorter than the lag of the model, "
        f"{plant.lag_s * 1e3:.3g} ms. Raise contact.lag_s to {plant.lag_s:.3g} s.",
        _WORST: f"In the worst case, the first touch of {worst.stiffness_n_m:.3g} N/m reaches {worst.peak_n:.3g} N, "
        f"more than contact.force_limit_n ({p.force_limit_n:g} N), so pliant run rejects the task. Lower "
        "contact.approach_m_s.",
        _TOUCH: f"The filtered noise of the sensor is {sensor.noise_n:.2g} N, so noise may look like contact. Lower "
        "sense.cutoff_hz or raise contact.touch_n.",
        _BAND: "Noise of the sensor moves the held force out of its band, so the dwell may never end. Raise "
        "contact.band_n, or lower sense.cutoff_hz and raise contact.lag_s by what that costs.",
        FRICTION: "Friction in the joints stops the tool before the force has reached its target, and the law hunts "
        "for it. Raise contact.target_n, lower contact.stiffness_max_n_m, or put a softer pad on the tool.",
        _CURVED: "At the target force the tip sinks in so deep that the surface curves more than the law follows. "
        "Lower contact.target_n.",
        _TARGET: "The sensor cannot measure this force reliably, even tared. Raise contact.target_n or use an external "
        "force sensor.",
    }
    notes = [*_advice(figures, words, _on_surfaces(p, judged)), *_credible_words(p, sensor), *_assumed_lag(task)]
    drawn = [(place.stiffness, found) for place, found in judged]
    return Outcome("check", 0, 0.0, figures, notes, draw=lambda path: _draw(task, drawn, path))


def _sensor_figures(p: Contact, sensor: Credible, held_n: float) -> list[Figure]:
    noise = max(sensor.noise_n, 1e-9)
    return [
        at_least(f"{_TOUCH} relative to the filtered noise", p.touch_n / noise, "", _SIGMAS),
        at_least(f"{_BAND} relative to the noise of the held force", p.band_n / max(held_n, 1e-9), "", _SIGMAS),
        at_least(f"{_TARGET}, sensor tared before the touch", p.target_n / sensor.tared_n, "", 1.0),
        reported("force error that the sensor's static errors add", sensor.static.at(p.target_n), "N"),
        *_credible_figures(sensor),
    ]


def _credible_figures(sensor: Credible) -> list[Figure]:
    smallest = "smallest reliable force (error at most half of it)"
    found = [reported(f"{smallest}, sensor tared before the touch", sensor.tared_n, "N")]
    if math.isfinite(sensor.untared_n):
        found.append(reported(f"{smallest}, built-in sensor of the arm, not tared", sensor.untared_n, "N"))
    return found


def _credible_words(p: Contact, sensor: Credible) -> list[str]:
    """What static errors add to the force, and the remedy if the target is too small for a sensor that is not tared."""
    said = []
    if (error := sensor.static.at(p.target_n)) > p.band_n:
        said.append(
            f"Static errors of the sensor (zero, drift, scale) add up to {error:.2g} N to the true force, "
            f"{error / p.target_n:.0%} of the target. Pliant cannot see them; an external force sensor has less."
        )
    if p.target_n < sensor.untared_n and not p.tare:
        said.append(
            f"Without a tare, contact.target_n = {p.target_n:g} N is below the smallest reliable force of the built-in "
            f"sensor ({sensor.untared_n:.2g} N). Set contact.tare to true, tare before set_start (pliant tare), or use "
            "an external force sensor."
        )
    return said


def _assumed_lag(task: Task) -> list[str]:
    """A note if the response of a real robot was not identified."""
    if is_simulated(task.robot) or task.response.is_known:
        return []
    return [
        f"The response of the robot is not identified: the check assumes {task.sim.servo.lag_s * 1e3:.0f} ms from "
        "command to motion. Measure it with pliant identify delay --write."
    ]


def _stages(task: Task, judged: str) -> list[Figure]:
    """The guard's verdict on the law at the start, unless it is the one `judged`, and on every later change."""
    found = []
    for law, parameters, when in stages(task):
        if when or law != judged:
            against = objection(task, parameters, law)
            name = f"{law}{when or ' at the start'}: worst guard violation, relative to its limit"
            found.append(at_most(name, against.badness if against else 0.0, "", 1.0))
    return found


_WORST = "worst-case first-touch peak"
_TOUCH = "contact.touch_n"
_BAND = "contact.band_n"
_CURVED = "curvature of the surface"
_TARGET = "contact.target_n relative to the smallest reliable force"
_EVENTS = {
    "violation": "An event makes the loop unstable or the first touch too hard. pliant run reports which and why.",
}


def _advice(figures: list[Figure], words: dict[str, str], more: list[str] | None = None) -> list[str]:
    """One note for each kind of target that is not met, and then `more` notes."""
    if all(f.met for f in figures):
        return ["Stable on every surface checked."]
    general = [text for key, text in words.items() if any(key in f.name and not f.met for f in figures)]
    return general + (more or [])


def _on_surfaces(p: Contact, judged: list[tuple[Place, Touch]]) -> list[str]:
    """Which target is missed on which surface, with its value, its limit and the remedy."""
    inside: list[tuple[Place, Touch]] = []
    notes: list[str] = []
    for place, found in judged:
        if p.stiffness_min_n_m * (1 - 1e-9) <= place.stiffness <= p.stiffness_max_n_m * (1 + 1e-9):
            inside.append((place, found))
        else:
            notes.append(_outside(p, place, found))
    unstable = [place for place, _ in inside if place.margin < LEAST_MARGIN]
    if unstable:
        worst = min(unstable, key=lambda place: place.margin)
        notes.append(f"{_margin_words(worst)} Raise contact.lag_s or lower contact.margin.")
    stable = [one for one in inside if one[0].margin >= LEAST_MARGIN]
    hard = [one for one in stable if not one[1].peak_n <= p.peak_n]
    if hard:
        place, found = max(hard, key=lambda one: one[1].peak_n)
        notes.append(
            f"On a surface of {place.stiffness:.3g} N/m, the first touch reaches {found.peak_n:.3g} N, more than "
            f"contact.peak_n ({p.peak_n:g} N). Lower contact.approach_m_s, or set contact.lag_s to the real lag."
        )
    slow = [f"{place.stiffness:.3g}" for place, found in stable if not found.settle_s <= p.settle_s]
    if slow:
        where = " and ".join(filter(None, (", ".join(slow[:-1]), slow[-1])))
        notes.append(
            f"The force does not settle to ±5 % within contact.settle_s ({p.settle_s:g} s) on {where} N/m. The gain "
            "margins are met there, so the response is too slow. Lower contact.stiffness_max_n_m or raise "
            "contact.settle_s."
        )
    return [note for note in notes if note]


def _outside(p: Contact, place: Place, found: Touch) -> str:
    """Which target is missed on a surface outside the declared range of stiffness; empty if none is."""
    where = f"On a surface of {place.stiffness:.3g} N/m,"
    if place.margin < LEAST_MARGIN:
        said = _margin_words(place)
    elif not found.peak_n <= p.peak_n:
        said = f"{where} the first touch reaches {found.peak_n:.3g} N, more than contact.peak_n ({p.peak_n:g} N)."
    elif not found.settle_s <= p.settle_s:
        said = f"{where} the force does not settle to ±5 % within contact.settle_s ({p.settle_s:g} s)."
    else:
        return ""
    stiffer = place.stiffness > p.stiffness_max_n_m
    name = f"contact.stiffness_{'max' if stiffer else 'min'}_n_m"
    bound = p.stiffness_max_n_m if stiffer else p.stiffness_min_n_m
    return (
        f"{said} This surface is {'stiffer' if stiffer else 'softer'} than {name} ({bound:.3g} N/m). "
        f"{'Raise' if stiffer else 'Lower'} {name}."
    )


def _margin_words(place: Place) -> str:
    return (
        f"On a surface of {place.stiffness:.3g} N/m, the gain margin is {place.margin:.2g}, and it must be at least "
        f"{LEAST_MARGIN:g}."
    )


def _draw(task: Task, drawn: list[tuple[float, Touch]], path: Path) -> None:
    p = task.params.contact
    with style.applied() as theme:
        subtitle = "the law's own code on a model of servo, arm, filter and surface"
        fig, axes = style.figure(1, 1, f"Predicted first touch: {task.name}", subtitle, panel_inches=(8.0, 3.6))
        ax: Any = axes[0, 0]
        ax.axhspan(0.95 * p.target_n, 1.05 * p.target_n, color=theme.grid, zorder=0)
        for i, (stiffness, found) in enumerate(drawn):
            begin = found.time_s[int(np.argmax(found.force_n > 0.0))]
            ax.plot(
                found.time_s - begin,
                found.force_n,
                color=theme.lines[i % len(theme.lines)],
                label=f"{stiffness:.3g} N/m",
            )
        ax.axhline(p.peak_n, color=theme.alarm, ls="--", lw=1)
        late = [found.settle_s for _, found in drawn if math.isfinite(found.settle_s)]
        ax.set_xlim(-0.1, max(1.5, *late) if late else 1.5)
        ax.set_xlabel("time since first touch [s]")
        style.label(ax, "Force", "N")
        style.legend(ax)
    style.save(fig, path)
