"""The loop of the contact law on one surface: its gain margin, and the stiffest surface on which it is stable."""

from __future__ import annotations

from pliant.control.laws.contact.contact_params import Contact
from pliant.control.laws.contact.contact_stability import gain_for, linear
from pliant.stability.plant import Plant
from pliant.stability.pressed_loop import Array, border, is_stable, tick_matrix


def loop_matrix(p: Contact, plant: Plant, stiffness: float, damping: float, gain: float, known: float) -> Array:
    """One tick of the contact law's loop, for a surface whose stiffness it assumes to be `known` [N/m]."""
    law = linear(p, (plant.dt, plant.cutoff_hz), known, damping, gain, plant.tool)
    return tick_matrix(plant, stiffness, damping, law)


def gain_margin(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """The gain margin of the loop (at most 100); NaN if it is unstable already."""
    gain = gain_for(p, plant.tool, stiffness, damping)

    def stable(times: float) -> bool:
        return is_stable(loop_matrix(p, plant, stiffness, damping, times * gain, stiffness))

    return border(stable, 1.0, 100.0)


def largest_stiffness(p: Contact, plant: Plant, stiffness: float, damping: float) -> float:
    """The stiffest surface [N/m] on which the gain for `stiffness` is still stable."""
    gain = gain_for(p, plant.tool, stiffness, damping)

    def stable(actual: float) -> bool:
        return is_stable(loop_matrix(p, plant, actual, damping, gain, stiffness))

    return border(stable, stiffness, 1e3 * stiffness)
