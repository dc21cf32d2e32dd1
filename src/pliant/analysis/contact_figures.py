"""Peak, settling, losses and error of a contact, from the states of the law and a normal force: true or measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.analysis.targets import Figure, reported
from pliant.control.laws.contact.contact_states import DONE, DWELL, ENDED, FAULT, PAUSED, RETRACT, SEEK, SLIDE

Array = np.ndarray[Any, Any]

# The force counts as settled within this share of its target.
SETTLED = 0.05


@dataclass(frozen=True)
class ContactFigures:
    """The figures of a contact."""

    peak_n: float
    """Largest normal force."""
    settle_s: float
    """Time from first touch until the force stays within 5 % of the target, before the slide; NaN: it does not."""
    losses: int
    """How often contact was lost between the first touch and the lift-off."""
    slide_rms_n: float
    """RMS of force minus target while sliding; NaN without a slide."""
    slide_s: float
    """Duration of the slide."""
    way_m: float = math.nan
    """Distance slid along the path; NaN for a law that does not report it."""
    ended: bool = False
    """Whether the contact ended as done with its path complete."""
    left_n: float = 0.0
    """Normal force in the last tick, if the law had come to an end by then."""


def figures_of(records: Array, normal_n: Array, target_n: float) -> ContactFigures:
    """The figures of a run of the contact law; seek and dwell count as before the slide.

    `normal_n` [N] is the force along the normal in every tick: the true one, or the measured one without its noise.
    """
    contact = records["contact"]
    state = contact["state"]
    found = figures_in(records["time_s"], normal_n, np.isin(state, (SEEK, DWELL)), state == SLIDE, target_n)
    complete = bool(((state == RETRACT) & (contact["reason"] == ENDED)).any())
    over = state[-1] in (DONE, FAULT)
    return replace(
        found,
        way_m=float(contact["travelled_m"].max()),
        ended=complete and bool(state[-1] == DONE),
        left_n=float(normal_n[-1]) if over else 0.0,
    )


def contact_figures(records: Array, normal_n: Array | None) -> list[Figure]:
    """What is printed of a contact after a run: by the true normal force [N] if it is known, or as the law measured it.

    Empty if there was no contact.
    """
    contact = records["contact"]
    active = np.isin(contact["state"], (SEEK, DWELL, SLIDE, PAUSED))
    if not active.any():
        return []
    target = float(contact["target_n"][active].max())
    if normal_n is not None:
        return shown(figures_of(records, normal_n, target), "true force")
    return shown(figures_of(records, np.where(contact["touching"] != 0, contact["force_n"], 0.0), target), "measured")


def shown(found: ContactFigures, which: str) -> list[Figure]:
    """The figures as they are printed after a run; `which` names the force."""
    return [
        reported(f"contact: peak along the normal, {which}", found.peak_n, "N"),
        reported(f"contact: settling time to ±5 % before the slide, {which}", found.settle_s, "s"),
        reported("contact: losses", found.losses),
        reported(f"contact: RMS error while sliding, {which}", found.slide_rms_n, "N"),
    ]


def figures_in(time_s: Array, normal_n: Array, before: Array, slide: Array, target_n: float) -> ContactFigures:
    """The figures of any law; `before` and `slide` mark the ticks before and during the slide."""
    if not (normal_n > 0.0).any():
        return ContactFigures(0.0, math.nan, 0, math.nan, 0.0)
    touched = np.cumsum(normal_n > 0.0) > 0
    gone = touched & (before | slide) & (normal_n <= 0.0)
    error = normal_n[slide] - target_n
    return ContactFigures(
        peak_n=float(normal_n.max()),
        settle_s=_settling_s(time_s, normal_n, before, target_n),
        losses=int(np.sum(np.diff(gone.astype(int)) > 0)),
        slide_rms_n=float(np.sqrt(np.mean(error**2))) if slide.any() else math.nan,
        slide_s=float(slide.sum() * (time_s[1] - time_s[0])),
    )


def _settling_s(time_s: Array, normal_n: Array, phase: Array, target_n: float) -> float:
    """Time from first touch until the force stays near the target while `phase` lasts; NaN: never [s]."""
    touched = int(np.argmax(normal_n > 0.0))
    off = phase & (np.abs(normal_n - target_n) > SETTLED * target_n)
    off[:touched] = False
    last = np.flatnonzero(off)
    inside = phase.copy()
    inside[: last[-1] + 1 if len(last) else touched] = False
    if not inside.any():
        return math.nan
    return float(time_s[np.flatnonzero(inside)[0]] - time_s[touched])
